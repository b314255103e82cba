//! Which drafter speculates next: a multi-armed bandit over the pool.
//!
//! A [`Policy`] picks an arm for every round and learns from the round's [`Feedback`].
//! [`PolicySpec`] is what a user writes (`metasd-ucb`, `fixed:code`, …); together with
//! [`PolicyParams`] and the drafters' names it builds the policy.
//!
//! Nothing here knows what an arm is. All randomness comes from the caller's generator, so
//! the same feedback and the same generator give the same choices.

use std::fmt;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::Result;
use crate::types::ArmId;

mod arms;
pub mod cyclic;
pub mod discounted;
mod evidence;
pub mod exp3;
pub mod explore_commit;
mod feedback;
pub mod fixed;
#[cfg(test)]
mod fixture;
pub mod greedy;
pub mod halving;
pub mod hedge;
pub mod joint;
pub mod off;
#[cfg(test)]
mod reference;
pub mod routed;
pub mod sliding_window;
mod spec;
mod spelling;
mod state;
pub mod steady;
#[cfg(test)]
mod tests;
pub mod thompson;
pub mod ucb;
pub mod uniform;

pub use feedback::{Feedback, Reward};
#[cfg(test)]
pub(crate) use fixture::*;
pub use spec::{PolicyParams, PolicySpec};
pub use state::{ArmState, PolicyState};

/// Tokens that a round is expected to commit where nothing better is known: what small drafters
/// come to.
const TOKENS_PER_ROUND: usize = 2;

/// The random stream of a policy's choices. A sampler of the same seed has stream 0, so that
/// neither moves the other's draws.
const STREAM: u64 = 1;

/// Rounds that a query of at most `tokens` tokens is expected to take, for
/// [`Policy::expect_rounds`].
pub fn expected_rounds(tokens: Option<usize>) -> Option<usize> {
    tokens.map(|tokens| tokens.div_ceil(TOKENS_PER_ROUND))
}

/// The generator that a policy chooses with in a query of seed `seed`.
pub fn generator(seed: u64) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(STREAM);
    generator
}

/// A rule that picks the arm of each round.
///
/// Arms are numbered from 0. A caller alternates [`select`](Policy::select) and
/// [`observe`](Policy::observe); when a selected arm turns out to be unusable it calls
/// [`retire`](Policy::retire) instead, for a policy may select the same arm until it has
/// learnt something new.
pub trait Policy: Send + fmt::Debug {
    /// The policy as a [`PolicySpec`] writes it.
    fn name(&self) -> String;

    /// Starts a new query on `arms` arms: statistics and position are as in a policy just
    /// built. Retired arms stay retired; only building the policy anew brings them back.
    fn reset(&mut self, arms: usize);

    /// Starts a new query on `arms` arms as [`reset`](Policy::reset) does, but keeps what was
    /// learnt, every past round counting `discount` (0 to 1) times what it did. A policy that
    /// has nothing to keep is reset.
    fn carry(&mut self, arms: usize, _discount: f64) {
        self.reset(arms);
    }

    /// Tells how many rounds the next query is expected to take, `None` when nothing is known of
    /// it; to be called before [`reset`](Policy::reset) or [`carry`](Policy::carry).
    fn expect_rounds(&mut self, _rounds: Option<usize>) {}

    /// The arm for the next round. `None` when the policy does not speculate or has no arm
    /// left: the target then decodes alone.
    fn select(&mut self, rng: &mut dyn Rng) -> Option<ArmId>;

    /// Learns from a round. Feedback for a retired arm is ignored.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::error::ErrorKind::InvalidArgument) if the arm is not one
    /// of those given to [`reset`](Policy::reset), if its reward is refused by
    /// [`Feedback::reward`], or, in a round for which the policy
    /// [wanted it](Policy::wants_counterfactual), if a counterfactual entry is of no such arm or
    /// outside [0, 1]; the statistics are then unchanged.
    fn observe(&mut self, feedback: &Feedback) -> Result<()>;

    /// Takes an arm out for the rest of the policy's life: its drafter has left the pool.
    fn retire(&mut self, arm: ArmId);

    /// Whether the coming round's [`Feedback::counterfactual`] should be filled, which costs
    /// time.
    fn wants_counterfactual(&self) -> bool {
        false
    }

    /// Whether [`rank`](Policy::rank) should be called for each query.
    fn wants_ranking(&self) -> bool {
        false
    }

    /// Tells, after a [`reset`](Policy::reset) and before the first selection, which arms suit the
    /// query, the best one first; arms of which nothing is known are left out. Each is one of
    /// those given to [`reset`](Policy::reset).
    fn rank(&mut self, _ranking: &[ArmId]) {}

    /// Whether [`switch_costs`](Policy::switch_costs) should be called before each selection.
    fn wants_switch_costs(&self) -> bool {
        false
    }

    /// Tells, before a selection, what changing to each arm would cost, in rounds' time.
    fn switch_costs(&mut self, _costs: &[f64]) {}

    /// What the policy believes at this moment.
    fn state(&self) -> PolicyState;
}
