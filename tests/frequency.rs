//! Speculative sampling is lossless: over many seeds the joint frequencies of the first three
//! tokens follow the target's exact law after the whole sampler chain, whatever the drafter.
//!
//! The exact law is computed here, in `f64`, by an implementation of the sampler chain of its own.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use metasd::TokenId;
use metasd::llama::SamplingParams;
use metasd::pool::Pool;
use metasd::scripted::{ScriptedDrafter, ScriptedTarget, ScriptedVocabulary};
use metasd::session::{GenerateParams, Session, SessionParams};
use statrs::distribution::{ChiSquared, ContinuousCDF};

const N_VOCAB: usize = 6;
const LENGTH: usize = 3;
const SAMPLES: u64 = 1_000_000;
const PROMPT: [TokenId; 3] = [TokenId(1), TokenId(4), TokenId(1)];

/// The target's logits: they depend on the last two tokens, and one token is impossible.
fn target_logits(text: &[TokenId]) -> Vec<f32> {
    let last = text[text.len() - 1].index();
    let before = text[text.len() - 2].index();
    let mut row: Vec<f32> = (0..N_VOCAB)
        .map(|token| ((token * 7 + last * 3 + before) % 5) as f32 * 0.6 - 0.9)
        .collect();
    row[(last + 2) % N_VOCAB] = f32::NEG_INFINITY;
    row
}

/// A drafter that is right about some tokens and wrong about others.
fn drafter_logits(text: &[TokenId]) -> Vec<f32> {
    let last = text[text.len() - 1].index();
    (0..N_VOCAB)
        .map(|token| ((token * 2 + last * 5) % 4) as f32 * 0.8)
        .collect()
}

/// A drafter that is right about others.
fn other_logits(text: &[TokenId]) -> Vec<f32> {
    let last = text[text.len() - 1].index();
    (0..N_VOCAB)
        .map(|token| ((token * 5 + last) % 3) as f32 * 1.1)
        .collect()
}

/// The distribution after the chain, from its definition.
fn exact(text: &[TokenId], params: &SamplingParams) -> Vec<f64> {
    let window = params.repeat_last_n as usize;
    let recent = &text[text.len().saturating_sub(window)..];
    let mut candidates: Vec<(usize, f64)> = target_logits(text)
        .into_iter()
        .map(f64::from)
        .enumerate()
        .map(|(token, logit)| {
            let count = recent.iter().filter(|seen| seen.index() == token).count() as f64;
            if count == 0.0 {
                return (token, logit);
            }
            let repeat = f64::from(params.repeat_penalty);
            let scaled = if logit <= 0.0 {
                logit * repeat
            } else {
                logit / repeat
            };
            let minus =
                count * f64::from(params.frequency_penalty) + f64::from(params.presence_penalty);
            (token, scaled - minus)
        })
        .collect();
    candidates.sort_by(|a, b| b.1.total_cmp(&a.1));
    if params.top_k > 0 {
        candidates.truncate(params.top_k as usize);
    }
    let softmax = |candidates: &[(usize, f64)], temperature: f64| {
        let max = candidates[0].1;
        let weights: Vec<f64> = candidates
            .iter()
            .map(|(_, logit)| ((logit - max) / temperature).exp())
            .collect();
        let sum: f64 = weights.iter().sum();
        weights
            .into_iter()
            .map(|weight| weight / sum)
            .collect::<Vec<_>>()
    };
    let mut sum = 0.0;
    let kept = softmax(&candidates, 1.0)
        .iter()
        .take_while(|p| {
            let below = sum < f64::from(params.top_p);
            sum += **p;
            below
        })
        .count();
    candidates.truncate(kept);
    let least = candidates[0].1 + f64::from(params.min_p).ln();
    candidates.retain(|(_, logit)| *logit >= least);
    let mut law = vec![0.0; N_VOCAB];
    for ((token, _), p) in candidates
        .iter()
        .zip(softmax(&candidates, f64::from(params.temperature)))
    {
        law[*token] = p;
    }
    law
}

/// The probability of every sequence of `LENGTH` tokens.
fn exact_joint(params: &SamplingParams) -> Vec<f64> {
    let mut joint = vec![0.0; N_VOCAB.pow(LENGTH as u32)];
    let mut open = vec![(PROMPT.to_vec(), 1.0, 0)];
    while let Some((text, p, index)) = open.pop() {
        if text.len() == PROMPT.len() + LENGTH {
            joint[index] += p;
            continue;
        }
        for (token, q) in exact(&text, params).into_iter().enumerate() {
            if q > 0.0 {
                let mut longer = text.clone();
                longer.push(TokenId::from_index(token));
                open.push((longer, p * q, index * N_VOCAB + token));
            }
        }
    }
    joint
}

fn check(sampling: SamplingParams, drafter: ScriptedDrafter) {
    check_with("fixed:0", sampling, vec![drafter]);
}

/// With drafters named `0`, `1`, …
fn check_with(policy: &str, sampling: SamplingParams, drafters: Vec<ScriptedDrafter>) {
    let mut pool = Pool::default();
    let target = ScriptedTarget::new(N_VOCAB, 100, Box::new(target_logits));
    let target = target.with_trees(drafters.len(), 2 * drafters.len() + 1);
    for (index, drafter) in drafters.into_iter().enumerate() {
        pool.add(index.to_string(), Box::new(drafter));
    }
    let mut session = Session::new(
        Box::new(target),
        Arc::new(ScriptedVocabulary::letters(N_VOCAB)),
        pool,
        SessionParams {
            policy: policy.parse().expect("a known policy"),
            n_max: 2,
            ..SessionParams::default()
        },
    )
    .expect("valid parameters");
    let mut counts = vec![0u64; N_VOCAB.pow(LENGTH as u32)];
    let mut params = GenerateParams {
        max_tokens: Some(LENGTH),
        sampling,
        ..GenerateParams::default()
    };
    let (mut drafted, mut accepted) = (0, 0);
    for seed in 0..SAMPLES {
        params.sampling.seed = seed;
        let generation = session
            .generate(&PROMPT, &params, &AtomicBool::new(false), &mut |_| {})
            .expect("a valid prompt");
        assert!(generation.error.is_none(), "{:?}", generation.error);
        drafted += generation.timings.draft_n;
        accepted += generation.timings.draft_n_accepted;
        let index = generation
            .tokens
            .iter()
            .fold(0, |index, token| index * N_VOCAB + token.index());
        counts[index] += 1;
    }
    assert!(
        accepted > 0 && accepted < drafted,
        "both branches must be seen"
    );

    let mut statistic = 0.0;
    let mut cells = 0;
    for (index, (&count, p)) in counts.iter().zip(exact_joint(&params.sampling)).enumerate() {
        if p == 0.0 {
            assert_eq!(count, 0, "sequence {index} is impossible");
            continue;
        }
        let expected = p * SAMPLES as f64;
        assert!(expected > 5.0, "a cell too small for the test: {expected}");
        statistic += (count as f64 - expected).powi(2) / expected;
        cells += 1;
    }
    let law = ChiSquared::new(f64::from(cells - 1)).expect("degrees of freedom");
    let p_value = 1.0 - law.cdf(statistic);
    println!("{cells} cells, chi-square {statistic:.1}, p = {p_value:.4}");
    assert!(
        p_value > 0.001,
        "chi-square {statistic} on {cells} cells: p = {p_value}"
    );
}

fn base() -> SamplingParams {
    SamplingParams {
        temperature: 0.9,
        top_k: 0,
        top_p: 1.0,
        min_p: 0.0,
        ..SamplingParams::default()
    }
}

fn sampled() -> ScriptedDrafter {
    ScriptedDrafter::new(Box::new(drafter_logits))
}

fn one_hot() -> ScriptedDrafter {
    ScriptedDrafter::one_hot(Box::new(drafter_logits))
}

#[test]
fn temperature_alone_with_a_drafter_that_samples() {
    check(base(), sampled());
}

#[test]
fn temperature_alone_with_a_one_hot_drafter() {
    check(base(), one_hot());
}

#[test]
fn top_k_with_a_drafter_that_samples() {
    check(SamplingParams { top_k: 3, ..base() }, sampled());
}

#[test]
fn top_p_with_a_drafter_that_samples() {
    check(
        SamplingParams {
            top_p: 0.8,
            ..base()
        },
        sampled(),
    );
}

#[test]
fn min_p_with_a_one_hot_drafter() {
    check(
        SamplingParams {
            min_p: 0.25,
            ..base()
        },
        one_hot(),
    );
}

#[test]
fn penalties_with_a_drafter_that_samples() {
    check(
        SamplingParams {
            repeat_penalty: 1.3,
            frequency_penalty: 0.2,
            presence_penalty: 0.1,
            repeat_last_n: 4,
            ..base()
        },
        sampled(),
    );
}

#[test]
fn the_whole_chain_with_a_one_hot_drafter() {
    check(
        SamplingParams {
            top_k: 4,
            top_p: 0.9,
            min_p: 0.05,
            repeat_penalty: 1.2,
            frequency_penalty: 0.1,
            ..base()
        },
        one_hot(),
    );
}

/// Two that sample, of which one is there twice, and two that are certain.
fn several() -> Vec<ScriptedDrafter> {
    vec![
        sampled(),
        ScriptedDrafter::new(Box::new(other_logits)),
        one_hot(),
        sampled(),
        ScriptedDrafter::one_hot(Box::new(other_logits)),
    ]
}

#[test]
fn draft_all_with_temperature_alone() {
    check_with("draft-all", base(), several());
}

#[test]
fn draft_all_with_drafters_that_all_sample_and_top_k() {
    let mut drafters = several();
    drafters.truncate(2);
    check_with("draft-all", SamplingParams { top_k: 3, ..base() }, drafters);
}

#[test]
fn draft_all_with_penalties() {
    let sampling = SamplingParams {
        repeat_penalty: 1.3,
        frequency_penalty: 0.2,
        repeat_last_n: 4,
        ..base()
    };
    check_with("draft-all", sampling, several());
}

#[test]
fn an_ensemble_of_all_with_top_p() {
    let sampling = SamplingParams {
        top_p: 0.8,
        ..base()
    };
    check_with("static-ensemble", sampling, several());
}

#[test]
fn an_ensemble_of_two_with_penalties() {
    let sampling = SamplingParams {
        repeat_penalty: 1.3,
        presence_penalty: 0.1,
        repeat_last_n: 4,
        ..base()
    };
    let mut drafters = several();
    drafters.truncate(2);
    check_with("static-ensemble", sampling, drafters);
}
