//! What an arm did over some rounds.

use crate::record::Attempt;

/// Sums over the rounds of one arm.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ArmTotals {
    /// Rounds.
    pub rounds: u64,
    /// Tokens drafted.
    pub drafted: u64,
    /// Tokens accepted.
    pub accepted: u64,
    /// Block divergence.
    pub bd: f64,
    /// Squares of block divergence.
    pub bd_squared: f64,
    /// Block efficiency.
    pub be: f64,
    /// Squares of block efficiency.
    pub be_squared: f64,
}

impl ArmTotals {
    pub(super) fn add(&mut self, attempt: &Attempt) {
        let (bd, be) = (attempt.bd, attempt.be());
        self.rounds += 1;
        self.drafted += attempt.drafted as u64;
        self.accepted += attempt.accepted as u64;
        self.bd += bd;
        self.bd_squared += bd * bd;
        self.be += be;
        self.be_squared += be * be;
    }

    /// Adds the sums of other rounds of the arm.
    pub fn merge(&mut self, other: &Self) {
        self.rounds += other.rounds;
        self.drafted += other.drafted;
        self.accepted += other.accepted;
        self.bd += other.bd;
        self.bd_squared += other.bd_squared;
        self.be += other.be;
        self.be_squared += other.be_squared;
    }

    /// Mean acceptance length: the accepted tokens of a round and the target's own one. `None`
    /// without a round, as the following.
    pub fn mean_acceptance_length(&self) -> Option<f64> {
        self.per_round((self.accepted + self.rounds) as f64)
    }

    /// Mean block divergence.
    pub fn mean_bd(&self) -> Option<f64> {
        self.per_round(self.bd)
    }

    /// Mean block efficiency.
    pub fn mean_be(&self) -> Option<f64> {
        self.per_round(self.be)
    }

    /// Variance of block divergence over the rounds.
    pub fn variance_bd(&self) -> Option<f64> {
        self.variance(self.bd, self.bd_squared)
    }

    /// Variance of block efficiency over the rounds.
    pub fn variance_be(&self) -> Option<f64> {
        self.variance(self.be, self.be_squared)
    }

    fn variance(&self, sum: f64, squares: f64) -> Option<f64> {
        let mean = self.per_round(sum)?;
        Some((self.per_round(squares)? - mean * mean).max(0.0))
    }

    fn per_round(&self, sum: f64) -> Option<f64> {
        (self.rounds > 0).then(|| sum / self.rounds as f64)
    }
}
