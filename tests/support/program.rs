//! The program as a test runs it: on a small model, with one thread, and with a default pool that
//! is the same on every machine.

use std::path::{Path, PathBuf};

use assert_cmd::Command;

/// The target: `$METASD_MODEL`, else the 4-bit SmolLM2 of the model cache.
///
/// # Panics
/// If it is missing: a test without its model has failed.
pub fn model() -> PathBuf {
    let default = || {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("ggml-models/cache/SmolLM2-135M-Instruct-Q4_0.gguf")
    };
    let path = std::env::var_os("METASD_MODEL").map_or_else(default, PathBuf::from);
    assert!(
        path.is_file(),
        "{} is missing; run `make models`",
        path.display()
    );
    path
}

/// A pool of an n-gram drafter alone, without a target.
fn plain_pool() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/plain-pool.toml")
}

/// `metasd` with nothing of the environment that changes what it does.
pub fn metasd() -> Command {
    let mut command = assert_cmd::cargo_bin_cmd!("metasd");
    command
        .env("METASD_POOL", plain_pool())
        .env_remove("RUST_LOG")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE");
    command
}

/// `metasd COMMAND` on the model, in a small context, with one thread.
pub fn on_model(command: &str) -> Command {
    let mut metasd = metasd();
    metasd
        .arg(command)
        .arg("-m")
        .arg(model())
        .args(["-t", "1", "-c", "512"]);
    metasd
}

/// `metasd run` on the model with a short answer.
pub fn run() -> Command {
    let mut command = on_model("run");
    command.args(["-n", "12"]);
    command
}

/// The target as its own drafter, which is right every time: `NAME=FILE`.
pub fn drafter(name: &str) -> String {
    format!("{name}={}", model().display())
}
