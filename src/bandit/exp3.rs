//! `exp3`: exponential weights, for rewards that follow no fixed distribution.

use rand::{Rng, RngExt};

use crate::bandit::arms::Arms;
use crate::bandit::{Feedback, Policy, PolicyParams, PolicyState};
use crate::error::Result;
use crate::types::ArmId;

/// Auer et al.'s √(K ln K / ((e − 1) T)) for K = 4 arms and T = 80 rounds.
pub(super) const DEFAULT_EXPLORATION: f64 = 0.2;

/// Exp3 (Auer, Cesa-Bianchi, Freund & Schapire 2002, *The nonstochastic multiarmed bandit
/// problem*, figure 1).
///
/// Draws arm `i` with probability `p_i = (1 − γ)·w_i / Σ_j w_j + γ / K` over the `K` available
/// arms. After a round of arm `i` with reward `r`, `w_i` is multiplied by `exp(γ·x / K)`, where
/// `x = r / p_i` is the importance-weighted reward: on average over the draws it is the reward
/// that the arm has, whether drawn often or seldom. All weights are 1 after a reset.
///
/// When an arm retires, the others share its probability in proportion. Draws one random number
/// for each selection.
#[derive(Clone, Debug)]
pub struct Exp3 {
    arms: Arms,
    exploration: f64,
    /// ln w_i: the weights themselves outgrow every number in a long query.
    log_weights: Vec<f64>,
    /// w_i / exp(origin).
    weights: Vec<f64>,
    origin: f64,
}

/// How far a logarithm may lie above the origin before all weights are taken anew.
const HEADROOM: f64 = 50.0;

impl Exp3 {
    pub(super) fn new(params: &PolicyParams, arms: usize) -> Self {
        Self {
            arms: Arms::new(params.reward, arms),
            exploration: params.exploration,
            log_weights: vec![0.0; arms],
            weights: vec![1.0; arms],
            origin: 0.0,
        }
    }

    /// Takes all weights anew, the largest of the available arms as 1.
    fn weigh(&mut self) {
        let log_weights = self.arms.available().map(|arm| self.log_weights[arm.0]);
        let largest = log_weights.fold(f64::NEG_INFINITY, f64::max);
        self.origin = if largest.is_finite() { largest } else { 0.0 };
        self.weights.clear();
        let weights = self.log_weights.iter().map(|w| (w - self.origin).exp());
        self.weights.extend(weights);
    }

    /// The available arms with the probabilities of the next draw.
    fn probabilities(&self) -> impl Iterator<Item = (ArmId, f64)> {
        let weight = |arm: ArmId| self.weights[arm.0];
        let sum: f64 = self.arms.available().map(weight).sum();
        let uniform = self.exploration / self.arms.available().count() as f64;
        self.arms
            .available()
            .map(move |arm| (arm, (1.0 - self.exploration) * weight(arm) / sum + uniform))
    }

    /// The probability of an available arm in the next draw.
    fn probability(&self, arm: ArmId) -> Option<f64> {
        self.probabilities()
            .find(|&(other, _)| other == arm)
            .map(|(_, probability)| probability)
    }
}

impl Policy for Exp3 {
    fn name(&self) -> String {
        "exp3".to_owned()
    }

    fn reset(&mut self, arms: usize) {
        self.arms.reset(arms);
        self.log_weights.clear();
        self.log_weights.resize(arms, 0.0);
        self.weigh();
    }

    /// The logarithms of the weights are discounted.
    fn carry(&mut self, arms: usize, discount: f64) {
        self.arms.carry(arms, discount);
        self.log_weights.resize(arms, 0.0);
        self.log_weights.iter_mut().for_each(|w| *w *= discount);
        self.weigh();
    }

    fn select(&mut self, rng: &mut dyn Rng) -> Option<ArmId> {
        let mut left: f64 = rng.random();
        let mut last = None;
        for (arm, probability) in self.probabilities() {
            if left < probability {
                return Some(arm);
            }
            left -= probability;
            last = Some(arm);
        }
        // The probabilities may add up to a rounding error less than 1.
        last
    }

    fn observe(&mut self, feedback: &Feedback) -> Result<()> {
        let Some(reward) = self.arms.observe(feedback)? else {
            return Ok(());
        };
        // Nothing has changed since the arm was drawn, so this is what it was drawn with.
        if let Some(probability) = self.probability(feedback.arm) {
            let arms = self.arms.available().count() as f64;
            let log_weight = &mut self.log_weights[feedback.arm.0];
            *log_weight += self.exploration * reward / probability / arms;
            let above = *log_weight - self.origin;
            if above < HEADROOM {
                self.weights[feedback.arm.0] = above.exp();
            } else {
                self.weigh();
            }
        }
        Ok(())
    }

    fn retire(&mut self, arm: ArmId) {
        self.arms.retire(arm);
        self.weigh();
    }

    /// The index of an arm is its probability in the next draw.
    fn state(&self) -> PolicyState {
        self.arms.state(self.name(), |arm| self.probability(arm))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bandit::{MEANS, feedback, rng, share};

    fn exp3(exploration: f64, arms: usize) -> Exp3 {
        let params = PolicyParams {
            exploration,
            ..PolicyParams::default()
        };
        Exp3::new(&params, arms)
    }

    fn probabilities(policy: &Exp3) -> Vec<f64> {
        policy.probabilities().map(|(_, p)| p).collect()
    }

    #[test]
    fn the_probabilities_are_those_computed_by_hand() {
        let mut policy = exp3(0.5, 2);
        assert_eq!(probabilities(&policy), [0.5, 0.5]);
        policy.observe(&feedback(0, 0.8)).unwrap();
        // x = 0.8 / 0.5, w_0 = exp(0.5·1.6 / 2) = exp(0.4)
        let w = 0.4f64.exp();
        let first = 0.5 * w / (w + 1.0) + 0.25;
        assert!((probabilities(&policy)[0] - first).abs() < 1e-12);
        assert!((first - 0.549_344).abs() < 1e-6);

        policy.observe(&feedback(1, 0.4)).unwrap();
        // x = 0.4 / (1 − 0.549 344), w_1 = exp(0.5·x / 2)
        let other = (0.25 * 0.4 / (1.0 - first)).exp();
        let second = 0.5 * other / (w + other) + 0.25;
        assert!((probabilities(&policy)[1] - second).abs() < 1e-12);
        assert_eq!(
            policy.state().arms[1].index,
            Some(probabilities(&policy)[1])
        );
    }

    #[test]
    fn arms_are_drawn_as_often_as_their_probabilities_say() {
        let mut policy = exp3(0.3, 3);
        for _ in 0..5 {
            policy.observe(&feedback(1, 0.9)).unwrap();
        }
        let expected = probabilities(&policy);
        let mut rng = rng(3);
        let draws = 20_000;
        let mut counts = [0.0; 3];
        for _ in 0..draws {
            counts[policy.select(&mut rng).unwrap().0] += 1.0;
        }
        for (count, p) in counts.iter().zip(expected) {
            let deviation = (p * (1.0 - p) / f64::from(draws)).sqrt();
            assert!((count / f64::from(draws) - p).abs() < 4.0 * deviation);
        }
    }

    #[test]
    fn the_others_share_the_probability_of_an_arm_that_retires() {
        let mut policy = exp3(0.4, 3);
        policy.observe(&feedback(2, 1.0)).unwrap();
        policy.retire(ArmId(0));
        let shares = probabilities(&policy);
        assert_eq!(shares.len(), 2);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(shares[1] > shares[0] && shares[0] >= 0.2);
    }

    proptest! {
        #[test]
        fn the_probabilities_sum_to_one_and_none_falls_below_its_share_of_the_exploration(
            arms in 1usize..9,
            exploration in 0.01..=1.0,
            rewards in prop::collection::vec(0.0..=1.0, 0..60),
        ) {
            let mut policy = exp3(exploration, arms);
            let mut rng = rng(1);
            for reward in rewards {
                let shares = probabilities(&policy);
                prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                let least = exploration / arms as f64 - 1e-12;
                prop_assert!(shares.iter().all(|&p| p >= least));
                let arm = policy.select(&mut rng).unwrap();
                policy.observe(&feedback(arm.0, reward)).unwrap();
            }
        }
    }

    #[test]
    fn weights_stay_finite_over_a_long_query() {
        let mut policy = exp3(1.0, 2);
        for _ in 0..100_000 {
            policy.observe(&feedback(0, 1.0)).unwrap();
        }
        assert_eq!(probabilities(&policy), [0.5, 0.5]);
        let mut policy = exp3(0.1, 2);
        for _ in 0..100_000 {
            policy.observe(&feedback(0, 1.0)).unwrap();
        }
        assert!((probabilities(&policy)[1] - 0.05).abs() < 1e-12);
    }

    #[test]
    fn more_arms_than_rounds_do_no_harm() {
        let mut policy = exp3(0.2, 1000);
        let mut rng = rng(1);
        for _ in 0..20 {
            let arm = policy.select(&mut rng).unwrap();
            policy.observe(&feedback(arm.0, 1.0)).unwrap();
        }
        assert!((probabilities(&policy).iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_best_of_four_noisy_arms_is_found() {
        let params = PolicyParams::default();
        let share = share(("exp3", &params), &|_| &MEANS, 1500..2000, 2);
        assert!(share > 0.6, "{share}");
    }
}
