//! What a head's file says of the target it was made for.

use std::collections::HashSet;
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};
use crate::llama::{GgufHeader, Model, exposes_layer_inputs};

/// The architecture of a head, in its file's `general.architecture`.
const ARCHITECTURE: &str = "eagle3";

/// The layers that an encoder reads.
const LAYERS: usize = 3;

/// Whether the file at `path` is an EAGLE-3 head; not when it cannot be read.
pub fn is_head(path: &Path) -> bool {
    GgufHeader::read(path)
        .is_ok_and(|header| header.architecture().as_deref() == Some(ARCHITECTURE))
}

/// A head's file that was checked against a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadFile {
    layers: Vec<u32>,
    drafted: Option<Vec<u32>>,
}

impl HeadFile {
    /// Reads what the file at `path` says, and checks it against `target`: all that llama.cpp
    /// takes on trust, and would end the process over where it is wrong.
    ///
    /// # Errors
    /// Those of [`GgufHeader::read`]; [`ErrorKind::InvalidModel`] for a file that is no EAGLE-3
    /// head or lacks something, [`ErrorKind::TargetMismatch`] for a head of another target,
    /// [`ErrorKind::Unsupported`] for a target whose features cannot be had. Each names the field
    /// and both values.
    pub fn read(path: &Path, target: &Model) -> Result<Self> {
        let header = GgufHeader::read(path)?;
        let facts = TargetFacts {
            label: target.path().display().to_string(),
            width: target.n_embd() as u64,
            depth: target.n_layer(),
            vocabulary: target.vocab_size() as u64,
        };
        let file = Check {
            header: &header,
            target: &facts,
        }
        .run()?;
        if !exposes_layer_inputs(target.architecture()) {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "{} needs the target's hidden features, which llama.cpp does not hand out for \
                     {} (architecture {})",
                    path.display(),
                    facts.label,
                    target.architecture()
                ),
            ));
        }
        Ok(file)
    }

    /// The target's layers whose inputs the encoder reads, in its order.
    pub fn layers(&self) -> &[u32] {
        &self.layers
    }

    /// The tokens that the head drafts, in the order of its output; `None` for all of the target's
    /// in their own.
    pub fn drafted(&self) -> Option<&[u32]> {
        self.drafted.as_deref()
    }
}

/// What of a target a head must go with.
struct TargetFacts {
    label: String,
    /// Width of the hidden state.
    width: u64,
    /// Layers.
    depth: u32,
    /// Tokens.
    vocabulary: u64,
}

struct Check<'a> {
    header: &'a GgufHeader,
    target: &'a TargetFacts,
}

impl Check<'_> {
    fn run(&self) -> Result<HeadFile> {
        let architecture = self.header.architecture().unwrap_or_default();
        if architecture != ARCHITECTURE {
            return Err(self.invalid(format!(
                "its architecture is \"{architecture}\", not \"{ARCHITECTURE}\""
            )));
        }
        let layers = self.layers()?;
        self.widths()?;
        let keys = self.attention()?;
        let drafted = self.vocabulary()?;
        self.rotation(keys)?;
        Ok(HeadFile { layers, drafted })
    }

    fn layers(&self) -> Result<Vec<u32>> {
        let key = key("target_layers");
        let Some(listed) = self.header.numbers(&key) else {
            return Err(self.invalid(format!(
                "it has no {key}, the target's layers that it reads"
            )));
        };
        if listed.len() != LAYERS {
            return Err(self.invalid(format!("{key} is {listed:?}; it must name {LAYERS} layers")));
        }
        let below = |layer: i64| u32::try_from(layer).ok().filter(|&l| l < self.target.depth);
        let layers: Option<Vec<u32>> = listed.iter().copied().map(below).collect();
        layers.ok_or_else(|| {
            self.mismatch(format!(
                "{key} is {listed:?}, and that target has {} layers, of which the inputs can be \
                 read (0 to {})",
                self.target.depth,
                self.target.depth.saturating_sub(1)
            ))
        })
    }

    fn widths(&self) -> Result<()> {
        let key = key("target_hidden_size");
        let width = self.header.number(&key).map(u64::from);
        if width != Some(self.target.width) {
            let width = width.map_or("missing".into(), |width| width.to_string());
            return Err(self.mismatch(format!(
                "{key} is {width}, the target's hidden size is {}",
                self.target.width
            )));
        }
        Ok(())
    }

    /// Checks the attention, and returns how many numbers a key of it has.
    fn attention(&self) -> Result<u32> {
        let blocks = self.number("block_count")?;
        if blocks != 1 {
            return Err(self.invalid(format!("it has {blocks} decoder layers; it must have one")));
        }
        let heads = self.number("attention.head_count")?;
        let width = self.number("embedding_length")?;
        if heads == 0 {
            return Err(self.invalid(format!("{} is 0", key("attention.head_count"))));
        }
        let of = |name: &str| self.header.number(&key(name)).unwrap_or(width / heads);
        let (keys, values) = (of("attention.key_length"), of("attention.value_length"));
        if keys != values || keys == 0 {
            return Err(self.invalid(format!(
                "the keys of its attention have {keys} numbers and the values {values}; they must \
                 have equally many"
            )));
        }
        Ok(keys)
    }

    /// Checks how many of a key's `keys` numbers the position turns.
    fn rotation(&self, keys: u32) -> Result<()> {
        let key = key("rope.dimension_count");
        let rotated = self.header.number(&key).unwrap_or(keys);
        if !rotated.is_multiple_of(2) || !(2..=keys).contains(&rotated) {
            return Err(self.invalid(format!(
                "{key} is {rotated}; it must be even and 2 to {keys}, the numbers of a key"
            )));
        }
        Ok(())
    }

    /// Checks that every token goes in, and that what comes out are tokens of the target.
    /// Returns which these are, where not all.
    fn vocabulary(&self) -> Result<Option<Vec<u32>>> {
        let width = u64::from(self.number("embedding_length")?);
        let embedding = self.header.tensor("token_embd.weight");
        let output = self.header.tensor("output.weight");
        if (embedding.is_none() || output.is_none()) && width != self.target.width {
            return Err(self.mismatch(format!(
                "it has no {} of its own and its width is {width}, so that the target's, of width \
                 {}, do not fit",
                match (embedding, output) {
                    (None, None) => "token_embd.weight and output.weight",
                    (None, _) => "token_embd.weight",
                    _ => "output.weight",
                },
                self.target.width
            )));
        }
        if let Some(embedding) = embedding
            && embedding.shape[1] < self.target.vocabulary
        {
            return Err(self.mismatch(format!(
                "its token_embd.weight has {} tokens, the target's vocabulary {}",
                embedding.shape[1], self.target.vocabulary
            )));
        }
        let drafted = output.map_or(self.target.vocabulary, |output| output.shape[1]);
        if self.header.tensor("d2t").is_none() {
            if drafted == self.target.vocabulary {
                return Ok(None);
            }
            return Err(self.invalid(format!(
                "it drafts {drafted} tokens of the target's {} and has no tensor d2t that says \
                 which",
                self.target.vocabulary
            )));
        }
        let Some(d2t) = self.header.integers("d2t")? else {
            return Err(self.invalid("its tensor d2t is not of 64-bit integers".into()));
        };
        if d2t.len() as u64 != drafted {
            return Err(self.invalid(format!(
                "its tensor d2t names {} tokens, its output has {drafted}",
                d2t.len()
            )));
        }
        let mut seen = HashSet::new();
        let token = |&token: &i64| {
            let inside = |&t: &u32| u64::from(t) < self.target.vocabulary;
            let id = u32::try_from(token).ok().filter(inside).ok_or_else(|| {
                self.mismatch(format!(
                    "its tensor d2t names token {token}, the target has {} tokens",
                    self.target.vocabulary
                ))
            })?;
            if seen.insert(id) {
                return Ok(id);
            }
            Err(self.invalid(format!("its tensor d2t names token {token} more than once")))
        };
        d2t.iter().map(token).collect::<Result<_>>().map(Some)
    }

    fn number(&self, name: &str) -> Result<u32> {
        let key = key(name);
        let number = self.header.number(&key);
        number.ok_or_else(|| self.invalid(format!("it has no {key}")))
    }

    fn invalid(&self, what: String) -> Error {
        Error::new(
            ErrorKind::InvalidModel,
            format!(
                "{} is not a usable EAGLE-3 head: {what}",
                self.header.path().display()
            ),
        )
    }

    fn mismatch(&self, what: String) -> Error {
        Error::new(
            ErrorKind::TargetMismatch,
            format!(
                "{} was made for another target than {}: {what}",
                self.header.path().display(),
                self.target.label
            ),
        )
    }
}

fn key(name: &str) -> String {
    format!("{ARCHITECTURE}.{name}")
}
