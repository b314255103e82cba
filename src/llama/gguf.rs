//! What can be said about a model file before llama.cpp loads it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};

/// The four bytes every GGUF file starts with.
const MAGIC: [u8; 4] = *b"GGUF";

/// Checks that `path` is a file that starts like a GGUF, and returns its size in bytes.
///
/// # Errors
/// [`ErrorKind::NotFound`], [`ErrorKind::Io`], or [`ErrorKind::InvalidModel`] saying what the
/// file starts with instead.
pub(super) fn check_header(path: &Path) -> Result<u64> {
    let invalid = |what: String| {
        Error::new(
            ErrorKind::InvalidModel,
            format!("{} is not a GGUF model: {what}", path.display()),
        )
    };
    let mut file =
        File::open(path).map_err(|error| Error::io("cannot open the model", path, error))?;
    let metadata = file
        .metadata()
        .map_err(|error| Error::io("cannot read the model", path, error))?;
    if metadata.is_dir() {
        return Err(invalid("it is a folder".into()));
    }
    let mut magic = Vec::new();
    file.by_ref()
        .take(4)
        .read_to_end(&mut magic)
        .map_err(|error| Error::io("cannot read the model", path, error))?;
    if magic.is_empty() {
        return Err(invalid("the file is empty".into()));
    }
    if magic != MAGIC {
        return Err(invalid(format!(
            "it starts with \"{}\", not \"GGUF\"",
            magic.escape_ascii()
        )));
    }
    Ok(metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(bytes: &[u8]) -> Error {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), bytes).expect("writable");
        check_header(file.path()).expect_err("not a model")
    }

    #[test]
    fn a_file_of_another_kind_is_told_by_its_first_bytes() {
        let error = error_of(b"<!DOCTYPE html>");
        assert_eq!(error.kind(), ErrorKind::InvalidModel);
        assert!(error.to_string().contains("<!DO"), "{error}");
    }

    #[test]
    fn an_empty_file_is_called_empty() {
        assert!(error_of(b"").to_string().contains("empty"));
    }

    #[test]
    fn a_missing_file_is_not_found() {
        let error = check_header(Path::new("no/such/model.gguf")).expect_err("missing");
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
}
