//! A model's input embedding, read row by row from its file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use super::gguf::GgufHeader;
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
        let path = model.path().to_owned();
        let layout = GgufHeader::read(&path)
            .ok()
            .and_then(|header| layout(&header))
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

/// Where and how the file of `header` has the rows, if it has them one after another.
fn layout(header: &GgufHeader) -> Option<Layout> {
    let tensor = header.tensor(TENSOR)?;
    let [width, len, ..] = tensor.shape;
    let (width, len) = (usize::try_from(width).ok()?, usize::try_from(len).ok()?);
    // SAFETY: the pointer that is read points into a static table.
    let traits = unsafe { ffi::ggml_get_type_traits(tensor.kind).as_ref() }?;
    let block = usize::try_from(traits.blck_size).ok().filter(|&b| b > 0)?;
    if width == 0 || !width.is_multiple_of(block) {
        return None;
    }
    let decode = match traits.to_float {
        Some(decode) => Decode::With(decode),
        None if tensor.kind == ffi::GGML_TYPE_F32 => Decode::Plain,
        None => return None,
    };
    Some(Layout {
        offset: tensor.offset,
        row_bytes: width / block * traits.type_size,
        width,
        len,
        decode,
    })
}
