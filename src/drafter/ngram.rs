//! A drafter without a model: what followed the text's last words when they occurred before.

use std::time::Instant;

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::{Beliefs, Draft, DraftTimes, Drafter, DrafterKind};
use crate::error::{Error, Result};
use crate::llama::SamplerChain;
use crate::types::TokenId;

/// How many tokens a match must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NgramParams {
    /// The fewest tokens that must match for a proposal, at least 1.
    pub min_n: usize,
    /// The most tokens a match is compared over, at least `min_n`.
    pub max_n: usize,
}

impl Default for NgramParams {
    fn default() -> Self {
        Self { min_n: 2, max_n: 5 }
    }
}

impl NgramParams {
    /// Checks that 1 ≤ `min_n` ≤ `max_n`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument).
    pub fn validate(&self) -> Result<()> {
        if self.min_n == 0 || self.min_n > self.max_n {
            return Err(Error::invalid(format!(
                "min_n is {} and max_n {}; they must satisfy 1 <= min_n <= max_n",
                self.min_n, self.max_n
            )));
        }
        Ok(())
    }
}

/// Proposes, with certainty, what followed the longest earlier occurrence of the history's suffix
/// (the latest among equally long ones), in prompt and output alike.
#[derive(Clone, Debug)]
pub struct NgramDrafter {
    params: NgramParams,
}

impl NgramDrafter {
    /// A drafter of `params`.
    ///
    /// # Errors
    /// Those of [`NgramParams::validate`].
    pub fn new(params: NgramParams) -> Result<Self> {
        params.validate()?;
        Ok(Self { params })
    }
}

impl Drafter for NgramDrafter {
    fn kind(&self) -> DrafterKind {
        DrafterKind::Ngram
    }

    fn draft(
        &mut self,
        history: &[TokenId],
        max: usize,
        chain: &mut SamplerChain,
        _rng: &mut dyn Rng,
        draft: &mut Draft,
    ) -> Result<DraftTimes> {
        let started = Instant::now();
        if let Some(follows) = longest_match(history, self.params) {
            for position in follows..follows + max {
                // A match that overlaps the end goes on into the draft itself: a period repeats.
                let token = match position.checked_sub(history.len()) {
                    None => history[position],
                    Some(drafted) => draft.tokens()[drafted],
                };
                chain.accept(token);
                draft.push_one_hot(token);
            }
        }
        Ok(DraftTimes {
            draft: started.elapsed(),
            ..DraftTimes::default()
        })
    }

    fn believe(
        &mut self,
        history: &[TokenId],
        count: usize,
        beliefs: &mut Beliefs,
    ) -> Result<Option<DraftTimes>> {
        let started = Instant::now();
        for end in history.len() - count..history.len() {
            let follows = longest_match(&history[..end], self.params);
            beliefs.push_certain(follows.map(|position| history[position]));
        }
        Ok(Some(DraftTimes {
            draft: started.elapsed(),
            ..DraftTimes::default()
        }))
    }

    fn rollback(&mut self, _len: usize) -> Result<()> {
        Ok(())
    }
}

/// The position after the best earlier occurrence of the history's suffix.
fn longest_match(history: &[TokenId], params: NgramParams) -> Option<usize> {
    let mut best = None;
    let mut best_length = params.min_n.checked_sub(1)?;
    // `end` is the position after a candidate; the suffix itself ends at history.len().
    for end in (1..history.len()).rev() {
        let length = history[..end]
            .iter()
            .rev()
            .zip(history.iter().rev())
            .take(params.max_n)
            .take_while(|(a, b)| a == b)
            .count();
        if length > best_length {
            best_length = length;
            best = Some(end);
            if length == params.max_n {
                break;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(ids: &[i32]) -> Vec<TokenId> {
        ids.iter().copied().map(TokenId).collect()
    }

    fn find(ids: &[i32], min_n: usize, max_n: usize) -> Option<usize> {
        longest_match(&tokens(ids), NgramParams { min_n, max_n })
    }

    #[test]
    fn the_longest_earlier_match_wins_over_a_later_shorter_one() {
        //              [1 2 3] 9      2 3 8       1 2 3
        assert_eq!(find(&[1, 2, 3, 9, 2, 3, 8, 1, 2, 3], 2, 5), Some(3));
    }

    #[test]
    fn among_equally_long_matches_the_latest_wins() {
        assert_eq!(find(&[1, 2, 7, 1, 2, 8, 1, 2], 2, 5), Some(5));
    }

    #[test]
    fn fewer_than_min_n_tokens_are_no_match() {
        assert_eq!(find(&[1, 5, 1], 2, 5), None);
        assert_eq!(find(&[1, 5, 1], 1, 5), Some(1));
        assert_eq!(find(&[], 1, 5), None);
    }

    #[test]
    fn a_periodic_text_is_continued_past_the_end_of_the_history() {
        let history = tokens(&[4, 5, 4, 5]);
        let mut chain = SamplerChain::new(&crate::llama::SamplingParams::default(), 8)
            .expect("valid parameters");
        let mut draft = Draft::new(8);
        let mut drafter = NgramDrafter::new(NgramParams::default()).expect("valid parameters");
        let mut rng = <rand_chacha::ChaCha8Rng as rand::SeedableRng>::seed_from_u64(0);
        drafter
            .draft(&history, 5, &mut chain, &mut rng, &mut draft)
            .expect("it cannot fail");
        assert_eq!(draft.tokens(), tokens(&[4, 5, 4, 5, 4]));
    }

    #[test]
    fn min_n_of_zero_and_min_n_above_max_n_are_refused() {
        for (min_n, max_n) in [(0, 3), (4, 3)] {
            let error = NgramDrafter::new(NgramParams { min_n, max_n }).expect_err("invalid");
            assert!(error.to_string().contains("min_n"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn a_match_repeats_the_suffix_and_no_longer_one_exists(
            ids in prop::collection::vec(0..3i32, 0..40), min_n in 1usize..4, extra in 0usize..4,
        ) {
            let params = NgramParams { min_n, max_n: min_n + extra };
            let history = tokens(&ids);
            let common = |end: usize| (0..end.min(params.max_n))
                .take_while(|&i| history[end - 1 - i] == history[history.len() - 1 - i])
                .count();
            let longest = (1..history.len()).map(common).max().unwrap_or(0);
            match longest_match(&history, params) {
                Some(end) => prop_assert_eq!(common(end), longest),
                None => prop_assert!(longest < min_n),
            }
        }
    }
}
