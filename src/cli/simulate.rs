//! `metasd simulate`.

use std::process::ExitCode;

use metasd::bandit::{PolicyParams, PolicySpec, Reward};
use metasd::sim::{Arm, Estimate, Experiment, Fit, SimRun, regret};
use metasd::{ArmId, Error, ErrorKind, Result};
use serde::{Serialize, Serializer};

use super::args::SimulateArgs;
use super::interrupt::{self, Busy};
use super::output::Output;
use super::plot::{self, Curve, Labels};
use super::progress::Progress;
use super::{replay, sampling, say};

/// Plays policies on scripted arms and prints their regret.
///
/// # Errors
/// For wrong arguments, a plot that cannot be written, or when Ctrl-C stops it.
pub fn run(args: &SimulateArgs) -> Result<ExitCode> {
    if args.replay.record.is_some() {
        return replay::run(args);
    }
    let simulation = Simulation::new(args)?;
    let _busy = Busy::new();
    let report = simulation.play()?;
    let mut output = Output::default();
    report.lines().iter().for_each(|line| output.line(line));
    if args.json {
        let line = serde_json::to_string(&report)
            .map_err(|error| Error::invalid(format!("the report is no JSON: {error}")))?;
        output.line(&line);
    }
    // After the results, so that a file that cannot be written does not take them along.
    if let Some(path) = &args.plot {
        plot::svg(path, &LABELS, &report.curves())?;
        say(format_args!("{}: regret over tokens", path.display()));
    }
    Ok(output.finish(ExitCode::SUCCESS))
}

const LABELS: Labels<'_> = Labels {
    title: "Regret against the best drafter alone",
    x: "tokens",
    y: "rounds",
};

/// What is to be played.
#[derive(Debug)]
struct Simulation {
    arms: Vec<Arm>,
    policies: Vec<PolicySpec>,
    rewards: Vec<Reward>,
    tokens: Vec<u64>,
    params: PolicyParams,
    n_max: usize,
    runs: u64,
    seed: u64,
}

impl Simulation {
    fn new(args: &SimulateArgs) -> Result<Self> {
        let arms = args.arms.iter().cloned();
        let mut params = PolicyParams::default();
        args.tuning.apply(&mut params);
        let mut tokens: Vec<u64> = args.tokens.iter().map(|&tokens| tokens as u64).collect();
        tokens.sort_unstable();
        tokens.dedup();
        let simulation = Self {
            arms: arms
                .map(|arm| arm.spread(args.spread))
                .collect::<Result<_>>()?,
            policies: match args.policies.as_slice() {
                [] => learning_policies(),
                policies => policies.to_vec(),
            },
            rewards: args.rewards.clone(),
            tokens,
            params,
            n_max: args.spec_draft_n_max,
            runs: args.runs as u64,
            seed: sampling::seed(args.seed)?,
        };
        simulation.check_policies()?;
        Ok(simulation)
    }

    /// A policy that is wrong must not be found out after minutes with the others.
    fn check_policies(&self) -> Result<()> {
        let names: Vec<String> = (0..self.arms.len()).map(|arm| arm.to_string()).collect();
        if let Some(policy) = self.policies.iter().find(|policy| policy.needs_models()) {
            return Err(Error::invalid(format!(
                "policy `{policy}` is more than a choice among arms and cannot be simulated"
            )));
        }
        self.policies
            .iter()
            .try_for_each(|policy| policy.build(&self.params, &names).map(drop))
    }

    fn play(&self) -> Result<Report> {
        let played_each = self.arms.len() + self.policies.len() * self.rewards.len();
        let total = (self.tokens.len() * played_each) as u64 * self.runs;
        let bar = Progress::new(false).steps("simulating", total);
        let mut after_run = || {
            bar.inc(1);
            match interrupt::is_set() {
                true => Err(Error::new(ErrorKind::Cancelled, "interrupted")),
                false => Ok(()),
            }
        };
        let mut rows: Vec<Row> = self
            .policies
            .iter()
            .flat_map(|policy| self.rewards.iter().map(|&reward| Row::new(policy, reward)))
            .collect();
        let mut best_arms = Vec::new();
        for &tokens in &self.tokens {
            let experiment = Experiment {
                arms: &self.arms,
                tokens,
                n_max: self.n_max,
                runs: self.runs,
                seed: self.seed,
            };
            let (best_arm, best) = experiment.best_fixed(&mut after_run)?;
            best_arms.push(BestArm::new(tokens, best_arm, &best));
            for row in &mut rows {
                let params = PolicyParams {
                    reward: row.reward,
                    ..self.params.clone()
                };
                let runs = experiment.runs(&row.policy, &params, &mut after_run)?;
                row.add(tokens, regret(&runs, &best), &runs);
            }
        }
        rows.iter_mut().for_each(Row::fit);
        Ok(Report {
            arms: self.arms.iter().map(Arm::to_string).collect(),
            n_max: self.n_max,
            runs: self.runs,
            seed: self.seed,
            best: best_arms,
            rows,
        })
    }
}

/// All policies that stand for themselves and choose among the arms.
pub fn learning_policies() -> Vec<PolicySpec> {
    PolicySpec::KNOWN
        .iter()
        .filter_map(|name| name.parse().ok())
        .filter(|policy| !matches!(policy, PolicySpec::Off | PolicySpec::Fixed(_)))
        .filter(|policy| !policy.needs_models())
        .collect()
}

/// All results.
#[derive(Debug, Serialize)]
struct Report {
    arms: Vec<String>,
    n_max: usize,
    runs: u64,
    seed: u64,
    best: Vec<BestArm>,
    rows: Vec<Row>,
}

/// The arm that regret is measured against, and the rounds it takes alone.
#[derive(Debug, Serialize)]
struct BestArm {
    tokens: u64,
    arm: usize,
    rounds: Estimate,
}

/// A policy with a reward.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(serialize_with = "serialize_policy")]
    policy: PolicySpec,
    reward: Reward,
    points: Vec<Point>,
    /// `regret = intercept + slope·ln tokens`.
    fit: Option<Fit>,
    /// `regret = intercept + slope·tokens`, to tell what only seems to be a logarithm.
    line: Option<Fit>,
}

/// Its regret for a budget.
#[derive(Debug, Serialize)]
struct Point {
    tokens: u64,
    regret: Estimate,
    /// Mean round by which it had settled on the best arm, over the runs in which it did.
    settled_round: Option<f64>,
    /// The share of these runs.
    settled_share: f64,
}

fn serialize_policy<S: Serializer>(
    policy: &PolicySpec,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(policy)
}

impl BestArm {
    fn new(tokens: u64, arm: ArmId, runs: &[SimRun]) -> Self {
        let rounds: Vec<f64> = runs.iter().map(|run| run.rounds as f64).collect();
        Self {
            tokens,
            arm: arm.0,
            rounds: Estimate::of(&rounds),
        }
    }
}

impl Row {
    fn new(policy: &PolicySpec, reward: Reward) -> Self {
        Self {
            policy: policy.clone(),
            reward,
            points: Vec::new(),
            fit: None,
            line: None,
        }
    }

    fn add(&mut self, tokens: u64, regret: Estimate, runs: &[SimRun]) {
        let settled = runs.iter().filter_map(|run| run.settled);
        let settled: Vec<f64> = settled.map(|round| round as f64).collect();
        self.points.push(Point {
            tokens,
            regret,
            settled_round: (!settled.is_empty()).then(|| Estimate::of(&settled).mean),
            settled_share: settled.len() as f64 / runs.len().max(1) as f64,
        });
    }

    /// `(tokens, mean regret)`.
    fn curve(&self) -> Vec<(f64, f64)> {
        let points = self.points.iter();
        points
            .map(|point| (point.tokens as f64, point.regret.mean))
            .collect()
    }

    fn fit(&mut self) {
        self.fit = Fit::logarithm(&self.curve());
        self.line = Fit::line(&self.curve());
    }

    /// The row's cells, its names first and the fit last.
    fn cells(&self) -> Vec<String> {
        let names = [self.policy.to_string(), self.reward.to_string()];
        let regrets = self.points.iter().map(|point| estimate(&point.regret));
        let number = |fit: &Option<Fit>, digits: usize, value: fn(&Fit) -> f64| {
            fit.as_ref()
                .map_or("-".to_owned(), |fit| format!("{:.digits$}", value(fit)))
        };
        let fit = [
            number(&self.fit, 1, |fit| fit.intercept),
            number(&self.fit, 2, |fit| fit.slope),
            number(&self.fit, 3, |fit| fit.r2),
            number(&self.line, 3, |fit| fit.r2),
        ];
        names.into_iter().chain(regrets).chain(fit).collect()
    }
}

/// `12.3±0.4`, without what a single run cannot tell.
fn estimate(estimate: &Estimate) -> String {
    if estimate.error.is_nan() {
        format!("{:.1}", estimate.mean)
    } else {
        format!("{:.1}±{:.1}", estimate.mean, estimate.error)
    }
}

impl Report {
    fn lines(&self) -> Vec<String> {
        let tokens = self.best.iter().map(|best| best.tokens.to_string());
        let head = ["policy", "reward"].map(str::to_owned).into_iter();
        let tail = ["a", "b", "R²", "line R²"].map(str::to_owned);
        let rounds = self.best.iter().map(|best| estimate(&best.rounds));
        let alone = ["rounds of the best", ""].map(str::to_owned).into_iter();
        let nothing = std::iter::repeat_n(String::new(), tail.len());
        let mut table = vec![
            head.chain(tokens).chain(tail).collect(),
            alone.chain(rounds).chain(nothing).collect(),
        ];
        table.extend(self.rows.iter().map(Row::cells));
        let mut lines = vec![format!(
            "regret in rounds (mean ± standard error of {} runs, seed {}) on arms {} with {} \
             drafted, by tokens; fit a + b·ln tokens with its R², and that of a straight line",
            self.runs,
            self.seed,
            self.arms.join(", "),
            self.n_max
        )];
        lines.extend(aligned(&table));
        lines
    }

    fn curves(&self) -> Vec<Curve> {
        let first = self.rows.first().map(|row| row.reward);
        let curve = |row: &Row| Curve {
            name: format!("{} {}", row.policy, row.reward),
            points: row.curve(),
            thin: Some(row.reward) != first,
        };
        self.rows.iter().map(curve).collect()
    }
}

/// The table's lines, columns two spaces apart, the first two to the left and the rest to the
/// right.
fn aligned(table: &[Vec<String>]) -> Vec<String> {
    let columns = table.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = table.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate();
        let padded = cells.map(|(column, (cell, &width))| match column {
            0 | 1 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    table.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::{Cli, Command};

    fn simulation(arguments: &[&str]) -> Result<Simulation> {
        let line = ["metasd", "simulate", "--synthetic"]
            .iter()
            .chain(arguments);
        let Command::Simulate(args) = Cli::try_parse_from(line).expect("valid").command else {
            panic!("not a simulation");
        };
        Simulation::new(&args)
    }

    #[test]
    fn by_default_every_policy_that_chooses_is_played() {
        let policies = simulation(&[]).expect("valid").policies;
        let names: Vec<String> = policies.iter().map(PolicySpec::to_string).collect();
        assert_eq!(names.len(), PolicySpec::KNOWN.len() - 5);
        assert!(
            !names
                .iter()
                .any(|name| name == "off" || name.starts_with("fixed"))
        );
    }

    #[test]
    fn a_report_has_a_row_for_each_policy_and_reward() {
        let arguments = [
            "--arms",
            "0.3,0.8",
            "--policies",
            "metasd-ucb,fixed:1",
            "--tokens",
            "64,32,64",
            "--runs",
            "5",
        ];
        let report = simulation(&arguments)
            .expect("valid")
            .play()
            .expect("played");
        let lines = report.lines();
        assert_eq!(lines.len(), 1 + 2 + 4);
        assert!(
            lines[1].starts_with("policy") && lines[1].contains("32"),
            "{lines:?}"
        );
        assert!(lines[5].starts_with("fixed:1"), "{lines:?}");
        assert_eq!(lines[5].matches("0.0±0.0").count(), 2, "{lines:?}");
        let json = serde_json::to_value(&report).expect("JSON");
        assert_eq!(json["rows"][0]["policy"], "metasd-ucb");
        assert_eq!(json["rows"][3]["points"][1]["regret"]["mean"], 0.0);
        assert_eq!(json["best"][0]["arm"], 1);
        assert_eq!(report.curves().len(), 4);
    }

    #[test]
    fn a_single_run_has_no_standard_error() {
        let arguments = ["--runs", "1", "--tokens", "32", "--policies", "random"];
        let report = simulation(&arguments)
            .expect("valid")
            .play()
            .expect("played");
        assert!(!report.lines()[2..].join("").contains('±'));
        assert!(report.lines()[3].ends_with('-'));
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        let message = |arguments: &[&str]| {
            let error = simulation(arguments).expect_err("wrong");
            assert_eq!(error.exit_code(), 2);
            error.to_string()
        };
        assert!(message(&["--spread", "1"]).starts_with("spread is 1"));
        assert!(message(&["--epsilon", "2"]).starts_with("epsilon is 2"));
        assert!(message(&["--seed", "-3"]).starts_with("seed is -3"));
        assert!(message(&["--policies", "fixed:9"]).contains("the drafters are `0`"));
    }
}
