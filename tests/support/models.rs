//! The models that `make models` puts in place, and a session on them.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use metasd::llama::{ContextParams, Model, ModelParams};
use metasd::pool::{DrafterSource, DrafterSpec, LoadContext, Pool, PoolDefaults};
use metasd::session::{Session, SessionParams};
use metasd::target::LlamaTarget;

/// A file of the model cache.
///
/// # Panics
/// If it is missing: a test without its model has failed.
pub fn cached(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("ggml-models/cache")
        .join(name);
    assert!(
        path.is_file(),
        "{} is missing; run `make models`",
        path.display()
    );
    path
}

/// SmolLM2-135M-Instruct in weights of type `weights`.
pub fn smollm2(weights: &str) -> Arc<Model> {
    let path = cached(&format!("SmolLM2-135M-Instruct-{weights}.gguf"));
    Model::load(&path, &ModelParams::default(), None).expect("a model that loads")
}

/// Drafters of very different agreement and cost: `q4`, `pruned` and `ngram`.
pub fn drafters() -> Vec<DrafterSpec> {
    let model = |name: &str, file: &str| DrafterSpec {
        name: name.into(),
        source: DrafterSource::Model {
            path: cached(file),
            n_ctx: None,
            threads: None,
            gpu_layers: None,
        },
    };
    vec![
        model("q4", "SmolLM2-135M-Instruct-Q4_0.gguf"),
        model("pruned", "drafters/pruned.gguf"),
        DrafterSpec {
            name: "ngram".into(),
            source: DrafterSource::Ngram(metasd::drafter::NgramParams::default()),
        },
    ]
}

/// A session of `model` with `drafters` and a context of `n_ctx` tokens.
pub fn session(model: &Arc<Model>, drafters: &[DrafterSpec], n_ctx: usize) -> Session {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let target = LlamaTarget::new(
        model.clone(),
        &ContextParams {
            n_ctx,
            n_batch: 256,
            max_outputs: 9,
            sequences: 1,
            threads,
        },
    )
    .expect("a context");
    let defaults = PoolDefaults {
        n_ctx,
        n_batch: 256,
        threads,
    };
    let context = LoadContext::new(model, defaults).with_features(target.features());
    let pool = Pool::open(drafters, &context).expect("compatible drafters");
    Session::new(
        Box::new(target),
        model.clone(),
        pool,
        SessionParams::default(),
    )
    .expect("valid parameters")
}
