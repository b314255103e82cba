//! The statistics every policy keeps: pulls, mean reward and who has retired.

use std::collections::BTreeSet;

use crate::bandit::evidence::{Ledger, Shown};
use crate::bandit::{ArmState, Feedback, PolicyState, Reward};
use crate::error::{Error, Result};
use crate::types::ArmId;

/// What one query, and those before it as far as they are carried over, have shown of the arms;
/// and the retirements of the policy's whole life.
#[derive(Clone, Debug)]
pub(super) struct Arms {
    reward: Reward,
    /// Rounds of each arm in this query.
    pulls: Vec<u64>,
    /// Their sum.
    rounds: u64,
    /// Rounds carried over from the queries before.
    carried: f64,
    ledger: Ledger,
    // Apart from the tallies, so that a retirement outlives every reset.
    retired: BTreeSet<ArmId>,
}

impl Arms {
    pub(super) fn new(reward: Reward, arms: usize) -> Self {
        Self {
            reward,
            pulls: vec![0; arms],
            rounds: 0,
            carried: 0.0,
            ledger: Ledger::new(arms),
            retired: BTreeSet::new(),
        }
    }

    /// See [`Policy::reset`](super::Policy::reset).
    pub(super) fn reset(&mut self, arms: usize) {
        self.carry(arms, 0.0);
    }

    /// See [`Policy::carry`](super::Policy::carry).
    pub(super) fn carry(&mut self, arms: usize, discount: f64) {
        self.carried = discount * self.time();
        self.ledger.carry(arms, discount);
        self.rounds = 0;
        self.pulls.clear();
        self.pulls.resize(arms, 0);
    }

    /// See [`Policy::retire`](super::Policy::retire).
    pub(super) fn retire(&mut self, arm: ArmId) {
        self.retired.insert(arm);
    }

    /// How many arms there are, retired ones included.
    pub(super) fn len(&self) -> usize {
        self.pulls.len()
    }

    /// Whether the arm exists and has not retired.
    pub(super) fn is_available(&self, arm: ArmId) -> bool {
        is_available(arm, self.len(), &self.retired)
    }

    /// The arms that can be selected, in order.
    pub(super) fn available(&self) -> impl Iterator<Item = ArmId> {
        (0..self.len())
            .map(ArmId)
            .filter(|&arm| self.is_available(arm))
    }

    /// Whether there is more than one of them.
    pub(super) fn are_several(&self) -> bool {
        self.available().nth(1).is_some()
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

    /// Counts a round; `None` when the arm has retired, else its reward.
    /// For the errors see [`Policy::observe`](super::Policy::observe).
    pub(super) fn observe(&mut self, feedback: &Feedback) -> Result<Option<f64>> {
        let reward = self.count(feedback)?;
        if let Some(reward) = reward {
            self.ledger
                .add(Shown::new(feedback, reward, false), |_| true);
        }
        Ok(reward)
    }

    /// Counts a round by what it shows of every available arm when it is to be `scored` and the
    /// drafting arm has an entry in [`Feedback::counterfactual`], and otherwise as
    /// [`Arms::observe`] does. Returns what was shown, of arms that are not available too.
    pub(super) fn observe_all<'a>(
        &mut self,
        feedback: &'a Feedback,
        scored: bool,
    ) -> Result<Option<Shown<'a>>> {
        if scored {
            self.check_counterfactual(feedback)?;
        }
        let Some(reward) = self.count(feedback)? else {
            return Ok(None);
        };
        let shown = Shown::new(feedback, reward, scored);
        let (retired, arms) = (&self.retired, self.pulls.len());
        self.ledger
            .add(shown, |arm| is_available(arm, arms, retired));
        Ok(Some(shown))
    }

    /// Counts the round of an arm that has not retired, and returns its reward.
    fn count(&mut self, feedback: &Feedback) -> Result<Option<f64>> {
        self.check(feedback.arm)?;
        if self.retired.contains(&feedback.arm) {
            return Ok(None);
        }
        let reward = feedback.reward(self.reward)?;
        self.pulls[feedback.arm.0] += 1;
        self.rounds += 1;
        Ok(Some(reward))
    }

    /// Refuses an arm that does not exist.
    fn check(&self, arm: ArmId) -> Result<()> {
        let arms = self.len();
        if arm.0 < arms {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "feedback for arm {arm}, but the policy has {arms} arms, numbered from 0"
        )))
    }

    /// Refuses counterfactual entries of arms that do not exist, and such as are out of range
    /// unless their arm has retired.
    pub(super) fn check_counterfactual(&self, feedback: &Feedback) -> Result<()> {
        for &(arm, agreement) in &feedback.counterfactual {
            self.check(arm)?;
            if !self.retired.contains(&arm) && !(0.0..=1.0).contains(&agreement) {
                return Err(Error::invalid(format!(
                    "counterfactual agreement of arm {arm} is {agreement}; it must lie in [0, 1]"
                )));
            }
        }
        Ok(())
    }

    /// Rounds counted since the last reset or carry.
    pub(super) fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Rounds counted, those carried over included.
    pub(super) fn time(&self) -> f64 {
        self.carried + self.rounds as f64
    }

    /// Rounds of `arm` since the last reset or carry.
    ///
    /// # Panics
    /// If there is no such arm.
    pub(super) fn pulls(&self, arm: ArmId) -> u64 {
        self.pulls[arm.0]
    }

    /// How many rounds [`Arms::mean`] is over, those in which the arm was only scored and those
    /// carried over included.
    ///
    /// # Panics
    /// If there is no such arm.
    pub(super) fn weight(&self, arm: ArmId) -> f64 {
        self.ledger.weight(arm)
    }

    /// Mean reward of `arm`; `None` when nothing is known of it.
    ///
    /// # Panics
    /// If there is no such arm.
    pub(super) fn mean(&self, arm: ArmId) -> Option<f64> {
        self.ledger.mean(arm)
    }

    /// [`Arms::mean`] for many arms at once.
    pub(super) fn means(&self) -> impl Fn(ArmId) -> Option<f64> {
        self.ledger.means()
    }

    /// The picture of the policy `name` that ranks the available arms by `index`.
    pub(super) fn state(&self, name: String, index: impl Fn(ArmId) -> Option<f64>) -> PolicyState {
        let arms = (0..self.len()).map(ArmId).map(|arm| ArmState {
            arm,
            pulls: self.pulls(arm),
            weight: self.weight(arm),
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

fn is_available(arm: ArmId, arms: usize, retired: &BTreeSet<ArmId>) -> bool {
    arm.0 < arms && !retired.contains(&arm)
}
