//! Probability distributions over a vocabulary, and the kernels that make them from logits.
//!
//! A row of logits or of probabilities is a slice with one `f32` per token of the vocabulary,
//! indexed by [`TokenId::index`]. Logits may be −∞ (a masked token); NaN, +∞ and a row of
//! nothing but −∞ are errors of kind [`ErrorKind::InvalidDistribution`].

use crate::error::{Error, ErrorKind, Result};
use crate::types::TokenId;

mod block;
mod row;

use block::sum;
pub(crate) use block::{BLOCK, distance_block, exp, exp_block};
#[cfg(test)]
pub(crate) use row::tests::reference_softmax;
pub(crate) use row::{Scales, half_distance, inverse_temperature};
pub use row::{argmax, softmax_into, total_variation};

/// A probability distribution over a vocabulary: non-negative, and of mass one up to the rounding
/// of its entries to `f32`.
///
/// Held in the form it was made in: a single token, the tokens that survived a sampler chain, or a
/// whole row. What is computed from it does not depend on the form.
#[derive(Clone, PartialEq, Debug)]
pub struct Dist(Form);

#[derive(Clone, PartialEq, Debug)]
enum Form {
    OneHot(TokenId),
    /// Ascending by token; every probability is positive.
    Sparse(Vec<(TokenId, f32)>),
    /// Indexed by token.
    Dense(Vec<f32>),
}

impl Dist {
    /// The distribution that is certain of `token`.
    pub fn one_hot(token: TokenId) -> Self {
        Self(Form::OneHot(token))
    }

    /// The distribution proportional to `weights`, zero for every other token.
    ///
    /// The entries may come in any order and need not sum to one; those of weight zero are
    /// dropped.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidDistribution`] when a weight is NaN, infinite or negative, a token
    /// stands twice or is negative, or no weight is positive.
    pub fn sparse(mut weights: Vec<(TokenId, f32)>) -> Result<Self> {
        for &(token, weight) in &weights {
            if token.0 < 0 {
                return Err(invalid(format!("token {token} is in no vocabulary")));
            }
            if !is_weight(weight) {
                return Err(invalid(format!(
                    "token {token} has the weight {weight}, not a finite number of at least 0"
                )));
            }
        }
        weights.sort_unstable_by_key(|&(token, _)| token);
        if let Some(pair) = weights.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(invalid(format!("token {} stands twice", pair[0].0)));
        }
        let mass: f64 = weights.iter().map(|&(_, weight)| f64::from(weight)).sum();
        if mass <= 0.0 {
            return Err(invalid(format!(
                "none of the {} weights is positive",
                weights.len()
            )));
        }
        Ok(Self::scaled_sparse(weights, mass))
    }

    /// The distribution proportional to `weights`, one weight per token of the vocabulary.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidDistribution`] when a weight is NaN, infinite or negative, or none is
    /// positive.
    pub fn dense(weights: Vec<f32>) -> Result<Self> {
        // Without a branch per weight, so that the check of a whole vocabulary is vectorised.
        if !weights.iter().fold(true, |ok, &w| ok & is_weight(w)) {
            let token = weights.iter().position(|&w| !is_weight(w)).unwrap_or(0);
            return Err(invalid(format!(
                "token {token} has the weight {}, not a finite number of at least 0",
                weights[token]
            )));
        }
        let mass = sum(&weights);
        if mass <= 0.0 {
            return Err(invalid(format!(
                "none of the {} weights is positive",
                weights.len()
            )));
        }
        Ok(Self::scaled_dense(weights, mass))
    }

    /// The probability of `token`, in `[0, 1]`; zero for a token outside of the vocabulary.
    pub fn prob(&self, token: TokenId) -> f32 {
        match &self.0 {
            Form::OneHot(certain) => f32::from(u8::from(*certain == token)),
            Form::Sparse(entries) => match entries.binary_search_by_key(&token, |&(t, _)| t) {
                Ok(at) => entries[at].1,
                Err(_) => 0.0,
            },
            Form::Dense(probs) => usize::try_from(token.0)
                .ok()
                .and_then(|index| probs.get(index))
                .copied()
                .unwrap_or(0.0),
        }
    }

    /// The token at `u` of the cumulative distribution, tokens in ascending order.
    ///
    /// With `u` uniform in `[0, 1)` the token follows this distribution. It always has a positive
    /// probability: a `u` out of range yields the first or the last such token.
    pub fn sample(&self, u: f64) -> TokenId {
        match &self.0 {
            Form::OneHot(token) => *token,
            Form::Sparse(entries) => {
                let probs = entries.iter().map(|&(_, p)| f64::from(p));
                let mass: f64 = probs.clone().sum();
                entries[inverse_cdf(probs, u * mass).0].0
            }
            Form::Dense(probs) => {
                // Block by block first: adding up a vocabulary one by one is bound by the latency
                // of the addition.
                let masses: Vec<f64> = probs.chunks(BLOCK).map(sum).collect();
                let mass: f64 = masses.iter().sum();
                let (block, rest) = inverse_cdf(masses.iter().copied(), u * mass);
                let start = block * BLOCK;
                let block = probs[start..].iter().take(BLOCK);
                let (within, _) = inverse_cdf(block.map(|&p| f64::from(p)), rest);
                TokenId::from_index(start + within)
            }
        }
    }

    /// `max(P − Q, 0)` renormalised, where `P` is `self`: what a rejected token is replaced from
    /// (Leviathan et al. 2022, arXiv 2211.17192, §2.3).
    ///
    /// `None` when the mass of the difference is at most `f32::EPSILON`: then `P` and `Q` are equal
    /// up to the rounding of their entries, and the difference is nothing but that rounding.
    pub fn residual(&self, q: &Dist) -> Option<Dist> {
        let negligible = f64::from(f32::EPSILON);
        match (&self.0, &q.0) {
            (Form::OneHot(token), _) => {
                (1.0 - f64::from(q.prob(*token)) > negligible).then(|| self.clone())
            }
            (Form::Sparse(entries), _) => {
                let rest: Vec<(TokenId, f32)> = entries
                    .iter()
                    .map(|&(token, p)| (token, p - q.prob(token)))
                    .filter(|&(_, rest)| rest > 0.0)
                    .collect();
                let mass: f64 = rest.iter().map(|&(_, rest)| f64::from(rest)).sum();
                (mass > negligible).then(|| Self::scaled_sparse(rest, mass))
            }
            (Form::Dense(probs), form) => {
                let mut rest = probs.clone();
                let mut take = |token: TokenId, q: f32| {
                    let p = usize::try_from(token.0).ok().and_then(|i| rest.get_mut(i));
                    if let Some(p) = p {
                        *p = (*p - q).max(0.0);
                    }
                };
                match form {
                    Form::OneHot(token) => take(*token, 1.0),
                    Form::Sparse(entries) => entries.iter().for_each(|&(t, q)| take(t, q)),
                    Form::Dense(q) => {
                        for (p, q) in rest.iter_mut().zip(q) {
                            *p = (*p - q).max(0.0);
                        }
                    }
                }
                let mass = sum(&rest);
                (mass > negligible).then(|| Self::scaled_dense(rest, mass))
            }
        }
    }

    /// `weights` over their sum `mass`; ascending, unique and valid by the caller's word.
    fn scaled_sparse(mut weights: Vec<(TokenId, f32)>, mass: f64) -> Self {
        for (_, weight) in &mut weights {
            *weight = (f64::from(*weight) / mass) as f32;
        }
        // After the division, which may have rounded a tiny weight to zero.
        weights.retain(|&(_, p)| p > 0.0);
        Self(Form::Sparse(weights))
    }

    /// `weights` over their sum `mass`; valid by the caller's word.
    fn scaled_dense(mut weights: Vec<f32>, mass: f64) -> Self {
        let scale = mass.recip();
        for weight in &mut weights {
            *weight = (f64::from(*weight) * scale) as f32;
        }
        Self(Form::Dense(weights))
    }
}

/// The first of `masses` at which their running sum exceeds `threshold`, or else the last positive
/// one; and what of the threshold was left when it was reached.
fn inverse_cdf(masses: impl Iterator<Item = f64>, threshold: f64) -> (usize, f64) {
    let mut rest = threshold;
    let mut found = (0, rest);
    for (index, mass) in masses.enumerate().filter(|&(_, mass)| mass > 0.0) {
        found = (index, rest);
        if rest < mass {
            break;
        }
        rest -= mass;
    }
    found
}

fn is_weight(weight: f32) -> bool {
    (0.0..f32::INFINITY).contains(&weight)
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::InvalidDistribution, message)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The greatest number below one that a generator gives.
    const ALMOST_ONE: f64 = 1.0 - f64::EPSILON / 2.0;

    pub(super) fn probs(dist: &Dist, vocabulary: usize) -> Vec<f32> {
        (0..vocabulary)
            .map(|i| dist.prob(TokenId::from_index(i)))
            .collect()
    }

    fn pairs(weights: &[f32]) -> Vec<(TokenId, f32)> {
        let tokens = (0..weights.len()).map(TokenId::from_index);
        tokens.zip(weights.iter().copied()).collect()
    }

    pub(super) fn message(result: Result<impl std::fmt::Debug>) -> String {
        let error = result.expect_err("an invalid distribution");
        assert_eq!(error.kind(), ErrorKind::InvalidDistribution);
        error.to_string()
    }

    /// Weights with at least one positive among them, many of them zero.
    pub(super) fn weights(
        len: impl Into<proptest::collection::SizeRange>,
    ) -> impl Strategy<Value = Vec<f32>> {
        vec(prop_oneof![Just(0.0_f32), 1e-6_f32..1.0], len)
            .prop_filter("no mass", |weights| weights.iter().any(|&w| w > 0.0))
    }

    /// A distribution of any form.
    fn dist(vocabulary: usize) -> impl Strategy<Value = Dist> {
        (weights(vocabulary), 0..3, 0..vocabulary).prop_map(|(weights, form, token)| match form {
            0 => Dist::one_hot(TokenId::from_index(token)),
            1 => Dist::sparse(pairs(&weights)).expect("positive mass"),
            _ => Dist::dense(weights).expect("positive mass"),
        })
    }

    #[test]
    fn weights_that_are_no_distribution_are_refused() {
        let at = |weight: f32| vec![(TokenId(4), weight), (TokenId(3), 1.0)];
        for bad in [f32::NAN, -0.5, f32::INFINITY] {
            assert!(message(Dist::sparse(at(bad))).starts_with("token 4 has the weight"));
            assert!(message(Dist::dense(vec![0.5, bad])).starts_with("token 1 has the weight"));
        }
        let twice = vec![(TokenId(7), 0.5), (TokenId(2), 0.1), (TokenId(7), 0.4)];
        assert_eq!(message(Dist::sparse(twice)), "token 7 stands twice");
        let negative = vec![(TokenId(-1), 1.0)];
        assert_eq!(
            message(Dist::sparse(negative)),
            "token -1 is in no vocabulary"
        );
        for empty in [vec![], vec![0.0, 0.0]] {
            assert!(message(Dist::sparse(pairs(&empty))).contains("is positive"));
            assert!(message(Dist::dense(empty)).contains("is positive"));
        }
    }

    #[test]
    fn weights_of_any_magnitude_are_normalised() {
        for scale in [1e-45, 1e-20, 1.0, f32::MAX / 3.0] {
            let weights = [scale, 0.0, scale, scale, scale];
            let dense = Dist::dense(weights.to_vec()).expect("positive mass");
            let sparse = Dist::sparse(pairs(&weights)).expect("positive mass");
            assert_eq!(probs(&dense, 5), [0.25, 0.0, 0.25, 0.25, 0.25]);
            assert_eq!(probs(&sparse, 5), probs(&dense, 5));
        }
    }

    #[test]
    fn a_token_outside_of_the_vocabulary_has_no_probability() {
        let dense = Dist::dense(vec![1.0, 1.0]).expect("positive mass");
        let sparse = Dist::sparse(vec![(TokenId(1), 1.0)]).expect("positive mass");
        for dist in [dense, sparse, Dist::one_hot(TokenId(1))] {
            assert_eq!(dist.prob(TokenId(-1)), 0.0);
            assert_eq!(dist.prob(TokenId(2)), 0.0);
        }
    }

    #[test]
    fn tokens_of_weight_zero_leave_no_trace() {
        let entry = |token, weight| (TokenId(token), weight);
        let without = Dist::sparse(vec![entry(9, 0.25), entry(2, 0.75)]);
        let with = vec![entry(2, 0.75), entry(5, 0.0), entry(9, 0.25), entry(1, 0.0)];
        assert_eq!(
            without.expect("positive mass"),
            Dist::sparse(with).expect("positive mass")
        );
    }

    proptest! {
        #[test]
        fn the_form_of_a_distribution_does_not_show(weights in weights(1..3000), u in 0.0..1.0) {
            let n = weights.len();
            let sparse = Dist::sparse(pairs(&weights)).expect("positive mass");
            let dense = Dist::dense(weights).expect("positive mass");
            for (a, b) in probs(&sparse, n).iter().zip(probs(&dense, n)) {
                prop_assert!((a - b).abs() <= f32::EPSILON * a);
            }
            // Only within rounding of the border between two tokens may they differ.
            let (a, b) = (sparse.sample(u), dense.sample(u));
            let border = a != b && [u - 1e-6, u + 1e-6].iter().any(|&u| dense.sample(u) == a);
            prop_assert!(a == b || border, "{a} {b}");
        }

        #[test]
        fn evenly_spaced_numbers_draw_each_token_as_often_as_its_probability(dist in dist(1200)) {
            const N: usize = 1_000;
            let mut counts = vec![0_u32; 1200];
            for i in 0..N {
                counts[dist.sample((i as f64 + 0.5) / N as f64).index()] += 1;
            }
            for (p, count) in probs(&dist, 1200).into_iter().zip(counts) {
                prop_assert!((f64::from(p) * N as f64 - f64::from(count)).abs() < 1.01);
            }
        }

        #[test]
        fn no_number_draws_a_token_without_probability(dist in dist(2500), u in 0.0..1.0) {
            for u in [0.0, u, ALMOST_ONE, 1.0, -1.0, 2.0, f64::NAN] {
                prop_assert!(dist.prob(dist.sample(u)) > 0.0, "u = {u}");
            }
        }

        #[test]
        fn the_residual_of_distributions_equal_up_to_rounding_has_vanished(
            weights in weights(40),
            scale in 0.1_f32..1.0,
        ) {
            let sparse = Dist::sparse(pairs(&weights)).expect("positive mass");
            let scaled = weights.iter().map(|w| w * scale).collect();
            let dense = Dist::dense(scaled).expect("positive mass");
            prop_assert_eq!(sparse.residual(&dense), None);
            prop_assert_eq!(dense.residual(&sparse), None);
            let certain = Dist::one_hot(sparse.sample(0.5));
            prop_assert_eq!(certain.residual(&certain), None);
        }

        #[test]
        fn the_residual_is_what_p_has_more_than_q(p in dist(12), q in dist(12)) {
            let gain: Vec<f64> = (probs(&p, 12).iter().zip(probs(&q, 12)))
                .map(|(&p, q)| (f64::from(p) - f64::from(q)).max(0.0))
                .collect();
            let mass: f64 = gain.iter().sum();
            let Some(residual) = p.residual(&q) else {
                prop_assert!(mass < 2e-7, "mass {mass}");
                return Ok(());
            };
            let residual = probs(&residual, 12);
            prop_assert!((sum(&residual) - 1.0).abs() < 1e-6);
            for (&residual, &gain) in residual.iter().zip(&gain) {
                prop_assert!((f64::from(residual) - gain / mass).abs() < 1e-6 / mass);
                prop_assert!(gain > 0.0 || residual == 0.0);
            }
        }
    }
}
