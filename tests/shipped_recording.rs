//! The recording of the default pool on the project's own prompts: it is of the drafters that are
//! shipped, and on it the bandit keeps what it promises. No model runs.

use std::path::{Path, PathBuf};

use metasd::record::Record;
use serde_json::Value;
use sha2::{Digest, Sha256};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ggml-models")
}

fn recording() -> PathBuf {
    folder().join("own-prompts.msdrec")
}

/// Rounds beside those of the best drafter alone, on average over the domains, of `policy` with
/// block divergence, on the half of the prompts that window and discount were not chosen on.
fn ratio(policy: &str) -> f64 {
    let plain_pool = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/plain-pool.toml");
    let output = assert_cmd::cargo_bin_cmd!("metasd")
        // The program's own defaults, not those of whoever runs this.
        .env("METASD_POOL", plain_pool)
        .args(["simulate", "--split", "odd", "--rewards", "bd", "--json"])
        .args(["--policies", policy, "--record"])
        .arg(recording())
        .assert()
        .success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    let line = text.lines().last().expect("a line");
    let replay: Value = serde_json::from_str(line).expect("a JSON object");
    let domains = replay["domains"].as_array().expect("domains");
    assert_eq!(domains.len(), 5);
    let ratios = domains
        .iter()
        .map(|domain| domain["policies"][0]["ratio"].as_f64().expect("a ratio"));
    ratios.sum::<f64>() / domains.len() as f64
}

#[test]
fn it_is_of_the_shipped_drafters() {
    let record = Record::read(&recording()).expect("a recording");
    let models = record.header.drafters.iter();
    let models: Vec<_> = models.filter(|drafter| drafter.kind == "model").collect();
    assert_eq!(models.len(), 6);
    for drafter in models {
        let file = folder().join(format!("drafters/{}.gguf", drafter.name));
        let bytes = std::fs::read(file).expect("a shipped drafter");
        let digest: String = Sha256::digest(bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(
            drafter.sha256.as_deref(),
            Some(&*digest),
            "{}",
            drafter.name
        );
    }
}

#[test]
fn the_bandit_takes_at_most_12_percent_more_rounds_than_the_best_drafter_alone() {
    let ratio = ratio("metasd-ucb");
    assert!(ratio <= 1.12, "{ratio}");
}

#[test]
fn scoring_all_drafters_at_first_leaves_at_most_5_percent() {
    let ratio = ratio("metasd-ucb+counterfactual=8");
    assert!(ratio <= 1.05, "{ratio}");
}
