//! `eps-greedy`: the best so far, and now and then any.

use rand::{Rng, RngExt};

use crate::bandit::arms::Arms;
use crate::bandit::{Feedback, Policy, PolicyParams, PolicyState};
use crate::error::Result;
use crate::types::ArmId;

/// The usual value (Sutton & Barto 2018, §2.3).
pub(super) const DEFAULT_EPSILON: f64 = 0.1;

/// ε-greedy (Watkins 1989; Sutton & Barto 2018, *Reinforcement learning*, §2.2).
///
/// Each available arm once, in order; then with probability ε an available arm uniformly at
/// random, else the arm of the largest mean reward since the last reset. Ties go to the lowest
/// arm.
///
/// Draws a random number for each selection once all arms have been tried, and another where it
/// explores.
#[derive(Clone, Debug)]
pub struct EpsGreedy {
    arms: Arms,
    epsilon: f64,
}

impl EpsGreedy {
    pub(super) fn new(params: &PolicyParams, arms: usize) -> Self {
        Self {
            arms: Arms::new(params.reward, arms),
            epsilon: params.epsilon,
        }
    }
}

impl Policy for EpsGreedy {
    fn name(&self) -> String {
        "eps-greedy".to_owned()
    }

    fn reset(&mut self, arms: usize) {
        self.arms.reset(arms);
    }

    fn carry(&mut self, arms: usize, discount: f64) {
        self.arms.carry(arms, discount);
    }

    fn select(&mut self, rng: &mut dyn Rng) -> Option<ArmId> {
        let best = self.arms.highest(|arm| self.arms.mean(arm))?;
        let all_tried = self.arms.mean(best).is_some();
        if all_tried && rng.random_bool(self.epsilon) {
            let available = self.arms.available().count();
            return self.arms.available().nth(rng.random_range(0..available));
        }
        Some(best)
    }

    fn observe(&mut self, feedback: &Feedback) -> Result<()> {
        self.arms.observe(feedback).map(drop)
    }

    fn retire(&mut self, arm: ArmId) {
        self.arms.retire(arm);
    }

    /// The index of an arm is its mean reward.
    fn state(&self) -> PolicyState {
        self.arms.state(self.name(), |arm| self.arms.mean(arm))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bandit::{MEANS, feedback, rng, share};

    fn eps_greedy(epsilon: f64, rewards: &[f64]) -> EpsGreedy {
        let params = PolicyParams {
            epsilon,
            ..PolicyParams::default()
        };
        let mut policy = EpsGreedy::new(&params, rewards.len());
        for (arm, &reward) in rewards.iter().enumerate() {
            assert_eq!(policy.select(&mut rng(0)), Some(ArmId(arm)));
            policy.observe(&feedback(arm, reward)).unwrap();
        }
        policy
    }

    #[test]
    fn the_best_mean_has_the_greedy_share_and_its_part_of_the_rest() {
        let mut policy = eps_greedy(0.3, &[0.4, 0.7, 0.5]);
        let mut rng = rng(2);
        let draws = 20_000;
        let mut counts = [0.0; 3];
        for _ in 0..draws {
            counts[policy.select(&mut rng).unwrap().0] += 1.0;
        }
        // 0.3 / 3 for each, and 0.7 more for the best.
        for (count, p) in counts.iter().zip([0.1, 0.8, 0.1]) {
            let deviation = (p * (1.0f64 - p) / f64::from(draws)).sqrt();
            assert!((count / f64::from(draws) - p).abs() < 4.0 * deviation);
        }
    }

    #[test]
    fn without_exploration_the_best_mean_wins_and_ties_go_to_the_lowest_arm() {
        let mut policy = eps_greedy(0.0, &[0.3, 0.6, 0.6]);
        let mut rng = rng(1);
        for _ in 0..20 {
            assert_eq!(policy.select(&mut rng), Some(ArmId(1)));
        }
        policy.retire(ArmId(1));
        assert_eq!(policy.select(&mut rng), Some(ArmId(2)));
        assert_eq!(policy.state().arms[0].index, Some(0.3));
    }

    #[test]
    fn exploring_always_spreads_over_the_arms_that_are_left() {
        let mut policy = eps_greedy(1.0, &[0.3, 0.6, 0.5]);
        policy.retire(ArmId(1));
        let mut rng = rng(4);
        let first = (0..1000)
            .filter(|_| policy.select(&mut rng) == Some(ArmId(0)))
            .count();
        assert!((400..600).contains(&first), "{first}");
    }

    #[test]
    fn the_best_of_four_noisy_arms_gets_most_rounds() {
        let params = PolicyParams::default();
        let share = share(("eps-greedy", &params), &|_| &MEANS, 0..500, 2);
        assert!(share > 0.75, "{share}");
    }
}
