//! `static-ensemble` and `draft-all`: every drafter in every round.

use rand::Rng;

use crate::bandit::arms::Arms;
use crate::bandit::{Feedback, Policy, PolicyParams, PolicyState};
use crate::error::Result;
use crate::types::ArmId;

/// All available arms at once: as one drafter of their averaged distributions
/// (`static-ensemble`), or each with a draft of its own that the target verifies beside the others
/// (`draft-all`). Nothing is learnt; what is observed is kept for reports alone.
///
/// [`select`](Policy::select) names the first available arm, for who can have only one draft.
/// Draws no randomness.
#[derive(Clone, Debug)]
pub struct Joint {
    arms: Arms,
    name: &'static str,
}

impl Joint {
    pub(super) fn static_ensemble(params: &PolicyParams, arms: usize) -> Self {
        Self::new("static-ensemble", params, arms)
    }

    pub(super) fn draft_all(params: &PolicyParams, arms: usize) -> Self {
        Self::new("draft-all", params, arms)
    }

    fn new(name: &'static str, params: &PolicyParams, arms: usize) -> Self {
        Self {
            arms: Arms::new(params.reward, arms),
            name,
        }
    }
}

impl Policy for Joint {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn reset(&mut self, arms: usize) {
        self.arms.reset(arms);
    }

    fn carry(&mut self, arms: usize, discount: f64) {
        self.arms.carry(arms, discount);
    }

    fn select(&mut self, _rng: &mut dyn Rng) -> Option<ArmId> {
        self.arms.available().next()
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
    use crate::bandit::{feedback, policy, rng};

    #[test]
    fn the_first_arm_that_is_left_stands_for_all() {
        for name in ["static-ensemble", "draft-all"] {
            let mut policy = policy(name, 3);
            assert_eq!(policy.select(&mut rng(0)), Some(ArmId(0)));
            policy.retire(ArmId(0));
            assert_eq!(policy.select(&mut rng(0)), Some(ArmId(1)));
        }
    }

    #[test]
    fn one_round_may_be_observed_for_every_arm() {
        let mut policy = policy("draft-all", 2);
        for arm in 0..2 {
            policy.observe(&feedback(arm, 0.5)).unwrap();
        }
        let state = policy.state();
        assert_eq!((state.t, state.arms[1].mean), (2, Some(0.5)));
    }
}
