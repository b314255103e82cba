//! `metasd bench`.

mod document;
mod facts;
mod figures;
mod journal;
mod options;
mod report;
mod runner;
mod settings;
mod tables;

use std::process::ExitCode;

use metasd::bandit::{PolicyParams, PolicySpec};
use metasd::bench::{Method, Plan, Variant};
use metasd::{Error, ErrorKind, Result};
use serde::Serialize;

use super::engine::Engine;
use super::interrupt::Busy;
use super::options::SpeculationArgs;
use super::output::Output;
use super::progress::Progress;
use super::selection::Selection;
use super::suite::{self, Category};
use super::{Environment, audit, prompt, sampling, say};
use journal::Journal;
pub use options::BenchArgs;
use runner::{Bench, Task};
use settings::Settings;

/// Compares methods over prompts and writes a report.
///
/// # Errors
/// For wrong arguments or prompts, before any model is loaded where that can be told; for runs of
/// other settings in the folder; for an unusable target or drafter; for a file that cannot be
/// written; when Ctrl-C stops it. What has run until then is kept.
pub fn run(args: &BenchArgs, environment: &Environment) -> Result<ExitCode> {
    let selection = Selection::new(&args.models, environment)?;
    let prompts = suite::read_all(&args.suite.prompts, selection.pool.as_deref())?;
    let categories = suite::categories(prompts, &args.suite.categories, args.per_category())?;
    let check = |&temperature: &f32| args.sampling(temperature, 0).validate();
    args.temps.iter().try_for_each(check)?;
    let temperatures = distinct(&args.temps);
    let rewards = distinct(&args.rewards);
    audit::check_max_gap(args.max_gap)?;
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
        residency: args.residency.clone(),
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
    let variants = Plan::variants(&Method::expand(&methods, &drafters), &rewards);
    let params = variant_params(&variants, &engine, &drafters)?;
    let prompts = tokenized(args, &engine, &categories)?;
    let plan = Plan {
        variants,
        temperatures,
        prompts: prompts.len(),
        repetitions: args.repetitions(),
        seed,
    };
    let settings = progress.during("reading the models' digests", || {
        Settings::new(args, &engine, &selection, &plan, &categories, n_max)
    })?;
    let value = json_value(&settings)?;
    std::fs::create_dir_all(&args.output)
        .map_err(|error| Error::io("cannot make the folder", &args.output, error))?;
    let mut journal = Journal::open(&args.output.join(report::RUNS), &value)?;
    let mut bench = Bench {
        references: vec![None; prompts.len()],
        sampling: args.sampling(0.0, plan.seed),
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

/// `value` as JSON reads it. Through its text: a 32-bit number is then the one that was written,
/// not the nearest of 64 bits.
fn json_value(value: &impl Serialize) -> Result<serde_json::Value> {
    let text = serde_json::to_string(value).map_err(no_json)?;
    serde_json::from_str(&text).map_err(no_json)
}

fn no_json(error: serde_json::Error) -> Error {
    Error::invalid(format!("the report is no JSON: {error}"))
}

/// `values` without those that occurred before: a run is made once.
fn distinct<T: PartialEq + Copy>(values: &[T]) -> Vec<T> {
    let mut distinct = Vec::new();
    for &value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
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

fn tokenized(args: &BenchArgs, engine: &Engine, categories: &[Category]) -> Result<Vec<Task>> {
    let system_prompt = engine.system_prompt.as_deref();
    let mut tasks = Vec::new();
    for category in categories {
        for (index, text) in category.texts.iter().enumerate() {
            let tokens = prompt::tokens(&engine.model, text, &args.suite.template, system_prompt)?;
            let needed = tokens.len().saturating_add(args.predict());
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
