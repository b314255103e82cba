//! One generation: rounds until something ends it.

mod seat;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::drafting::Played;
use super::statistics::{Timings, Totals, milliseconds};
use super::text::TextStream;
use super::{Event, GenerateParams, Generation, RoundRecord, Session, StopReason};
use crate::bandit::{self, Feedback};
use crate::error::{Error, Result};
use crate::llama::SamplerChain;
use crate::round::Counterfactual;
use crate::types::{ArmId, TokenId};
use seat::Seat;

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
    /// Time spent in them.
    round_time: Duration,
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
        Self {
            totals: vec![Totals::default(); session.proposers().len()],
            session,
            chain,
            rng: ChaCha8Rng::seed_from_u64(params.sampling.seed),
            policy_rng: bandit::generator(params.sampling.seed),
            stream: TextStream::new(&params.stop),
            params,
            text: String::new(),
            tokens: Vec::new(),
            rounds: 0,
            round_time: Duration::ZERO,
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
            if let Some(reason) = self.round(most, cancel, observe)? {
                return Ok(reason);
            }
        }
    }

    /// One round of at most `most` drafted tokens. Returns why the generation ends, if it does.
    fn round(
        &mut self,
        most: usize,
        cancel: &AtomicBool,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<Option<StopReason>> {
        let started = Instant::now();
        let seat = match most {
            0 => Some(Seat::default()),
            _ => self.seat(cancel, observe),
        };
        let Some(Seat { arm, swap }) = seat else {
            return Ok(Some(StopReason::Cancelled));
        };
        self.timings.swap_ms += milliseconds(swap);
        let behind = self.behind(arm);
        let (chain, rng) = (&mut self.chain, &mut self.rng);
        let played = self.session.play(arm, most, chain, rng)?;
        self.timings.add_round(&played.times);
        if let Some(arm) = played.sole_drafter() {
            self.session
                .pool
                .caught_up(arm, behind, played.times.catchup);
        }
        let before = self.tokens.len();
        let reason = self.commit(&played, observe)?;
        let committed = self.tokens.len() - before;
        let scores = match played.sole_drafter() {
            Some(arm) if self.session.policy.wants_counterfactual() => {
                self.score(arm, committed, observe)?
            }
            _ => Scores::default(),
        };
        self.learn(&played, committed, scores, (started, swap), observe)?;
        self.round_time += started.elapsed();
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
        self.retire_all(failed, observe);
        Ok(scores)
    }

    /// How many tokens the drafter of `arm` has to catch up with.
    fn behind(&mut self, arm: Option<ArmId>) -> usize {
        let len = self.session.history.len();
        let drafter = arm.and_then(|arm| self.session.pool.drafter(arm));
        drafter.map_or(0, |drafter| drafter.behind(len))
    }

    fn select(&mut self) -> Option<ArmId> {
        let started = Instant::now();
        self.tell_switch_costs();
        let arm = self.session.policy.select(&mut self.policy_rng);
        self.timings.select_ms += milliseconds(started.elapsed());
        arm
    }

    /// Appends the committed tokens up to the end of the text, gives out the text, and cuts every
    /// cache back to what counts.
    fn commit(
        &mut self,
        played: &Played,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<Option<StopReason>> {
        let mut reason = None;
        for (position, &token) in played.committed.iter().enumerate() {
            self.session.history.push(token);
            self.tokens.push(token);
            if self.session.vocabulary.is_eog(token) && !self.params.ignore_eos {
                reason = Some(StopReason::Eos);
            } else {
                let pushed = self.stream.push(&self.session.vocabulary.piece(token));
                let drafter = played.proposer.filter(|_| position < played.accepted);
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
            let failed = self.session.pool.rollback(held);
            self.retire_all(failed, observe);
        }
        Ok(reason)
    }

    /// Tells the policy and the observer about the round; a drafter that failed leaves the pool.
    fn learn(
        &mut self,
        played: &Played,
        committed: usize,
        scores: Scores,
        (started, swap): (Instant, Duration),
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<()> {
        self.rounds += 1;
        self.timings.draft_n_accepted += played.accepted;
        let Scores {
            of_arms,
            time: score_time,
        } = scores;
        let members = self.session.pool.members();
        let of_drafters = of_arms
            .iter()
            .map(|&(arm, score)| (members[arm.0].name().to_owned(), score))
            .collect();
        for (arm, error) in &played.failures {
            self.retire(*arm, error, observe);
        }
        for draft in &played.drafts {
            self.timings.draft_n += draft.tokens;
            // A drafter that proposed nothing agreed with nothing.
            let alignment = draft.alignment.as_ref();
            let feedback = Feedback {
                arm: draft.arm,
                drafted: draft.tokens,
                accepted: draft.accepted,
                committed,
                bd: alignment.map_or(0.0, |alignment| alignment.bd),
                be: alignment.map_or(0.0, |alignment| alignment.be),
                seconds: started.elapsed().as_secs_f64(),
                counterfactual: of_arms.clone(),
            };
            self.totals[draft.arm.0].add(&feedback);
            // An ensemble is no arm of the policy.
            if Some(draft.arm) != self.session.ensemble_arm() {
                let observing = Instant::now();
                self.session.policy.observe(&feedback)?;
                self.timings.select_ms += milliseconds(observing.elapsed());
            }
        }
        let proposed = played.proposed();
        let alignment = proposed.and_then(|draft| draft.alignment.as_ref());
        let microseconds = |time: Duration| time.as_micros().try_into().unwrap_or(u64::MAX);
        let drafter = played
            .proposer
            .map(|arm| self.session.proposers().swap_remove(arm.0));
        observe(Event::Round(&RoundRecord {
            round: self.rounds,
            drafter,
            drafted: proposed.map_or(0, |draft| draft.tokens),
            accepted: played.accepted,
            committed,
            bd: alignment.map(|alignment| alignment.bd),
            be: alignment.map(|alignment| alignment.be),
            tv: alignment
                .map(|alignment| alignment.tv.clone())
                .unwrap_or_default(),
            counterfactual: of_drafters,
            draft_us: microseconds(played.times.draft),
            verify_us: microseconds(played.times.verify),
            catchup_us: microseconds(played.times.catchup),
            swap_us: microseconds(swap),
            counterfactual_us: microseconds(score_time),
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
        let members = self.session.pool.members().iter();
        let mut drafters: Vec<_> = members
            .zip(&self.totals)
            .map(|(member, totals)| totals.report_of(member))
            .collect();
        if let Some(arm) = self.session.ensemble_arm() {
            let name = self.session.params.policy.to_string();
            drafters.push(self.totals[arm.0].report(&name, "ensemble"));
        }
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
