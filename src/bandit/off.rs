//! `off`: no speculation.

use rand::Rng;

use crate::bandit::arms::Arms;
use crate::bandit::{Feedback, Policy, PolicyParams, PolicyState};
use crate::error::Result;
use crate::types::ArmId;

/// Never an arm: the target decodes alone.
#[derive(Clone, Debug)]
pub struct Off {
    arms: Arms,
}

impl Off {
    pub(super) fn new(params: &PolicyParams, arms: usize) -> Self {
        Self {
            arms: Arms::new(params.reward, arms),
        }
    }
}

impl Policy for Off {
    fn name(&self) -> String {
        "off".to_owned()
    }

    fn reset(&mut self, arms: usize) {
        self.arms.reset(arms);
    }

    fn carry(&mut self, arms: usize, discount: f64) {
        self.arms.carry(arms, discount);
    }

    fn select(&mut self, _rng: &mut dyn Rng) -> Option<ArmId> {
        None
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
    use crate::bandit::{policy, rng};

    #[test]
    fn no_arm_is_ever_selected() {
        let mut policy = policy("off", 3);
        for _ in 0..10 {
            assert_eq!(policy.select(&mut rng(0)), None);
        }
    }
}
