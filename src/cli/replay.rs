//! `metasd simulate --record`.

mod matrix;
mod report;

use std::process::ExitCode;

use metasd::bandit::{PolicyParams, Reward};
use metasd::bench::Method;
use metasd::record::Record;
use metasd::sim::{Estimate, Query, Split};
use metasd::{ArmId, Error, ErrorKind, Result};

use super::interrupt::{self, Busy};
use super::output::Output;
use super::progress::Progress;
use super::simulate::{self, CONVERGENCE_TOKENS, SimulateArgs};
use super::{sampling, warn};
use matrix::Matrix;
use report::{DomainReport, FixedReport, PolicyReport, Report, average};

/// Replays policies on a recording and prints their rounds beside those of the best drafter alone
/// and of an oracle; or the acceptance matrix of the recording.
///
/// # Errors
/// For wrong arguments, a file that is no whole recording, or when Ctrl-C stops it.
pub fn run(args: &SimulateArgs) -> Result<ExitCode> {
    let path = (args.replay.record.as_ref())
        .ok_or_else(|| Error::invalid("no recording; give one with --record"))?;
    let record = Record::read(path)?;
    let domains = domains(&record, args)?;
    let mut output = Output::default();
    let json = if args.replay.matrix {
        let report = Matrix::new(&record, &domains)?;
        report.lines().iter().for_each(|line| output.line(line));
        serde_json::to_string(&report)
    } else {
        let comparison = Comparison::new(&record, args)?;
        let _busy = Busy::new();
        let report = comparison.play(&domains)?;
        report.lines().iter().for_each(|line| output.line(line));
        serde_json::to_string(&report)
    };
    if args.json {
        let line =
            json.map_err(|error| Error::invalid(format!("the report is no JSON: {error}")))?;
        output.line(&line);
    }
    Ok(output.finish(ExitCode::SUCCESS))
}

/// Queries that are reported together.
#[derive(Debug)]
struct Domain<'a> {
    name: String,
    queries: Vec<Query<'a>>,
    /// Whether texts of one category go on in those of another.
    is_mixed: bool,
}

/// The recording's categories, each text a query; or for every `--concat A,B` queries of a text of
/// A that goes on in one of B.
fn domains<'a>(record: &'a Record, args: &SimulateArgs) -> Result<Vec<Domain<'a>>> {
    let categories = record.by_category(args.replay.split);
    let query = |texts: Vec<_>| Query::new(&record.header, texts);
    if categories.is_empty() {
        return Err(Error::invalid(
            "this part of the recording has no texts; give another --split",
        ));
    }
    for (name, _) in record.by_category(Split::All) {
        if !categories.iter().any(|(taken, _)| *taken == name) {
            warn(format_args!(
                "this part of the recording has no texts of `{name}`"
            ));
        }
    }
    if args.replay.concat.is_empty() {
        let domain = |(name, texts): &(&str, Vec<_>)| Domain {
            name: (*name).to_owned(),
            queries: texts.iter().map(|&text| query(vec![text])).collect(),
            is_mixed: false,
        };
        return Ok(categories.iter().map(domain).collect());
    }
    let find = |name: &str| {
        let known = categories.iter().find(|(known, _)| *known == name);
        known.map(|(_, texts)| texts).ok_or_else(|| {
            let known: Vec<&str> = categories.iter().map(|(name, _)| *name).collect();
            Error::invalid(format!(
                "category `{name}` of --concat has no texts; there are {}",
                known.join(", ")
            ))
        })
    };
    let mut domains = Vec::new();
    for names in &args.replay.concat {
        let parts = names.split(',').map(find).collect::<Result<Vec<_>>>()?;
        if parts.len() < 2 {
            return Err(Error::invalid(format!(
                "--concat {names} names one category; it takes two or more, as in code,math"
            )));
        }
        let count = parts.iter().map(|texts| texts.len()).min().unwrap_or(0);
        let mixed = |index: usize| query(parts.iter().map(|texts| texts[index]).collect());
        domains.push(Domain {
            name: names.replace(',', "+"),
            queries: (0..count).map(mixed).collect(),
            is_mixed: true,
        });
    }
    Ok(domains)
}

/// What is to be compared.
#[derive(Debug)]
struct Comparison {
    drafters: Vec<String>,
    policies: Vec<Method>,
    rewards: Vec<Reward>,
    params: PolicyParams,
    runs: u64,
    seed: u64,
}

impl Comparison {
    fn new(record: &Record, args: &SimulateArgs) -> Result<Self> {
        let mut params = PolicyParams::default();
        args.tuning.apply(&mut params);
        params.validate()?;
        let comparison = Self {
            drafters: record.header.names(),
            policies: match args.policies.as_slice() {
                [] => simulate::learning_policies(),
                policies => policies.to_vec(),
            },
            rewards: args.rewards.clone(),
            params,
            runs: args.runs as u64,
            seed: sampling::seed(args.seed)?,
        };
        comparison.policies.iter().try_for_each(|method| {
            let wrong =
                |why: &str| Error::invalid(format!("policy `{method}` cannot be replayed: {why}"));
            if method.policy.needs_models() {
                return Err(wrong(
                    "it is more than a choice among drafters by what a recording tells of them",
                ));
            }
            if method.n_max.is_some() {
                return Err(wrong(
                    "the recording says how many tokens are drafted in a round",
                ));
            }
            let params = method.params(&comparison.params)?;
            method.policy.build(&params, &comparison.drafters).map(drop)
        })?;
        Ok(comparison)
    }

    fn play(&self, domains: &[Domain<'_>]) -> Result<Report> {
        let queries: usize = domains.iter().map(|domain| domain.queries.len()).sum();
        let total = queries * self.policies.len() * self.rewards.len();
        let bar = Progress::new(false).steps("replaying", total as u64);
        let mut after_query = || {
            bar.inc(1);
            check()
        };
        let domains = domains
            .iter()
            .map(|domain| self.play_domain(domain, &mut after_query))
            .collect::<Result<Vec<_>>>()?;
        Ok(Report {
            runs: self.runs,
            seed: self.seed,
            average: average(&domains),
            domains,
        })
    }

    fn play_domain(
        &self,
        domain: &Domain<'_>,
        after_query: &mut dyn FnMut() -> Result<()>,
    ) -> Result<DomainReport> {
        let fixed = fixed_rounds(&domain.queries, self.drafters.len())?;
        let (best, fewest) = best_fixed(&fixed)?;
        let ratio = |rounds: f64| rounds / fewest as f64;
        let mut policies = Vec::new();
        for method in &self.policies {
            for &reward in &self.rewards {
                let played = self.rounds(&domain.queries, (method, reward), best, after_query)?;
                let rounds = Estimate::of(&played.rounds);
                let soonest = self.rounds_to_best(domain, (method, reward), best)?;
                let settled = played.settled.len() as f64;
                policies.push(PolicyReport {
                    name: method.to_string(),
                    reward,
                    rounds: rounds.mean,
                    rounds_error: Some(rounds.error).filter(|error| error.is_finite()),
                    ratio: ratio(rounds.mean),
                    best_share: played.on_best / (rounds.mean * self.runs as f64),
                    rounds_to_best_arm: soonest,
                    settled_round: (settled > 0.0).then(|| Estimate::of(&played.settled).mean),
                    settled_share: settled / (domain.queries.len() as f64 * self.runs as f64),
                });
            }
        }
        let oracle: u64 = domain.queries.iter().map(Query::oracle_rounds).sum();
        Ok(DomainReport {
            name: domain.name.clone(),
            prompts: domain.queries.len(),
            tokens: domain.queries.iter().map(Query::tokens).sum(),
            best_fixed: self.drafters[best.0].clone(),
            rounds_best_fixed: fewest,
            rounds_oracle: oracle,
            ratio_oracle: ratio(oracle as f64),
            fixed: (self.drafters.iter().zip(&fixed))
                .map(|(name, &rounds)| FixedReport {
                    name: name.clone(),
                    rounds,
                    ratio: ratio(rounds as f64),
                })
                .collect(),
            policies,
        })
    }

    fn params_of(&self, method: &Method, reward: Reward) -> Result<PolicyParams> {
        method.params(&PolicyParams {
            reward,
            ..self.params.clone()
        })
    }

    fn seeds(&self) -> impl Iterator<Item = u64> {
        (0..self.runs).map(|run| self.seed.wrapping_add(run))
    }

    /// How soon a policy takes `best` in a long query of the texts of the domain. Where the texts change
    /// midway no drafter is the best throughout, and there is no such round.
    fn rounds_to_best(
        &self,
        domain: &Domain<'_>,
        (method, reward): (&Method, Reward),
        best: ArmId,
    ) -> Result<Option<usize>> {
        if domain.is_mixed {
            return Ok(None);
        }
        let params = self.params_of(method, reward)?;
        let policy = (&method.policy, &params);
        let runs = (CONVERGENCE_TOKENS as usize, self.seeds());
        let found = Query::convergence(&domain.queries, policy, best, runs, &mut check)?;
        Ok(found.rounds())
    }

    /// Plays a policy for a reward on all `queries`.
    fn rounds(
        &self,
        queries: &[Query<'_>],
        (method, reward): (&Method, Reward),
        best: ArmId,
        after_query: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Played> {
        let params = self.params_of(method, reward)?;
        let mut played = Played {
            rounds: vec![0.0; self.runs as usize],
            on_best: 0.0,
            settled: Vec::new(),
        };
        for query in queries {
            let runs = query.runs(&method.policy, &params, self.seeds())?;
            for (sum, run) in played.rounds.iter_mut().zip(&runs) {
                *sum += run.rounds() as f64;
                played.on_best += run.arms[best.0].rounds as f64;
                (played.settled).extend(run.settled(best).map(|round| round as f64));
            }
            after_query()?;
        }
        Ok(played)
    }
}

fn check() -> Result<()> {
    match interrupt::is_set() {
        true => Err(Error::new(ErrorKind::Cancelled, "interrupted")),
        false => Ok(()),
    }
}

/// What a policy did on all queries of a domain.
#[derive(Debug)]
struct Played {
    /// For every run the rounds of all queries together.
    rounds: Vec<f64>,
    /// Rounds of the best drafter over all runs.
    on_best: f64,
    /// The round by which a query had settled on it, of those that had.
    settled: Vec<f64>,
}

/// The rounds of each drafter alone over all `queries`.
fn fixed_rounds(queries: &[Query<'_>], drafters: usize) -> Result<Vec<u64>> {
    let mut rounds = vec![0; drafters];
    for query in queries {
        for (sum, replay) in rounds.iter_mut().zip(query.fixed()?) {
            *sum += replay.rounds();
        }
    }
    Ok(rounds)
}

/// The drafter of the fewest rounds, of equal ones the first.
fn best_fixed(rounds: &[u64]) -> Result<(ArmId, u64)> {
    let best = rounds
        .iter()
        .copied()
        .enumerate()
        .min_by_key(|&(_, rounds)| rounds);
    best.map(|(arm, rounds)| (ArmId(arm), rounds))
        .ok_or_else(|| Error::invalid("the recording has no drafters"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use metasd::TokenId;
    use metasd::record::{Attempt, Header, Source, Text};

    use super::*;
    use crate::cli::args::{Cli, Command};

    /// A text of twenty tokens of which one drafter gets all right, and the other none.
    fn text(category: usize, right: usize) -> Text {
        let attempt = |position: usize, arm: usize| {
            let drafted = 4.min(19 - position);
            let is_right = arm == right;
            Attempt {
                drafted,
                accepted: if is_right { drafted } else { 0 },
                bd: if is_right && drafted > 0 { 0.75 } else { 0.25 },
                ..Attempt::default()
            }
        };
        Text {
            category,
            prompt_tokens: 3,
            tokens: vec![TokenId(5); 20],
            verify_us: vec![9; 20],
            attempts: (0..20)
                .flat_map(|position| [0, 1].map(|arm| attempt(position, arm)))
                .collect(),
        }
    }

    fn record() -> Record {
        let source = |name: &str| Source {
            name: name.to_owned(),
            kind: "model".to_owned(),
            sha256: None,
        };
        Record {
            header: Header {
                target: source("target.gguf"),
                drafters: vec![source("a"), source("b")],
                n_max: 4,
                n_predict: 20,
                n_ctx: 100,
                reward_temperature: 1.0,
                seed: 0,
                categories: vec!["x".to_owned(), "y".to_owned()],
                prompts: 3,
                prompts_sha256: String::new(),
            },
            texts: vec![text(0, 0), text(0, 0), text(1, 1)],
        }
    }

    fn args(arguments: &[&str]) -> SimulateArgs {
        let line = ["metasd", "simulate", "--record", "r"]
            .iter()
            .chain(arguments);
        let Command::Simulate(args) = Cli::try_parse_from(line).expect("valid").command else {
            panic!("not a simulation");
        };
        args
    }

    fn report(arguments: &[&str]) -> Result<Report> {
        let (record, args) = (record(), args(arguments));
        Comparison::new(&record, &args)?.play(&domains(&record, &args)?)
    }

    #[test]
    fn a_domain_names_its_best_drafter_and_every_policy_is_measured_by_it() {
        let arguments = [
            "--policies",
            "fixed:a,off",
            "--rewards",
            "be",
            "--runs",
            "2",
        ];
        let report = report(&arguments).expect("played");
        let [x, y] = &report.domains[..] else {
            panic!("two domains");
        };
        // Five tokens a round.
        assert_eq!(
            (&*x.best_fixed, x.rounds_best_fixed, x.prompts),
            ("a", 8, 2)
        );
        assert_eq!(
            (&*y.best_fixed, y.rounds_best_fixed, y.rounds_oracle),
            ("b", 4, 4)
        );
        let ratios = |domain: &DomainReport| {
            let ratios = domain.policies.iter().map(|policy| policy.ratio);
            ratios.collect::<Vec<_>>()
        };
        assert_eq!(ratios(x), [1.0, 5.0]);
        assert_eq!(ratios(y), [5.0, 5.0]);
        assert_eq!(report.average[0].ratio, 3.0);
        assert_eq!(
            (x.policies[0].best_share, y.policies[0].best_share),
            (1.0, 0.0)
        );
        let lines = report.lines();
        assert!(lines[1].contains("| fixed:a be"), "{lines:?}");
        assert!(lines[1].contains("20.0 (5.000)"), "{lines:?}");
        let json = serde_json::to_value(&report).expect("JSON");
        assert_eq!(json["domains"][1]["policies"][0]["name"], "fixed:a");
        assert_eq!(json["domains"][0]["policies"][0]["reward"], "be");
    }

    #[test]
    fn a_text_that_changes_midway_is_one_query_of_both_halves() {
        let arguments = ["--concat", "x,y", "--policies", "metasd-ucb"];
        let report = report(&arguments).expect("played");
        let [mixed] = &report.domains[..] else {
            panic!("one domain");
        };
        assert_eq!((&*mixed.name, mixed.prompts, mixed.tokens), ("x+y", 1, 40));
        assert_eq!(mixed.policies[0].rounds_to_best_arm, None);
        assert_eq!(mixed.rounds_best_fixed, 24);
        assert_eq!(mixed.rounds_oracle, 8);
    }

    #[test]
    fn the_matrix_has_every_drafter_alone() {
        let record = record();
        let domains = domains(&record, &args(&[])).expect("valid");
        let matrix = Matrix::new(&record, &domains).expect("a whole record");
        let a = &matrix.categories[0].drafters[0];
        // Two texts of four rounds.
        assert_eq!(
            (a.rounds, a.accepted, a.mean_acceptance_length),
            (8, 32, Some(5.0))
        );
        assert_eq!(
            (a.mean_bd, a.variance_bd, a.variance_be),
            (Some(0.75), Some(0.0), Some(0.0))
        );
        let table = matrix.lines().join("\n");
        assert!(
            table.contains("| a       | 5.000 | 1.000 | 3.000 |"),
            "{table}"
        );
    }

    #[test]
    fn by_default_every_policy_of_one_drafter_a_round_is_played_and_no_other() {
        let record = record();
        let comparison = Comparison::new(&record, &args(&[])).expect("valid");
        let has = |name: &str| comparison.policies.iter().any(|m| m.to_string() == name);
        assert!(has("metasd-ucb") && has("hedge"));
        assert!(!has("router") && !has("draft-all") && !has("static-ensemble"));
    }

    #[test]
    fn what_cannot_be_replayed_is_named() {
        let message = |arguments: &[&str]| {
            let error = report(arguments).expect_err("wrong");
            assert_eq!(error.exit_code(), 2);
            error.to_string()
        };
        let beta = message(&["--beta", "-1"]);
        assert!(beta.starts_with("beta is -1"), "{beta}");
        for method in ["draft-all", "router", "static-ensemble", "exp3@2"] {
            let refused = message(&["--policies", method]);
            let expected = format!("policy `{method}` cannot be replayed");
            assert!(refused.starts_with(&expected), "{refused}");
        }
    }

    #[test]
    fn a_policy_may_have_parameters_of_its_own() {
        let own = "eps-greedy+epsilon=0";
        let arguments = [
            "--policies",
            own,
            "--epsilon",
            "1",
            "--runs",
            "4",
            "--rewards",
            "bd",
        ];
        let report = report(&arguments).expect("played");
        let policy = &report.domains[1].policies[0];
        // The worse drafter takes one round of the five.
        assert_eq!((&*policy.name, policy.rounds), (own, 5.0));
    }
}
