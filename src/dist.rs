//! Probability distributions over a vocabulary, and the kernels that make them from logits.
//!
//! A row of logits or of probabilities is a slice with one `f32` per token of the vocabulary,
//! indexed by [`TokenId::index`]. Logits may be −∞ (a masked token); NaN, +∞ and a row of
//! nothing but −∞ are errors of kind [`ErrorKind::InvalidDistribution`].

use crate::error::{Error, ErrorKind, Result};
use crate::types::TokenId;

/// Values that share one maximum and one sum in the kernels: 4 KiB, so that a block stays in the
/// L1 cache between the maximum and the exponentials, and a sum in single precision stays short.
pub(crate) const BLOCK: usize = 1024;

/// Independent accumulators of a reduction: enough vector registers to hide the latency of an
/// addition, on 256-bit and 512-bit machines alike.
const LANES: usize = 64;

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

/// The token of the greatest logit, the first of them when several are equal.
///
/// # Errors
/// [`ErrorKind::InvalidDistribution`] when a logit is NaN or +∞ (the message names its index), or
/// when none is above −∞.
pub fn argmax(logits: &[f32]) -> Result<TokenId> {
    let mut best = f32::NEG_INFINITY;
    let mut best_block = 0;
    let mut nan = false;
    for (i, block) in logits.chunks(BLOCK).enumerate() {
        let (max, block_nan) = max_and_nan(block);
        nan |= block_nan;
        if max > best {
            best = max;
            best_block = i;
        }
    }
    if nan || !best.is_finite() {
        return Err(no_distribution(logits));
    }
    let start = best_block * BLOCK;
    let within = logits[start..].iter().position(|&x| x == best);
    Ok(TokenId::from_index(start + within.unwrap_or(0)))
}

/// Writes `exp(logits / temperature)`, normalised, over the full vocabulary to `out`.
///
/// A logit of −∞ becomes exactly zero, as may one more than 87 temperatures below the greatest.
///
/// # Errors
/// [`ErrorKind::InvalidDistribution`] when a logit is NaN or +∞ (the message names its index), or
/// when none is above −∞; [`ErrorKind::InvalidArgument`] when `temperature` is not a finite
/// positive number or `out` is not as long as `logits`. `out` is unspecified after an error.
pub fn softmax_into(logits: &[f32], temperature: f32, out: &mut [f32]) -> Result<()> {
    if out.len() != logits.len() {
        return Err(Error::invalid(format!(
            "{} logits do not fit an output of {} probabilities",
            logits.len(),
            out.len()
        )));
    }
    let inverse_temperature = inverse_temperature(temperature)?;
    let mut scales = Scales::default();
    for (logits, out) in logits.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
        scales.push(exp_block(logits, inverse_temperature, out));
    }
    scales.finish(inverse_temperature, logits)?;
    for (out, &scale) in out.chunks_mut(BLOCK).zip(scales.get()) {
        for p in out {
            *p *= scale;
        }
    }
    Ok(())
}

/// The total variation distance `½ Σ |p − q|` of two rows of probabilities, in `[0, 1]`.
///
/// # Panics
/// If the rows differ in length.
pub fn total_variation(p: &[f32], q: &[f32]) -> f32 {
    assert_eq!(p.len(), q.len(), "rows of one vocabulary are equally long");
    let distance: f64 = p
        .chunks(BLOCK)
        .zip(q.chunks(BLOCK))
        .map(|(p, q)| f64::from(distance_block(p, 1.0, q, 1.0)))
        .sum();
    half_distance(distance)
}

/// `½ distance` as a total variation, without the last digits that rounding may put above one.
pub(crate) fn half_distance(distance: f64) -> f32 {
    (0.5 * distance).clamp(0.0, 1.0) as f32
}

/// `1 / temperature`, both of them finite and positive.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] when that cannot be.
pub(crate) fn inverse_temperature(temperature: f32) -> Result<f32> {
    if temperature.is_finite() && temperature >= f32::MIN_POSITIVE {
        Ok(temperature.recip())
    } else {
        Err(Error::invalid(format!(
            "a softmax temperature of {temperature} is not a finite positive number"
        )))
    }
}

/// What turns the exponentials of a row, each taken relative to the maximum of its own block, into
/// probabilities: one factor a block.
///
/// Blocks of their own maximum make a softmax that reads its logits from memory once, not twice.
#[derive(Default, Debug)]
pub(crate) struct Scales {
    /// The maximum of each block; from [`Self::finish`] on, its factor.
    factors: Vec<f32>,
    sums: Vec<f32>,
}

impl Scales {
    /// Forgets the row.
    pub(crate) fn clear(&mut self) {
        self.factors.clear();
        self.sums.clear();
    }

    /// Takes what [`exp_block`] returned for the next block.
    pub(crate) fn push(&mut self, (max, sum): (f32, f32)) {
        self.factors.push(max);
        self.sums.push(sum);
    }

    /// Computes the factors from all blocks of `logits`, and returns the row's maximum and, over
    /// it, the sum `Σ exp((logit − maximum) · inverse_temperature)`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidDistribution`] when the row is no distribution; `logits` serves to name
    /// the reason.
    pub(crate) fn finish(
        &mut self,
        inverse_temperature: f32,
        logits: &[f32],
    ) -> Result<(f32, f64)> {
        let max = self
            .factors
            .iter()
            .fold(f32::NEG_INFINITY, |a, &b| a.max(b));
        for factor in &mut self.factors {
            *factor = exp((*factor - max) * inverse_temperature);
        }
        // A NaN, a +∞ or a row of −∞ has made this NaN: see `exp_block`.
        let sum: f64 = (self.factors.iter().zip(&self.sums))
            .map(|(&factor, &sum)| f64::from(factor) * f64::from(sum))
            .sum();
        if !(sum.is_finite() && sum > 0.0) {
            return Err(no_distribution(logits));
        }
        let normaliser = sum.recip() as f32;
        for factor in &mut self.factors {
            *factor *= normaliser;
        }
        Ok((max, sum))
    }

    /// The factor of each block; meaningful after [`Self::finish`].
    pub(crate) fn get(&self) -> &[f32] {
        &self.factors
    }
}

/// Writes `exp((logit − maximum) · inverse_temperature)` to `out` and returns the block's maximum
/// and the sum of what was written. The blocks are equally long, [`BLOCK`] at most.
///
/// The sum is NaN when a logit is NaN or +∞. A block of −∞ has that maximum and the sum zero.
#[inline]
pub(crate) fn exp_block(logits: &[f32], inverse_temperature: f32, out: &mut [f32]) -> (f32, f32) {
    let max = reduce(logits, f32::NEG_INFINITY, greater, greater);
    // −∞ − −∞ would be NaN.
    let shift = if max == f32::NEG_INFINITY { 0.0 } else { max };
    for (out, &logit) in out.iter_mut().zip(logits) {
        *out = exp((logit - shift) * inverse_temperature);
    }
    (max, reduce(out, 0.0, |a, b| a + b, |a, b| a + b))
}

/// `Σ |a · a_scale − b · b_scale|` over one block.
#[inline]
pub(crate) fn distance_block(a: &[f32], a_scale: f32, b: &[f32], b_scale: f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let mut a_chunks = a.chunks_exact(LANES);
    let mut b_chunks = b.chunks_exact(LANES);
    for (a, b) in a_chunks.by_ref().zip(b_chunks.by_ref()) {
        for i in 0..LANES {
            lanes[i] += (a[i] * a_scale - b[i] * b_scale).abs();
        }
    }
    let rest = a_chunks.remainder().iter().zip(b_chunks.remainder());
    for (lane, (a, b)) in lanes.iter_mut().zip(rest) {
        *lane += (a * a_scale - b * b_scale).abs();
    }
    fold(lanes, |a, b| a + b)
}

/// `e^x` for `x ≤ 0`, relative error below 3e-7; exactly zero below about −87.7, where the result
/// would leave the normal numbers. NaN stays NaN.
///
/// No branch, call or table, so that a loop over it is vectorised.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Rounds to 2^-127, whose exponent bits are all zero; a lower power would spill into the sign.
    const LOWEST: f32 = -88.0;
    // 1.5 · 2^23 + 127: adding it rounds to an integer, and leaves that integer plus the exponent
    // bias in the lowest bits.
    const ROUND: f32 = 12_583_039.0;
    // ln 2 in two parts; the product of the first with a small integer is exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = if LOWEST > x { LOWEST } else { x };
    let rounded = mul_add(x, std::f32::consts::LOG2_E, ROUND);
    let n = rounded - ROUND;
    let r = mul_add(n, -LN_2_LOW, mul_add(n, -LN_2_HIGH, x));
    // Minimax in the relative error on ±½ ln 2, the constant term fixed at one so that exp(0) = 1.
    let mut e = 1.406_126_8e-3;
    for c in [8.379_019e-3, 4.166_477_5e-2, 1.666_636_5e-1, 0.5, 1.0, 1.0] {
        e = mul_add(e, r, c);
    }
    e * f32::from_bits(rounded.to_bits() << 23)
}

/// `a · b + c`, fused where that is one instruction and not a call.
#[inline(always)]
fn mul_add(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
        a.mul_add(b, c)
    } else {
        a * b + c
    }
}

/// The greater one, `a` when `b` is NaN: one instruction, which `f32::max` is not.
#[inline(always)]
fn greater(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

/// `step` over `values` in independent lanes, each from `start`, then `join` over the lanes.
#[inline(always)]
fn reduce(
    values: &[f32],
    start: f32,
    step: impl Fn(f32, f32) -> f32,
    join: impl Fn(f32, f32) -> f32,
) -> f32 {
    let mut lanes = [start; LANES];
    let mut chunks = values.chunks_exact(LANES);
    for chunk in chunks.by_ref() {
        for i in 0..LANES {
            lanes[i] = step(lanes[i], chunk[i]);
        }
    }
    for (lane, &value) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane = step(*lane, value);
    }
    fold(lanes, join)
}

/// `join` over the lanes, pairwise.
#[inline(always)]
fn fold(mut lanes: [f32; LANES], join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] = join(lanes[i], lanes[i + width]);
        }
        width /= 2;
    }
    lanes[0]
}

/// The greatest value of a block, and whether any is NaN.
fn max_and_nan(values: &[f32]) -> (f32, bool) {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    // Not `bool`: a lane as wide as the value it belongs to needs no packing.
    let mut nan = [0_u32; LANES];
    let mut chunks = values.chunks_exact(LANES);
    for chunk in chunks.by_ref() {
        for i in 0..LANES {
            lanes[i] = greater(lanes[i], chunk[i]);
            nan[i] |= u32::from(chunk[i].is_nan());
        }
    }
    let mut rest_nan = false;
    for (lane, &value) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane = greater(*lane, value);
        rest_nan |= value.is_nan();
    }
    let nan = nan.iter().fold(0, |a, b| a | b) != 0;
    (fold(lanes, greater), nan | rest_nan)
}

/// The sum in double precision.
fn sum(values: &[f32]) -> f64 {
    const LANES: usize = 32;
    let mut lanes = [0.0_f64; LANES];
    let mut chunks = values.chunks_exact(LANES);
    for chunk in chunks.by_ref() {
        for i in 0..LANES {
            lanes[i] += f64::from(chunk[i]);
        }
    }
    let rest: f64 = chunks.remainder().iter().map(|&v| f64::from(v)).sum();
    lanes.iter().sum::<f64>() + rest
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

/// Why `logits` are no distribution: the kernels' own arithmetic tells that, but not where.
#[cold]
fn no_distribution(logits: &[f32]) -> Error {
    let n = logits.len();
    let culprit = logits
        .iter()
        .position(|x| x.is_nan() || *x == f32::INFINITY);
    invalid(match culprit {
        Some(index) => format!("logit {index} of {n} is {}", logits[index]),
        None if n == 0 => "there are no logits".to_owned(),
        None => format!("all {n} logits are -inf"),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The greatest number below one that a generator gives.
    const ALMOST_ONE: f64 = 1.0 - f64::EPSILON / 2.0;

    fn probs(dist: &Dist, vocabulary: usize) -> Vec<f32> {
        (0..vocabulary)
            .map(|i| dist.prob(TokenId::from_index(i)))
            .collect()
    }

    fn pairs(weights: &[f32]) -> Vec<(TokenId, f32)> {
        let tokens = (0..weights.len()).map(TokenId::from_index);
        tokens.zip(weights.iter().copied()).collect()
    }

    fn message(result: Result<impl std::fmt::Debug>) -> String {
        let error = result.expect_err("an invalid distribution");
        assert_eq!(error.kind(), ErrorKind::InvalidDistribution);
        error.to_string()
    }

    /// Weights with at least one positive among them, many of them zero.
    fn weights(len: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = Vec<f32>> {
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

    /// Logits on a grid so coarse that adding a small integer to them is exact, some of them −∞.
    fn logits(len: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f32>> {
        let logit = prop_oneof![
            9 => (-2000..2000).prop_map(|n| n as f32 / 64.0),
            1 => Just(f32::NEG_INFINITY)
        ];
        vec(logit, len).prop_filter("no token", |row| row.iter().any(|l| l.is_finite()))
    }

    #[test]
    fn exp_is_precise_down_to_the_smallest_normal_number() {
        let mut worst = 0.0_f64;
        for i in 0..1_000_000 {
            let x = -87.3 * (i as f32 / 1_000_000.0);
            let exact = f64::from(x).exp();
            worst = worst.max((f64::from(exp(x)) / exact - 1.0).abs());
        }
        assert!(worst < 3e-7, "relative error {worst:e}");
        assert_eq!(exp(0.0), 1.0);
        for x in [-87.8, -88.0, -1e4, f32::MIN, f32::NEG_INFINITY] {
            assert_eq!(exp(x), 0.0, "exp({x})");
        }
        assert!(exp(f32::NAN).is_nan());
    }

    #[test]
    fn a_row_with_nan_or_infinity_is_refused_by_its_index() {
        for n in [1, 63, 1024, 5000] {
            for at in [0, n / 2, n - 1] {
                for bad in [f32::NAN, -f32::NAN, f32::INFINITY] {
                    // Far below the first block, so that its own scale is zero.
                    let mut row = vec![-1e6; n];
                    row[0] = 0.0;
                    row[at] = bad;
                    let expected = format!("logit {at} of {n} is {bad}");
                    assert_eq!(message(argmax(&row)), expected);
                    assert_eq!(
                        message(softmax_into(&row, 1.0, &mut vec![0.0; n])),
                        expected
                    );
                }
            }
        }
    }

    #[test]
    fn a_row_without_any_token_is_refused() {
        for n in [1, 64, 3000] {
            let row = vec![f32::NEG_INFINITY; n];
            let expected = format!("all {n} logits are -inf");
            assert_eq!(message(argmax(&row)), expected);
            assert_eq!(
                message(softmax_into(&row, 1.0, &mut vec![0.0; n])),
                expected
            );
        }
        assert_eq!(message(argmax(&[])), "there are no logits");
        assert_eq!(
            message(softmax_into(&[], 1.0, &mut [])),
            "there are no logits"
        );
    }

    #[test]
    fn softmax_refuses_a_temperature_or_an_output_that_does_not_fit() {
        for temperature in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-40] {
            let error = softmax_into(&[1.0], temperature, &mut [0.0]).expect_err("no temperature");
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        }
        let error = softmax_into(&[1.0, 2.0], 1.0, &mut [0.0]).expect_err("too short");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    }

    #[test]
    fn softmax_survives_the_extremes_of_logits_and_temperature() {
        let row = [f32::MAX, f32::MIN, f32::NEG_INFINITY, f32::MAX];
        for temperature in [f32::MIN_POSITIVE, 1.0] {
            let mut out = [0.0; 4];
            softmax_into(&row, temperature, &mut out).expect("valid");
            assert_eq!(out, [0.5, 0.0, 0.0, 0.5]);
        }
        let mut out = [0.0; 4];
        softmax_into(&[9.0, -9.0, f32::NEG_INFINITY, 9.0], f32::MAX, &mut out).expect("valid");
        assert_eq!(out, [1.0 / 3.0, 1.0 / 3.0, 0.0, 1.0 / 3.0]);
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
        fn argmax_is_the_first_of_the_greatest_logits(row in logits(1..3000)) {
            let mut expected = 0;
            for (i, &logit) in row.iter().enumerate() {
                if logit > row[expected] {
                    expected = i;
                }
            }
            prop_assert_eq!(argmax(&row).expect("valid"), TokenId::from_index(expected));
        }

        #[test]
        fn softmax_is_the_normalised_exponential(
            row in logits(1..3000),
            temperature in 0.05_f32..5.0,
        ) {
            let mut out = vec![f32::NAN; row.len()];
            softmax_into(&row, temperature, &mut out).expect("valid");
            let exact = reference_softmax(&row, temperature);
            for (&p, &exact) in out.iter().zip(&exact) {
                prop_assert!((f64::from(p) - exact).abs() <= 2e-6 * exact + 1e-9, "{p} {exact}");
                prop_assert!(exact > 0.0 || p == 0.0);
            }
            prop_assert!((sum(&out) - 1.0).abs() < 1e-6);
        }

        #[test]
        fn softmax_does_not_change_when_all_logits_shift(
            row in logits(1..3000),
            shift in -1000..1000,
        ) {
            let shifted: Vec<f32> = row.iter().map(|l| l + shift as f32).collect();
            let (mut a, mut b) = (vec![0.0; row.len()], vec![0.0; row.len()]);
            softmax_into(&row, 0.7, &mut a).expect("valid");
            softmax_into(&shifted, 0.7, &mut b).expect("valid");
            prop_assert_eq!(a, b);
        }

        #[test]
        fn total_variation_is_a_distance_up_to_one(
            (p, q) in (1_usize..3000).prop_flat_map(|n| (weights(n), weights(n)))
        ) {
            let n = p.len();
            let p = probs(&Dist::dense(p).expect("positive mass"), n);
            let q = probs(&Dist::dense(q).expect("positive mass"), n);
            let tv = total_variation(&p, &q);
            prop_assert!((0.0..=1.0).contains(&tv));
            prop_assert_eq!(tv, total_variation(&q, &p));
            prop_assert_eq!(total_variation(&p, &p), 0.0);
            let exact: f64 = p.iter().zip(&q).map(|(p, q)| f64::from((p - q).abs())).sum();
            prop_assert!((f64::from(tv) - 0.5 * exact).abs() < 1e-6);
        }

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

    /// The softmax in double precision.
    pub(crate) fn reference_softmax(row: &[f32], temperature: f32) -> Vec<f64> {
        let max = row.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
        let exps: Vec<f64> = row
            .iter()
            .map(|&l| ((f64::from(l) - f64::from(max)) / f64::from(temperature)).exp())
            .collect();
        let sum: f64 = exps.iter().sum();
        exps.iter().map(|e| e / sum).collect()
    }
}
