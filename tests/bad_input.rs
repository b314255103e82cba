//! What is wrong with models, arguments and files is said, and never by a panic.

#[path = "support/gguf.rs"]
mod gguf;
#[path = "support/program.rs"]
mod program;

use std::fs;
use std::path::{Path, PathBuf};

use gguf::Gguf;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use program::{drafter, metasd, model, on_model, run};
use tempfile::TempDir;

const HI: [&str; 2] = ["-p", "Hi"];

/// Runs `command`, which must fail with exit code `code`, without a panic, and with all of
/// `messages` on standard error.
#[track_caller]
fn fails(
    command: &mut assert_cmd::Command,
    code: i32,
    messages: &[&str],
) -> assert_cmd::assert::Assert {
    let mut assert = command
        .assert()
        .code(code)
        .stderr(contains("panicked").not());
    for message in messages {
        assert = assert.stderr(contains(*message));
    }
    assert
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// `metasd run` on the model file `path`.
fn run_on(path: &Path) -> assert_cmd::Command {
    let mut command = metasd();
    command.args(["run", "-t", "1", "-c", "256", "-n", "3", "-m", text(path)]);
    command.args(HI);
    command
}

/// A file `name` in `folder` with the header of the model and `change` made to it; its weights are
/// zero.
fn changed_model(folder: &TempDir, name: &str, change: impl FnOnce(&mut Gguf)) -> PathBuf {
    let path = folder.path().join(name);
    let mut gguf = Gguf::read(&model());
    change(&mut gguf);
    gguf.write(&path);
    path
}

/// A model whose token 100 and the others are the target's but for one.
fn stranger(folder: &TempDir) -> PathBuf {
    changed_model(folder, "stranger.gguf", |gguf| {
        gguf.replace_once("\u{120}elephant", "\u{120}elephanX");
    })
}

#[test]
fn a_missing_model_is_named_and_one_that_we_make_comes_with_a_hint() {
    let mut missing = run_on(Path::new("no/such.gguf"));
    fails(
        &mut missing,
        1,
        &["error: ", "no/such.gguf", "No such file"],
    );
    let mut ours = run_on(Path::new("ggml-models/cache/none.gguf"));
    fails(
        &mut ours,
        1,
        &["ggml-models/cache/none.gguf", "make models"],
    );
    let mut drafter = run();
    drafter.args(HI).args(["-md", "x=no/such.gguf"]);
    fails(&mut drafter, 1, &["drafter `x`", "no/such.gguf"]);
}

#[test]
fn a_file_that_is_no_model_is_told_by_what_it_begins_with() {
    fails(
        &mut run_on(Path::new("Cargo.toml")),
        1,
        &["Cargo.toml is not a GGUF model", "[pac"],
    );
    fails(
        &mut run_on(Path::new("tests")),
        1,
        &["tests is not a GGUF model", "folder"],
    );
}

#[test]
fn a_model_that_is_cut_short_is_refused() {
    let folder = folder();
    let path = folder.path().join("short.gguf");
    let bytes = fs::read(model()).expect("readable");
    for (length, why) in [
        (4, ""),
        (1_000_000, ""),
        (10_000_000, "not within the file bounds"),
    ] {
        fs::write(&path, &bytes[..length]).expect("writable");
        fails(
            &mut run_on(&path),
            1,
            &["short.gguf cannot be loaded: ", why],
        );
    }
}

#[test]
fn a_norm_that_ggml_would_end_the_process_over_is_refused() {
    let folder = folder();
    for epsilon in [f32::NAN, -1.0] {
        let path = changed_model(&folder, "norm.gguf", |gguf| {
            let key = "llama.attention.layer_norm_rms_epsilon";
            gguf.set_number(key, 0, epsilon.to_bits());
        });
        let why = format!("layer_norm_rms_epsilon is {epsilon}; it must be 0 or above");
        fails(
            &mut run_on(&path),
            1,
            &["norm.gguf cannot be loaded: ", &why],
        );
        let mut drafter = run();
        drafter
            .args(HI)
            .args(["-md", &format!("x={}", text(&path))]);
        fails(&mut drafter, 1, &["drafter `x`", &why]);
    }
}

#[test]
fn an_unknown_architecture_is_named() {
    let folder = folder();
    let path = changed_model(&folder, "other.gguf", |gguf| {
        gguf.replace_once("llama", "xlama")
    });
    fails(
        &mut run_on(&path),
        1,
        &[
            "other.gguf cannot be loaded",
            "unknown model architecture",
            "xlama",
        ],
    );
}

#[test]
fn a_drafter_of_another_vocabulary_is_refused_with_the_token_that_differs() {
    let folder = folder();
    let stranger = stranger(&folder);
    let mut given = run();
    given
        .args(HI)
        .args(["-md", &format!("odd={}", stranger.display())]);
    let messages = [
        "drafter `odd`",
        "text of token ",
        "\u{120}elephanX\"",
        "\u{120}elephant\"",
    ];
    fails(&mut given, 1, &messages);

    let mut check = metasd();
    check.args([
        "pool",
        "check",
        "-t",
        "1",
        "-c",
        "256",
        "-m",
        text(&model()),
    ]);
    check.args(["-md", &format!("odd={}", stranger.display())]);
    check
        .assert()
        .code(1)
        .stdout(contains("differs"))
        .stdout(contains("text of token "));
}

#[test]
fn a_drafter_of_the_default_pool_that_does_not_fit_a_given_target_is_left_out() {
    let folder = folder();
    let pool = folder.path().join("pool.toml");
    let content = format!(
        "[session]\npolicy = \"fixed:odd\"\n\
         [[drafter]]\nname = \"odd\"\nkind = \"model\"\nmodel = {:?}\n\
         [[drafter]]\nname = \"gone\"\nkind = \"model\"\nmodel = \"gone.gguf\"\n",
        stranger(&folder)
    );
    fs::write(&pool, content).expect("writable");
    run()
        .env("METASD_POOL", &pool)
        .args(HI)
        .args(["--json"])
        .assert()
        .success()
        .stderr(contains("warning: drafter `odd`"))
        .stderr(contains("text of token "))
        .stderr(contains("pool.toml:10: drafter `gone`"))
        .stdout(contains("\"policy\":\"metasd-ucb\""))
        .stdout(contains("\"name\":\"ngram\""));
    let mut asked_for = run();
    asked_for.args(HI).args(["--pool", text(&pool)]);
    fails(
        &mut asked_for,
        2,
        &["pool.toml:10: drafter `gone`", "does not exist"],
    );
}

#[test]
fn a_drafter_whose_context_no_memory_holds_is_left_out_with_a_warning() {
    let mut command = run();
    command
        .args(HI)
        .args(["-q", "-md", &drafter("huge"), "-cd", "2000000000"]);
    let with = command
        .assert()
        .success()
        .stderr(contains("warning: drafter `huge`"))
        .stderr(contains("2000000000 tokens"))
        .stderr(contains("panicked").not());
    let without = run().args(HI).arg("-q").assert().success();
    assert_eq!(with.get_output().stdout, without.get_output().stdout);

    let mut target = run();
    target.args(HI).args(["-c", "2000000000"]);
    fails(&mut target, 1, &["2000000000 tokens"]);
}

#[test]
fn a_target_with_broken_weights_ends_the_text_with_an_error() {
    let folder = folder();
    let path = changed_model(&folder, "nan.gguf", |gguf| {
        gguf.fill("output_norm.weight", &f32::NAN.to_le_bytes());
    });
    let failed = fails(
        run_on(&path).arg("--json"),
        1,
        &["error: generation ended after 0 tokens", "NaN"],
    );
    failed
        .stdout(contains("\"stop_reason\":\"error\""))
        .stdout(contains("\"error\":\""));

    metasd()
        .args(["chat", "-t", "1", "-c", "256", "-m", text(&path)])
        .write_stdin("Hi\nHi\n/exit\n")
        .assert()
        .success()
        .stderr(contains("error: the answer ended here").count(2))
        .stderr(contains("panicked").not());

    let mut audit = metasd();
    audit
        .args(["audit", "-t", "1", "-c", "256", "-m", text(&path)])
        .args(HI);
    fails(&mut audit, 1, &["NaN"]);
}

#[test]
fn a_drafter_with_broken_weights_leaves_the_pool_and_the_text_is_unchanged() {
    let folder = folder();
    let path = changed_model(&folder, "nan.gguf", |gguf| {
        gguf.fill("output_norm.weight", &f32::NAN.to_le_bytes());
    });
    let mut command = run();
    command
        .args(HI)
        .args(["-q", "-md", &format!("nan={}", path.display())]);
    let with = command
        .assert()
        .success()
        .stderr(contains("warning: drafter `nan` has left the pool"))
        .stderr(contains("NaN"));
    let without = run().args(HI).arg("-q").assert().success();
    assert_eq!(with.get_output().stdout, without.get_output().stdout);
}

#[test]
fn a_draft_of_nothing_or_of_more_than_a_batch_is_refused() {
    let with = |n_max: &str| {
        let mut command = run();
        command
            .args(HI)
            .args(["-b", "64", "--spec-draft-n-max", n_max]);
        command
    };
    fails(&mut with("0"), 2, &["spec-draft-n-max is 0", "1 to 63"]);
    fails(&mut with("64"), 2, &["spec-draft-n-max is 64", "1 to 63"]);
    fails(&mut with("18446744073709551615"), 2, &["1 to 63"]);
    fails(&mut with("-1"), 2, &["--spec-draft-n-max"]);
}

#[test]
fn more_threads_than_ggml_takes_are_refused_instead_of_started() {
    let mut command = metasd();
    command.args([
        "run", "-p", "Hi", "-n", "2", "-c", "256", "-t", "20000", "-m",
    ]);
    command.arg(model());
    fails(&mut command, 2, &["threads is 20000", "1 to 512"]);
}

#[test]
fn a_prompt_must_be_there_once_and_have_text() {
    fails(run().args(["-p", ""]), 2, &["the prompt is empty"]);
    fails(&mut run(), 2, &["--prompt", "--file"]);
    fails(
        run().args(["-p", "a", "-f", "b"]),
        2,
        &["cannot be used with"],
    );
    fails(
        run().args(["-f", "-"]).write_stdin(""),
        2,
        &["the prompt is empty"],
    );
    fails(run().args(["-f", "no-such-file"]), 1, &["no-such-file"]);
}

#[test]
fn a_prompt_that_is_no_text_is_named_with_the_offset() {
    let folder = folder();
    let path = folder.path().join("prompt.bin");
    fs::write(&path, b"abc\xff").expect("writable");
    fails(
        run().args(["-f", text(&path)]),
        2,
        &["prompt.bin is not UTF-8", "offset 3"],
    );
    let mut stdin = run();
    stdin.args(["-f", "-"]).write_stdin(&b"\xc3\x28"[..]);
    fails(&mut stdin, 2, &["standard input is not UTF-8", "offset 0"]);
    fs::write(&path, b"a\0b").expect("writable");
    fails(run().args(["-f", text(&path)]), 2, &["NUL"]);
}

#[test]
fn a_prompt_longer_than_the_context_is_refused_with_both_lengths() {
    let long = "word ".repeat(600);
    fails(
        run().args(["-p", &long]),
        1,
        &["the context holds 512", "--ctx-size"],
    );
}

#[test]
fn an_unknown_policy_or_drafter_lists_the_known_ones() {
    let with = |policy: &str| {
        let mut command = run();
        command.args(HI).args(["--policy", policy]);
        command
    };
    fails(
        &mut with("ucb"),
        2,
        &["unknown policy `ucb`", "metasd-ucb", "fixed:NAME"],
    );
    fails(&mut with("fixed:coed"), 2, &["fixed:coed", "`ngram`"]);
    fails(
        run().args(HI).args(["--reward", "speed"]),
        2,
        &["unknown reward `speed`", "`be`"],
    );
}

#[test]
fn sampling_parameters_out_of_range_are_named_with_their_range() {
    let cases = [
        ("--temp", "nan", "temp is NaN"),
        ("--temp", "-1", "temp is -1"),
        ("--temp", "inf", "temp is inf"),
        ("--top-p", "0", "top-p is 0"),
        ("--top-p", "1.5", "top-p is 1.5"),
        ("--min-p", "2", "min-p is 2"),
        ("--repeat-penalty", "0", "repeat-penalty is 0"),
        ("--presence-penalty", "nan", "presence-penalty is NaN"),
        ("--seed", "-2", "seed is -2"),
        ("--predict", "-3", "predict is -3"),
        ("--beta", "-1", "beta is -1"),
        ("--carry", "0", "carry is 0"),
        ("--retention", "2", "retention is 2"),
        ("--counterfactual", "-1", "--counterfactual"),
        ("--reward-temperature", "0", "reward temperature"),
        ("--threads", "0", "--threads"),
        ("--batch-size", "1", "batch-size is 1"),
        ("--ctx-size", "many", "--ctx-size"),
        ("--n-gpu-layers", "some", "`all` or `auto`"),
    ];
    for (option, value, message) in cases {
        fails(run().args(HI).args([option, value]), 2, &[message]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_does_not_stop_the_text_but_is_reported_at_the_end() {
    let whole = run().args(HI).arg("-q").assert().success();
    let mut traced = run();
    traced.args(HI).args(["-q", "--trace", "/dev/full"]);
    let failed = fails(
        &mut traced,
        1,
        &["cannot write the trace /dev/full", "No space left"],
    );
    assert_eq!(failed.get_output().stdout, whole.get_output().stdout);
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let full = fs::File::options()
        .write(true)
        .open("/dev/full")
        .expect("it can be opened");
    let output = std::process::Command::new(assert_cmd::cargo::cargo_bin!("metasd"))
        .args([
            "run",
            "-t",
            "1",
            "-c",
            "256",
            "-n",
            "3",
            "-m",
            text(&model()),
            "-p",
            "Hi",
        ])
        .stdout(full)
        .output()
        .expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr.contains("cannot write to standard output"),
        "{stderr}"
    );
    assert!(!stderr.contains("panicked"), "{stderr}");
}

#[test]
fn a_trace_that_cannot_be_begun_is_an_error_before_any_text() {
    let mut command = run();
    command
        .args(HI)
        .args(["--trace", "no/such/folder/trace.jsonl"]);
    fails(
        &mut command,
        1,
        &["cannot write the trace no/such/folder/trace.jsonl"],
    )
    .stdout(predicates::str::is_empty());
}

#[test]
fn mistakes_in_a_pool_file_are_reported_with_file_line_and_field() {
    let folder = folder();
    let path = folder.path().join("pool.toml");
    let head = format!(
        "[target]\nmodel = {:?}\n[[drafter]]\nname = \"code\"\n",
        model()
    );
    let with = |lines: &str| {
        fs::write(&path, format!("{head}{lines}")).expect("writable");
        let mut command = metasd();
        command.args(["run", "-p", "Hi", "--pool", text(&path)]);
        command
    };
    let cases = [
        (
            "kind = \"model\"\nmodel = \"a\"\ncontex = 5\n",
            "pool.toml:7: drafter `code`: unknown key `contex`; known keys: name, kind, model",
        ),
        (
            "kind = \"model\"\nmodel = \"a\"\nthreads = \"two\"\n",
            "pool.toml:7: drafter `code`: threads: invalid type: string \"two\"",
        ),
        (
            "kind = \"model\"\nmodel = \"gone.gguf\"\n",
            "pool.toml:6: drafter `code`: model ",
        ),
        (
            "kind = \"ngram\"\n[[drafter]]\nname = \"code\"\nkind = \"ngram\"\n",
            "pool.toml:7: drafter `code`: another drafter has this name",
        ),
        ("", "pool.toml:3: drafter `code`: `kind` is missing"),
        (
            "kind = \"ngram\"\nmin_n = 0\n",
            "pool.toml:6: drafter `code`: min_n is 0",
        ),
        ("kind = ngram\n", "pool.toml:5: "),
    ];
    for (lines, message) in cases {
        fails(&mut with(lines), 2, &[message]);
    }
    let mut missing = metasd();
    missing.args(["run", "-p", "Hi", "--pool", "no-such-pool.toml"]);
    fails(&mut missing, 2, &["no-such-pool.toml"]);
}

#[test]
fn without_a_target_the_message_says_how_to_get_one() {
    let mut command = metasd();
    command.args(["run", "-p", "Hi"]);
    fails(&mut command, 2, &["no target model", "[target]", "--model"]);
}

#[test]
fn drafters_on_the_command_line_need_names_that_differ() {
    let mut twice = run();
    twice.args(HI).args(["-md", "a=x.gguf", "-md", "a=y.gguf"]);
    fails(&mut twice, 2, &["two drafters are named `a`"]);
    let mut ngram = run();
    ngram.args(HI).args(["-md", "ngram=x.gguf"]);
    fails(&mut ngram, 2, &["two drafters are named `ngram`"]);
    let mut spaced = run();
    spaced.args(HI).args(["-md", "a b=x.gguf"]);
    fails(&mut spaced, 2, &["\"a b\" cannot name a drafter"]);
}

#[test]
fn writing_a_model_says_what_is_wrong_with_type_layers_and_files() {
    let folder = folder();
    let out = folder.path().join("out.gguf");
    let quantize = |arguments: &[&str]| {
        let mut command = metasd();
        command.arg("quantize").args(arguments);
        command
    };
    let (model, path) = (model(), text(&out));
    let input = text(&model);
    fails(
        &mut quantize(&[input, path, "Q9_9"]),
        2,
        &["unknown weight type `Q9_9`", "BF16"],
    );
    let mut pruned = quantize(&[input, path, "Q8_0", "--prune-layers", "2,30"]);
    fails(&mut pruned, 2, &["layer 30", "layers 0 to 29"]);
    let mut same = quantize(&[input, input, "Q8_0"]);
    fails(&mut same, 2, &["both input and output"]);
    fails(
        &mut quantize(&["no/such.gguf", path, "Q8_0"]),
        1,
        &["no/such.gguf"],
    );
    fails(
        &mut quantize(&["Cargo.toml", path, "Q8_0"]),
        1,
        &["Cargo.toml is not a GGUF model"],
    );
    let unwritable = folder.path().join("no/out.gguf");
    fails(
        &mut quantize(&[input, text(&unwritable), "Q8_0"]),
        1,
        &["cannot write"],
    );
    assert!(!out.exists());
}

#[test]
fn an_audit_names_the_line_of_a_wrong_prompt_and_a_wrong_policy_at_once() {
    let folder = folder();
    let path = folder.path().join("prompts.jsonl");
    fs::write(&path, "{\"prompt\": \"a\"}\n{\"turns\": []}\n").expect("writable");
    let audit = |arguments: &[&str]| {
        let mut command = on_model("audit");
        command.args(arguments);
        command
    };
    fails(
        &mut audit(&["--prompts", text(&path)]),
        2,
        &["prompts.jsonl:2: "],
    );
    fails(
        &mut audit(&["-p", "a", "--policies", "off,fixed:x"]),
        2,
        &["fixed:x"],
    );
    fails(
        &mut audit(&["-p", "a", "--max-gap", "nan"]),
        2,
        &["max-gap is NaN"],
    );
    fs::write(&path, "\n").expect("writable");
    fails(&mut audit(&["--prompts", text(&path)]), 2, &["no prompts"]);
}

#[test]
fn a_chat_line_that_is_no_text_is_named() {
    let mut command = on_model("chat");
    command.args(["-n", "1"]).write_stdin(&b"Hi\n\xff\n"[..]);
    fails(&mut command, 1, &["line 2 is not UTF-8"]);
}

#[test]
fn a_trace_does_not_take_the_place_of_the_model_it_is_about() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let copy = folder.path().join("model.gguf");
    let size = std::fs::copy(model(), &copy).expect("a copy");
    let mut command = metasd();
    command.args(["run", "-p", "Hi", "-n", "2", "-c", "256", "-t", "1", "-m"]);
    command.arg(&copy).arg("--trace").arg(&copy);
    fails(&mut command, 2, &["--trace", "model.gguf", "in use"]);
    assert_eq!(std::fs::metadata(&copy).expect("it is there").len(), size);
}

#[test]
fn a_model_is_not_written_over_what_is_no_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let there = folder.path().join("there");
    std::fs::create_dir(&there).expect("a folder");
    let mut command = metasd();
    command.arg("quantize").arg(model()).arg(&there).arg("Q4_0");
    fails(&mut command, 2, &["there", "no regular file"]);
    let left = std::fs::read_dir(folder.path()).expect("readable").count();
    assert_eq!(left, 1, "nothing is left beside it");
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_no_model() {
    let mut command = metasd();
    command.args(["run", "-p", "Hi", "-m", "/dev/zero"]);
    fails(&mut command, 1, &["/dev/zero", "no regular file"]);
}
