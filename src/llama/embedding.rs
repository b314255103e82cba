//! A model's input embedding, read row by row from its file.

use std::ffi::CString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::ptr::NonNull;

use super::backend;
use super::model::Model;
use crate::error::{Error, ErrorKind, Result};
use crate::ffi;
use crate::types::TokenId;

/// The tensor that llama.cpp looks a token's embedding up in.
const TENSOR: &str = "token_embd.weight";

/// The rows of a model's input embedding: [`Self::width`] numbers for each of [`Self::len`]
/// tokens, in whatever type the file has them.
///
/// They are read from the file, whether or not the model's own copy is in device memory, and
/// without a decode.
#[derive(Debug)]
pub struct TokenEmbedding {
    file: File,
    path: PathBuf,
    layout: Layout,
    /// Room for one row as the file has it; of words, because ggml reads its blocks aligned.
    words: Vec<u64>,
}

/// Where the rows are, and how they are encoded.
#[derive(Debug)]
struct Layout {
    offset: u64,
    row_bytes: usize,
    width: usize,
    len: usize,
    decode: Decode,
}

#[derive(Debug)]
enum Decode {
    /// 32-bit floats as they are.
    Plain,
    /// ggml's decoder for the type.
    With(unsafe extern "C" fn(*const std::ffi::c_void, *mut f32, i64)),
}

impl TokenEmbedding {
    /// The input embedding of `model`.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] when the model's file has none that can be read row by row (of a
    /// model in several files the first one is looked at); [`ErrorKind::Io`] when the file cannot
    /// be opened.
    pub fn open(model: &Model) -> Result<Self> {
        backend::init();
        let path = model.path().to_owned();
        let layout = Header::read(&path)
            .and_then(|header| header.layout())
            .filter(|layout| layout.width == model.n_embd() && layout.len >= model.vocab_size())
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::Unsupported,
                    format!(
                        "{} has no tensor {TENSOR} with a row of {} numbers for each of {} tokens",
                        path.display(),
                        model.n_embd(),
                        model.vocab_size()
                    ),
                )
            })?;
        let file =
            File::open(&path).map_err(|error| Error::io("cannot open the model", &path, error))?;
        Ok(Self {
            file,
            path,
            words: vec![0; layout.row_bytes.div_ceil(size_of::<u64>())],
            layout,
        })
    }

    /// Numbers in a row.
    pub fn width(&self) -> usize {
        self.layout.width
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.layout.len
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the row of `token` into `row`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] when there is no such token or `row` is not
    /// [`Self::width`] long; [`ErrorKind::Io`] when the file cannot be read.
    pub fn read(&mut self, token: TokenId, row: &mut [f32]) -> Result<()> {
        let Layout {
            offset,
            row_bytes,
            width,
            len,
            ref decode,
        } = self.layout;
        let index = usize::try_from(token.0).ok().filter(|&index| index < len);
        let Some(index) = index else {
            return Err(Error::invalid(format!(
                "token {token} is outside the vocabulary of {len}"
            )));
        };
        if row.len() != width {
            return Err(Error::invalid(format!(
                "a row of {} numbers does not hold an embedding of {width}",
                row.len()
            )));
        }
        // SAFETY: any bytes are words and the other way round.
        let (_, bytes, _) = unsafe { self.words.align_to_mut::<u8>() };
        let bytes = &mut bytes[..row_bytes];
        self.file
            .seek(SeekFrom::Start(offset + (index * row_bytes) as u64))
            .and_then(|_| self.file.read_exact(bytes))
            .map_err(|error| Error::io("cannot read the model", &self.path, error))?;
        match decode {
            Decode::Plain => {
                for (value, bytes) in row.iter_mut().zip(bytes.as_chunks::<4>().0) {
                    *value = f32::from_le_bytes(*bytes);
                }
            }
            Decode::With(decode) => {
                // SAFETY: `bytes` holds the whole blocks of one row of this type, aligned for any
                // of them, and `row` has room for its `width` numbers: that is what the decoder
                // reads and writes.
                unsafe { decode(bytes.as_ptr().cast(), row.as_mut_ptr(), width as i64) }
            }
        }
        Ok(())
    }
}

/// The metadata of a GGUF file.
struct Header(NonNull<ffi::gguf_context>);

impl Header {
    fn read(path: &std::path::Path) -> Option<Self> {
        let path = CString::new(path.to_str()?).ok()?;
        let params = ffi::gguf_init_params {
            no_alloc: true,
            ctx: std::ptr::null_mut(),
        };
        // SAFETY: the path is zero-terminated; without a `ctx` only the metadata is read.
        NonNull::new(unsafe { ffi::gguf_init_from_file(path.as_ptr(), params) }).map(Self)
    }

    fn layout(&self) -> Option<Layout> {
        let header = self.0.as_ptr();
        let name = CString::new(TENSOR).ok()?;
        // SAFETY: the header is valid while `self` lives, the tensor's index is the one found, and
        // the pointers that are read point to four numbers and to a static table.
        unsafe {
            let tensor = ffi::gguf_find_tensor(header, name.as_ptr());
            if tensor < 0 {
                return None;
            }
            let shape = *ffi::gguf_get_tensor_ne(header, tensor).cast::<[i64; 2]>();
            let [width, len] = shape.map(usize::try_from);
            let (width, len) = (width.ok()?, len.ok()?);
            let kind = ffi::gguf_get_tensor_type(header, tensor);
            let traits = ffi::ggml_get_type_traits(kind).as_ref()?;
            let block = usize::try_from(traits.blck_size).ok().filter(|&b| b > 0)?;
            if width == 0 || !width.is_multiple_of(block) {
                return None;
            }
            let decode = match traits.to_float {
                Some(decode) => Decode::With(decode),
                None if kind == ffi::GGML_TYPE_F32 => Decode::Plain,
                None => return None,
            };
            let start = ffi::gguf_get_data_offset(header);
            Some(Layout {
                offset: (start + ffi::gguf_get_tensor_offset(header, tensor)) as u64,
                row_bytes: width / block * traits.type_size,
                width,
                len,
                decode,
            })
        }
    }
}

impl Drop for Header {
    fn drop(&mut self) {
        // SAFETY: the pointer came from gguf_init_from_file and is freed once.
        unsafe { ffi::gguf_free(self.0.as_ptr()) };
    }
}
