//! Who drafts in a round, and what came of it.

use rand::Rng;

use super::Session;
use super::ensemble::Ensemble;
use crate::align::Alignment;
use crate::bandit::PolicySpec;
use crate::drafter::{Draft, Drafter};
use crate::error::{Error, Result};
use crate::llama::SamplerChain;
use crate::round::{CandidatesRound, Round, RoundReport, RoundTimes};
use crate::types::{ArmId, TokenId};

/// A round that has been played.
pub(super) struct Played {
    /// Who proposed the accepted tokens: for an ensemble the arm after the drafters', and where
    /// nothing was accepted the first that drafted. `None` when nobody drafted.
    pub proposer: Option<ArmId>,
    /// Tokens accepted.
    pub accepted: usize,
    /// The accepted tokens and the target's own one after them.
    pub committed: Vec<TokenId>,
    /// Where the time went.
    pub times: RoundTimes,
    /// What each of those that drafted did.
    pub drafts: Vec<Drafted>,
    /// The drafters that failed.
    pub failures: Vec<(ArmId, Error)>,
}

/// What one arm did in a round.
pub(super) struct Drafted {
    /// Which.
    pub arm: ArmId,
    /// Tokens it drafted.
    pub tokens: usize,
    /// How many of them, from the first one on, are among the accepted.
    pub accepted: usize,
    /// How well it agreed; `None` when it proposed nothing.
    pub alignment: Option<Alignment>,
}

impl Played {
    /// The draft of the proposer.
    pub(super) fn proposed(&self) -> Option<&Drafted> {
        let proposer = self.proposer?;
        self.drafts.iter().find(|draft| draft.arm == proposer)
    }

    /// The arm that drafted, where it was one alone and did not fail.
    pub(super) fn sole_drafter(&self) -> Option<ArmId> {
        match (&self.drafts[..], &self.failures[..]) {
            ([draft], []) => Some(draft.arm),
            _ => None,
        }
    }

    /// A round in which at most one arm drafted.
    fn alone(report: RoundReport, arm: Option<ArmId>) -> Self {
        let mut played = Self {
            proposer: arm,
            accepted: report.accepted,
            committed: report.committed,
            times: report.times,
            drafts: Vec::new(),
            failures: Vec::new(),
        };
        let Some(arm) = arm else {
            return played;
        };
        played.add(
            Drafted {
                arm,
                tokens: report.drafted,
                accepted: report.accepted,
                alignment: report.alignment,
            },
            report.drafter_error,
        );
        played
    }

    /// Adds what an arm did. One that failed did nothing, unless that was after its draft.
    fn add(&mut self, draft: Drafted, error: Option<Error>) {
        if let Some(error) = error {
            self.failures.push((draft.arm, error));
            if draft.tokens == 0 {
                return;
            }
        }
        self.drafts.push(draft);
    }
}

impl Session {
    /// The arm that stands for the ensemble of all drafters: the one after them.
    pub(super) fn ensemble_arm(&self) -> Option<ArmId> {
        let is_ensemble = self.params.policy == PolicySpec::StaticEnsemble;
        is_ensemble.then(|| ArmId(self.pool.members().len()))
    }

    /// Plays a round of at most `most` drafted tokens a drafter: with the drafter of `arm`, or with
    /// all where that is the policy's way; without any when there is no arm.
    ///
    /// # Errors
    /// When the target fails; its cache and the chain are then as before the round.
    pub(super) fn play(
        &mut self,
        arm: Option<ArmId>,
        most: usize,
        chain: &mut SamplerChain,
        rng: &mut dyn Rng,
    ) -> Result<Played> {
        let mut arm = arm;
        if arm.is_some() && self.params.policy == PolicySpec::DraftAll {
            // The drafts of all are in the target's cache at once.
            let room = (self.target.context_size()).saturating_sub(self.history.len());
            let most = most.min(room / self.pool.drafters().count().max(1));
            if most > 0 {
                return self.play_all(most, chain, rng);
            }
            arm = None;
        }
        let together = self.ensemble_arm();
        let round = Round {
            target: &mut *self.target,
            chain,
            aligner: &mut self.aligner,
            rng,
            draft: &mut self.draft,
        };
        if arm.is_some() && together.is_some() {
            let mut ensemble = Ensemble::new(self.pool.drafters().collect(), &mut self.ensemble);
            let report = round.run(Some(&mut ensemble), &self.history, most)?;
            let failures = ensemble.into_failures();
            return Ok(Played {
                failures,
                ..Played::alone(report, together)
            });
        }
        let drafter = arm.and_then(|arm| self.pool.drafter(arm));
        let report = round.run(drafter.map(|drafter| drafter as _), &self.history, most)?;
        Ok(Played::alone(report, arm))
    }

    fn play_all(
        &mut self,
        most: usize,
        chain: &mut SamplerChain,
        rng: &mut dyn Rng,
    ) -> Result<Played> {
        let (arms, mut drafters): (Vec<ArmId>, Vec<&mut dyn Drafter>) =
            self.pool.drafters().unzip();
        let n_vocab = self.target.vocab_size();
        self.candidates
            .resize_with(arms.len(), || Draft::new(n_vocab));
        let report = CandidatesRound {
            target: &mut *self.target,
            chain,
            aligner: &mut self.aligner,
            rng,
            drafts: &mut self.candidates,
        }
        .run(&mut drafters, &self.history, most)?;
        let mut played = Played {
            proposer: report.proposer.map(|place| arms[place]),
            accepted: report.accepted,
            committed: report.committed,
            times: report.times,
            drafts: Vec::new(),
            failures: Vec::new(),
        };
        for (arm, draft) in arms.into_iter().zip(report.drafts) {
            let drafted = Drafted {
                arm,
                tokens: draft.drafted,
                accepted: draft.accepted,
                alignment: draft.alignment,
            };
            played.add(drafted, draft.error);
        }
        Ok(played)
    }
}
