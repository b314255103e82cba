//! `hedge`: full information, every drafter scored on every committed text.

use rand::{Rng, RngExt};

use crate::bandit::arms::Arms;
use crate::bandit::{Feedback, Policy, PolicyParams, PolicyState};
use crate::error::Result;
use crate::types::ArmId;

/// Regrets then remember the last 1 / (1 − λ) = 50 rounds: most of a query, and short enough to
/// follow a text that changes on the way.
pub(super) const DEFAULT_RETENTION: f64 = 0.98;

/// NormalHedge (Chaudhuri, Freund & Hsu 2009, *A parameter-free hedging algorithm*) on discounted
/// regrets (Freund & Hsu 2008, arXiv 0806.4802), over all drafters' agreement with the target on
/// the committed text ("Not-a-Bandit", arXiv 2510.20064).
///
/// Draws arm `i` with probability `p_i ∝ ([R_i]₊ / c)·exp([R_i]₊² / 2c)` over the available arms,
/// where `c > 0` solves `mean_i exp([R_i]₊² / 2c) = e`; from equal probabilities after a reset.
/// After a round that committed `m` tokens, on which arm `i` agreed with the target by `g_i` on
/// average, `R_i` becomes `λ·R_i + m·(g_i − ḡ)`, where `ḡ = Σ p_i·g_i` is what the draw was worth.
/// Times `m`, because a round ends where its drafter was wrong: summed over the text every arm is
/// measured at the same positions, while over rounds the one that drafts would come off worse.
///
/// There is no learning rate to choose, and the shape of the probabilities does not depend on the
/// scale of the agreements. In tens of rounds that costs hardly more than following the leader,
/// and the bound on the regret holds for any text.
///
/// An arm without an entry in [`Feedback::counterfactual`] keeps its regret (times λ): such as
/// are not at hand neither gain nor lose by it. The drafting arm counts by its reward then. In
/// `ḡ` the mean of its earlier agreement stands for a missing one, and an arm that has never been
/// seen is left out. Where no available arm has a positive regret, as when the best have retired,
/// regrets are taken from their mean over the available arms. When arms are carried over, their
/// regrets are discounted.
///
/// Draws one random number for each selection.
#[derive(Clone, Debug)]
pub struct Hedge {
    arms: Arms,
    retention: f64,
    regrets: Vec<f64>,
    agreements: Vec<Agreement>,
    /// The probabilities of the next draw; 0 for an arm that is not available.
    probabilities: Vec<f64>,
    /// The last solution of [`steepness`], near which the next one lies; infinite before there is
    /// one.
    steepness: f64,
    /// Memory for it.
    exps: Vec<f64>,
}

/// What was seen of an arm since the last reset.
#[derive(Clone, Copy, Default, Debug)]
struct Agreement {
    positions: f64,
    sum: f64,
}

impl Agreement {
    fn mean(&self) -> Option<f64> {
        (self.positions >= f64::MIN_POSITIVE).then(|| self.sum / self.positions)
    }
}

impl Hedge {
    pub(super) fn new(params: &PolicyParams, arms: usize) -> Self {
        let mut policy = Self {
            arms: Arms::new(params.reward, arms),
            retention: params.retention,
            regrets: vec![0.0; arms],
            agreements: vec![Agreement::default(); arms],
            probabilities: Vec::new(),
            steepness: f64::INFINITY,
            exps: Vec::new(),
        };
        policy.weigh();
        policy
    }

    /// Works out the probabilities of the next draw.
    fn weigh(&mut self) {
        let available = || self.arms.available().map(|arm| arm.0);
        let count = available().count() as f64;
        self.probabilities.clear();
        self.probabilities.resize(self.arms.len(), 0.0);
        if count == 0.0 {
            return;
        }
        let mut largest = available()
            .map(|arm| self.regrets[arm])
            .fold(f64::NEG_INFINITY, f64::max);
        let mut origin = 0.0;
        if largest <= 0.0 {
            origin = available().map(|arm| self.regrets[arm]).sum::<f64>() / count;
            largest -= origin;
        }
        for arm in available() {
            // Relative to the largest, since the scale of the regrets makes no difference.
            self.probabilities[arm] = ((self.regrets[arm] - origin) / largest).max(0.0);
        }
        // What rounding alone tells apart is equal.
        if largest < 1e-12 {
            available().for_each(|arm| self.probabilities[arm] = 1.0 / count);
            return;
        }
        self.steepness = steepness(&self.probabilities, count, self.steepness, &mut self.exps);
        let mut sum = 0.0;
        let positive = self.probabilities.iter_mut().filter(|p| **p > 0.0);
        for (p, exp) in positive.zip(&self.exps) {
            *p *= exp;
            sum += *p;
        }
        self.probabilities.iter_mut().for_each(|p| *p /= sum);
    }

    /// `ḡ`, as far as agreements are known; `seen` has those of the round.
    fn expected(&self, seen: impl Fn(ArmId) -> Option<f64>) -> f64 {
        let (mut weight, mut sum) = (0.0, 0.0);
        let (mut count, mut plain) = (0.0, 0.0);
        for arm in self.arms.available() {
            let known = seen(arm).or_else(|| self.agreements[arm.0].mean());
            if let Some(agreement) = known {
                weight += self.probabilities[arm.0];
                sum += self.probabilities[arm.0] * agreement;
                count += 1.0;
                plain += agreement;
            }
        }
        // Those that are drawn may all be unknown.
        if weight > 0.0 {
            sum / weight
        } else {
            plain / count
        }
    }
}

/// `u = r² / 2c`, where `r` is the largest regret, from the regrets `x` as parts of the largest:
/// `mean exp(u·x²) = e` over `count` arms, those that `x` leaves out having 0. The search begins at
/// `start`, and `exps` is left with `exp(u·(x² − 1))` of every positive `x`.
fn steepness(x: &[f64], count: f64, start: f64, exps: &mut Vec<f64>) -> f64 {
    let squares = || x.iter().filter(|x| **x > 0.0).map(|x| x * x);
    let zeros = count - squares().count() as f64;
    // The logarithm of the mean is convex in u and at this u not below 1, so that Newton's steps
    // come down to the solution from above, if need be after one from below past it.
    let most = 1.0 + count.ln();
    let mut u = start.min(most);
    for _ in 0..50 {
        // Both relative to exp(u), which is the largest.
        let mut sum = zeros * (-u).exp();
        let mut slope = 0.0;
        exps.clear();
        for square in squares() {
            let exp = (u * (square - 1.0)).exp();
            sum += exp;
            slope += square * exp;
            exps.push(exp);
        }
        let excess = u + (sum / count).ln() - 1.0;
        let step = excess * sum / slope;
        // The exponentials are those of this u, which is near enough.
        if step.abs() <= 1e-11 * u {
            break;
        }
        u = (u - step).min(most);
    }
    u
}

impl Policy for Hedge {
    fn name(&self) -> String {
        "hedge".to_owned()
    }

    fn reset(&mut self, arms: usize) {
        self.carry(arms, 0.0);
    }

    fn carry(&mut self, arms: usize, discount: f64) {
        self.arms.carry(arms, discount);
        self.regrets.resize(arms, 0.0);
        self.regrets.iter_mut().for_each(|r| *r *= discount);
        self.agreements.resize(arms, Agreement::default());
        for agreement in &mut self.agreements {
            agreement.positions *= discount;
            agreement.sum *= discount;
        }
        self.steepness = f64::INFINITY;
        self.weigh();
    }

    fn select(&mut self, rng: &mut dyn Rng) -> Option<ArmId> {
        let mut left: f64 = rng.random();
        let mut last = None;
        for arm in self.arms.available() {
            let probability = self.probabilities[arm.0];
            if left < probability {
                return Some(arm);
            }
            left -= probability;
            if probability > 0.0 {
                last = Some(arm);
            }
        }
        // The probabilities may add up to a rounding error less than 1.
        last
    }

    fn observe(&mut self, feedback: &Feedback) -> Result<()> {
        self.arms.check_counterfactual(feedback)?;
        let Some(reward) = self.arms.observe(feedback)? else {
            return Ok(());
        };
        let mut seen = vec![None; self.arms.len()];
        seen[feedback.arm.0] = Some(reward);
        for &(arm, agreement) in &feedback.counterfactual {
            if self.arms.is_available(arm) {
                seen[arm.0] = Some(agreement);
            }
        }
        let expected = self.expected(|arm| seen[arm.0]);
        let positions = feedback.positions();
        for (arm, seen) in seen.into_iter().enumerate() {
            self.regrets[arm] *= self.retention;
            if let Some(agreement) = seen {
                self.regrets[arm] += positions * (agreement - expected);
                self.agreements[arm].positions += positions;
                self.agreements[arm].sum += positions * agreement;
            }
        }
        self.weigh();
        Ok(())
    }

    fn retire(&mut self, arm: ArmId) {
        self.arms.retire(arm);
        self.weigh();
    }

    fn wants_counterfactual(&self) -> bool {
        self.arms.are_several()
    }

    /// The index of an arm is its probability in the next draw.
    fn state(&self) -> PolicyState {
        let probability = |arm: ArmId| Some(self.probabilities[arm.0]);
        self.arms.state(self.name(), probability)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bandit::{MEANS, feedback, rng, share};

    fn hedge(retention: f64, arms: usize) -> Hedge {
        let params = PolicyParams {
            retention,
            ..PolicyParams::default()
        };
        Hedge::new(&params, arms)
    }

    /// A round of arm 0 that committed `committed` tokens.
    fn scored(committed: usize, scores: &[(usize, f64)]) -> Feedback {
        Feedback {
            committed,
            counterfactual: scores.iter().map(|&(arm, x)| (ArmId(arm), x)).collect(),
            ..feedback(0, 0.5)
        }
    }

    #[test]
    fn the_probabilities_are_those_computed_by_hand() {
        let mut policy = hedge(0.5, 3);
        assert_eq!(policy.probabilities, [1.0 / 3.0; 3]);
        policy
            .observe(&scored(2, &[(0, 0.9), (1, 0.3), (2, 0.3)]))
            .unwrap();
        // ḡ = 0.5, R = 0.8, −0.4, −0.4: only arm 0 is left.
        assert!((policy.regrets[0] - 0.8).abs() < 1e-12);
        assert_eq!(policy.probabilities, [1.0, 0.0, 0.0]);
        policy
            .observe(&scored(3, &[(0, 0.1), (1, 0.4), (2, 0.2)]))
            .unwrap();
        // ḡ = 0.1, R = 0.4, −0.2 + 0.9, −0.2 + 0.3: 4/7 and 1/7 of the largest.
        let expected = [0.4, 0.7, 0.1];
        for (found, expected) in policy.regrets.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12);
        }
        // c solves (exp(0.16/2c) + exp(0.49/2c) + exp(0.01/2c)) / 3 = e.
        let potential = |c: f64| expected.map(|r| (r * r / (2.0 * c)).exp());
        let (mut low, mut high) = (0.01, 10.0);
        for _ in 0..100 {
            let c = (low + high) / 2.0;
            let mean = potential(c).iter().sum::<f64>() / 3.0;
            (low, high) = if mean > std::f64::consts::E {
                (c, high)
            } else {
                (low, c)
            };
        }
        let exps = potential(low);
        let weights = [0.4 * exps[0], 0.7 * exps[1], 0.1 * exps[2]];
        let sum: f64 = weights.iter().sum();
        for (found, weight) in policy.probabilities.iter().zip(weights) {
            assert!((found - weight / sum).abs() < 1e-9);
        }
        assert_eq!(policy.state().arms[1].index, Some(policy.probabilities[1]));
    }

    #[test]
    fn arms_are_drawn_as_often_as_their_probabilities_say() {
        let mut policy = hedge(1.0, 3);
        policy
            .observe(&scored(2, &[(0, 0.5), (1, 0.6), (2, 0.2)]))
            .unwrap();
        let expected = policy.probabilities.clone();
        let mut rng = rng(3);
        let draws = 20_000;
        let mut counts = [0.0; 3];
        for _ in 0..draws {
            counts[policy.select(&mut rng).unwrap().0] += 1.0;
        }
        for (count, p) in counts.iter().zip(expected) {
            let deviation = (p * (1.0 - p) / f64::from(draws)).sqrt();
            assert!((count / f64::from(draws) - p).abs() <= 4.0 * deviation);
        }
    }

    #[test]
    fn an_arm_without_an_entry_keeps_its_regret() {
        let mut policy = hedge(1.0, 3);
        let first = scored(1, &[(0, 0.5), (1, 0.8), (2, 0.2)]);
        policy.observe(&first).unwrap();
        let before = policy.regrets.clone();
        policy.observe(&scored(1, &[(0, 0.1), (2, 0.1)])).unwrap();
        assert_eq!(policy.regrets[1], before[1]);
        // All of the draw was arm 1's, of which 0.8 is known.
        assert!((policy.regrets[0] - (before[0] + 0.1 - 0.8)).abs() < 1e-12);
    }

    #[test]
    fn without_entries_the_arms_that_drafted_are_compared_by_their_rewards() {
        let params = PolicyParams::default();
        let share = share(("hedge", &params), &|_| &MEANS, 0..500, 2);
        assert!(share > 0.5, "{share}");
    }

    #[test]
    fn the_next_best_follow_an_arm_that_retires() {
        let mut policy = hedge(1.0, 4);
        for _ in 0..10 {
            policy
                .observe(&scored(1, &[(0, 0.2), (1, 0.9), (2, 0.6), (3, 0.1)]))
                .unwrap();
        }
        assert!(policy.probabilities[1] > 0.99);
        policy.retire(ArmId(1));
        // All others have lost by now; the best of them is found all the same.
        assert!(policy.regrets[2] < 0.0);
        assert!(policy.probabilities[2] > 0.9, "{:?}", policy.probabilities);
        assert_eq!(policy.probabilities[1], 0.0);
    }

    #[test]
    fn the_steepness_solves_its_equation_for_few_and_for_many_arms() {
        for (x, count) in [
            (vec![1.0], 1.0),
            (vec![1.0, 0.0], 2.0),
            (vec![1.0; 7], 7.0),
            (vec![1.0, 0.999, 1e-9], 3.0),
            ((1..=256).map(|i| f64::from(i) / 256.0).collect(), 256.0),
            (vec![1.0], 1e9),
        ] {
            let mut exps = Vec::new();
            let u = steepness(&x, count, f64::INFINITY, &mut exps);
            for start in [1e-3, 1.0, 1.5, u] {
                let again = steepness(&x, count, start, &mut exps);
                assert!((again - u).abs() < 1e-9 * u, "{x:?} {start}");
            }
            let zeros = count - x.iter().filter(|x| **x > 0.0).count() as f64;
            let sum: f64 = x
                .iter()
                .filter(|x| **x > 0.0)
                .map(|x| (u * x * x).exp())
                .sum();
            let mean = (sum + zeros) / count;
            assert!((mean / std::f64::consts::E - 1.0).abs() < 1e-9, "{x:?} {u}");
        }
    }

    proptest! {
        #[test]
        fn the_probabilities_of_the_arms_that_are_left_sum_to_one(
            arms in 1usize..9,
            retention in 0.01..=1.0,
            rounds in prop::collection::vec(
                (
                    prop::option::weighted(0.1, 0usize..9),
                    1usize..7,
                    prop::collection::vec(prop::option::weighted(0.8, 0.0..=1.0), 9),
                ),
                0..60,
            ),
        ) {
            let mut policy = hedge(retention, arms);
            let mut rng = rng(1);
            for (retire, committed, scores) in rounds {
                if let Some(arm) = retire {
                    policy.retire(ArmId(arm));
                }
                let left: f64 = policy.probabilities.iter().sum();
                let Some(arm) = policy.select(&mut rng) else {
                    prop_assert_eq!(left, 0.0);
                    break;
                };
                prop_assert!((left - 1.0).abs() < 1e-9, "{:?}", policy.probabilities);
                prop_assert!(policy.probabilities.iter().all(|p| (0.0..=1.0).contains(p)));
                let scores = scores.into_iter().take(arms).enumerate();
                let scores = scores.filter_map(|(arm, score)| Some((arm, score?)));
                let feedback = Feedback { arm, ..scored(committed, &scores.collect::<Vec<_>>()) };
                policy.observe(&feedback).unwrap();
            }
        }
    }
}
