//! `metasd-ucb`: optimism in the face of uncertainty.

use rand::Rng;

use crate::bandit::arms::Arms;
use crate::bandit::{Feedback, Policy, PolicyParams, PolicyState};
use crate::error::Result;
use crate::types::ArmId;

/// The β of `metasd-ucb` for block divergence.
///
/// The theory's β = 1 guards against rewards that spread over all of [0, 1] and against long
/// horizons. A block's mean spreads far less and a query lasts some tens of rounds, which
/// β = 1 would spend exploring. From here on the regret of long queries grows as the logarithm of
/// their length, as it should; with less, a query now and then stays with the second best arm.
pub(super) const DEFAULT_BETA: f64 = 0.12;

/// `2 ln t`, 0 where a discount has left less than a round.
pub(super) fn spread(t: f64) -> f64 {
    2.0 * t.max(1.0).ln()
}

/// MetaSD-UCB (arXiv 2604.05417), an upper confidence bound after Auer et al. (2002).
///
/// Each available arm once, in order; then the arm of the largest
/// `mean_i + β·√(2 ln t / n_i)`, where `mean_i` is the arm's mean reward, `n_i` its rounds
/// and `t` the rounds of all arms, since the last reset. Ties go to the lowest arm. Rounds
/// of an arm that has retired since still count in `t`.
///
/// With `counterfactual` = R > 0 every arm is scored on the committed text of the first R rounds
/// of a query ("Not-a-Bandit", arXiv 2510.20064). Such a round adds 1 to `n_i` of every arm that
/// was scored, and 1 to `t`, which stays the number of rounds. In place of the reward, `mean_i`
/// takes in the arm's agreement with the target, averaged over the committed positions of all
/// those rounds and shifted, for all arms alike, by what the drafting arms' rewards were above
/// their agreement: the two are measured at different positions and could not be compared
/// otherwise. An arm that was scored need not be tried first.
///
/// Draws no randomness.
#[derive(Clone, Debug)]
pub struct Ucb {
    arms: Arms,
    beta: f64,
    /// How many rounds of a query score all arms.
    counterfactual: u64,
}

impl Ucb {
    pub(super) fn new(params: &PolicyParams, arms: usize) -> Self {
        Self {
            arms: Arms::new(params.reward, arms),
            beta: params.beta_or(DEFAULT_BETA),
            counterfactual: params.counterfactual as u64,
        }
    }

    /// The upper bound of any arm of which something is known.
    fn bounds(&self) -> impl Fn(ArmId) -> Option<f64> {
        let (spread, means) = (spread(self.arms.time()), self.arms.means());
        move |arm| {
            let mean = means(arm)?;
            Some(mean + self.beta * (spread / self.arms.weight(arm)).sqrt())
        }
    }
}

impl Policy for Ucb {
    fn name(&self) -> String {
        "metasd-ucb".to_owned()
    }

    fn reset(&mut self, arms: usize) {
        self.arms.reset(arms);
    }

    fn carry(&mut self, arms: usize, discount: f64) {
        self.arms.carry(arms, discount);
    }

    fn select(&mut self, _rng: &mut dyn Rng) -> Option<ArmId> {
        self.arms.highest(self.bounds())
    }

    fn observe(&mut self, feedback: &Feedback) -> Result<()> {
        let scored = self.wants_counterfactual();
        self.arms.observe_all(feedback, scored).map(drop)
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
    use crate::bandit::{feedback, policy, rng};
    use proptest::prelude::*;
    use rand::RngExt;

    fn ucb(beta: f64, arms: usize) -> Ucb {
        let params = PolicyParams {
            beta: Some(beta),
            ..PolicyParams::default()
        };
        Ucb::new(&params, arms)
    }

    fn select(ucb: &mut Ucb) -> Option<usize> {
        ucb.select(&mut rng(0)).map(|arm| arm.0)
    }

    #[test]
    fn the_bounds_are_those_computed_by_hand() {
        let mut ucb = ucb(0.5, 2);
        for (arm, reward) in [(0, 0.8), (1, 0.4), (0, 0.6)] {
            ucb.observe(&feedback(arm, reward)).unwrap();
        }
        let index = |ucb: &Ucb, arm: usize| ucb.state().arms[arm].index.unwrap();
        // 0.7 + 0.5·√(2 ln 3 / 2) and 0.4 + 0.5·√(2 ln 3 / 1)
        assert!((index(&ucb, 0) - 1.224_073_5).abs() < 1e-6);
        assert!((index(&ucb, 1) - 1.141_151_9).abs() < 1e-6);
        assert_eq!(select(&mut ucb), Some(0));

        ucb.observe(&feedback(0, 0.1)).unwrap();
        // 0.5 + 0.5·√(2 ln 4 / 3) and 0.4 + 0.5·√(2 ln 4 / 1)
        assert!((index(&ucb, 0) - 0.980_675_7).abs() < 1e-6);
        assert!((index(&ucb, 1) - 1.232_554_6).abs() < 1e-6);
        assert_eq!(select(&mut ucb), Some(1));
    }

    #[test]
    fn scored_rounds_count_for_every_arm_and_the_bandit_goes_on_alone() {
        let params = PolicyParams {
            beta: Some(0.5),
            counterfactual: 2,
            ..PolicyParams::default()
        };
        let mut ucb = Ucb::new(&params, 2);
        let scored = |arm: usize, reward: f64, committed: usize, scores: [f64; 2]| Feedback {
            committed,
            counterfactual: vec![(ArmId(0), scores[0]), (ArmId(1), scores[1])],
            ..feedback(arm, reward)
        };
        ucb.observe(&scored(0, 0.5, 4, [0.75, 0.5])).unwrap();
        assert!(ucb.wants_counterfactual());
        ucb.observe(&scored(1, 0.4, 1, [0.25, 0.0])).unwrap();
        assert!(!ucb.wants_counterfactual());
        // Agreement 3.25 / 5 and 2 / 5, of the arms that drafted 3 / 5, whose rewards are 0.45.
        let index = |ucb: &Ucb, arm: usize| ucb.state().arms[arm].index.unwrap();
        let bound = |mean: f64, n: f64, t: f64| mean + 0.5 * (2.0 * t.ln() / n).sqrt();
        assert!((index(&ucb, 0) - bound(0.5, 2.0, 2.0)).abs() < 1e-12);
        assert!((index(&ucb, 1) - bound(0.25, 2.0, 2.0)).abs() < 1e-12);

        // From here on scores are not looked at.
        ucb.observe(&scored(0, 0.8, 4, [0.0, 1.0])).unwrap();
        assert!((index(&ucb, 0) - bound(1.8 / 3.0, 3.0, 3.0)).abs() < 1e-12);
        assert!((index(&ucb, 1) - bound(0.25, 2.0, 3.0)).abs() < 1e-12);
        let state = ucb.state();
        assert_eq!((state.t, state.arms[1].pulls), (3, 1));
        assert_eq!(state.arms[1].weight, 2.0);
    }

    #[test]
    fn ties_go_to_the_lowest_arm() {
        let mut ucb = ucb(0.1, 3);
        for arm in 0..3 {
            ucb.observe(&feedback(arm, 0.5)).unwrap();
        }
        assert_eq!(select(&mut ucb), Some(0));
        ucb.retire(ArmId(0));
        assert_eq!(select(&mut ucb), Some(1));
    }

    #[test]
    fn without_exploration_the_best_mean_wins() {
        let mut ucb = ucb(0.0, 3);
        for (arm, reward) in [(0, 0.2), (1, 0.6), (2, 0.5)] {
            ucb.observe(&feedback(arm, reward)).unwrap();
        }
        for _ in 0..50 {
            assert_eq!(select(&mut ucb), Some(1));
            ucb.observe(&feedback(1, 0.6)).unwrap();
        }
    }

    #[test]
    fn more_arms_than_rounds_are_tried_in_order() {
        let mut ucb = ucb(0.1, 100);
        for round in 0..20 {
            assert_eq!(select(&mut ucb), Some(round));
            ucb.observe(&feedback(round, 1.0)).unwrap();
        }
    }

    #[test]
    fn an_arm_that_retires_before_its_first_pull_is_skipped() {
        let mut ucb = ucb(0.1, 3);
        ucb.observe(&feedback(0, 0.5)).unwrap();
        ucb.retire(ArmId(1));
        assert_eq!(select(&mut ucb), Some(2));
        ucb.observe(&feedback(2, 0.4)).unwrap();
        assert_eq!(select(&mut ucb), Some(0));
    }

    #[test]
    fn the_second_best_takes_over_when_the_best_retires_and_its_rounds_still_count() {
        let mut ucb = ucb(0.1, 3);
        for (arm, reward) in [(0, 0.4), (1, 0.9), (2, 0.6), (1, 0.9)] {
            ucb.observe(&feedback(arm, reward)).unwrap();
        }
        assert_eq!(select(&mut ucb), Some(1));
        ucb.retire(ArmId(1));
        assert_eq!(select(&mut ucb), Some(2));
        let state = ucb.state();
        assert_eq!(state.t, 4);
        assert_eq!(state.arms[1].index, None);
        let expected = 0.6 + 0.1 * (2.0 * 4f64.ln()).sqrt();
        assert!((state.arms[2].index.unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn the_best_of_four_noisy_arms_gets_most_of_a_thousand_rounds() {
        let means = [0.35, 0.55, 0.7, 0.45];
        let runs = 100;
        let mut pulls = 0;
        for seed in 0..runs {
            let mut ucb = policy("metasd-ucb", means.len());
            let mut rng = rng(seed);
            for _ in 0..1000 {
                let ArmId(arm) = ucb.select(&mut rng).unwrap();
                let reward = means[arm] + rng.random_range(-0.3..0.3);
                ucb.observe(&feedback(arm, reward)).unwrap();
            }
            pulls += ucb.state().arms[2].pulls;
        }
        let share = pulls as f64 / (runs * 1000) as f64;
        assert!(share > 0.95, "{share}");
    }

    proptest! {
        #[test]
        fn every_available_arm_is_pulled_once_before_any_is_pulled_again(
            arms in 1usize..8,
            beta in 0.0..2.0,
            steps in prop::collection::vec((prop::option::weighted(0.1, 0usize..8), 0.0..=1.0), 0..50),
        ) {
            let mut ucb = ucb(beta, arms);
            let mut pulls = vec![0; arms];
            let mut available: Vec<usize> = (0..arms).collect();
            for (retire, reward) in steps {
                if let Some(arm) = retire {
                    ucb.retire(ArmId(arm));
                    available.retain(|&other| other != arm);
                }
                let Some(arm) = select(&mut ucb) else {
                    prop_assert!(available.is_empty());
                    break;
                };
                prop_assert!(available.contains(&arm));
                let untried = available.iter().copied().find(|&arm| pulls[arm] == 0);
                prop_assert_eq!(untried.unwrap_or(arm), arm);
                pulls[arm] += 1;
                ucb.observe(&feedback(arm, reward)).unwrap();
            }
        }
    }
}
