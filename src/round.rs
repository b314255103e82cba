//! One round on the traits: draft, verify, and measure how well the drafter agreed.

mod candidates;
mod counterfactual;

use std::time::{Duration, Instant};

pub use candidates::{CandidateReport, CandidatesReport, CandidatesRound};
pub use counterfactual::Counterfactual;

use rand::Rng;

use crate::align::{Aligner, Alignment};
use crate::drafter::{Draft, Drafter};
use crate::error::{Error, Result};
use crate::llama::{Outputs, Rollback, SamplerChain};
use crate::target::Target;
use crate::types::TokenId;
use crate::verify::verify;

/// Where a round's time went.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct RoundTimes {
    /// Decoding committed tokens that the drafter had not seen.
    pub catchup: Duration,
    /// Drafting.
    pub draft: Duration,
    /// The target's decode, acceptance and the roll-back.
    pub verify: Duration,
    /// Block divergence.
    pub reward: Duration,
    /// The part of all in the models' own decode calls.
    pub decode: Duration,
}

/// What came of a round.
#[derive(Debug)]
pub struct RoundReport {
    /// Tokens drafted.
    pub drafted: usize,
    /// Tokens accepted, the first of those drafted.
    pub accepted: usize,
    /// The accepted tokens and the target's own one after them.
    pub committed: Vec<TokenId>,
    /// Agreement over the drafted block; `None` when nothing was drafted.
    pub alignment: Option<Alignment>,
    /// Where the time went.
    pub times: RoundTimes,
    /// Why the drafter is unusable, if it failed; the round then went on without it.
    pub drafter_error: Option<Error>,
}

/// What a round works with besides the drafter.
pub struct Round<'a> {
    /// The target; its cache holds all of the history but the last token.
    pub target: &'a mut dyn Target,
    /// The sampler chain, its past being the history.
    pub chain: &'a mut SamplerChain,
    /// Measures block divergence.
    pub aligner: &'a mut Aligner,
    /// Randomness for drafting, acceptance and sampling.
    pub rng: &'a mut dyn Rng,
    /// Memory for the draft.
    pub draft: &'a mut Draft,
}

impl Round<'_> {
    /// Drafts up to `max` tokens after `history`, has the target verify them in one batch, and
    /// commits what it accepts with one token of its own. The target's cache is left holding all
    /// of the new history but its last token.
    ///
    /// # Errors
    /// When the target fails: its cache and the chain are then as before the round. A drafter's
    /// failure is no error but [`RoundReport::drafter_error`].
    pub fn run(
        mut self,
        drafter: Option<&mut dyn Drafter>,
        history: &[TokenId],
        max: usize,
    ) -> Result<RoundReport> {
        let mut times = RoundTimes::default();
        self.draft.clear();
        let mut drafter_error = None;
        let mut drafter = drafter;
        if let Some(drafter) = drafter.as_deref_mut().filter(|_| max > 0) {
            match drafter.draft(history, max, self.chain, self.rng, self.draft) {
                Ok(spent) => {
                    times.catchup = spent.catchup;
                    times.draft = spent.draft;
                    times.decode = spent.decode;
                }
                Err(error) => {
                    self.draft.clear();
                    drafter_error = Some(error);
                }
            }
            self.chain.restart(history);
        }

        let outcome = self.verify(history, &mut times);
        let (accepted, committed) = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                self.chain.restart(history);
                return Err(error);
            }
        };
        let alignment = self.measure(accepted, &mut times)?;
        if drafter_error.is_none()
            && let Some(drafter) = drafter
            && let Err(error) = drafter.rollback(history.len() + accepted)
        {
            drafter_error = Some(error);
        }
        Ok(RoundReport {
            drafted: self.draft.tokens().len(),
            accepted,
            committed,
            alignment,
            times,
            drafter_error,
        })
    }

    fn verify(
        &mut self,
        history: &[TokenId],
        times: &mut RoundTimes,
    ) -> Result<(usize, Vec<TokenId>)> {
        let started = Instant::now();
        let decode_before = self.target.decode_time();
        let drafted = self.draft.tokens();
        let mut target = Rollback::new(&mut *self.target);
        let last = last_of(history, target.len())?;
        let batch: Vec<TokenId> = [&last].into_iter().chain(drafted).copied().collect();
        target.decode(&batch, Outputs::All)?;
        let chain = &mut *self.chain;
        let verdict = verify(
            drafted,
            self.draft.dists(),
            |position| {
                if let Some(previous) = position.checked_sub(1) {
                    chain.accept(drafted[previous]);
                }
                chain.distribution(target.logits(position)?)
            },
            self.rng,
        )
        .map_err(|error| error.context("verifying the draft"))?;
        let mut committed = drafted[..verdict.accepted].to_vec();
        committed.push(verdict.next);
        self.chain.accept(verdict.next);
        target.commit(history.len() + verdict.accepted)?;
        times.verify = started.elapsed();
        times.decode += self.target.decode_time() - decode_before;
        Ok((verdict.accepted, committed))
    }

    fn measure(&mut self, accepted: usize, times: &mut RoundTimes) -> Result<Option<Alignment>> {
        let drafted = self.draft.tokens().len();
        if drafted == 0 {
            return Ok(None);
        }
        let started = Instant::now();
        let rows = (0..drafted)
            .map(|row| self.target.logits(row))
            .collect::<Result<Vec<_>>>()?;
        let alignment = self
            .aligner
            .block(rows.into_iter().zip(self.draft.proposals()), accepted)?;
        times.reward = started.elapsed();
        Ok(Some(alignment))
    }
}

/// The last token of `history`, of which a target holds the first `held` tokens.
///
/// # Errors
/// When that is not all of it but the last.
fn last_of(history: &[TokenId], held: usize) -> Result<TokenId> {
    match history {
        [decoded @ .., last] if decoded.len() == held => Ok(*last),
        _ => Err(Error::invalid(format!(
            "the target holds {held} tokens of a history of {}; a round needs all but the last",
            history.len()
        ))),
    }
}
