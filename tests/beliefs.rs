//! What drafters believe about a text they did not draft, on the real model, and generations that
//! rest on it.

#[path = "support/models.rs"]
mod models;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use metasd::align::{Aligner, Proposal};
use metasd::audit::{self, DEFAULT_MAX_GAP, Verdict};
use metasd::bandit::PolicyParams;
use metasd::drafter::{Beliefs, Draft, Drafter, ModelDrafter, ModelDrafterParams};
use metasd::llama::{Model, SamplerChain, SamplingParams};
use metasd::session::{Event, GenerateParams};
use metasd::{ErrorKind, TokenId};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn drafter(model: &Arc<Model>, n_ctx: usize) -> ModelDrafter {
    let params = ModelDrafterParams {
        n_ctx,
        n_batch: 64,
        threads: 1,
    };
    ModelDrafter::new(model.clone(), params).expect("a context")
}

/// `history` with `count` drafted tokens, and the draft.
fn continued(
    model: &Model,
    drafter: &mut ModelDrafter,
    history: &[TokenId],
    count: usize,
) -> (Vec<TokenId>, Draft) {
    let n_vocab = model.vocab_size();
    let mut chain = SamplerChain::new(&SamplingParams::default(), n_vocab).expect("valid");
    chain.restart(history);
    let mut draft = Draft::new(n_vocab);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    drafter
        .draft(history, count, &mut chain, &mut rng, &mut draft)
        .expect("a draft");
    assert_eq!(draft.tokens().len(), count);
    let text = history.iter().chain(draft.tokens()).copied().collect();
    (text, draft)
}

#[test]
fn beliefs_about_a_text_are_those_with_which_it_was_drafted() {
    let model = models::smollm2("Q4_0");
    let history = model.tokenize("Once upon a time there was a fox who", true, true);
    // More than are taken in one decode.
    let count = 11;
    let (text, draft) = continued(&model, &mut drafter(&model, 256), &history, count);
    let mut aligner = Aligner::new(1.0).expect("valid");
    let rows = draft.proposals().map(|proposal| match proposal {
        Proposal::Logits(row) => row,
        Proposal::OneHot(_) => panic!("a model drafts with logits"),
    });
    aligner.hold(rows).expect("distributions");

    let mut other = drafter(&model, 256);
    let mut beliefs = Beliefs::new(model.vocab_size());
    for _ in 0..2 {
        beliefs.clear();
        let times = other.believe(&text, count, &mut beliefs).expect("it can");
        assert!(times.is_some());
        let agreement = aligner.agreement(beliefs.proposals()).expect("as many");
        assert!(agreement > 0.99, "{agreement}");
    }
    // A draft goes on from there, and beliefs after that draft reach back again.
    let (longer, _) = continued(&model, &mut other, &text, 4);
    let (expected, _) = continued(&model, &mut drafter(&model, 256), &text, 4);
    assert_eq!(longer, expected);
    beliefs.clear();
    other.believe(&text, count, &mut beliefs).expect("it can");
    let agreement = aligner.agreement(beliefs.proposals()).expect("as many");
    assert!(agreement > 0.99, "{agreement}");
}

#[test]
fn a_drafter_whose_context_is_shorter_than_the_text_believes_by_the_newest_of_it() {
    let model = models::smollm2("Q4_0");
    let text = model.tokenize(&"One, two, three, four, five. ".repeat(12), true, true);
    assert!(text.len() > 96);
    let (mut whole, mut window) = (
        Beliefs::new(model.vocab_size()),
        Beliefs::new(model.vocab_size()),
    );
    let mut short = drafter(&model, 48);
    for end in [text.len() / 2, text.len() - 7, text.len()] {
        window.clear();
        short.believe(&text[..end], 7, &mut window).expect("it can");
        assert_eq!(window.len(), 7);
    }
    drafter(&model, 256)
        .believe(&text, 7, &mut whole)
        .expect("it can");
    let mut aligner = Aligner::new(1.0).expect("valid");
    let rows = whole.proposals().map(|proposal| match proposal {
        Some(Proposal::Logits(row)) => row,
        _ => panic!("a model has logits everywhere"),
    });
    aligner.hold(rows).expect("distributions");
    let agreement = aligner.agreement(window.proposals()).expect("as many");
    assert!(agreement > 0.7, "{agreement}");
}

#[test]
fn beliefs_need_a_token_before_the_text() {
    let model = models::smollm2("Q4_0");
    let mut drafter = drafter(&model, 64);
    let text = model.tokenize("a b c", true, true);
    let mut beliefs = Beliefs::new(model.vocab_size());
    let error = drafter
        .believe(&text, text.len(), &mut beliefs)
        .expect_err("nothing before");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn scoring_every_drafter_leaves_the_text_as_it_is() {
    let model = models::smollm2("Q4_0");
    let mut session = models::session(&model, &models::drafters(), 256);
    let prompt = model.tokenize("One, two, three, four,", true, true);
    let cancel = AtomicBool::new(false);
    let plain = audit::reference(&mut session, &prompt, 32, &cancel).expect("a text");
    let params = PolicyParams {
        counterfactual: 4,
        ..PolicyParams::default()
    };
    for policy in ["hedge", "metasd-ucb"] {
        let with = (policy.parse().expect("known"), params.clone());
        let limits = (32, DEFAULT_MAX_GAP);
        let outcome = audit::compare(&mut session, &prompt, &plain, with, limits, &cancel);
        let verdict = outcome.expect("a text").verdict;
        assert!(
            !matches!(verdict, Verdict::Unexplained(_)),
            "{policy}: {verdict:?}"
        );
    }
}

#[test]
fn a_text_that_ends_in_the_middle_of_a_round_is_scored_up_to_its_end() {
    let model = models::smollm2("Q4_0");
    let mut session = models::session(&model, &models::drafters(), 256);
    let policy = "hedge".parse().expect("known");
    session
        .set_policy(policy, PolicyParams::default())
        .expect("known");
    let prompt = model.tokenize("One, two, three, four,", true, true);
    let params = GenerateParams {
        max_tokens: Some(40),
        stop: vec!["seven".into()],
        ..GenerateParams::default()
    };
    let mut generate = || {
        let mut scores = Vec::new();
        let generation = session
            .generate(&prompt, &params, &AtomicBool::new(false), &mut |event| {
                if let Event::Round(record) = event
                    && record.drafted > 0
                {
                    scores.push(record.counterfactual.len());
                }
            })
            .expect("a text");
        assert!(generation.drafters.iter().all(|d| d.failure.is_none()));
        assert!(scores.iter().all(|&count| count == 3), "{scores:?}");
        assert!(generation.timings.counterfactual_ms > 0.0);
        generation.text
    };
    // Again, on caches that were cut back.
    assert_eq!(generate(), generate());
}
