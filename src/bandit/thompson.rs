//! `thompson`: each arm as often as it is likely to be the best.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::bandit::arms::Arms;
use crate::bandit::{Feedback, Policy, PolicyParams, PolicyState, ucb};
use crate::error::Result;
use crate::types::ArmId;

/// Thompson sampling (Thompson 1933) with Gaussian posteriors (after Agrawal & Goyal 2013,
/// *Further optimal regret bounds for Thompson sampling*, §4).
///
/// Each available arm once, in order; then the arm of the largest
/// `θ_i ~ Normal(mean_i, β² / n_i)`, where `mean_i` is the arm's mean reward and `n_i` its
/// rounds since the last reset: the posterior of a mean with a flat prior when rewards deviate
/// by β. β is that of `metasd-ucb`, whose bound is likewise the one for rewards that deviate by
/// β. Agrawal & Goyal's β is 1. A Beta posterior would take rewards for coin tosses, whose
/// deviation is several times that of a block's mean, and explore accordingly. Ties, which only
/// β = 0 makes likely, go to the lowest arm.
///
/// Draws a normal number for each available arm, once all have been tried.
#[derive(Clone, Debug)]
pub struct Thompson {
    arms: Arms,
    beta: f64,
}

impl Thompson {
    pub(super) fn new(params: &PolicyParams, arms: usize) -> Self {
        Self {
            arms: Arms::new(params.reward, arms),
            beta: params.beta_or(ucb::DEFAULT_BETA),
        }
    }

    /// Standard deviation of an arm's posterior, in units of reward.
    fn deviation(&self, arm: ArmId) -> f64 {
        self.beta / self.arms.weight(arm).sqrt()
    }
}

impl Policy for Thompson {
    fn name(&self) -> String {
        "thompson".to_owned()
    }

    fn reset(&mut self, arms: usize) {
        self.arms.reset(arms);
    }

    fn carry(&mut self, arms: usize, discount: f64) {
        self.arms.carry(arms, discount);
    }

    fn select(&mut self, rng: &mut dyn Rng) -> Option<ArmId> {
        let untried = (self.arms.available()).find(|&arm| self.arms.mean(arm).is_none());
        if untried.is_some() {
            return untried;
        }
        self.arms.highest(|arm| {
            let normal: f64 = StandardNormal.sample(rng);
            Some(self.arms.mean(arm)? + self.deviation(arm) * normal)
        })
    }

    fn observe(&mut self, feedback: &Feedback) -> Result<()> {
        self.arms.observe(feedback).map(drop)
    }

    fn retire(&mut self, arm: ArmId) {
        self.arms.retire(arm);
    }

    /// The index of an arm is the mean of its posterior.
    fn state(&self) -> PolicyState {
        self.arms.state(self.name(), |arm| self.arms.mean(arm))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bandit::{MEANS, observe, rng, share};
    use statrs::distribution::{ContinuousCDF, Normal};

    fn thompson(beta: f64, arms: usize) -> Thompson {
        let params = PolicyParams {
            beta: Some(beta),
            ..PolicyParams::default()
        };
        Thompson::new(&params, arms)
    }

    #[test]
    fn an_arm_is_selected_as_often_as_it_is_likely_to_be_the_best() {
        let mut policy = thompson(0.2, 2);
        observe(
            &mut policy,
            &[(0, 0.5), (1, 0.4), (1, 0.4), (1, 0.4), (1, 0.4)],
        );
        // θ_0 − θ_1 ~ Normal(0.1, 0.2²/1 + 0.2²/4)
        let difference = Normal::new(0.1, (0.04f64 + 0.01).sqrt()).unwrap();
        let likely = 1.0 - difference.cdf(0.0);
        let mut rng = rng(7);
        let draws = 20_000;
        let first = (0..draws)
            .filter(|_| policy.select(&mut rng) == Some(ArmId(0)))
            .count();
        let share = first as f64 / f64::from(draws);
        let deviation = (likely * (1.0 - likely) / f64::from(draws)).sqrt();
        assert!((share - likely).abs() < 4.0 * deviation, "{share} {likely}");
    }

    #[test]
    fn without_deviation_the_best_mean_wins_and_ties_go_to_the_lowest_arm() {
        let mut policy = thompson(0.0, 3);
        observe(&mut policy, &[(0, 0.3), (1, 0.6), (2, 0.6)]);
        let mut rng = rng(1);
        for _ in 0..20 {
            assert_eq!(policy.select(&mut rng), Some(ArmId(1)));
        }
        policy.retire(ArmId(1));
        assert_eq!(policy.select(&mut rng), Some(ArmId(2)));
        assert_eq!(policy.state().arms[0].index, Some(0.3));
    }

    #[test]
    fn more_arms_than_rounds_are_tried_in_order_and_retired_ones_skipped() {
        let mut policy = thompson(0.1, 100);
        policy.retire(ArmId(3));
        let mut rng = rng(1);
        for expected in [0, 1, 2, 4, 5, 6] {
            assert_eq!(policy.select(&mut rng), Some(ArmId(expected)));
            observe(&mut policy, &[(expected, 0.9)]);
        }
    }

    #[test]
    fn the_best_of_four_noisy_arms_gets_most_rounds() {
        let params = PolicyParams {
            beta: Some(0.17),
            ..PolicyParams::default()
        };
        let share = share(("thompson", &params), &|_| &MEANS, 0..500, 2);
        assert!(share > 0.85, "{share}");
    }
}
