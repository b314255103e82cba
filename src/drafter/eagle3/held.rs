//! Which pairs a head's cache holds, as numbers.

use crate::types::TokenId;

/// The pairs of a head's cache: those made of the target's features, and after them those made of
/// the head's own states.
///
/// The pair at position `P` has the features of `P` and the token after it, so that of a history of
/// `n` tokens there are `n - 1` pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// The pairs before this position are made of the target's features.
    pub grounded: usize,
    /// The tokens of the pairs from there on.
    pub drafted: Vec<TokenId>,
}

impl Held {
    /// The position after the last pair.
    pub(super) fn len(&self) -> usize {
        self.grounded + self.drafted.len()
    }

    /// Keeps of the pairs made of the target's features those before `position`, and no others.
    pub(super) fn cut(&mut self, position: usize) {
        self.grounded = self.grounded.min(position);
        self.drafted.clear();
    }

    /// Keeps the pairs whose tokens are among the first `len` of the history.
    pub(super) fn roll_back(&mut self, len: usize) {
        let pairs = len.saturating_sub(1);
        match pairs.checked_sub(self.grounded) {
            None => self.cut(pairs),
            Some(drafted) => self.drafted.truncate(drafted),
        }
    }

    /// How many of the drafted pairs still stand in `history`, of which the target has features of
    /// the first `seen` positions; not the last pair of it, whose logits are wanted again. `None`
    /// where they do not count, because the target has been where they are or `history` does not go
    /// on past it.
    pub(super) fn standing(&self, history: &[TokenId], seen: usize) -> Option<usize> {
        let end = history.len().checked_sub(1)?;
        if self.grounded != seen || seen >= end {
            return None;
        }
        let tokens = self.drafted.iter().zip(&history[seen + 1..]);
        let same = tokens.take_while(|(a, b)| a == b).count();
        Some(same.min(end - seen - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(ids: &[i32]) -> Vec<TokenId> {
        ids.iter().copied().map(TokenId).collect()
    }

    /// What is held of the text 0 1 2 3 4 of which the target has seen all but the last, after the
    /// draft 5 6.
    fn drafted() -> Held {
        Held {
            grounded: 4,
            drafted: tokens(&[5, 6]),
        }
    }

    #[test]
    fn a_rollback_keeps_the_pairs_whose_tokens_are_kept() {
        for (len, grounded, left) in [(9, 4, 2), (7, 4, 2), (6, 4, 1), (5, 4, 0), (4, 3, 0)] {
            let mut held = drafted();
            held.roll_back(len);
            assert_eq!(
                (held.grounded, held.drafted.len()),
                (grounded, left),
                "{len}"
            );
            assert_eq!(held.len(), grounded + left);
        }
        let mut held = drafted();
        held.roll_back(0);
        assert_eq!(held, Held::default());
    }

    #[test]
    fn what_was_drafted_stands_only_where_the_target_has_not_been() {
        let held = drafted();
        // The draft goes on: its pairs stand but for the last, whose logits are wanted.
        let standing = |ids: &[i32], seen: usize| held.standing(&tokens(ids), seen);
        assert_eq!(standing(&[0, 1, 2, 3, 4, 5, 6, 7], 4), Some(2));
        assert_eq!(standing(&[0, 1, 2, 3, 4, 5, 6], 4), Some(1));
        assert_eq!(standing(&[0, 1, 2, 3, 4, 9, 6], 4), Some(0));
        // The target has verified them, or the text goes on otherwise.
        assert_eq!(standing(&[0, 1, 2, 3, 4, 5, 6, 7], 7), None);
        assert_eq!(standing(&[0, 1, 2, 3, 4], 4), None);
        assert_eq!(standing(&[], 0), None);
    }
}
