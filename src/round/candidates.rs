//! A round in which several drafters draft, and the target verifies all drafts in one batch.

use std::time::Instant;

use rand::Rng;

use super::{RoundTimes, last_of};
use crate::align::{Aligner, Alignment};
use crate::drafter::{Draft, Drafter};
use crate::error::{Error, Result};
use crate::llama::{Rollback, SamplerChain};
use crate::target::Target;
use crate::tree::Tree;
use crate::types::TokenId;
use crate::verify::{Candidate, verify_candidates};

/// What such a round works with besides the drafters.
pub struct CandidatesRound<'a> {
    /// The target; its cache holds all of the history but the last token.
    pub target: &'a mut dyn Target,
    /// The sampler chain, its past being the history.
    pub chain: &'a mut SamplerChain,
    /// Measures block divergence.
    pub aligner: &'a mut Aligner,
    /// Randomness for drafting, acceptance and sampling.
    pub rng: &'a mut dyn Rng,
    /// Memory for the drafts, one for each drafter.
    pub drafts: &'a mut [Draft],
}

/// What came of such a round.
#[derive(Debug)]
pub struct CandidatesReport {
    /// The place of the drafter that proposed the accepted tokens: of several the one whose token
    /// was accepted last, and where none was accepted the first that drafted. `None` when nobody
    /// drafted.
    pub proposer: Option<usize>,
    /// Tokens accepted.
    pub accepted: usize,
    /// The accepted tokens and the target's own one after them.
    pub committed: Vec<TokenId>,
    /// What each drafter did.
    pub drafts: Vec<CandidateReport>,
    /// Where the time went, the drafters' together.
    pub times: RoundTimes,
}

/// What one of the drafters did.
#[derive(Debug)]
pub struct CandidateReport {
    /// Tokens it drafted.
    pub drafted: usize,
    /// How many of them, from the first one on, are among the accepted.
    pub accepted: usize,
    /// Its agreement with the target over its own draft; `None` when it drafted nothing.
    pub alignment: Option<Alignment>,
    /// Why it is unusable, if it failed; the round then went on without it.
    pub error: Option<Error>,
}

/// What the target made of the drafts.
struct Outcome {
    /// The candidate that was followed, if any.
    followed: Option<usize>,
    accepted: usize,
    committed: Vec<TokenId>,
    /// The nodes of the tree along each candidate.
    paths: Vec<Vec<usize>>,
}

impl CandidatesRound<'_> {
    /// Has each of `drafters` draft up to `max` tokens after `history`, has the target verify the
    /// drafts in one batch, and commits what it accepts of one of them with one token of its own.
    /// The target's cache is left holding all of the new history but its last token.
    ///
    /// # Errors
    /// When the target fails, or the drafts of all drafters do not fit it: its cache and the chain
    /// are then as before the round. A drafter's failure is no error but
    /// [`CandidateReport::error`].
    ///
    /// # Panics
    /// If there are fewer drafts than drafters.
    pub fn run(
        mut self,
        drafters: &mut [&mut dyn Drafter],
        history: &[TokenId],
        max: usize,
    ) -> Result<CandidatesReport> {
        self.drafts = &mut std::mem::take(&mut self.drafts)[..drafters.len()];
        let mut times = RoundTimes::default();
        let mut errors = self.draft(drafters, history, max, &mut times);
        let outcome = self.verify(history, &mut times).inspect_err(|_| {
            self.chain.restart(history);
        })?;
        let accepted: Vec<usize> = self
            .drafts
            .iter()
            .map(|draft| outcome.accepted_of(draft))
            .collect();
        let alignments = self.measure(&outcome.paths, &accepted, &mut times)?;
        for ((drafter, error), accepted) in drafters.iter_mut().zip(&mut errors).zip(&accepted) {
            if error.is_none() {
                *error = drafter.rollback(history.len() + accepted).err();
            }
        }
        let first = || {
            self.drafts
                .iter()
                .position(|draft| !draft.tokens().is_empty())
        };
        let drafts = self.drafts.iter().zip(accepted).zip(alignments).zip(errors);
        Ok(CandidatesReport {
            proposer: outcome.followed.or_else(first),
            accepted: outcome.accepted,
            committed: outcome.committed,
            drafts: drafts
                .map(|(((draft, accepted), alignment), error)| CandidateReport {
                    drafted: draft.tokens().len(),
                    accepted,
                    alignment,
                    error,
                })
                .collect(),
            times,
        })
    }

    /// Fills the drafts. Returns for each drafter why it failed, if it did; its draft is empty then.
    fn draft(
        &mut self,
        drafters: &mut [&mut dyn Drafter],
        history: &[TokenId],
        max: usize,
        times: &mut RoundTimes,
    ) -> Vec<Option<Error>> {
        let mut errors = Vec::new();
        for (drafter, draft) in drafters.iter_mut().zip(&mut *self.drafts) {
            draft.clear();
            let outcome = drafter.draft(history, max, self.chain, self.rng, draft);
            self.chain.restart(history);
            errors.push(match outcome {
                Ok(spent) => {
                    times.catchup += spent.catchup;
                    times.draft += spent.draft;
                    times.decode += spent.decode;
                    None
                }
                Err(error) => {
                    draft.clear();
                    Some(error)
                }
            });
        }
        errors
    }

    fn verify(&mut self, history: &[TokenId], times: &mut RoundTimes) -> Result<Outcome> {
        let started = Instant::now();
        let decode_before = self.target.decode_time();
        let drafts = &*self.drafts;
        let mut target = Rollback::new(&mut *self.target);
        let last = last_of(history, target.len())?;
        let tree = Tree::new(last, drafts.iter().map(Draft::tokens));
        let paths: Vec<Vec<usize>> = (0..drafts.len()).map(|place| tree.path(place)).collect();
        target.decode_tree(&tree)?;
        let candidates: Vec<Candidate<'_>> = drafts
            .iter()
            .map(|draft| Candidate {
                tokens: draft.tokens(),
                q: draft.dists(),
            })
            .collect();
        let chain = &mut *self.chain;
        let verdict = verify_candidates(
            &candidates,
            |place, position| {
                if let Some(previous) = position.checked_sub(1) {
                    chain.accept(drafts[place].tokens()[previous]);
                }
                let node = paths.get(place).map_or(0, |path| path[position]);
                chain.distribution(target.logits(node)?)
            },
            self.rng,
        )
        .map_err(|error| error.context("verifying the drafts"))?;
        let (mut committed, mut node) = (Vec::new(), 0);
        if let Some(place) = verdict.candidate {
            committed.extend_from_slice(&drafts[place].tokens()[..verdict.accepted]);
            node = paths[place][verdict.accepted];
        }
        committed.push(verdict.next);
        chain.accept(verdict.next);
        target.keep_path(node)?;
        target.commit(history.len() + verdict.accepted)?;
        times.verify = started.elapsed();
        times.decode += self.target.decode_time() - decode_before;
        Ok(Outcome {
            followed: verdict.candidate,
            accepted: verdict.accepted,
            committed,
            paths,
        })
    }

    fn measure(
        &mut self,
        paths: &[Vec<usize>],
        accepted: &[usize],
        times: &mut RoundTimes,
    ) -> Result<Vec<Option<Alignment>>> {
        let started = Instant::now();
        let mut alignments = Vec::new();
        for ((draft, path), &accepted) in self.drafts.iter().zip(paths).zip(accepted) {
            let drafted = draft.tokens().len();
            let rows = path[..drafted].iter();
            let rows = rows
                .map(|&node| self.target.logits(node))
                .collect::<Result<Vec<_>>>()?;
            let rows = rows.into_iter().zip(draft.proposals());
            alignments.push(match drafted {
                0 => None,
                _ => Some(self.aligner.block(rows, accepted)?),
            });
        }
        times.reward = started.elapsed();
        Ok(alignments)
    }
}

impl Outcome {
    /// How many tokens of `draft`, from the first one on, are among the accepted.
    fn accepted_of(&self, draft: &Draft) -> usize {
        let accepted = &self.committed[..self.accepted];
        let both = draft.tokens().iter().zip(accepted);
        both.take_while(|(a, b)| a == b).count()
    }
}
