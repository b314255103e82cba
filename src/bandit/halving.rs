//! `seq-halving`: the worse half of the arms drops out, again and again, until one is left.

use rand::Rng;

use crate::bandit::arms::Arms;
use crate::bandit::{Feedback, Policy, PolicyParams, PolicyState};
use crate::error::Result;
use crate::types::ArmId;

/// A query of some 128 to 192 tokens at two to three tokens a round.
const ROUNDS: usize = 64;

/// Sequential halving (Karnin, Koren & Somekh 2013, *Almost optimal exploration in multi-armed
/// bandits*, algorithm 1), adapted to minimise regret rather than to name an arm.
///
/// With `K` available arms and `E` rounds to explore there are `⌈log₂ K⌉` phases. A phase
/// begins with the set `S` of the arms that are left (all of them at first), gives each
/// `max(1, ⌊E / (|S|·⌈log₂ K⌉)⌋)` rounds, in turns from the lowest, and keeps the `⌈|S| / 2⌉`
/// of the largest mean reward; ties keep the lowest. The last arm is then selected for the rest
/// of the query, however long it is.
///
/// `E` is the horizon that is set, else `⌈T^(2/3)⌉` for a query that is expected to take `T`
/// rounds (64 if nothing is known of it): what exploring before committing takes when the gaps
/// between the arms are unknown (Lattimore & Szepesvári 2020, *Bandit algorithms*, §6.1). The
/// share of exploration falls with the length of the query, and so does the regret of a round; the
/// paper's `E = T`, which is right for naming an arm, never comes to use what it has found.
///
/// Different from the paper, means are over all rounds of an arm since the last reset, not only
/// those of the phase: in tens of rounds none can be thrown away. Should all arms that are left
/// retire, those that dropped out come back, and the one of the largest mean is selected. A query
/// that carries over begins with all arms, and their means count what was carried.
///
/// Draws no randomness.
#[derive(Clone, Debug)]
pub struct Halving {
    arms: Arms,
    horizon: Option<usize>,
    /// Rounds that the query is expected to take.
    expected: usize,
    /// ⌈log₂ K⌉ of the arms that the query began with.
    phases: usize,
    /// The arms that are left, in order.
    left: Vec<ArmId>,
    /// Rounds of every arm in this phase.
    pulls: Vec<usize>,
    /// Rounds that this phase gives each arm.
    quota: usize,
}

impl Halving {
    pub(super) fn new(params: &PolicyParams, arms: usize) -> Self {
        let mut policy = Self {
            arms: Arms::new(params.reward, arms),
            horizon: params.horizon,
            expected: ROUNDS,
            phases: 0,
            left: Vec::new(),
            pulls: Vec::new(),
            quota: 0,
        };
        policy.begin_query();
        policy
    }

    fn begin_query(&mut self) {
        self.left = self.arms.available().collect();
        self.phases = ceil_log2(self.left.len());
        self.begin_phase();
    }

    fn begin_phase(&mut self) {
        self.pulls.clear();
        self.pulls.resize(self.arms.len(), 0);
        let shares = self.left.len().max(1).saturating_mul(self.phases.max(1));
        self.quota = (self.exploration() / shares).max(1);
    }

    /// Rounds over which the arms are halved.
    fn exploration(&self) -> usize {
        (self.horizon).unwrap_or_else(|| (self.expected as f64).powf(2.0 / 3.0).ceil() as usize)
    }

    /// Drops the worse half of the arms that are left.
    fn halve(&mut self) {
        let mean = |arm: ArmId| self.arms.mean(arm).unwrap_or(0.0);
        // The sort is stable, so that of equal arms the lower stays in front.
        self.left.sort_by(|&a, &b| mean(b).total_cmp(&mean(a)));
        self.left.truncate(self.left.len().div_ceil(2));
        self.left.sort();
        self.begin_phase();
    }
}

/// ⌈log₂ n⌉, 0 for 0.
fn ceil_log2(n: usize) -> usize {
    n.checked_next_power_of_two()
        .map_or(usize::BITS, usize::ilog2) as usize
}

impl Policy for Halving {
    fn name(&self) -> String {
        "seq-halving".to_owned()
    }

    fn reset(&mut self, arms: usize) {
        self.arms.reset(arms);
        self.begin_query();
    }

    fn carry(&mut self, arms: usize, discount: f64) {
        self.arms.carry(arms, discount);
        self.begin_query();
    }

    fn expect_rounds(&mut self, rounds: Option<usize>) {
        self.expected = rounds.unwrap_or(ROUNDS);
    }

    fn select(&mut self, _rng: &mut dyn Rng) -> Option<ArmId> {
        loop {
            match *self.left.as_slice() {
                [] => return self.arms.highest(|arm| self.arms.mean(arm).or(Some(0.0))),
                [arm] => return Some(arm),
                _ => {}
            }
            let next = self.left.iter().min_by_key(|arm| self.pulls[arm.0]);
            if let Some(&arm) = next.filter(|arm| self.pulls[arm.0] < self.quota) {
                return Some(arm);
            }
            self.halve();
        }
    }

    fn observe(&mut self, feedback: &Feedback) -> Result<()> {
        if self.arms.observe(feedback)?.is_some() {
            self.pulls[feedback.arm.0] += 1;
        }
        Ok(())
    }

    fn retire(&mut self, arm: ArmId) {
        self.arms.retire(arm);
        self.left.retain(|&other| other != arm);
    }

    /// The index of an arm that is left is its mean reward.
    fn state(&self) -> PolicyState {
        let index = |arm| self.arms.mean(arm).filter(|_| self.left.contains(&arm));
        self.arms.state(self.name(), index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bandit::{MEANS, play, share};

    fn halving(horizon: usize, arms: usize) -> Halving {
        let params = PolicyParams {
            horizon: Some(horizon),
            ..PolicyParams::default()
        };
        Halving::new(&params, arms)
    }

    #[test]
    fn the_phases_are_those_computed_by_hand() {
        // Two phases: 16 / (4·2) = 2 rounds for each of four arms, then 16 / (2·2) = 4 for each
        // of two.
        let mut policy = halving(16, 4);
        let rewards = [0.2, 0.6, 0.4, 0.5];
        let first = [0, 1, 2, 3, 0, 1, 2, 3];
        let second = [1, 3, 1, 3, 1, 3, 1, 3];
        assert_eq!(play(&mut policy, &rewards, 8), first);
        assert_eq!(play(&mut policy, &rewards, 8), second);
        let state = policy.state();
        assert_eq!(state.arms[0].index, None);
        assert!(state.arms[3].index.is_some());
        assert_eq!(play(&mut policy, &rewards, 50), [1; 50]);
        assert_eq!(policy.state().arms[3].index, None);
    }

    #[test]
    fn exploration_follows_the_rounds_that_are_expected_unless_it_is_set() {
        // 64^(2/3) = 16 and 1000^(2/3) = 100, in two phases of four and two arms.
        let committed_after = |policy: &mut Halving| {
            let rounds = play(policy, &[0.2, 0.6, 0.4, 0.5], 400);
            rounds.iter().rposition(|&arm| arm != 1).unwrap() + 1
        };
        let mut policy = Halving::new(&PolicyParams::default(), 4);
        assert_eq!(committed_after(&mut policy), 8 + 8);
        for (expected, explored) in [(Some(1000), 48 + 50), (None, 16), (Some(0), 4 + 2)] {
            policy.expect_rounds(expected);
            policy.reset(4);
            assert_eq!(committed_after(&mut policy), explored);
        }
        let mut set = halving(16, 4);
        set.expect_rounds(Some(1000));
        set.reset(4);
        assert_eq!(committed_after(&mut set), 16);
    }

    #[test]
    fn an_odd_number_of_arms_keeps_the_larger_half() {
        // Three phases with five, three and two arms: 30 / 15 = 2, 30 / 9 = 3, 30 / 6 = 5.
        let mut policy = halving(30, 5);
        let rewards = [0.1, 0.2, 0.3, 0.4, 0.5];
        play(&mut policy, &rewards, 10);
        assert_eq!(play(&mut policy, &rewards, 9), [2, 3, 4, 2, 3, 4, 2, 3, 4]);
        assert_eq!(play(&mut policy, &rewards, 10)[..2], [3, 4]);
        assert_eq!(play(&mut policy, &rewards, 5), [4; 5]);
    }

    #[test]
    fn ties_keep_the_lowest_arms() {
        let mut policy = halving(8, 4);
        assert_eq!(play(&mut policy, &[0.5; 4], 4), [0, 1, 2, 3]);
        assert_eq!(play(&mut policy, &[0.5; 4], 4), [0, 1, 0, 1]);
        assert_eq!(play(&mut policy, &[0.5; 4], 4), [0; 4]);
    }

    #[test]
    fn a_horizon_shorter_than_the_arms_gives_each_a_round() {
        let mut policy = halving(1, 100);
        let rewards: Vec<f64> = (0..100).map(|i| f64::from(i) / 100.0).collect();
        let tried: Vec<usize> = (0..100).collect();
        assert_eq!(play(&mut policy, &rewards, 20), tried[..20]);
        assert_eq!(play(&mut policy, &rewards, 80), tried[20..]);
        assert_eq!(play(&mut policy, &rewards, 1), [50]);
    }

    #[test]
    fn an_arm_that_retires_leaves_its_rounds_to_the_others() {
        let mut policy = halving(16, 4);
        let rewards = [0.2, 0.6, 0.4, 0.5];
        play(&mut policy, &rewards, 5);
        policy.retire(ArmId(1));
        assert_eq!(play(&mut policy, &rewards, 2), [2, 3]);
        // Two of the three that are left stay.
        assert_eq!(play(&mut policy, &rewards, 2), [2, 3]);
    }

    #[test]
    fn arms_that_dropped_out_come_back_when_the_last_one_retires() {
        let mut policy = halving(4, 3);
        let rewards = [0.3, 0.9, 0.6];
        play(&mut policy, &rewards, 20);
        policy.retire(ArmId(1));
        assert_eq!(play(&mut policy, &rewards, 3), [2; 3]);
        policy.retire(ArmId(2));
        assert_eq!(play(&mut policy, &rewards, 3), [0; 3]);
    }

    #[test]
    fn the_logarithm_is_rounded_up() {
        let logs: Vec<usize> = [0, 1, 2, 3, 4, 5, 8, 9].map(ceil_log2).to_vec();
        assert_eq!(logs, [0, 0, 1, 2, 2, 3, 3, 4]);
        assert_eq!(ceil_log2(usize::MAX), usize::BITS as usize);
    }

    #[test]
    fn the_best_of_four_noisy_arms_is_found() {
        let params = PolicyParams {
            horizon: Some(64),
            ..PolicyParams::default()
        };
        let share = share(("seq-halving", &params), &|_| &MEANS, 64..128, 2);
        assert!(share > 0.9, "{share}");
    }
}
