//! What can be said about a model file before llama.cpp loads it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use llama_cpp_2::gguf::GgufContext;

use crate::error::{Error, ErrorKind, Result};
use crate::ffi;

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
    // Looked at before it is opened: opening a pipe waits for whoever writes to it.
    let metadata =
        std::fs::metadata(path).map_err(|error| Error::io("cannot open the model", path, error))?;
    if metadata.is_dir() {
        return Err(invalid("it is a folder".into()));
    }
    if !metadata.is_file() {
        return Err(invalid(
            "it is no regular file, which llama.cpp maps into memory".into(),
        ));
    }
    let mut file =
        File::open(path).map_err(|error| Error::io("cannot open the model", path, error))?;
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

/// Transformer blocks according to the file's metadata, if it names them.
///
/// # Errors
/// [`ErrorKind::InvalidModel`] when the metadata cannot be read, or names a number of blocks with
/// which llama.cpp would end the process.
pub(super) fn block_count(path: &Path) -> Result<Option<u32>> {
    /// llama.cpp's own limit.
    const MAX_BLOCKS: u32 = 512;
    let unknown = |what: &str| {
        Error::new(
            ErrorKind::InvalidModel,
            format!("{} cannot be loaded: {what}", path.display()),
        )
    };
    let file = GgufContext::from_file(path)
        .ok_or_else(|| unknown("its metadata is cut short or damaged"))?;
    let architecture = file.find_key("general.architecture");
    let architecture = (architecture >= 0 && file.kv_type(architecture) == ffi::GGUF_TYPE_STRING)
        .then(|| file.val_str(architecture))
        .flatten()
        .ok_or_else(|| unknown("its metadata names no general.architecture"))?;
    let key = format!("{architecture}.block_count");
    let count = file.find_key(&key);
    if count < 0 || file.kv_type(count) != ffi::GGUF_TYPE_UINT32 {
        return Ok(None);
    }
    let count = file.val_u32(count);
    if !(1..=MAX_BLOCKS).contains(&count) {
        return Err(unknown(&format!(
            "{key} is {count}; it must be 1 to {MAX_BLOCKS}"
        )));
    }
    Ok(Some(count))
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
