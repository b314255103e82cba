//! What regret each policy has on problems that stay the same: five arms with the gaps of a pool's
//! drafters, and two that change places.

use crate::bandit::{PolicyParams, PolicySpec, every_spec};
use crate::error::Result;
use crate::sim::{Arm, Estimate, Experiment, SimRun, regret};

fn arms(texts: &[&str]) -> Vec<Arm> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn ok() -> Result<()> {
    Ok(())
}

struct Problem {
    arms: Vec<Arm>,
    tokens: u64,
}

impl Problem {
    fn experiment(&self) -> Experiment<'_> {
        Experiment {
            arms: &self.arms,
            tokens: self.tokens,
            n_max: 5,
            runs: 100,
            seed: 1,
        }
    }

    fn best(&self) -> Vec<SimRun> {
        self.experiment().best_fixed(&mut ok).unwrap().1
    }

    fn regret(&self, policy: &str, params: &PolicyParams, best: &[SimRun]) -> Estimate {
        let spec: PolicySpec = policy.parse().unwrap();
        let runs = self.experiment().runs(&spec, params, &mut ok).unwrap();
        regret(&runs, best)
    }
}

fn steady(tokens: u64) -> Problem {
    Problem {
        arms: arms(&["0.5", "0.41", "0.32", "0.31", "0.3"]),
        tokens,
    }
}

#[test]
fn every_policys_regret_lies_in_its_band() {
    // The best arm takes 520 rounds, all arms in turns 120 more.
    let bands = [
        ("metasd-ucb", 1.0, 9.0),
        ("sw-ucb", 15.0, 22.0),
        ("d-ucb", 15.0, 22.0),
        ("exp3", 58.0, 78.0),
        ("hedge", 0.5, 4.0),
        ("seq-halving", 6.0, 16.0),
        ("etc", 8.0, 45.0),
        ("thompson", 1.0, 10.0),
        ("eps-greedy", 9.0, 19.0),
        ("round-robin", 112.0, 127.0),
        ("random", 112.0, 127.0),
        ("off", 495.0, 512.0),
        ("fixed:0", 0.0, 0.0),
    ];
    let problem = steady(1024);
    let best = problem.best();
    for (policy, low, high) in bands {
        let found = problem.regret(policy, &PolicyParams::default(), &best);
        assert!((low..=high).contains(&found.mean), "{policy}: {found:?}");
    }
    let banded = bands.map(|(policy, ..)| policy.replace("fixed:0", "fixed:d0"));
    let on_arms = |name: &String| !name.parse::<PolicySpec>().unwrap().needs_models();
    for known in every_spec().filter(on_arms) {
        assert!(banded.contains(&known), "{known} has no band");
    }
}

#[test]
fn scoring_all_arms_at_first_costs_no_more_rounds_than_trying_each() {
    let problem = steady(96);
    let best = problem.best();
    let scored = PolicyParams {
        counterfactual: 8,
        ..PolicyParams::default()
    };
    for policy in ["metasd-ucb", "sw-ucb", "d-ucb"] {
        let alone = problem.regret(policy, &PolicyParams::default(), &best);
        let with = problem.regret(policy, &scored, &best);
        assert!(with.mean < alone.mean, "{policy}: {with:?} {alone:?}");
    }
}

#[test]
fn policies_that_forget_need_fewer_rounds_than_every_arm_where_arms_change_places() {
    let problem = Problem {
        arms: arms(&["0.6/0.3", "0.3/0.6", "0.4"]),
        tokens: 1024,
    };
    let best = problem.best();
    for policy in ["sw-ucb", "d-ucb", "hedge"] {
        let found = problem.regret(policy, &PolicyParams::default(), &best);
        assert!(found.mean < -100.0, "{policy}: {found:?}");
    }
}

#[test]
fn halving_commits_so_that_its_regret_grows_more_slowly_than_the_text() {
    let [short, long] = [1 << 10, 1 << 13].map(|tokens| {
        let problem = steady(tokens);
        problem.regret("seq-halving", &PolicyParams::default(), &problem.best())
    });
    // Eight times as many tokens: 8^(2/3) = 4 times the exploration.
    assert!(long.mean < 6.0 * short.mean, "{short:?} {long:?}");
    let committing = steady(1 << 13);
    let horizon = PolicyParams {
        horizon: Some(4000),
        ..PolicyParams::default()
    };
    let exploring = committing.regret("seq-halving", &horizon, &committing.best());
    assert!(long.mean < 0.2 * exploring.mean, "{long:?} {exploring:?}");
}
