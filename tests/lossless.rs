//! On the real target, greedy text is the same token for token whoever drafts.

#[path = "support/models.rs"]
mod models;

use std::sync::atomic::AtomicBool;

use metasd::audit::{self, DEFAULT_MAX_GAP, Tally};
use metasd::bandit::PolicyParams;
use metasd::llama::ChatMessage;

/// One of each kind of work.
const PROMPTS: [&str; 5] = [
    "Write a Python function that returns the n-th Fibonacci number, with a short docstring.",
    "A bakery sells 24 rolls in the morning and half as many in the afternoon. Each roll costs \
     3 dollars. How much money does it take in a day?",
    "Translate German to English: Die Katze schläft auf dem warmen Stein vor dem Haus.",
    "Summarize: The lighthouse on the northern cape was built two hundred years ago, after three \
     ships had been lost in one winter. Its keepers lived there all year and rowed ashore for \
     bread. Today the lamp works by itself, and the keepers' house is a small museum.",
    "Which planet of the solar system has the most moons, and why?",
];

#[test]
fn every_policy_gives_the_targets_own_text() {
    let model = models::smollm2("F32");
    let mut session = models::session(&model, &models::drafters(), 1024);
    let mut policies = vec!["metasd-ucb".to_owned(), "round-robin".into()];
    policies.extend(
        session
            .pool()
            .names()
            .iter()
            .map(|name| format!("fixed:{name}")),
    );
    let cancel = AtomicBool::new(false);
    let mut tally = Tally::default();
    let mut longest = 0.0f64;
    for text in PROMPTS {
        let prompt = model
            .apply_chat_template(&[ChatMessage::new("user", text)], true)
            .expect("a chat template");
        let prompt = model.tokenize(&prompt, true, true);
        let reference =
            audit::reference(&mut session, &prompt, 96, &cancel).expect("plain decoding");
        for policy in &policies {
            let outcome = audit::compare(
                &mut session,
                &prompt,
                &reference,
                (
                    policy.parse().expect("a known policy"),
                    PolicyParams::default(),
                ),
                (96, DEFAULT_MAX_GAP),
                &cancel,
            )
            .expect("a generation");
            println!("{policy}: {:?} on {text:.40}", outcome.verdict);
            tally.add(&outcome.verdict);
            longest = longest.max(outcome.mean_acceptance_length);
        }
    }
    assert_eq!(tally.runs, PROMPTS.len() * policies.len());
    assert_eq!(tally.unexplained, 0, "{tally:?}");
    assert!(longest > 2.0, "no drafter was ever of use: {longest}");
}
