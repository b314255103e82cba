//! A session: prompt in, tokens out. Owns the target, the pool, the policy and their statistics.

mod drafting;
mod ensemble;
mod residency;
mod routing;
mod run;
mod statistics;
mod text;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde::Serialize;

pub use statistics::{DrafterStatistics, Timings};
pub use text::Vocabulary;

use crate::align::Aligner;
use crate::bandit::{Policy, PolicyParams, PolicySpec, PolicyState, expected_rounds};
use crate::drafter::{Beliefs, Draft};
use crate::error::{Error, ErrorKind, Result};
use crate::llama::{Outputs, SamplerChain, SamplingParams};
use crate::pool::Pool;
use crate::router::{Embedding, Router};
use crate::target::Target;
use crate::types::{ArmId, TokenId};
use ensemble::EnsembleMemory;
use routing::Routing;
use run::Run;
use statistics::milliseconds;

/// The most tokens drafted in a round unless asked otherwise.
pub const DEFAULT_N_MAX: usize = 5;

/// What a round of an earlier generation counts for where `--carry` names no discount.
pub const DEFAULT_CARRY: f64 = 0.5;

/// Prompt tokens decoded between two looks at whether to stop: as many as llama.cpp computes at
/// once, so that larger steps would not be faster.
const PROMPT_STEP: usize = 512;

/// What holds for every generation of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionParams {
    /// The policy.
    pub policy: PolicySpec,
    /// Its parameters, the reward among them.
    pub policy_params: PolicyParams,
    /// The most tokens drafted in a round, at least 1.
    pub n_max: usize,
    /// The temperature at which target and drafter are compared for the reward.
    pub reward_temperature: f32,
    /// Whether the policy keeps what it has learnt when a generation follows another: what a
    /// round then counts for in the next one, as a factor above 0 and at most 1. `None` to start
    /// afresh.
    pub carry: Option<f64>,
}

impl Default for SessionParams {
    fn default() -> Self {
        Self {
            policy: PolicySpec::default(),
            policy_params: PolicyParams::default(),
            n_max: DEFAULT_N_MAX,
            reward_temperature: 1.0,
            carry: None,
        }
    }
}

/// What one generation is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GenerateParams {
    /// The most tokens to generate; `None` to go on until the text ends or the context is full.
    pub max_tokens: Option<usize>,
    /// The sampler chain and its seed.
    pub sampling: SamplingParams,
    /// Strings that end the text; it stops before them.
    pub stop: Vec<String>,
    /// Whether to go on after an end-of-generation token.
    pub ignore_eos: bool,
}

/// Why a generation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StopReason {
    /// The model ended its text.
    Eos,
    /// A stop string was reached.
    Word,
    /// The token budget is used up.
    Limit,
    /// The context is full.
    Context,
    /// The caller asked to stop.
    Cancelled,
    /// The target failed; what was generated before stands.
    Error,
}

/// One verified round, for traces.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoundRecord {
    /// Its number, from 1.
    pub round: usize,
    /// The drafter's name; `null` for plain decoding. Where several drafted, each for itself, the
    /// one that proposed the accepted tokens, or where none was accepted the first of them; what
    /// follows is of that one alone.
    pub drafter: Option<String>,
    /// Tokens drafted.
    pub drafted: usize,
    /// Tokens accepted.
    pub accepted: usize,
    /// Tokens committed, the target's own among them.
    pub committed: usize,
    /// Block divergence; `null` when nothing was drafted.
    pub bd: Option<f64>,
    /// Block efficiency; `null` when nothing was drafted.
    pub be: Option<f64>,
    /// Total variation at each drafted position.
    pub tv: Vec<f32>,
    /// Mean agreement with the target on the committed tokens, by drafter; empty unless the policy
    /// asked for it.
    pub counterfactual: BTreeMap<String, f64>,
    /// Microseconds of drafting.
    pub draft_us: u64,
    /// Microseconds of verification.
    pub verify_us: u64,
    /// Microseconds of catch-up.
    pub catchup_us: u64,
    /// Microseconds that the round waited for a drafter that was not ready.
    pub swap_us: u64,
    /// Microseconds of scoring drafters on the committed tokens.
    pub counterfactual_us: u64,
}

/// What a session tells while it generates.
#[derive(Debug)]
pub enum Event<'a> {
    /// Part of the prompt has been decoded.
    Prompt {
        /// Tokens decoded so far.
        done: usize,
        /// Tokens to decode.
        total: usize,
    },
    /// Text that is certain now.
    Text {
        /// The text; a whole number of characters, never empty.
        text: &'a str,
        /// Who proposed the token that brought it, by its place in [`Generation::drafters`];
        /// `None` for the target itself.
        drafter: Option<ArmId>,
    },
    /// A round has been committed.
    Round(&'a RoundRecord),
    /// A drafter failed and has left the pool; the generation goes on.
    DrafterLeft {
        /// Its name.
        name: &'a str,
        /// Why.
        error: &'a Error,
    },
}

/// A finished generation.
#[derive(Debug)]
pub struct Generation {
    /// The text, without what a stop string cut off.
    pub text: String,
    /// The generated tokens, the end-of-generation token included.
    pub tokens: Vec<TokenId>,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// The failure, when that was why.
    pub error: Option<Error>,
    /// Rounds, those of plain decoding included.
    pub rounds: usize,
    /// Counts and times.
    pub timings: Timings,
    /// What each drafter did, in the order of the pool, and where all of them drafted as one
    /// ensemble what that did, after them.
    pub drafters: Vec<DrafterStatistics>,
}

impl Generation {
    /// Tokens committed a round: accepted and the target's own. 0 when there was no round.
    pub fn mean_acceptance_length(&self) -> f64 {
        if self.rounds == 0 {
            return 0.0;
        }
        self.tokens.len() as f64 / self.rounds as f64
    }
}

/// A target with a pool of drafters and the policy that chooses among them.
///
/// Generations follow each other: statistics start afresh for each (but see
/// [`SessionParams::carry`]), while KV caches are kept as far as the next prompt begins like the
/// text so far.
pub struct Session {
    target: Box<dyn Target>,
    vocabulary: Arc<dyn Vocabulary>,
    pool: Pool,
    policy: Box<dyn Policy>,
    /// Policies that were in force before, where what they have learnt is carried over.
    kept: Vec<KeptPolicy>,
    params: SessionParams,
    aligner: Aligner,
    draft: Draft,
    /// The drafts of `draft-all`, one for each drafter.
    candidates: Vec<Draft>,
    ensemble: EnsembleMemory,
    routing: Option<Routing>,
    beliefs: Beliefs,
    /// The committed text: prompt and generated tokens. The target's cache holds a prefix of it.
    history: Vec<TokenId>,
}

/// A policy with what it was built from.
type KeptPolicy = (PolicySpec, PolicyParams, Box<dyn Policy>);

impl Session {
    /// A session of `target` with `pool`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] when `n_max` is 0 or does not fit the target's batch, for a
    /// policy parameter or a discount out of range or a `fixed:` drafter that is not in the pool,
    /// and for `draft-all` on a target that was not made for as many candidates.
    pub fn new(
        target: Box<dyn Target>,
        vocabulary: Arc<dyn Vocabulary>,
        pool: Pool,
        params: SessionParams,
    ) -> Result<Self> {
        check_n_max(params.n_max, &*target)?;
        check_carry(params.carry)?;
        let mut session = Self {
            draft: Draft::new(target.vocab_size()),
            candidates: Vec::new(),
            ensemble: EnsembleMemory::new(target.vocab_size())?,
            beliefs: Beliefs::new(target.vocab_size()),
            aligner: Aligner::new(params.reward_temperature)?,
            policy: PolicySpec::Off.build(&PolicyParams::default(), &[])?,
            kept: Vec::new(),
            history: Vec::new(),
            routing: None,
            target,
            vocabulary,
            pool,
            params,
        };
        let (policy, parameters) = (&session.params.policy, &session.params.policy_params);
        session.check_candidates(policy, session.params.n_max)?;
        session.policy = policy.build(parameters, &session.pool.names())?;
        session.retire_failed();
        Ok(session)
    }

    /// Changes the policy; its statistics start afresh. Where they are carried over
    /// ([`SessionParams::carry`]), a policy that was in force before with the same parameters goes
    /// on with what it had learnt.
    ///
    /// # Errors
    /// Those of [`PolicySpec::build`], and [`ErrorKind::InvalidArgument`] for `draft-all` on a
    /// target that was not made for as many candidates; the policy is then as before.
    pub fn set_policy(&mut self, policy: PolicySpec, params: PolicyParams) -> Result<()> {
        let same = |kept: &KeptPolicy| kept.0 == policy && kept.1 == params;
        let carries = self.params.carry.is_some();
        if carries && self.params.policy == policy && self.params.policy_params == params {
            return Ok(());
        }
        self.check_candidates(&policy, self.params.n_max)?;
        let next = match self.kept.iter().position(same) {
            Some(index) => self.kept.swap_remove(index).2,
            None => policy.build(&params, &self.pool.names())?,
        };
        let before = (
            std::mem::replace(&mut self.params.policy, policy),
            std::mem::replace(&mut self.params.policy_params, params),
            std::mem::replace(&mut self.policy, next),
        );
        if carries {
            self.kept.push(before);
        }
        self.retire_failed();
        Ok(())
    }

    /// Changes whether what the policy has learnt is carried over ([`SessionParams::carry`]).
    /// What policies in force before the present one had learnt is forgotten.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] when the discount is out of range.
    pub fn set_carry(&mut self, carry: Option<f64>) -> Result<()> {
        check_carry(carry)?;
        self.params.carry = carry;
        self.kept.clear();
        Ok(())
    }

    /// Changes the most tokens drafted in a round.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] when it is 0 or does not fit the target's batch.
    pub fn set_n_max(&mut self, n_max: usize) -> Result<()> {
        check_n_max(n_max, &*self.target)?;
        self.check_candidates(&self.params.policy, n_max)?;
        self.params.n_max = n_max;
        Ok(())
    }

    /// Gives the session the router that the policy `router` asks, and the input embedding of its
    /// target.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] when a label of the router names no drafter of the pool.
    pub fn set_router(&mut self, router: Router, embedding: Box<dyn Embedding>) -> Result<()> {
        self.routing = Some(Routing::new(router, embedding, &self.pool.names())?);
        Ok(())
    }

    /// Whether the session has a router.
    pub fn has_router(&self) -> bool {
        self.routing.is_some()
    }

    /// The parameters in force.
    pub fn params(&self) -> &SessionParams {
        &self.params
    }

    /// The drafters.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The names of those that propose tokens, in the order of [`Generation::drafters`]: the
    /// drafters in the order of their arms, and the ensemble of all where that is what drafts.
    pub fn proposers(&self) -> Vec<String> {
        let mut names = self.pool.names();
        names.extend(self.ensemble_arm().map(|_| self.params.policy.to_string()));
        names
    }

    /// What the policy believes at this moment.
    pub fn policy_state(&self) -> PolicyState {
        self.policy.state()
    }

    /// The committed text so far: the last prompt and what was generated from it.
    pub fn history(&self) -> &[TokenId] {
        &self.history
    }

    /// Forgets the text so far and empties every KV cache.
    ///
    /// # Errors
    /// When the target's memory cannot be cut.
    pub fn clear(&mut self) -> Result<()> {
        self.history.clear();
        self.forget_after(0).map(|_| ())
    }

    /// Empties every drafter's KV cache and keeps the target's: the drafters of the next generation
    /// read its text anew, as those of a new session would.
    pub fn forget_drafters(&mut self) {
        for (arm, _) in self.pool.rollback(0) {
            self.policy.retire(arm);
        }
    }

    /// The target's raw logits for the token after `tokens`, decoded in one go, one token at a
    /// time at the end: what plain decoding would see there.
    ///
    /// # Errors
    /// Those of [`Self::generate`] for a prompt.
    pub fn logits_after(&mut self, tokens: &[TokenId]) -> Result<Vec<f32>> {
        self.check_prompt(tokens)?;
        self.begin(tokens, &AtomicBool::new(false), &mut |_| {})?;
        self.target
            .decode(&tokens[tokens.len() - 1..], Outputs::Last)?;
        Ok(self.target.logits(0)?.to_vec())
    }

    /// Generates from `prompt`, telling `observe` as it goes. Setting `cancel` stops it after the
    /// present round, or while the prompt is read after the present batch.
    ///
    /// Once generation has begun nothing is lost: a failing target ends it with
    /// [`StopReason::Error`] and what there is, a failing drafter leaves the pool.
    ///
    /// # Errors
    /// Before the first token only: [`ErrorKind::InvalidArgument`] for an empty prompt or a
    /// sampling parameter out of range, [`ErrorKind::ContextOverflow`] for a prompt that does not
    /// fit, or the target's failure on the prompt.
    pub fn generate(
        &mut self,
        prompt: &[TokenId],
        params: &GenerateParams,
        cancel: &AtomicBool,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<Generation> {
        self.check_prompt(prompt)?;
        let chain = SamplerChain::new(&params.sampling, self.target.vocab_size())?;
        let started = Instant::now();
        let ranking = self.ranking(prompt)?;
        let begun = self.begin(prompt, cancel, observe);
        self.begin_query(params.max_tokens, ranking.as_deref());

        let mut run = Run::new(self, chain, params);
        let cached = match begun {
            Err(error) if error.kind() == ErrorKind::Cancelled => {
                return Ok(run.finish(StopReason::Cancelled, None, 0.0));
            }
            begun => begun?,
        };
        run.timings.prompt_n = prompt.len() - cached;
        run.timings.cache_n = cached;
        run.timings.prompt_ms = milliseconds(started.elapsed());
        let started = Instant::now();
        let (stop_reason, error) = match run.loop_rounds(cancel, observe) {
            Ok(reason) => (reason, None),
            Err(error) => (StopReason::Error, Some(error)),
        };
        run.flush(observe);
        Ok(run.finish(stop_reason, error, milliseconds(started.elapsed())))
    }

    /// Checks that all drafters are ready, and that the target takes the drafts of all at once, up
    /// to `n_max` tokens each, where `policy` asks that.
    fn check_candidates(&self, policy: &PolicySpec, n_max: usize) -> Result<()> {
        residency::check_all_ready(policy, &self.pool)?;
        let drafters = self.pool.members().len();
        let tokens = drafters * n_max + 1;
        let (most, most_tokens) = (self.target.max_candidates(), self.target.max_outputs());
        if *policy != PolicySpec::DraftAll || drafters <= most && tokens <= most_tokens {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "policy `{policy}` verifies {drafters} drafts at once, {tokens} tokens with the one \
             before them; the target was made for {most} drafts and {most_tokens} tokens"
        )))
    }

    /// Prepares the policy for a generation of at most `max_tokens` tokens, with the router's
    /// `ranking` if it wanted one.
    fn begin_query(&mut self, max_tokens: Option<usize>, ranking: Option<&[ArmId]>) {
        let arms = self.pool.members().len();
        self.policy.expect_rounds(expected_rounds(max_tokens));
        match self.params.carry {
            Some(discount) => self.policy.carry(arms, discount),
            None => self.policy.reset(arms),
        }
        if let Some(ranking) = ranking {
            self.policy.rank(ranking);
        }
    }

    /// Takes the drafters that have left the pool out of the policy.
    fn retire_failed(&mut self) {
        for (arm, member) in self.pool.members().iter().enumerate() {
            if member.failure().is_some() {
                self.policy.retire(ArmId(arm));
            }
        }
    }

    /// The router's ranking of the arms for `prompt`, if the policy wants one.
    fn ranking(&mut self, prompt: &[TokenId]) -> Result<Option<Vec<ArmId>>> {
        if !self.policy.wants_ranking() {
            return Ok(None);
        }
        let Some(routing) = &mut self.routing else {
            return Err(Error::invalid(format!(
                "policy `{}` needs a router; give its file with --router, or in the pool file's \
                 [session]",
                self.params.policy
            )));
        };
        routing.rank(prompt).map(Some)
    }

    fn check_prompt(&self, prompt: &[TokenId]) -> Result<()> {
        if prompt.is_empty() {
            return Err(Error::invalid("the prompt is empty"));
        }
        let size = self.target.context_size();
        if prompt.len() > size {
            return Err(Error::new(
                ErrorKind::ContextOverflow,
                format!(
                    "the prompt has {} tokens and the context holds {size}; shorten it or raise \
                     --ctx-size",
                    prompt.len()
                ),
            ));
        }
        Ok(())
    }

    /// Makes `prompt` the history and decodes all of it but the last token, reusing the caches'
    /// common prefix. Returns how many tokens were reused.
    fn begin(
        &mut self,
        prompt: &[TokenId],
        cancel: &AtomicBool,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<usize> {
        let common = prompt
            .iter()
            .zip(&self.history)
            .take_while(|(new, old)| new == old)
            .count();
        let keep = common.min(prompt.len() - 1);
        self.history.truncate(keep);
        for (arm, error) in self.forget_after(keep)? {
            self.policy.retire(arm);
            observe(Event::DrafterLeft {
                name: self.pool.members()[arm.0].name(),
                error: &error,
            });
        }
        let cached = self.target.len();
        self.history.clear();
        self.history.extend_from_slice(&prompt[..cached]);
        let pending = &prompt[cached..prompt.len() - 1];
        let mut done = 0;
        observe(Event::Prompt {
            done,
            total: pending.len(),
        });
        for chunk in pending.chunks(self.target.batch_size().min(PROMPT_STEP)) {
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::new(
                    ErrorKind::Cancelled,
                    "stopped while reading the prompt",
                ));
            }
            self.target.decode(chunk, Outputs::None)?;
            self.history.extend_from_slice(chunk);
            done += chunk.len();
            observe(Event::Prompt {
                done,
                total: pending.len(),
            });
        }
        self.history.push(prompt[prompt.len() - 1]);
        Ok(cached)
    }

    fn forget_after(&mut self, len: usize) -> Result<Vec<(ArmId, Error)>> {
        self.target.truncate(len)?;
        Ok(self.pool.rollback(len))
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("params", &self.params)
            .field("pool", &self.pool)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// Checks the discount of what is carried from one generation to the next.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] when it is not above 0 and at most 1.
pub fn check_carry(carry: Option<f64>) -> Result<()> {
    match carry {
        Some(discount) if !(discount > 0.0 && discount <= 1.0) => Err(Error::invalid(format!(
            "carry is {discount}; it must be above 0 and at most 1"
        ))),
        _ => Ok(()),
    }
}

fn check_n_max(n_max: usize, target: &dyn Target) -> Result<()> {
    let most = target.max_outputs().saturating_sub(1);
    if most == 0 {
        return Err(Error::invalid(
            "the target's context and batch hold a single token; speculation needs at least 2 \
             (--ctx-size, --batch-size)",
        ));
    }
    if n_max == 0 || n_max > most {
        return Err(Error::invalid(format!(
            "spec-draft-n-max is {n_max}; it must be 1 to {most}, so that a draft and the token \
             before it fit one batch (--batch-size) and the context (--ctx-size)"
        )));
    }
    Ok(())
}
