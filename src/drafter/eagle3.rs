//! A head that drafts from the target's own hidden features (EAGLE-3, arXiv 2503.01840).
//!
//! Its encoder makes one state `g[P]` of what went into three of the target's layers at position
//! `P`. Its decoder, of one layer, takes pairs `(token[P + 1], g[P])` at position `P` and gives the
//! logits of token `P + 2`, and a state of its own, which stands for `g[P + 1]` where the target
//! has not been yet. So the pair of the last committed token needs the features of the position
//! before it, which the target's last verification brought; and a drafted token's pair is made of
//! the head's own state, and made anew of the target's once that has verified it.

mod file;
mod held;

use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::Rng;

pub use file::{HeadFile, is_head};

use held::Held;

use super::window::{self, Room};
use super::{
    BELIEFS_AT_ONCE, Beliefs, Draft, DraftTimes, Drafter, DrafterKind, ModelDrafterParams,
};
use crate::error::Result;
use crate::features::FeatureSource;
use crate::llama::{HeadContext, HeadParams, KvCache, MemoryBreakdown, Model, SamplerChain};
use crate::types::TokenId;

/// An EAGLE-3 head of one target.
///
/// It shares the target's features with the other heads of the session and keeps a KV cache of its
/// own, at the positions of the committed history: a pair's position is that of its features. It
/// catches up from the features that are kept; where they begin later than the text, or its own
/// context is smaller, its window begins later.
#[derive(Debug)]
pub struct Eagle3Drafter {
    context: HeadContext,
    /// The target's layers in the order in which the encoder reads them.
    layers: Vec<u32>,
    source: FeatureSource,
    held: Held,
    /// The head's states after the last pair made of the target's features and after each drafted
    /// one; empty when the first is not known.
    states: Vec<f32>,
    /// Memory for a batch's features.
    features: Vec<f32>,
}

impl Eagle3Drafter {
    /// Makes the head's context, and has the target of `source` keep the features it reads.
    ///
    /// `model` is loaded from `file`, which was checked against that target.
    ///
    /// # Errors
    /// Those of [`HeadContext::new`].
    pub fn new(
        model: Arc<Model>,
        file: &HeadFile,
        source: &FeatureSource,
        params: ModelDrafterParams,
    ) -> Result<Self> {
        let context = HeadContext::new(
            model,
            source.model().clone(),
            &HeadParams {
                n_ctx: params.n_ctx,
                threads: params.threads,
                drafted: file.drafted().map(<[u32]>::to_vec),
            },
        )?;
        source.store().require(file.layers());
        Ok(Self {
            context,
            layers: file.layers().to_vec(),
            source: source.clone(),
            held: Held::default(),
            states: Vec::new(),
            features: Vec::new(),
        })
    }

    /// The model it runs.
    pub fn model(&self) -> &Arc<Model> {
        self.context.model()
    }

    /// Cuts the cache back to the pairs before `position`, all made of the target's features.
    fn cut(&mut self, position: usize) -> Result<()> {
        self.held.cut(position);
        self.states.clear();
        self.context.truncate(self.held.len())
    }

    /// Lets the oldest pairs go where those up to `end` with `more` after them do not fit, and
    /// begins where the features do.
    fn make_room(&mut self, end: usize, more: usize) -> Result<()> {
        let held = self.context.start()..self.context.len();
        match window::room(held, self.context.n_ctx(), end, more)? {
            Room::Enough => {}
            Room::From(start) => self.context.forget_before(start)?,
            Room::Anew(start) => self.context.restart_at(start),
        }
        let kept_from = self.source.store().start();
        if self.context.len() < kept_from {
            self.context.restart_at(kept_from);
        }
        self.held.grounded = self.context.len();
        Ok(())
    }

    /// Decodes the pairs of `history` from the last grounded one up to `end`, made of the target's
    /// features, which must be kept. The last `rows` of them yield logits and states.
    fn ground(&mut self, history: &[TokenId], end: usize, rows: usize) -> Result<()> {
        let at_once = self.context.n_batch();
        while self.held.grounded < end {
            let first = self.held.grounded;
            let next = (first + at_once).min(end);
            self.features.clear();
            (self.source.store()).read(first, next, &self.layers, &mut self.features);
            let rows = if next == end { rows } else { 0 };
            let tokens = &history[first + 1..=next];
            self.context.decode_features(tokens, &self.features, rows)?;
            self.held.grounded = next;
        }
        Ok(())
    }

    /// Decodes `token` with the head's own last state.
    fn follow(&mut self, token: TokenId) -> Result<()> {
        let last = self.states.len() - self.context.width();
        self.context.decode_state(token, &self.states[last..])?;
        self.held.drafted.push(token);
        self.states.extend_from_slice(self.context.state(0)?);
        Ok(())
    }

    /// Brings the cache to the end of `history`, so that the last decode's row is of the token
    /// after it. Returns how many pairs were decoded; `None` where the features that it needs will
    /// be kept from the target's next decode on.
    ///
    /// Where the target has not been at the end of `history`, which then goes on a draft, the last
    /// pairs are made of the head's own states.
    fn catch_up(&mut self, history: &[TokenId], more: usize) -> Result<Option<usize>> {
        let Some(end) = history.len().checked_sub(1).filter(|&end| end > 0) else {
            return Ok(None);
        };
        let seen = {
            let store = self.source.store();
            let seen = end.min(store.end());
            if !store.holds(seen.max(1) - 1)? {
                return Ok(None);
            }
            seen
        };
        let mut decoded = 0;
        let held = self.context.start()..self.context.len();
        let room = window::room(held, self.context.n_ctx(), seen, end - seen + more)?;
        let standing = self.held.standing(history, seen);
        match standing.filter(|_| room == Room::Enough && !self.states.is_empty()) {
            Some(count) => {
                self.held.drafted.truncate(count);
                self.settle()?;
            }
            None => {
                self.cut(seen - 1)?;
                self.make_room(seen, end - seen + more)?;
                decoded += seen - self.held.grounded;
                self.ground(history, seen, 1)?;
                self.states.extend_from_slice(self.context.state(0)?);
            }
        }
        for &token in &history[seen + 1 + self.held.drafted.len()..] {
            self.follow(token)?;
            decoded += 1;
        }
        Ok(Some(decoded))
    }

    /// Cuts cache and states back to the pairs that are held.
    fn settle(&mut self) -> Result<()> {
        let states = self.held.drafted.len() + 1;
        self.states.truncate(states * self.context.width());
        self.context.truncate(self.held.len())
    }
}

impl Drafter for Eagle3Drafter {
    fn kind(&self) -> DrafterKind {
        DrafterKind::Eagle3
    }

    fn draft(
        &mut self,
        history: &[TokenId],
        max: usize,
        chain: &mut SamplerChain,
        rng: &mut dyn Rng,
        draft: &mut Draft,
    ) -> Result<DraftTimes> {
        if max == 0 {
            return Ok(DraftTimes::default());
        }
        let started = Instant::now();
        let decode_before = self.context.decode_time();
        let Some(pending) = self.catch_up(history, max)? else {
            return Ok(DraftTimes::default());
        };
        let first = started.elapsed();
        for drafted in 0..max {
            let token = draft.draw(self.context.logits(0)?, chain, rng)?;
            if drafted + 1 == max || self.context.model().is_eog(token) {
                break;
            }
            self.follow(token)?;
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
        // The first pair whose logits are wanted, and the end of those.
        let Some(first) = before.checked_sub(2) else {
            return Ok(None);
        };
        let end = history.len() - 2;
        {
            let store = self.source.store();
            if end > store.end() || !store.holds(first)? {
                return Ok(None);
            }
        }
        let started = Instant::now();
        let decode_before = self.context.decode_time();
        self.cut(first)?;
        self.make_room(first + 1, count - 1)?;
        if self.held.grounded > first {
            return Ok(None);
        }
        self.ground(history, first, 0)?;
        let at_once = BELIEFS_AT_ONCE
            .min(self.context.max_rows())
            .min(self.context.n_batch());
        while self.held.grounded < end {
            let next = (self.held.grounded + at_once).min(end);
            self.ground(history, next, next - self.held.grounded)?;
            for row in 0..self.context.rows() {
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
        let grounded = self.held.grounded;
        self.held.roll_back(len);
        if self.held.grounded < grounded {
            // The state after the last of these pairs was not kept.
            self.states.clear();
        }
        self.settle()
    }

    fn memory(&self) -> MemoryBreakdown {
        self.context.memory().unwrap_or_default()
    }

    fn held(&self) -> usize {
        self.held.len()
    }

    fn behind(&self, len: usize) -> usize {
        // A history has one pair fewer than tokens, and drafting begins with the last of them.
        len.saturating_sub(self.held.len() + 2)
            .min(self.context.n_ctx())
    }
}
