//! A batch of tokens for one decode.

use crate::ffi;
use crate::types::TokenId;

/// Tokens with their positions and sequences, and a mark on those whose logits are wanted.
#[derive(Debug, Default)]
pub(super) struct Batch {
    tokens: Vec<ffi::llama_token>,
    positions: Vec<ffi::llama_pos>,
    outputs: Vec<i8>,
    /// The sequences of the first token, then those of the second, and so on.
    sequence_ids: Vec<ffi::llama_seq_id>,
    sequence_counts: Vec<i32>,
    /// Where each token's sequences begin; made by `raw`.
    sequences: Vec<*mut ffi::llama_seq_id>,
}

// SAFETY: the pointers in `sequences` point into this batch's own `sequence_ids` and are made anew
// before each use; nothing is shared.
unsafe impl Send for Batch {}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.tokens.clear();
        self.positions.clear();
        self.outputs.clear();
        self.sequence_ids.clear();
        self.sequence_counts.clear();
    }

    /// Appends a token to all of `sequences`, of which there is at least one.
    pub(super) fn push(
        &mut self,
        token: TokenId,
        position: usize,
        sequences: impl IntoIterator<Item = ffi::llama_seq_id>,
        output: bool,
    ) {
        self.tokens.push(token.0);
        self.positions
            .push(i32::try_from(position).expect("a position fits an i32"));
        self.outputs.push(i8::from(output));
        let before = self.sequence_ids.len();
        self.sequence_ids.extend(sequences);
        let count = self.sequence_ids.len() - before;
        self.sequence_counts
            .push(i32::try_from(count).expect("a token has few sequences"));
    }

    /// llama.cpp's view of the batch, valid until the batch is next changed.
    pub(super) fn raw(&mut self) -> ffi::llama_batch {
        let mut rest = &mut self.sequence_ids[..];
        self.sequences.clear();
        for &count in &self.sequence_counts {
            let (of_token, after) = rest.split_at_mut(count as usize);
            self.sequences.push(of_token.as_mut_ptr());
            rest = after;
        }
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
