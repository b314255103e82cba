//! Several drafted blocks for the same place, of which the text follows at most one: recursive
//! rejection over the candidates, position by position (SpecInfer, Miao et al. 2023,
//! arXiv 2305.09781, §4.3; multi-candidate speculative sampling, Yang et al. 2024,
//! arXiv 2401.06706).

use rand::{Rng, RngExt};

use super::check_draft;
use crate::dist::Dist;
use crate::error::Result;
use crate::types::TokenId;

/// One of several drafted blocks.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The drafted tokens.
    pub tokens: &'a [TokenId],
    /// The distribution each of them was drawn from, independently of the other candidates.
    pub q: &'a [Dist],
}

/// What became of several drafted blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CandidatesVerdict {
    /// The candidate whose first [`Self::accepted`] tokens stand: the one whose token was accepted
    /// last. `None` when none was.
    pub candidate: Option<usize>,
    /// How many of its tokens stand, from the first one on.
    pub accepted: usize,
    /// The token that follows them.
    pub next: TokenId,
}

/// Decides on several drafted blocks for the same place so that the committed tokens, the accepted
/// ones and [`CandidatesVerdict::next`], follow the target's distribution exactly, whatever the
/// drafters' are. With one candidate it is [`verify`](super::verify()).
///
/// `p(candidate, position)` gives the target's distribution after the first `position` tokens of a
/// candidate that goes along with everything accepted so far. It is called once for each position
/// that is reached, in order: for `0..=accepted` and for no other, so that the state behind it may
/// advance with the calls.
///
/// At a position, the candidates whose tokens before it are the accepted ones are tested in their
/// order against what is left of `P`, at first all of it: `d` drawn from `Q` is accepted when
/// `u · Q(d) < P(d)` for a uniform `u` in `[0, 1)`; else `P` becomes `max(P − Q, 0)` renormalised
/// for the next candidate, or stays as it is where that has vanished numerically. The first
/// accepted token is followed, with all candidates that have it there; where none is, `next` is
/// drawn from what is left.
///
/// It is exact because at every position the tokens of the candidates that are still followed are
/// independent draws, and because a rejected token has no probability in what is left, so that a
/// second candidate with the same token is rejected too.
///
/// The generator gives one number for each token tested and one for `next`.
///
/// # Errors
/// Those of [`verify`](super::verify()), found for every candidate before `p` is called for the
/// first time. Errors of `p` are passed on.
pub fn verify_candidates(
    candidates: &[Candidate<'_>],
    mut p: impl FnMut(usize, usize) -> Result<Dist>,
    rng: &mut (impl Rng + ?Sized),
) -> Result<CandidatesVerdict> {
    for (index, candidate) in candidates.iter().enumerate() {
        check_draft(candidate.tokens, candidate.q)
            .map_err(|error| error.context(format_args!("candidate {index}")))?;
    }
    let mut followed: Vec<usize> = (0..candidates.len()).collect();
    let mut last = None;
    let mut position = 0;
    loop {
        let mut left = p(last.unwrap_or(0), position)?;
        let accepted = followed.iter().copied().find_map(|index| {
            let Candidate { tokens, q } = candidates[index];
            let (&token, q) = tokens.get(position).zip(q.get(position))?;
            let u: f64 = rng.random();
            if u * f64::from(q.prob(token)) < f64::from(left.prob(token)) {
                return Some((index, token));
            }
            if let Some(rest) = left.residual(q) {
                left = rest;
            }
            None
        });
        let Some((index, token)) = accepted else {
            return Ok(CandidatesVerdict {
                candidate: last,
                accepted: position,
                next: left.sample(rng.random()),
            });
        };
        followed.retain(|&other| candidates[other].tokens.get(position) == Some(&token));
        last = Some(index);
        position += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::tests::{
        Chain, Constant, check_joint_law, skewed, soft, uniform, with_zeros,
    };
    use super::*;
    use crate::error::{Error, ErrorKind};
    use crate::verify::{Verdict, verify};

    /// Blocks of `n` tokens after `last`, one from each of `drafters`.
    fn draft(
        drafters: &[Chain],
        n: usize,
        last: TokenId,
        rng: &mut ChaCha8Rng,
    ) -> Vec<(Vec<TokenId>, Vec<Dist>)> {
        drafters
            .iter()
            .map(|drafter| drafter.draft(n, last, rng))
            .collect()
    }

    fn candidates(blocks: &[(Vec<TokenId>, Vec<Dist>)]) -> Vec<Candidate<'_>> {
        blocks
            .iter()
            .map(|(tokens, q)| Candidate { tokens, q })
            .collect()
    }

    /// The target's distribution after `last` and the first tokens of a candidate.
    fn after(
        target: &Chain,
        last: TokenId,
        blocks: &[(Vec<TokenId>, Vec<Dist>)],
        (candidate, position): (usize, usize),
    ) -> Dist {
        let previous = position.checked_sub(1);
        let previous = previous.map_or(last, |previous| blocks[candidate].0[previous]);
        target.after(previous).clone()
    }

    /// One round after `last`; returns the verdict and what is committed.
    fn round(
        target: &Chain,
        drafters: &[Chain],
        n: usize,
        last: TokenId,
        rng: &mut ChaCha8Rng,
    ) -> (CandidatesVerdict, Vec<TokenId>) {
        let blocks = draft(drafters, n, last, rng);
        let p = |candidate, position| Ok(after(target, last, &blocks, (candidate, position)));
        let verdict = verify_candidates(&candidates(&blocks), p, rng).expect("valid");
        let mut committed = match verdict.candidate {
            Some(candidate) => blocks[candidate].0[..verdict.accepted].to_vec(),
            None => Vec::new(),
        };
        assert_eq!(committed.len(), verdict.accepted);
        committed.push(verdict.next);
        (verdict, committed)
    }

    /// Sets of drafters: overlapping, equal, certain, and certain of the same.
    fn sets() -> Vec<(&'static str, Vec<Chain>)> {
        vec![
            ("none", vec![]),
            ("one", vec![skewed()]),
            ("two that differ", vec![skewed(), uniform()]),
            ("two of the target's law", vec![soft(), soft()]),
            ("three alike", vec![uniform(), uniform(), uniform()]),
            ("some with zeros", vec![with_zeros(), soft(), with_zeros()]),
            ("certain ones", vec![skewed().greedy(), soft().greedy()]),
            (
                "certain of the same",
                vec![skewed().greedy(), skewed().greedy(), uniform()],
            ),
            (
                "all kinds",
                vec![uniform(), skewed().greedy(), with_zeros(), soft(), skewed()],
            ),
        ]
    }

    #[test]
    fn sequences_made_in_rounds_have_the_joint_law_of_the_target() {
        let targets = [
            ("soft", soft()),
            ("zeros", with_zeros()),
            ("skewed", skewed()),
        ];
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for (target_name, target) in &targets {
            for (set_name, drafters) in sets() {
                check_joint_law(
                    &format!("{target_name} target, {set_name}"),
                    target,
                    |last| round(target, &drafters, 2, last, &mut rng).1,
                );
            }
        }
    }

    #[test]
    fn each_further_candidate_raises_the_share_of_accepted_tokens() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut accepted = |count: usize| {
            let drafters = vec![uniform(); count];
            let rounds = 20_000;
            let sum: usize = (0..rounds)
                .map(|_| round(&skewed(), &drafters, 2, TokenId(0), &mut rng))
                .map(|(verdict, _)| verdict.accepted)
                .sum();
            sum as f64 / rounds as f64
        };
        let lengths = [1, 2, 4, 8].map(&mut accepted);
        assert!(
            lengths.is_sorted_by(|fewer, more| *more > fewer + 0.05),
            "{lengths:?}"
        );
    }

    #[test]
    fn a_token_that_was_rejected_is_not_accepted_from_another_candidate() {
        let p = Dist::dense(vec![0.25, 0.75]).expect("positive mass");
        let certain = (vec![TokenId(0)], vec![Dist::one_hot(TokenId(0))]);
        let blocks = [certain.clone(), certain.clone(), certain];
        let rng = &mut Constant { u: 0.25, drawn: 0 };
        let verdict = verify_candidates(&candidates(&blocks), |_, _| Ok(p.clone()), rng);
        let expected = CandidatesVerdict {
            candidate: None,
            accepted: 0,
            next: TokenId(1),
        };
        assert_eq!(verdict.expect("valid"), expected);
        assert_eq!(rng.drawn, 4);
    }

    #[test]
    fn a_later_candidate_is_tested_against_what_the_rejected_ones_left() {
        let p = Dist::dense(vec![0.5, 0.3, 0.2]).expect("positive mass");
        let block = |token: i32, weights: [f32; 3]| {
            let q = Dist::dense(weights.to_vec()).expect("positive mass");
            (vec![TokenId(token)], vec![q])
        };
        // At u = 0.5 the first is rejected: 0.5 · 0.9 ≥ 0.3. Of what is left, (0.45, 0, 0.15) / 0.6,
        // the second's token has 0.25: 0.5 · 0.45 is below that, though not below 0.2.
        let blocks = [block(1, [0.05, 0.9, 0.05]), block(2, [0.3, 0.25, 0.45])];
        let rng = &mut Constant { u: 0.5, drawn: 0 };
        let verdict = verify_candidates(&candidates(&blocks), |_, _| Ok(p.clone()), rng);
        let verdict = verdict.expect("valid");
        assert_eq!((verdict.candidate, verdict.accepted), (Some(1), 1));
    }

    #[test]
    fn a_mistaken_candidate_is_named_before_the_target_is_asked() {
        let asked = |_, _| -> Result<Dist> { panic!("the target was asked") };
        let blocks = [
            (vec![TokenId(1)], vec![Dist::one_hot(TokenId(1))]),
            (vec![TokenId(1)], vec![Dist::one_hot(TokenId(2))]),
        ];
        let rng = &mut Constant { u: 0.5, drawn: 0 };
        let error =
            verify_candidates(&candidates(&blocks), asked, rng).expect_err("no probability");
        assert_eq!(error.kind(), ErrorKind::InvalidDistribution);
        assert!(error.to_string().starts_with("candidate 1: "), "{error}");
        let fail = |_, _| Err(Error::new(ErrorKind::Backend, "decoding failed"));
        let error = verify_candidates(&candidates(&blocks[..1]), fail, rng).expect_err("it failed");
        assert_eq!(error.kind(), ErrorKind::Backend);
    }

    proptest! {
        #[test]
        fn a_single_candidate_is_verified_as_a_draft_is(seed in any::<u64>(), n in 0_usize..6) {
            let start = TokenId(2);
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let blocks = draft(&[skewed()], n, start, &mut rng);
            let (tokens, q) = &blocks[0];
            let target = soft();
            let p = |position| Ok(after(&target, start, &blocks, (0, position)));
            let alone = verify(tokens, q, p, &mut rng.clone()).expect("valid");
            let p = |candidate, position| Ok(after(&target, start, &blocks, (candidate, position)));
            let among = verify_candidates(&candidates(&blocks), p, &mut rng).expect("valid");
            let Verdict { accepted, next } = alone;
            let candidate = (accepted > 0).then_some(0);
            prop_assert_eq!(among, CandidatesVerdict { candidate, accepted, next });
        }

        #[test]
        fn a_greedy_target_follows_the_candidate_that_agrees_longest(
            seed in any::<u64>(),
            n in 0_usize..6,
        ) {
            let target = skewed().greedy();
            let start = TokenId(3);
            for (_, drafters) in sets() {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let blocks = draft(&drafters, n, start, &mut rng);
                let agreed = |tokens: &[TokenId]| {
                    let mut last = start;
                    tokens
                        .iter()
                        .take_while(|&&token| {
                            let right = target.after(last) == &Dist::one_hot(token);
                            last = token;
                            right
                        })
                        .count()
                };
                let longest = blocks.iter().map(|(tokens, _)| agreed(tokens)).max();
                let (verdict, committed) = {
                    let mut rng = ChaCha8Rng::seed_from_u64(seed);
                    round(&target, &drafters, n, start, &mut rng)
                };
                prop_assert_eq!(verdict.accepted, longest.unwrap_or(0));
                prop_assert_eq!(agreed(&committed), committed.len());
            }
        }

        #[test]
        fn the_target_is_asked_once_for_each_position_reached_and_along_the_text(
            seed in any::<u64>(),
            n in 0_usize..6,
        ) {
            let start = TokenId(0);
            let target = soft();
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let blocks = draft(&[skewed(), uniform(), uniform()], n, start, &mut rng);
            let mut asked = Vec::new();
            let p = |candidate: usize, position: usize| {
                asked.push(blocks[candidate].0[..position].to_vec());
                Ok(after(&target, start, &blocks, (candidate, position)))
            };
            let verdict = verify_candidates(&candidates(&blocks), p, &mut rng).expect("valid");
            let path = verdict.candidate.map_or(&[][..], |candidate| &blocks[candidate].0);
            let expected: Vec<_> = (0..=verdict.accepted)
                .map(|position| path[..position].to_vec())
                .collect();
            prop_assert_eq!(asked, expected);
        }
    }
}
