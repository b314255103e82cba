//! `metasd bench`.

mod document;
mod facts;
mod figures;
mod journal;
mod options;
mod report;
mod tables;

use std::collections::HashSet;
use std::process::ExitCode;

use metasd::audit;
use metasd::bandit::{PolicyParams, PolicySpec};
use metasd::bench::{Comparison, Job, Method, Parts, Plan, RoundPoint, RunKey, RunRecord, Variant};
use metasd::llama::SamplingParams;
use metasd::session::{Event, GenerateParams, Generation, StopReason};
use metasd::{Error, ErrorKind, Result, TokenId};
use serde::Serialize;

use super::engine::{self, Engine};
use super::interrupt::{self, Busy};
use super::matrix::{Category, categories};
use super::options::SpeculationArgs;
use super::output::Output;
use super::progress::Progress;
use super::selection::Selection;
use super::{Environment, digest, prompt, sampling, say, suite};
use facts::{Build, DrafterFacts, FileFacts, Machine};
use journal::Journal;
pub use options::BenchArgs;

/// The version of what is written to the journal.
const FORMAT: u32 = 1;

/// Tokens of a run that only warms up.
const WARM_UP: usize = 16;

/// Compares methods over prompts and writes a report.
///
/// # Errors
/// For wrong arguments or prompts, before any model is loaded where that can be told; for runs of
/// other settings in the folder; for an unusable target or drafter; for a file that cannot be
/// written; when Ctrl-C stops it. What has run until then is kept.
pub fn run(args: &BenchArgs, environment: &Environment) -> Result<ExitCode> {
    let selection = Selection::new(&args.models, environment)?;
    let prompts = suite::read_all(&args.prompts, selection.pool.as_deref())?;
    let categories = categories(prompts, &args.categories, args.per_category())?;
    check_temperatures(&args.temps)?;
    let seed = sampling::seed(args.seed)?;
    let n_max = args.spec_draft_n_max.unwrap_or(selection.session.n_max);
    let methods = args.methods();
    let most = methods.iter().filter_map(|method| method.n_max).max();
    let most = most.unwrap_or(n_max).max(n_max);

    let _busy = Busy::new();
    let progress = Progress::new(false);
    let speculation = SpeculationArgs {
        // Whatever the pool's policy is, every drafter is needed.
        policy: Some(PolicySpec::default()),
        reward: None,
        tuning: args.tuning.clone(),
        router: args.router.clone(),
        carry: None,
        reward_temperature: args.reward_temperature,
        spec_draft_n_max: Some(most),
    };
    let policies: Vec<PolicySpec> = methods.iter().map(|m| m.policy.clone()).collect();
    let mut engine = Engine::open_for(
        &policies,
        &args.models,
        &speculation,
        environment,
        &progress,
    )?;
    // Every run is that of a new session.
    engine.session.set_carry(None)?;
    let drafters = usable_drafters(&engine)?;
    let variants = Plan::variants(&Method::expand(&methods, &drafters), &args.rewards);
    let params = variant_params(&variants, &engine, &drafters)?;
    let prompts = tokenized(args, &engine, &categories)?;
    let plan = Plan {
        variants,
        temperatures: args.temps.clone(),
        prompts: prompts.len(),
        repetitions: args.repetitions(),
        seed,
    };
    let settings = progress.during("reading the models' digests", || {
        settings(args, &engine, &selection, &plan, &categories, n_max)
    })?;
    let value = serde_json::to_value(&settings).map_err(no_json)?;
    std::fs::create_dir_all(&args.output)
        .map_err(|error| Error::io("cannot make the folder", &args.output, error))?;
    let mut journal = Journal::open(&args.output.join(report::RUNS), &value)?;
    let mut bench = Bench {
        references: vec![None; prompts.len()],
        max_gap: args.max_gap,
        predict: args.predict(),
        engine,
        plan,
        params,
        prompts,
        n_max,
    };
    bench.run_all(&mut journal, &progress)?;

    let report = progress.during("writing the report", || {
        report::Report::new(
            &value,
            &bench.plan,
            &bench.params,
            &drafters,
            n_max,
            journal.records(),
        )
    })?;
    report.write(&args.output)?;
    let mut output = Output::default();
    output.line(&report.headline());
    if args.json {
        output.line(report.summary_json());
    }
    say(format_args!(
        "{}: the report",
        args.output.join(report::MARKDOWN).display()
    ));
    Ok(output.finish(ExitCode::SUCCESS))
}

fn no_json(error: serde_json::Error) -> Error {
    Error::invalid(format!("the report is no JSON: {error}"))
}

fn check_temperatures(temperatures: &[f32]) -> Result<()> {
    temperatures.iter().try_for_each(|&temperature| {
        SamplingParams {
            temperature,
            ..SamplingParams::default()
        }
        .validate()
    })
}

/// The drafters' names. One that cannot draft would make its runs those of plain decoding.
fn usable_drafters(engine: &Engine) -> Result<Vec<String>> {
    let members = engine.session.pool().members();
    for member in members {
        if let Some(failure) = member.failure() {
            return Err(Error::new(
                ErrorKind::Backend,
                format!("drafter `{}` cannot be measured: {failure}", member.name()),
            ));
        }
    }
    Ok(engine.session.pool().names())
}

/// The parameters of each variant. A policy that is wrong must not be found out after an hour with
/// the others.
fn variant_params(
    variants: &[Variant],
    engine: &Engine,
    drafters: &[String],
) -> Result<Vec<PolicyParams>> {
    let base = &engine.session.params().policy_params;
    let params = |variant: &Variant| {
        let own = variant.method.params(base)?;
        let params = PolicyParams {
            reward: variant.reward.unwrap_or(own.reward),
            ..own
        };
        variant.method.policy.build(&params, drafters)?;
        Ok(params)
    };
    variants.iter().map(params).collect()
}

/// A prompt as the model reads it.
#[derive(Debug)]
struct Task {
    domain: String,
    tokens: Vec<TokenId>,
}

fn tokenized(args: &BenchArgs, engine: &Engine, categories: &[Category]) -> Result<Vec<Task>> {
    let system_prompt = engine.system_prompt.as_deref();
    let mut tasks = Vec::new();
    for category in categories {
        for (index, text) in category.texts.iter().enumerate() {
            let tokens = prompt::tokens(&engine.model, text, &args.template, system_prompt)?;
            let needed = tokens.len() + args.predict();
            if needed > engine.n_ctx {
                return Err(Error::new(
                    ErrorKind::ContextOverflow,
                    format!(
                        "prompt {} of `{}` takes {needed} tokens with its answer and the context \
                         holds {}; raise --ctx-size or leave it out",
                        index + 1,
                        category.name,
                        engine.n_ctx
                    ),
                ));
            }
            tasks.push(Task {
                domain: category.name.clone(),
                tokens,
            });
        }
    }
    Ok(tasks)
}

/// All that the figures depend on; a bench goes on only from runs of the same.
#[derive(Debug, Serialize)]
struct Settings {
    format: u32,
    seed: u64,
    predict: usize,
    repetitions: usize,
    temperatures: Vec<f32>,
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

fn settings(
    args: &BenchArgs,
    engine: &Engine,
    selection: &Selection,
    plan: &Plan,
    categories: &[Category],
    n_max: usize,
) -> Result<Settings> {
    let params = engine.session.params();
    let names = engine.session.pool().names();
    let is_loaded = |name: &String| names.contains(name);
    let mut methods: Vec<String> = plan.variants.iter().map(|v| v.method.to_string()).collect();
    methods.dedup();
    let system_prompt = args.template.system_prompt.as_ref();
    Ok(Settings {
        format: FORMAT,
        seed: plan.seed,
        predict: args.predict(),
        repetitions: plan.repetitions,
        temperatures: plan.temperatures.clone(),
        methods,
        rewards: args.rewards.iter().map(ToString::to_string).collect(),
        n_max,
        reward_temperature: params.reward_temperature,
        policy_params: params.policy_params.clone(),
        max_gap: args.max_gap,
        template: !args.template.no_conversation,
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

/// What runs.
struct Bench {
    engine: Engine,
    plan: Plan,
    params: Vec<PolicyParams>,
    prompts: Vec<Task>,
    /// What the target alone says to each prompt, as far as it was asked.
    references: Vec<Option<Vec<TokenId>>>,
    predict: usize,
    n_max: usize,
    max_gap: f32,
}

impl Bench {
    /// Makes the runs that `journal` does not have yet.
    fn run_all(&mut self, journal: &mut Journal, progress: &Progress) -> Result<()> {
        let jobs = self.plan.jobs();
        let done: HashSet<RunKey> = journal.records().iter().map(RunRecord::key).collect();
        let left: Vec<Job> = jobs
            .iter()
            .filter(|job| !done.contains(&self.plan.key(job)))
            .copied()
            .collect();
        if left.len() < jobs.len() {
            say(format_args!(
                "{} of {} runs are there already",
                jobs.len() - left.len(),
                jobs.len()
            ));
        }
        if left.is_empty() {
            return Ok(());
        }
        progress.during("warming up", || self.warm_up())?;
        let bar = progress.steps("runs", jobs.len() as u64);
        bar.set_position((jobs.len() - left.len()) as u64);
        for (index, job) in left.iter().enumerate() {
            let record = self.run_one(job).inspect_err(|error| {
                if error.kind() == ErrorKind::Cancelled {
                    bar.suspend(|| say("interrupted; the same command goes on from here"));
                }
            })?;
            journal.add(record)?;
            bar.inc(1);
            let next = left.get(index + 1);
            let domain = &self.prompts[job.prompt].domain;
            let place = |job: &Job| (job.repetition, self.prompts[job.prompt].domain.clone());
            if next.map(place) != Some(place(job)) {
                let (repetition, of) = (job.repetition + 1, self.plan.repetitions);
                bar.suspend(|| {
                    say(format_args!(
                        "{domain} done, repetition {repetition} of {of}"
                    ))
                });
            }
        }
        Ok(())
    }

    /// Lets every method run for a moment: weights are paged in, buffers grow.
    fn warm_up(&mut self) -> Result<()> {
        let job = |variant: usize| Job {
            repetition: 0,
            prompt: 0,
            temperature: 0.0,
            variant,
        };
        (0..self.plan.variants.len()).try_for_each(|variant| {
            let predict = self.predict.min(WARM_UP);
            self.generate(&job(variant), predict).map(drop)
        })
    }

    fn run_one(&mut self, job: &Job) -> Result<RunRecord> {
        let greedy = job.temperature == 0.0;
        let reference = match greedy {
            true => Some(self.reference(job.prompt)?),
            false => None,
        };
        let (generation, rounds) = self.generate(job, self.predict)?;
        let comparison = match reference {
            Some(reference) => Some(self.comparison(job.prompt, &reference, &generation)?),
            None => None,
        };
        let variant = &self.plan.variants[job.variant];
        Ok(RunRecord {
            repetition: job.repetition,
            prompt: job.prompt,
            domain: self.prompts[job.prompt].domain.clone(),
            temperature: job.temperature,
            method: variant.method.to_string(),
            reward: variant.reward,
            stop_reason: stop_reason(generation.stop_reason),
            tokens: generation.tokens.len(),
            milliseconds: generation.timings.predicted_ms,
            parts: Parts::of(&generation.timings),
            comparison,
            rounds,
        })
    }

    /// What the target alone says greedily to a prompt. Asked before anything is measured on the
    /// prompt, it also brings the prompt into the target's cache.
    fn reference(&mut self, prompt: usize) -> Result<Vec<TokenId>> {
        if let Some(reference) = &self.references[prompt] {
            return Ok(reference.clone());
        }
        let tokens = &self.prompts[prompt].tokens;
        let session = &mut self.engine.session;
        let reference = audit::reference(session, tokens, self.predict, interrupt::flag())?;
        self.references[prompt] = Some(reference.clone());
        Ok(reference)
    }

    fn comparison(
        &mut self,
        prompt: usize,
        reference: &[TokenId],
        generation: &Generation,
    ) -> Result<Comparison> {
        let tokens = &self.prompts[prompt].tokens;
        let session = &mut self.engine.session;
        audit::judge(session, tokens, reference, &generation.tokens, self.max_gap)
            .map(|verdict| Comparison::from(&verdict))
    }

    /// One generation as a new session would make it: only the target's cache of the prompt is
    /// kept, which all methods need alike.
    fn generate(&mut self, job: &Job, predict: usize) -> Result<(Generation, Vec<RoundPoint>)> {
        let variant = &self.plan.variants[job.variant];
        let session = &mut self.engine.session;
        let params = self.params[job.variant].clone();
        session.set_policy(variant.method.policy.clone(), params)?;
        session.set_n_max(variant.method.n_max.unwrap_or(self.n_max))?;
        session.forget_drafters();
        let params = GenerateParams {
            max_tokens: Some(predict),
            sampling: SamplingParams {
                temperature: job.temperature,
                seed: self.plan.seed.wrapping_add(job.repetition as u64),
                ..SamplingParams::default()
            },
            ..GenerateParams::default()
        };
        let names = session.proposers();
        let mut rounds = Vec::new();
        let mut left: Option<Error> = None;
        let tokens = &self.prompts[job.prompt].tokens;
        let mut observe = |event: Event<'_>| match event {
            Event::Round(record) => rounds.push(RoundPoint {
                drafter: names
                    .iter()
                    .position(|name| Some(name) == record.drafter.as_ref()),
                drafted: record.drafted,
                accepted: record.accepted,
                committed: record.committed,
                bd: record.bd.map(|bd| bd as f32),
                be: record.be.map(|be| be as f32),
            }),
            Event::DrafterLeft { name, error } => {
                left = Some(Error::new(
                    error.kind(),
                    format!("drafter `{name}` failed and cannot be measured: {error}"),
                ));
            }
            _ => {}
        };
        let generation = session.generate(tokens, &params, interrupt::flag(), &mut observe)?;
        if generation.stop_reason == StopReason::Cancelled {
            return Err(Error::new(ErrorKind::Cancelled, "interrupted"));
        }
        match left {
            Some(error) => Err(error),
            None => match generation.error {
                Some(error) => Err(error),
                None => Ok((generation, rounds)),
            },
        }
    }
}

/// The reason as JSON writes it.
fn stop_reason(reason: StopReason) -> String {
    match serde_json::to_value(reason) {
        Ok(serde_json::Value::String(text)) => text,
        _ => String::new(),
    }
}
