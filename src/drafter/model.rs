//! A small model with the target's vocabulary (speculative sampling's classical drafter).

use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::Rng;

use super::{Beliefs, Draft, DraftTimes, Drafter, DrafterKind};
use crate::error::{Error, ErrorKind, Result};
use crate::llama::{
    Context, ContextParams, KvCache, MemoryBreakdown, Model, Outputs, SamplerChain,
};
use crate::types::TokenId;

/// The most positions of a committed text whose logits are taken in one decode: a round's worth.
const BELIEFS_AT_ONCE: usize = 8;

/// How a model drafter's context is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelDrafterParams {
    /// Tokens its KV cache holds. Past it the newest part of the history is kept.
    pub n_ctx: usize,
    /// The most tokens in one decode.
    pub n_batch: usize,
    /// Threads.
    pub threads: usize,
}

/// A GGUF model that drafts token by token with a KV cache of its own, at the positions of the
/// committed history.
#[derive(Debug)]
pub struct ModelDrafter {
    context: Context,
}

impl ModelDrafter {
    /// Makes the drafter's context.
    ///
    /// # Errors
    /// Those of [`Context::new`]; [`ErrorKind::Unsupported`] for a model whose memory cannot be
    /// rolled back.
    pub fn new(model: Arc<Model>, params: ModelDrafterParams) -> Result<Self> {
        model.check_rollback()?;
        let context = Context::new(
            model,
            &ContextParams {
                n_ctx: params.n_ctx,
                n_batch: params.n_batch,
                max_outputs: BELIEFS_AT_ONCE,
                sequences: 1,
                threads: params.threads,
            },
        )?;
        Ok(Self { context })
    }

    /// The model it runs.
    pub fn model(&self) -> &Arc<Model> {
        self.context.model()
    }

    /// Decodes what the cache lacks of `history`, the last token with its logits. Returns how
    /// many tokens that were.
    fn catch_up(&mut self, history: &[TokenId], max: usize) -> Result<usize> {
        self.context.truncate(history.len() - 1)?;
        self.make_room(history.len(), max)?;
        let pending = &history[self.context.len()..];
        let mut chunks = pending.chunks(self.context.n_batch()).peekable();
        while let Some(chunk) = chunks.next() {
            let outputs = if chunks.peek().is_some() {
                Outputs::None
            } else {
                Outputs::Last
            };
            self.context.decode(chunk, outputs)?;
        }
        Ok(pending.len())
    }

    /// Lets the oldest tokens go where the history with `max` more does not fit.
    fn make_room(&mut self, history: usize, max: usize) -> Result<()> {
        let n_ctx = self.context.n_ctx();
        let needed = history + max;
        if needed - self.context.start() <= n_ctx {
            return Ok(());
        }
        if max + 1 > n_ctx {
            return Err(Error::new(
                ErrorKind::ContextOverflow,
                format!("a draft of {max} tokens does not fit a context of {n_ctx}"),
            ));
        }
        // Half of the window goes at once, so that this happens once in many rounds.
        let window = (n_ctx / 2).max(max + 1);
        let start = needed - window;
        if start >= self.context.len() {
            self.context.restart_at(start.min(history - 1));
            return Ok(());
        }
        self.context.forget_before(start)
    }
}

impl Drafter for ModelDrafter {
    fn kind(&self) -> DrafterKind {
        DrafterKind::Model
    }

    fn draft(
        &mut self,
        history: &[TokenId],
        max: usize,
        chain: &mut SamplerChain,
        rng: &mut dyn Rng,
        draft: &mut Draft,
    ) -> Result<DraftTimes> {
        if history.is_empty() || max == 0 {
            return Ok(DraftTimes::default());
        }
        let started = Instant::now();
        let decode_before = self.context.decode_time();
        let pending = self.catch_up(history, max)?;
        let first = started.elapsed();
        for drafted in 0..max {
            let token = draft.draw(self.context.logits(0)?, chain, rng)?;
            if drafted + 1 == max || self.context.model().is_eog(token) {
                break;
            }
            self.context.decode(&[token], Outputs::Last)?;
        }
        let total = started.elapsed();
        let catchup = share(first, pending.saturating_sub(1), pending);
        Ok(DraftTimes {
            catchup,
            draft: total - catchup,
            decode: self.context.decode_time() - decode_before,
        })
    }

    fn believe(
        &mut self,
        history: &[TokenId],
        count: usize,
        beliefs: &mut Beliefs,
    ) -> Result<Option<DraftTimes>> {
        let Some(before) = history.len().checked_sub(count).filter(|&n| n > 0) else {
            return Err(Error::invalid(format!(
                "there is no text before the last {count} tokens of a history of {}",
                history.len()
            )));
        };
        let started = Instant::now();
        let decode_before = self.context.decode_time();
        self.context.truncate(before - 1)?;
        self.make_room(before, count)?;
        for chunk in history[self.context.len()..before - 1].chunks(self.context.n_batch()) {
            self.context.decode(chunk, Outputs::None)?;
        }
        let at_once = BELIEFS_AT_ONCE.min(self.context.n_batch());
        for chunk in history[before - 1..history.len() - 1].chunks(at_once) {
            self.context.decode(chunk, Outputs::All)?;
            for row in 0..chunk.len() {
                beliefs.push_logits(self.context.logits(row)?);
            }
        }
        Ok(Some(DraftTimes {
            catchup: started.elapsed(),
            draft: Duration::ZERO,
            decode: self.context.decode_time() - decode_before,
        }))
    }

    fn rollback(&mut self, len: usize) -> Result<()> {
        self.context.truncate(len)
    }

    fn memory(&self) -> MemoryBreakdown {
        self.context.memory().unwrap_or_default()
    }
}

/// `part / whole` of `time`.
fn share(time: Duration, part: usize, whole: usize) -> Duration {
    if whole == 0 {
        return Duration::ZERO;
    }
    time.mul_f64(part as f64 / whole as f64)
}
