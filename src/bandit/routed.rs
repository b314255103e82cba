//! `router`: the drafter that suits the prompt best, throughout.

use rand::Rng;

use crate::bandit::arms::Arms;
use crate::bandit::{Feedback, Policy, PolicyParams, PolicyState};
use crate::error::Result;
use crate::types::ArmId;

/// The first available arm of the ranking that was given for the query
/// ([`Policy::rank`]); of none that is not ranked. Until a query's ranking is given the arms rank
/// in their order.
///
/// Nothing is learnt, and no randomness drawn.
#[derive(Clone, Debug)]
pub struct Routed {
    arms: Arms,
    ranking: Vec<ArmId>,
}

impl Routed {
    pub(super) fn new(params: &PolicyParams, arms: usize) -> Self {
        Self {
            arms: Arms::new(params.reward, arms),
            ranking: (0..arms).map(ArmId).collect(),
        }
    }
}

impl Policy for Routed {
    fn name(&self) -> String {
        "router".to_owned()
    }

    fn reset(&mut self, arms: usize) {
        self.carry(arms, 0.0);
    }

    /// Keeps what was observed; the ranking is the new query's.
    fn carry(&mut self, arms: usize, discount: f64) {
        self.arms.carry(arms, discount);
        self.ranking = (0..arms).map(ArmId).collect();
    }

    fn select(&mut self, _rng: &mut dyn Rng) -> Option<ArmId> {
        let mut ranked = self.ranking.iter().copied();
        ranked.find(|&arm| self.arms.is_available(arm))
    }

    fn observe(&mut self, feedback: &Feedback) -> Result<()> {
        self.arms.observe(feedback).map(drop)
    }

    fn retire(&mut self, arm: ArmId) {
        self.arms.retire(arm);
    }

    fn wants_ranking(&self) -> bool {
        true
    }

    fn rank(&mut self, ranking: &[ArmId]) {
        self.ranking = ranking.to_vec();
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
    fn the_first_of_the_ranking_drafts_whatever_is_observed() {
        let mut policy = policy("router", 3);
        policy.rank(&[ArmId(2), ArmId(0)]);
        for reward in [0.0, 1.0, 0.0] {
            assert_eq!(policy.select(&mut rng(0)), Some(ArmId(2)));
            policy.observe(&feedback(2, reward)).unwrap();
        }
    }

    #[test]
    fn the_next_of_the_ranking_steps_in_and_an_arm_that_is_not_ranked_never() {
        let mut policy = policy("router", 3);
        policy.rank(&[ArmId(2), ArmId(0)]);
        policy.retire(ArmId(2));
        assert_eq!(policy.select(&mut rng(0)), Some(ArmId(0)));
        policy.retire(ArmId(0));
        assert_eq!(policy.select(&mut rng(0)), None);
    }

    #[test]
    fn a_ranking_holds_for_one_query() {
        let mut policy = policy("router", 3);
        policy.rank(&[ArmId(1)]);
        policy.reset(3);
        assert_eq!(policy.select(&mut rng(0)), Some(ArmId(0)));
    }
}
