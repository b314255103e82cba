//! `metasd bench` on a real model, and `metasd simulate --synthetic`: what they write.

#[allow(dead_code, reason = "shared with tests that need more of it")]
#[path = "support/program.rs"]
mod program;

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use program::{drafter, metasd, on_model};
use serde_json::Value;

/// One short prompt, as Spec-Bench writes it.
const PROMPT: &str =
    r#"{"question_id": 1, "category": "qa", "turns": ["Name three colors.", "Why?"]}"#;

/// A bench of plain decoding, one drafter alone and a policy: three runs.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("prompts.jsonl"), PROMPT).expect("writable");
        Self { folder }
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("report")
    }

    fn runs(&self) -> Vec<String> {
        let text = fs::read_to_string(self.output().join("runs.jsonl")).expect("the runs");
        text.lines().map(str::to_owned).collect()
    }

    fn command(&self) -> Command {
        let mut command = on_model("bench");
        command
            .arg("-md")
            .arg(drafter("self"))
            .arg("--prompts")
            .arg(self.folder.path().join("prompts.jsonl"))
            .arg("--output")
            .arg(self.output())
            .args([
                "--policies",
                "fixed:self,metasd-ucb@2+beta=0.1",
                "--rewards",
                "bd",
            ])
            .args(["--repetitions", "1", "-n", "8"]);
        command
    }
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("readable");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn a_bench_writes_a_report_with_the_numbers_behind_it() {
    let bench = Bench::new();
    let output = bench.command().arg("--json").assert().success();
    let stdout = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert!(stdout.contains("| `fixed:self` |"), "{stdout}");

    let summary = json(&bench.output().join("summary.json"));
    let printed: Value =
        serde_json::from_str(stdout.lines().last().expect("a line")).expect("JSON");
    assert_eq!(printed, summary);
    assert_eq!(summary["seed"], 1);
    assert_eq!(summary["runs"], 3);
    assert_eq!(summary["settings"]["predict"], 8);
    let digest = summary["settings"]["target"]["sha256"].as_str();
    assert_eq!(digest.map(str::len), Some(64));
    assert_eq!(summary["domains"][0]["name"], "qa");
    let rows = summary["domains"][0]["rows"].as_array().expect("a list");
    let methods: Vec<_> = rows
        .iter()
        .filter_map(|row| row["method"].as_str())
        .collect();
    assert_eq!(methods, ["off", "fixed:self", "metasd-ucb@2+beta=0.1"]);
    assert_eq!(rows[0]["speedup"], 1.0);
    assert_eq!(rows[0]["mean_acceptance_length"], 1.0);
    assert_eq!(rows[2]["reward"], "bd");
    for row in &rows[1..] {
        assert!(row["speedup"].as_f64() > Some(0.0), "{row}");
        assert!(row["tokens_per_second"].as_f64() > Some(0.0), "{row}");
        // The target as its own drafter is always right.
        assert!(row["mean_acceptance_length"].as_f64() > Some(1.5), "{row}");
        assert!(row["mean_bd"].as_f64() > Some(0.3), "{row}");
        assert!(row["share"]["self"].as_f64() > Some(0.0), "{row}");
        assert_eq!(row["texts"]["unexplained"], 0, "{row}");
    }

    let read = |name: &str| fs::read_to_string(bench.output().join(name)).expect(name);
    let html = read("report.html");
    assert!(html.contains("<svg") && !html.contains("<img"), "one file");
    let markdown = read("report.md");
    for figure in [
        "speedup-qa",
        "share-qa",
        "timeline-qa",
        "regret-qa",
        "convergence",
    ] {
        assert!(markdown.contains(&format!("({figure}.svg)")), "{figure}");
        assert!(
            read(&format!("{figure}.svg")).starts_with("<svg"),
            "{figure}"
        );
        assert!(
            read(&format!("{figure}.csv")).lines().count() > 1,
            "{figure}"
        );
    }
    let rounds: usize = bench.runs()[1..]
        .iter()
        .map(|run| serde_json::from_str::<Value>(run).expect("JSON"))
        .map(|run| run["rounds"].as_array().expect("a list").len())
        .sum();
    assert_eq!(read("rounds.csv").lines().count(), 1 + rounds);
}

#[test]
fn all_drafters_at_once_and_scored_drafters_are_measured_as_one_is() {
    let bench = Bench::new();
    bench
        .command()
        .args(["-md", &drafter("twin")])
        .args(["--policies", "draft-all,static-ensemble,hedge"])
        .assert()
        .success();
    let summary = json(&bench.output().join("summary.json"));
    let rows = summary["domains"][0]["rows"].as_array().expect("a list");
    let row = |method: &str| {
        let found = rows.iter().find(|row| row["method"] == method);
        found.unwrap_or_else(|| panic!("{method} has no row: {summary}"))
    };
    for method in ["draft-all", "static-ensemble", "hedge"] {
        let row = row(method);
        assert_eq!(row["runs"], 1, "{row}");
        assert!(row["mean_acceptance_length"].as_f64() > Some(1.5), "{row}");
        assert!(row["mean_bd"].as_f64() > Some(0.3), "{row}");
        assert_eq!(row["texts"]["unexplained"], 0, "{row}");
    }
    assert!(row("draft-all")["reward"].is_null(), "it learns nothing");
    let scoring = |method: &str| row(method)["parts_per_token"]["counterfactual_ms"].as_f64();
    assert!(scoring("hedge") > Some(0.0));
    assert_eq!(scoring("draft-all"), Some(0.0));
    let rounds = fs::read_to_string(bench.output().join("rounds.csv")).expect("the rounds");
    assert!(row("static-ensemble")["share"]["static-ensemble"].as_f64() > Some(0.5));
    let report = fs::read_to_string(bench.output().join("report.md")).expect("the report");
    assert!(report.contains(" | static-ensemble |"), "{report}");
    let ensemble = |line: &&str| line.contains(",static-ensemble,,1,static-ensemble,");
    assert_eq!(rounds.lines().filter(ensemble).count(), 1, "{rounds}");
}

#[test]
fn an_interrupted_bench_goes_on_where_it_was() {
    let bench = Bench::new();
    bench.command().assert().success();
    let before = bench.runs();
    assert_eq!(before.len(), 1 + 3, "settings and three runs");
    // The third run was being written.
    let cut = format!(
        "{}\n{}\n{}\n{}",
        before[0],
        before[1],
        before[2],
        &before[3][..40]
    );
    fs::write(bench.output().join("runs.jsonl"), cut).expect("writable");
    fs::remove_file(bench.output().join("summary.json")).expect("it was there");
    bench
        .command()
        .assert()
        .success()
        .stderr(contains("2 of 3 runs are there already"));
    let after = bench.runs();
    assert_eq!(after[..3], before[..3]);
    let run = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
    let (old, new) = (run(&before[3]), run(&after[3]));
    for key in ["prompt", "method", "reward", "tokens", "comparison"] {
        assert_eq!(old[key], new[key], "{key}");
    }
    assert_eq!(json(&bench.output().join("summary.json"))["runs"], 3);
}

#[test]
fn runs_of_other_settings_are_kept_and_refused() {
    let bench = Bench::new();
    bench.command().assert().success();
    let before = bench.runs();
    bench
        .command()
        .args(["-n", "9", "--temps", "0,1"])
        .assert()
        .code(2)
        .stderr(contains("predict is 8 there and 9 here").and(contains("--output")));
    assert_eq!(bench.runs(), before);
}

#[test]
fn what_cannot_be_measured_is_told_before_anything_runs() {
    let bench = Bench::new();
    let refused = |arguments: &[&str], message: &str| {
        let mut command = bench.command();
        command
            .args(arguments)
            .assert()
            .code(2)
            .stderr(contains(message));
        assert!(!bench.output().exists(), "{message}");
    };
    refused(&["--policies", "fixed:nobody"], "nobody");
    refused(&["--policies", "metasd-ubc"], "did you mean `metasd-ucb`");
    refused(&["--temps", "-1"], "temp is -1");
    refused(&["--category", "code"], "category `code` has no prompts");
    refused(&["--prompts", "no/file"], "no/file");
    refused(&["--top-p", "2"], "top-p is 2");
    refused(&["--min-p", "nan"], "min-p is NaN");
    refused(&["--repetitions", &u64::MAX.to_string()], "from 1 to 10000");
    refused(&["--max-gap", "nan"], "max-gap is NaN");
    let mut command = bench.command();
    command
        .args(["-c", "16"])
        .assert()
        .failure()
        .stderr(contains("raise --ctx-size"));
    assert!(!bench.output().exists());
    bench
        .command()
        .args(["-n", &u64::MAX.to_string()])
        .assert()
        .failure()
        .stderr(contains("raise --ctx-size"));
    assert!(!bench.output().exists());
}

#[test]
fn what_is_asked_for_twice_is_run_once() {
    let bench = Bench::new();
    bench
        .command()
        .args(["--temps", "0,0,-0", "--rewards", "bd,bd"])
        .args(["--policies", "metasd-ucb,metasd-ucb", "-n", "3"])
        .assert()
        .success();
    // Beside plain decoding and the two that the command names.
    assert_eq!(bench.runs().len(), 1 + 4, "settings, and metasd-ucb once");
}

#[test]
fn a_file_in_the_place_of_the_report_or_of_its_runs_is_kept() {
    let bench = Bench::new();
    fs::create_dir(bench.output()).expect("writable");
    let runs = bench.output().join("runs.jsonl");
    fs::write(&runs, "notes of mine").expect("writable");
    bench
        .command()
        .assert()
        .code(2)
        .stderr(contains("runs.jsonl:1: not the settings of a bench"));
    assert_eq!(
        fs::read_to_string(&runs).expect("readable"),
        "notes of mine"
    );
    bench
        .command()
        .arg("--output")
        .arg(&runs)
        .assert()
        .failure()
        .stderr(contains("cannot make the folder"));
}

#[test]
fn a_bench_with_other_sampling_does_not_go_on_from_the_runs_that_are_there() {
    let bench = Bench::new();
    let with = |arguments: &[&str]| {
        let mut command = bench.command();
        command
            .args(["--policies", "fixed:self", "-n", "3", "--temps", "1"])
            .args(arguments);
        command.assert()
    };
    with(&["--top-k", "1"]).success();
    assert_eq!(
        json(&bench.output().join("summary.json"))["settings"]["top_k"],
        1
    );
    with(&[])
        .code(2)
        .stderr(contains("top_k is 1 there and 40 here"));
}

#[test]
fn a_simulation_that_would_not_end_is_refused() {
    let most = u64::MAX.to_string();
    for option in ["--runs", "--tokens", "--spec-draft-n-max"] {
        for value in [most.as_str(), "0"] {
            metasd()
                .args(["simulate", "--synthetic", option, value])
                .assert()
                .code(2)
                .stderr(contains("a whole number from 1 to"));
        }
    }
}

#[test]
fn a_simulation_prints_its_problems_as_one_object() {
    let output = metasd()
        .args(["simulate", "--synthetic", "--json", "--runs", "4"])
        .args(["--arms", "0.5,0.41,0.32", "--arms", "0.7,0.4"])
        .args(["--tokens", "128,256", "--policies", "metasd-ucb,exp3"])
        .assert()
        .success();
    let stdout = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    let report: Value = serde_json::from_str(stdout.lines().last().expect("a line")).expect("JSON");
    let problems = report["problems"].as_array().expect("a list");
    assert_eq!(problems.len(), 2);
    assert_eq!(problems[0]["alphas"], serde_json::json!([0.5, 0.41, 0.32]));
    assert_eq!(problems[0]["best_fixed"], 0);
    let policies = problems[0]["policies"].as_array().expect("a list");
    assert_eq!(policies.len(), 4, "two policies, two rewards");
    for policy in policies {
        assert!(policy["name"].is_string() && policy["reward"].is_string());
        assert_eq!(policy["regret"][1]["tokens"], 256);
        for key in ["mean", "stderr"] {
            assert!(policy["regret"][1][key].is_f64(), "{key}");
        }
        for key in ["a", "b", "r2"] {
            assert!(policy["fit"][key].is_f64(), "{key}");
        }
        let mean = |budget: usize| policy["regret"][budget]["mean"].as_f64().expect("a number");
        let growth = policy["growth"]["mean"].as_f64().expect("a number");
        assert!((growth - (mean(1) - mean(0))).abs() < 1e-9);
        assert!(policy["growth"]["stderr"].as_f64() > Some(0.0));
    }
}
