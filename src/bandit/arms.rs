//! The statistics every policy keeps: pulls, mean reward and who has retired.

use std::collections::BTreeSet;

use crate::bandit::{ArmState, Feedback, PolicyState, Reward};
use crate::error::{Error, Result};
use crate::types::ArmId;

/// Per-arm tallies of one query, and the retirements of the policy's whole life.
#[derive(Clone, Debug)]
pub(super) struct Arms {
    reward: Reward,
    tallies: Vec<Tally>,
    // Apart from the tallies, so that a retirement outlives every reset.
    retired: BTreeSet<ArmId>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Tally {
    pulls: u64,
    sum: f64,
}

impl Arms {
    pub(super) fn new(reward: Reward, arms: usize) -> Self {
        Self {
            reward,
            tallies: vec![Tally::default(); arms],
            retired: BTreeSet::new(),
        }
    }

    /// See [`Policy::reset`](super::Policy::reset).
    pub(super) fn reset(&mut self, arms: usize) {
        self.tallies.clear();
        self.tallies.resize(arms, Tally::default());
    }

    /// See [`Policy::retire`](super::Policy::retire).
    pub(super) fn retire(&mut self, arm: ArmId) {
        self.retired.insert(arm);
    }

    /// How many arms there are, retired ones included.
    pub(super) fn len(&self) -> usize {
        self.tallies.len()
    }

    /// Whether the arm exists and has not retired.
    pub(super) fn is_available(&self, arm: ArmId) -> bool {
        arm.0 < self.len() && !self.retired.contains(&arm)
    }

    /// The arms that can be selected, in order.
    pub(super) fn available(&self) -> impl Iterator<Item = ArmId> {
        (0..self.len())
            .map(ArmId)
            .filter(|&arm| self.is_available(arm))
    }

    /// The first available arm that has no `index`, else that of the highest; ties go to the
    /// lowest arm. `None` when no arm is available.
    pub(super) fn highest(&self, mut index: impl FnMut(ArmId) -> Option<f64>) -> Option<ArmId> {
        let mut best = None;
        for arm in self.available() {
            let Some(value) = index(arm) else {
                return Some(arm);
            };
            if best.is_none_or(|(_, highest)| value > highest) {
                best = Some((arm, value));
            }
        }
        best.map(|(arm, _)| arm)
    }

    /// Counts a round and returns its reward; `None` when the arm has retired.
    /// For the errors see [`Policy::observe`](super::Policy::observe).
    pub(super) fn observe(&mut self, feedback: &Feedback) -> Result<Option<f64>> {
        let arm = feedback.arm;
        let arms = self.len();
        let Some(tally) = self.tallies.get_mut(arm.0) else {
            return Err(Error::invalid(format!(
                "feedback for arm {arm}, but the policy has {arms} arms, numbered from 0"
            )));
        };
        if self.retired.contains(&arm) {
            return Ok(None);
        }
        let reward = feedback.reward(self.reward)?;
        tally.pulls += 1;
        tally.sum += reward;
        Ok(Some(reward))
    }

    /// Rounds counted since the last reset.
    pub(super) fn rounds(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.pulls).sum()
    }

    /// Rounds of `arm` since the last reset.
    ///
    /// # Panics
    /// If there is no such arm.
    pub(super) fn pulls(&self, arm: ArmId) -> u64 {
        self.tallies[arm.0].pulls
    }

    /// Mean reward of `arm` since the last reset; `None` before its first round.
    ///
    /// # Panics
    /// If there is no such arm.
    pub(super) fn mean(&self, arm: ArmId) -> Option<f64> {
        let Tally { pulls, sum } = self.tallies[arm.0];
        (pulls > 0).then(|| sum / pulls as f64)
    }

    /// The picture of the policy `name` that ranks the available arms by `index`.
    pub(super) fn state(&self, name: String, index: impl Fn(ArmId) -> Option<f64>) -> PolicyState {
        let arms = (0..self.len()).map(ArmId).map(|arm| ArmState {
            arm,
            pulls: self.pulls(arm),
            mean: self.mean(arm),
            index: self.is_available(arm).then(|| index(arm)).flatten(),
            retired: self.retired.contains(&arm),
        });
        PolicyState {
            name,
            t: self.rounds(),
            arms: arms.collect(),
        }
    }
}
