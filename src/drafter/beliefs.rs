//! What a drafter believes about a text that it need not have drafted.

use crate::align::Proposal;
use crate::types::TokenId;

/// A drafter's beliefs at consecutive positions of a text, before the sampler chain.
///
/// Reused from round to round, since its rows are large (vocabulary × positions).
#[derive(Debug)]
pub struct Beliefs {
    n_vocab: usize,
    positions: Vec<Belief>,
    /// Raw logits of the positions that have them, one vocabulary after another.
    rows: Vec<f32>,
    used_rows: usize,
}

#[derive(Clone, Copy, Debug)]
enum Belief {
    Row(usize),
    OneHot(TokenId),
    Nothing,
}

impl Beliefs {
    /// No beliefs yet, over a vocabulary of `n_vocab` tokens.
    pub fn new(n_vocab: usize) -> Self {
        Self {
            n_vocab,
            positions: Vec::new(),
            rows: Vec::new(),
            used_rows: 0,
        }
    }

    /// Drops all positions and keeps the memory.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.used_rows = 0;
    }

    /// Appends a position with the drafter's raw logits, taken in the target's vocabulary: cut
    /// where they are longer, −∞ where they end.
    pub fn push_logits(&mut self, logits: &[f32]) {
        let start = self.used_rows * self.n_vocab;
        let end = start + self.n_vocab;
        if self.rows.len() < end {
            self.rows.resize(end, f32::NEG_INFINITY);
        }
        fit_row(&mut self.rows[start..end], logits);
        self.positions.push(Belief::Row(self.used_rows));
        self.used_rows += 1;
    }

    /// Appends a position at which the drafter is certain of `token`, or has nothing to say.
    pub fn push_certain(&mut self, token: Option<TokenId>) {
        self.positions
            .push(token.map_or(Belief::Nothing, Belief::OneHot));
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there is no position.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The belief at each position, `None` where the drafter has nothing to say.
    pub fn proposals(&self) -> impl ExactSizeIterator<Item = Option<Proposal<'_>>> {
        self.positions.iter().map(|belief| match *belief {
            Belief::Row(row) => Some(Proposal::Logits(
                &self.rows[row * self.n_vocab..][..self.n_vocab],
            )),
            Belief::OneHot(token) => Some(Proposal::OneHot(token)),
            Belief::Nothing => None,
        })
    }
}

/// Copies a drafter's row of logits into one of the target's vocabulary. Where the two differ by
/// padding, what the drafter lacks counts as −∞ and what it has too much is left out.
pub(super) fn fit_row(row: &mut [f32], logits: &[f32]) {
    let common = logits.len().min(row.len());
    row[..common].copy_from_slice(&logits[..common]);
    row[common..].fill(f32::NEG_INFINITY);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_keep_their_order_and_rows_the_targets_vocabulary() {
        let mut beliefs = Beliefs::new(3);
        beliefs.push_logits(&[2.0, 1.0]);
        beliefs.push_certain(Some(TokenId(2)));
        beliefs.push_certain(None);
        beliefs.push_logits(&[1.0, 2.0, 3.0, 4.0]);
        let all: Vec<_> = beliefs.proposals().collect();
        assert!(
            matches!(all[0], Some(Proposal::Logits(row)) if row == [2.0, 1.0, f32::NEG_INFINITY])
        );
        assert!(matches!(all[1], Some(Proposal::OneHot(TokenId(2)))));
        assert!(all[2].is_none());
        assert!(matches!(all[3], Some(Proposal::Logits(row)) if row == [1.0, 2.0, 3.0]));
    }

    #[test]
    fn what_was_cleared_does_not_show() {
        let mut beliefs = Beliefs::new(2);
        beliefs.push_logits(&[5.0, 6.0]);
        beliefs.clear();
        assert!(beliefs.is_empty());
        beliefs.push_logits(&[7.0]);
        assert_eq!(beliefs.len(), 1);
        let first = beliefs.proposals().next().expect("one position");
        assert!(matches!(first, Some(Proposal::Logits(row)) if row == [7.0, f32::NEG_INFINITY]));
    }
}
