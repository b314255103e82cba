//! The ensemble, draft-all and the router on the real target, and what the program makes of them.

#[allow(dead_code, reason = "shared with tests that need more of it")]
#[path = "support/models.rs"]
mod models;
#[allow(dead_code, reason = "shared with tests that need more of it")]
#[path = "support/program.rs"]
mod program;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use metasd::TokenId;
use metasd::audit::{self, DEFAULT_MAX_GAP, Tally};
use metasd::bandit::{PolicyParams, PolicySpec};
use metasd::llama::{ChatMessage, ContextParams, Model, TokenEmbedding};
use metasd::pool::{LoadContext, Pool, PoolDefaults};
use metasd::router::{Fitting, LabelledPrompt, TargetIdentity};
use metasd::session::{Session, SessionParams};
use metasd::target::LlamaTarget;
use predicates::str::contains;
use program::{drafter, metasd, on_model};
use serde_json::Value;

const PROMPTS: [&str; 2] = [
    "Write a Python function that returns the n-th Fibonacci number, with a short docstring.",
    "Summarize: The lighthouse on the northern cape was built two hundred years ago, after three \
     ships had been lost in one winter. Its keepers lived there all year and rowed ashore for \
     bread. Today the lamp works by itself, and the keepers' house is a small museum.",
];

fn models_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ggml-models")
}

fn prompt(model: &Model, text: &str) -> Vec<TokenId> {
    let text = model
        .apply_chat_template(&[ChatMessage::new("user", text)], true)
        .expect("a chat template");
    model.tokenize(&text, true, true)
}

/// A session on the drafters of the tests that may have all of them draft at once.
fn session(model: &Arc<Model>) -> Session {
    let drafters = models::drafters();
    let params = SessionParams::default();
    let target = LlamaTarget::new(
        model.clone(),
        &ContextParams {
            n_ctx: 512,
            n_batch: 256,
            max_outputs: drafters.len() * params.n_max + 1,
            sequences: drafters.len() + 1,
            threads: 1,
        },
    )
    .expect("a context");
    let defaults = PoolDefaults {
        n_ctx: 512,
        n_batch: 256,
        threads: 1,
    };
    let pool =
        Pool::open(&drafters, &LoadContext::new(model, defaults)).expect("compatible drafters");
    Session::new(Box::new(target), model.clone(), pool, params).expect("valid parameters")
}

#[test]
fn greedy_text_is_the_targets_own() {
    let model = models::smollm2("F32");
    let mut session = session(&model);
    let prompts = PROMPTS.map(|text| prompt(&model, text));
    let labelled: Vec<LabelledPrompt> = ["q4", "ngram"]
        .into_iter()
        .zip(&prompts)
        .map(|(label, tokens)| LabelledPrompt {
            label: label.to_owned(),
            tokens: tokens.clone(),
        })
        .collect();
    let mut embedding = TokenEmbedding::open(&model).expect("an embedding");
    let identity = TargetIdentity::of(&model);
    let router = Fitting::new(identity, &labelled, &mut embedding, &mut || Ok(()))
        .expect("prompts that differ")
        .router();
    session
        .set_router(router, Box::new(embedding))
        .expect("its labels are drafters");

    let cancel = AtomicBool::new(false);
    let mut tally = Tally::default();
    for prompt in &prompts {
        let expected = audit::reference(&mut session, prompt, 48, &cancel).expect("a text");
        for policy in [
            PolicySpec::StaticEnsemble,
            PolicySpec::DraftAll,
            PolicySpec::Router,
        ] {
            let with = (policy.clone(), PolicyParams::default());
            let limits = (48, DEFAULT_MAX_GAP);
            let outcome = audit::compare(&mut session, prompt, &expected, with, limits, &cancel)
                .expect("a generation");
            println!(
                "{policy}: {:?}, {:.2} tokens a round",
                outcome.verdict, outcome.mean_acceptance_length
            );
            tally.add(&outcome.verdict);
            if policy == PolicySpec::DraftAll {
                assert!(outcome.mean_acceptance_length > 2.0, "of no use");
            }
        }
    }
    assert_eq!((tally.runs, tally.unexplained), (6, 0), "{tally:?}");
}

#[test]
fn the_rows_of_the_embedding_are_the_weights_whatever_their_type() {
    let row = |weights: &str, token: i32| {
        let mut embedding = TokenEmbedding::open(&models::smollm2(weights)).expect("an embedding");
        let mut row = vec![0.0; embedding.width()];
        embedding.read(TokenId(token), &mut row).expect("a row");
        row
    };
    let cosine = |a: &[f32], b: &[f32]| {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    };
    for token in [0, 1, 300, 28_000, 49_151] {
        // llama.cpp made the F32 weights of these, by its own decoding.
        let plain = row("F32", token);
        assert!(plain.iter().any(|&x| x != 0.0), "token {token}");
        assert_eq!(row("Q4_1", token), plain, "token {token}");
        assert!(
            cosine(&row("BF16", token), &plain) > 0.9999,
            "token {token}"
        );
        assert!(cosine(&row("Q4_0", token), &plain) > 0.98, "token {token}");
    }
    let mut embedding = TokenEmbedding::open(&models::smollm2("Q4_1")).expect("an embedding");
    let mut row = vec![0.0; embedding.width()];
    assert!(embedding.read(TokenId(49_152), &mut row).is_err());
    assert!(embedding.read(TokenId(-1), &mut row).is_err());
    assert!(embedding.read(TokenId(0), &mut row[1..]).is_err());
}

/// The last line of what `command` prints.
#[track_caller]
fn json(mut command: assert_cmd::Command) -> Value {
    let output = command.assert().success().get_output().stdout.clone();
    let text = String::from_utf8(output).expect("UTF-8");
    let line = text.lines().last().expect("a last line");
    serde_json::from_str(line).expect("JSON")
}

/// `metasd router COMMAND` on the model.
fn router(command: &str) -> assert_cmd::Command {
    let mut metasd = metasd();
    metasd.args(["router", command, "-m"]).arg(program::model());
    metasd
}

#[test]
fn a_router_fitted_on_half_of_the_prompts_is_right_about_the_other_half() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut halves = [String::new(), String::new()];
    for domain in ["code", "math", "qa", "summarization", "translation"] {
        let path = models_folder().join(format!("prompts/{domain}.jsonl"));
        let text = fs::read_to_string(path).expect("the project's prompts");
        for (index, line) in text.lines().enumerate() {
            halves[index % 2] += &format!("{line}\n");
        }
    }
    let paths = ["even.jsonl", "odd.jsonl"].map(|name| folder.path().join(name));
    for (path, half) in paths.iter().zip(&halves) {
        fs::write(path, half).expect("writable");
    }
    for (fitted, held_out) in [(0, 1), (1, 0)] {
        let file = folder.path().join("router.json");
        let mut fit = router("fit");
        fit.arg("--prompts")
            .arg(&paths[fitted])
            .arg("-o")
            .arg(&file);
        fit.assert().success().stdout(contains("right ("));
        let mut eval = router("eval");
        eval.arg("--prompts").arg(&paths[held_out]);
        eval.arg("--router").arg(&file).arg("--json");
        let report = json(eval);
        assert_eq!(report["prompts"], 30);
        let accuracy = report["accuracy"].as_f64().expect("a number");
        assert!(accuracy >= 0.9, "{report}");
    }
}

#[test]
fn the_default_pools_router_sends_a_prompt_to_its_specialist() {
    for (text, specialist) in [
        (
            "Write a C function that reverses a string in place.",
            "code",
        ),
        (
            "Translate German to English: Der Zug fährt heute nicht.",
            "translation",
        ),
    ] {
        let mut run = metasd();
        run.env("METASD_POOL", models_folder().join("pool.toml"));
        run.args([
            "run", "-t", "1", "-c", "256", "-n", "8", "--json", "-p", text,
        ]);
        run.args(["--policy", "router"]);
        let report = json(run);
        assert_eq!(report["policy"], "router");
        for drafter in report["drafters"].as_array().expect("drafters") {
            let drafts = drafter["rounds"].as_u64().expect("a number") > 0;
            assert_eq!(drafts, drafter["name"] == specialist, "{drafter}");
        }
    }
}

#[test]
fn a_trace_names_the_drafter_of_the_accepted_tokens() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let trace = folder.path().join("trace.jsonl");
    let mut run = on_model("run");
    run.args([
        "-p",
        "Count to ten.",
        "-n",
        "12",
        "--json",
        "-md",
        &drafter("same"),
    ]);
    run.args(["--policy", "draft-all", "--trace"]).arg(&trace);
    let report = json(run);
    assert_eq!(report["policy"], "draft-all");
    let names: Vec<&Value> = report["drafters"]
        .as_array()
        .expect("drafters")
        .iter()
        .map(|drafter| &drafter["name"])
        .collect();
    assert_eq!(names, ["same", "ngram"]);
    let text = fs::read_to_string(&trace).expect("a trace");
    let rounds: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert!(
        rounds
            .iter()
            .any(|round| round["accepted"].as_u64() > Some(3))
    );
    for round in &rounds {
        if round["accepted"].as_u64() > Some(0) {
            assert!(
                round["drafter"] == "same" || round["drafter"] == "ngram",
                "{round}"
            );
        }
    }
    let mut ensemble = on_model("run");
    ensemble.args([
        "-p",
        "Count to ten.",
        "-n",
        "12",
        "--json",
        "-md",
        &drafter("same"),
    ]);
    ensemble.args(["--policy", "static-ensemble"]);
    let report = json(ensemble);
    assert_eq!(report["drafters"][2]["name"], "static-ensemble");
    assert_eq!(report["drafters"][2]["kind"], "ensemble");
    assert_ne!(report["drafters"][2]["rounds"], 0);
}

#[test]
fn an_unusable_router_is_an_error_before_any_text() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("router.json");
    let run = |file: Option<&Path>| {
        let mut run = on_model("run");
        run.args(["-p", "Hi", "-n", "3", "--policy", "router"]);
        if let Some(file) = file {
            run.arg("--router").arg(file);
        }
        run
    };
    run(None)
        .assert()
        .code(2)
        .stderr(contains("give its file with --router"));
    run(Some(&file))
        .assert()
        .code(2)
        .stderr(contains("router.json"));
    fs::write(&file, "{\"format\": ").expect("writable");
    run(Some(&file))
        .assert()
        .code(2)
        .stderr(contains("not JSON"));

    // Of another target, and of labels that are no drafters.
    let shipped = models_folder().join("router.json");
    let unknown = "label `code` of the router names no drafter";
    run(Some(&shipped))
        .assert()
        .code(2)
        .stderr(contains(unknown));
    let text = fs::read_to_string(&shipped).expect("the shipped router");
    fs::write(&file, text.replacen("\"layers\":30", "\"layers\":31", 1)).expect("writable");
    run(Some(&file))
        .assert()
        .code(2)
        .stderr(contains("31 layers"));
}

#[test]
fn what_cannot_be_fitted_or_simulated_is_said() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let prompts = folder.path().join("qa.jsonl");
    fs::write(&prompts, "{\"prompt\": \"Why?\"}\n{\"prompt\": \"When?\"}").expect("writable");
    let fit = |labels: &[&str]| {
        let mut fit = router("fit");
        fit.arg("--prompts").arg(&prompts).args(labels);
        fit.arg("-o").arg(folder.path().join("router.json"));
        fit
    };
    fit(&[]).assert().code(2).stderr(contains("1 label(s)"));
    let labels = ["--labels", "code"];
    fit(&labels)
        .assert()
        .code(2)
        .stderr(contains("label `code` has no prompts"));
    assert!(!folder.path().join("router.json").exists());
    let mut simulate = metasd();
    simulate.args(["simulate", "--synthetic", "--policies", "draft-all"]);
    simulate
        .assert()
        .code(2)
        .stderr(contains("cannot be simulated"));
}
