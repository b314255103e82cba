//! Rounds, arms and games for the tests of the policies.

use std::fmt;
use std::ops::Range;

use rand::RngExt;

use crate::bandit::{Feedback, Policy, PolicyParams, PolicySpec};
use crate::error::Result;
use crate::types::ArmId;

pub(crate) fn feedback(arm: usize, reward: f64) -> Feedback {
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
pub(crate) fn observe(policy: &mut dyn Policy, rounds: &[(usize, f64)]) {
    for &(arm, reward) in rounds {
        policy.observe(&feedback(arm, reward)).unwrap();
    }
}

/// The arms of `rounds` rounds when arm `i` always gives `rewards[i]`.
pub(crate) fn play(policy: &mut dyn Policy, rewards: &[f64], rounds: usize) -> Vec<usize> {
    (0..rounds)
        .map(|_| {
            let ArmId(arm) = policy.select(&mut rng(0)).unwrap();
            policy.observe(&feedback(arm, rewards[arm])).unwrap();
            arm
        })
        .collect()
}

/// The policy `spec` with default parameters, on drafters named `d0`, `d1`, …
pub(crate) fn policy(spec: &str, arms: usize) -> Box<dyn Policy> {
    let names: Vec<String> = (0..arms).map(|i| format!("d{i}")).collect();
    let spec: PolicySpec = spec.parse().unwrap();
    spec.build(&PolicyParams::default(), &names).unwrap()
}

pub(crate) fn rng(seed: u64) -> rand_chacha::ChaCha8Rng {
    rand::SeedableRng::seed_from_u64(seed)
}

/// Every known policy, with a drafter's name in the place of `NAME`.
pub(crate) fn every_spec() -> impl Iterator<Item = String> {
    PolicySpec::KNOWN
        .iter()
        .map(|name| name.replace("NAME", "d0"))
}

/// Mean rewards of four arms, the best of them in the middle.
pub(crate) const MEANS: [f64; 4] = [0.35, 0.55, 0.7, 0.45];

/// In what share of `rounds` the policy `spec` selects `arm`, over fifty queries, when an arm's
/// reward in a round is its mean of that round give or take up to 0.3.
pub(crate) fn share(
    (spec, params): (&str, &PolicyParams),
    means: &dyn Fn(usize) -> &'static [f64],
    rounds: Range<usize>,
    arm: usize,
) -> f64 {
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
pub(crate) fn change(round: usize) -> &'static [f64] {
    if round < 300 {
        &[0.5, 0.35]
    } else {
        &[0.5, 0.65]
    }
}

pub(crate) fn message<T: fmt::Debug>(result: Result<T>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), crate::error::ErrorKind::InvalidArgument);
    error.to_string()
}
