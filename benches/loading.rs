//! What a load within a budget takes, beside the two things that it cannot do without: reading the
//! file's bytes and making the context.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use metasd::ArmId;
use metasd::llama::{Blueprint, Context, ContextParams, Model, ModelParams};
use metasd::pool::{
    DrafterSource, DrafterSpec, LoadContext, Pool, PoolDefaults, ResidencyParams, SwapMode,
};

const REPEAT: usize = 15;
const N_CTX: usize = 2048;
const N_BATCH: usize = 512;

/// The middle one of several times.
fn median(mut time: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<Duration> = (0..REPEAT).map(|_| time()).collect();
    times.sort_unstable();
    times[REPEAT / 2]
}

fn timed<T>(body: impl FnOnce() -> T) -> Duration {
    let started = Instant::now();
    let result = body();
    let time = started.elapsed();
    drop(result);
    time
}

fn spec(name: &str, path: &Path) -> DrafterSpec {
    DrafterSpec {
        name: name.into(),
        source: DrafterSource::Model {
            path: path.to_owned(),
            n_ctx: None,
            threads: None,
            gpu_layers: None,
        },
    }
}

fn main() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("ggml-models");
    let target = models.join("cache/SmolLM2-135M-Instruct-Q4_0.gguf");
    let target = Model::load(&target, &ModelParams::default(), None)
        .unwrap_or_else(|error| panic!("{error}; `make models` makes it"));
    let drafters: [PathBuf; 2] = [
        models.join("drafters/code.gguf"),
        models.join("cache/drafters/pruned.gguf"),
    ];
    println!("drafter       bytes       read     context   load    load / (read + context)");
    for path in drafters {
        measure(&target, &path);
    }
}

fn measure(target: &std::sync::Arc<Model>, path: &Path) {
    let description = Model::describe(path, &ModelParams::default()).expect("a drafter");
    let blueprint = Blueprint::of(&description, target).expect("a drafter");
    let model =
        Model::load_bare(path, &ModelParams::default(), &blueprint, None).expect("a drafter");
    let params = ContextParams {
        n_ctx: N_CTX,
        n_batch: N_BATCH,
        max_outputs: 8,
        sequences: 1,
        threads: 1,
    };
    let read = median(|| timed(|| std::fs::read(path).expect("a file")));
    let context = median(|| timed(|| Context::new(model.clone(), &params).expect("a context")));

    let defaults = PoolDefaults {
        n_ctx: N_CTX,
        n_batch: N_BATCH,
        threads: 1,
    };
    let limits = ResidencyParams {
        max_resident: Some(1),
        swap: SwapMode::Sync,
        ..ResidencyParams::default()
    };
    let mut pool = Pool::open_within(
        &[spec("a", path), spec("b", path)],
        &LoadContext::new(target, defaults),
        limits,
    )
    .expect("drafters that fit");
    let mut arm = 0;
    let load = median(|| {
        arm = 1 - arm;
        let total = |pool: &Pool| pool.members()[arm].statistics().load_ms;
        let before = total(&pool);
        pool.bring(ArmId(arm), &AtomicBool::new(false))
            .expect("room");
        Duration::from_secs_f64((total(&pool) - before) / 1e3)
    });
    println!(
        "{:10} {:10}  {:7.2} ms {:7.2} ms {:7.2} ms  {:.2}",
        path.file_stem().unwrap_or_default().to_string_lossy(),
        description.file_size(),
        read.as_secs_f64() * 1e3,
        context.as_secs_f64() * 1e3,
        load.as_secs_f64() * 1e3,
        load.as_secs_f64() / (read + context).as_secs_f64()
    );
}
