//! Which drafter speculates next: a multi-armed bandit over the pool.
//!
//! A [`Policy`] picks an arm for every round and learns from the round's [`Feedback`].
//! [`PolicySpec`] is what a user writes (`metasd-ucb`, `fixed:code`, …); together with
//! [`PolicyParams`] and the drafters' names it builds the policy.
//!
//! Nothing here knows what an arm is. All randomness comes from the caller's generator, so
//! the same feedback and the same generator give the same choices.

use std::fmt;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::Result;
use crate::types::ArmId;

mod arms;
pub mod cyclic;
pub mod discounted;
mod evidence;
pub mod exp3;
pub mod explore_commit;
mod feedback;
pub mod fixed;
pub mod greedy;
pub mod halving;
pub mod hedge;
pub mod joint;
pub mod off;
#[cfg(test)]
mod reference;
pub mod routed;
pub mod sliding_window;
mod spec;
mod spelling;
mod state;
pub mod thompson;
pub mod ucb;
pub mod uniform;

pub use feedback::{Feedback, Reward};
pub use spec::{PolicyParams, PolicySpec};
pub use state::{ArmState, PolicyState};

/// Tokens that a round is expected to commit where nothing better is known: what small drafters
/// come to.
const TOKENS_PER_ROUND: usize = 2;

/// The random stream of a policy's choices. A sampler of the same seed has stream 0, so that
/// neither moves the other's draws.
const STREAM: u64 = 1;

/// Rounds that a query of at most `tokens` tokens is expected to take, for
/// [`Policy::expect_rounds`].
pub fn expected_rounds(tokens: Option<usize>) -> Option<usize> {
    tokens.map(|tokens| tokens.div_ceil(TOKENS_PER_ROUND))
}

/// The generator that a policy chooses with in a query of seed `seed`.
pub fn generator(seed: u64) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(STREAM);
    generator
}

/// A rule that picks the arm of each round.
///
/// Arms are numbered from 0. A caller alternates [`select`](Policy::select) and
/// [`observe`](Policy::observe); when a selected arm turns out to be unusable it calls
/// [`retire`](Policy::retire) instead, for a policy may select the same arm until it has
/// learnt something new.
pub trait Policy: Send + fmt::Debug {
    /// The policy as a [`PolicySpec`] writes it.
    fn name(&self) -> String;

    /// Starts a new query on `arms` arms: statistics and position are as in a policy just
    /// built. Retired arms stay retired; only building the policy anew brings them back.
    fn reset(&mut self, arms: usize);

    /// Starts a new query on `arms` arms as [`reset`](Policy::reset) does, but keeps what was
    /// learnt, every past round counting `discount` (0 to 1) times what it did. A policy that
    /// has nothing to keep is reset.
    fn carry(&mut self, arms: usize, _discount: f64) {
        self.reset(arms);
    }

    /// Tells how many rounds the next query is expected to take, `None` when nothing is known of
    /// it; to be called before [`reset`](Policy::reset) or [`carry`](Policy::carry).
    fn expect_rounds(&mut self, _rounds: Option<usize>) {}

    /// The arm for the next round. `None` when the policy does not speculate or has no arm
    /// left: the target then decodes alone.
    fn select(&mut self, rng: &mut dyn Rng) -> Option<ArmId>;

    /// Learns from a round. Feedback for a retired arm is ignored.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::error::ErrorKind::InvalidArgument) if the arm is not one
    /// of those given to [`reset`](Policy::reset), if its reward is refused by
    /// [`Feedback::reward`], or, in a round for which the policy
    /// [wanted it](Policy::wants_counterfactual), if a counterfactual entry is of no such arm or
    /// outside [0, 1]; the statistics are then unchanged.
    fn observe(&mut self, feedback: &Feedback) -> Result<()>;

    /// Takes an arm out for the rest of the policy's life: its drafter has left the pool.
    fn retire(&mut self, arm: ArmId);

    /// Whether the coming round's [`Feedback::counterfactual`] should be filled, which costs
    /// time.
    fn wants_counterfactual(&self) -> bool {
        false
    }

    /// Whether [`rank`](Policy::rank) should be called for each query.
    fn wants_ranking(&self) -> bool {
        false
    }

    /// Tells, after a [`reset`](Policy::reset) and before the first selection, which arms suit the
    /// query, the best one first; arms of which nothing is known are left out. Each is one of
    /// those given to [`reset`](Policy::reset).
    fn rank(&mut self, _ranking: &[ArmId]) {}

    /// What the policy believes at this moment.
    fn state(&self) -> PolicyState;
}

#[cfg(test)]
fn feedback(arm: usize, reward: f64) -> Feedback {
    Feedback {
        arm: ArmId(arm),
        drafted: 5,
        accepted: 2,
        committed: 3,
        bd: reward,
        be: 0.4,
        seconds: 0.01,
        counterfactual: Vec::new(),
    }
}

/// Gives `policy` the `rounds`, each an arm and its reward.
#[cfg(test)]
fn observe(policy: &mut dyn Policy, rounds: &[(usize, f64)]) {
    for &(arm, reward) in rounds {
        policy.observe(&feedback(arm, reward)).unwrap();
    }
}

/// The arms of `rounds` rounds when arm `i` always gives `rewards[i]`.
#[cfg(test)]
fn play(policy: &mut dyn Policy, rewards: &[f64], rounds: usize) -> Vec<usize> {
    (0..rounds)
        .map(|_| {
            let ArmId(arm) = policy.select(&mut rng(0)).unwrap();
            policy.observe(&feedback(arm, rewards[arm])).unwrap();
            arm
        })
        .collect()
}

/// The policy `spec` with default parameters, on drafters named `d0`, `d1`, …
#[cfg(test)]
fn policy(spec: &str, arms: usize) -> Box<dyn Policy> {
    let names: Vec<String> = (0..arms).map(|i| format!("d{i}")).collect();
    let spec: PolicySpec = spec.parse().unwrap();
    spec.build(&PolicyParams::default(), &names).unwrap()
}

#[cfg(test)]
fn rng(seed: u64) -> rand_chacha::ChaCha8Rng {
    rand::SeedableRng::seed_from_u64(seed)
}

/// Every known policy, with a drafter's name in the place of `NAME`.
#[cfg(test)]
pub(crate) fn every_spec() -> impl Iterator<Item = String> {
    PolicySpec::KNOWN
        .iter()
        .map(|name| name.replace("NAME", "d0"))
}

/// Mean rewards of four arms, the best of them in the middle.
#[cfg(test)]
const MEANS: [f64; 4] = [0.35, 0.55, 0.7, 0.45];

/// In what share of `rounds` the policy `spec` selects `arm`, over fifty queries, when an arm's
/// reward in a round is its mean of that round give or take up to 0.3.
#[cfg(test)]
fn share(
    (spec, params): (&str, &PolicyParams),
    means: &dyn Fn(usize) -> &'static [f64],
    rounds: std::ops::Range<usize>,
    arm: usize,
) -> f64 {
    use rand::RngExt;

    let names: Vec<String> = (0..means(0).len()).map(|i| format!("d{i}")).collect();
    let spec: PolicySpec = spec.parse().unwrap();
    let mut policy = spec.build(params, &names).unwrap();
    let queries = 50;
    let mut selected = 0;
    for seed in 0..queries {
        let (mut choices, mut noise) = (rng(seed), rng(1000 + seed));
        policy.reset(names.len());
        for round in 0..rounds.end {
            let ArmId(choice) = policy.select(&mut choices).unwrap();
            let reward = means(round)[choice] + noise.random_range(-0.3..0.3);
            policy.observe(&feedback(choice, reward)).unwrap();
            selected += u64::from(choice == arm && rounds.contains(&round));
        }
    }
    selected as f64 / (queries * rounds.len() as u64) as f64
}

/// Two arms of which the second becomes the better one at round 300.
#[cfg(test)]
fn change(round: usize) -> &'static [f64] {
    if round < 300 {
        &[0.5, 0.35]
    } else {
        &[0.5, 0.65]
    }
}

#[cfg(test)]
fn message<T: fmt::Debug>(result: Result<T>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), crate::error::ErrorKind::InvalidArgument);
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::RngExt;

    fn selections(policy: &mut dyn Policy, seed: u64, rounds: usize) -> Vec<Option<ArmId>> {
        let mut rng = rng(seed);
        let mut rewards = super::rng(seed + 1);
        (0..rounds)
            .map(|_| {
                let arm = policy.select(&mut rng);
                if let Some(arm) = arm {
                    let feedback = feedback(arm.0, rewards.random());
                    policy.observe(&feedback).unwrap();
                }
                arm
            })
            .collect()
    }

    #[test]
    fn a_lone_arm_is_always_selected() {
        for spec in every_spec().filter(|spec| spec != "off") {
            let selected = selections(&mut *policy(&spec, 1), 1, 20);
            assert_eq!(selected, [Some(ArmId(0)); 20], "{spec}");
        }
    }

    #[test]
    fn nothing_is_selected_without_arms() {
        for spec in every_spec() {
            let mut policy = policy(&spec, 3);
            policy.reset(0);
            assert_eq!(policy.select(&mut rng(1)), None, "{spec}");
        }
    }

    #[test]
    fn nothing_is_selected_once_all_arms_have_retired() {
        for spec in every_spec() {
            let mut policy = policy(&spec, 3);
            selections(&mut *policy, 1, 5);
            (0..3).map(ArmId).for_each(|arm| policy.retire(arm));
            assert_eq!(policy.select(&mut rng(1)), None, "{spec}");
        }
    }

    #[test]
    fn a_retired_arm_stays_out_after_a_reset() {
        for spec in every_spec() {
            let mut policy = policy(&spec, 3);
            policy.retire(ArmId(0));
            policy.reset(3);
            let selected = selections(&mut *policy, 1, 30);
            assert!(!selected.contains(&Some(ArmId(0))), "{spec}");
            assert!(policy.state().arms[0].retired, "{spec}");
        }
    }

    #[test]
    fn a_reset_policy_selects_and_believes_as_a_new_one() {
        for spec in every_spec() {
            let mut used = policy(&spec, 2);
            selections(&mut *used, 9, 25);
            used.reset(4);
            let mut new = policy(&spec, 4);
            assert_eq!(used.state(), new.state(), "{spec}");
            assert_eq!(
                selections(&mut *used, 2, 40),
                selections(&mut *new, 2, 40),
                "{spec}"
            );
            assert_eq!(used.state(), new.state(), "{spec}");
        }
    }

    /// Rounds that score every arm, with random rewards.
    fn scored_rounds(policy: &mut dyn Policy, arms: usize, rounds: usize) {
        let mut rng = rng(4);
        for _ in 0..rounds {
            let Some(arm) = policy.select(&mut rng) else {
                return;
            };
            let scores = (0..arms).map(|arm| (ArmId(arm), rng.random())).collect();
            let feedback = Feedback {
                counterfactual: scores,
                ..feedback(arm.0, rng.random())
            };
            policy.observe(&feedback).unwrap();
        }
    }

    fn scoring(spec: &str, arms: usize) -> Box<dyn Policy> {
        let params = PolicyParams {
            counterfactual: 10,
            ..PolicyParams::default()
        };
        let names: Vec<String> = (0..arms).map(|i| format!("d{i}")).collect();
        let spec: PolicySpec = spec.parse().unwrap();
        spec.build(&params, &names).unwrap()
    }

    #[test]
    fn what_is_carried_over_whole_leaves_the_means_and_begins_a_new_count() {
        for spec in every_spec() {
            let mut policy = scoring(&spec, 3);
            scored_rounds(&mut *policy, 3, 30);
            let before = policy.state();
            policy.carry(3, 1.0);
            let after = policy.state();
            assert_eq!(after.t, 0, "{spec}");
            for (before, after) in before.arms.iter().zip(&after.arms) {
                assert_eq!((after.mean, after.weight), (before.mean, before.weight));
                assert_eq!(after.pulls, 0, "{spec}");
            }
        }
    }

    #[test]
    fn what_is_carried_over_counts_as_much_as_the_discount_leaves() {
        for spec in every_spec() {
            let mut policy = scoring(&spec, 3);
            scored_rounds(&mut *policy, 3, 30);
            let before = policy.state();
            policy.carry(3, 0.25);
            for (before, after) in before.arms.iter().zip(&policy.state().arms) {
                assert!((after.weight - before.weight / 4.0).abs() < 1e-9, "{spec}");
                let unchanged = after.mean.zip(before.mean);
                assert!(
                    unchanged.is_none_or(|(a, b)| (a - b).abs() < 1e-9),
                    "{spec}"
                );
            }
        }
    }

    #[test]
    fn carrying_nothing_is_a_reset_but_for_whose_turn_it_is() {
        for spec in every_spec().filter(|spec| spec != "round-robin") {
            let (mut carried, mut reset) = (scoring(&spec, 3), scoring(&spec, 3));
            scored_rounds(&mut *carried, 3, 30);
            scored_rounds(&mut *reset, 3, 30);
            carried.carry(4, 0.0);
            reset.reset(4);
            assert_eq!(carried.state(), reset.state(), "{spec}");
            assert_eq!(
                selections(&mut *carried, 2, 30),
                selections(&mut *reset, 2, 30),
                "{spec}"
            );
        }
    }

    #[test]
    fn a_counterfactual_entry_that_cannot_be_is_refused_where_it_counts() {
        for spec in ["metasd-ucb", "sw-ucb", "d-ucb", "hedge"] {
            let mut policy = scoring(spec, 3);
            assert!(policy.wants_counterfactual(), "{spec}");
            policy.observe(&feedback(1, 0.5)).unwrap();
            policy.retire(ArmId(2));
            let before = policy.state();
            let mut observe = |arm: usize, agreement: f64| {
                policy.observe(&Feedback {
                    counterfactual: vec![(ArmId(1), 0.5), (ArmId(arm), agreement)],
                    ..feedback(1, 0.5)
                })
            };
            for agreement in [f64::NAN, -0.5, 1.5] {
                let message = message(observe(0, agreement));
                assert!(message.contains("agreement of arm 0 is"), "{message}");
            }
            assert!(message(observe(3, 0.5)).contains("arm 3"), "{spec}");
            // That of an arm that has left is not looked at.
            observe(2, f64::NAN).unwrap();
            assert_eq!(policy.state().t, before.t + 1, "{spec}");
            assert_eq!(policy.state().arms[2], before.arms[2], "{spec}");
        }
    }

    #[test]
    fn only_what_can_choose_asks_for_counterfactual_feedback() {
        for spec in every_spec() {
            let wants = |params: &PolicyParams, arms: usize| {
                let names: Vec<String> = (0..arms).map(|i| format!("d{i}")).collect();
                let spec: PolicySpec = spec.parse().unwrap();
                spec.build(params, &names).unwrap().wants_counterfactual()
            };
            let scored = PolicyParams {
                counterfactual: 1,
                ..PolicyParams::default()
            };
            let learns = ["metasd-ucb", "sw-ucb", "d-ucb"].contains(&spec.as_str());
            assert_eq!(
                wants(&PolicyParams::default(), 3),
                spec == "hedge",
                "{spec}"
            );
            assert_eq!(wants(&scored, 3), learns || spec == "hedge", "{spec}");
            assert!(!wants(&scored, 1), "{spec}");
        }
    }

    #[test]
    fn feedback_for_an_unknown_arm_is_refused() {
        for spec in every_spec() {
            let mut policy = policy(&spec, 3);
            let message = message(policy.observe(&feedback(3, 0.5)));
            assert!(message.contains("arm 3"), "{spec}: {message}");
        }
    }

    #[test]
    fn feedback_for_a_retired_arm_is_ignored() {
        for spec in every_spec() {
            let mut policy = policy(&spec, 3);
            policy.observe(&feedback(1, 0.5)).unwrap();
            policy.retire(ArmId(1));
            let before = policy.state();
            policy.observe(&feedback(1, 0.9)).unwrap();
            policy.observe(&feedback(1, f64::NAN)).unwrap();
            assert_eq!(policy.state(), before, "{spec}");
            assert_eq!((before.t, before.arms[1].pulls), (1, 1), "{spec}");
        }
    }

    #[test]
    fn a_refused_reward_leaves_the_statistics_alone() {
        for spec in every_spec() {
            let mut policy = policy(&spec, 3);
            policy.observe(&feedback(1, 0.5)).unwrap();
            let before = policy.state();
            for value in [f64::NAN, -0.5, 1.5] {
                message(policy.observe(&feedback(1, value)));
            }
            assert_eq!(policy.state(), before, "{spec}");
        }
    }

    #[test]
    fn the_chosen_reward_is_the_one_that_is_learnt() {
        let params = PolicyParams {
            reward: Reward::Be,
            ..PolicyParams::default()
        };
        for spec in every_spec() {
            let spec: PolicySpec = spec.parse().unwrap();
            let mut policy = spec.build(&params, &["d0".to_owned()]).unwrap();
            // A bad value of the reward that is not in use does no harm.
            policy.observe(&feedback(0, f64::NAN)).unwrap();
            assert_eq!(policy.state().arms[0].mean, Some(0.4), "{spec}");
        }
    }

    #[test]
    fn the_same_generator_gives_the_same_selections() {
        for spec in every_spec() {
            let run = || selections(&mut *policy(&spec, 5), 11, 60);
            assert_eq!(run(), run(), "{spec}");
        }
    }

    proptest! {
        #[test]
        fn no_policy_selects_an_arm_that_is_unknown_or_has_retired(
            arms in 1usize..6,
            seed: u64,
            steps in prop::collection::vec((prop::option::weighted(0.1, 0usize..6), 0.0..=1.0), 0..60),
        ) {
            for spec in every_spec() {
                let mut policy = policy(&spec, arms);
                let mut rng = rng(seed);
                let mut retired = std::collections::BTreeSet::new();
                for &(retire, reward) in &steps {
                    if let Some(arm) = retire {
                        policy.retire(ArmId(arm));
                        retired.insert(arm);
                    }
                    if let Some(ArmId(arm)) = policy.select(&mut rng) {
                        prop_assert!(arm < arms && !retired.contains(&arm), "{}", spec);
                        policy.observe(&feedback(arm, reward)).unwrap();
                    }
                }
            }
        }
    }
}
