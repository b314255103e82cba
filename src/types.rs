//! Small types shared by every module.

use std::fmt;

/// Index of a token in the target's vocabulary, as llama.cpp numbers it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(transparent)]
pub struct TokenId(pub i32);

impl TokenId {
    /// The token's row in a logits or probability array of vocabulary size.
    ///
    /// # Panics
    /// If the id is negative; no vocabulary has such a token.
    #[inline]
    pub fn index(self) -> usize {
        usize::try_from(self.0).expect("a token id is not negative")
    }

    /// The token of row `index` of a vocabulary-sized array.
    ///
    /// # Panics
    /// If `index` exceeds `i32::MAX`; no vocabulary is that large.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        Self(i32::try_from(index).expect("a vocabulary index fits an i32"))
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A drafter as the bandit sees it: its index in the pool, nothing more.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(transparent)]
pub struct ArmId(pub usize);

impl fmt::Display for ArmId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
