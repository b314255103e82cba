//! What a bench depends on.

use metasd::Result;
use metasd::bandit::PolicyParams;
use metasd::bench::Plan;
use serde::Serialize;

use super::BenchArgs;
use super::facts::{Build, DrafterFacts, FileFacts, Machine};
use crate::cli::digest;
use crate::cli::engine::{self, Engine};
use crate::cli::selection::Selection;
use crate::cli::suite::Category;

/// The version of what is written to the journal.
const FORMAT: u32 = 1;

/// All that the figures depend on; a bench goes on only from runs of the same.
#[derive(Debug, Serialize)]
pub struct Settings {
    format: u32,
    seed: u64,
    predict: usize,
    repetitions: usize,
    temperatures: Vec<f32>,
    top_k: u32,
    top_p: f32,
    min_p: f32,
    methods: Vec<String>,
    rewards: Vec<String>,
    n_max: usize,
    reward_temperature: f32,
    policy_params: PolicyParams,
    max_gap: f32,
    template: bool,
    system_prompt: Option<String>,
    ctx_size: usize,
    batch_size: usize,
    threads: usize,
    target: FileFacts,
    drafters: Vec<DrafterFacts>,
    router: Option<FileFacts>,
    prompts: Vec<PromptFacts>,
    machine: Machine,
    build: Build,
}

/// The prompts of a domain.
#[derive(Debug, Serialize)]
struct PromptFacts {
    domain: String,
    prompts: usize,
    sha256: String,
}

impl Settings {
    /// Those of `plan` on `categories` with `engine`, whose files are read for their digests.
    ///
    /// # Errors
    /// When a model or the router cannot be read.
    pub fn new(
        args: &BenchArgs,
        engine: &Engine,
        selection: &Selection,
        plan: &Plan,
        categories: &[Category],
        n_max: usize,
    ) -> Result<Self> {
        let params = engine.session.params();
        let names = engine.session.pool().names();
        let is_loaded = |name: &String| names.contains(name);
        let mut methods: Vec<String> = plan.variants.iter().map(|v| v.method.to_string()).collect();
        methods.dedup();
        let sampling = args.sampling(0.0, plan.seed);
        let system_prompt = args.suite.template.system_prompt.as_ref();
        Ok(Self {
            format: FORMAT,
            seed: plan.seed,
            predict: args.predict(),
            repetitions: plan.repetitions,
            temperatures: plan.temperatures.clone(),
            top_k: sampling.top_k,
            top_p: sampling.top_p,
            min_p: sampling.min_p,
            methods,
            rewards: args.rewards.iter().map(ToString::to_string).collect(),
            n_max,
            reward_temperature: params.reward_temperature,
            policy_params: params.policy_params.clone(),
            max_gap: args.max_gap,
            template: !args.suite.template.no_conversation,
            system_prompt: system_prompt.or(engine.system_prompt.as_ref()).cloned(),
            ctx_size: engine.n_ctx,
            batch_size: args.models.batch_size,
            threads: args.models.threads.unwrap_or_else(engine::default_threads),
            target: FileFacts::of(engine.model.path())?,
            drafters: selection
                .drafters
                .iter()
                .filter(|drafter| is_loaded(&drafter.name))
                .map(DrafterFacts::of)
                .collect::<Result<_>>()?,
            router: match args.router.as_ref().or(selection.router.as_ref()) {
                Some(path) if engine.session.has_router() => Some(FileFacts::of(path)?),
                _ => None,
            },
            prompts: categories
                .iter()
                .map(|category| PromptFacts {
                    domain: category.name.clone(),
                    prompts: category.texts.len(),
                    // No text has such a separator.
                    sha256: digest::of_bytes(category.texts.join("\0")),
                })
                .collect(),
            machine: Machine::this(),
            build: Build::this(),
        })
    }
}
