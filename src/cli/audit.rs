//! `metasd audit`.

use std::process::ExitCode;

use metasd::audit::{Outcome, Tally, compare, reference};
use metasd::bandit::{PolicyParams, PolicySpec};
use metasd::{Error, Result};
use serde::Serialize;

use super::args::AuditArgs;
use super::engine::Engine;
use super::interrupt::{self, Busy};
use super::options::DEFAULT_PREDICT;
use super::output::Output;
use super::progress::Progress;
use super::selection::Selection;
use super::suite::{self, Category, Prompt};
use super::{Environment, prompt};

/// Checks that policies leave the text as it is, prompt by prompt.
///
/// # Errors
/// For wrong arguments or prompts, an unusable target, or a target that fails on the way.
pub fn run(args: &AuditArgs, environment: &Environment) -> Result<ExitCode> {
    check_max_gap(args.max_gap)?;
    let prompts = read_prompts(args, environment)?;
    let predict = args.suite.predict.unwrap_or(DEFAULT_PREDICT);
    let _busy = Busy::new();
    let progress = Progress::new(false);
    let mut engine = Engine::open_for(
        &args.policies,
        &args.models,
        &args.speculation,
        environment,
        &progress,
    )?;
    let policies = policies(args, &engine);
    let params = engine.session.params().policy_params.clone();
    check_policies(&policies, &params, &engine)?;

    let width = |names: &mut dyn Iterator<Item = usize>| names.max().unwrap_or(0).max(8);
    let columns = Columns {
        category: width(&mut prompts.iter().map(|prompt| prompt.category.len())),
        policy: width(&mut policies.iter().map(|policy| policy.to_string().len())),
    };
    let mut output = Output::default();
    output.line(&columns.head());
    let mut results = Vec::new();
    let mut tally = Tally::default();
    for (index, prompt) in prompts.iter().enumerate() {
        let system_prompt = engine.system_prompt.as_deref();
        let tokens = prompt::tokens(
            &engine.model,
            &prompt.text,
            &args.suite.template,
            system_prompt,
        )?;
        let (session, cancel) = (&mut engine.session, interrupt::flag());
        let expected = reference(session, &tokens, predict, cancel)?;
        for policy in &policies {
            let limits = (predict, args.max_gap);
            let with = (policy.clone(), params.clone());
            let outcome = compare(session, &tokens, &expected, with, limits, cancel)?;
            tally.add(&outcome.verdict);
            let result = AuditResult::new(index + 1, &prompt.category, policy, &outcome);
            output.line(&columns.row(&result, &outcome));
            results.push(result);
        }
        if output.has_failed() {
            break;
        }
    }
    output.line(&sentence(&tally, args.max_gap));
    if args.json {
        let report = Report {
            model: engine.model.path().display().to_string(),
            max_gap: args.max_gap,
            tally,
            results,
        };
        let line = serde_json::to_string(&report)
            .map_err(|error| Error::invalid(format!("the report is no JSON: {error}")))?;
        output.line(&line);
    }
    Ok(output.finish(match tally.unexplained {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }))
}

/// Refuses a gap between logits that is none.
///
/// # Errors
/// When it is negative or not finite.
pub fn check_max_gap(max_gap: f32) -> Result<()> {
    match max_gap.is_finite() && max_gap >= 0.0 {
        true => Ok(()),
        false => Err(Error::invalid(format!(
            "max-gap is {max_gap}; it must be a finite number of 0 or more"
        ))),
    }
}

/// The line that sums up.
fn sentence(tally: &Tally, max_gap: f32) -> String {
    let largest = match tally.explained {
        0 => String::new(),
        _ => format!(" (largest {:.4})", tally.largest_gap),
    };
    format!(
        "{} runs: {} identical, {} explained by a logit gap below {max_gap}{largest}, {} \
         unexplained",
        tally.runs, tally.identical, tally.explained, tally.unexplained
    )
}

/// Those asked for, else the default one, the plainest one, and every drafter alone.
fn policies(args: &AuditArgs, engine: &Engine) -> Vec<PolicySpec> {
    if !args.policies.is_empty() {
        return args.policies.clone();
    }
    if let Some(policy) = &args.speculation.policy {
        return vec![policy.clone()];
    }
    let members = engine.session.pool().members().iter();
    let usable = members.filter(|member| member.failure().is_none());
    [PolicySpec::MetasdUcb, PolicySpec::RoundRobin]
        .into_iter()
        .chain(usable.map(|member| PolicySpec::Fixed(member.name().to_owned())))
        .collect()
}

/// A policy that is wrong must not be found out after minutes with the others.
fn check_policies(policies: &[PolicySpec], params: &PolicyParams, engine: &Engine) -> Result<()> {
    let names = engine.session.pool().names();
    policies
        .iter()
        .try_for_each(|policy| policy.build(params, &names).map(drop))
}

fn read_prompts(args: &AuditArgs, environment: &Environment) -> Result<Vec<Prompt>> {
    if let Some(text) = &args.prompt {
        return Ok(vec![Prompt {
            text: text.clone(),
            category: String::new(),
        }]);
    }
    let selection = Selection::new(&args.models, environment)?;
    let categories = suite::read(&args.suite, selection.pool.as_deref())?;
    let prompts_of = |category: Category| {
        let prompt = move |text| Prompt {
            text,
            category: category.name.clone(),
        };
        category.texts.into_iter().map(prompt)
    };
    Ok(categories.into_iter().flat_map(prompts_of).collect())
}

#[derive(Debug, Serialize)]
struct Report {
    model: String,
    max_gap: f32,
    #[serde(flatten)]
    tally: Tally,
    results: Vec<AuditResult>,
}

#[derive(Debug, Serialize)]
struct AuditResult {
    prompt: usize,
    category: String,
    policy: String,
    verdict: &'static str,
    tokens: usize,
    tokens_per_second: f64,
    mean_acceptance_length: f64,
    /// Where the texts part, and by how much; `null` where they do not.
    position: Option<usize>,
    expected: Option<i32>,
    found: Option<i32>,
    gap: Option<f32>,
}

impl AuditResult {
    fn new(prompt: usize, category: &str, policy: &PolicySpec, outcome: &Outcome) -> Self {
        let difference = outcome.verdict.difference();
        Self {
            prompt,
            category: category.to_owned(),
            policy: policy.to_string(),
            verdict: outcome.verdict.name(),
            tokens: outcome.tokens,
            tokens_per_second: outcome.tokens_per_second,
            mean_acceptance_length: outcome.mean_acceptance_length,
            position: difference.map(|difference| difference.position),
            expected: difference
                .and_then(|difference| difference.expected)
                .map(|token| token.0),
            found: difference
                .and_then(|difference| difference.found)
                .map(|token| token.0),
            gap: difference.map(|difference| difference.gap),
        }
    }
}

struct Columns {
    category: usize,
    policy: usize,
}

impl Columns {
    fn head(&self) -> String {
        format!(
            "{:>6}  {:category$}  {:policy$}  {:>6}  {:>7}  {:>7}  verdict",
            "prompt",
            "category",
            "policy",
            "tokens",
            "tok/s",
            "a round",
            category = self.category,
            policy = self.policy
        )
    }

    fn row(&self, result: &AuditResult, outcome: &Outcome) -> String {
        let place = outcome.verdict.difference().map(|difference| {
            let token = |token: Option<metasd::TokenId>| {
                token.map_or("the end".to_owned(), |token| token.to_string())
            };
            format!(
                ": token {} is {} instead of {}, logits {:.4} apart",
                difference.position + 1,
                token(difference.found),
                token(difference.expected),
                difference.gap
            )
        });
        format!(
            "{:>6}  {:category$}  {:policy$}  {:>6}  {:>7.1}  {:>7.2}  {}{}",
            result.prompt,
            result.category,
            result.policy,
            result.tokens,
            result.tokens_per_second,
            result.mean_acceptance_length,
            result.verdict,
            place.unwrap_or_default(),
            category = self.category,
            policy = self.policy
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts_and_names_the_largest_gap() {
        let mut tally = Tally {
            runs: 3,
            identical: 3,
            ..Tally::default()
        };
        let text = "3 runs: 3 identical, 0 explained by a logit gap below 0.01, 0 unexplained";
        assert_eq!(sentence(&tally, 0.01), text);
        tally.explained = 1;
        tally.largest_gap = 0.004;
        assert!(sentence(&tally, 0.01).contains("below 0.01 (largest 0.0040), 0 unexplained"));
    }
}
