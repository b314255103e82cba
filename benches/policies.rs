//! Choosing an arm and learning from its round, for every policy: what each round of a generation
//! pays for the bandit.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use metasd::ArmId;
use metasd::bandit::{Feedback, Policy, PolicyParams, PolicySpec};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rounds played before any is measured, so that every arm has been seen.
const ROUNDS_BEFORE: usize = 600;

/// Rewards that are read in turns: drawing them is no part of a policy.
const REWARDS: usize = 1024;

struct Game {
    policy: Box<dyn Policy>,
    rng: ChaCha8Rng,
    feedback: Feedback,
    scores: Vec<Vec<(ArmId, f64)>>,
    rewards: Vec<f64>,
    round: usize,
}

impl Game {
    fn new(spec: &PolicySpec, arms: usize, params: &PolicyParams) -> Self {
        let names: Vec<String> = (0..arms).map(|arm| arm.to_string()).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut reward = |arm: usize| {
            let mean = 0.3 + 0.4 * arm as f64 / arms as f64;
            mean + rng.random_range(-0.2..0.2)
        };
        let rewards = (0..REWARDS).map(|_| reward(arms / 2)).collect();
        let mut scores = || (0..arms).map(|arm| (ArmId(arm), reward(arm))).collect();
        let scores = (0..16).map(|_| scores()).collect();
        let mut game = Self {
            policy: spec.build(params, &names).expect("a policy"),
            rng: ChaCha8Rng::seed_from_u64(2),
            feedback: Feedback {
                arm: ArmId(0),
                drafted: 5,
                accepted: 2,
                committed: 3,
                bd: 0.0,
                be: 0.4,
                seconds: 0.01,
                counterfactual: Vec::new(),
            },
            scores,
            rewards,
            round: 0,
        };
        (0..ROUNDS_BEFORE).for_each(|_| game.round());
        game
    }

    fn round(&mut self) {
        let Some(arm) = self.policy.select(&mut self.rng) else {
            return;
        };
        self.feedback.arm = black_box(arm);
        self.feedback.bd = self.rewards[self.round % REWARDS];
        let wanted = self.policy.wants_counterfactual();
        let scores = self.round % self.scores.len();
        if wanted {
            // Handed over, not copied: the engine makes them anew each round.
            std::mem::swap(&mut self.feedback.counterfactual, &mut self.scores[scores]);
        }
        self.policy.observe(&self.feedback).expect("valid feedback");
        if wanted {
            std::mem::swap(&mut self.feedback.counterfactual, &mut self.scores[scores]);
        }
        self.round += 1;
    }
}

fn rounds(c: &mut Criterion) {
    for arms in [8, 256] {
        let mut group = c.benchmark_group(format!("select_and_observe/{arms}"));
        for name in PolicySpec::KNOWN {
            let spec: PolicySpec = name.replace("NAME", "0").parse().expect("a policy");
            let mut game = Game::new(&spec, arms, &PolicyParams::default());
            group.bench_function(*name, |b| b.iter(|| game.round()));
        }
        let all_scored = PolicyParams {
            counterfactual: usize::MAX,
            ..PolicyParams::default()
        };
        for name in ["metasd-ucb", "sw-ucb", "d-ucb"] {
            let spec = name.parse().expect("a policy");
            let mut game = Game::new(&spec, arms, &all_scored);
            group.bench_function(format!("{name}, all scored"), |b| b.iter(|| game.round()));
        }
        group.finish();
    }
}

criterion_group!(benches, rounds);
criterion_main!(benches);
