//! `metasd router`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use metasd::llama::{Model, TokenEmbedding};
use metasd::router::{Fitting, LabelledPrompt, Router, TargetIdentity};
use metasd::{Error, ErrorKind, Result};
use serde::Serialize;

use super::args::{LabelledArgs, RouterEvalArgs, RouterFitArgs};
use super::interrupt::{self, Busy};
use super::output::Output;
use super::progress::Progress;
use super::selection::Selection;
use super::{Environment, engine, prompt, suite, warn};

/// Fits a router on labelled prompts, writes it, and prints how many of them it would send to
/// their label's drafter if they had not been among those it was fitted on.
///
/// # Errors
/// For wrong arguments or prompts, an unusable target, or a file that cannot be written.
pub fn fit(args: &RouterFitArgs, environment: &Environment) -> Result<ExitCode> {
    let labelled = Labelled::open(&args.labelled, environment)?;
    let mut embedding = TokenEmbedding::open(&labelled.model)?;
    let identity = TargetIdentity::of(&labelled.model);
    let bar = Progress::new(false).steps("prompts", labelled.prompts.len() as u64);
    let mut after_prompt = || {
        bar.inc(1);
        check_interrupt()
    };
    let prompts = &labelled.prompts;
    let fitting = Fitting::new(identity, prompts, &mut embedding, &mut after_prompt)?;
    bar.finish_and_clear();
    let router = fitting.router();
    for label in router.labels() {
        if !labelled.drafters.contains(&label.name) {
            warn(format_args!(
                "label `{}` names no drafter of the pool, which has {}; the router will not work \
                 with it",
                label.name,
                labelled.drafters.join(", ")
            ));
        }
    }
    router.save(&args.output)?;
    let result = Accuracy::of(&fitting.leave_one_out());
    let kind = "each prompt with a router fitted on the others";
    print(&args.output, &result, kind, args.labelled.json)
}

/// Asks a router for every labelled prompt, and prints how often it names the prompt's label.
///
/// # Errors
/// For wrong arguments or prompts, an unusable target or router.
pub fn eval(args: &RouterEvalArgs, environment: &Environment) -> Result<ExitCode> {
    let labelled = Labelled::open(&args.labelled, environment)?;
    let Some(path) = args.router.as_ref().or(labelled.router.as_ref()) else {
        return Err(Error::invalid("no router; give its file with --router"));
    };
    let in_file = |error: Error| error.context(path.display());
    let router = Router::load(path)?;
    let identity = TargetIdentity::of(&labelled.model);
    router.check_target(&identity).map_err(in_file)?;
    let mut embedding = TokenEmbedding::open(&labelled.model)?;
    let names: Vec<&str> = router.labels().iter().map(|label| &*label.name).collect();
    let mut found = Vec::new();
    for prompt in &labelled.prompts {
        let place = router.rank(&prompt.tokens, &mut embedding)?[0];
        found.push((&*prompt.label, names[place]));
        check_interrupt()?;
    }
    let kind = "prompts that it may have been fitted on";
    print(path, &Accuracy::of(&found), kind, args.labelled.json)
}

fn check_interrupt() -> Result<()> {
    if interrupt::is_set() {
        return Err(Error::new(ErrorKind::Cancelled, "stopped"));
    }
    Ok(())
}

/// The labelled prompts of the command line, as the target reads them.
struct Labelled {
    model: Arc<Model>,
    prompts: Vec<LabelledPrompt>,
    drafters: Vec<String>,
    router: Option<PathBuf>,
    _busy: Busy,
}

impl Labelled {
    fn open(args: &LabelledArgs, environment: &Environment) -> Result<Self> {
        let selection = Selection::new(&args.models, environment)?;
        let read = suite::read_all(&args.prompts, selection.pool.as_deref())?;
        for label in &args.labels {
            if !read.iter().any(|prompt| prompt.category == *label) {
                return Err(Error::invalid(format!("label `{label}` has no prompts")));
            }
        }
        let busy = Busy::new();
        let model = engine::load_target(&selection.target, &args.models, &Progress::new(false))?;
        let system_prompt = selection.system_prompt.as_deref();
        let prompts = read
            .into_iter()
            .filter(|prompt| args.labels.is_empty() || args.labels.contains(&prompt.category))
            .map(|read| {
                let tokens = prompt::tokens(&model, &read.text, &args.template, system_prompt)?;
                Ok(LabelledPrompt {
                    label: read.category,
                    tokens,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        if prompts.is_empty() {
            return Err(Error::invalid("the prompt files hold no prompts"));
        }
        Ok(Self {
            drafters: selection.names(),
            router: selection.router,
            model,
            prompts,
            _busy: busy,
        })
    }
}

/// How many prompts went where they should.
#[derive(Debug, Serialize)]
struct Accuracy {
    prompts: usize,
    right: usize,
    accuracy: f64,
    labels: Vec<LabelAccuracy>,
}

#[derive(Debug, Serialize)]
struct LabelAccuracy {
    name: String,
    prompts: usize,
    right: usize,
    /// Where its other prompts went, and how many.
    taken_for: Vec<(String, usize)>,
}

impl Accuracy {
    /// Of pairs of the label that a prompt has and the one that was found.
    fn of(found: &[(&str, &str)]) -> Self {
        let mut labels: Vec<LabelAccuracy> = Vec::new();
        for &(label, found) in found {
            let place = labels.iter().position(|known| known.name == label);
            let place = place.unwrap_or_else(|| {
                labels.push(LabelAccuracy {
                    name: label.to_owned(),
                    prompts: 0,
                    right: 0,
                    taken_for: Vec::new(),
                });
                labels.len() - 1
            });
            let counts = &mut labels[place];
            counts.prompts += 1;
            if label == found {
                counts.right += 1;
                continue;
            }
            match counts.taken_for.iter_mut().find(|(name, _)| name == found) {
                Some((_, count)) => *count += 1,
                None => counts.taken_for.push((found.to_owned(), 1)),
            }
        }
        let right = labels.iter().map(|label| label.right).sum();
        Self {
            prompts: found.len(),
            right,
            accuracy: right as f64 / found.len().max(1) as f64,
            labels,
        }
    }

    fn table(&self) -> String {
        let names = self.labels.iter().map(|label| label.name.chars().count());
        let width = names.max().unwrap_or(0).max("label".len());
        let mut text = format!(
            "{:width$}  {:>7}  {:>5}  taken for",
            "label", "prompts", "right"
        );
        for label in &self.labels {
            let others = label.taken_for.iter();
            let others: Vec<String> = others.map(|(name, n)| format!("{name} {n}")).collect();
            let line = format!(
                "\n{:width$}  {:>7}  {:>5}  {}",
                label.name,
                label.prompts,
                label.right,
                others.join(", ")
            );
            text.push_str(line.trim_end());
        }
        text
    }
}

/// The JSON object of `--json`.
#[derive(Debug, Serialize)]
struct Report<'a> {
    router: String,
    #[serde(flatten)]
    accuracy: &'a Accuracy,
}

fn print(path: &Path, result: &Accuracy, kind: &str, json: bool) -> Result<ExitCode> {
    let mut output = Output::default();
    output.line(&result.table());
    output.line(&format!(
        "{} of {} right ({:.1}%), {kind}; router {}",
        result.right,
        result.prompts,
        100.0 * result.accuracy,
        path.display()
    ));
    if json {
        let report = Report {
            router: path.display().to_string(),
            accuracy: result,
        };
        let line = serde_json::to_string(&report)
            .map_err(|error| Error::invalid(format!("the report is no JSON: {error}")))?;
        output.line(&line);
    }
    Ok(output.finish(ExitCode::SUCCESS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_counted_by_label_and_by_what_they_were_taken_for() {
        let found = [
            ("a", "a"),
            ("b", "a"),
            ("a", "a"),
            ("b", "b"),
            ("b", "a"),
            ("b", "c"),
        ];
        let accuracy = Accuracy::of(&found);
        assert_eq!((accuracy.prompts, accuracy.right), (6, 3));
        assert!((accuracy.accuracy - 0.5).abs() < 1e-12);
        let expected = "label  prompts  right  taken for\n\
                        a            2      2\n\
                        b            4      1  a 2, c 1";
        assert_eq!(accuracy.table(), expected);
    }
}
