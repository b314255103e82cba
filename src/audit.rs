//! Whether speculation left a text as it is: greedy decoding with a policy against greedy decoding
//! without one, token for token.
//!
//! Both take the most probable token everywhere, so the texts are equal unless two tokens are so
//! close that the rounding of a batch of several tokens, which is not that of a batch of one,
//! decides between them. Such a difference is *explained*; any other is a fault.

use std::sync::atomic::AtomicBool;

use serde::Serialize;

use crate::bandit::{PolicyParams, PolicySpec};
use crate::dist;
use crate::error::{Error, ErrorKind, Result};
use crate::session::{GenerateParams, Generation, Session, StopReason};
use crate::types::TokenId;

/// The gap between two logits below which rounding may decide, unless asked otherwise.
pub const DEFAULT_MAX_GAP: f32 = 1e-2;

/// How a text with speculation relates to the text without.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The same tokens.
    Identical,
    /// They part where the target's logits for both continuations are within the gap of its best.
    Explained(Difference),
    /// They part elsewhere: the text is not the target's.
    Unexplained(Difference),
}

impl Verdict {
    /// Where the texts part, if they do.
    pub fn difference(&self) -> Option<Difference> {
        match self {
            Self::Identical => None,
            Self::Explained(difference) | Self::Unexplained(difference) => Some(*difference),
        }
    }

    /// One word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Identical => "identical",
            Self::Explained(_) => "explained",
            Self::Unexplained(_) => "unexplained",
        }
    }
}

/// The first place at which two texts part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Generated tokens before it.
    pub position: usize,
    /// The token without speculation; `None` where that text had ended.
    pub expected: Option<TokenId>,
    /// The token with speculation; `None` where that text had ended.
    pub found: Option<TokenId>,
    /// How far the lower one's logit lies below the target's best there; infinite where a text
    /// had ended.
    pub gap: f32,
}

/// One prompt under one policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The comparison.
    pub verdict: Verdict,
    /// Tokens generated.
    pub tokens: usize,
    /// Generated tokens per second.
    pub tokens_per_second: f64,
    /// Tokens committed a round.
    pub mean_acceptance_length: f64,
}

/// Counts over many outcomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Tally {
    /// Outcomes.
    pub runs: usize,
    /// Those that are [`Verdict::Identical`].
    pub identical: usize,
    /// Those that are [`Verdict::Explained`].
    pub explained: usize,
    /// Those that are [`Verdict::Unexplained`].
    pub unexplained: usize,
    /// The largest gap among the explained; 0 when there are none.
    pub largest_gap: f32,
}

impl Tally {
    /// Counts one more.
    pub fn add(&mut self, verdict: &Verdict) {
        self.runs += 1;
        match verdict {
            Verdict::Identical => self.identical += 1,
            Verdict::Explained(difference) => {
                self.explained += 1;
                self.largest_gap = self.largest_gap.max(difference.gap);
            }
            Verdict::Unexplained(_) => self.unexplained += 1,
        }
    }
}

/// What the target alone says after `prompt`: at most `max_tokens`, greedily.
///
/// # Errors
/// Those of [`Session::generate`]; the target's failure on the way; [`ErrorKind::Cancelled`].
pub fn reference(
    session: &mut Session,
    prompt: &[TokenId],
    max_tokens: usize,
    cancel: &AtomicBool,
) -> Result<Vec<TokenId>> {
    session.set_policy(PolicySpec::Off, PolicyParams::default())?;
    Ok(generate(session, prompt, max_tokens, cancel)?.tokens)
}

/// Generates after `prompt` with `policy`, at most `max_tokens` greedily, and compares with
/// `reference`, which plain decoding of the same prompt and budget gave. A difference is explained
/// below `max_gap`.
///
/// # Errors
/// Those of [`reference()`] and [`Session::set_policy`].
pub fn compare(
    session: &mut Session,
    prompt: &[TokenId],
    reference: &[TokenId],
    policy: (PolicySpec, PolicyParams),
    (max_tokens, max_gap): (usize, f32),
    cancel: &AtomicBool,
) -> Result<Outcome> {
    session.set_policy(policy.0, policy.1)?;
    let generation = generate(session, prompt, max_tokens, cancel)?;
    let verdict = judge(session, prompt, reference, &generation.tokens, max_gap)?;
    Ok(Outcome {
        verdict,
        tokens: generation.tokens.len(),
        tokens_per_second: generation.timings.predicted_per_second,
        mean_acceptance_length: generation.mean_acceptance_length(),
    })
}

/// How `found`, a greedy text after `prompt`, relates to `reference`, which plain decoding gave. A
/// difference is explained below `max_gap`.
///
/// # Errors
/// When the target fails where the texts part.
pub fn judge(
    session: &mut Session,
    prompt: &[TokenId],
    reference: &[TokenId],
    found: &[TokenId],
    max_gap: f32,
) -> Result<Verdict> {
    let Some(position) = first_difference(reference, found) else {
        return Ok(Verdict::Identical);
    };
    let mut text = prompt.to_vec();
    text.extend_from_slice(&reference[..position]);
    let logits = session.logits_after(&text)?;
    let expected = reference.get(position).copied();
    let found = found.get(position).copied();
    let difference = Difference {
        position,
        expected,
        found,
        gap: gap(&logits, expected, found)?,
    };
    Ok(if difference.gap < max_gap {
        Verdict::Explained(difference)
    } else {
        Verdict::Unexplained(difference)
    })
}

fn generate(
    session: &mut Session,
    prompt: &[TokenId],
    max_tokens: usize,
    cancel: &AtomicBool,
) -> Result<Generation> {
    let params = GenerateParams {
        max_tokens: Some(max_tokens),
        ..GenerateParams::default()
    };
    let mut generation = session.generate(prompt, &params, cancel, &mut |_| {})?;
    if let Some(error) = generation.error.take() {
        return Err(error);
    }
    if generation.stop_reason == StopReason::Cancelled {
        return Err(Error::new(ErrorKind::Cancelled, "the audit was stopped"));
    }
    Ok(generation)
}

/// The first position at which `a` and `b` differ, the end of one of them included.
fn first_difference(a: &[TokenId], b: &[TokenId]) -> Option<usize> {
    if a == b {
        return None;
    }
    Some(a.iter().zip(b).take_while(|(a, b)| a == b).count())
}

/// How far the lower of two tokens lies below the best of `logits`.
fn gap(logits: &[f32], a: Option<TokenId>, b: Option<TokenId>) -> Result<f32> {
    let best = logits[dist::argmax(logits)?.index()];
    let below = |token: Option<TokenId>| {
        let logit = token.and_then(|token| logits.get(token.index()));
        logit.map_or(f32::INFINITY, |logit| best - logit)
    };
    Ok(below(a).max(below(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(ids: &[i32]) -> Vec<TokenId> {
        ids.iter().copied().map(TokenId).collect()
    }

    #[test]
    fn texts_part_at_the_first_token_that_differs_or_where_one_ends() {
        let text = tokens(&[1, 2, 3]);
        assert_eq!(first_difference(&text, &text), None);
        assert_eq!(first_difference(&text, &tokens(&[1, 9, 3])), Some(1));
        assert_eq!(first_difference(&text, &text[..2]), Some(2));
        assert_eq!(first_difference(&text[..0], &text), Some(0));
    }

    #[test]
    fn the_gap_is_that_of_the_lower_token_to_the_best() {
        let logits = [0.5, 3.0, 2.5, -1.0];
        let gap = |a: Option<i32>, b: Option<i32>| {
            super::gap(&logits, a.map(TokenId), b.map(TokenId)).expect("finite logits")
        };
        assert_eq!(gap(Some(1), Some(2)), 0.5);
        assert_eq!(gap(Some(2), Some(0)), 2.5);
        assert_eq!(gap(Some(1), None), f32::INFINITY);
    }

    #[test]
    fn a_tally_keeps_the_largest_gap_of_the_explained_alone() {
        let difference = |gap| Difference {
            position: 0,
            expected: None,
            found: None,
            gap,
        };
        let mut tally = Tally::default();
        for verdict in [
            Verdict::Identical,
            Verdict::Explained(difference(0.004)),
            Verdict::Explained(difference(0.002)),
            Verdict::Unexplained(difference(2.0)),
        ] {
            tally.add(&verdict);
        }
        let expected = Tally {
            runs: 4,
            identical: 1,
            explained: 2,
            unexplained: 1,
            largest_gap: 0.004,
        };
        assert_eq!(tally, expected);
    }
}
