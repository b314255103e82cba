//! A session on the real target: caches, switches, windows and the ends of a text.

#[path = "support/models.rs"]
mod models;

use std::sync::atomic::AtomicBool;

use metasd::TokenId;
use metasd::audit::{self, DEFAULT_MAX_GAP, Verdict};
use metasd::bandit::PolicyParams;
use metasd::pool::DrafterSource;
use metasd::session::{GenerateParams, Generation, Session, StopReason};

fn generate(session: &mut Session, prompt: &[TokenId], params: &GenerateParams) -> Generation {
    session
        .generate(prompt, params, &AtomicBool::new(false), &mut |_| {})
        .expect("a generation")
}

fn limited(max_tokens: usize) -> GenerateParams {
    GenerateParams {
        max_tokens: Some(max_tokens),
        ..GenerateParams::default()
    }
}

fn set_policy(session: &mut Session, policy: &str) {
    session
        .set_policy(
            policy.parse().expect("a known policy"),
            PolicyParams::default(),
        )
        .expect("a drafter of the pool");
}

/// Checks that `policy` gives `reference` after `prompt`, up to rounding.
fn assert_same(session: &mut Session, prompt: &[TokenId], reference: &Generation, policy: &str) {
    let outcome = audit::compare(
        session,
        prompt,
        &reference.tokens,
        (
            policy.parse().expect("a known policy"),
            PolicyParams::default(),
        ),
        (reference.tokens.len(), DEFAULT_MAX_GAP),
        &AtomicBool::new(false),
    )
    .expect("a generation");
    assert!(
        !matches!(outcome.verdict, Verdict::Unexplained(_)),
        "{policy}: {:?}",
        outcome.verdict
    );
}

#[test]
fn a_second_generation_reuses_the_cache_and_is_like_one_in_a_new_session() {
    let model = models::smollm2("Q4_0");
    let mut session = models::session(&model, &models::drafters(), 512);
    set_policy(&mut session, "round-robin");
    let first = model.tokenize("Once upon a time there was a fox who", true, true);
    let opening = generate(&mut session, &first, &limited(40));
    let mut second = session.history().to_vec();
    second.extend(model.tokenize(" Then the fox met a hare, and", false, true));
    let continued = generate(&mut session, &second, &limited(40));
    assert!(
        continued.timings.cache_n >= first.len() + opening.tokens.len() - 1,
        "{:?}",
        continued.timings
    );
    let mut fresh = models::session(&model, &models::drafters(), 512);
    assert_same(&mut fresh, &second, &continued, "round-robin");
}

#[test]
fn the_context_ends_a_text_clearly_and_the_session_lives_on() {
    let model = models::smollm2("Q4_0");
    let mut session = models::session(&model, &models::drafters(), 64);
    let prompt = model.tokenize("One, two, three, four,", true, true);
    let params = GenerateParams {
        ignore_eos: true,
        ..GenerateParams::default()
    };
    for policy in ["off", "fixed:q4", "metasd-ucb"] {
        set_policy(&mut session, policy);
        let generation = generate(&mut session, &prompt, &params);
        assert_eq!(generation.stop_reason, StopReason::Context, "{policy}");
        assert_eq!(prompt.len() + generation.tokens.len(), 65, "{policy}");
    }
    set_policy(&mut session, "metasd-ucb");
    assert_eq!(generate(&mut session, &prompt, &limited(5)).tokens.len(), 5);
}

#[test]
fn a_drafter_with_a_small_context_keeps_the_newest_window_and_goes_on_drafting() {
    let model = models::smollm2("Q4_0");
    let mut drafters = models::drafters();
    drafters.truncate(1);
    if let DrafterSource::Model { n_ctx, .. } = &mut drafters[0].source {
        *n_ctx = Some(32);
    }
    let mut session = models::session(&model, &drafters, 512);
    set_policy(&mut session, "off");
    let prompt = model.tokenize(&"The cat sat on the mat. ".repeat(12), true, true);
    assert!(prompt.len() > 64);
    let plain = generate(&mut session, &prompt, &limited(80));
    assert_same(&mut session, &prompt, &plain, "fixed:q4");
    set_policy(&mut session, "fixed:q4");
    let drafted = generate(&mut session, &prompt, &limited(80));
    let drafter = &drafted.drafters[0];
    assert!(drafter.failure.is_none(), "{drafter:?}");
    assert!(drafter.accepted > 20, "{drafter:?}");
}

#[test]
fn a_drafter_of_which_no_context_can_be_made_is_out_and_the_text_is_the_same() {
    let model = models::smollm2("Q4_0");
    let mut drafters = models::drafters();
    if let DrafterSource::Model { n_ctx, .. } = &mut drafters[0].source {
        *n_ctx = Some(2_000_000_000);
    }
    let prompt = model.tokenize("The three primary colours are", true, true);
    let mut session = models::session(&model, &drafters, 128);
    let failure = session.pool().members()[0].failure().expect("it is out");
    assert!(failure.contains("2000000000"), "{failure}");
    set_policy(&mut session, "off");
    let plain = generate(&mut session, &prompt, &limited(20));
    for policy in ["metasd-ucb", "fixed:q4"] {
        assert_same(&mut session, &prompt, &plain, policy);
        set_policy(&mut session, policy);
        let generation = generate(&mut session, &prompt, &limited(20));
        assert_eq!(generation.drafters[0].rounds, 0, "{policy}");
    }
}

#[test]
fn a_stop_string_ends_the_text_before_it() {
    let model = models::smollm2("Q4_0");
    let mut session = models::session(&model, &models::drafters(), 256);
    let prompt = model.tokenize("1, 2, 3, 4, 5, 6, 7, 8,", true, true);
    let free = generate(&mut session, &prompt, &limited(30));
    assert!(free.text.contains("11"), "{}", free.text);
    let params = GenerateParams {
        stop: vec!["11".into()],
        ..limited(30)
    };
    let stopped = generate(&mut session, &prompt, &params);
    assert_eq!(stopped.stop_reason, StopReason::Word);
    assert_eq!(Some(stopped.text.as_str()), free.text.split("11").next());
}
