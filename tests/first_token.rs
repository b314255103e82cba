//! On a real model, sampled text has the target's own law whether or not a drafter proposes it.

#[path = "support/models.rs"]
mod models;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use metasd::TokenId;
use metasd::bandit::PolicyParams;
use metasd::llama::{SamplerChain, SamplingParams};
use metasd::session::{GenerateParams, Session};
use statrs::distribution::{ChiSquared, ContinuousCDF};

const SEEDS: u64 = 2_000;

/// How often each token came first over the seeds.
fn first_tokens(session: &mut Session, prompt: &[TokenId], policy: &str) -> BTreeMap<TokenId, u64> {
    session
        .set_policy(
            policy.parse().expect("a known policy"),
            PolicyParams::default(),
        )
        .expect("a drafter of the pool");
    let mut counts = BTreeMap::new();
    let mut drafted = 0;
    for seed in 0..SEEDS {
        let params = GenerateParams {
            // Two, so that the first can be drafted.
            max_tokens: Some(2),
            sampling: SamplingParams {
                temperature: 1.0,
                seed,
                ..SamplingParams::default()
            },
            ignore_eos: true,
            ..GenerateParams::default()
        };
        let generation = session
            .generate(prompt, &params, &AtomicBool::new(false), &mut |_| {})
            .expect("a generation");
        drafted += generation.timings.draft_n;
        *counts.entry(generation.tokens[0]).or_default() += 1;
    }
    let expected = if policy == "off" { 0 } else { SEEDS as usize };
    assert_eq!(drafted, expected, "{policy} drafts one token a seed");
    counts
}

/// The p-value of `counts` under `law`, cells with fewer than five expected taken together.
fn p_value(counts: &BTreeMap<TokenId, u64>, law: &BTreeMap<TokenId, f64>) -> f64 {
    assert!(
        counts.keys().all(|token| law.contains_key(token)),
        "an impossible token"
    );
    let (mut cells, mut rest) = (Vec::new(), (0.0, 0.0));
    for (token, p) in law {
        let expected = p * SEEDS as f64;
        let found = counts.get(token).copied().unwrap_or(0) as f64;
        if expected >= 5.0 {
            cells.push((found, expected));
        } else {
            rest = (rest.0 + found, rest.1 + expected);
        }
    }
    if rest.1 > 0.0 {
        cells.push(rest);
    }
    assert!(cells.len() > 3, "a law too narrow to test: {law:?}");
    let statistic: f64 = cells
        .iter()
        .map(|(found, expected)| (found - expected).powi(2) / expected)
        .sum();
    let chi_square = ChiSquared::new(cells.len() as f64 - 1.0).expect("degrees of freedom");
    1.0 - chi_square.cdf(statistic)
}

#[test]
fn the_first_token_has_the_targets_law_with_and_without_drafters() {
    let model = models::smollm2("Q4_0");
    let mut session = models::session(&model, &models::drafters()[1..2], 256);
    let prompt = model.tokenize("The best way to spend a rainy afternoon is", true, true);
    let logits = session.logits_after(&prompt).expect("logits");
    let sampling = SamplingParams {
        temperature: 1.0,
        ..SamplingParams::default()
    };
    let law = SamplerChain::new(&sampling, model.vocab_size())
        .and_then(|mut chain| chain.distribution(&logits))
        .expect("a distribution");
    let law: BTreeMap<_, _> = (0..model.vocab_size())
        .map(TokenId::from_index)
        .map(|token| (token, f64::from(law.prob(token))))
        .filter(|(_, p)| *p > 0.0)
        .collect();
    for policy in ["off", "fixed:pruned"] {
        let p = p_value(&first_tokens(&mut session, &prompt, policy), &law);
        println!("{policy}: p = {p:.4} over {} tokens", law.len());
        assert!(p > 0.001, "{policy}: p = {p}");
    }
}
