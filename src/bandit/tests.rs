//! What holds of every policy.

use crate::bandit::*;
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
