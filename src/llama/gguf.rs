//! What can be said about a model file before llama.cpp loads it.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use super::backend;
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

/// The metadata of a GGUF file, and where its tensors are; no weights are read.
#[derive(Debug)]
pub struct GgufHeader {
    raw: NonNull<ffi::gguf_context>,
    path: PathBuf,
}

/// What a file's metadata says of one tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorFacts {
    /// Its shape, the innermost dimension first; 1 for a dimension that it does not have.
    pub shape: [u64; 4],
    /// The type of its elements, as ggml numbers it.
    pub kind: ffi::ggml_type,
    /// Where its data begins, in bytes from the beginning of the file.
    pub offset: u64,
    /// Bytes of its data.
    pub bytes: u64,
}

// SAFETY: a gguf_context has no thread affinity, only this value refers to it, and nothing changes
// it.
unsafe impl Send for GgufHeader {}
// SAFETY: as above.
unsafe impl Sync for GgufHeader {}

impl GgufHeader {
    /// Reads the metadata of the file at `path`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] or [`ErrorKind::Io`] for the file itself, [`ErrorKind::InvalidModel`]
    /// for one that is no GGUF or whose metadata is damaged.
    pub fn read(path: &Path) -> Result<Self> {
        backend::init();
        check_header(path)?;
        let params = ffi::gguf_init_params {
            no_alloc: true,
            ctx: std::ptr::null_mut(),
        };
        let name = path.to_str().and_then(|path| CString::new(path).ok());
        // SAFETY: the path is zero-terminated; without a `ctx` only the metadata is read.
        let raw = name.and_then(|name| {
            NonNull::new(unsafe { ffi::gguf_init_from_file(name.as_ptr(), params) })
        });
        let raw = raw.ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidModel,
                format!(
                    "{} cannot be loaded: its metadata is cut short or damaged",
                    path.display()
                ),
            )
        })?;
        Ok(Self {
            raw,
            path: path.to_owned(),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The model's architecture, such as `llama`.
    pub fn architecture(&self) -> Option<String> {
        self.string("general.architecture")
    }

    /// The text stored under `key`, if there is one.
    pub fn string(&self, key: &str) -> Option<String> {
        let index = self.find(key, ffi::GGUF_TYPE_STRING)?;
        // SAFETY: the entry is there and a text; it is zero-terminated and lives as long as the
        // metadata.
        let text = unsafe { CStr::from_ptr(ffi::gguf_get_val_str(self.raw.as_ptr(), index)) };
        Some(text.to_string_lossy().into_owned())
    }

    /// The number stored under `key`, if it is a 32-bit one that is not negative.
    pub fn number(&self, key: &str) -> Option<u32> {
        let raw = self.raw.as_ptr();
        // SAFETY: the entry is there and of the type that is read.
        unsafe {
            if let Some(index) = self.find(key, ffi::GGUF_TYPE_UINT32) {
                return Some(ffi::gguf_get_val_u32(raw, index));
            }
            let index = self.find(key, ffi::GGUF_TYPE_INT32)?;
            u32::try_from(ffi::gguf_get_val_i32(raw, index)).ok()
        }
    }

    /// The number stored under `key`, if it is a 32-bit float.
    pub fn float(&self, key: &str) -> Option<f32> {
        let index = self.find(key, ffi::GGUF_TYPE_FLOAT32)?;
        // SAFETY: the entry is there and of the type that is read.
        Some(unsafe { ffi::gguf_get_val_f32(self.raw.as_ptr(), index) })
    }

    /// The 32-bit numbers stored under `key`, if it is an array of such.
    pub fn numbers(&self, key: &str) -> Option<Vec<i64>> {
        let index = self.find(key, ffi::GGUF_TYPE_ARRAY)?;
        let raw = self.raw.as_ptr();
        // SAFETY: the entry is there and an array, whose data has that many elements of its type
        // and lives as long as the metadata.
        unsafe {
            let count = ffi::gguf_get_arr_n(raw, index);
            match ffi::gguf_get_arr_type(raw, index) {
                ffi::GGUF_TYPE_UINT32 | ffi::GGUF_TYPE_INT32 if count == 0 => Some(Vec::new()),
                ffi::GGUF_TYPE_UINT32 => {
                    let data = ffi::gguf_get_arr_data(raw, index).cast::<u32>();
                    let data = std::slice::from_raw_parts(data, count);
                    Some(data.iter().copied().map(i64::from).collect())
                }
                ffi::GGUF_TYPE_INT32 => {
                    let data = ffi::gguf_get_arr_data(raw, index).cast::<i32>();
                    let data = std::slice::from_raw_parts(data, count);
                    Some(data.iter().copied().map(i64::from).collect())
                }
                _ => None,
            }
        }
    }

    /// What is said of the tensor `name`, if there is one.
    pub fn tensor(&self, name: &str) -> Option<TensorFacts> {
        let raw = self.raw.as_ptr();
        let name = CString::new(name).ok()?;
        // SAFETY: the name is zero-terminated, the index is the one found, and the pointer that is
        // read points to four numbers.
        unsafe {
            let index = ffi::gguf_find_tensor(raw, name.as_ptr());
            if index < 0 {
                return None;
            }
            let shape = *ffi::gguf_get_tensor_ne(raw, index).cast::<[i64; 4]>();
            let start = ffi::gguf_get_data_offset(raw);
            Some(TensorFacts {
                shape: shape.map(|side| u64::try_from(side).unwrap_or(0)),
                kind: ffi::gguf_get_tensor_type(raw, index),
                offset: (start + ffi::gguf_get_tensor_offset(raw, index)) as u64,
                bytes: ffi::gguf_get_tensor_size(raw, index) as u64,
            })
        }
    }

    /// The numbers of a tensor of 64-bit integers, read from the file; `None` when there is no such
    /// tensor of that type.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when the file ends before its data does.
    pub fn integers(&self, name: &str) -> Result<Option<Vec<i64>>> {
        let is_integers = |tensor: &TensorFacts| tensor.kind == ffi::GGML_TYPE_I64;
        let Some(tensor) = self.tensor(name).filter(is_integers) else {
            return Ok(None);
        };
        let unreadable = |error| Error::io("cannot read the model", &self.path, error);
        let size = std::fs::metadata(&self.path).map_err(unreadable)?.len();
        if tensor.offset.saturating_add(tensor.bytes) > size {
            return Err(unreadable(std::io::ErrorKind::UnexpectedEof.into()));
        }
        let mut bytes = Vec::new();
        File::open(&self.path)
            .and_then(|mut file| {
                file.seek(SeekFrom::Start(tensor.offset))?;
                file.take(tensor.bytes).read_to_end(&mut bytes)
            })
            .map_err(unreadable)?;
        let numbers = bytes.as_chunks::<8>().0.iter();
        Ok(Some(numbers.map(|n| i64::from_le_bytes(*n)).collect()))
    }

    /// Where `key` stands, if its value is of type `kind`.
    fn find(&self, key: &str, kind: ffi::gguf_type) -> Option<i64> {
        let key = CString::new(key).ok()?;
        // SAFETY: the key is zero-terminated, and the type is that of an entry that is there.
        let index = unsafe { ffi::gguf_find_key(self.raw.as_ptr(), key.as_ptr()) };
        let is_kind = || unsafe { ffi::gguf_get_kv_type(self.raw.as_ptr(), index) } == kind;
        (index >= 0 && is_kind()).then_some(index)
    }
}

impl Drop for GgufHeader {
    fn drop(&mut self) {
        // SAFETY: the pointer came from gguf_init_from_file and is freed once.
        unsafe { ffi::gguf_free(self.raw.as_ptr()) };
    }
}

/// Transformer blocks according to the file's metadata, if it names them.
///
/// # Errors
/// [`ErrorKind::InvalidModel`] when the metadata cannot be read, or names a number of blocks with
/// which llama.cpp would end the process.
pub(super) fn block_count(path: &Path) -> Result<Option<u32>> {
    /// llama.cpp's own limit.
    const MAX_BLOCKS: u32 = 512;
    let header = GgufHeader::read(path)?;
    let architecture = header
        .architecture()
        .ok_or_else(|| unknown(path, "its metadata names no general.architecture"))?;
    let key = format!("{architecture}.block_count");
    let Some(count) = header.number(&key) else {
        return Ok(None);
    };
    if !(1..=MAX_BLOCKS).contains(&count) {
        return Err(unknown(
            path,
            &format!("{key} is {count}; it must be 1 to {MAX_BLOCKS}"),
        ));
    }
    Ok(Some(count))
}

/// Checks the numbers that llama.cpp takes on trust when it loads a model, and ends the process
/// over when it computes with it.
///
/// # Errors
/// [`ErrorKind::InvalidModel`] when the metadata cannot be read, or has such a number.
pub(super) fn check_numbers(path: &Path) -> Result<()> {
    let header = GgufHeader::read(path)?;
    let architecture = header.architecture().unwrap_or_default();
    for name in ["layer_norm_epsilon", "layer_norm_rms_epsilon"] {
        let key = format!("{architecture}.attention.{name}");
        if let Some(epsilon) = header.float(&key)
            && !(epsilon.is_finite() && epsilon >= 0.0)
        {
            return Err(unknown(
                path,
                &format!("{key} is {epsilon}; it must be 0 or above"),
            ));
        }
    }
    Ok(())
}

fn unknown(path: &Path, what: &str) -> Error {
    Error::new(
        ErrorKind::InvalidModel,
        format!("{} cannot be loaded: {what}", path.display()),
    )
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
