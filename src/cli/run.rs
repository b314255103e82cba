//! `metasd run`.

use std::process::ExitCode;

use metasd::session::{Event, GenerateParams, Generation, StopReason};
use metasd::{Error, Result};

use super::args::RunArgs;
use super::engine::Engine;
use super::interrupt::{self, Busy};
use super::output::Output;
use super::paint::Paint;
use super::progress::Progress;
use super::report::{Asked, Report, Summary};
use super::trace::Trace;
use super::{Environment, INTERRUPTED, prompt, sampling, say, warn};

/// Generates from one prompt.
///
/// # Errors
/// What is wrong before the first token. Later failures are reported with what there is.
pub fn run(args: &RunArgs, environment: &Environment) -> Result<ExitCode> {
    let text = prompt::read(&args.source)?;
    let mut params = GenerateParams {
        max_tokens: sampling::max_tokens(&args.sampling)?,
        sampling: sampling::params(&args.sampling)?,
        stop: args.stop.clone(),
        ignore_eos: args.ignore_eos,
    };
    let mut trace = args.trace.as_deref().map(Trace::open).transpose()?;
    let _busy = Busy::new();
    let mut progress = Progress::new(args.quiet);
    let mut engine = Engine::open(&args.models, &args.speculation, environment, &progress)?;
    sampling::fit(&mut params.sampling, engine.n_ctx);
    let system_prompt = engine.system_prompt.as_deref();
    let tokens = prompt::tokens(&engine.model, &text, &args.template, system_prompt)?;

    let paint = args.show_drafter.then(|| Paint::new(args.color)).flatten();
    if let Some(paint) = paint.as_ref().filter(|_| !args.quiet) {
        say(paint.legend(&engine.session.proposers()));
    }
    let mut output = Output::new(paint);
    if let Some(trace) = &mut trace {
        let members = engine.session.pool().members();
        let read = members
            .iter()
            .filter_map(|member| member.path())
            .chain([engine.model.path()])
            .chain(args.models.pool.as_deref())
            .chain(args.source.file.as_deref());
        for file in read {
            trace.check_apart(file)?;
        }
        trace.begin();
    }
    let generation = engine.session.generate(
        &tokens,
        &params,
        interrupt::flag(),
        &mut |event| match event {
            Event::Prompt { done, total } => progress.prompt(done, total),
            Event::Text { text, drafter } => output.text(text, drafter),
            Event::Round(record) => {
                if let Some(trace) = &mut trace {
                    trace.round(record);
                }
            }
            Event::DrafterLeft { name, error } => warn_of_drafter(name, error),
        },
    )?;
    output.end_line();

    let asked = Asked::of(&engine, params.sampling.seed);
    if args.json {
        let report = Report::new(&generation, &asked);
        let line = serde_json::to_string(&report)
            .map_err(|error| Error::invalid(format!("the report is no JSON: {error}")))?;
        output.line(&line);
    } else if !args.quiet && !output.has_failed() {
        say(format_args!("\n{}", Summary(&generation, &asked)));
    }
    let code = output.finish(outcome(&generation));
    if let Some(Err(error)) = trace.map(Trace::finish) {
        say(format_args!("error: {error}"));
        return Ok(ExitCode::FAILURE);
    }
    Ok(code)
}

/// Says that a drafter has left the pool.
pub fn warn_of_drafter(name: &str, error: &Error) {
    warn(format_args!(
        "drafter `{name}` has left the pool; the text goes on without it: {error}"
    ));
}

/// Says what ended a generation, if that is a failure, and how the program then ends.
fn outcome(generation: &Generation) -> ExitCode {
    if let Some(error) = &generation.error {
        say(format_args!(
            "error: generation ended after {} tokens: {error}",
            generation.tokens.len()
        ));
        return ExitCode::FAILURE;
    }
    match generation.stop_reason {
        StopReason::Cancelled => ExitCode::from(INTERRUPTED),
        StopReason::Error => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}
