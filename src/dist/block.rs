//! Kernels over one block of a row: maximum, exponentials, distance and sums, vectorised.

/// Values that share one maximum and one sum in the kernels: 4 KiB, so that a block stays in the
/// L1 cache between the maximum and the exponentials, and a sum in single precision stays short.
pub(crate) const BLOCK: usize = 1024;

/// Independent accumulators of a reduction: enough vector registers to hide the latency of an
/// addition, on 256-bit and 512-bit machines alike.
const LANES: usize = 64;

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
pub(super) fn max_and_nan(values: &[f32]) -> (f32, bool) {
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
pub(super) fn sum(values: &[f32]) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
