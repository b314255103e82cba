//! `random`: any drafter, whatever was seen.

use rand::{Rng, RngExt};

use crate::bandit::arms::Arms;
use crate::bandit::{Feedback, Policy, PolicyParams, PolicyState};
use crate::error::Result;
use crate::types::ArmId;

/// An available arm uniformly at random, drawn from the caller's generator each round.
#[derive(Clone, Debug)]
pub struct Uniform {
    arms: Arms,
}

impl Uniform {
    pub(super) fn new(params: &PolicyParams, arms: usize) -> Self {
        Self {
            arms: Arms::new(params.reward, arms),
        }
    }
}

impl Policy for Uniform {
    fn name(&self) -> String {
        "random".to_owned()
    }

    fn reset(&mut self, arms: usize) {
        self.arms.reset(arms);
    }

    fn carry(&mut self, arms: usize, discount: f64) {
        self.arms.carry(arms, discount);
    }

    fn select(&mut self, rng: &mut dyn Rng) -> Option<ArmId> {
        let available = self.arms.available().count();
        if available == 0 {
            return None;
        }
        self.arms.available().nth(rng.random_range(0..available))
    }

    fn observe(&mut self, feedback: &Feedback) -> Result<()> {
        self.arms.observe(feedback).map(drop)
    }

    fn retire(&mut self, arm: ArmId) {
        self.arms.retire(arm);
    }

    fn state(&self) -> PolicyState {
        self.arms.state(self.name(), |_| None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bandit::{policy, rng};

    /// Pearson's statistic of `rounds` selections against equal shares of the arms `left`.
    fn chi_square(policy: &mut dyn Policy, rounds: u32, left: &[usize]) -> f64 {
        let mut rng = rng(5);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..rounds {
            let ArmId(arm) = policy.select(&mut rng).unwrap();
            *counts.entry(arm).or_insert(0u32) += 1;
        }
        assert!(counts.keys().eq(left));
        let expected = f64::from(rounds) / left.len() as f64;
        let square = |&count: &u32| (f64::from(count) - expected).powi(2) / expected;
        counts.values().map(square).sum()
    }

    #[test]
    fn the_arms_left_come_up_equally_often() {
        let mut policy = policy("random", 5);
        // The 99.9% quantiles of χ² with 4 and with 2 degrees of freedom.
        assert!(chi_square(&mut *policy, 10_000, &[0, 1, 2, 3, 4]) < 18.47);
        policy.retire(ArmId(0));
        policy.retire(ArmId(3));
        assert!(chi_square(&mut *policy, 10_000, &[1, 2, 4]) < 13.82);
    }

    #[test]
    fn another_seed_gives_another_order() {
        let order = |seed| {
            let (mut policy, mut rng) = (policy("random", 4), rng(seed));
            (0..30).map(|_| policy.select(&mut rng)).collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }
}
