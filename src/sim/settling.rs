//! Whether a policy has found the best arm and stays with it.

use crate::sim::Arm;
use crate::types::ArmId;

/// Rounds over which a policy must stay with the best arm to have settled.
pub const SETTLED_ROUNDS: usize = 50;

/// The share of these rounds that the best arm must have.
pub const SETTLED_SHARE: f64 = 0.9;

/// Whether the last rounds went to the best arm.
pub(super) struct Settling {
    /// For each of the last rounds whether it was the best arm's, overwritten in turns.
    hits: [bool; SETTLED_ROUNDS],
    rounds: usize,
    count: usize,
    /// The best arm, where it is the same throughout.
    best: Option<ArmId>,
}

impl Settling {
    pub(super) fn new(arms: &[Arm]) -> Self {
        Self {
            hits: [false; SETTLED_ROUNDS],
            rounds: 0,
            count: 0,
            best: best_arm(arms, 0.0).filter(|_| arms.iter().all(Arm::is_steady)),
        }
    }

    /// Counts a round that went to `choice` when the part `progress` of the query was done.
    pub(super) fn has_settled(&mut self, arms: &[Arm], progress: f64, choice: ArmId) -> bool {
        let best = self.best.or_else(|| best_arm(arms, progress));
        let place = self.rounds % SETTLED_ROUNDS;
        self.count -= usize::from(self.hits[place]);
        self.hits[place] = best == Some(choice);
        self.count += usize::from(self.hits[place]);
        self.rounds += 1;
        self.rounds >= SETTLED_ROUNDS && self.count as f64 >= SETTLED_SHARE * SETTLED_ROUNDS as f64
    }
}

/// The arm of the highest agreement when the part `progress` of the query is done; of equal ones
/// the lowest. `None` without arms.
fn best_arm(arms: &[Arm], progress: f64) -> Option<ArmId> {
    let mut best: Option<(ArmId, f64)> = None;
    for (index, arm) in arms.iter().enumerate() {
        let agreement = arm.agreement(progress);
        if best.is_none_or(|(_, highest)| agreement > highest) {
            best = Some((ArmId(index), agreement));
        }
    }
    best.map(|(arm, _)| arm)
}
