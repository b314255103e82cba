//! Records a text: decodes it greedily and notes at every position what a round of each drafter
//! would have come to.
//!
//! At a position every drafter drafts as in a round of the engine, from a KV cache that holds all
//! of the text but its last token, and all drafts go through the target in one [`Tree`] (in a few
//! where they do not fit one batch). Then one token is committed, the target's own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::align::Aligner;
use crate::dist;
use crate::drafter::Draft;
use crate::error::{Error, ErrorKind, Result};
use crate::llama::{Outputs, SamplerChain, SamplingParams};
use crate::pool::Pool;
use crate::record::{Attempt, Text};
use crate::session::Vocabulary;
use crate::target::Target;
use crate::tree::Tree;
use crate::types::{ArmId, TokenId};
use crate::verify::verify;

/// Prompt tokens decoded between two looks at whether to stop.
const PROMPT_STEP: usize = 512;

/// What holds for every text of a recording; the fields are those of
/// [`Header`](crate::record::Header).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecorderParams {
    /// The most tokens drafted in a round, at least 1.
    pub n_max: usize,
    /// The most tokens of a text, at least 1.
    pub n_predict: usize,
    /// The temperature at which the distributions are compared.
    pub reward_temperature: f32,
    /// Seed of the generator that the drafters are given.
    pub seed: u64,
}

/// Records texts with a target and the drafters of a pool.
///
/// The drafters' contexts must hold the whole text: what one keeps that holds less depends on when
/// it drafted, and is not the same for every policy.
pub struct Recorder<'a> {
    target: &'a mut dyn Target,
    pool: &'a mut Pool,
    vocabulary: &'a dyn Vocabulary,
    params: RecorderParams,
    chain: SamplerChain,
    aligner: Aligner,
    rng: ChaCha8Rng,
    /// One for each drafter.
    drafts: Vec<Draft>,
}

impl<'a> Recorder<'a> {
    /// A recorder for `target` and all drafters of `pool`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] without drafters, for an `n_max` of 0 or one that does not
    /// fit the target's batch, or a temperature out of range.
    pub fn new(
        target: &'a mut dyn Target,
        pool: &'a mut Pool,
        vocabulary: &'a dyn Vocabulary,
        params: RecorderParams,
    ) -> Result<Self> {
        let drafters = pool.members().len();
        if drafters == 0 {
            return Err(Error::invalid("no drafters; recording needs at least one"));
        }
        if params.n_max == 0 || params.n_max >= target.max_outputs() {
            return Err(Error::invalid(format!(
                "spec-draft-n-max is {}; it must be 1 to {}, so that a draft and the token before \
                 it fit one batch",
                params.n_max,
                target.max_outputs().saturating_sub(1)
            )));
        }
        let n_vocab = target.vocab_size();
        Ok(Self {
            chain: SamplerChain::new(&SamplingParams::default(), n_vocab)?,
            aligner: Aligner::new(params.reward_temperature)?,
            rng: ChaCha8Rng::seed_from_u64(params.seed),
            drafts: (0..drafters).map(|_| Draft::new(n_vocab)).collect(),
            target,
            pool,
            vocabulary,
            params,
        })
    }

    /// Records the text after `prompt`, a prompt of category `category`; `observe` is told the
    /// number of tokens after each. Ends where the engine's would: at an end-of-generation token,
    /// the token budget or the end of the context.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for an empty prompt, [`ErrorKind::ContextOverflow`] for one
    /// that does not fit, [`ErrorKind::Cancelled`] when `cancel` was set; otherwise when the target
    /// or a drafter fails, of which the message has the name.
    pub fn text(
        &mut self,
        prompt: &[TokenId],
        category: usize,
        cancel: &AtomicBool,
        observe: &mut dyn FnMut(usize),
    ) -> Result<Text> {
        self.read(prompt, cancel)?;
        let mut history = prompt.to_vec();
        let mut text = Text {
            category,
            prompt_tokens: prompt.len(),
            ..Text::default()
        };
        while text.tokens.len() < self.params.n_predict {
            let Some(room) = self.target.context_size().checked_sub(history.len()) else {
                break;
            };
            check_cancelled(cancel)?;
            let left = self.params.n_predict - text.tokens.len();
            let most = self.params.n_max.min(room).min(left - 1);
            let token = self.position(&history, most, &mut text)?;
            history.push(token);
            text.tokens.push(token);
            observe(text.tokens.len());
            if self.vocabulary.is_eog(token) {
                break;
            }
        }
        Ok(text)
    }

    /// Empties all caches and has the target decode all of `prompt` but its last token.
    fn read(&mut self, prompt: &[TokenId], cancel: &AtomicBool) -> Result<()> {
        let size = self.target.context_size();
        let Some((_, before)) = prompt.split_last() else {
            return Err(Error::invalid("the prompt is empty"));
        };
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
        self.target.truncate(0)?;
        if let Some((arm, error)) = self.pool.rollback(0).into_iter().next() {
            return Err(self.of_drafter(arm, error));
        }
        for chunk in before.chunks(self.target.batch_size().min(PROMPT_STEP)) {
            check_cancelled(cancel)?;
            self.target.decode(chunk, Outputs::None)?;
        }
        Ok(())
    }

    /// Adds to `text` what every drafter does after `history`, each drafting up to `most` tokens,
    /// and returns the target's token there. The target then holds all of `history`.
    fn position(&mut self, history: &[TokenId], most: usize, text: &mut Text) -> Result<TokenId> {
        let times = self.draft(history, most)?;
        let arms = self.drafts.len();
        let held = self.target.len();
        let last = history[history.len() - 1];
        let nodes = self
            .target
            .max_outputs()
            .min(self.target.context_size() - held);
        let candidates = self.target.max_candidates().max(1);
        let mut token = None;
        let mut verify_time = Duration::ZERO;
        let mut first = 0;
        while first < arms {
            let mut tree = Tree::new(last, [drafted(&self.drafts[first], most)]);
            for draft in &self.drafts[first + 1..] {
                let tokens = drafted(draft, most);
                if tree.candidates() == candidates
                    || tree.nodes().len() + tree.nodes_to_add(tokens) > nodes
                {
                    break;
                }
                tree.add(tokens);
            }
            self.target.truncate(held)?;
            verify_time += self.decode(&tree)?;
            if token.is_none() {
                token = Some(dist::argmax(self.target.logits(0)?)?);
            }
            for candidate in 0..tree.candidates() {
                let arm = first + candidate;
                let attempt = self
                    .judge(arm, &tree.path(candidate), most)
                    .map_err(|error| self.of_drafter(ArmId(arm), error))?;
                text.attempts.push(Attempt {
                    draft_us: microseconds(times[arm]),
                    ..attempt
                });
            }
            first += tree.candidates();
        }
        self.target.truncate(held + 1)?;
        text.verify_us.push(microseconds(verify_time));
        token.ok_or_else(|| Error::invalid("no drafters; recording needs at least one"))
    }

    /// Has every drafter draft after `history`, and returns how long each took. One token is
    /// drafted even where a round may draft none, to see how well the drafter agrees there.
    fn draft(&mut self, history: &[TokenId], most: usize) -> Result<Vec<Duration>> {
        let mut times = Vec::with_capacity(self.drafts.len());
        for arm in (0..self.drafts.len()).map(ArmId) {
            let draft = &mut self.drafts[arm.0];
            draft.clear();
            let Some(drafter) = self.pool.drafter(arm) else {
                let member = &self.pool.members()[arm.0];
                return Err(Error::new(
                    ErrorKind::Backend,
                    format!(
                        "drafter `{}` cannot be recorded: {}",
                        member.name(),
                        member.failure().unwrap_or("it is not there")
                    ),
                ));
            };
            let spent = drafter
                .draft(history, most.max(1), &mut self.chain, &mut self.rng, draft)
                .and_then(|spent| drafter.rollback(history.len()).map(|()| spent));
            match spent {
                Ok(spent) => times.push(spent.catchup + spent.draft),
                Err(error) => return Err(self.of_drafter(arm, error)),
            }
        }
        Ok(times)
    }

    /// Decodes `tree`, whose row `i` then belongs to node `i`, and returns how long it took. A
    /// single candidate goes as in a round of the engine, which needs no sequences.
    fn decode(&mut self, tree: &Tree) -> Result<Duration> {
        let started = Instant::now();
        if tree.candidates() > 1 {
            self.target.decode_tree(tree)?;
        } else {
            let tokens: Vec<TokenId> = tree.nodes().iter().map(|node| node.token).collect();
            self.target.decode(&tokens, Outputs::All)?;
        }
        Ok(started.elapsed())
    }

    /// What the target thinks of the draft of drafter `arm`, whose nodes are `path`.
    fn judge(&mut self, arm: usize, path: &[usize], most: usize) -> Result<Attempt> {
        let draft = &self.drafts[arm];
        let Some(first) = draft.proposals().next() else {
            return Ok(Attempt::default());
        };
        let tokens = drafted(draft, most);
        if tokens.is_empty() {
            return Ok(Attempt {
                tv: self.aligner.tv(self.target.logits(0)?, first)?,
                ..Attempt::default()
            });
        }
        let verdict = verify(
            tokens,
            &draft.dists()[..tokens.len()],
            |position| (self.chain).distribution(self.target.logits(path[position])?),
            &mut self.rng,
        )?;
        let rows = path[..tokens.len()]
            .iter()
            .map(|&node| self.target.logits(node))
            .collect::<Result<Vec<_>>>()?;
        let alignment = self
            .aligner
            .block(rows.into_iter().zip(draft.proposals()), verdict.accepted)?;
        Ok(Attempt {
            drafted: tokens.len(),
            accepted: verdict.accepted,
            bd: alignment.bd,
            tv: alignment.tv[0],
            draft_us: 0,
        })
    }

    fn of_drafter(&self, arm: ArmId, error: Error) -> Error {
        let name = self.pool.members()[arm.0].name();
        error.context(format_args!("drafter `{name}`"))
    }
}

impl std::fmt::Debug for Recorder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder")
            .field("pool", &self.pool)
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}

/// The tokens of a draft that a round of at most `most` drafts.
fn drafted(draft: &Draft, most: usize) -> &[TokenId] {
    &draft.tokens()[..draft.tokens().len().min(most)]
}

fn microseconds(time: Duration) -> u64 {
    time.as_micros().try_into().unwrap_or(u64::MAX)
}

fn check_cancelled(cancel: &AtomicBool) -> Result<()> {
    match cancel.load(Ordering::Relaxed) {
        true => Err(Error::new(
            ErrorKind::Cancelled,
            "the recording was stopped",
        )),
        false => Ok(()),
    }
}
