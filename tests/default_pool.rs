//! The pool that is shipped: its files, its text, and that its specialists are specialists.

#[path = "support/models.rs"]
mod models;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use metasd::TokenId;
use metasd::audit::{self, DEFAULT_MAX_GAP, Tally};
use metasd::bandit::PolicyParams;
use metasd::config::PoolFile;
use metasd::llama::{ChatMessage, Model};
use metasd::pool::{DrafterSource, DrafterSpec};
use metasd::session::{GenerateParams, Session};

const DOMAINS: [&str; 5] = ["code", "math", "qa", "summarization", "translation"];

/// Bytes of one drafter's file, and of all together, at most.
const LARGEST: u64 = 12_000_000;
const LARGEST_TOGETHER: u64 = 70_000_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ggml-models")
}

fn pool() -> PoolFile {
    PoolFile::load(&folder().join("pool.toml")).expect("a valid default pool")
}

/// The first `count` prompts of `domain`, after the chat template of the pool.
fn prompts(model: &Arc<Model>, pool: &PoolFile, domain: &str, count: usize) -> Vec<Vec<TokenId>> {
    let path = folder().join(format!("prompts/{domain}.jsonl"));
    let text = std::fs::read_to_string(&path).expect("the prompts of the project");
    let system = pool
        .target
        .as_ref()
        .and_then(|target| target.system_prompt.as_deref())
        .expect("a system prompt");
    let prompts: Vec<_> = text
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            assert_eq!(line["category"], domain);
            let prompt = line["prompt"].as_str().expect("a prompt");
            let messages = [
                ChatMessage::new("system", system),
                ChatMessage::new("user", prompt),
            ];
            let text = model
                .apply_chat_template(&messages, true)
                .expect("a chat template");
            model.tokenize(&text, true, true)
        })
        .collect();
    assert!(prompts.len() >= 12, "{domain}: {}", prompts.len());
    prompts.into_iter().take(count).collect()
}

/// Mean BD of `drafter` on `prompts`, over all of its rounds.
fn mean_bd(session: &mut Session, prompts: &[Vec<TokenId>], drafter: &str) -> f64 {
    let policy = format!("fixed:{drafter}").parse().expect("a policy");
    session
        .set_policy(policy, PolicyParams::default())
        .expect("a drafter of the pool");
    let params = GenerateParams {
        max_tokens: Some(48),
        ..GenerateParams::default()
    };
    let (mut sum, mut rounds) = (0.0, 0);
    for prompt in prompts {
        let generation = session
            .generate(prompt, &params, &AtomicBool::new(false), &mut |_| {})
            .expect("a generation");
        let statistics = generation
            .drafters
            .iter()
            .find(|statistics| statistics.name == drafter)
            .expect("its statistics");
        if let Some(bd) = statistics.mean_bd {
            sum += bd * statistics.rounds as f64;
            rounds += statistics.rounds;
        }
    }
    assert!(rounds > 0, "{drafter} never drafted");
    sum / rounds as f64
}

#[test]
fn the_shipped_files_are_small_and_are_the_pool() {
    let pool = pool();
    let names: Vec<_> = pool.drafters.iter().map(|d| d.name.as_str()).collect();
    let mut expected = DOMAINS.to_vec();
    expected.extend(["general", "ngram"]);
    assert_eq!(names, expected);
    let mut together = 0;
    for drafter in &pool.drafters {
        if let DrafterSource::Model { path, .. } = &drafter.source {
            let bytes = std::fs::metadata(path).expect("a shipped file").len();
            assert!(bytes <= LARGEST, "{}: {bytes} bytes", drafter.name);
            together += bytes;
        }
    }
    assert!(together <= LARGEST_TOGETHER, "{together} bytes");
}

#[test]
fn switching_between_the_shipped_drafters_and_stronger_ones_keeps_the_targets_text() {
    let pool = pool();
    let model = models::smollm2("F32");
    let mut drafters = pool.drafters.clone();
    let is_new = |drafter: &DrafterSpec| pool.drafters.iter().all(|d| d.name != drafter.name);
    drafters.extend(models::drafters().into_iter().filter(is_new));
    let mut session = models::session(&model, &drafters, 1024);
    let cancel = AtomicBool::new(false);
    let mut tally = Tally::default();
    for domain in DOMAINS {
        for prompt in prompts(&model, &pool, domain, 1) {
            let reference =
                audit::reference(&mut session, &prompt, 64, &cancel).expect("plain decoding");
            for policy in ["round-robin", "metasd-ucb"] {
                let outcome = audit::compare(
                    &mut session,
                    &prompt,
                    &reference,
                    (
                        policy.parse().expect("a known policy"),
                        PolicyParams::default(),
                    ),
                    (64, DEFAULT_MAX_GAP),
                    &cancel,
                )
                .expect("a generation");
                tally.add(&outcome.verdict);
            }
        }
    }
    assert_eq!(tally.runs, 2 * DOMAINS.len());
    assert_eq!(tally.unexplained, 0, "{tally:?}");
}

#[test]
fn every_specialist_agrees_most_in_its_own_domain() {
    let pool = pool();
    let model = models::smollm2("F32");
    let specialists: Vec<DrafterSpec> = pool
        .drafters
        .iter()
        .filter(|drafter| DOMAINS.contains(&drafter.name.as_str()))
        .cloned()
        .collect();
    let mut session = models::session(&model, &specialists, 1024);
    for domain in DOMAINS {
        let prompts = prompts(&model, &pool, domain, 3);
        let own = mean_bd(&mut session, &prompts, domain);
        for other in DOMAINS.iter().filter(|other| **other != domain) {
            let others = mean_bd(&mut session, &prompts, other);
            assert!(own > others, "{domain}: own {own:.3}, {other} {others:.3}");
        }
    }
}
