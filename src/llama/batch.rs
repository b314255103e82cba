//! A batch of tokens for one decode.

use crate::ffi;
use crate::types::TokenId;

/// Tokens with their positions in sequence 0 and a mark on those whose logits are wanted.
#[derive(Debug, Default)]
pub(super) struct Batch {
    tokens: Vec<ffi::llama_token>,
    positions: Vec<ffi::llama_pos>,
    outputs: Vec<i8>,
    /// The one sequence of every token; `sequences` points at it.
    sequence: Box<ffi::llama_seq_id>,
    sequence_counts: Vec<i32>,
    sequences: Vec<*mut ffi::llama_seq_id>,
}

// SAFETY: the pointers in `sequences` point into this batch's own boxed `sequence`, which moves
// with it; nothing is shared.
unsafe impl Send for Batch {}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.tokens.clear();
        self.positions.clear();
        self.outputs.clear();
        self.sequence_counts.clear();
        self.sequences.clear();
    }

    pub(super) fn push(&mut self, token: TokenId, position: usize, output: bool) {
        self.tokens.push(token.0);
        self.positions
            .push(i32::try_from(position).expect("a position fits an i32"));
        self.outputs.push(i8::from(output));
        self.sequence_counts.push(1);
        self.sequences.push(&raw mut *self.sequence);
    }

    /// llama.cpp's view of the batch, valid until the batch is next changed.
    pub(super) fn raw(&mut self) -> ffi::llama_batch {
        ffi::llama_batch {
            n_tokens: i32::try_from(self.tokens.len()).expect("a batch's length fits an i32"),
            token: self.tokens.as_mut_ptr(),
            embd: std::ptr::null_mut(),
            pos: self.positions.as_mut_ptr(),
            n_seq_id: self.sequence_counts.as_mut_ptr(),
            seq_id: self.sequences.as_mut_ptr(),
            logits: self.outputs.as_mut_ptr(),
        }
    }
}
