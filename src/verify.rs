//! Which drafted tokens stand, and which token follows them: the rule that makes speculation
//! lossless (Leviathan et al. 2022, arXiv 2211.17192, §2.3).

use rand::{Rng, RngExt};

use crate::dist::Dist;
use crate::error::{Error, ErrorKind, Result};
use crate::types::TokenId;

mod candidates;

pub use candidates::{Candidate, CandidatesVerdict, verify_candidates};

/// What became of a drafted block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// How many of the drafted tokens stand, from the first one on.
    pub accepted: usize,
    /// The token that follows them: a replacement of the first rejected one, or one more.
    pub next: TokenId,
}

/// Decides on a drafted block so that the committed tokens, the accepted ones and
/// [`Verdict::next`], follow the target's distribution exactly, whatever the drafter's is.
///
/// `q[j]` is the distribution that `drafted[j]` was drawn from. `p(j)` gives the target's
/// distribution after `drafted[..j]`. It is called once for each position that is reached, in
/// order: for `j` in `0..=accepted` and for no other, so that the state behind it may advance with
/// the calls. With nothing drafted, `next` is simply drawn from `p(0)`.
///
/// Position by position, token `d` is accepted when `u · Q(d) < P(d)` for a uniform `u` in
/// `[0, 1)`; a token of `P(d) = 0` never is. The first rejected one is replaced by a draw from
/// `max(P − Q, 0)` renormalised; when that has vanished numerically, so that `P` and `Q` are equal
/// to within `f32::EPSILON`, by a draw from `P`. After the last accepted one, one more is drawn
/// from `P`.
///
/// The generator gives one number for each position tested and one for `next`, whatever the
/// distributions are: a one-hot `P` (greedy decoding) leaves no choice, but uses them up too.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] when `drafted` and `q` differ in length.
/// [`ErrorKind::InvalidDistribution`] when a drafted token has no probability under its `q`. Both
/// are found before `p` is called for the first time. Errors of `p` are passed on.
pub fn verify(
    drafted: &[TokenId],
    q: &[Dist],
    mut p: impl FnMut(usize) -> Result<Dist>,
    rng: &mut (impl Rng + ?Sized),
) -> Result<Verdict> {
    check_draft(drafted, q)?;
    for (position, (&token, q)) in drafted.iter().zip(q).enumerate() {
        let p = p(position)?;
        let u: f64 = rng.random();
        if u * f64::from(q.prob(token)) >= f64::from(p.prob(token)) {
            let residual = p.residual(q);
            let next = residual.as_ref().unwrap_or(&p).sample(rng.random());
            return Ok(Verdict {
                accepted: position,
                next,
            });
        }
    }
    let next = p(drafted.len())?.sample(rng.random());
    Ok(Verdict {
        accepted: drafted.len(),
        next,
    })
}

/// Checks that every drafted token has a distribution in which it has a probability.
fn check_draft(drafted: &[TokenId], q: &[Dist]) -> Result<()> {
    if drafted.len() != q.len() {
        return Err(Error::invalid(format!(
            "{} tokens were drafted with {} distributions",
            drafted.len(),
            q.len()
        )));
    }
    for (position, (&token, q)) in drafted.iter().zip(q).enumerate() {
        if q.prob(token) <= 0.0 {
            return Err(Error::new(
                ErrorKind::InvalidDistribution,
                format!(
                    "token {token}, drafted at position {position}, has the probability 0 in the \
                     drafter's own distribution"
                ),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;
    use rand::{SeedableRng, TryRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    pub(super) const VOCABULARY: usize = 5;

    /// A model whose next token depends on the last one alone: a row of weights for each.
    #[derive(Clone)]
    pub(super) struct Chain(Vec<Dist>);

    impl Chain {
        fn new(rows: [[f32; VOCABULARY]; VOCABULARY]) -> Self {
            let dist = |row: [f32; VOCABULARY]| Dist::dense(row.to_vec()).expect("positive mass");
            Self(rows.map(dist).to_vec())
        }

        pub(super) fn after(&self, token: TokenId) -> &Dist {
            &self.0[token.index()]
        }

        /// The same model, certain of its most probable token.
        pub(super) fn greedy(&self) -> Self {
            let certain = |dist: &Dist| {
                let tokens = (0..VOCABULARY).map(TokenId::from_index);
                let best = tokens.max_by(|&a, &b| dist.prob(a).total_cmp(&dist.prob(b)));
                Dist::one_hot(best.expect("a token"))
            };
            Self(self.0.iter().map(certain).collect())
        }

        /// A block of `n` tokens after `last`, and what each was drawn from.
        pub(super) fn draft(
            &self,
            n: usize,
            last: TokenId,
            rng: &mut ChaCha8Rng,
        ) -> (Vec<TokenId>, Vec<Dist>) {
            let (mut tokens, mut q) = (Vec::new(), Vec::new());
            for _ in 0..n {
                let dist = self.after(*tokens.last().unwrap_or(&last)).clone();
                tokens.push(dist.sample(rng.random()));
                q.push(dist);
            }
            (tokens, q)
        }
    }

    pub(super) fn soft() -> Chain {
        Chain::new([
            [0.10, 0.30, 0.25, 0.20, 0.15],
            [0.40, 0.05, 0.20, 0.25, 0.10],
            [0.22, 0.18, 0.30, 0.10, 0.20],
            [0.05, 0.45, 0.15, 0.15, 0.20],
            [0.28, 0.12, 0.20, 0.37, 0.03],
        ])
    }

    /// As after top-k or a grammar.
    pub(super) fn with_zeros() -> Chain {
        Chain::new([
            [0.0, 0.6, 0.4, 0.0, 0.0],
            [0.3, 0.0, 0.0, 0.0, 0.7],
            [0.0, 0.0, 1.0, 0.0, 0.0],
            [0.2, 0.2, 0.2, 0.2, 0.2],
            [0.9, 0.0, 0.0, 0.1, 0.0],
        ])
    }

    pub(super) fn skewed() -> Chain {
        Chain::new([
            [0.97, 0.01, 0.01, 0.005, 0.005],
            [0.01, 0.01, 0.01, 0.01, 0.96],
            [0.50, 0.49, 0.003, 0.003, 0.004],
            [0.02, 0.02, 0.90, 0.03, 0.03],
            [0.001, 0.30, 0.30, 0.30, 0.099],
        ])
    }

    pub(super) fn uniform() -> Chain {
        Chain::new([[0.2; VOCABULARY]; VOCABULARY])
    }

    /// One round after `last`, `drafter` sampled from; returns the verdict and what is committed.
    fn round(
        target: &Chain,
        drafter: &Chain,
        n: usize,
        last: TokenId,
        rng: &mut ChaCha8Rng,
    ) -> (Verdict, Vec<TokenId>) {
        let (drafted, q) = drafter.draft(n, last, rng);
        let before = |j: usize| j.checked_sub(1).map_or(last, |previous| drafted[previous]);
        let p = |j: usize| Ok(target.after(before(j)).clone());
        let verdict = verify(&drafted, &q, p, rng).expect("valid distributions");
        let mut committed = drafted[..verdict.accepted].to_vec();
        committed.push(verdict.next);
        (verdict, committed)
    }

    /// Pearson's statistic of `counts`, and its degrees of freedom. Cells too rare for it are put
    /// together.
    ///
    /// # Panics
    /// When something was counted that has no probability.
    pub(super) fn chi_square(counts: &[u64], probs: &[f64]) -> (f64, usize) {
        let n = counts.iter().sum::<u64>() as f64;
        let (mut statistic, mut cells) = (0.0, 0);
        let mut rare = (0.0, 0.0);
        let mut add = |count: f64, expected: f64| {
            statistic += (count - expected).powi(2) / expected;
            cells += 1;
        };
        for (cell, (&count, &prob)) in counts.iter().zip(probs).enumerate() {
            if prob == 0.0 {
                assert_eq!(count, 0, "cell {cell} has no probability");
            } else if n * prob < 5.0 {
                rare = (rare.0 + count as f64, rare.1 + n * prob);
            } else {
                add(count as f64, n * prob);
            }
        }
        if rare.1 > 0.0 {
            add(rare.0, rare.1);
        }
        (statistic, cells - 1)
    }

    /// What a chi-square variable exceeds with probability 0.001 (Wilson and Hilferty's cube).
    pub(super) fn critical(degrees: usize) -> f64 {
        let c = 2.0 / (9.0 * degrees as f64);
        degrees as f64 * (1.0 - c + 3.0902 * c.sqrt()).powi(3)
    }

    fn row(dist: &Dist) -> Vec<f64> {
        (0..VOCABULARY)
            .map(|i| f64::from(dist.prob(TokenId::from_index(i))))
            .collect()
    }

    /// The probability of every sequence of `length` tokens after `start`, the last token changing
    /// fastest.
    pub(super) fn joint(target: &Chain, start: TokenId, length: usize) -> Vec<f64> {
        let mut probs = vec![1.0];
        let mut lasts = vec![start];
        for _ in 0..length {
            probs = (probs.iter().zip(&lasts))
                .flat_map(|(p, &last)| row(target.after(last)).into_iter().map(move |r| p * r))
                .collect();
            lasts = (0..probs.len())
                .map(|i| TokenId::from_index(i % VOCABULARY))
                .collect();
        }
        probs
    }

    /// Makes many sequences of three tokens out of rounds, each given the token before it, and
    /// holds their frequencies against the target's joint law.
    pub(super) fn check_joint_law<T: IntoIterator<Item = TokenId>>(
        what: &str,
        target: &Chain,
        mut round: impl FnMut(TokenId) -> T,
    ) {
        const LENGTH: usize = 3;
        const SEQUENCES: usize = 100_000;
        let start = TokenId(3);
        let probs = joint(target, start, LENGTH);
        let mut counts = vec![0; probs.len()];
        for _ in 0..SEQUENCES {
            let mut sequence = Vec::new();
            while sequence.len() < LENGTH {
                sequence.extend(round(*sequence.last().unwrap_or(&start)));
            }
            let cell = sequence[..LENGTH]
                .iter()
                .fold(0, |cell, token| cell * VOCABULARY + token.index());
            counts[cell] += 1;
        }
        let (statistic, degrees) = chi_square(&counts, &probs);
        assert!(
            statistic < critical(degrees),
            "{what}: {statistic} of {degrees} degrees"
        );
    }

    #[test]
    fn a_million_rounds_commit_first_and_second_tokens_as_the_target_would() {
        let (target, drafter) = (soft(), skewed());
        let start = TokenId(2);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut first = [0; VOCABULARY];
        let mut second = [[0; VOCABULARY]; VOCABULARY];
        for _ in 0..1_000_000 {
            let (verdict, committed) = round(&target, &drafter, 3, start, &mut rng);
            first[committed[0].index()] += 1;
            // Whether the second token is there depends on the first one's fate alone, so that
            // given the first it still follows the target.
            if verdict.accepted > 0 {
                second[committed[0].index()][committed[1].index()] += 1;
            }
        }
        let (statistic, degrees) = chi_square(&first, &row(target.after(start)));
        assert!(statistic < critical(degrees), "first token: {statistic}");
        for (token, counts) in second.iter().enumerate() {
            let expected = row(target.after(TokenId::from_index(token)));
            let (statistic, degrees) = chi_square(counts, &expected);
            assert!(
                statistic < critical(degrees),
                "second after {token}: {statistic}"
            );
        }
    }

    #[test]
    fn sequences_made_in_rounds_have_the_joint_law_of_the_target() {
        let targets = [
            ("soft", soft()),
            ("zeros", with_zeros()),
            ("skewed", skewed()),
        ];
        let drafters = [
            ("sampled", soft()),
            ("sampled with zeros", with_zeros()),
            ("greedy", skewed().greedy()),
            ("uniform", uniform()),
        ];
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for ((target_name, target), (drafter_name, drafter)) in targets
            .iter()
            .flat_map(|target| drafters.iter().map(move |drafter| (target, drafter)))
        {
            check_joint_law(
                &format!("{target_name} target, {drafter_name} drafter"),
                target,
                |last| round(target, drafter, 2, last, &mut rng).1,
            );
        }
    }

    /// Gives the same number in `[0, 1)` each time, and counts how often.
    pub(super) struct Constant {
        pub(super) u: f64,
        pub(super) drawn: usize,
    }

    impl TryRng for Constant {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> std::result::Result<u32, Infallible> {
            unreachable!("numbers in double precision come from 64 bits")
        }

        fn try_next_u64(&mut self) -> std::result::Result<u64, Infallible> {
            self.drawn += 1;
            Ok(((self.u * (1_u64 << 53) as f64) as u64) << 11)
        }

        fn try_fill_bytes(&mut self, _: &mut [u8]) -> std::result::Result<(), Infallible> {
            unreachable!("numbers in double precision come from 64 bits")
        }
    }

    #[test]
    fn acceptance_is_strict() {
        let p = Dist::dense(vec![0.5, 0.5]).expect("positive mass");
        let q = [Dist::one_hot(TokenId(0))];
        for (u, accepted) in [(0.5, 0), (0.5 - f64::EPSILON / 2.0, 1)] {
            let rng = &mut Constant { u, drawn: 0 };
            let verdict = verify(&[TokenId(0)], &q, |_| Ok(p.clone()), rng).expect("valid");
            assert_eq!(verdict.accepted, accepted, "u = {u}");
        }
    }

    #[test]
    fn a_token_the_target_excludes_never_passes() {
        let p = Dist::sparse(vec![(TokenId(1), 1.0), (TokenId(3), 3.0)]).expect("positive mass");
        let q = [uniform().0[0].clone()];
        let rng = &mut Constant { u: 0.0, drawn: 0 };
        let verdict = verify(&[TokenId(2)], &q, |_| Ok(p.clone()), rng).expect("valid");
        // P(1) = 0.25 > Q(1) = 0.2: the first of the residual.
        let next = TokenId(1);
        assert_eq!(verdict, Verdict { accepted: 0, next });
    }

    #[test]
    fn the_replacement_comes_from_the_target_when_nothing_is_left_of_the_difference() {
        let known = [(TokenId(0), 0.3), (TokenId(1), 0.7)];
        let p = Dist::sparse(known.to_vec()).expect("positive mass");
        // A token that only the drafter knows, and so unlikely that of the two others only the second
        // changes, and in its last digit.
        let unknown = TokenId(2);
        let with_unknown = [&known[..], &[(unknown, 4.5e-8)]].concat();
        let q = [Dist::sparse(with_unknown).expect("positive mass")];
        for (u, next) in [(0.1, TokenId(0)), (0.9, TokenId(1))] {
            let rng = &mut Constant { u, drawn: 0 };
            let verdict = verify(&[unknown], &q, |_| Ok(p.clone()), rng).expect("valid");
            assert_eq!(verdict, Verdict { accepted: 0, next });
        }
    }

    #[test]
    fn nothing_drafted_is_one_token_of_the_target() {
        let rng = &mut Constant { u: 0.5, drawn: 0 };
        let p = |j: usize| Ok(Dist::one_hot(TokenId::from_index(j + 7)));
        let next = TokenId(7);
        let verdict = verify(&[], &[], p, rng).expect("valid");
        assert_eq!(verdict, Verdict { accepted: 0, next });
    }

    #[test]
    fn a_mistaken_draft_is_refused_before_the_target_is_asked() {
        let asked = |_| -> Result<Dist> { panic!("the target was asked") };
        let q = [Dist::one_hot(TokenId(1)), Dist::one_hot(TokenId(2))];
        let rng = &mut Constant { u: 0.5, drawn: 0 };

        let error = verify(&[TokenId(1)], &q, asked, rng).expect_err("too many distributions");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);

        let error = verify(&[TokenId(1), TokenId(1)], &q, asked, rng).expect_err("no probability");
        assert_eq!(error.kind(), ErrorKind::InvalidDistribution);
        assert!(error.to_string().contains("position 1"), "{error}");
    }

    #[test]
    fn a_failure_of_the_target_is_passed_on() {
        let q = [Dist::one_hot(TokenId(1))];
        let fail = |_| Err(Error::new(ErrorKind::Backend, "decoding failed"));
        let rng = &mut Constant { u: 0.5, drawn: 0 };
        let error = verify(&[TokenId(1)], &q, fail, rng).expect_err("the target failed");
        assert_eq!(error.kind(), ErrorKind::Backend);
    }

    proptest! {
        #[test]
        fn the_target_is_asked_once_for_each_position_reached(
            seed in any::<u64>(),
            n in 0_usize..8,
        ) {
            let (target, drafter) = (soft(), skewed());
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut seen = vec![TokenId(0)];
            let mut q = Vec::new();
            for j in 0..n {
                q.push(drafter.after(seen[j]).clone());
                seen.push(q[j].sample(rng.random()));
            }
            let mut asked = Vec::new();
            let p = |j: usize| {
                asked.push(j);
                Ok(target.after(seen[j]).clone())
            };
            let mut rng = Constant { u: rng.random(), drawn: 0 };
            let accepted = verify(&seen[1..], &q, p, &mut rng).expect("valid").accepted;
            prop_assert_eq!(asked, (0..=accepted).collect::<Vec<_>>());
            let tested = n.min(accepted + 1);
            prop_assert_eq!(rng.drawn, tested + 1);
        }

        #[test]
        fn a_greedy_target_commits_its_own_continuation(seed in any::<u64>(), n in 0_usize..8) {
            let target = skewed().greedy();
            for drafter in [soft(), with_zeros(), uniform(), soft().greedy(), skewed().greedy()] {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let mut last = TokenId(3);
                for token in round(&target, &drafter, n, last, &mut rng).1 {
                    prop_assert_eq!(target.after(last), &Dist::one_hot(token));
                    last = token;
                }
            }
        }

        #[test]
        fn a_drafter_equal_to_the_target_is_always_accepted(seed in any::<u64>(), n in 0_usize..8) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let (verdict, _) = round(&soft(), &soft(), n, TokenId(0), &mut rng);
            prop_assert_eq!(verdict.accepted, n);
        }
    }
}
