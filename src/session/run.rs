//! One generation: rounds until something ends it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::statistics::{Timings, Totals, milliseconds};
use super::text::TextStream;
use super::{
    DrafterStatistics, Event, GenerateParams, Generation, RoundRecord, Session, StopReason,
};
use crate::bandit::Feedback;
use crate::error::{Error, Result};
use crate::llama::SamplerChain;
use crate::round::{Counterfactual, Round, RoundReport};
use crate::types::{ArmId, TokenId};

/// The random stream of the policy; the sampler uses stream 0 of the same seed, so that a policy's
/// draws do not move the sampler's.
const POLICY_STREAM: u64 = 1;

/// How well drafters agreed with the target on a round's committed tokens.
#[derive(Debug, Default)]
struct Scores {
    of_arms: Vec<(ArmId, f64)>,
    time: Duration,
}

/// One generation in progress.
pub(super) struct Run<'a> {
    session: &'a mut Session,
    chain: SamplerChain,
    params: &'a GenerateParams,
    rng: ChaCha8Rng,
    policy_rng: ChaCha8Rng,
    stream: TextStream,
    text: String,
    tokens: Vec<TokenId>,
    rounds: usize,
    pub(super) timings: Timings,
    totals: Vec<Totals>,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        session: &'a mut Session,
        mut chain: SamplerChain,
        params: &'a GenerateParams,
    ) -> Self {
        chain.restart(&session.history);
        let rng = ChaCha8Rng::seed_from_u64(params.sampling.seed);
        let mut policy_rng = rng.clone();
        policy_rng.set_stream(POLICY_STREAM);
        Self {
            totals: vec![Totals::default(); session.pool.members().len()],
            session,
            chain,
            rng,
            policy_rng,
            stream: TextStream::new(&params.stop),
            params,
            text: String::new(),
            tokens: Vec::new(),
            rounds: 0,
            timings: Timings::default(),
        }
    }

    pub(super) fn loop_rounds(
        &mut self,
        cancel: &AtomicBool,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<StopReason> {
        loop {
            let left = self
                .params
                .max_tokens
                .map_or(usize::MAX, |most| most - self.tokens.len());
            if left == 0 {
                return Ok(StopReason::Limit);
            }
            let room = self.session.target.context_size();
            let Some(room) = room.checked_sub(self.session.history.len()) else {
                return Ok(StopReason::Context);
            };
            if cancel.load(Ordering::Relaxed) {
                return Ok(StopReason::Cancelled);
            }
            let most = self.session.params.n_max.min(room).min(left - 1);
            if let Some(reason) = self.round(most, observe)? {
                return Ok(reason);
            }
        }
    }

    /// One round of at most `most` drafted tokens. Returns why the generation ends, if it does.
    fn round(
        &mut self,
        most: usize,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<Option<StopReason>> {
        let started = Instant::now();
        let arm = if most > 0 { self.select() } else { None };
        let session = &mut *self.session;
        let report = Round {
            target: &mut *session.target,
            chain: &mut self.chain,
            aligner: &mut session.aligner,
            rng: &mut self.rng,
            draft: &mut session.draft,
        }
        .run(
            arm.and_then(|arm| session.pool.drafter(arm))
                .map(|drafter| drafter as _),
            &session.history,
            most,
        )?;
        self.timings.add_round(&report.times);
        let before = self.tokens.len();
        let reason = self.commit(&report, arm, observe)?;
        let committed = self.tokens.len() - before;
        let scores = match arm.filter(|_| report.drafter_error.is_none()) {
            Some(arm) if self.session.policy.wants_counterfactual() => {
                self.score(arm, committed, observe)?
            }
            _ => Scores::default(),
        };
        self.learn(&report, arm, committed, scores, started, observe)?;
        Ok(reason)
    }

    /// Scores every usable drafter on the `committed` tokens of the round that `drafting` drafted.
    /// One that fails leaves the pool.
    ///
    /// # Errors
    /// When the target's logits are no distribution.
    fn score(
        &mut self,
        drafting: ArmId,
        committed: usize,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<Scores> {
        let started = Instant::now();
        let session = &mut *self.session;
        let mut scores = Scores::default();
        let mut failed = Vec::new();
        let mut counterfactual = Counterfactual::new(
            &*session.target,
            &mut session.aligner,
            &mut session.beliefs,
            &session.history,
            committed,
        )?;
        for arm in (0..session.pool.members().len()).map(ArmId) {
            let Some(drafter) = session.pool.drafter(arm) else {
                continue;
            };
            let score = if arm == drafting {
                counterfactual.score_drafting(drafter, &session.draft)
            } else {
                counterfactual.score(drafter)
            };
            match score {
                Ok(Some(score)) => scores.of_arms.push((arm, score)),
                Ok(None) => {}
                Err(error) => failed.push((arm, error)),
            }
        }
        let decode = counterfactual.decode;
        scores.time = started.elapsed();
        self.timings.counterfactual_ms += milliseconds(scores.time);
        self.timings.decode_ms += milliseconds(decode);
        for (arm, error) in failed {
            self.retire(arm, &error, observe);
        }
        Ok(scores)
    }

    fn select(&mut self) -> Option<ArmId> {
        let started = Instant::now();
        let arm = self.session.policy.select(&mut self.policy_rng);
        self.timings.select_ms += milliseconds(started.elapsed());
        arm
    }

    /// Appends the committed tokens up to the end of the text, gives out the text, and cuts every
    /// cache back to what counts.
    fn commit(
        &mut self,
        report: &RoundReport,
        arm: Option<ArmId>,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<Option<StopReason>> {
        let mut reason = None;
        for (position, &token) in report.committed.iter().enumerate() {
            self.session.history.push(token);
            self.tokens.push(token);
            if self.session.vocabulary.is_eog(token) && !self.params.ignore_eos {
                reason = Some(StopReason::Eos);
            } else {
                let pushed = self.stream.push(&self.session.vocabulary.piece(token));
                let drafter = arm.filter(|_| position < report.accepted);
                self.give_out(&pushed.text, drafter, observe);
                if pushed.stopped {
                    reason = Some(StopReason::Word);
                }
            }
            if reason.is_some() {
                break;
            }
        }
        if reason.is_some() {
            let held = self.session.history.len();
            self.session.target.truncate(held)?;
            if let Some(arm) = arm
                && let Some(drafter) = self.session.pool.drafter(arm)
                && let Err(error) = drafter.rollback(held)
            {
                self.retire(arm, &error, observe);
            }
        }
        Ok(reason)
    }

    /// Tells the policy and the observer about the round; a drafter that failed leaves the pool.
    fn learn(
        &mut self,
        report: &RoundReport,
        arm: Option<ArmId>,
        committed: usize,
        scores: Scores,
        started: Instant,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<()> {
        self.rounds += 1;
        self.timings.draft_n += report.drafted;
        self.timings.draft_n_accepted += report.accepted;
        let alignment = report.alignment.as_ref();
        let members = self.session.pool.members();
        let of_drafters = scores.of_arms.iter();
        let of_drafters =
            of_drafters.map(|&(arm, score)| (members[arm.0].name().to_owned(), score));
        let of_drafters = of_drafters.collect();
        if let Some(arm) = arm {
            if let Some(error) = &report.drafter_error {
                self.retire(arm, error, observe);
            } else {
                // A drafter that proposed nothing agreed with nothing.
                let feedback = Feedback {
                    arm,
                    drafted: report.drafted,
                    accepted: report.accepted,
                    committed,
                    bd: alignment.map_or(0.0, |alignment| alignment.bd),
                    be: alignment.map_or(0.0, |alignment| alignment.be),
                    seconds: started.elapsed().as_secs_f64(),
                    counterfactual: scores.of_arms,
                };
                self.totals[arm.0].add(&feedback);
                let observing = Instant::now();
                self.session.policy.observe(&feedback)?;
                self.timings.select_ms += milliseconds(observing.elapsed());
            }
        }
        let microseconds = |time: Duration| time.as_micros().try_into().unwrap_or(u64::MAX);
        let drafter = arm.map(|arm| self.session.pool.members()[arm.0].name().to_owned());
        observe(Event::Round(&RoundRecord {
            round: self.rounds,
            drafter,
            drafted: report.drafted,
            accepted: report.accepted,
            committed,
            bd: alignment.map(|alignment| alignment.bd),
            be: alignment.map(|alignment| alignment.be),
            tv: alignment
                .map(|alignment| alignment.tv.clone())
                .unwrap_or_default(),
            counterfactual: of_drafters,
            draft_us: microseconds(report.times.draft),
            verify_us: microseconds(report.times.verify),
            catchup_us: microseconds(report.times.catchup),
            swap_us: 0,
            counterfactual_us: microseconds(scores.time),
        }));
        Ok(())
    }

    /// Takes a drafter that failed out of the pool.
    fn retire(&mut self, arm: ArmId, error: &Error, observe: &mut dyn FnMut(Event<'_>)) {
        self.session.pool.retire(arm, error);
        self.session.policy.retire(arm);
        observe(Event::DrafterLeft {
            name: self.session.pool.members()[arm.0].name(),
            error,
        });
    }

    /// Gives out what was held back; nothing can follow it any more.
    pub(super) fn flush(&mut self, observe: &mut dyn FnMut(Event<'_>)) {
        let rest = self.stream.finish();
        self.give_out(&rest, None, observe);
    }

    fn give_out(&mut self, text: &str, drafter: Option<ArmId>, observe: &mut dyn FnMut(Event<'_>)) {
        if !text.is_empty() {
            self.text.push_str(text);
            observe(Event::Text { text, drafter });
        }
    }

    pub(super) fn finish(
        mut self,
        stop_reason: StopReason,
        error: Option<Error>,
        predicted_ms: f64,
    ) -> Generation {
        self.timings.predicted_n = self.tokens.len();
        self.timings.predicted_ms = predicted_ms;
        if predicted_ms > 0.0 {
            self.timings.predicted_per_second = self.tokens.len() as f64 / predicted_ms * 1e3;
        }
        let drafters = self
            .session
            .pool
            .members()
            .iter()
            .zip(&self.totals)
            .map(|(member, totals)| DrafterStatistics {
                loads: member.loads(),
                failure: member.failure().map(str::to_owned),
                ..totals.report(member.name(), member.kind())
            })
            .collect();
        Generation {
            text: self.text,
            tokens: self.tokens,
            stop_reason,
            error,
            rounds: self.rounds,
            timings: self.timings,
            drafters,
        }
    }
}
