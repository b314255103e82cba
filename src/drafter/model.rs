//! A small model with the target's vocabulary (speculative sampling's classical drafter).

use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::Rng;

use super::window::{self, Room};
use super::{BELIEFS_AT_ONCE, Beliefs, Draft, DraftTimes, Drafter, DrafterKind};
use crate::error::Result;
use crate::llama::{
    Context, ContextParams, KvCache, MemoryBreakdown, Model, Outputs, SamplerChain, SavedState,
};
use crate::types::TokenId;

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

impl ModelDrafterParams {
    fn context(&self) -> ContextParams {
        ContextParams {
            n_ctx: self.n_ctx,
            n_batch: self.n_batch,
            max_outputs: BELIEFS_AT_ONCE,
            sequences: 1,
            threads: self.threads,
        }
    }
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
    /// Those of [`Context::new`]; [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) for a
    /// model whose memory cannot be rolled back.
    pub fn new(model: Arc<Model>, params: ModelDrafterParams) -> Result<Self> {
        model.check_rollback()?;
        let context = Context::new(model, &params.context())?;
        Ok(Self { context })
    }

    /// What a drafter of a [described](Model::describe) model would occupy.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn plan(description: &Arc<Model>, params: ModelDrafterParams) -> Result<MemoryBreakdown> {
        description.check_rollback()?;
        Context::plan(description, &params.context())
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
        let held = self.context.start()..self.context.len();
        match window::room(held, self.context.n_ctx(), history, max)? {
            Room::Enough => Ok(()),
            Room::From(start) => self.context.forget_before(start),
            Room::Anew(start) => {
                self.context.restart_at(start);
                Ok(())
            }
        }
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
        let catchup = super::share(first, pending.saturating_sub(1), pending);
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
        let before = super::before_last(history, count)?;
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

    fn held(&self) -> usize {
        self.context.len()
    }

    fn behind(&self, len: usize) -> usize {
        len.saturating_sub(self.context.len() + 1)
            .min(self.context.n_ctx())
    }

    fn save(&mut self) -> Result<Option<SavedState>> {
        if self.context.len() == self.context.start() {
            return Ok(None);
        }
        self.context.save().map(Some)
    }

    fn restore(&mut self, state: &SavedState) -> Result<()> {
        self.context.restore(state)
    }
}
