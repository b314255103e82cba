//! A head: a model of one decoder layer that reads another model's hidden features (architecture
//! `eagle3`).

use std::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::context::{MemoryBreakdown, Message, Reservation};
use super::kv::KvCache;
use super::model::Model;
use crate::error::{Error, ErrorKind, Result};
use crate::ffi;
use crate::types::TokenId;

/// The most pairs in one pass.
const MAX_BATCH: usize = 64;

/// The most rows of logits and states of one pass.
const MAX_ROWS: usize = 8;

/// How a head's context is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadParams {
    /// Pairs the cache holds.
    pub n_ctx: usize,
    /// Threads.
    pub threads: usize,
    /// The token that each row of the head's output stands for; `None` where these are all tokens
    /// in their order.
    pub drafted: Option<Vec<u32>>,
}

/// The encoder and the decoder layer of a head with a cache of keys and values.
///
/// The encoder makes a state of the features of a position. The decoder takes pairs of a token and
/// a state, and yields logits and a state of its own, which can go into the next pair. The cache
/// holds one sequence of pairs at absolute positions; a pass appends at [`KvCache::len`], and a pair
/// sees those held before it.
///
/// It runs on the weights of its model, and where that has no embedding or output matrix on those of
/// the target's.
pub struct HeadContext {
    raw: NonNull<ffi::msd_head>,
    model: Arc<Model>,
    /// Kept for the weights that `raw` may borrow.
    _target: Arc<Model>,
    params: HeadParams,
    width: usize,
    feature_width: usize,
    /// Tokens that the head drafts.
    vocabulary: usize,
    /// Pairs decoded, those that left the window included.
    len: usize,
    /// The first position still held, which has the first slot.
    start: usize,
    /// The outputs of the last pass.
    rows: usize,
    /// Their logits over the head's own vocabulary, and their states.
    compact: Vec<f32>,
    states: Vec<f32>,
    /// Their logits over the target's vocabulary, −∞ for what the head does not draft.
    logits: Vec<f32>,
    decode_time: Duration,
    _reservation: Reservation,
}

// SAFETY: a head has no thread affinity and is reached through this value alone; of the two models,
// which others share, it reads the weights, and nobody writes those.
unsafe impl Send for HeadContext {}

impl HeadContext {
    /// Makes a context for `model`, a head of `target`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for a size out of range, [`ErrorKind::OutOfMemory`] when no
    /// memory of this machine could hold it, [`ErrorKind::Backend`] with the reason when it cannot
    /// be made, as for models that do not go together.
    pub fn new(model: Arc<Model>, target: Arc<Model>, params: &HeadParams) -> Result<Self> {
        let size = |value: usize, most: i32, name: &str| {
            i32::try_from(value)
                .ok()
                .filter(|value| (1..=most).contains(value))
                .ok_or_else(|| Error::invalid(format!("{name} is {value}; it must be 1 to {most}")))
        };
        // Room for the padding of the last slot.
        let n_ctx = size(params.n_ctx, i32::MAX - 1024, "ctx-size")?;
        let threads = size(params.threads, ffi::MSD_MAX_THREADS, "threads")?;
        let reservation = Reservation::new(&model, params.n_ctx)?;
        let mut raw = std::ptr::null_mut();
        let mut message = Message::new();
        // SAFETY: both models are valid and kept alive by the value that is made of this; `raw` and
        // the message buffer are ours.
        let status = unsafe {
            ffi::msd_head_new(
                model.raw(),
                target.raw(),
                n_ctx,
                threads,
                &raw mut raw,
                message.as_mut_ptr(),
                message.len(),
            )
        };
        let Some(raw) = NonNull::new(raw).filter(|_| status == ffi::MSD_OK) else {
            return Err(message.failure("no context could be made", &model));
        };
        // SAFETY: the head is valid.
        let (vocabulary, feature_width) = unsafe {
            (
                ffi::msd_head_vocabulary(raw.as_ptr()),
                ffi::msd_head_features(raw.as_ptr()),
            )
        };
        let count = |number: i32| usize::try_from(number).unwrap_or(0);
        let mut head = Self {
            raw,
            width: model.n_embd(),
            feature_width: count(feature_width),
            vocabulary: count(vocabulary),
            model,
            _target: target,
            params: params.clone(),
            len: 0,
            start: 0,
            rows: 0,
            compact: Vec::new(),
            states: Vec::new(),
            logits: Vec::new(),
            decode_time: Duration::ZERO,
            _reservation: reservation,
        };
        head.check_drafted()?;
        head.warm_up()?;
        Ok(head)
    }

    fn check_drafted(&self) -> Result<()> {
        let n_vocab = self.model.vocab_size();
        let fits = match &self.params.drafted {
            None => self.vocabulary == n_vocab,
            Some(drafted) => {
                drafted.len() == self.vocabulary
                    && drafted.iter().all(|&token| (token as usize) < n_vocab)
            }
        };
        if fits {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::InvalidModel,
            format!(
                "{} drafts {} tokens, and it is not known which of {n_vocab} they are",
                self.model.path().display(),
                self.vocabulary
            ),
        ))
    }

    /// Touches every weight once, as a mapped file is read when it is first used.
    fn warm_up(&mut self) -> Result<()> {
        self.decode_features(&[TokenId(0)], &vec![0.0; self.feature_width], 1)?;
        self.restart_at(0);
        self.decode_time = Duration::ZERO;
        Ok(())
    }

    /// The model this context runs.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Pairs the cache holds at most.
    pub fn n_ctx(&self) -> usize {
        self.params.n_ctx
    }

    /// The most pairs in one pass.
    pub fn n_batch(&self) -> usize {
        MAX_BATCH.min(self.params.n_ctx)
    }

    /// The most outputs of one pass.
    pub fn max_rows(&self) -> usize {
        MAX_ROWS
    }

    /// Numbers in a state.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Numbers that the encoder reads for a position.
    pub fn feature_width(&self) -> usize {
        self.feature_width
    }

    /// The first position still held.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Puts pairs at the end of the sequence: each of `tokens` with the state that the encoder
    /// makes of its part of `features`, which follow each other. The last `rows` of them yield
    /// logits and a state.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] when there are no features for each token, for more tokens
    /// than [`Self::n_batch`], more rows than [`Self::max_rows`] or than tokens, or a token outside
    /// the vocabulary; [`ErrorKind::ContextOverflow`] when they do not fit; [`ErrorKind::Backend`]
    /// when the computation fails. The cache is then as it was.
    pub fn decode_features(
        &mut self,
        tokens: &[TokenId],
        features: &[f32],
        rows: usize,
    ) -> Result<()> {
        self.pass(tokens, features, self.feature_width, rows)
    }

    /// Puts the pair of `token` and `state` at the end of the sequence. It yields logits and a
    /// state.
    ///
    /// # Errors
    /// As [`Self::decode_features`].
    pub fn decode_state(&mut self, token: TokenId, state: &[f32]) -> Result<()> {
        self.pass(&[token], state, self.width, 1)
    }

    fn pass(
        &mut self,
        tokens: &[TokenId],
        source: &[f32],
        width: usize,
        rows: usize,
    ) -> Result<()> {
        self.rows = 0;
        let count = tokens.len();
        if source.len() != count * width {
            return Err(Error::invalid(format!(
                "{} numbers are not {width} for each of {count} tokens",
                source.len()
            )));
        }
        if count > self.n_batch() || rows > MAX_ROWS.min(count) {
            return Err(Error::invalid(format!(
                "a pass of {count} pairs with {rows} outputs; at most are {} and {MAX_ROWS}",
                self.n_batch()
            )));
        }
        if count == 0 {
            return Ok(());
        }
        let n_vocab = self.model.vocab_size();
        let outside = |token: &&TokenId| usize::try_from(token.0).map_or(true, |id| id >= n_vocab);
        if let Some(token) = tokens.iter().find(outside) {
            return Err(Error::invalid(format!(
                "token {token} is outside the vocabulary of {n_vocab}"
            )));
        }
        let held = self.len - self.start;
        if held + count > self.n_ctx() {
            return Err(Error::new(
                ErrorKind::ContextOverflow,
                format!(
                    "{count} more tokens do not fit: {held} of the context's {} are taken",
                    self.n_ctx()
                ),
            ));
        }
        self.compact.resize(rows * self.vocabulary, 0.0);
        self.states.resize(rows * self.width, 0.0);
        let number = |value: usize| i32::try_from(value).expect("a position fits an i32");
        let pairs = ffi::msd_head_pairs {
            // TokenId is `repr(transparent)` over what llama.cpp calls a token.
            tokens: tokens.as_ptr().cast(),
            source: source.as_ptr(),
            features: width == self.feature_width,
            count: number(count),
            rows: number(rows),
            position: number(self.len),
            first_slot: number(held),
        };
        let mut message = Message::new();
        let started = Instant::now();
        // SAFETY: the head is valid and exclusively borrowed; the pairs' arrays have `count` tokens
        // and `width` numbers for each, which are those of the source that is named; and the two
        // outputs have room for `rows` rows.
        let status = unsafe {
            ffi::msd_head_run(
                self.raw.as_ptr(),
                &raw const pairs,
                self.compact.as_mut_ptr(),
                self.states.as_mut_ptr(),
                message.as_mut_ptr(),
                message.len(),
            )
        };
        self.decode_time += started.elapsed();
        if status != ffi::MSD_OK {
            let what = format!("decoding {count} pairs at position {} failed", self.len);
            return Err(message.failure(&what, &self.model));
        }
        self.len += count;
        self.rows = rows;
        self.spread();
        Ok(())
    }

    /// Puts the logits where their tokens are in the target's vocabulary.
    fn spread(&mut self) {
        let n_vocab = self.model.vocab_size();
        if self.logits.len() < self.rows * n_vocab {
            self.logits.resize(self.rows * n_vocab, f32::NEG_INFINITY);
        }
        let rows = self.logits.chunks_exact_mut(n_vocab);
        for (row, compact) in rows.zip(self.compact.chunks_exact(self.vocabulary)) {
            match &self.params.drafted {
                None => row.copy_from_slice(compact),
                // The others were never anything but −∞.
                Some(drafted) => {
                    for (&token, &logit) in drafted.iter().zip(compact) {
                        row[token as usize] = logit;
                    }
                }
            }
        }
    }

    /// The number of rows [`Self::logits`] and [`Self::state`] have: the outputs of the last pass.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Raw logits of the last pass's `row`-th output: one `f32` for every token of the vocabulary,
    /// −∞ for those that the head does not draft.
    ///
    /// # Errors
    /// [`ErrorKind::Backend`] when there is no such row.
    pub fn logits(&self, row: usize) -> Result<&[f32]> {
        self.check_row(row)?;
        let n_vocab = self.model.vocab_size();
        Ok(&self.logits[row * n_vocab..][..n_vocab])
    }

    /// The head's own state after the last pass's `row`-th output: what stands for the encoded
    /// features of the next position as long as the target has not been there.
    ///
    /// # Errors
    /// [`ErrorKind::Backend`] when there is no such row.
    pub fn state(&self, row: usize) -> Result<&[f32]> {
        self.check_row(row)?;
        Ok(&self.states[row * self.width..][..self.width])
    }

    fn check_row(&self, row: usize) -> Result<()> {
        if row < self.rows {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Backend,
            format!("the last pass has {} outputs, not row {row}", self.rows),
        ))
    }

    /// Makes room by forgetting the pairs before `position`; the rest keep their positions.
    ///
    /// # Errors
    /// [`ErrorKind::Backend`] when the cache cannot be moved; it is then to be emptied.
    pub fn forget_before(&mut self, position: usize) -> Result<()> {
        let position = position.min(self.len);
        if position <= self.start {
            return Ok(());
        }
        let number = |value: usize| i32::try_from(value).expect("a position fits an i32");
        let mut message = Message::new();
        // SAFETY: the head is valid and exclusively borrowed; the message buffer is ours.
        let status = unsafe {
            ffi::msd_head_drop(
                self.raw.as_ptr(),
                number(position - self.start),
                number(self.len - position),
                message.as_mut_ptr(),
                message.len(),
            )
        };
        if status != ffi::MSD_OK {
            return Err(message.failure("forgetting pairs failed", &self.model));
        }
        self.start = position;
        Ok(())
    }

    /// Continues at `position` with an empty cache.
    pub fn restart_at(&mut self, position: usize) {
        self.len = position;
        self.start = position;
        self.rows = 0;
    }

    /// Time spent in passes since the context was made.
    pub fn decode_time(&self) -> Duration {
        self.decode_time
    }

    /// What the context and its model occupy, without what it borrows.
    ///
    /// # Errors
    /// [`ErrorKind::Backend`] when that cannot be told.
    pub fn memory(&self) -> Result<MemoryBreakdown> {
        MemoryBreakdown::ask(&self.model, |memory, message, len| {
            // SAFETY: the head is valid; the rest are the buffers given for it.
            unsafe { ffi::msd_head_memory(self.raw.as_ptr(), memory, message, len) }
        })
    }
}

impl KvCache for HeadContext {
    fn len(&self) -> usize {
        self.len
    }

    fn truncate(&mut self, len: usize) -> Result<()> {
        self.len = self.len.min(len);
        self.start = self.start.min(self.len);
        Ok(())
    }
}

impl Drop for HeadContext {
    fn drop(&mut self) {
        // SAFETY: the pointer came from msd_head_new and is freed once; the models outlive it
        // because their fields are dropped after this.
        unsafe { ffi::msd_head_free(self.raw.as_ptr()) };
    }
}

impl std::fmt::Debug for HeadContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HeadContext")
            .field("model", &self.model.path())
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
