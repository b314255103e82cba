//! A context's KV cache, taken out and put back.

use super::{COMMITTED, Context, Message};
use crate::error::{Error, ErrorKind, Result};
use crate::ffi;

/// The tokens of a context's KV cache with their keys and values, in host memory.
#[derive(Clone, PartialEq, Eq)]
pub struct SavedState {
    bytes: Vec<u8>,
    /// The first position held.
    start: usize,
    /// The position after the last.
    len: usize,
}

impl SavedState {
    /// Bytes that it takes.
    pub fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The number of tokens of the text that it knows, those that left the window included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len == self.start
    }
}

impl std::fmt::Debug for SavedState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SavedState")
            .field("bytes", &self.bytes.len())
            .field("positions", &(self.start..self.len))
            .finish()
    }
}

impl Context {
    /// Copies the committed tokens' part of the KV cache to host memory.
    ///
    /// # Errors
    /// [`ErrorKind::Backend`] when llama.cpp cannot hand it out.
    pub fn save(&mut self) -> Result<SavedState> {
        self.prune()?;
        let cannot = || {
            Error::new(
                ErrorKind::Backend,
                format!(
                    "the KV cache of {} cannot be saved",
                    self.model.path().display()
                ),
            )
        };
        // SAFETY: the context is valid and exclusively borrowed; here the size alone is asked.
        let size =
            unsafe { ffi::msd_state_save(self.raw.as_ptr(), COMMITTED, std::ptr::null_mut(), 0) };
        if size == 0 {
            return Err(cannot());
        }
        let mut bytes = vec![0; size];
        // SAFETY: as above; `bytes` has room for `size` bytes.
        let written =
            unsafe { ffi::msd_state_save(self.raw.as_ptr(), COMMITTED, bytes.as_mut_ptr(), size) };
        if written == 0 {
            return Err(cannot());
        }
        bytes.truncate(written);
        Ok(SavedState {
            bytes,
            start: self.start,
            len: self.len,
        })
    }

    /// Puts back what [`Self::save`] copied out of a context of the same model and size, in place
    /// of what there is.
    ///
    /// # Errors
    /// [`ErrorKind::Backend`] when llama.cpp does not take it; the cache is then empty.
    pub fn restore(&mut self, state: &SavedState) -> Result<()> {
        self.restart_at(0);
        let mut message = Message::new();
        // SAFETY: the context is valid and exclusively borrowed; the bytes are as many as said,
        // and llama.cpp checks them against the context before it reads on.
        let status = unsafe {
            ffi::msd_state_restore(
                self.raw.as_ptr(),
                COMMITTED,
                state.bytes.as_ptr(),
                state.bytes.len(),
                message.as_mut_ptr(),
                message.len(),
            )
        };
        if status != ffi::MSD_OK {
            self.restart_at(0);
            let why = message
                .text()
                .unwrap_or_else(|| "it is of another context".into());
            return Err(Error::new(
                ErrorKind::Backend,
                format!(
                    "the KV cache of {} cannot be restored: {why}",
                    self.model.path().display()
                ),
            ));
        }
        self.start = state.start;
        self.len = state.len;
        Ok(())
    }
}
