//! `metasd record` and `metasd simulate --record` on a real model.

#[path = "support/program.rs"]
mod program;

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, is_empty};
use program::{drafter, metasd, on_model, run};
use serde_json::Value;

const TOKENS: &str = "12";

/// Two categories of two and one prompts.
fn prompts(folder: &Path) -> PathBuf {
    let path = folder.join("prompts.jsonl");
    let lines = "{\"prompt\": \"Name three colors.\", \"category\": \"list\"}\n\
                 {\"prompt\": \"Count to ten.\", \"category\": \"list\"}\n\
                 {\"prompt\": \"What is a bird?\", \"category\": \"qa\"}\n";
    fs::write(&path, lines).expect("writable");
    path
}

fn record(prompts: &Path, output: &Path) -> Command {
    let mut command = on_model("record");
    command
        .args(["-n", TOKENS, "-md", &drafter("self"), "--prompts"])
        .arg(prompts)
        .arg("-o")
        .arg(output);
    command
}

/// The JSON object of a replay that succeeds.
fn replay(record: &Path, arguments: &[&str]) -> Value {
    let output = metasd()
        .args(["simulate", "--json", "--record"])
        .arg(record)
        .args(arguments)
        .assert()
        .success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    let line = text.lines().last().expect("a line");
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

#[test]
fn a_recording_resumes_and_is_replayed_as_the_engine_plays() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let prompts = prompts(folder.path());
    let file = folder.path().join("a.msdrec");
    record(&prompts, &file)
        .assert()
        .success()
        .stdout(is_empty())
        .stderr(contains("qa: ").and(contains("3 of 3")));
    let whole = fs::read(&file).expect("a recording");

    // As if it had been interrupted in the last text.
    fs::write(&file, &whole[..whole.len() - 20]).expect("writable");
    metasd()
        .args(["simulate", "--record"])
        .arg(&file)
        .assert()
        .code(1)
        .stderr(contains("a.msdrec: it ends inside text 3 of 3"));
    record(&prompts, &file)
        .assert()
        .success()
        .stderr(contains("2 of 3 prompts are recorded already"));
    let resumed = fs::read(&file).expect("a recording");
    assert_eq!(resumed[..whole.len() / 2], whole[..whole.len() / 2]);

    let report = replay(
        &file,
        &[
            "--policies",
            "metasd-ucb,round-robin,off",
            "--rewards",
            "bd",
        ],
    );
    let domains = report["domains"].as_array().expect("a list");
    let names: Vec<&str> = domains.iter().filter_map(|d| d["name"].as_str()).collect();
    assert_eq!(names, ["list", "qa"]);
    assert_eq!(domains[0]["prompts"], 2);
    for domain in domains {
        // The target as its own drafter is right every time: 6 tokens a round.
        assert_eq!(domain["best_fixed"], "self");
        let rounds = |value: &Value| value.as_f64().expect("a number");
        let fewest = rounds(&domain["rounds_best_fixed"]);
        assert!(rounds(&domain["rounds_oracle"]) <= fewest);
        let tokens = rounds(&domain["tokens"]);
        let policies = domain["policies"].as_array().expect("a list");
        assert_eq!(policies.len(), 3);
        for policy in policies {
            let ratio = rounds(&policy["rounds"]) / fewest;
            assert!((rounds(&policy["ratio"]) - ratio).abs() < 1e-9);
        }
        assert_eq!(rounds(&policies[2]["rounds"]), tokens, "off");
    }
    let average = report["average"][0]["ratio"].as_f64().expect("a number");
    assert!(average >= 1.0, "{average}");

    // The engine itself, on the only prompt of `qa`.
    let live = run()
        .args(["--json", "-p", "What is a bird?", "-n", TOKENS, "-s", "1"])
        .args(["--policy", "round-robin", "-md", &drafter("self")])
        .assert()
        .success();
    let text = String::from_utf8_lossy(&live.get_output().stdout).into_owned();
    let live: Value = serde_json::from_str(text.lines().last().expect("a line")).expect("JSON");
    assert_eq!(
        live["rounds"].as_f64(),
        domains[1]["policies"][1]["rounds"].as_f64()
    );

    let mixed = replay(&file, &["--concat", "list,qa", "--policies", "sw-ucb"]);
    assert_eq!(mixed["domains"][0]["name"], "list+qa");
    assert_eq!(mixed["domains"][0]["prompts"], 1);
    let odd = replay(
        &file,
        &["--split", "odd", "--policies", "random", "--runs", "9"],
    );
    assert_eq!(odd["domains"].as_array().map(Vec::len), Some(1));

    let matrix = replay(&file, &["--matrix"]);
    let drafters = matrix["categories"][0]["drafters"]
        .as_array()
        .expect("a list");
    assert_eq!(drafters[0]["name"], "self");
    assert!(drafters[0]["mean_acceptance_length"].as_f64() > Some(3.0));
    assert!(drafters[0]["mean_bd"].as_f64() > Some(0.9));
    assert!(drafters[1]["variance_be"].as_f64() >= Some(0.0));
    metasd()
        .args(["simulate", "--matrix", "--record"])
        .arg(&file)
        .assert()
        .success()
        .stdout(contains("| drafter |").and(contains("| self ")));
}

#[test]
fn what_is_no_such_recording_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let prompts = prompts(folder.path());
    let file = folder.path().join("a.msdrec");
    record(&prompts, &file)
        .args(["--category", "qa"])
        .assert()
        .success();
    let before = fs::read(&file).expect("a recording");
    record(&prompts, &file)
        .args(["--categories", "qa", "--draft-max", "3"])
        .assert()
        .code(2)
        .stderr(contains("n_max is 5 there and would be 3"));
    assert_eq!(fs::read(&file).expect("a recording"), before);

    let simulate = |arguments: &[&str]| {
        let mut command = metasd();
        command
            .args(["simulate", "--record"])
            .arg(&file)
            .args(arguments);
        command.assert()
    };
    simulate(&["--policies", "fixed:nobody"])
        .code(2)
        .stderr(contains("`self`"));
    simulate(&["--concat", "qa,law"])
        .code(2)
        .stderr(contains("`law`"));
    simulate(&["--concat", "qa"])
        .code(2)
        .stderr(contains("two or more"));
    simulate(&["--split", "odd"])
        .code(2)
        .stderr(contains("--split"));
    simulate(&["--runs", &u64::MAX.to_string()])
        .code(2)
        .stderr(contains("from 1 to 100000"));
    simulate(&["--synthetic"])
        .code(2)
        .stderr(contains("cannot be used with"));
    metasd()
        .args(["simulate", "--record"])
        .arg(&prompts)
        .assert()
        .code(1)
        .stderr(contains("prompts.jsonl: it is no recording"));
    metasd()
        .args(["simulate", "--record", "no/such.msdrec"])
        .assert()
        .code(1)
        .stderr(contains("no/such.msdrec"));
    record(&prompts, &folder.path().join("b.msdrec"))
        .args(["-cd", "16"])
        .assert()
        .code(2)
        .stderr(contains("--ctx-size-draft"));
    assert!(!folder.path().join("b.msdrec").exists());
}
