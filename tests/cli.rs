//! The program on a real model: what the command line promises.

#[path = "support/program.rs"]
mod program;

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};

use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, is_empty, is_match};
use program::{drafter, metasd, model, on_model, run};
use serde_json::Value;

const COLORS: [&str; 2] = ["-p", "Name three colors."];

fn last_line(stdout: &[u8]) -> Value {
    let text = String::from_utf8_lossy(stdout);
    let line = text.lines().last().expect("a line");
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// The JSON object of a run that succeeds.
fn report(arguments: &[&str]) -> Value {
    let output = run().arg("--json").args(arguments).assert().success();
    last_line(&output.get_output().stdout)
}

#[test]
fn the_text_goes_to_standard_output_and_the_summary_to_standard_error() {
    run()
        .args(COLORS)
        .assert()
        .success()
        .stdout(contains("olor"))
        .stdout(contains("tok/s").not())
        .stderr(contains("generated   12 tokens"))
        .stderr(contains("ngram"));
}

#[test]
fn quiet_leaves_the_text_alone() {
    run()
        .args(COLORS)
        .arg("-q")
        .assert()
        .success()
        .stderr(is_empty());
}

#[test]
fn json_is_the_last_line_and_has_every_promised_field() {
    let draft = drafter("self");
    let output = run()
        .args(COLORS)
        .args(["--json", "-s", "7", "-md", &draft])
        .assert()
        .success()
        .stderr(is_empty());
    let stdout = &output.get_output().stdout;
    let report = last_line(stdout);
    let text = report["text"].as_str().expect("a text");
    assert!(String::from_utf8_lossy(stdout).starts_with(text));
    assert_eq!(report["tokens"].as_array().expect("a list").len(), 12);
    assert_eq!(report["stop_reason"], "limit");
    assert_eq!(report["policy"], "metasd-ucb");
    assert_eq!(report["reward"], "bd");
    assert_eq!(report["seed"], 7);
    assert_eq!(report["error"], Value::Null);
    assert_eq!(report["model"], model().to_str().expect("UTF-8"));
    let timings = [
        "prompt_n",
        "prompt_ms",
        "predicted_n",
        "predicted_ms",
        "predicted_per_second",
        "draft_n",
        "draft_n_accepted",
        "draft_ms",
        "verify_ms",
        "reward_ms",
        "select_ms",
        "catchup_ms",
        "swap_ms",
        "counterfactual_ms",
    ];
    for name in timings {
        assert!(report["timings"][name].is_number(), "timings.{name}");
    }
    assert!(report["rounds"].as_u64().is_some_and(|rounds| rounds < 12));
    assert!(report["mean_acceptance_length"].as_f64() > Some(1.0));
    let drafters = report["drafters"].as_array().expect("a list");
    assert_eq!(drafters[0]["name"], "self");
    assert_eq!(drafters[1]["kind"], "ngram");
    for name in ["rounds", "drafted", "accepted", "loads", "evictions"] {
        assert!(drafters[0][name].is_u64(), "drafters.{name}");
    }
    for name in ["mean_bd", "mean_be"] {
        assert!(drafters[0][name].is_f64(), "drafters.{name}");
    }
}

#[test]
fn speculation_does_not_change_the_text() {
    let draft = drafter("self");
    let with = report(&[&COLORS[..], &["-md", &draft]].concat());
    let without = report(&[&COLORS[..], &["--policy", "off"]].concat());
    assert_eq!(with["tokens"], without["tokens"]);
    assert_eq!(without["rounds"], 12);
}

#[test]
fn a_trace_has_a_line_for_every_round() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let trace = folder.path().join("trace.jsonl");
    let path = trace.to_str().expect("UTF-8");
    let report = report(&[&COLORS[..], &["--trace", path]].concat());
    let text = std::fs::read_to_string(&trace).expect("a trace");
    let rounds: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(report["rounds"], rounds.len());
    let committed: u64 = rounds.iter().filter_map(|r| r["committed"].as_u64()).sum();
    assert_eq!(committed, 12);
    let keys = [
        "round",
        "drafter",
        "drafted",
        "accepted",
        "committed",
        "bd",
        "be",
        "tv",
        "draft_us",
        "verify_us",
        "catchup_us",
        "swap_us",
        "counterfactual",
        "counterfactual_us",
    ];
    for key in keys {
        assert!(rounds[0].get(key).is_some(), "{key}");
    }
}

#[test]
fn llama_cpps_names_of_several_letters_are_understood() {
    let draft = format!("-md={}", drafter("self"));
    let arguments = [
        "-td", "1", "-ngl", "0", "-ngld", "0", "-no-cnv", "-cd", "256",
    ];
    let report = report(&[&["-p", "The sky is"], &arguments[..], &[draft.as_str()]].concat());
    assert_eq!(report["drafters"][0]["name"], "self");
    let prompt = report["timings"]["prompt_n"].as_u64();
    assert!(prompt <= Some(4), "no chat template: {prompt:?} tokens");
}

#[test]
fn a_prompt_comes_from_a_file_or_from_standard_input_as_well() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("prompt.txt");
    std::fs::write(&path, "Name three colors.\n").expect("writable");
    let expected = report(&COLORS);
    let from_file = report(&["-f", path.to_str().expect("UTF-8")]);
    assert_eq!(from_file["tokens"], expected["tokens"]);
    let output = run()
        .args(["--json", "-f", "-"])
        .write_stdin("Name three colors.\n")
        .assert()
        .success();
    assert_eq!(
        last_line(&output.get_output().stdout)["tokens"],
        expected["tokens"]
    );
}

#[test]
fn the_system_prompt_is_part_of_what_the_model_reads() {
    let plain = report(&COLORS);
    let system = report(&[&COLORS[..], &["-sys", "Answer in French."]].concat());
    let prompt_n = |report: &Value| report["timings"]["prompt_n"].as_u64().expect("a number");
    assert!(prompt_n(&system) > prompt_n(&plain));
}

#[test]
fn a_seed_repeats_a_sampled_text_and_a_random_one_is_reported() {
    let sampled = |seed: &str| report(&[&COLORS[..], &["--temp", "1.5", "-s", seed]].concat());
    let first = sampled("-1");
    let seed = first["seed"].as_u64().expect("a number").to_string();
    assert_eq!(sampled(&seed)["tokens"], first["tokens"]);
}

#[test]
fn text_ends_before_a_stop_string_and_goes_on_after_its_end_if_asked() {
    let colors = report(&COLORS);
    let text = colors["text"].as_str().expect("a text");
    let stop = &text[4..8];
    let stopped = report(&[&COLORS[..], &["--stop", stop]].concat());
    assert_eq!(stopped["stop_reason"], "word");
    assert_eq!(stopped["text"], text.split(stop).next().expect("a part"));

    let greeting = ["-p", "Hi", "-n", "100"];
    let ended = report(&greeting);
    assert_eq!(ended["stop_reason"], "eos");
    let ended = ended["tokens"].as_array().expect("a list").len() + 3;
    let more = ended.to_string();
    let on = report(&["-p", "Hi", "-n", &more, "--ignore-eos"]);
    assert_eq!(on["tokens"].as_array().expect("a list").len(), ended);
    assert_eq!(on["stop_reason"], "limit");
}

#[test]
fn a_full_context_ends_the_text() {
    let report = report(&[
        "-p",
        "Tell a story.",
        "-n",
        "-1",
        "-c",
        "40",
        "--ignore-eos",
    ]);
    assert_eq!(report["stop_reason"], "context");
}

#[test]
fn a_context_longer_than_the_model_was_trained_for_is_warned_of() {
    run()
        .args(COLORS)
        .args(["-c", "9000", "-n", "1"])
        .assert()
        .success()
        .stderr(contains("warning: ctx-size is 9000"));
}

#[test]
fn colours_show_the_drafters_only_where_they_can_be_seen() {
    let draft = drafter("self");
    let mut shown = run();
    shown.args(COLORS).args(["-md", &draft, "--show-drafter"]);
    shown.assert().success().stdout(contains("\u{1b}").not());
    shown
        .args(["--color", "always"])
        .assert()
        .success()
        .stdout(contains("\u{1b}[36m"))
        .stderr(contains("drafters: \u{1b}[36mself"));
}

#[test]
fn a_bare_file_names_its_drafter() {
    let path = model();
    let stem = path
        .file_stem()
        .and_then(|stem| stem.to_str())
        .expect("UTF-8");
    let report = report(&[&COLORS[..], &["-md", path.to_str().expect("UTF-8")]].concat());
    assert_eq!(report["drafters"][0]["name"], stem);
}

#[test]
fn a_pool_file_gives_target_session_and_drafters() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pool.toml");
    let model = model();
    let text = format!(
        "[target]\nmodel = {model:?}\n[session]\npolicy = \"fixed:twin\"\nreward = \"be\"\n\
         spec_draft_n_max = 2\n[[drafter]]\nname = \"twin\"\nkind = \"model\"\nmodel = {model:?}\n"
    );
    std::fs::write(&path, text).expect("writable");
    let start = |arguments: &[&str]| {
        let mut command = metasd();
        command.args(["run", "-t", "1", "-c", "512", "-n", "12", "--json"]);
        command.args(COLORS).args(arguments);
        let output = command.assert().success();
        last_line(&output.get_output().stdout)
    };
    let path = path.to_str().expect("UTF-8");
    let report = start(&["--pool", path]);
    assert_eq!(report["policy"], "fixed:twin");
    assert_eq!(report["reward"], "be");
    let drafted = report["drafters"][0]["drafted"].as_u64().expect("a number");
    let rounds = report["rounds"].as_u64().expect("a number");
    assert!(drafted <= 2 * rounds);

    let report = start(&["--pool", path, "--policy", "off"]);
    assert_eq!(report["policy"], "off");
    assert_eq!(report["rounds"], 12);
}

/// Starts a long answer and waits for its first bytes.
fn begin_a_long_answer() -> Child {
    let mut arguments = vec!["run".into(), "-m".into(), model().into_os_string()];
    let rest = "-t 1 -c 2048 -n 2000 --ignore-eos --json -p Go";
    arguments.extend(rest.split(' ').map(Into::into));
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("metasd"))
        .args(arguments)
        .env(
            "METASD_POOL",
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/plain-pool.toml"),
        )
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut first = [0; 4];
    let stdout = child.stdout.as_mut().expect("a pipe");
    stdout.read_exact(&mut first).expect("text");
    child
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_the_text_and_reports_what_there_is() {
    let child = begin_a_long_answer();
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill runs");
    assert!(killed.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(last_line(&output.stdout)["stop_reason"], "cancelled");
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let mut child = begin_a_long_answer();
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
}

fn chat(lines: &str, arguments: &[&str]) -> (String, String) {
    let output = on_model("chat")
        .args(arguments)
        .write_stdin(lines)
        .assert()
        .success()
        .get_output()
        .clone();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Each `/stats` in `stderr` as (prompt tokens read, reused, generated).
fn stats(stderr: &str) -> Vec<(usize, usize, usize)> {
    let numbers = |line: &str| -> Vec<usize> {
        line.split(' ')
            .filter_map(|word| word.parse().ok())
            .collect()
    };
    let lines: Vec<&str> = stderr.lines().collect();
    lines
        .windows(2)
        .filter(|pair| pair[0].starts_with("prompt "))
        .map(|pair| (numbers(pair[0]), numbers(pair[1])))
        .map(|(prompt, generated)| (prompt[0], prompt[1], generated[0]))
        .collect()
}

#[test]
fn a_chat_keeps_what_was_said_and_answered_in_the_cache() {
    // The first answer ends by itself, the second is cut off.
    let lines = "Hi\n/stats\nTell me a story.\n/stats\nGo on.\n/stats\n";
    let (stdout, stderr) = chat(lines, &["-n", "15", "--policy", "round-robin"]);
    assert!(!stdout.trim().is_empty());
    let stats = stats(&stderr);
    assert_eq!(stats.len(), 3, "{stderr}");
    assert_eq!(stats[0].1, 0);
    for pair in stats.windows(2) {
        let ((read, reused, generated), next) = (pair[0], pair[1]);
        // All but the last token of the text is in the cache, if not that one too.
        assert!(next.1 + 1 >= read + reused + generated, "{stats:?}");
    }
}

#[test]
fn a_cleared_chat_begins_anew_and_answers_the_same() {
    let (stdout, stderr) = chat("Hi\n/clear\nHi\n/stats\n/regen\n", &["-n", "15"]);
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{stdout}");
    assert_eq!(lines[0], lines[1]);
    assert_eq!(lines[1], lines[2]);
    assert_eq!(stats(&stderr)[0].1, 0);
}

#[test]
fn a_chat_knows_its_commands_and_says_when_the_context_is_full() {
    let (stdout, stderr) = chat("/help\n/nonsense\n/stats\n/exit\nHi\n", &[]);
    assert_eq!(stdout, "");
    assert!(stderr.contains("/clear"), "{stderr}");
    assert!(stderr.contains("unknown command /nonsense"), "{stderr}");
    assert!(stderr.contains("no answer yet"), "{stderr}");

    let long = "word ".repeat(80);
    let (_, stderr) = chat(&format!("{long}\nHi\n/stats\n"), &["-c", "64", "-n", "3"]);
    assert!(
        stderr.contains("the context of 64 tokens is full; /clear"),
        "{stderr}"
    );
    assert_eq!(
        stats(&stderr).len(),
        1,
        "the next message is answered: {stderr}"
    );
}

#[test]
fn a_pool_check_measures_every_drafter_and_names_the_unusable() {
    let mut check = metasd();
    check
        .args(["pool", "check", "-t", "1", "-c", "256", "-m"])
        .arg(model());
    check.args(["-md", &drafter("twin")]);
    check
        .assert()
        .success()
        .stdout(
            is_match(r"(?m)^twin +model +[\d.]+ MB +\d+ +[\d.]+ M +ok +[\d.]+$").expect("valid"),
        )
        .stdout(is_match(r"(?m)^ngram +ngram .* ok +0$").expect("valid"));
    check
        .args(["-md", "gone=no/such.gguf", "-md", "text=Cargo.toml"])
        .assert()
        .code(1)
        .stdout(is_match(r"(?m)^gone +model .* unusable").expect("valid"))
        .stdout(contains(
            "drafter `gone`: cannot open the model no/such.gguf",
        ))
        .stdout(contains("drafter `text`: Cargo.toml is not a GGUF model"))
        .stdout(is_match(r"(?m)^twin .* ok ").expect("valid"));
}

#[test]
fn a_pool_matrix_names_a_prompt_file_that_is_missing() {
    metasd()
        .args(["pool", "matrix", "--prompts", "no/such.jsonl", "-m"])
        .arg(model())
        .assert()
        .code(2)
        .stdout(is_empty())
        .stderr(contains("no/such.jsonl"));
}

#[test]
fn a_model_with_fewer_layers_is_written_and_drafts() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let small = folder.path().join("small.gguf");
    let layers: Vec<String> = (4..28).map(|layer| layer.to_string()).collect();
    metasd()
        .arg("quantize")
        .arg(model())
        .arg(&small)
        .args(["q8_0", "-t", "1", "--prune-layers", &layers.join(",")])
        .assert()
        .success()
        .stderr(contains("Q8_0"));
    let draft = format!("small={}", small.display());
    let with = report(&[&COLORS[..], &["-md", &draft, "--policy", "fixed:small"]].concat());
    assert!(with["drafters"][0]["drafted"].as_u64() > Some(0));
    assert_eq!(with["tokens"], report(&COLORS)["tokens"]);
}

#[test]
fn an_audit_compares_policies_with_plain_decoding() {
    let mut prompts = tempfile::NamedTempFile::new().expect("a temporary file");
    let lines = "{\"turns\": [\"Name three colors.\"], \"category\": \"list\"}\n\
                 {\"prompt\": \"Left out\", \"category\": \"list\"}\n\
                 {\"prompt\": \"Count to ten.\"}\n";
    prompts.write_all(lines.as_bytes()).expect("writable");
    let output = on_model("audit")
        .args([
            "-n",
            "10",
            "-md",
            &drafter("self"),
            "--json",
            "--per-category",
            "1",
            "--prompts",
        ])
        .arg(prompts.path())
        .assert()
        .success()
        .stdout(is_match(r"(?m)^ +1 +list +fixed:self .* identical$").expect("valid"))
        .stdout(contains("8 runs: "))
        .stdout(contains(" 0 unexplained"));
    let report = last_line(&output.get_output().stdout);
    assert_eq!(report["runs"], 8);
    assert_eq!(report["unexplained"], 0);
    assert_eq!(report["results"].as_array().expect("a list").len(), 8);
}

#[test]
fn help_names_the_commands_and_the_version_is_the_crates() {
    let mut help = metasd();
    help.arg("--help")
        .assert()
        .success()
        .stdout(contains("audit"));
    let version = format!("metasd {}", env!("CARGO_PKG_VERSION"));
    metasd()
        .arg("--version")
        .assert()
        .success()
        .stdout(contains(version));
}
