//! A head that does not fit its target is refused with what is wrong, and never ends the process.

#[path = "support/gguf.rs"]
mod gguf;
#[path = "support/heads.rs"]
mod heads;
#[path = "support/program.rs"]
mod program;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gguf::Gguf;
use metasd::ErrorKind;
use metasd::drafter::HeadFile;
use metasd::llama::{Model, ModelParams};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use program::{drafter, metasd, model, on_model, run};
use tempfile::TempDir;

/// Tokens that the shipped heads draft.
const DRAFTED: usize = 12_288;

fn target() -> Arc<Model> {
    Model::load(&model(), &ModelParams::default(), None).expect("a model that loads")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// The shipped head with `change` made to it.
fn changed(folder: &TempDir, change: impl FnOnce(&mut Gguf)) -> PathBuf {
    let original = heads::head("general");
    let mut gguf = Gguf::read(&original);
    gguf.keep_data(&original);
    change(&mut gguf);
    let path = folder.path().join("changed.gguf");
    gguf.write(&path);
    path
}

/// `name` as a GGUF file has it: its length before it.
fn stored(name: &str) -> String {
    let length = u8::try_from(name.len()).expect("short");
    format!("{}\0\0\0\0\0\0\0{name}", char::from(length))
}

/// Checks that the head with `change` is refused for `kind` with all of `messages`.
#[track_caller]
fn refused(change: impl FnOnce(&mut Gguf), kind: ErrorKind, messages: &[&str]) {
    let folder = folder();
    let path = changed(&folder, change);
    let target = target();
    let error = HeadFile::read(&path, &target).expect_err("it does not fit");
    assert_eq!(error.kind(), kind, "{error}");
    for message in [&["changed.gguf"], messages].concat() {
        assert!(error.to_string().contains(message), "{message}: {error}");
    }
}

fn d2t(token: impl Fn(usize) -> i64) -> Vec<u8> {
    (0..DRAFTED).flat_map(|i| token(i).to_le_bytes()).collect()
}

#[test]
fn a_head_of_another_target_is_told_by_its_hidden_size() {
    refused(
        |head| head.set_number("eagle3.target_hidden_size", 0, 4096),
        ErrorKind::TargetMismatch,
        &["target_hidden_size is 4096", "hidden size is 576", "Q4_0"],
    );
}

#[test]
fn layers_that_the_target_does_not_have_are_named() {
    refused(
        |head| head.set_number("eagle3.target_layers", 2, 40),
        ErrorKind::TargetMismatch,
        &["target_layers is [2, 15, 40]", "30 layers", "0 to 29"],
    );
    // The output of the last layer is no layer's input.
    refused(
        |head| head.set_number("eagle3.target_layers", 1, 30),
        ErrorKind::TargetMismatch,
        &["[2, 30, 27]"],
    );
}

#[test]
fn a_reduced_vocabulary_needs_a_d2t_of_the_targets_tokens() {
    refused(
        |head| head.replace_once(&stored("d2t"), &stored("d2x")),
        ErrorKind::InvalidModel,
        &["drafts 12288 tokens of the target's 49152", "no tensor d2t"],
    );
    refused(
        |head| head.put("d2t", d2t(|i| i as i64 + 45_000)),
        ErrorKind::TargetMismatch,
        &["d2t names token 49152", "has 49152 tokens"],
    );
    refused(
        |head| head.put("d2t", d2t(|i| i as i64 - 1)),
        ErrorKind::TargetMismatch,
        &["d2t names token -1"],
    );
    refused(
        |head| head.put("d2t", d2t(|i| i64::from(i > 5))),
        ErrorKind::InvalidModel,
        &["d2t names token 0 more than once"],
    );
}

#[test]
fn what_llama_cpp_would_end_the_process_over_is_refused() {
    refused(
        |head| head.set_number("eagle3.block_count", 0, 2),
        ErrorKind::InvalidModel,
        &["2 decoder layers"],
    );
    refused(
        |head| head.set_number("eagle3.embedding_length", 0, 192),
        ErrorKind::TargetMismatch,
        &[
            "no token_embd.weight of its own",
            "width is 192",
            "width 576",
        ],
    );
    refused(
        |head| head.set_number("eagle3.attention.head_count", 0, 0),
        ErrorKind::InvalidModel,
        &["eagle3.attention.head_count is 0"],
    );
    for rotated in [0, 63, 4096] {
        refused(
            move |head| head.set_number("eagle3.rope.dimension_count", 0, rotated),
            ErrorKind::InvalidModel,
            &[
                &format!("eagle3.rope.dimension_count is {rotated}"),
                "even and 2 to 64",
            ],
        );
    }
    refused(
        |head| head.replace_once("eagle3.target_layers", "eagle3.target_lairs_"),
        ErrorKind::InvalidModel,
        &["no eagle3.target_layers"],
    );
}

#[test]
fn a_model_that_is_no_head_is_told_by_its_architecture() {
    let target = target();
    let error = HeadFile::read(&model(), &target).expect_err("no head");
    assert_eq!(error.kind(), ErrorKind::InvalidModel);
    assert!(
        error.to_string().contains("\"llama\", not \"eagle3\""),
        "{error}"
    );
    let error = HeadFile::read(Path::new("no/head.gguf"), &target).expect_err("missing");
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn a_head_whose_file_is_cut_short_is_refused() {
    let folder = folder();
    let path = folder.path().join("short.gguf");
    let bytes = fs::read(heads::head("general")).expect("readable");
    let target = target();
    for length in [4, 1_000_000, bytes.len() - 100] {
        fs::write(&path, &bytes[..length]).expect("writable");
        let checked = HeadFile::read(&path, &target);
        let error = checked
            .err()
            .or_else(|| Model::load(&path, &ModelParams::default(), None).err());
        let error = error.expect("refused").to_string();
        assert!(error.contains("short.gguf"), "{error}");
    }
}

#[test]
fn the_program_names_the_drafter_and_says_what_is_wrong() {
    let folder = folder();
    let path = changed(&folder, |head| {
        head.set_number("eagle3.target_hidden_size", 0, 4096);
    });
    let head = format!("x={}", path.display());
    run()
        .args(["-p", "Hi", "-md", &head])
        .assert()
        .code(1)
        .stderr(contains("panicked").not())
        .stderr(contains("drafter `x`"))
        .stderr(contains("target_hidden_size is 4096"));
    let mut check = metasd();
    check
        .args(["pool", "check", "-t", "1", "-c", "256", "-m"])
        .arg(model())
        .args(["-md", &head])
        .assert()
        .code(1)
        .stdout(contains("eagle3"))
        .stdout(contains("differs"))
        .stdout(contains("target_hidden_size is 4096"));
}

#[test]
fn a_head_of_another_vocabulary_is_refused() {
    let folder = folder();
    let path = changed(&folder, |head| {
        head.replace_once("\u{120}elephant", "\u{120}elephanX");
    });
    run()
        .args(["-p", "Hi", "-md", &format!("x={}", path.display())])
        .assert()
        .code(1)
        .stderr(contains("drafter `x`"))
        .stderr(contains("elephanX"));
}

#[test]
fn a_head_whose_logits_are_no_numbers_leaves_and_the_text_goes_on() {
    let folder = folder();
    let path = changed(&folder, |head| {
        head.fill("output_norm.weight", &f32::NAN.to_le_bytes());
    });
    let plain = on_model("run")
        .args(["-n", "8", "-p", "Hi", "--policy", "off"])
        .output()
        .expect("it runs");
    let head = format!("x={}", path.display());
    on_model("run")
        .args(["-n", "8", "-p", "Hi", "--policy", "round-robin"])
        .args(["-md", &head, "-md", &drafter("own")])
        .assert()
        .success()
        .stderr(contains("drafter `x`"))
        .stdout(String::from_utf8_lossy(&plain.stdout).into_owned());
}

#[test]
fn kinds_of_a_pool_file_are_what_the_files_are() {
    let folder = folder();
    let pool = folder.path().join("pool.toml");
    let check = |kind: &str, file: &Path| {
        let text = format!(
            "[target]\nmodel = \"{}\"\n[[drafter]]\nname = \"x\"\nkind = \"{kind}\"\nmodel = \"{}\"\n",
            model().display(),
            file.display()
        );
        fs::write(&pool, text).expect("writable");
        let mut check = metasd();
        check.args(["pool", "check", "-t", "1", "-c", "256", "--pool"]);
        check.arg(&pool).assert()
    };
    // Called a model, taken for the head that it is.
    for kind in ["model", "eagle3"] {
        check(kind, &heads::head("general"))
            .success()
            .stdout(contains("eagle3"));
    }
    check("eagle3", &model())
        .code(1)
        .stdout(contains("not \"eagle3\""));
    check("nextn", &heads::head("general"))
        .code(2)
        .stderr(contains("multi-token-prediction"));
}
