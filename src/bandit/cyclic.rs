//! `round-robin`: every drafter in turn.

use rand::Rng;

use crate::bandit::arms::Arms;
use crate::bandit::{Feedback, Policy, PolicyParams, PolicyState};
use crate::error::Result;
use crate::types::ArmId;

/// The available arms in order, over and over, from arm 0 after each reset.
///
/// Draws no randomness.
#[derive(Clone, Debug)]
pub struct Cyclic {
    arms: Arms,
    next: usize,
}

impl Cyclic {
    pub(super) fn new(params: &PolicyParams, arms: usize) -> Self {
        Self {
            arms: Arms::new(params.reward, arms),
            next: 0,
        }
    }
}

impl Policy for Cyclic {
    fn name(&self) -> String {
        "round-robin".to_owned()
    }

    fn reset(&mut self, arms: usize) {
        self.arms.reset(arms);
        self.next = 0;
    }

    /// Goes on with the arm whose turn it is.
    fn carry(&mut self, arms: usize, discount: f64) {
        self.arms.carry(arms, discount);
        self.next = self.next.min(arms);
    }

    fn select(&mut self, _rng: &mut dyn Rng) -> Option<ArmId> {
        let arm = (self.next..self.arms.len())
            .chain(0..self.next)
            .map(ArmId)
            .find(|&arm| self.arms.is_available(arm))?;
        self.next = arm.0 + 1;
        Some(arm)
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

    fn turns(policy: &mut dyn Policy, rounds: usize) -> Vec<usize> {
        (0..rounds)
            .filter_map(|_| policy.select(&mut rng(0)))
            .map(|arm| arm.0)
            .collect()
    }

    #[test]
    fn arms_take_turns_and_retired_ones_lose_theirs() {
        let mut policy = policy("round-robin", 4);
        assert_eq!(turns(&mut *policy, 6), [0, 1, 2, 3, 0, 1]);
        policy.retire(ArmId(2));
        assert_eq!(turns(&mut *policy, 5), [3, 0, 1, 3, 0]);
        policy.retire(ArmId(3));
        policy.retire(ArmId(0));
        assert_eq!(turns(&mut *policy, 3), [1, 1, 1]);
    }

    #[test]
    fn a_new_query_starts_at_the_first_arm_that_is_left() {
        let mut policy = policy("round-robin", 3);
        policy.retire(ArmId(0));
        assert_eq!(turns(&mut *policy, 1), [1]);
        policy.reset(3);
        assert_eq!(turns(&mut *policy, 3), [1, 2, 1]);
    }
}
