//! `sw-ucb`: an upper confidence bound that forgets all but the last rounds.

use std::collections::VecDeque;

use rand::Rng;

use crate::bandit::arms::Arms;
use crate::bandit::evidence::{Kept, Ledger};
use crate::bandit::ucb::spread;
use crate::bandit::{Feedback, Policy, PolicyParams, PolicyState};
use crate::error::Result;
use crate::types::ArmId;

/// Garivier & Moulines' 2B·√(T ln T / Υ) for a query of T = 200 rounds in which the best arm
/// changes once (Υ = 1) is 65.
pub(super) const DEFAULT_WINDOW: usize = 64;
/// The β for block divergence. Less than that of a policy with all its past: the fewer rounds an arm
/// has in the window, the more of them go to exploring.
pub(super) const DEFAULT_BETA: f64 = 0.07;

/// SW-UCB (Garivier & Moulines 2011, *On upper-confidence bound policies for switching bandit
/// problems*, §2.2).
///
/// The available arms that have no round among the last `w`, in order; then the arm of the
/// largest `mean_i + β·√(2 ln min(t, w) / n_i)`, where `mean_i` and `n_i` are the mean reward
/// and the number of the arm's rounds among the last `w` rounds of all arms, and `t` is the
/// rounds of all arms, since the last reset. This is the paper's `B·√(ξ ln min(t, w) / n_i)`
/// with `B√ξ = β√2`. Ties go to the lowest arm. Rounds of an arm that has retired since still
/// take their places in the window.
///
/// Every arm is thus tried at least once in about `w` rounds, however bad it was. Of a query that
/// is carried over, the newest rounds stay in the window, as many as the discount leaves. In the
/// first rounds of a query it can be given the `counterfactual` of
/// [`metasd-ucb`](super::ucb::Ucb).
///
/// Draws no randomness.
#[derive(Clone, Debug)]
pub struct SlidingWindow {
    arms: Arms,
    beta: f64,
    window: usize,
    counterfactual: u64,
    /// The rounds in the window, oldest first.
    rounds: VecDeque<Kept>,
    /// What they come to for each arm.
    tallies: Ledger,
}

impl SlidingWindow {
    pub(super) fn new(params: &PolicyParams, arms: usize) -> Self {
        Self {
            arms: Arms::new(params.reward, arms),
            beta: params.beta_or(DEFAULT_BETA),
            window: params.window,
            counterfactual: params.counterfactual as u64,
            rounds: VecDeque::new(),
            tallies: Ledger::new(arms),
        }
    }

    /// The upper bound of any arm with a round in the window.
    fn bounds(&self) -> impl Fn(ArmId) -> Option<f64> {
        let (spread, means) = (spread(self.rounds.len() as f64), self.tallies.means());
        move |arm| {
            let mean = means(arm)?;
            Some(mean + self.beta * (spread / self.tallies.weight(arm)).sqrt())
        }
    }

    /// Lets the oldest round go.
    fn forget_oldest(&mut self) -> Option<Kept> {
        let oldest = self.rounds.pop_front()?;
        self.tallies.take_back(oldest.shown());
        Some(oldest)
    }
}

impl Policy for SlidingWindow {
    fn name(&self) -> String {
        "sw-ucb".to_owned()
    }

    fn reset(&mut self, arms: usize) {
        self.arms.reset(arms);
        self.rounds.clear();
        self.tallies.reset(arms);
    }

    fn carry(&mut self, arms: usize, discount: f64) {
        self.arms.carry(arms, discount);
        let kept = (discount * self.rounds.len() as f64) as usize;
        while self.rounds.len() > kept {
            self.forget_oldest();
        }
        self.tallies.carry(arms, 1.0);
    }

    fn select(&mut self, _rng: &mut dyn Rng) -> Option<ArmId> {
        self.arms.highest(self.bounds())
    }

    fn observe(&mut self, feedback: &Feedback) -> Result<()> {
        let scored = self.wants_counterfactual();
        if let Some(shown) = self.arms.observe_all(feedback, scored)? {
            let full = self.rounds.len() >= self.window;
            let oldest = full.then(|| self.forget_oldest()).flatten();
            let round = Kept::new(shown, |arm| self.arms.is_available(arm), oldest);
            self.tallies.add(round.shown(), |_| true);
            self.rounds.push_back(round);
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
    use crate::bandit::{MEANS, change, observe, rng, share};

    fn sw_ucb(beta: f64, window: usize, arms: usize) -> SlidingWindow {
        let params = PolicyParams {
            beta: Some(beta),
            window,
            ..PolicyParams::default()
        };
        SlidingWindow::new(&params, arms)
    }

    fn select(policy: &mut SlidingWindow) -> Option<usize> {
        policy.select(&mut rng(0)).map(|arm| arm.0)
    }

    fn index(policy: &SlidingWindow, arm: usize) -> Option<f64> {
        policy.state().arms[arm].index
    }

    #[test]
    fn the_bounds_are_those_computed_by_hand() {
        let mut policy = sw_ucb(0.5, 3, 2);
        observe(&mut policy, &[(0, 0.8), (1, 0.4), (0, 0.6), (0, 0.2)]);
        // The window holds 0.4 of arm 1, then 0.6 and 0.2 of arm 0:
        // 0.4 + 0.5·√(2 ln 3 / 2) and 0.4 + 0.5·√(2 ln 3 / 1)
        assert!((index(&policy, 0).unwrap() - 0.924_073_5).abs() < 1e-6);
        assert!((index(&policy, 1).unwrap() - 1.141_151_9).abs() < 1e-6);
        assert_eq!(select(&mut policy), Some(1));
        let state = policy.state();
        assert_eq!((state.t, state.arms[0].pulls), (4, 3));
    }

    #[test]
    fn an_arm_whose_last_round_has_left_the_window_is_tried_again() {
        let mut policy = sw_ucb(0.1, 2, 2);
        observe(&mut policy, &[(0, 0.9), (1, 0.1), (0, 0.9)]);
        assert_eq!(select(&mut policy), Some(0));
        observe(&mut policy, &[(0, 0.9)]);
        assert_eq!(index(&policy, 1), None);
        assert_eq!(select(&mut policy), Some(1));
    }

    #[test]
    fn a_window_of_one_round_takes_turns() {
        let mut policy = sw_ucb(0.1, 1, 2);
        let selected: Vec<_> = (0..6)
            .map(|_| {
                let arm = select(&mut policy).unwrap();
                observe(&mut policy, &[(arm, 0.5)]);
                arm
            })
            .collect();
        assert_eq!(selected, [0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn rounds_of_a_retired_arm_keep_their_places_in_the_window() {
        let mut policy = sw_ucb(0.1, 3, 3);
        observe(&mut policy, &[(0, 0.5), (1, 0.9), (1, 0.9)]);
        policy.retire(ArmId(1));
        assert_eq!(select(&mut policy), Some(2));
        observe(&mut policy, &[(2, 0.4)]);
        // The first round, of arm 0, was pushed out.
        assert_eq!(select(&mut policy), Some(0));
    }

    #[test]
    fn ties_go_to_the_lowest_arm_and_more_arms_than_rounds_are_tried_in_order() {
        let mut policy = sw_ucb(0.1, 50, 3);
        observe(&mut policy, &[(2, 0.5), (1, 0.5), (0, 0.5)]);
        assert_eq!(select(&mut policy), Some(0));
        policy.reset(100);
        for round in 0..20 {
            assert_eq!(select(&mut policy), Some(round));
            observe(&mut policy, &[(round, 1.0)]);
        }
    }

    #[test]
    fn sums_stay_exact_enough_over_many_rounds() {
        let mut policy = sw_ucb(0.0, 7, 1);
        for round in 0..100_000 {
            observe(&mut policy, &[(0, f64::from(round % 10) / 10.0)]);
        }
        // The last seven rewards are 0.3 to 0.9.
        assert!((index(&policy, 0).unwrap() - 0.6).abs() < 1e-9);
    }

    #[test]
    fn the_best_of_four_noisy_arms_gets_most_rounds() {
        let params = PolicyParams::default();
        let share = share(("sw-ucb", &params), &|_| &MEANS, 0..500, 2);
        assert!(share > 0.7, "{share}");
    }

    #[test]
    fn a_new_best_arm_is_followed_sooner_than_by_metasd_ucb() {
        let params = PolicyParams::default();
        let share = |policy| share((policy, &params), &change, 350..600, 1);
        let (forgetting, stationary) = (share("sw-ucb"), share("metasd-ucb"));
        assert!(forgetting > 0.75, "{forgetting}");
        assert!(forgetting > stationary + 0.15, "{forgetting} {stationary}");
    }
}
