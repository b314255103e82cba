//! `d-ucb`: an upper confidence bound that forgets gradually.

use rand::Rng;

use crate::bandit::arms::Arms;
use crate::bandit::evidence::Ledger;
use crate::bandit::ucb::spread;
use crate::bandit::{Feedback, Policy, PolicyParams, PolicyState};
use crate::error::Result;
use crate::types::ArmId;

/// Rounds then weigh as much as the last 1 / (1 − γ) = 50 would, near `sw-ucb`'s window.
pub(super) const DEFAULT_DISCOUNT: f64 = 0.98;
/// The β for block divergence; see that of `sw-ucb`.
pub(super) const DEFAULT_BETA: f64 = 0.07;

/// Discounted UCB (Garivier & Moulines 2011, *On upper-confidence bound policies for switching
/// bandit problems*, §2.1, after Kocsis & Szepesvári 2006).
///
/// Each available arm once, in order; then the arm of the largest
/// `sum_i / n_i + β·√(2 ln n / n_i)`, where a round that `k` rounds followed has the weight
/// `γ^k`, `n_i` is the weight of the arm's rounds, `sum_i` that of their rewards, and `n` the
/// weight of all rounds, since the last reset. This is the paper's `2B·√(ξ ln n / n_i)`
/// with `2B√ξ = β√2`. Ties go to the lowest arm. Rounds of an arm that has retired since still
/// count in `n`. With γ = 1 it is [`metasd-ucb`](super::ucb::Ucb), whose `counterfactual` it takes
/// over.
///
/// The bound of an arm grows without limit while it is not selected, so that every arm is tried
/// again and again.
///
/// Draws no randomness.
#[derive(Clone, Debug)]
pub struct Discounted {
    arms: Arms,
    beta: f64,
    discount: f64,
    counterfactual: u64,
    /// The weight of all rounds.
    time: f64,
    weights: Ledger,
}

impl Discounted {
    pub(super) fn new(params: &PolicyParams, arms: usize) -> Self {
        Self {
            arms: Arms::new(params.reward, arms),
            beta: params.beta_or(DEFAULT_BETA),
            discount: params.discount,
            counterfactual: params.counterfactual as u64,
            time: 0.0,
            weights: Ledger::new(arms),
        }
    }

    /// The upper bound of any arm whose rounds have any weight left.
    fn bounds(&self) -> impl Fn(ArmId) -> Option<f64> {
        let (spread, means) = (spread(self.time), self.weights.means());
        move |arm| {
            let mean = means(arm)?;
            Some(mean + self.beta * (spread / self.weights.weight(arm)).sqrt())
        }
    }
}

impl Policy for Discounted {
    fn name(&self) -> String {
        "d-ucb".to_owned()
    }

    fn reset(&mut self, arms: usize) {
        self.carry(arms, 0.0);
    }

    fn carry(&mut self, arms: usize, discount: f64) {
        self.arms.carry(arms, discount);
        self.weights.carry(arms, discount);
        self.time *= discount;
    }

    fn select(&mut self, _rng: &mut dyn Rng) -> Option<ArmId> {
        self.arms.highest(self.bounds())
    }

    fn observe(&mut self, feedback: &Feedback) -> Result<()> {
        let scored = self.wants_counterfactual();
        if let Some(shown) = self.arms.observe_all(feedback, scored)? {
            self.weights.discount(self.discount);
            self.weights.add(shown, |arm| self.arms.is_available(arm));
            self.time = self.time * self.discount + 1.0;
        }
        Ok(())
    }

    fn retire(&mut self, arm: ArmId) {
        self.arms.retire(arm);
    }

    fn wants_counterfactual(&self) -> bool {
        self.arms.rounds() < self.counterfactual && self.arms.are_several()
    }

    fn state(&self) -> PolicyState {
        self.arms.state(self.name(), self.bounds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bandit::{MEANS, change, observe, policy, rng, share, ucb};

    fn d_ucb(beta: f64, discount: f64, arms: usize) -> Discounted {
        let params = PolicyParams {
            beta: Some(beta),
            discount,
            ..PolicyParams::default()
        };
        Discounted::new(&params, arms)
    }

    fn select(policy: &mut dyn Policy) -> Option<usize> {
        policy.select(&mut rng(0)).map(|arm| arm.0)
    }

    fn index(policy: &dyn Policy, arm: usize) -> f64 {
        policy.state().arms[arm].index.unwrap()
    }

    #[test]
    fn the_bounds_are_those_computed_by_hand() {
        let mut policy = d_ucb(0.5, 0.5, 2);
        observe(&mut policy, &[(0, 0.8), (1, 0.4), (0, 0.6)]);
        // Arm 0 weighs 0.25 + 1 with rewards 0.25·0.8 + 0.6, arm 1 weighs 0.5:
        // 0.64 + 0.5·√(2 ln 1.75 / 1.25) and 0.4 + 0.5·√(2 ln 1.75 / 0.5)
        let expected = |mean: f64, n: f64| mean + 0.5 * (2.0 * 1.75f64.ln() / n).sqrt();
        assert!((index(&policy, 0) - expected(0.64, 1.25)).abs() < 1e-12);
        assert!((index(&policy, 1) - expected(0.4, 0.5)).abs() < 1e-12);
        assert!((index(&policy, 0) - 1.113_124).abs() < 1e-5);
        assert!((index(&policy, 1) - 1.148_075).abs() < 1e-5);
        assert_eq!(select(&mut policy), Some(1));
    }

    #[test]
    fn without_discount_the_bounds_are_those_of_metasd_ucb() {
        let mut discounted = d_ucb(ucb::DEFAULT_BETA, 1.0, 3);
        let mut ucb = policy("metasd-ucb", 3);
        for round in 0..200 {
            let arm = select(&mut discounted).unwrap();
            assert_eq!(Some(arm), select(&mut *ucb));
            let reward = [0.3, 0.6, 0.5][arm] + f64::from(round % 7) / 20.0;
            observe(&mut discounted, &[(arm, reward)]);
            observe(&mut *ucb, &[(arm, reward)]);
            assert!((index(&discounted, arm) - index(&*ucb, arm)).abs() < 1e-9);
        }
    }

    #[test]
    fn weights_too_small_for_a_number_make_an_arm_untried() {
        let mut policy = d_ucb(0.0, 1e-3, 2);
        observe(&mut policy, &[(1, 0.5)]);
        for _ in 0..200 {
            observe(&mut policy, &[(0, 0.9)]);
        }
        assert_eq!(policy.state().arms[1].index, None);
        assert_eq!(select(&mut policy), Some(1));
    }

    #[test]
    fn ties_go_to_the_lowest_arm_that_is_left() {
        let mut policy = d_ucb(0.0, 0.9, 3);
        observe(&mut policy, &[(2, 0.5), (0, 0.5), (1, 0.5)]);
        assert_eq!(select(&mut policy), Some(0));
        policy.retire(ArmId(0));
        assert_eq!(select(&mut policy), Some(1));
    }

    #[test]
    fn more_arms_than_rounds_are_tried_in_order() {
        let mut policy = d_ucb(0.1, 0.9, 100);
        for round in 0..20 {
            assert_eq!(select(&mut policy), Some(round));
            observe(&mut policy, &[(round, 1.0)]);
        }
    }

    #[test]
    fn the_best_of_four_noisy_arms_gets_most_rounds() {
        let params = PolicyParams::default();
        let share = share(("d-ucb", &params), &|_| &MEANS, 0..500, 2);
        assert!(share > 0.7, "{share}");
    }

    #[test]
    fn a_new_best_arm_is_followed_sooner_than_by_metasd_ucb() {
        let params = PolicyParams::default();
        let share = |policy| share((policy, &params), &change, 350..600, 1);
        let (forgetting, stationary) = (share("d-ucb"), share("metasd-ucb"));
        assert!(forgetting > 0.7, "{forgetting}");
        assert!(forgetting > stationary + 0.15, "{forgetting} {stationary}");
    }
}
