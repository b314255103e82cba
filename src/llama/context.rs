//! A llama.cpp context: one KV cache, one sequence that is decoded in order, and for a moment the
//! branches of a tree behind it.

mod layer_inputs;
mod state;
mod tree;

use std::ffi::{CStr, c_char};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::backend::{self, capture_errors, reason};
use super::batch::Batch;
use super::kv::KvCache;
use super::model::Model;
use crate::error::{Error, ErrorKind, Result};
use crate::ffi;
use crate::types::TokenId;
pub use layer_inputs::exposes_layer_inputs;
pub use state::SavedState;
use tree::{Branches, COMMITTED};

/// How a context is made.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextParams {
    /// Tokens the KV cache holds.
    pub n_ctx: usize,
    /// The most tokens in one decode; longer inputs are decoded in pieces.
    pub n_batch: usize,
    /// The most positions of one decode whose logits are kept.
    pub max_outputs: usize,
    /// Sequences: 1, or one more than the candidates of a [`Tree`](crate::tree::Tree). All share
    /// the tokens of the KV cache.
    pub sequences: usize,
    /// Threads for one-token and verification batches, and for long inputs.
    pub threads: usize,
}

/// Which positions of a decode yield logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outputs {
    /// None: the tokens only enter the KV cache.
    None,
    /// The last position.
    Last,
    /// Every position.
    All,
}

impl Outputs {
    /// Whether position `i` of a decode of `n` tokens yields logits.
    pub fn include(self, i: usize, n: usize) -> bool {
        match self {
            Self::None => false,
            Self::Last => i + 1 == n,
            Self::All => true,
        }
    }
}

/// Bytes that a context with its model occupies, as llama.cpp accounts for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryBreakdown {
    /// Weights.
    pub model: u64,
    /// KV cache.
    pub context: u64,
    /// Compute buffers.
    pub compute: u64,
    /// The part of all three that is in the memory of a device other than the CPU.
    pub on_device: u64,
}

impl MemoryBreakdown {
    /// Weights, KV cache and compute buffers together.
    pub fn total(&self) -> u64 {
        self.model + self.context + self.compute
    }

    /// That which `ask` writes, of something made of `model`. `ask` is given memory for the numbers,
    /// and for a message with its length.
    pub(super) fn ask(
        model: &Model,
        ask: impl FnOnce(*mut ffi::msd_memory, *mut c_char, usize) -> i32,
    ) -> Result<Self> {
        let mut message = Message::new();
        let mut raw = std::mem::MaybeUninit::<ffi::msd_memory>::zeroed();
        let status = ask(raw.as_mut_ptr(), message.as_mut_ptr(), message.len());
        if status != ffi::MSD_OK {
            return Err(message.failure("no memory breakdown", model));
        }
        // SAFETY: all-zero bytes are a valid value of a struct of integers.
        Ok(Self::from(unsafe { raw.assume_init() }))
    }
}

impl From<ffi::msd_memory> for MemoryBreakdown {
    fn from(raw: ffi::msd_memory) -> Self {
        Self {
            model: raw.host_model + raw.device_model,
            context: raw.host_context + raw.device_context,
            compute: raw.host_compute + raw.device_compute,
            on_device: raw.device_model + raw.device_context + raw.device_compute,
        }
    }
}

/// A context that owns its model, so that it can be moved and dropped independently.
///
/// It holds one sequence at absolute positions. Decoding appends at [`KvCache::len`]. One made for
/// several sequences decodes a [`Tree`](crate::tree::Tree) there too.
pub struct Context {
    raw: NonNull<ffi::llama_context>,
    model: Arc<Model>,
    batch: Batch,
    params: ContextParams,
    n_vocab: usize,
    /// Tokens decoded, those that left the window included.
    len: usize,
    /// The first position still held.
    start: usize,
    branches: Option<Branches>,
    /// Positions of the last decode that have logits: `rows` of them, from batch index `first`.
    first: usize,
    rows: usize,
    /// Tokens of the last decode, 0 when it failed.
    decoded: usize,
    /// The layers whose inputs each decode keeps, ascending.
    exposed: Vec<u32>,
    decode_time: Duration,
    _reservation: Reservation,
}

// SAFETY: a llama_context has no thread affinity; `Context` is not `Sync`, and every call that
// changes it takes `&mut self`.
unsafe impl Send for Context {}

impl Context {
    /// Makes a context for `model`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for a size of zero, more threads than ggml or more sequences
    /// than llama.cpp works with, [`ErrorKind::OutOfMemory`] when no
    /// memory of this machine could hold it, [`ErrorKind::Backend`] with llama.cpp's reason when
    /// it cannot make the context.
    pub fn new(model: Arc<Model>, params: &ContextParams) -> Result<Self> {
        let mut context = Self::make(model, params)?;
        context.warm_up()?;
        Ok(context)
    }

    /// What a context of a [described](Model::describe) model would occupy, weights included, by
    /// llama.cpp's own plan of it; nothing of it is allocated.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn plan(description: &Arc<Model>, params: &ContextParams) -> Result<MemoryBreakdown> {
        Self::make(description.clone(), params)?.memory()
    }

    fn make(model: Arc<Model>, params: &ContextParams) -> Result<Self> {
        let size = |value: usize, name: &str| {
            u32::try_from(value)
                .ok()
                .filter(|&value| value > 0 && value <= i32::MAX as u32)
                .ok_or_else(|| {
                    Error::invalid(format!("{name} is {value}; it must be 1 to {}", i32::MAX))
                })
        };
        let n_ctx = size(params.n_ctx, "ctx-size")?;
        let n_batch = size(params.n_batch.min(params.n_ctx), "batch-size")?;
        let threads = i32::try_from(params.threads)
            .ok()
            .filter(|threads| (1..=ffi::MSD_MAX_THREADS).contains(threads))
            .ok_or_else(|| {
                Error::invalid(format!(
                    "threads is {}; it must be 1 to {}",
                    params.threads,
                    ffi::MSD_MAX_THREADS
                ))
            })?;
        let max_outputs = size(params.max_outputs.min(params.n_batch), "max_outputs")?;
        // SAFETY: returns a constant.
        let most = unsafe { ffi::llama_max_parallel_sequences() };
        let sequences = u32::try_from(params.sequences)
            .ok()
            .filter(|_| (1..=most).contains(&params.sequences))
            .ok_or_else(|| {
                Error::invalid(format!(
                    "sequences is {}; it must be 1 to {most}",
                    params.sequences
                ))
            })?;
        let reservation = Reservation::new(&model, params.n_ctx)?;

        // SAFETY: returns a plain struct.
        let mut raw = unsafe { ffi::llama_context_default_params() };
        raw.n_ctx = n_ctx;
        raw.n_batch = n_batch;
        raw.n_ubatch = n_batch.min(512);
        raw.n_seq_max = sequences;
        // Candidates share the cells of what stands before them.
        raw.kv_unified = sequences > 1;
        // llama.cpp sets aside an output for every sequence.
        raw.n_outputs_max = max_outputs.max(sequences);
        raw.n_threads = threads;
        raw.n_threads_batch = threads;
        raw.no_perf = true;
        // A sliding-window cache of the window's size could not be rolled back.
        raw.swa_full = true;

        let mut context = std::ptr::null_mut();
        let mut message = Message::new();
        let (status, lines) = capture_errors(|| {
            // SAFETY: the model pointer is valid while `model` lives, and the context keeps it
            // alive; `out` and the message buffer are ours and large enough.
            unsafe {
                ffi::msd_context_new(
                    model.raw(),
                    raw,
                    &raw mut context,
                    message.as_mut_ptr(),
                    message.len(),
                )
            }
        });
        let context = NonNull::new(context).filter(|_| status == ffi::MSD_OK);
        let Some(context) = context else {
            let why = message.text().unwrap_or_else(|| reason(&lines));
            return Err(Error::new(
                ErrorKind::Backend,
                format!(
                    "no context of {} tokens could be made for {}: {why}",
                    params.n_ctx,
                    model.path().display()
                ),
            ));
        };
        Ok(Self {
            raw: context,
            n_vocab: model.vocab_size(),
            model,
            batch: Batch::default(),
            params: params.clone(),
            len: 0,
            start: 0,
            branches: None,
            first: 0,
            rows: 0,
            decoded: 0,
            exposed: Vec::new(),
            decode_time: Duration::ZERO,
            _reservation: reservation,
        })
    }

    /// Touches every weight once: a mapped file is read when it is first used, and the first token
    /// of a text should not wait for that.
    fn warm_up(&mut self) -> Result<()> {
        let token = self.model.bos().or(self.model.eos()).unwrap_or(TokenId(0));
        let decoded = self.decode(&[token], Outputs::Last);
        self.restart_at(0);
        self.decode_time = Duration::ZERO;
        decoded
    }

    /// The model this context runs.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Tokens the KV cache holds at most.
    pub fn n_ctx(&self) -> usize {
        self.params.n_ctx
    }

    /// The most tokens in one decode.
    pub fn n_batch(&self) -> usize {
        self.params.n_batch.min(self.params.n_ctx)
    }

    /// Decodes `tokens` at the end of the sequence, at most [`Self::n_batch`] of them.
    ///
    /// # Errors
    /// [`ErrorKind::ContextOverflow`] when they do not fit, [`ErrorKind::Backend`] when llama.cpp
    /// fails. The cache is then as it was.
    pub fn decode(&mut self, tokens: &[TokenId], outputs: Outputs) -> Result<()> {
        (self.rows, self.decoded) = (0, 0);
        if tokens.is_empty() {
            return Ok(());
        }
        self.prune()?;
        self.check(tokens.iter().copied())?;
        self.batch.clear();
        for (i, &token) in tokens.iter().enumerate() {
            let output = outputs.include(i, tokens.len());
            (self.batch).push(token, self.len + i, [COMMITTED], output);
        }
        self.submit(tokens.len())?;
        self.len += tokens.len();
        (self.first, self.rows) = match outputs {
            Outputs::None => (0, 0),
            Outputs::Last => (tokens.len() - 1, 1),
            Outputs::All => (0, tokens.len()),
        };
        Ok(())
    }

    /// Whether `tokens` are a batch that may be decoded now.
    fn check(&self, mut tokens: impl ExactSizeIterator<Item = TokenId>) -> Result<()> {
        let count = tokens.len();
        if count > self.n_batch() {
            return Err(Error::invalid(format!(
                "a batch of {count} tokens is larger than batch-size {}",
                self.n_batch()
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
        let outside =
            tokens.find(|token| usize::try_from(token.0).map_or(true, |id| id >= self.n_vocab));
        match outside {
            None => Ok(()),
            Some(token) => Err(Error::invalid(format!(
                "token {token} is outside the vocabulary of {}",
                self.n_vocab
            ))),
        }
    }

    /// Decodes the batch, which has `count` tokens. When that fails the cache is cut back to what
    /// it held.
    fn submit(&mut self, count: usize) -> Result<()> {
        let before = self.len;
        let mut message = Message::new();
        let started = Instant::now();
        let (status, lines) = capture_errors(|| {
            // SAFETY: the context is valid and exclusively borrowed, the batch's arrays outlive
            // the call, and the message buffer is ours.
            unsafe {
                ffi::msd_decode(
                    self.raw.as_ptr(),
                    self.batch.raw(),
                    message.as_mut_ptr(),
                    message.len(),
                )
            }
        });
        // SAFETY: the context is valid. A device's decode only ends here.
        unsafe { ffi::llama_synchronize(self.raw.as_ptr()) };
        self.decode_time += started.elapsed();
        if status == ffi::MSD_OK {
            self.decoded = count;
            return Ok(());
        }
        // Parts of a failed batch may have stayed in the cache.
        self.len = before + count;
        self.truncate(before)?;
        let why = match status {
            ffi::MSD_NO_SLOT => "no free slot in the KV cache".to_owned(),
            ffi::MSD_ABORTED => "it was aborted".to_owned(),
            _ => message.text().unwrap_or_else(|| reason(&lines)),
        };
        Err(Error::new(
            ErrorKind::Backend,
            format!("decoding {count} tokens at position {before} failed (status {status}): {why}"),
        ))
    }

    /// Time spent decoding since the context was made.
    pub fn decode_time(&self) -> Duration {
        self.decode_time
    }

    /// The number of rows [`Self::logits`] has: the outputs of the last decode.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Raw logits of the last decode's `row`-th output: one `f32` for every token of the
    /// vocabulary.
    ///
    /// # Errors
    /// [`ErrorKind::Backend`] when there is no such row.
    pub fn logits(&self, row: usize) -> Result<&[f32]> {
        let missing = || {
            Error::new(
                ErrorKind::Backend,
                format!(
                    "the last decode has {} rows of logits, not row {row}",
                    self.rows
                ),
            )
        };
        if row >= self.rows {
            return Err(missing());
        }
        let index = i32::try_from(self.first + row).map_err(|_| missing())?;
        // SAFETY: the context is valid. llama.cpp reorders its output buffer on the first read
        // after a decode, behind a pointer of which this is the only user (`!Sync`).
        let pointer = unsafe { ffi::msd_logits_row(self.raw.as_ptr(), index) };
        if pointer.is_null() {
            return Err(missing());
        }
        // SAFETY: a row has n_vocab floats and stays until the next decode, which needs
        // `&mut self` and so ends this borrow.
        Ok(unsafe { std::slice::from_raw_parts(pointer, self.n_vocab) })
    }

    /// Makes room by forgetting the tokens before `position`; the rest keep their positions.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] when the model's memory cannot be cut.
    pub fn forget_before(&mut self, position: usize) -> Result<()> {
        self.prune()?;
        let position = position.min(self.len);
        if position > self.start {
            self.remove(COMMITTED, 0, position)?;
            self.start = position;
        }
        Ok(())
    }

    /// Continues at `position` with an empty cache, as if everything before had been forgotten.
    pub fn restart_at(&mut self, position: usize) {
        // SAFETY: the context is valid and exclusively borrowed.
        unsafe { ffi::llama_memory_clear(ffi::llama_get_memory(self.raw.as_ptr()), false) };
        self.branches = None;
        self.len = position;
        self.start = position;
        self.rows = 0;
    }

    /// The first position still held.
    pub fn start(&self) -> usize {
        self.start
    }

    /// What the context and its model occupy.
    ///
    /// # Errors
    /// [`ErrorKind::Backend`] when llama.cpp cannot tell.
    pub fn memory(&self) -> Result<MemoryBreakdown> {
        MemoryBreakdown::ask(&self.model, |memory, message, len| {
            // SAFETY: the context is valid; the rest are the buffers given for it.
            unsafe { ffi::msd_memory_breakdown(self.raw.as_ptr(), memory, message, len) }
        })
    }

    fn remove(&mut self, sequence: i32, from: usize, to: usize) -> Result<()> {
        let edge = |position: usize| i32::try_from(position).unwrap_or(-1);
        // SAFETY: the context is valid and exclusively borrowed.
        let removed = unsafe {
            ffi::llama_memory_seq_rm(
                ffi::llama_get_memory(self.raw.as_ptr()),
                sequence,
                edge(from),
                edge(to),
            )
        };
        if removed {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "the memory of {} cannot be cut back to a position, which speculation needs \
                 (a recurrent or hybrid model)",
                self.model.path().display()
            ),
        ))
    }
}

/// Memory promised to the contexts of this process.
#[derive(Debug)]
pub(super) struct Reservation(u64);

static RESERVED: AtomicU64 = AtomicU64::new(0);

impl Reservation {
    /// Refuses a context that the memory of this machine cannot hold beside those there are.
    /// llama.cpp would try, and the operating system would end the process.
    pub(super) fn new(model: &Model, n_ctx: usize) -> Result<Self> {
        /// What llama.cpp keeps for a position beside its keys and values, roughly.
        const CELL_BYTES: u64 = 64;
        let needed = (model.kv_bytes_per_token() + CELL_BYTES).saturating_mul(n_ctx as u64);
        let memory = backend::total_memory();
        let reserved = RESERVED.load(Ordering::Relaxed);
        if needed <= memory.saturating_sub(reserved) {
            RESERVED.fetch_add(needed, Ordering::Relaxed);
            return Ok(Self(needed));
        }
        let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        Err(Error::new(
            ErrorKind::OutOfMemory,
            format!(
                "a context of {n_ctx} tokens for {} needs about {:.1} GiB; this machine has {:.1}, \
                 of which other contexts have {:.1}; lower ctx-size",
                model.path().display(),
                gib(needed),
                gib(memory),
                gib(reserved)
            ),
        ))
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        RESERVED.fetch_sub(self.0, Ordering::Relaxed);
    }
}

impl KvCache for Context {
    fn len(&self) -> usize {
        self.len
    }

    fn truncate(&mut self, len: usize) -> Result<()> {
        self.prune()?;
        if len >= self.len {
            return Ok(());
        }
        self.remove(COMMITTED, len, usize::MAX)?;
        self.len = len;
        self.start = self.start.min(len);
        Ok(())
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the pointer came from msd_context_new and is freed once; the model outlives it
        // because `model` is dropped after this.
        unsafe { ffi::llama_free(self.raw.as_ptr()) };
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("model", &self.model.path())
            .field("params", &self.params)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

/// A buffer for the shim's message.
pub(super) struct Message([c_char; 512]);

impl Message {
    pub(super) fn new() -> Self {
        Self([0; 512])
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut c_char {
        self.0.as_mut_ptr()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// What the shim wrote, if anything.
    pub(super) fn text(&self) -> Option<String> {
        // SAFETY: the shim zero-terminates what it writes, and the buffer starts zeroed.
        let text = unsafe { CStr::from_ptr(self.0.as_ptr()) }.to_string_lossy();
        (!text.is_empty()).then(|| text.into_owned())
    }

    /// The error that `what`, of something made of `model`, ended with this message.
    pub(super) fn failure(&self, what: &str, model: &Model) -> Error {
        let why = self.text().unwrap_or_else(|| "no reason is known".into());
        Error::new(
            ErrorKind::Backend,
            format!("{}: {what}: {why}", model.path().display()),
        )
    }
}
