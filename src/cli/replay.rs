//! `metasd simulate --record`.

use std::process::ExitCode;

use metasd::bandit::{PolicyParams, PolicySpec, Reward};
use metasd::record::Record;
use metasd::sim::{ArmTotals, Estimate, Query};
use metasd::{ArmId, Error, ErrorKind, Result};
use serde::Serialize;

use super::args::SimulateArgs;
use super::interrupt::{self, Busy};
use super::matrix::markdown;
use super::output::Output;
use super::progress::Progress;
use super::{sampling, simulate};

/// Policies whose rounds are not those of one drafter, so that a recording does not have them.
const NOT_RECORDED: [&str; 3] = ["static-ensemble", "draft-all", "router"];

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
    if args.replay.concat.is_empty() {
        let domain = |(name, texts): &(&str, Vec<_>)| Domain {
            name: (*name).to_owned(),
            queries: texts.iter().map(|&text| query(vec![text])).collect(),
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
        });
    }
    Ok(domains)
}

/// What is to be compared.
#[derive(Debug)]
struct Comparison {
    drafters: Vec<String>,
    policies: Vec<PolicySpec>,
    rewards: Vec<Reward>,
    params: PolicyParams,
    runs: u64,
    seed: u64,
}

impl Comparison {
    fn new(record: &Record, args: &SimulateArgs) -> Result<Self> {
        let mut params = PolicyParams::default();
        args.tuning.apply(&mut params);
        let is_recorded = |policy: &PolicySpec| {
            let name = policy.to_string();
            let head = name.split(':').next().unwrap_or_default();
            !NOT_RECORDED.contains(&head)
        };
        if let Some(policy) = args.policies.iter().find(|policy| !is_recorded(policy)) {
            return Err(Error::invalid(format!(
                "policy `{policy}` cannot be replayed: its rounds are not those of one drafter, \
                 which is what a recording has"
            )));
        }
        let comparison = Self {
            drafters: record.header.names(),
            policies: match args.policies.as_slice() {
                [] => simulate::learning_policies()
                    .into_iter()
                    .filter(is_recorded)
                    .collect(),
                policies => policies.to_vec(),
            },
            rewards: args.rewards.clone(),
            params,
            runs: args.runs as u64,
            seed: sampling::seed(args.seed)?,
        };
        for policy in &comparison.policies {
            policy.build(&comparison.params, &comparison.drafters)?;
        }
        Ok(comparison)
    }

    fn play(&self, domains: &[Domain<'_>]) -> Result<Report> {
        let queries: usize = domains.iter().map(|domain| domain.queries.len()).sum();
        let total = queries * self.policies.len() * self.rewards.len();
        let bar = Progress::new(false).steps("replaying", total as u64);
        let mut after_query = || {
            bar.inc(1);
            match interrupt::is_set() {
                true => Err(Error::new(ErrorKind::Cancelled, "interrupted")),
                false => Ok(()),
            }
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
        for policy in &self.policies {
            for &reward in &self.rewards {
                let params = PolicyParams {
                    reward,
                    ..self.params.clone()
                };
                let (rounds, on_best) =
                    self.rounds(&domain.queries, (policy, &params), best, after_query)?;
                let rounds = Estimate::of(&rounds);
                policies.push(PolicyReport {
                    name: policy.to_string(),
                    reward,
                    rounds: rounds.mean,
                    rounds_error: Some(rounds.error).filter(|error| error.is_finite()),
                    ratio: ratio(rounds.mean),
                    best_share: on_best / (rounds.mean * self.runs as f64),
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

    /// For every run the rounds of all queries together, and over all runs the rounds that went to
    /// `best`.
    fn rounds(
        &self,
        queries: &[Query<'_>],
        (policy, params): (&PolicySpec, &PolicyParams),
        best: ArmId,
        after_query: &mut dyn FnMut() -> Result<()>,
    ) -> Result<(Vec<f64>, f64)> {
        let mut rounds = vec![0.0; self.runs as usize];
        let mut on_best = 0.0;
        for query in queries {
            let seeds = (0..self.runs).map(|run| self.seed.wrapping_add(run));
            let runs = query.runs(policy, params, seeds)?;
            for (sum, run) in rounds.iter_mut().zip(&runs) {
                *sum += run.rounds() as f64;
                on_best += run.arms[best.0].rounds as f64;
            }
            after_query()?;
        }
        Ok((rounds, on_best))
    }
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

/// Each policy's ratio averaged over the domains.
fn average(domains: &[DomainReport]) -> Vec<AverageReport> {
    let Some(first) = domains.first() else {
        return Vec::new();
    };
    let of = |(index, policy): (usize, &PolicyReport)| {
        let ratios = domains.iter().map(|domain| domain.policies[index].ratio);
        AverageReport {
            name: policy.name.clone(),
            reward: policy.reward,
            ratio: ratios.sum::<f64>() / domains.len() as f64,
        }
    };
    first.policies.iter().enumerate().map(of).collect()
}

#[derive(Debug, Serialize)]
struct Report {
    runs: u64,
    seed: u64,
    domains: Vec<DomainReport>,
    /// Means over the domains.
    average: Vec<AverageReport>,
}

#[derive(Debug, Serialize)]
struct DomainReport {
    name: String,
    prompts: usize,
    tokens: usize,
    /// The drafter that alone takes the fewest rounds, in hindsight.
    best_fixed: String,
    /// Rounds over all prompts, here and below.
    rounds_best_fixed: u64,
    rounds_oracle: u64,
    /// Rounds over those of the best drafter alone, here and below.
    ratio_oracle: f64,
    fixed: Vec<FixedReport>,
    policies: Vec<PolicyReport>,
}

#[derive(Debug, Serialize)]
struct FixedReport {
    name: String,
    rounds: u64,
    ratio: f64,
}

#[derive(Debug, Serialize)]
struct PolicyReport {
    name: String,
    reward: Reward,
    /// Mean over the runs.
    rounds: f64,
    /// Its standard error; `null` for a single run.
    rounds_error: Option<f64>,
    ratio: f64,
    /// The share of its rounds that went to the best drafter.
    best_share: f64,
}

#[derive(Debug, Serialize)]
struct AverageReport {
    name: String,
    reward: Reward,
    ratio: f64,
}

impl Report {
    fn lines(&self) -> Vec<String> {
        let domains = &self.domains;
        let row = |name: &str, cell: &dyn Fn(&DomainReport) -> String, mean: String| {
            let cells = domains.iter().map(cell);
            let ends = ([name.to_owned()], [mean]);
            ends.0
                .into_iter()
                .chain(cells)
                .chain(ends.1)
                .collect::<Vec<_>>()
        };
        let mean = |ratio: &dyn Fn(&DomainReport) -> f64| {
            let sum: f64 = domains.iter().map(ratio).sum();
            format!("{:.3}", sum / domains.len() as f64)
        };
        let none = String::new;
        let cell = |rounds: f64, ratio: f64| format!("{rounds:.1} ({ratio:.3})");
        let mut table = vec![
            row(
                "",
                &|domain| domain.name.replace('|', "\\|"),
                "mean".to_owned(),
            ),
            row("prompts", &|domain| domain.prompts.to_string(), none()),
            row("best fixed", &|domain| domain.best_fixed.clone(), none()),
            row(
                "rounds of best fixed",
                &|domain| domain.rounds_best_fixed.to_string(),
                none(),
            ),
            row(
                "oracle",
                &|domain| cell(domain.rounds_oracle as f64, domain.ratio_oracle),
                mean(&|domain| domain.ratio_oracle),
            ),
        ];
        let drafters = domains.first().map_or(0, |domain| domain.fixed.len());
        for drafter in 0..drafters {
            table.push(row(
                &format!("fixed:{}", domains[0].fixed[drafter].name),
                &|domain| {
                    let fixed = &domain.fixed[drafter];
                    cell(fixed.rounds as f64, fixed.ratio)
                },
                mean(&|domain| domain.fixed[drafter].ratio),
            ));
        }
        for (index, policy) in self.average.iter().enumerate() {
            table.push(row(
                &format!("{} {}", policy.name, policy.reward),
                &|domain| {
                    let policy = &domain.policies[index];
                    cell(policy.rounds, policy.ratio)
                },
                format!("{:.3}", policy.ratio),
            ));
        }
        vec![
            format!(
                "Rounds over all prompts of a domain (and over those of the best drafter alone); \
                 policies: mean of {} runs, seed {}\n",
                self.runs, self.seed
            ),
            markdown(table),
        ]
    }
}

/// Every drafter alone in every domain.
#[derive(Debug, Serialize)]
struct Matrix {
    target: String,
    n_max: usize,
    predict: usize,
    categories: Vec<CategoryReport>,
}

#[derive(Debug, Serialize)]
struct CategoryReport {
    name: String,
    prompts: usize,
    drafters: Vec<DrafterReport>,
}

/// A drafter alone. Rounds in which nothing may be drafted are in none of the counts; what is
/// `null` has no round.
#[derive(Debug, Serialize)]
struct DrafterReport {
    name: String,
    rounds: u64,
    drafted: u64,
    accepted: u64,
    mean_acceptance_length: Option<f64>,
    mean_bd: Option<f64>,
    mean_be: Option<f64>,
    /// Over the rounds, as the next.
    variance_bd: Option<f64>,
    variance_be: Option<f64>,
}

impl DrafterReport {
    fn new(name: &str, totals: &ArmTotals) -> Self {
        Self {
            name: name.to_owned(),
            rounds: totals.rounds,
            drafted: totals.drafted,
            accepted: totals.accepted,
            mean_acceptance_length: totals.mean_acceptance_length(),
            mean_bd: totals.mean_bd(),
            mean_be: totals.mean_be(),
            variance_bd: totals.variance_bd(),
            variance_be: totals.variance_be(),
        }
    }
}

impl Matrix {
    fn new(record: &Record, domains: &[Domain<'_>]) -> Result<Self> {
        let names = record.header.names();
        let category = |domain: &Domain<'_>| {
            let mut totals = vec![ArmTotals::default(); names.len()];
            for query in &domain.queries {
                for (arm, replay) in query.fixed()?.iter().enumerate() {
                    totals[arm].merge(&replay.arms[arm]);
                }
            }
            let drafters = names.iter().zip(&totals);
            Ok(CategoryReport {
                name: domain.name.clone(),
                prompts: domain.queries.len(),
                drafters: drafters
                    .map(|(name, totals)| DrafterReport::new(name, totals))
                    .collect(),
            })
        };
        Ok(Self {
            target: record.header.target.name.clone(),
            n_max: record.header.n_max,
            predict: record.header.n_predict,
            categories: domains.iter().map(category).collect::<Result<_>>()?,
        })
    }

    fn lines(&self) -> Vec<String> {
        type Value = fn(&DrafterReport) -> Option<f64>;
        let tables: [(&str, Value, usize); 4] = [
            (
                "Mean acceptance length, tokens a round:",
                |drafter| drafter.mean_acceptance_length,
                3,
            ),
            ("Mean block divergence (bd):", |drafter| drafter.mean_bd, 3),
            (
                "Variance of bd over the rounds:",
                |drafter| drafter.variance_bd,
                4,
            ),
            (
                "Variance of be over the rounds:",
                |drafter| drafter.variance_be,
                4,
            ),
        ];
        let mut lines = Vec::new();
        for (title, value, digits) in tables {
            let gap = if lines.is_empty() { "" } else { "\n" };
            lines.push(format!("{gap}{title}\n"));
            lines.push(self.table(value, digits));
        }
        lines
    }

    /// A row for every drafter, a column for every category and one for the mean over categories.
    fn table(&self, value: fn(&DrafterReport) -> Option<f64>, digits: usize) -> String {
        let number =
            |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.digits$}"));
        let names = self
            .categories
            .iter()
            .map(|category| category.name.replace('|', "\\|"));
        let head = ["drafter".to_owned()].into_iter().chain(names);
        let mut table: Vec<Vec<String>> = vec![head.chain(["mean".to_owned()]).collect()];
        let drafters = self
            .categories
            .first()
            .map_or(0, |category| category.drafters.len());
        for drafter in 0..drafters {
            let cells = self
                .categories
                .iter()
                .map(|category| &category.drafters[drafter]);
            let values: Vec<Option<f64>> = cells.map(value).collect();
            let there: Vec<f64> = values.iter().flatten().copied().collect();
            let mean = (!there.is_empty()).then(|| there.iter().sum::<f64>() / there.len() as f64);
            let mut line = vec![self.categories[0].drafters[drafter].name.clone()];
            line.extend(values.into_iter().chain([mean]).map(number));
            table.push(line);
        }
        markdown(table)
    }
}
