//! How well a drafter agreed with the target over a drafted block: the reward of the bandit.
//!
//! Both rewards are functions of one round alone. *Block divergence* compares whole distributions
//! and is therefore the less noisy one; *block efficiency* counts what was accepted. Block
//! divergence is the name and definition of MetaSD (arXiv 2604.05417).

use crate::dist::{self, BLOCK, Scales};
use crate::error::{Error, ErrorKind, Result};
use crate::types::TokenId;

/// What a drafter believed at one drafted position.
#[derive(Clone, Copy, Debug)]
pub enum Proposal<'a> {
    /// Raw logits over the target's full vocabulary.
    Logits(&'a [f32]),
    /// Certainty of one token, as of an n-gram table.
    OneHot(TokenId),
}

/// How well the drafter of one round agreed with the target.
#[derive(Clone, PartialEq, Debug)]
pub struct Alignment {
    /// The total variation distance at each drafted position, in `[0, 1]`.
    pub tv: Vec<f32>,
    /// Block divergence: the mean of `1 − tv` over the drafted positions, in `[0, 1]`; the higher,
    /// the closer.
    pub bd: f64,
    /// Block efficiency: accepted over drafted tokens, in `[0, 1]`.
    pub be: f64,
}

/// Computes alignments; holds the buffers for it, so that a round allocates next to nothing.
#[derive(Debug)]
pub struct Aligner {
    inverse_temperature: f32,
    target: Row,
    drafter: Row,
    /// The target's rows of [`Self::hold`]; those past `held` are memory of earlier ones.
    rows: Vec<Row>,
    held: usize,
}

impl Aligner {
    /// An aligner that compares the distributions at `reward_temperature`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] when the temperature is not a finite positive number.
    pub fn new(reward_temperature: f32) -> Result<Self> {
        Ok(Self {
            inverse_temperature: dist::inverse_temperature(reward_temperature)
                .map_err(|error| error.context("reward temperature"))?,
            target: Row::default(),
            drafter: Row::default(),
            rows: Vec::new(),
            held: 0,
        })
    }

    /// The total variation distance `½ Σ_x |p(x) − q(x)|` between the target's distribution, given
    /// by its raw logits over the full vocabulary, and the drafter's. It is within 1e-5 of the
    /// exact one; for a one-hot drafter it is `1 − p(d)`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidDistribution`] when a logit is NaN or +∞ or none is above −∞ (the
    /// message says whose); [`ErrorKind::VocabularyMismatch`] when the rows differ in length or
    /// the drafter's token is not in the target's row.
    pub fn tv(&mut self, target: &[f32], drafter: Proposal<'_>) -> Result<f32> {
        let of_target = |error: Error| error.context("the target's logits");
        match drafter {
            Proposal::Logits(drafter) => {
                if drafter.len() != target.len() {
                    return Err(lengths_differ(drafter.len(), target.len()));
                }
                (self.target.fill(target, self.inverse_temperature)).map_err(of_target)?;
                (self.drafter.fill(drafter, self.inverse_temperature))
                    .map_err(|error| error.context("the drafter's logits"))?;
                Ok(self.target.total_variation(&self.drafter))
            }
            Proposal::OneHot(token) => {
                let index = usize::try_from(token.0).ok();
                let Some(&logit) = index.and_then(|index| target.get(index)) else {
                    return Err(no_such_token(token, target.len()));
                };
                let p = self
                    .target
                    .prob(target, logit, self.inverse_temperature)
                    .map_err(of_target)?;
                Ok(dist::half_distance(2.0 * (1.0 - p)))
            }
        }
    }

    /// The alignment of one drafted block.
    ///
    /// `rows` holds, for each drafted position in order, the target's raw logits *before* the
    /// drafted token and what the drafter believed there: every position, those after a rejection
    /// too, as both models saw the same drafted prefix. `accepted` is how many of the drafted
    /// tokens the target accepted.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] when there are no rows or fewer than `accepted`; those of
    /// [`Self::tv`], with the position put before the message.
    pub fn block<'a>(
        &mut self,
        rows: impl IntoIterator<Item = (&'a [f32], Proposal<'a>)>,
        accepted: usize,
    ) -> Result<Alignment> {
        let tv = rows
            .into_iter()
            .enumerate()
            .map(|(position, (target, drafter))| {
                self.tv(target, drafter)
                    .map_err(|error| error.context(format_args!("drafted position {position}")))
            })
            .collect::<Result<Vec<f32>>>()?;
        let drafted = tv.len();
        if drafted == 0 {
            return Err(Error::invalid(
                "a block of no drafted tokens has no alignment",
            ));
        }
        if accepted > drafted {
            return Err(Error::invalid(format!(
                "{accepted} tokens cannot be accepted of {drafted} drafted"
            )));
        }
        let agreement: f64 = tv.iter().map(|&tv| 1.0 - f64::from(tv)).sum();
        Ok(Alignment {
            tv,
            bd: agreement / drafted as f64,
            be: accepted as f64 / drafted as f64,
        })
    }
}

/// Drafters beside each other on the same positions.
impl Aligner {
    /// Takes the target's raw logits at the positions that [`Self::agreement`] compares drafters
    /// over, in place of those before: their softmax is then computed once for all drafters.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidDistribution`] as of [`Self::tv`].
    pub fn hold<'a>(&mut self, rows: impl IntoIterator<Item = &'a [f32]>) -> Result<()> {
        self.held = 0;
        for logits in rows {
            if self.held == self.rows.len() {
                self.rows.push(Row::default());
            }
            let position = self.held;
            (self.rows[position].fill(logits, self.inverse_temperature)).map_err(|error| {
                error.context(format_args!("position {position}: the target's logits"))
            })?;
            self.held += 1;
        }
        Ok(())
    }

    /// The mean of `1 − tv` between the target and a drafter over the held positions, in
    /// `[0, 1]`. `beliefs` has what the drafter believes at each of them, in order; `None` where
    /// it proposes nothing, which counts as 0.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] when no position is held or `beliefs` are not as many; those
    /// of [`Self::tv`].
    pub fn agreement<'a>(
        &mut self,
        beliefs: impl IntoIterator<Item = Option<Proposal<'a>>>,
    ) -> Result<f64> {
        let mut sum = 0.0;
        let mut count = 0;
        for belief in beliefs {
            if let Some(belief) = belief
                && let Some(target) = self.rows[..self.held].get(count)
            {
                let tv = match belief {
                    Proposal::Logits(logits) if logits.len() == target.exps.len() => {
                        (self.drafter.fill(logits, self.inverse_temperature)).map_err(|error| {
                            error.context(format_args!("position {count}: the drafter's logits"))
                        })?;
                        target.total_variation(&self.drafter)
                    }
                    Proposal::Logits(logits) => {
                        return Err(lengths_differ(logits.len(), target.exps.len()));
                    }
                    Proposal::OneHot(token) => {
                        let p = target.prob_of(token);
                        let p = p.ok_or_else(|| no_such_token(token, target.exps.len()))?;
                        dist::half_distance(2.0 * (1.0 - p))
                    }
                };
                sum += 1.0 - f64::from(tv);
            }
            count += 1;
        }
        if count == 0 || count != self.held {
            return Err(Error::invalid(format!(
                "beliefs at {count} positions cannot be compared with the target's at {}",
                self.held
            )));
        }
        Ok(sum / count as f64)
    }
}

/// The softmax of one row: token `i` has the probability `exps[i] · scales[i / BLOCK]`.
#[derive(Default, Debug)]
struct Row {
    exps: Vec<f32>,
    scales: Scales,
}

impl Row {
    fn fill(&mut self, logits: &[f32], inverse_temperature: f32) -> Result<()> {
        self.exps.resize(logits.len(), 0.0);
        self.scales.clear();
        for (logits, exps) in logits.chunks(BLOCK).zip(self.exps.chunks_mut(BLOCK)) {
            self.scales
                .push(dist::exp_block(logits, inverse_temperature, exps));
        }
        self.scales.finish(inverse_temperature, logits)?;
        Ok(())
    }

    /// The probability of the one token whose logit is `logit`, without keeping the row.
    fn prob(&mut self, logits: &[f32], logit: f32, inverse_temperature: f32) -> Result<f64> {
        let mut exps = [0.0; BLOCK];
        self.scales.clear();
        for logits in logits.chunks(BLOCK) {
            let exps = &mut exps[..logits.len()];
            self.scales
                .push(dist::exp_block(logits, inverse_temperature, exps));
        }
        let (max, sum) = self.scales.finish(inverse_temperature, logits)?;
        Ok(f64::from(dist::exp((logit - max) * inverse_temperature)) / sum)
    }

    /// The probability of `token` in a filled row; `None` when it has no such token.
    fn prob_of(&self, token: TokenId) -> Option<f64> {
        let index = usize::try_from(token.0).ok()?;
        let scale = *self.scales.get().get(index / BLOCK)?;
        Some(f64::from(self.exps.get(index)? * scale))
    }

    fn total_variation(&self, other: &Self) -> f32 {
        let blocks = self.exps.chunks(BLOCK).zip(self.scales.get());
        let others = other.exps.chunks(BLOCK).zip(other.scales.get());
        let distance: f64 = blocks
            .zip(others)
            .map(|((a, &a_scale), (b, &b_scale))| {
                f64::from(dist::distance_block(a, a_scale, b, b_scale))
            })
            .sum();
        dist::half_distance(distance)
    }
}

fn lengths_differ(drafter: usize, target: usize) -> Error {
    mismatch(format!(
        "the drafter has {drafter} logits, the target has {target}"
    ))
}

fn no_such_token(token: TokenId, vocabulary: usize) -> Error {
    mismatch(format!(
        "the drafter proposed token {token}, the target's vocabulary has {vocabulary}"
    ))
}

fn mismatch(message: String) -> Error {
    Error::new(ErrorKind::VocabularyMismatch, message)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::dist::reference_softmax;

    fn reference_tv(p: &[f64], q: &[f64]) -> f64 {
        0.5 * p.iter().zip(q).map(|(p, q)| (p - q).abs()).sum::<f64>()
    }

    fn two_rows() -> impl Strategy<Value = (Vec<f32>, Vec<f32>)> {
        let logit = || {
            prop_oneof![
                9 => -30.0_f32..30.0,
                1 => Just(f32::NEG_INFINITY)
            ]
        };
        (1_usize..3000)
            .prop_flat_map(move |n| (vec(logit(), n), vec(logit(), n)))
            .prop_filter("no token", |(a, b)| {
                [a, b].iter().all(|row| row.iter().any(|l| l.is_finite()))
            })
    }

    #[test]
    fn total_variation_of_a_whole_vocabulary_is_that_of_double_precision() {
        for temperature in [0.1, 1.0, 3.0] {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            // One aligner over shrinking rows, whose buffers still hold the longer ones.
            let mut aligner = Aligner::new(temperature).expect("valid");
            for (n, width, closeness) in [
                (151_936, 30.0, 0.001),
                (49_152, 15.0, 1.0),
                (49_152, 0.01, 1.0),
                (32_003, 4.0, 0.1),
                (300, 2.0, 2.0),
                (1, 1.0, 1.0),
            ] {
                let target: Vec<f32> = (0..n).map(|_| rng.random_range(-width..width)).collect();
                let drafter: Vec<f32> = (target.iter())
                    .map(|l| l + rng.random_range(-closeness..closeness))
                    .collect();
                let tv = aligner
                    .tv(&target, Proposal::Logits(&drafter))
                    .expect("valid");
                let p = reference_softmax(&target, temperature);
                let exact = reference_tv(&p, &reference_softmax(&drafter, temperature));
                let error = (f64::from(tv) - exact).abs();
                assert!(error < 1e-5, "{error} at {n}, {width}, {temperature}");

                let one_hot = aligner.tv(&target, Proposal::OneHot(TokenId(0)));
                let error = (f64::from(one_hot.expect("valid")) - (1.0 - p[0])).abs();
                assert!(error < 1e-6, "{error} at {n}, {width}, {temperature}");
            }
        }
    }

    #[test]
    fn every_drafted_position_counts_also_those_after_a_rejection() {
        let mut aligner = Aligner::new(1.0).expect("valid");
        let even = [0.0, 0.0, f32::NEG_INFINITY, f32::NEG_INFINITY];
        let other = [f32::NEG_INFINITY, f32::NEG_INFINITY, 0.0, 0.0];
        let rows = [
            (&even[..], Proposal::Logits(&even)),
            (&even[..], Proposal::Logits(&other)),
            (&even[..], Proposal::OneHot(TokenId(1))),
            (&even[..], Proposal::OneHot(TokenId(2))),
        ];
        let alignment = aligner.block(rows, 1).expect("valid");
        assert_eq!(alignment.tv, [0.0, 1.0, 0.5, 1.0]);
        assert_eq!(alignment.bd, 0.375);
        assert_eq!(alignment.be, 0.25);
    }

    #[test]
    fn an_invalid_row_is_named_by_its_model_and_position() {
        let mut aligner = Aligner::new(1.0).expect("valid");
        let (good, bad) = ([0.0, 1.0], [0.0, f32::NAN]);
        let good_pair = (&good[..], Proposal::Logits(&good));
        for (pair, expected) in [
            (
                (&bad[..], Proposal::Logits(&good)),
                "drafted position 1: the target's logits: logit 1 of 2 is NaN",
            ),
            (
                (&bad[..], Proposal::OneHot(TokenId(0))),
                "drafted position 1: the target's logits: logit 1 of 2 is NaN",
            ),
            (
                (&good[..], Proposal::Logits(&bad)),
                "drafted position 1: the drafter's logits: logit 1 of 2 is NaN",
            ),
        ] {
            let error = aligner.block([good_pair, pair], 0).expect_err("invalid");
            assert_eq!(error.kind(), ErrorKind::InvalidDistribution);
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn a_drafter_of_another_vocabulary_is_refused() {
        let mut aligner = Aligner::new(1.0).expect("valid");
        for drafter in [
            Proposal::Logits(&[0.0; 3]),
            Proposal::OneHot(TokenId(2)),
            Proposal::OneHot(TokenId(-1)),
        ] {
            let error = aligner.tv(&[0.0; 2], drafter).expect_err("mismatch");
            assert_eq!(error.kind(), ErrorKind::VocabularyMismatch);
        }
    }

    #[test]
    fn agreement_on_held_positions_is_the_mean_of_one_minus_total_variation() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let n = 5000;
        let mut row = || -> Vec<f32> { (0..n).map(|_| rng.random_range(-9.0..9.0)).collect() };
        let (target, drafter) = ([row(), row(), row()], row());
        let mut aligner = Aligner::new(0.7).expect("valid");
        // More rows first, whose memory is used again.
        let rows = target.iter().chain([&drafter]).map(Vec::as_slice);
        aligner.hold(rows).expect("valid");
        aligner
            .hold(target.iter().map(Vec::as_slice))
            .expect("valid");
        let beliefs = [
            Some(Proposal::Logits(&drafter)),
            None,
            Some(Proposal::OneHot(TokenId(4321))),
        ];
        let agreement = aligner.agreement(beliefs).expect("valid");
        let mut tv = |position: usize, belief| {
            let tv = aligner.tv(&target[position], belief).expect("valid");
            1.0 - f64::from(tv)
        };
        let expected = tv(0, Proposal::Logits(&drafter)) + tv(2, Proposal::OneHot(TokenId(4321)));
        assert!((agreement - expected / 3.0).abs() < 1e-6);
    }

    #[test]
    fn agreement_refuses_what_does_not_fit_the_held_positions() {
        let mut aligner = Aligner::new(1.0).expect("valid");
        let kind = |result: Result<f64>| result.expect_err("it does not fit").kind();
        assert_eq!(kind(aligner.agreement([])), ErrorKind::InvalidArgument);
        aligner.hold([&[0.0_f32, 1.0][..]]).expect("valid");
        for beliefs in [vec![], vec![None, None]] {
            assert_eq!(kind(aligner.agreement(beliefs)), ErrorKind::InvalidArgument);
        }
        for belief in [
            Proposal::Logits(&[0.0; 3]),
            Proposal::OneHot(TokenId(2)),
            Proposal::OneHot(TokenId(-1)),
        ] {
            let refused = aligner.agreement([Some(belief)]);
            assert_eq!(kind(refused), ErrorKind::VocabularyMismatch);
        }
        let refused = aligner.agreement([Some(Proposal::Logits(&[0.0, f32::NAN]))]);
        assert_eq!(kind(refused), ErrorKind::InvalidDistribution);
        let rows = [&[0.0][..], &[f32::NAN][..]];
        let error = aligner.hold(rows).expect_err("no distribution");
        let expected = "position 1: the target's logits: logit 0 of 1 is NaN";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_block_needs_rows_and_no_more_accepted_than_drafted() {
        let mut aligner = Aligner::new(1.0).expect("valid");
        let row = (&[0.0][..], Proposal::OneHot(TokenId(0)));
        for error in [
            aligner.block([], 0).expect_err("no rows"),
            aligner.block([row], 2).expect_err("too many accepted"),
        ] {
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        }
    }

    #[test]
    fn a_reward_temperature_must_be_finite_and_positive() {
        for temperature in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let error = Aligner::new(temperature).expect_err("no temperature");
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(error.to_string().starts_with("reward temperature"));
        }
    }

    proptest! {
        #[test]
        fn total_variation_of_logits_is_a_distance_up_to_one(
            (a, b) in two_rows(),
            temperature in 0.1_f32..4.0,
        ) {
            let mut aligner = Aligner::new(temperature).expect("valid");
            let tv = aligner.tv(&a, Proposal::Logits(&b)).expect("valid");
            prop_assert!((0.0..=1.0).contains(&tv));
            prop_assert_eq!(tv, aligner.tv(&b, Proposal::Logits(&a)).expect("valid"));
            let (p, q) = (reference_softmax(&a, temperature), reference_softmax(&b, temperature));
            prop_assert!((f64::from(tv) - reference_tv(&p, &q)).abs() < 1e-5);
        }

        #[test]
        fn the_block_divergence_of_identical_logits_is_one((a, b) in two_rows()) {
            let mut aligner = Aligner::new(1.0).expect("valid");
            let rows = [(&a[..], Proposal::Logits(&a)), (&b[..], Proposal::Logits(&b))];
            prop_assert_eq!(aligner.block(rows, 0).expect("valid").bd, 1.0);
        }

        #[test]
        fn a_one_hot_drafter_is_one_whose_other_logits_are_masked(
            (a, _) in two_rows(),
            token in any::<prop::sample::Index>(),
        ) {
            let mut aligner = Aligner::new(1.0).expect("valid");
            let token = TokenId::from_index(token.index(a.len()));
            let mut masked = vec![f32::NEG_INFINITY; a.len()];
            masked[token.index()] = 3.0;
            let one_hot = aligner.tv(&a, Proposal::OneHot(token)).expect("valid");
            let dense = aligner.tv(&a, Proposal::Logits(&masked)).expect("valid");
            prop_assert!((one_hot - dense).abs() < 1e-6, "{one_hot} {dense}");
        }
    }
}
