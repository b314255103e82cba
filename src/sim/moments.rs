//! How noisy an arm's rewards are.

use serde::Serialize;

use crate::bandit::Reward;
use crate::sim::Arm;

/// Mean and variance of a reward over rounds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Moments {
    /// The mean.
    pub mean: f64,
    /// The variance.
    pub variance: f64,
}

impl Moments {
    /// How hard it is to tell an arm from a `better` one by their rewards: the larger of the two
    /// variances over the squared gap between the means, in rounds. The regret of an upper
    /// confidence bound grows in proportion to it (arXiv 2604.05417, where it compares rewards).
    /// Infinite without a gap.
    pub fn difficulty(&self, better: &Self) -> f64 {
        let gap = better.mean - self.mean;
        self.variance.max(better.variance) / (gap * gap)
    }
}

impl Arm {
    /// Mean and variance of its `reward` in a round of `n_max` drafted tokens when the part
    /// `progress` of the query is done.
    ///
    /// `BD` is a mean of `n` independent agreements of mean `α` and variance `s²·α(1 − α)`. The
    /// number of accepted tokens is at least `k` with probability `αᵏ`, so that its mean is
    /// `Σ αᵏ` and that of its square `Σ (2k − 1)·αᵏ` over `k = 1..n`; `BE` is an `n`-th of it.
    pub fn moments(&self, reward: Reward, progress: f64, n_max: usize) -> Moments {
        let alpha = self.agreement(progress);
        let n = n_max as f64;
        match reward {
            Reward::Bd => Moments {
                mean: alpha,
                variance: self.position_variance(alpha) / n,
            },
            Reward::Be => {
                let (mut mean, mut square, mut power) = (0.0, 0.0, 1.0);
                for k in 1..=n_max {
                    power *= alpha;
                    mean += power;
                    square += (2 * k - 1) as f64 * power;
                }
                Moments {
                    mean: mean / n,
                    variance: (square - mean * mean) / (n * n),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn the_moments_are_those_of_many_rounds() {
        for (alpha, spread, n_max) in [(0.3, 0.6, 3), (0.5, 0.8, 5), (0.9, 0.2, 4)] {
            let arm = Arm::steady(alpha).unwrap().spread(spread).unwrap();
            let mut rng = ChaCha8Rng::seed_from_u64(3);
            let blocks: Vec<_> = (0..40_000)
                .map(|_| arm.round(0.0, n_max, &mut rng))
                .collect();
            for reward in [Reward::Bd, Reward::Be] {
                let value = |block: &crate::sim::Block| match reward {
                    Reward::Bd => block.bd,
                    Reward::Be => block.accepted as f64 / n_max as f64,
                };
                let count = blocks.len() as f64;
                let mean = blocks.iter().map(value).sum::<f64>() / count;
                let square = |block| (value(block) - mean).powi(2);
                let variance = blocks.iter().map(square).sum::<f64>() / count;
                let expected = arm.moments(reward, 0.0, n_max);
                assert!((mean - expected.mean).abs() < 0.01, "{reward} {alpha}");
                let ratio = variance / expected.variance;
                assert!((0.95..1.05).contains(&ratio), "{reward} {alpha}: {ratio}");
            }
        }
    }

    #[test]
    fn a_difficulty_is_the_larger_variance_over_the_squared_gap() {
        let moments = |mean: f64, variance: f64| Moments { mean, variance };
        let (worse, better) = (moments(0.3, 0.02), moments(0.5, 0.01));
        assert!((worse.difficulty(&better) - 0.5).abs() < 1e-12);
        assert_eq!(worse.difficulty(&worse), f64::INFINITY);
    }
}
