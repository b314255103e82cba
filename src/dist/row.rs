//! Kernels over whole rows of logits or of probabilities, block by block.

use crate::dist::block::{BLOCK, distance_block, exp, exp_block, max_and_nan};
use crate::error::{Error, ErrorKind, Result};
use crate::types::TokenId;

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

/// Why `logits` are no distribution: the kernels' own arithmetic tells that, but not where.
#[cold]
fn no_distribution(logits: &[f32]) -> Error {
    let n = logits.len();
    let culprit = logits
        .iter()
        .position(|x| x.is_nan() || *x == f32::INFINITY);
    let message = match culprit {
        Some(index) => format!("logit {index} of {n} is {}", logits[index]),
        None if n == 0 => "there are no logits".to_owned(),
        None => format!("all {n} logits are -inf"),
    };
    Error::new(ErrorKind::InvalidDistribution, message)
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::dist::Dist;
    use crate::dist::block::sum;
    use crate::dist::tests::{message, probs, weights};

    /// Logits on a grid so coarse that adding a small integer to them is exact, some of them −∞.
    fn logits(len: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f32>> {
        let logit = prop_oneof![
            9 => (-2000..2000).prop_map(|n| n as f32 / 64.0),
            1 => Just(f32::NEG_INFINITY)
        ];
        vec(logit, len).prop_filter("no token", |row| row.iter().any(|l| l.is_finite()))
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
