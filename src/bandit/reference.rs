//! Slow references: every policy's choice, worked out anew from all that has happened so far by
//! its formula alone, to hold the policies against.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::bandit::{Feedback, PolicyParams, PolicySpec, feedback};
use crate::types::ArmId;

#[derive(Clone, Debug)]
enum Event {
    Retire(usize),
    Carry(f64),
    Round(Round),
}

#[derive(Clone, Debug)]
struct Round {
    arm: usize,
    reward: f64,
    committed: usize,
    entries: Vec<(usize, f64)>,
}

impl Round {
    fn entry(&self, arm: usize) -> Option<f64> {
        let entry = self.entries.iter().find(|entry| entry.0 == arm);
        entry.map(|entry| entry.1)
    }
}

/// All that has happened before a choice.
#[derive(Clone, Copy)]
struct Past<'a> {
    params: &'a PolicyParams,
    arms: usize,
    events: &'a [Event],
}

/// A round with its weight, and whether it counts by the agreement of all arms.
struct Weighted<'a> {
    weight: f64,
    scored: bool,
    round: &'a Round,
}

impl<'a> Past<'a> {
    fn until(self, index: usize) -> Self {
        Self {
            events: &self.events[..index],
            ..self
        }
    }

    fn available(&self) -> Vec<usize> {
        let retired: BTreeSet<usize> = (self.events.iter())
            .filter_map(|event| match event {
                Event::Retire(arm) => Some(*arm),
                _ => None,
            })
            .collect();
        (0..self.arms)
            .filter(|arm| !retired.contains(arm))
            .collect()
    }

    /// The rounds, oldest first, each with the product of the discounts that followed it.
    fn rounds(&self, counterfactual: usize) -> Vec<Weighted<'a>> {
        let mut rounds: Vec<Weighted<'a>> = Vec::new();
        let mut in_query = 0;
        for event in self.events {
            match event {
                Event::Retire(_) => {}
                Event::Carry(discount) => {
                    rounds.iter_mut().for_each(|round| round.weight *= discount);
                    in_query = 0;
                }
                Event::Round(round) => {
                    let scored = in_query < counterfactual && round.entry(round.arm).is_some();
                    in_query += 1;
                    rounds.push(Weighted {
                        weight: 1.0,
                        scored,
                        round,
                    });
                }
            }
        }
        rounds
    }

    /// Mean reward of an arm over rounds that count by their rewards alone, with its weight.
    fn plain(&self, arm: usize) -> Option<(f64, f64)> {
        mean(&self.rounds(0), arm)
    }
}

/// An arm's mean over `rounds` with its weight.
fn mean(rounds: &[Weighted<'_>], arm: usize) -> Option<(f64, f64)> {
    let total = |of: &dyn Fn(&Weighted<'_>) -> Option<f64>| -> f64 {
        let parts = rounds.iter().filter_map(|r| Some(r.weight * of(r)?));
        parts.sum()
    };
    let alone = |r: &Weighted<'_>| (!r.scored && r.round.arm == arm).then_some(());
    let beside = |r: &Weighted<'_>| r.round.entry(arm).filter(|_| r.scored);
    let drafting = |r: &Weighted<'_>| r.round.entry(r.round.arm).filter(|_| r.scored);
    let committed = |r: &Weighted<'_>| r.round.committed as f64;

    let n_alone = total(&|r| alone(r).map(|()| 1.0));
    let n_beside = total(&|r| beside(r).map(|_| 1.0));
    if n_alone + n_beside == 0.0 {
        return None;
    }
    let mut sum = total(&|r| alone(r).map(|()| r.round.reward));
    if n_beside > 0.0 {
        let agreement = total(&|r| beside(r).map(|a| a * committed(r)))
            / total(&|r| beside(r).map(|_| committed(r)));
        let rewards =
            total(&|r| drafting(r).map(|_| r.round.reward)) / total(&|r| drafting(r).map(|_| 1.0));
        let own = total(&|r| drafting(r).map(|a| a * committed(r)))
            / total(&|r| drafting(r).map(|_| committed(r)));
        sum += n_beside * (agreement + rewards - own);
    }
    Some((sum / (n_alone + n_beside), n_alone + n_beside))
}

/// The first arm without an index, else the first of the largest.
fn argmax(arms: &[usize], mut index: impl FnMut(usize) -> Option<f64>) -> Option<usize> {
    let indices: Vec<Option<f64>> = arms.iter().map(|&arm| index(arm)).collect();
    if let Some(untried) = indices.iter().position(Option::is_none) {
        return Some(arms[untried]);
    }
    let largest = indices.iter().flatten().copied().fold(f64::MIN, f64::max);
    let place = indices.iter().position(|&index| index == Some(largest))?;
    Some(arms[place])
}

/// `bd` is the β that the policy has by default.
fn upper_bound(past: Past<'_>, rounds: &[Weighted<'_>], t: f64, bd: f64) -> Option<usize> {
    let beta = past.params.beta_or(bd);
    argmax(&past.available(), |arm| {
        let (mean, n) = mean(rounds, arm)?;
        Some(mean + beta * (2.0 * t.max(1.0).ln() / n).sqrt())
    })
}

fn ucb(past: Past<'_>, _rng: &mut ChaCha8Rng) -> Option<usize> {
    let rounds = past.rounds(past.params.counterfactual);
    let t = rounds.iter().map(|round| round.weight).sum();
    upper_bound(past, &rounds, t, 0.12)
}

fn d_ucb(past: Past<'_>, _rng: &mut ChaCha8Rng) -> Option<usize> {
    let mut rounds = past.rounds(past.params.counterfactual);
    let last = rounds.len();
    for (index, round) in rounds.iter_mut().enumerate() {
        round.weight *= past.params.discount.powi((last - 1 - index) as i32);
    }
    let t = rounds.iter().map(|round| round.weight).sum();
    upper_bound(past, &rounds, t, 0.07)
}

fn sw_ucb(past: Past<'_>, _rng: &mut ChaCha8Rng) -> Option<usize> {
    let (mut held, mut seen) = (0, 0);
    for event in past.events {
        match event {
            Event::Retire(_) => {}
            Event::Carry(discount) => held = (discount * held as f64).floor() as usize,
            Event::Round(_) => {
                held = (held + 1).min(past.params.window);
                seen += 1;
            }
        }
    }
    let mut rounds = past
        .rounds(past.params.counterfactual)
        .split_off(seen - held);
    rounds.iter_mut().for_each(|round| round.weight = 1.0);
    upper_bound(past, &rounds, held as f64, 0.07)
}

/// Draws from `arms` with `probabilities`.
fn draw(arms: &[usize], probabilities: &[f64], rng: &mut ChaCha8Rng) -> Option<usize> {
    let u: f64 = rng.random();
    let mut sum = 0.0;
    for (&arm, p) in arms.iter().zip(probabilities) {
        sum += p;
        if u < sum {
            return Some(arm);
        }
    }
    arms.last().copied()
}

fn exp3(past: Past<'_>, rng: &mut ChaCha8Rng) -> Option<usize> {
    let gamma = past.params.exploration;
    let mut exponents = vec![0.0_f64; past.arms];
    let probabilities = |exponents: &[f64], arms: &[usize]| -> Vec<f64> {
        let sum: f64 = arms.iter().map(|&arm| exponents[arm].exp()).sum();
        let p =
            |&arm: &usize| (1.0 - gamma) * exponents[arm].exp() / sum + gamma / arms.len() as f64;
        arms.iter().map(p).collect()
    };
    for (index, event) in past.events.iter().enumerate() {
        match event {
            Event::Retire(_) => {}
            Event::Carry(discount) => exponents.iter_mut().for_each(|x| *x *= discount),
            Event::Round(round) => {
                let arms = past.until(index).available();
                let place = arms.iter().position(|&arm| arm == round.arm).unwrap();
                let estimate = round.reward / probabilities(&exponents, &arms)[place];
                exponents[round.arm] += gamma * estimate / arms.len() as f64;
            }
        }
    }
    let arms = past.available();
    draw(&arms, &probabilities(&exponents, &arms), rng)
}

/// NormalHedge's probabilities, its `c` found by bisection.
fn normal_hedge(regrets: &[f64]) -> Vec<f64> {
    let count = regrets.len() as f64;
    let mut positive: Vec<f64> = regrets.iter().map(|r| r.max(0.0)).collect();
    if positive.iter().all(|&r| r == 0.0) {
        let mean = regrets.iter().sum::<f64>() / count;
        positive = regrets.iter().map(|r| (r - mean).max(0.0)).collect();
    }
    if positive.iter().all(|&r| r < 1e-12) {
        return vec![1.0 / count; regrets.len()];
    }
    let potential = |c: f64| -> f64 {
        let parts = positive.iter().map(|r| (r * r / (2.0 * c)).exp());
        parts.sum::<f64>() / count
    };
    let (mut low, mut high) = (1e-9_f64, 1e9_f64);
    for _ in 0..200 {
        let c = (low * high).sqrt();
        if potential(c) > std::f64::consts::E {
            low = c;
        } else {
            high = c;
        }
    }
    let weight = |r: &f64| r / high * (r * r / (2.0 * high)).exp();
    let sum: f64 = positive.iter().map(weight).sum();
    positive.iter().map(|r| weight(r) / sum).collect()
}

fn hedge(past: Past<'_>, rng: &mut ChaCha8Rng) -> Option<usize> {
    let mut regrets = vec![0.0; past.arms];
    let mut seen: Vec<Vec<(f64, f64)>> = vec![Vec::new(); past.arms];
    let of = |regrets: &[f64], arms: &[usize]| -> Vec<f64> {
        arms.iter().map(|&arm| regrets[arm]).collect()
    };
    for (index, event) in past.events.iter().enumerate() {
        match event {
            Event::Retire(_) => {}
            Event::Carry(discount) => {
                regrets.iter_mut().for_each(|r| *r *= discount);
                seen.iter_mut().flatten().for_each(|(w, _)| *w *= discount);
            }
            Event::Round(round) => {
                let arms = past.until(index).available();
                let p = normal_hedge(&of(&regrets, &arms));
                let now = |arm: usize| {
                    let reward = (arm == round.arm).then_some(round.reward);
                    round.entry(arm).or(reward)
                };
                let known = |arm: usize| {
                    now(arm).or_else(|| {
                        let weight: f64 = seen[arm].iter().map(|(w, _)| w).sum();
                        let sum: f64 = seen[arm].iter().map(|(w, g)| w * g).sum();
                        (weight > 0.0).then(|| sum / weight)
                    })
                };
                let pairs = arms.iter().zip(&p);
                let known: Vec<(f64, f64)> = pairs
                    .filter_map(|(&arm, &p)| Some((p, known(arm)?)))
                    .collect();
                let weight: f64 = known.iter().map(|(p, _)| p).sum();
                let expected = match weight > 0.0 {
                    true => known.iter().map(|(p, g)| p * g).sum::<f64>() / weight,
                    false => known.iter().map(|(_, g)| g).sum::<f64>() / known.len() as f64,
                };
                regrets.iter_mut().for_each(|r| *r *= past.params.retention);
                for arm in arms {
                    if let Some(agreement) = now(arm) {
                        let committed = round.committed as f64;
                        regrets[arm] += committed * (agreement - expected);
                        seen[arm].push((committed, agreement));
                    }
                }
            }
        }
    }
    let arms = past.available();
    draw(&arms, &normal_hedge(&of(&regrets, &arms)), rng)
}

fn seq_halving(past: Past<'_>, _rng: &mut ChaCha8Rng) -> Option<usize> {
    let explore = past.params.horizon.unwrap_or(16) as f64;
    struct Phase {
        left: Vec<usize>,
        pulls: Vec<usize>,
        phases: f64,
    }
    let begin = |past: Past<'_>| Phase {
        left: past.available(),
        pulls: vec![0; past.arms],
        phases: (past.available().len() as f64).log2().ceil(),
    };
    let mut quota = 0;
    let quota_of = |phase: &Phase| {
        let share = explore / (phase.left.len() as f64 * phase.phases);
        (share.floor() as usize).max(1)
    };
    let mut phase = begin(past.until(0));
    let choose = |phase: &mut Phase, quota: &mut usize, past: Past<'_>| {
        if *quota == 0 {
            *quota = quota_of(phase);
        }
        let mean = |arm: usize| past.plain(arm).map_or(0.0, |(mean, _)| mean);
        loop {
            let done = phase.left.iter().all(|&arm| phase.pulls[arm] >= *quota);
            if phase.left.len() < 2 || !done {
                break;
            }
            let keep = phase.left.len().div_ceil(2);
            while phase.left.len() > keep {
                let worst = (phase.left.iter().copied())
                    .reduce(|a, b| if mean(b) <= mean(a) { b } else { a })
                    .unwrap();
                phase.left.retain(|&arm| arm != worst);
            }
            phase.pulls.fill(0);
            *quota = quota_of(phase);
        }
        match phase.left.as_slice() {
            [] => argmax(&past.available(), |arm| Some(mean(arm))),
            [arm] => Some(*arm),
            left => left.iter().copied().min_by_key(|&arm| phase.pulls[arm]),
        }
    };
    for (index, event) in past.events.iter().enumerate() {
        match event {
            Event::Retire(arm) => {
                // The quota is that of the arms with which the phase began.
                if quota == 0 {
                    quota = quota_of(&phase);
                }
                phase.left.retain(|left| left != arm);
            }
            Event::Carry(_) => {
                phase = begin(past.until(index));
                quota = 0;
            }
            Event::Round(round) => {
                choose(&mut phase, &mut quota, past.until(index));
                phase.pulls[round.arm] += 1;
            }
        }
    }
    choose(&mut phase, &mut quota, past)
}

fn etc(past: Past<'_>, _rng: &mut ChaCha8Rng) -> Option<usize> {
    let weight = |past: Past<'_>, arm: usize| past.plain(arm).map_or(0.0, |(_, n)| n);
    let mut committed = None;
    let choose = |committed: &mut Option<usize>, past: Past<'_>| {
        if committed.is_some() {
            return *committed;
        }
        let least = |a: usize, b: usize| {
            if weight(past, b) < weight(past, a) {
                b
            } else {
                a
            }
        };
        let arms = past.available();
        let next = arms.iter().copied().reduce(least)?;
        if weight(past, next) < past.params.explore_rounds as f64 {
            return Some(next);
        }
        *committed = argmax(&arms, |arm| past.plain(arm).map(|(mean, _)| mean));
        *committed
    };
    for (index, event) in past.events.iter().enumerate() {
        match event {
            Event::Retire(arm) => committed = committed.filter(|committed| committed != arm),
            Event::Carry(_) => committed = None,
            Event::Round(_) => {
                choose(&mut committed, past.until(index));
            }
        }
    }
    choose(&mut committed, past)
}

fn thompson(past: Past<'_>, rng: &mut ChaCha8Rng) -> Option<usize> {
    let arms = past.available();
    let untried = arms.iter().find(|&&arm| past.plain(arm).is_none());
    if untried.is_some() {
        return untried.copied();
    }
    argmax(&arms, |arm| {
        let normal: f64 = StandardNormal.sample(rng);
        let (mean, n) = past.plain(arm)?;
        Some(mean + past.params.beta_or(0.12) / n.sqrt() * normal)
    })
}

fn eps_greedy(past: Past<'_>, rng: &mut ChaCha8Rng) -> Option<usize> {
    let arms = past.available();
    let tried = arms.iter().all(|&arm| past.plain(arm).is_some());
    if tried && !arms.is_empty() && rng.random_bool(past.params.epsilon) {
        return Some(arms[rng.random_range(0..arms.len())]);
    }
    argmax(&arms, |arm| past.plain(arm).map(|(mean, _)| mean))
}

fn round_robin(past: Past<'_>, _rng: &mut ChaCha8Rng) -> Option<usize> {
    let arms = past.available();
    let last = past.events.iter().rev().find_map(|event| match event {
        Event::Round(round) => Some(round.arm),
        _ => None,
    });
    let after = |&&arm: &&usize| last.is_none_or(|last| arm > last);
    arms.iter().find(after).or(arms.first()).copied()
}

fn random(past: Past<'_>, rng: &mut ChaCha8Rng) -> Option<usize> {
    let arms = past.available();
    (!arms.is_empty()).then(|| arms[rng.random_range(0..arms.len())])
}

fn fixed(past: Past<'_>, _rng: &mut ChaCha8Rng) -> Option<usize> {
    past.available().first().copied().filter(|&arm| arm == 0)
}

fn off(_past: Past<'_>, _rng: &mut ChaCha8Rng) -> Option<usize> {
    None
}

/// The router without a ranking, and what has every arm in every round.
fn first(past: Past<'_>, _rng: &mut ChaCha8Rng) -> Option<usize> {
    past.available().first().copied()
}

type Reference = fn(Past<'_>, &mut ChaCha8Rng) -> Option<usize>;

const REFERENCES: &[(&str, Reference)] = &[
    ("metasd-ucb", ucb),
    ("sw-ucb", sw_ucb),
    ("d-ucb", d_ucb),
    ("exp3", exp3),
    ("hedge", hedge),
    ("seq-halving", seq_halving),
    ("etc", etc),
    ("thompson", thompson),
    ("eps-greedy", eps_greedy),
    ("round-robin", round_robin),
    ("random", random),
    ("off", off),
    ("fixed:d0", fixed),
    ("router", first),
    ("static-ensemble", first),
    ("draft-all", first),
];

/// Parameters that make every policy both explore and commit within some tens of rounds.
fn params(rng: &mut ChaCha8Rng) -> PolicyParams {
    PolicyParams {
        beta: Some(rng.random_range(0.0..0.5)),
        window: rng.random_range(1..12),
        discount: rng.random_range(0.6..1.0),
        exploration: rng.random_range(0.05..1.0),
        horizon: Some(rng.random_range(1..30)).filter(|_| rng.random_bool(0.8)),
        explore_rounds: rng.random_range(1..4),
        epsilon: rng.random_range(0.0..1.0),
        retention: rng.random_range(0.6..1.0),
        counterfactual: rng.random_range(0..10),
        ..PolicyParams::default()
    }
}

fn round(arm: usize, arms: usize, rng: &mut ChaCha8Rng) -> Round {
    let given = rng.random_bool(0.8);
    let mut entries = Vec::new();
    for arm in 0..arms {
        let agreement = rng.random_range(0.0..=1.0);
        if given && rng.random_bool(0.8) {
            entries.push((arm, agreement));
        }
    }
    Round {
        arm,
        reward: rng.random_range(0.0..=1.0),
        committed: rng.random_range(1..7),
        entries,
    }
}

fn check(name: &str, reference: Reference, arms: usize, seed: u64, steps: usize) {
    let mut script = ChaCha8Rng::seed_from_u64(seed);
    let params = params(&mut script);
    let names: Vec<String> = (0..arms).map(|arm| format!("d{arm}")).collect();
    let spec: PolicySpec = name.parse().unwrap();
    let mut policy = spec.build(&params, &names).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(!seed);
    let mut events = Vec::new();
    for step in 0..steps {
        if script.random_bool(0.06) {
            let arm = script.random_range(0..arms);
            policy.retire(ArmId(arm));
            events.push(Event::Retire(arm));
        }
        if script.random_bool(0.05) {
            let discount = script.random_range(0.1..=1.0);
            policy.carry(arms, discount);
            events.push(Event::Carry(discount));
        }
        let past = Past {
            params: &params,
            arms,
            events: &events,
        };
        let expected = reference(past, &mut rng.clone());
        let found = policy.select(&mut rng).map(|arm| arm.0);
        assert_eq!(
            found, expected,
            "{name}, step {step}: {params:?} {events:?}"
        );
        let Some(arm) = found else {
            continue;
        };
        let round = round(arm, arms, &mut script);
        let entries = round.entries.iter();
        policy
            .observe(&Feedback {
                committed: round.committed,
                counterfactual: entries.map(|&(arm, x)| (ArmId(arm), x)).collect(),
                ..feedback(arm, round.reward)
            })
            .unwrap();
        events.push(Event::Round(round));
    }
}

proptest! {
    #[test]
    fn every_policy_selects_as_its_reference_does(
        arms in 1usize..8,
        seed: u64,
        steps in 1usize..50,
    ) {
        for &(name, reference) in REFERENCES {
            check(name, reference, arms, seed, steps);
        }
    }
}

#[test]
fn every_policy_has_a_reference() {
    let known: BTreeSet<String> = crate::bandit::every_spec().collect();
    let referenced = REFERENCES.iter().map(|(name, _)| (*name).to_owned());
    assert_eq!(known, referenced.collect());
}
