//! `etc`: explore, then commit.

use rand::Rng;

use crate::bandit::arms::Arms;
use crate::bandit::{Feedback, Policy, PolicyParams, PolicyState};
use crate::error::Result;
use crate::types::ArmId;

/// A tenth of a query of 150 rounds with five drafters.
pub(super) const DEFAULT_EXPLORE_ROUNDS: usize = 3;

/// Explore-then-commit (Robbins 1952; Garivier, Kaufmann & Lattimore 2016, *On
/// explore-then-commit strategies*).
///
/// `m` rounds of each available arm, in turns from the lowest; then the arm of the largest mean
/// reward over them, for the rest of the query and whatever it gives. Ties go to the lowest
/// arm. If the arm retires, the one of the largest mean among the others follows it.
///
/// Draws no randomness.
#[derive(Clone, Debug)]
pub struct ExploreCommit {
    arms: Arms,
    explore_rounds: usize,
    committed: Option<ArmId>,
}

impl ExploreCommit {
    pub(super) fn new(params: &PolicyParams, arms: usize) -> Self {
        Self {
            arms: Arms::new(params.reward, arms),
            explore_rounds: params.explore_rounds,
            committed: None,
        }
    }

    /// The arm to explore next; `None` when all have been.
    fn unexplored(&self) -> Option<ArmId> {
        self.arms
            .available()
            .filter(|&arm| self.arms.weight(arm) < self.explore_rounds as f64)
            .min_by(|&a, &b| self.arms.weight(a).total_cmp(&self.arms.weight(b)))
    }
}

impl Policy for ExploreCommit {
    fn name(&self) -> String {
        "etc".to_owned()
    }

    fn reset(&mut self, arms: usize) {
        self.arms.reset(arms);
        self.committed = None;
    }

    /// What is left of earlier rounds of an arm counts among its `m`.
    fn carry(&mut self, arms: usize, discount: f64) {
        self.arms.carry(arms, discount);
        self.committed = None;
    }

    fn select(&mut self, _rng: &mut dyn Rng) -> Option<ArmId> {
        if self.committed.is_none() {
            let unexplored = self.unexplored();
            if unexplored.is_some() {
                return unexplored;
            }
            self.committed = self.arms.highest(|arm| self.arms.mean(arm));
        }
        self.committed
    }

    fn observe(&mut self, feedback: &Feedback) -> Result<()> {
        self.arms.observe(feedback).map(drop)
    }

    fn retire(&mut self, arm: ArmId) {
        self.arms.retire(arm);
        self.committed = self.committed.filter(|&committed| committed != arm);
    }

    /// The index of an arm is its mean reward; once committed, only that arm has one.
    fn state(&self) -> PolicyState {
        let in_play = |arm| self.committed.is_none_or(|committed| committed == arm);
        self.arms.state(self.name(), |arm| {
            self.arms.mean(arm).filter(|_| in_play(arm))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bandit::{MEANS, play, share};

    fn etc(explore_rounds: usize, arms: usize) -> ExploreCommit {
        let params = PolicyParams {
            explore_rounds,
            ..PolicyParams::default()
        };
        ExploreCommit::new(&params, arms)
    }

    #[test]
    fn each_arm_has_its_rounds_and_the_best_gets_the_rest() {
        let mut policy = etc(2, 3);
        let selected = play(&mut policy, &[0.3, 0.5, 0.4], 12);
        assert_eq!(selected, [0, 1, 2, 0, 1, 2, 1, 1, 1, 1, 1, 1]);
        let state = policy.state();
        assert_eq!(state.arms[0].index, None);
        assert_eq!(state.arms[1].index, Some(0.5));
    }

    #[test]
    fn what_comes_after_the_commitment_does_not_undo_it() {
        let mut policy = etc(1, 2);
        play(&mut policy, &[0.6, 0.5], 3);
        assert_eq!(play(&mut policy, &[0.0, 0.5], 20), [0; 20]);
    }

    #[test]
    fn the_next_best_follows_an_arm_that_retires() {
        let mut policy = etc(1, 3);
        play(&mut policy, &[0.3, 0.5, 0.4], 6);
        policy.retire(ArmId(0));
        assert_eq!(play(&mut policy, &[0.3, 0.5, 0.4], 3), [1; 3]);
        policy.retire(ArmId(1));
        assert_eq!(play(&mut policy, &[0.3, 0.5, 0.4], 3), [2; 3]);
    }

    #[test]
    fn an_arm_that_retires_while_exploring_is_not_waited_for() {
        let mut policy = etc(2, 3);
        play(&mut policy, &[0.3, 0.5, 0.4], 2);
        policy.retire(ArmId(2));
        assert_eq!(play(&mut policy, &[0.3, 0.5, 0.4], 4), [0, 1, 1, 1]);
    }

    #[test]
    fn ties_go_to_the_lowest_arm_and_more_arms_than_rounds_are_tried_in_order() {
        let mut policy = etc(1, 3);
        assert_eq!(play(&mut policy, &[0.5; 3], 5), [0, 1, 2, 0, 0]);
        policy.reset(100);
        let tried: Vec<usize> = (0..20).collect();
        assert_eq!(play(&mut policy, &[0.5; 100], 20), tried);
    }

    #[test]
    fn the_best_of_four_noisy_arms_is_found() {
        let params = PolicyParams {
            explore_rounds: 15,
            ..PolicyParams::default()
        };
        let share = share(("etc", &params), &|_| &MEANS, 60..120, 2);
        assert!(share > 0.9, "{share}");
    }
}
