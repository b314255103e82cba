//! Drafters: whatever proposes tokens with a distribution.

mod beliefs;
mod eagle3;
mod model;
mod ngram;
mod window;

use std::fmt;
use std::time::Duration;

pub use beliefs::Beliefs;
pub use eagle3::{Eagle3Drafter, HeadFile, is_head};
pub use model::{ModelDrafter, ModelDrafterParams};
pub use ngram::{NgramDrafter, NgramParams};

use rand::{Rng, RngExt};

use crate::align::Proposal;
use crate::dist::Dist;
use crate::error::{Error, Result};
use crate::llama::{MemoryBreakdown, SamplerChain, SavedState};
use crate::types::TokenId;

/// The most positions of a committed text whose logits are taken in one decode: a round's worth.
const BELIEFS_AT_ONCE: usize = 8;

/// What a drafter is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DrafterKind {
    /// A small model with the target's vocabulary (SpS).
    Model,
    /// A lookup of the text's own n-grams.
    Ngram,
    /// A head that drafts from the target's hidden features (EAGLE-3).
    Eagle3,
}

impl DrafterKind {
    /// The name in configuration, reports and traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Ngram => "ngram",
            Self::Eagle3 => "eagle3",
        }
    }
}

impl fmt::Display for DrafterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a draft's time went.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct DraftTimes {
    /// Decoding committed tokens that the drafter had not seen. Where they share a batch with the
    /// first drafting step, their part of it by number of tokens.
    pub catchup: Duration,
    /// The rest: drafting itself.
    pub draft: Duration,
    /// The part of both spent in the model's own decode calls.
    pub decode: Duration,
}

/// A source of proposals for the next tokens of a committed history.
///
/// A drafter may hold state about a prefix of the history (its KV cache). It must only ever hold
/// tokens of the history it was last given, so that [`Drafter::rollback`] is one coordinate.
pub trait Drafter: Send {
    /// What it is.
    fn kind(&self) -> DrafterKind;

    /// Appends to `draft` up to `max` tokens that may follow `history` (not empty), each drawn
    /// from its own distribution after `chain`, whose past is `history`. May append none. Leaves
    /// the chain's past extended by what it drafted.
    ///
    /// # Errors
    /// When the drafter fails; what it has appended is then to be ignored.
    fn draft(
        &mut self,
        history: &[TokenId],
        max: usize,
        chain: &mut SamplerChain,
        rng: &mut dyn Rng,
        draft: &mut Draft,
    ) -> Result<DraftTimes>;

    /// Appends to `beliefs` what the drafter believes about each of the last `count` tokens of
    /// `history` (at least 1 and fewer than it is long): its distribution after the text before
    /// that token, whoever proposed it. Leaves it holding no more than `history` without its last
    /// token, so that the next draft has less to catch up with. `None`, with nothing appended,
    /// for a drafter that cannot tell, as which this method has every drafter that does not
    /// implement it.
    ///
    /// # Errors
    /// When the drafter fails; what it has appended is then to be ignored.
    fn believe(
        &mut self,
        _history: &[TokenId],
        _count: usize,
        _beliefs: &mut Beliefs,
    ) -> Result<Option<DraftTimes>> {
        Ok(None)
    }

    /// Forgets everything after the first `len` tokens of the history.
    ///
    /// # Errors
    /// When the drafter's memory cannot be cut.
    fn rollback(&mut self, len: usize) -> Result<()>;

    /// What it occupies.
    fn memory(&self) -> MemoryBreakdown {
        MemoryBreakdown::default()
    }

    /// How many tokens of the history it holds the state of, those that left its window included.
    /// None for a drafter that needs no state.
    fn held(&self) -> usize {
        0
    }

    /// How many tokens it would have to decode before it could draft after a history of `len`
    /// tokens, beyond the last one, with which drafting begins. None for a drafter that needs no
    /// state.
    fn behind(&self, _len: usize) -> usize {
        0
    }

    /// Copies what it holds of the history to host memory, for a drafter made likewise to be
    /// [restored](Self::restore) with. `None` for a drafter that holds nothing.
    ///
    /// # Errors
    /// When it cannot be copied.
    fn save(&mut self) -> Result<Option<SavedState>> {
        Ok(None)
    }

    /// Takes over what another held.
    ///
    /// # Errors
    /// When it is not such a drafter's; this one then holds nothing.
    fn restore(&mut self, _state: &SavedState) -> Result<()> {
        Ok(())
    }
}

/// The tokens drafted in one round, with the distributions they came from.
///
/// Reused from round to round, since its rows are large (vocabulary × tokens).
#[derive(Debug)]
pub struct Draft {
    n_vocab: usize,
    tokens: Vec<TokenId>,
    dists: Vec<Dist>,
    /// Raw logits of the positions where `has_row`, one vocabulary after another.
    rows: Vec<f32>,
    /// The index of each position's row, `None` for a one-hot proposal.
    row_of: Vec<Option<usize>>,
    used_rows: usize,
}

impl Draft {
    /// An empty draft over a vocabulary of `n_vocab` tokens.
    pub fn new(n_vocab: usize) -> Self {
        Self {
            n_vocab,
            tokens: Vec::new(),
            dists: Vec::new(),
            rows: Vec::new(),
            row_of: Vec::new(),
            used_rows: 0,
        }
    }

    /// Drops all tokens and keeps the memory.
    pub fn clear(&mut self) {
        self.tokens.clear();
        self.dists.clear();
        self.row_of.clear();
        self.used_rows = 0;
    }

    /// Takes a drafter's raw logits for the next position and returns them as they are kept: in
    /// the target's vocabulary. Where the two differ by padding, what the drafter lacks counts as
    /// −∞ and what it has too much is left out.
    fn stage_row(&mut self, logits: &[f32]) -> &[f32] {
        let start = self.used_rows * self.n_vocab;
        let end = start + self.n_vocab;
        if self.rows.len() < end {
            self.rows.resize(end, f32::NEG_INFINITY);
        }
        let row = &mut self.rows[start..end];
        beliefs::fit_row(row, logits);
        row
    }

    /// Appends `token`, drawn from `dist`: the distribution after the sampler chain of the row
    /// staged last.
    ///
    /// # Panics
    /// If no row was staged since the last token.
    fn push_staged(&mut self, token: TokenId, dist: Dist) {
        assert!(
            self.rows.len() >= (self.used_rows + 1) * self.n_vocab,
            "a row is staged before its token"
        );
        self.tokens.push(token);
        self.dists.push(dist);
        self.row_of.push(Some(self.used_rows));
        self.used_rows += 1;
    }

    /// Draws the next token from a drafter's raw logits after `chain`, whose past it extends, and
    /// appends it. A row of another length than the
    /// target's vocabulary is cut, or taken as −∞ where it ends.
    ///
    /// # Errors
    /// Those of [`SamplerChain::distribution`]; nothing is then appended.
    pub fn draw(
        &mut self,
        logits: &[f32],
        chain: &mut SamplerChain,
        rng: &mut dyn Rng,
    ) -> Result<TokenId> {
        let dist = chain.distribution(self.stage_row(logits))?;
        let token = dist.sample(rng.random());
        chain.accept(token);
        self.push_staged(token, dist);
        Ok(token)
    }

    /// Appends `token`, proposed with certainty.
    pub fn push_one_hot(&mut self, token: TokenId) {
        self.tokens.push(token);
        self.dists.push(Dist::one_hot(token));
        self.row_of.push(None);
    }

    /// The drafted tokens.
    pub fn tokens(&self) -> &[TokenId] {
        &self.tokens
    }

    /// The distribution each token was drawn from, after the sampler chain.
    pub fn dists(&self) -> &[Dist] {
        &self.dists
    }

    /// What the drafter believed, before the sampler chain, at each position.
    pub fn proposals(&self) -> impl ExactSizeIterator<Item = Proposal<'_>> {
        self.tokens
            .iter()
            .zip(&self.row_of)
            .map(|(&token, row)| match row {
                Some(row) => Proposal::Logits(&self.rows[row * self.n_vocab..][..self.n_vocab]),
                None => Proposal::OneHot(token),
            })
    }
}

/// The length of the text before the last `count` tokens of `history`, of which there must be some.
fn before_last(history: &[TokenId], count: usize) -> Result<usize> {
    let before = history.len().checked_sub(count).filter(|&n| n > 0);
    before.ok_or_else(|| {
        Error::invalid(format!(
            "there is no text before the last {count} tokens of a history of {}",
            history.len()
        ))
    })
}

/// `part / whole` of `time`.
fn share(time: Duration, part: usize, whole: usize) -> Duration {
    if whole == 0 {
        return Duration::ZERO;
    }
    time.mul_f64(part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(draft: &mut Draft, token: i32, logits: &[f32]) {
        draft.stage_row(logits);
        draft.push_staged(TokenId(token), Dist::one_hot(TokenId(token)));
    }

    #[test]
    fn a_shorter_row_is_padded_and_a_longer_one_cut_to_the_targets_vocabulary() {
        let mut draft = Draft::new(3);
        push(&mut draft, 0, &[2.0, 1.0]);
        push(&mut draft, 1, &[1.0, 2.0, 3.0, 4.0]);
        draft.push_one_hot(TokenId(2));
        let rows: Vec<_> = draft.proposals().collect();
        assert!(matches!(rows[0], Proposal::Logits(row) if row == [2.0, 1.0, f32::NEG_INFINITY]));
        assert!(matches!(rows[1], Proposal::Logits(row) if row == [1.0, 2.0, 3.0]));
        assert!(matches!(rows[2], Proposal::OneHot(TokenId(2))));
    }

    #[test]
    fn a_cleared_draft_does_not_show_old_rows() {
        let mut draft = Draft::new(2);
        push(&mut draft, 0, &[5.0, 6.0]);
        draft.clear();
        push(&mut draft, 1, &[7.0]);
        assert_eq!(draft.tokens(), [TokenId(1)]);
        let row = draft.proposals().next().expect("one position");
        assert!(matches!(row, Proposal::Logits(row) if row == [7.0, f32::NEG_INFINITY]));
    }
}
