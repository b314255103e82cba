//! Real drafters that come and go within a budget: the text, the books, and what can go wrong with
//! their files meanwhile.

#[allow(dead_code, reason = "shared with tests that need more of it")]
#[path = "support/models.rs"]
mod models;
#[allow(dead_code, reason = "shared with tests that need more of it")]
#[path = "support/program.rs"]
mod program;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use metasd::align::Aligner;
use metasd::bandit::PolicyParams;
use metasd::drafter::{Draft, Drafter};
use metasd::llama::{ContextParams, Model, SamplerChain, SamplingParams};
use metasd::pool::{
    ByteSize, DrafterSource, DrafterSpec, LoadContext, Place, Pool, PoolDefaults, ResidencyParams,
    SwapMode,
};
use metasd::session::{Event, GenerateParams, Generation, Session, SessionParams, StopReason};
use metasd::target::LlamaTarget;
use metasd::{ArmId, ErrorKind, TokenId};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const N_CTX: usize = 512;
const TOKENS: usize = 32;
const DEFAULTS: PoolDefaults = PoolDefaults {
    n_ctx: N_CTX,
    n_batch: 256,
    threads: 1,
};

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("ggml-models/drafters/{name}.gguf"))
}

fn spec(name: &str, path: PathBuf) -> DrafterSpec {
    DrafterSpec {
        name: name.into(),
        source: DrafterSource::Model {
            path,
            n_ctx: None,
            threads: None,
            gpu_layers: None,
        },
    }
}

/// Eight drafters: those of the default pool, two of them under a second name.
fn eight() -> Vec<DrafterSpec> {
    let files = [
        "code",
        "math",
        "qa",
        "summarization",
        "translation",
        "general",
    ];
    let named = files.map(|name| spec(name, shipped(name)));
    let again = ["code", "general"].map(|name| spec(&format!("{name}-2"), shipped(name)));
    named.into_iter().chain(again).collect()
}

fn at_most(residents: usize, swap: SwapMode) -> ResidencyParams {
    ResidencyParams {
        max_resident: Some(residents),
        swap,
        ..ResidencyParams::default()
    }
}

fn open(target: &Arc<Model>, drafters: &[DrafterSpec], limits: ResidencyParams) -> Pool {
    let context = LoadContext::new(target, DEFAULTS);
    Pool::open_within(drafters, &context, limits).expect("drafters that fit")
}

fn session(target: &Arc<Model>, pool: Pool, policy: &str) -> Session {
    let params = SessionParams {
        policy: policy.parse().expect("a known policy"),
        ..SessionParams::default()
    };
    let context = ContextParams {
        n_ctx: N_CTX,
        n_batch: DEFAULTS.n_batch,
        max_outputs: params.n_max + 1,
        sequences: 1,
        threads: 1,
    };
    let llama = LlamaTarget::new(target.clone(), &context).expect("a context");
    Session::new(Box::new(llama), target.clone(), pool, params).expect("valid parameters")
}

fn generate(session: &mut Session, prompt: &[TokenId]) -> (Generation, Vec<(String, String)>) {
    let params = GenerateParams {
        max_tokens: Some(TOKENS),
        ignore_eos: true,
        ..GenerateParams::default()
    };
    let mut left = Vec::new();
    let generation = session
        .generate(prompt, &params, &AtomicBool::new(false), &mut |event| {
            if let Event::DrafterLeft { name, error } = event {
                left.push((name.to_owned(), error.to_string()));
            }
        })
        .expect("a generation");
    (generation, left)
}

/// A prompt of each domain that comes with the pool.
fn prompts(target: &Model) -> Vec<Vec<TokenId>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ggml-models/prompts");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder of prompts")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let prompt = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("a file of prompts");
        let line = text.lines().next().expect("a prompt");
        let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let text = value["prompt"].as_str().or(value["turns"][0].as_str());
        let mut tokens = target.tokenize(text.expect("a text"), true, true);
        tokens.truncate(N_CTX / 2);
        tokens
    };
    files.iter().map(prompt).collect()
}

/// The bytes that the two largest of `drafters` take together.
fn two_of(target: &Arc<Model>, drafters: &[DrafterSpec]) -> u64 {
    let pool = open(target, drafters, at_most(1, SwapMode::Sync));
    let mut sizes: Vec<u64> = pool.members().iter().map(|m| m.memory().total()).collect();
    sizes.sort_unstable();
    assert!(sizes[0] > 0);
    sizes.iter().rev().take(2).sum()
}

#[test]
fn eight_drafters_in_a_budget_for_two_give_the_text_that_they_give_all_at_once() {
    let target = models::smollm2("Q4_0");
    let budget = two_of(&target, &eight());
    let prompts = prompts(&target);
    assert!(prompts.len() >= 5);
    let mut all = session(
        &target,
        open(&target, &eight(), ResidencyParams::default()),
        "round-robin",
    );
    for swap in [SwapMode::Sync, SwapMode::Async] {
        let limits = ResidencyParams {
            vram_budget: Some(ByteSize(budget)),
            swap,
            ..ResidencyParams::default()
        };
        let mut two = session(&target, open(&target, &eight(), limits), "round-robin");
        for prompt in &prompts {
            let (expected, _) = generate(&mut all, prompt);
            let (generation, left) = generate(&mut two, prompt);
            assert_eq!(left, []);
            assert_eq!(generation.text, expected.text, "{swap}");
            let report = two.pool().residency().expect("limits");
            assert!(report.vram_peak <= budget, "{report:?}");
            assert!(report.resident <= 2, "{report:?}");
        }
        let loads: usize = two.pool().members().iter().map(|m| m.loads()).sum();
        assert!(loads > 8, "{swap}: {loads} loads");
    }
}

/// A target with drafters of `specs` within `limits`, which may read its hidden features.
fn session_with_heads(
    model: &Arc<Model>,
    specs: &[DrafterSpec],
    limits: ResidencyParams,
) -> Session {
    let params = SessionParams {
        policy: "round-robin".parse().expect("a known policy"),
        ..SessionParams::default()
    };
    let context = ContextParams {
        n_ctx: N_CTX,
        n_batch: DEFAULTS.n_batch,
        max_outputs: params.n_max + 1,
        sequences: 1,
        threads: 1,
    };
    let target = LlamaTarget::new(model.clone(), &context).expect("a context");
    let context = LoadContext::new(model, DEFAULTS).with_features(target.features());
    let pool = Pool::open_within(specs, &context, limits).expect("drafters that fit");
    Session::new(Box::new(target), model.clone(), pool, params).expect("valid parameters")
}

#[test]
fn a_head_takes_turns_with_a_small_model_in_one_place_and_drafts_from_the_features_kept_meanwhile()
{
    let target = models::smollm2("Q4_0");
    let drafters = [
        spec("general", shipped("general")),
        spec("head", shipped("eagle-general")),
    ];
    let mut all = session_with_heads(&target, &drafters, ResidencyParams::default());
    let mut one = session_with_heads(&target, &drafters, at_most(1, SwapMode::Sync));
    for prompt in &prompts(&target) {
        let (expected, _) = generate(&mut all, prompt);
        let (generation, left) = generate(&mut one, prompt);
        assert_eq!(left, []);
        assert_eq!(generation.text, expected.text);
        assert_eq!(
            generation.rounds, expected.rounds,
            "a swap changes no draft"
        );
        for (one, all) in generation.drafters.iter().zip(&expected.drafters) {
            assert!(one.drafted > 0, "{one:?}");
            assert_eq!(
                (one.drafted, one.accepted),
                (all.drafted, all.accepted),
                "{}",
                one.name
            );
        }
    }
    for member in one.pool().members() {
        assert!(member.loads() > 2, "{}: {}", member.name(), member.loads());
    }
}

#[test]
fn a_drafter_planned_without_its_weights_takes_what_was_planned() {
    let target = models::smollm2("Q4_0");
    let drafters = [spec("code", shipped("code")), spec("math", shipped("math"))];
    let mut pool = open(&target, &drafters, at_most(1, SwapMode::Sync));
    let planned = pool.members()[1].memory();
    assert_eq!(pool.members()[1].place(), Place::Disk);
    pool.bring(ArmId(1), &AtomicBool::new(false)).expect("room");
    let taken = pool.members()[1].memory();
    assert_eq!(taken.context, planned.context);
    assert_eq!(taken.compute, planned.compute);
    let share = taken.model as f64 / planned.model as f64;
    assert!(
        (0.99..1.01).contains(&share),
        "{taken:?}, planned {planned:?}"
    );
}

/// What the drafter of `arm` drafts after `text`.
fn draft(drafter: &mut dyn Drafter, target: &Model, text: &[TokenId]) -> Vec<TokenId> {
    let mut chain =
        SamplerChain::new(&SamplingParams::default(), target.vocab_size()).expect("greedy");
    chain.restart(text);
    let mut draft = Draft::new(target.vocab_size());
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    drafter
        .draft(text, 5, &mut chain, &mut rng, &mut draft)
        .expect("a draft");
    drafter.rollback(text.len() - 1).expect("it can be cut");
    draft.tokens().to_vec()
}

#[test]
fn a_drafter_without_its_own_vocabulary_drafts_as_one_with_it() {
    let target = models::smollm2("Q4_0");
    let drafters = [spec("code", shipped("code")), spec("math", shipped("math"))];
    let mut all = open(&target, &drafters, ResidencyParams::default());
    let mut one = open(&target, &drafters, at_most(1, SwapMode::Sync));
    for prompt in prompts(&target) {
        for arm in [ArmId(0), ArmId(1)] {
            one.bring(arm, &AtomicBool::new(false)).expect("room");
            let drafted = |pool: &mut Pool| {
                let drafter = pool.drafter(arm).expect("ready");
                drafter.rollback(0).expect("it can be emptied");
                draft(drafter, &target, &prompt)
            };
            assert_eq!(drafted(&mut one), drafted(&mut all));
        }
    }
}

#[test]
fn a_cache_that_is_kept_in_host_memory_comes_back_cut_to_what_still_holds() {
    let target = models::smollm2("Q4_0");
    let drafters = [spec("code", shipped("code")), spec("math", shipped("math"))];
    let limits = ResidencyParams {
        ram_budget: Some(ByteSize(1 << 30)),
        ..at_most(1, SwapMode::Sync)
    };
    let mut pool = open(&target, &drafters, limits);
    let never = AtomicBool::new(false);
    let text = target.tokenize(&"The cat sat on the mat. ".repeat(12), true, true);
    // A token alone rounds differently from one in a batch, so the second draft is what counts.
    let mut alone = open(&target, &drafters[..1], ResidencyParams::default());
    let alone = alone.drafter(ArmId(0)).expect("ready");
    draft(alone, &target, &text);
    let expected = draft(alone, &target, &text);
    draft(pool.drafter(ArmId(0)).expect("ready"), &target, &text);
    pool.bring(ArmId(1), &never).expect("room");
    assert_eq!(pool.members()[0].place(), Place::Host);
    let kept = pool.residency().expect("limits").ram_used;
    assert!(
        kept > pool.members()[0].memory().model,
        "{kept}: weights alone"
    );
    pool.bring(ArmId(0), &never).expect("room");
    let drafter = pool.drafter(ArmId(0)).expect("ready");
    assert_eq!(drafter.behind(text.len()), 0, "it knows the text still");
    assert_eq!(draft(drafter, &target, &text), expected);

    // What the session takes back of the text meanwhile does not come back with the cache.
    pool.bring(ArmId(1), &never).expect("room");
    assert_eq!(pool.rollback(10).len(), 0);
    pool.bring(ArmId(0), &never).expect("room");
    let drafter = pool.drafter(ArmId(0)).expect("ready");
    assert_eq!(drafter.held(), 10);
    let other = [
        &text[..10],
        &target.tokenize("dog in the yard, and", false, true)[..],
    ]
    .concat();
    alone.rollback(10).expect("it can be cut");
    assert_eq!(
        draft(drafter, &target, &other),
        draft(alone, &target, &other)
    );
}

#[test]
fn without_a_budget_for_host_memory_nothing_is_kept_there() {
    let target = models::smollm2("Q4_0");
    let drafters = [spec("code", shipped("code")), spec("math", shipped("math"))];
    let limits = ResidencyParams {
        ram_budget: Some(ByteSize(0)),
        ..at_most(1, SwapMode::Sync)
    };
    let mut pool = open(&target, &drafters, limits);
    pool.bring(ArmId(1), &AtomicBool::new(false)).expect("room");
    assert_eq!(pool.members()[0].place(), Place::Disk);
    assert_eq!(pool.residency().expect("limits").ram_peak, 0);
}

#[test]
fn a_small_context_keeps_the_newest_window_across_swaps() {
    let target = models::smollm2("Q4_0");
    let mut drafters = [spec("code", shipped("code")), spec("math", shipped("math"))];
    for drafter in &mut drafters {
        if let DrafterSource::Model { n_ctx, .. } = &mut drafter.source {
            *n_ctx = Some(48);
        }
    }
    let prompt = target.tokenize(&"The cat sat on the mat. ".repeat(16), true, true);
    let all = open(&target, &drafters, ResidencyParams::default());
    let (plain, _) = generate(&mut session(&target, all, "off"), &prompt);
    for ram in [0, 1 << 30] {
        let limits = ResidencyParams {
            ram_budget: Some(ByteSize(ram)),
            ..at_most(1, SwapMode::Sync)
        };
        let pool = open(&target, &drafters, limits);
        let (swapped, left) = generate(&mut session(&target, pool, "round-robin"), &prompt);
        assert_eq!(left, []);
        assert_eq!(swapped.text, plain.text);
        assert!(swapped.drafters.iter().all(|d| d.drafted > 0));
    }
}

/// Copies of two drafters in a folder of their own, where they may be harmed.
fn copies(folder: &Path) -> Vec<DrafterSpec> {
    ["code", "math"]
        .map(|name| {
            let path = folder.join(format!("{name}.gguf"));
            std::fs::copy(shipped(name), &path).expect("room on disk");
            spec(name, path)
        })
        .to_vec()
}

#[test]
fn a_file_that_is_harmed_while_its_drafter_is_away_costs_that_drafter_alone() {
    type Harm = fn(&Path);
    let target = models::smollm2("Q4_0");
    let prompt = target.tokenize("Count: one, two, three,", true, true);
    let harms: [(Harm, &str); 3] = [
        (
            |path| std::fs::remove_file(path).expect("it is there"),
            "cannot open the model",
        ),
        (
            |path| {
                let file = std::fs::File::options().write(true).open(path);
                file.and_then(|file| file.set_len(4096)).expect("writable");
            },
            "it had 10663904 bytes and has 4096",
        ),
        (
            |path| {
                std::fs::copy(shipped("qa"), path)
                    .map(drop)
                    .expect("writable")
            },
            "has changed since the pool was opened",
        ),
    ];
    for (harm, message) in harms {
        for swap in [SwapMode::Sync, SwapMode::Async] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let drafters = copies(folder.path());
            let pool = open(&target, &drafters, at_most(1, swap));
            assert_eq!(pool.members()[1].place(), Place::Disk);
            let mut session = session(&target, pool, "off");
            let (plain, _) = generate(&mut session, &prompt);
            // The time of a change may be told to the second only.
            std::thread::sleep(std::time::Duration::from_millis(1100));
            harm(&folder.path().join("math.gguf"));
            session
                .set_policy(
                    "round-robin".parse().expect("known"),
                    PolicyParams::default(),
                )
                .expect("valid");
            let mut left = Vec::new();
            for _ in 0..20 {
                let (generation, now_left) = generate(&mut session, &prompt);
                assert_eq!(generation.text, plain.text);
                assert_eq!(generation.stop_reason, StopReason::Limit);
                left.extend(now_left);
                if !left.is_empty() {
                    break;
                }
            }
            assert_eq!(left.len(), 1, "{swap}: {left:?}");
            assert_eq!(left[0].0, "math");
            assert!(left[0].1.contains(message), "{left:?}");
            assert!(left[0].1.contains("math.gguf"), "{left:?}");
        }
    }
}

#[test]
fn a_drafter_of_another_vocabulary_and_a_file_that_is_no_model_are_told_at_the_start() {
    let target = models::smollm2("Q4_0");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("no.gguf");
    std::fs::write(&path, "no model at all").expect("writable");
    let context = LoadContext::new(&target, DEFAULTS);
    let error = Pool::open_within(&[spec("no", path)], &context, at_most(1, SwapMode::Sync))
        .expect_err("no model");
    assert_eq!(error.kind(), ErrorKind::InvalidModel);
    assert!(error.to_string().contains("drafter `no`"), "{error}");
}

#[test]
fn a_cancelled_wait_for_a_real_load_ends_at_once() {
    let target = models::smollm2("Q4_0");
    let drafters = [spec("code", shipped("code")), spec("math", shipped("math"))];
    let mut pool = open(&target, &drafters, at_most(1, SwapMode::Sync));
    let error = pool
        .bring(ArmId(1), &AtomicBool::new(true))
        .expect_err("cancelled");
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    // The pool is as good as before.
    pool.bring(ArmId(1), &AtomicBool::new(false)).expect("room");
}

/// `metasd run` on the small target with the default pool's drafters.
fn run_on_pool() -> assert_cmd::Command {
    let mut run = program::run();
    let pool = Path::new(env!("CARGO_MANIFEST_DIR")).join("ggml-models/pool.toml");
    run.arg("--pool")
        .arg(pool)
        .args(["-p", "Name three colors."]);
    run
}

fn last_line(stdout: &[u8]) -> serde_json::Value {
    let text = String::from_utf8_lossy(stdout);
    serde_json::from_str(text.lines().last().expect("a line")).expect("JSON")
}

#[test]
fn limits_that_cannot_be_are_refused_on_the_command_line_with_what_would_do() {
    let cases: [(&[&str], &[&str]); 9] = [
        (
            &["--vram-budget", "much"],
            &["\"much\" is not a size", "512M or 2G"],
        ),
        (&["--vram-budget", "-1"], &["512M or 2G"]),
        (
            &["--vram-budget", "0"],
            &["vram_budget is 0", "such as 512M"],
        ),
        (
            &["--vram-budget", "1M"],
            &[
                "no drafter fits: the smallest is `",
                "vram-budget is 1.0 MiB",
            ],
        ),
        (&["--max-resident", "0"], &["it must be at least 1"]),
        (
            &["--ram-budget", "1G"],
            &["give vram_budget or max_resident"],
        ),
        (
            &["--max-resident", "1", "--swap", "later"],
            &["must be async or sync"],
        ),
        (
            &["--max-resident", "1", "--pin", "nobody"],
            &["no drafter `nobody` to pin"],
        ),
        (
            &["--max-resident", "1", "--policy", "static-ensemble"],
            &["the limits hold 2 of 7", "picks one drafter a round"],
        ),
    ];
    for (arguments, messages) in cases {
        let assert = run_on_pool().args(arguments).assert().code(2);
        let stderr = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        for message in messages {
            assert!(stderr.contains(message), "{arguments:?}: {stderr}");
        }
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}

#[test]
fn a_run_within_limits_reports_what_it_moved_and_how_long_rounds_waited() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let trace = folder.path().join("trace.jsonl");
    let limited = run_on_pool()
        .args([
            "--max-resident",
            "1",
            "--swap",
            "sync",
            "--policy",
            "round-robin",
            "--json",
        ])
        .arg("--trace")
        .arg(&trace)
        .assert()
        .success();
    let report = last_line(&limited.get_output().stdout);
    let free = run_on_pool()
        .args(["--policy", "off", "--json"])
        .assert()
        .success();
    let plain = last_line(&free.get_output().stdout);
    assert_eq!(report["text"], plain["text"]);
    assert_eq!(plain.get("residency"), None);
    assert_eq!(report["residency"]["max_resident"], 1);
    assert_eq!(report["residency"]["swap"], "sync");
    assert!(report["residency"]["vram_peak"].as_u64() > Some(0));
    assert!(report["timings"]["swap_ms"].as_f64() > Some(0.0));
    let drafter = &report["drafters"][1];
    assert_eq!(drafter["name"], "math");
    assert!(drafter["loads"].as_u64() >= Some(1), "{drafter}");
    assert!(drafter["evictions"].as_u64() >= Some(1), "{drafter}");
    assert!(drafter["bytes_moved"].as_u64() > Some(1 << 20), "{drafter}");
    for name in ["load_ms", "exposed_swap_ms"] {
        assert!(drafter[name].as_f64() > Some(0.0), "{name}: {drafter}");
    }
    for name in ["catchup_ms", "hidden_swap_ms"] {
        assert!(drafter[name].is_f64(), "{name}: {drafter}");
    }
    let rounds = std::fs::read_to_string(&trace).expect("a trace");
    let waited = rounds.lines().filter(|line| {
        let round: serde_json::Value = serde_json::from_str(line).expect("JSON");
        round["swap_us"].as_u64() > Some(0)
    });
    assert!(waited.count() >= 2, "{rounds}");
}

#[test]
fn the_status_of_a_pool_has_every_drafter_with_its_place_and_cost() {
    let mut status = program::metasd();
    let pool = Path::new(env!("CARGO_MANIFEST_DIR")).join("ggml-models/pool.toml");
    let status = status
        .args([
            "pool",
            "status",
            "-t",
            "1",
            "-c",
            "256",
            "--max-resident",
            "2",
            "--json",
            "-m",
        ])
        .arg(program::model())
        .arg("--pool")
        .arg(pool)
        .assert()
        .success();
    let status = last_line(&status.get_output().stdout);
    let drafters = status["drafters"].as_array().expect("a list");
    assert_eq!(drafters.len(), 7);
    let models = drafters.iter().filter(|drafter| drafter["kind"] == "model");
    for drafter in models.clone() {
        assert_eq!(drafter["loads"], 1, "{drafter}");
        for name in ["weights", "kv_cache", "compute"] {
            assert!(drafter[name].as_u64() > Some(0), "{name}: {drafter}");
        }
        assert!(
            drafter["catchup_ms_per_token"].as_f64() > Some(0.0),
            "{drafter}"
        );
    }
    let ready = models.filter(|drafter| drafter["place"] == "device");
    assert_eq!(ready.count(), 2);
    assert_eq!(status["residency"]["resident"], 2);
}

#[test]
fn devices_are_listed_and_an_unknown_one_is_refused_with_how_to_list_them() {
    let devices = program::metasd().arg("devices").assert().success();
    let table = String::from_utf8_lossy(&devices.get_output().stdout).into_owned();
    assert!(table.starts_with("name"), "{table}");
    assert!(table.contains("CPU") && table.contains("GiB"), "{table}");
    for option in ["--device", "--device-draft"] {
        let refused = run_on_pool().args([option, "CUDA77"]).assert().code(2);
        let stderr = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(stderr.contains("no device `CUDA77`"), "{stderr}");
        assert!(stderr.contains("metasd devices"), "{stderr}");
        run_on_pool().args([option, "none"]).assert().success();
    }
}

/// How well the drafts of a session on a GPU agree with those on the CPU does not matter; that they
/// are in its memory, within the budget, does.
#[test]
#[ignore = "needs a GPU"]
fn on_a_gpu_drafters_are_in_its_memory_and_within_the_budget() {
    assert!(
        metasd::llama::has_gpu(),
        "no GPU, or a build without a backend for it"
    );
    let target = models::smollm2("Q4_0");
    let separate = |params: ResidencyParams| ResidencyParams {
        separate_device: true,
        ..params
    };
    let pool = open(&target, &eight(), separate(at_most(1, SwapMode::Sync)));
    let on_device = pool.members()[0].memory().on_device;
    assert!(on_device > 0, "{:?}", pool.members()[0].memory());
    let budget = 2 * on_device + on_device / 2;
    let limits = ResidencyParams {
        vram_budget: Some(ByteSize(budget)),
        swap: SwapMode::Sync,
        ..separate(ResidencyParams::default())
    };
    let mut two = session(&target, open(&target, &eight(), limits), "round-robin");
    for prompt in prompts(&target) {
        let (generation, left) = generate(&mut two, &prompt);
        assert_eq!(left, []);
        assert_eq!(generation.tokens.len(), TOKENS);
        let report = two.pool().residency().expect("limits");
        assert!(report.vram_peak <= budget, "{report:?}");
    }
    // Those evicted are in host memory, from where they come back.
    let on_host = two
        .pool()
        .members()
        .iter()
        .filter(|m| m.place() == Place::Host);
    assert!(on_host.count() >= 4);
}

#[test]
#[ignore = "needs a GPU"]
fn on_a_gpu_the_distributions_are_those_of_the_cpu_up_to_rounding() {
    use metasd::llama::{Context, DeviceChoice, ModelParams, Outputs};
    let path = models::cached("SmolLM2-135M-Instruct-F32.gguf");
    let logits = |devices: Option<DeviceChoice>| {
        let params = ModelParams {
            gpu_layers: None,
            devices,
        };
        let model = Model::load(&path, &params, None).expect("a model that loads");
        let tokens = model.tokenize("The three primary colours are", true, true);
        let context = ContextParams {
            n_ctx: N_CTX,
            n_batch: 256,
            max_outputs: 1,
            sequences: 1,
            threads: 1,
        };
        let mut context = Context::new(model, &context).expect("a context");
        context.decode(&tokens, Outputs::Last).expect("a decode");
        context.logits(0).expect("a row").to_vec()
    };
    let cpu = logits(Some(DeviceChoice::parse("none").expect("always there")));
    let gpu = logits(None);
    let mut aligner = Aligner::new(1.0).expect("a temperature");
    let tv = aligner
        .tv(&cpu, metasd::align::Proposal::Logits(&gpu))
        .expect("distributions");
    assert!(tv < 0.02, "total variation {tv}");
}
