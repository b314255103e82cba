//! What a model's file says beside the vocabulary's texts, kept to load its weights again.

use std::ffi::CString;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

use super::backend::{capture_errors, reason};
use super::context::Message;
use super::model::Model;
use crate::error::{Error, ErrorKind, Result};
use crate::ffi;

/// How a model is loaded again and again without its vocabulary, which is another model's.
#[derive(Debug)]
pub struct Blueprint {
    raw: NonNull<ffi::msd_blueprint>,
    pub(super) vocabulary: Arc<Model>,
    pub(super) n_vocab: usize,
    pub(super) architecture: String,
}

// SAFETY: a blueprint is not changed after it was read.
unsafe impl Send for Blueprint {}
// SAFETY: as above.
unsafe impl Sync for Blueprint {}

impl Blueprint {
    /// The blueprint of `description`'s file, whose vocabulary is that of `vocabulary` but for
    /// padding.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidModel`] when the file cannot be read.
    pub fn of(description: &Model, vocabulary: &Arc<Model>) -> Result<Self> {
        let path = description.path();
        let n_vocab = description.vocab_size();
        let c_path = c_path(path)?;
        let mut raw = std::ptr::null_mut();
        let mut message = Message::new();
        let (status, lines) = capture_errors(|| {
            // SAFETY: the path outlives the call; `raw` and the message buffer are ours.
            unsafe {
                ffi::msd_blueprint_read(
                    c_path.as_ptr(),
                    u32::try_from(n_vocab).unwrap_or(u32::MAX),
                    &raw mut raw,
                    message.as_mut_ptr(),
                    message.len(),
                )
            }
        });
        match NonNull::new(raw).filter(|_| status == ffi::MSD_OK) {
            Some(raw) => Ok(Self {
                raw,
                vocabulary: vocabulary.clone(),
                n_vocab,
                architecture: description.architecture().to_owned(),
            }),
            None => Err(unusable(
                path,
                message.text().unwrap_or_else(|| reason(&lines)),
            )),
        }
    }

    pub(super) fn raw(&self) -> *const ffi::msd_blueprint {
        self.raw.as_ptr()
    }
}

impl Drop for Blueprint {
    fn drop(&mut self) {
        // SAFETY: the pointer came from msd_blueprint_read and is freed once.
        unsafe { ffi::msd_blueprint_free(self.raw.as_ptr()) };
    }
}

/// `path` as C takes it.
pub(super) fn c_path(path: &Path) -> Result<CString> {
    path.to_str()
        .and_then(|path| CString::new(path).ok())
        .ok_or_else(|| unusable(path, "its path is not UTF-8"))
}

pub(super) fn unusable(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::InvalidModel,
        format!("{} cannot be loaded: {why}", path.display()),
    )
}
