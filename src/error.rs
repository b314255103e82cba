//! The one error type: a kind that a caller can match, a message that a user can act on.

use std::path::Path;

/// What went wrong, in the classes a caller may want to tell apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A parameter is outside its allowed range.
    InvalidArgument,
    /// A configuration file is wrong: unknown key, wrong type, missing field.
    Config,
    /// A file that was named does not exist.
    NotFound,
    /// A file is not a usable model: not GGUF, truncated, unknown architecture.
    InvalidModel,
    /// A file is not a usable recording: foreign, of another version, damaged, incomplete.
    InvalidRecord,
    /// A drafter's vocabulary is not the target's.
    VocabularyMismatch,
    /// A drafter that reads the target's hidden features was made for another target.
    TargetMismatch,
    /// The model or the build cannot do what was asked.
    Unsupported,
    /// The prompt does not fit the context.
    ContextOverflow,
    /// More memory is needed than there is.
    OutOfMemory,
    /// Logits with NaN or +∞, or probabilities that are no distribution.
    InvalidDistribution,
    /// llama.cpp reported a failure.
    Backend,
    /// Reading or writing a file failed.
    Io,
    /// The caller asked to stop.
    Cancelled,
}

/// The error of every fallible function in this crate.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Shorthand for a result with this crate's [`struct@Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of `kind` whose message names what is wrong and what would be right.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    /// [`ErrorKind::InvalidArgument`].
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }

    /// An input/output failure on `path`; a missing file becomes [`ErrorKind::NotFound`].
    pub fn io(doing: &str, path: &Path, source: std::io::Error) -> Self {
        let kind = match source.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::NotFound,
            _ => ErrorKind::Io,
        };
        Self {
            kind,
            message: format!("{doing} {}: {source}", path.display()),
            source: Some(Box::new(source)),
        }
    }

    /// The class of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The same error with `context` put before its message.
    #[must_use]
    pub fn context(mut self, context: impl std::fmt::Display) -> Self {
        self.message = format!("{context}: {}", self.message);
        self
    }

    /// The process exit code the command line promises: 2 for wrong arguments or
    /// configuration, 1 for the rest.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            ErrorKind::InvalidArgument | ErrorKind::Config => 2,
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_told_apart_from_other_io_failures() {
        let missing = Error::io(
            "cannot open",
            Path::new("a.gguf"),
            std::io::ErrorKind::NotFound.into(),
        );
        let denied = Error::io(
            "cannot open",
            Path::new("a.gguf"),
            std::io::ErrorKind::PermissionDenied.into(),
        );
        assert_eq!(missing.kind(), ErrorKind::NotFound);
        assert_eq!(denied.kind(), ErrorKind::Io);
        assert!(missing.to_string().contains("a.gguf"));
    }

    #[test]
    fn context_stands_before_the_message_and_keeps_the_kind() {
        let error = Error::invalid("top-p is 2").context("drafter `code`");
        assert_eq!(error.to_string(), "drafter `code`: top-p is 2");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert_eq!(error.exit_code(), 2);
    }
}
