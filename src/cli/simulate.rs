//! `metasd simulate`.

mod options;
mod problem;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use indicatif::ProgressBar;
use metasd::bandit::{PolicyParams, PolicySpec, Reward};
use metasd::bench::Method;
use metasd::sim::{Arm, Experiment, SimRun, regret};
use metasd::{ArmId, Error, ErrorKind, Result};

use super::interrupt::{self, Busy};
use super::output::Output;
use super::plot::{self, Axes};
use super::progress::Progress;
use super::{replay, sampling, say};
pub use options::SimulateArgs;
pub use problem::Problem;
use report::{Report, Row, Solved};

/// The problem when none is given.
const DEFAULT_ARMS: &str = "0.4,0.55,0.7";

/// Token budget of the queries that tell how soon the best arm is taken.
pub const CONVERGENCE_TOKENS: u64 = 8192;

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
        let line = serde_json::to_string(&report.json())
            .map_err(|error| Error::invalid(format!("the report is no JSON: {error}")))?;
        output.line(&line);
    }
    // After the results, so that a file that cannot be written does not take them along.
    if let Some(path) = &args.plot {
        write_plots(path, &report)?;
    }
    Ok(output.finish(ExitCode::SUCCESS))
}

/// The regret of each problem into a file of its own, and how soon the best arm is taken beside it.
fn write_plots(path: &Path, report: &Report) -> Result<()> {
    let axes = Axes {
        log_x: true,
        y: Some((0.0, 1.0)),
    };
    for (index, problem) in report.problems.iter().enumerate() {
        let number = match report.problems.len() {
            1 => String::new(),
            _ => format!("-{}", index + 1),
        };
        let regret = beside(path, &number);
        plot::svg(&regret, &problem.regret_labels(), &problem.regret_curves())?;
        say(format_args!("{}: regret over tokens", regret.display()));
        let curves = problem.convergence_curves();
        if curves.iter().any(|curve| !curve.points.is_empty()) {
            let best = beside(path, &format!("{number}-best-arm"));
            let labels = problem.convergence_labels();
            plot::write(&best, &plot::drawing(&labels, axes, &curves)?)?;
            say(format_args!("{}: share of the best arm", best.display()));
        }
    }
    Ok(())
}

/// `path` with `suffix` behind the file's stem.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    if suffix.is_empty() {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(suffix);
    if let Some(ending) = path.extension() {
        name.push(".");
        name.push(ending);
    }
    path.with_file_name(name)
}

/// What is to be played.
#[derive(Debug)]
struct Simulation {
    problems: Vec<Problem>,
    policies: Vec<Method>,
    rewards: Vec<Reward>,
    tokens: Vec<u64>,
    params: PolicyParams,
    n_max: usize,
    runs: u64,
    seed: u64,
}

impl Simulation {
    fn new(args: &SimulateArgs) -> Result<Self> {
        let mut params = PolicyParams::default();
        args.tuning.apply(&mut params);
        let mut tokens: Vec<u64> = args.tokens.iter().map(|&tokens| tokens as u64).collect();
        tokens.sort_unstable();
        tokens.dedup();
        let mut problems = args.arms.clone();
        for path in &args.arms_from {
            problems.extend(Problem::read(path)?);
        }
        if problems.is_empty() {
            problems.push(DEFAULT_ARMS.parse()?);
        }
        let simulation = Self {
            problems: problems
                .into_iter()
                .map(|problem| problem.spread(args.spread))
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
        for method in &self.policies {
            if method.policy.needs_models() {
                return Err(Error::invalid(format!(
                    "policy `{method}` is more than a choice among arms and cannot be simulated"
                )));
            }
            if method.n_max.is_some() {
                return Err(Error::invalid(format!(
                    "policy `{method}`: all draft the same number of tokens here, given with \
                     --spec-draft-n-max"
                )));
            }
            let params = method.params(&self.params)?;
            for problem in &self.problems {
                let names: Vec<String> = (0..problem.arms.len()).map(|a| a.to_string()).collect();
                method.policy.build(&params, &names)?;
            }
        }
        Ok(())
    }

    fn play(&self) -> Result<Report> {
        let learning = self.policies.iter().filter(|method| method.learns());
        let rows = learning.count() * self.rewards.len();
        let others = self.policies.iter().filter(|method| !method.learns());
        let rows = rows + others.count();
        let arms: usize = self.problems.iter().map(|problem| problem.arms.len()).sum();
        let played = (arms + rows * self.problems.len()) * self.tokens.len();
        let convergences = rows * self.problems.len();
        let total = (played + convergences) as u64 * self.runs;
        let bar = Progress::new(false).steps("simulating", total);
        Ok(Report {
            problems: self
                .problems
                .iter()
                .map(|problem| self.solve(problem, &bar))
                .collect::<Result<_>>()?,
            n_max: self.n_max,
            runs: self.runs,
            seed: self.seed,
        })
    }

    fn solve(&self, problem: &Problem, bar: &ProgressBar) -> Result<Solved> {
        let arms = &*problem.arms;
        let mut best = Vec::new();
        for &tokens in &self.tokens {
            let mut after_run = || step(bar);
            best.push(self.experiment(arms, tokens).best_fixed(&mut after_run)?);
        }
        let best_arm = best.last().map_or(ArmId(0), |(arm, _)| *arm);
        let mut rows: Vec<Row> = Vec::new();
        for method in &self.policies {
            let rewards = match method.learns() {
                true => &*self.rewards,
                false => &self.rewards[..self.rewards.len().min(1)],
            };
            rows.extend(rewards.iter().map(|&reward| Row::new(method, reward)));
        }
        // The rows have nothing in common but the best arm's runs, which are only read.
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let mut shares: Vec<Vec<&mut Row>> = (0..threads).map(|_| Vec::new()).collect();
        for (index, row) in rows.iter_mut().enumerate() {
            shares[index % threads].push(row);
        }
        let best_runs = &best;
        thread::scope(|scope| {
            let fill = |rows: Vec<&mut Row>| {
                rows.into_iter()
                    .try_for_each(|row| self.fill(row, arms, best_runs, best_arm, bar))
            };
            let workers: Vec<_> = shares
                .into_iter()
                .map(|rows| scope.spawn(move || fill(rows)))
                .collect();
            workers.into_iter().try_for_each(|worker| {
                worker
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })?;
        let rounds = self.tokens.iter().zip(&best);
        Ok(Solved::new(
            problem,
            best_arm,
            rounds.map(|(&tokens, (_, runs))| (tokens, &**runs)),
            &self.rewards,
            self.n_max,
            rows,
        ))
    }

    /// Plays the policy of a row for all budgets.
    fn fill(
        &self,
        row: &mut Row,
        arms: &[Arm],
        best: &[(ArmId, Vec<SimRun>)],
        best_arm: ArmId,
        bar: &ProgressBar,
    ) -> Result<()> {
        let mut after_run = || step(bar);
        for (&tokens, (_, best)) in self.tokens.iter().zip(best) {
            let experiment = self.experiment(arms, tokens);
            let params = self.params_for(row)?;
            let runs = experiment.runs(&row.method.policy, &params, &mut after_run)?;
            row.add(tokens, regret(&runs, best));
        }
        // Of arms that change it is not always the same one that is best.
        if arms.iter().all(Arm::is_steady) {
            let most = self.tokens.last().copied().unwrap_or(CONVERGENCE_TOKENS);
            let experiment = self.experiment(arms, most.min(CONVERGENCE_TOKENS));
            let params = self.params_for(row)?;
            let policy = &row.method.policy;
            let found = experiment.convergence(policy, &params, best_arm, &mut after_run)?;
            row.converge(&found);
        }
        Ok(())
    }

    fn experiment<'a>(&self, arms: &'a [Arm], tokens: u64) -> Experiment<'a> {
        Experiment {
            arms,
            tokens,
            n_max: self.n_max,
            runs: self.runs,
            seed: self.seed,
        }
    }

    /// A row's parameters.
    fn params_for(&self, row: &Row) -> Result<PolicyParams> {
        row.method.params(&PolicyParams {
            reward: row.reward,
            ..self.params.clone()
        })
    }
}

/// One run more has been played.
fn step(bar: &ProgressBar) -> Result<()> {
    bar.inc(1);
    match interrupt::is_set() {
        true => Err(Error::new(ErrorKind::Cancelled, "interrupted")),
        false => Ok(()),
    }
}

/// All policies that stand for themselves and choose among the arms.
pub fn learning_policies() -> Vec<Method> {
    PolicySpec::KNOWN
        .iter()
        .filter_map(|name| name.parse().ok())
        .filter(|policy| !matches!(policy, PolicySpec::Off | PolicySpec::Fixed(_)))
        .filter(|policy| !policy.needs_models())
        .map(Method::plain)
        .collect()
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

    fn play(arguments: &[&str]) -> Report {
        let simulation = simulation(arguments).expect("valid");
        simulation.play().expect("played")
    }

    #[test]
    fn by_default_every_policy_that_chooses_is_played_on_three_arms() {
        let simulation = simulation(&[]).expect("valid");
        let names: Vec<String> = simulation.policies.iter().map(Method::to_string).collect();
        assert_eq!(names.len(), PolicySpec::KNOWN.len() - 5);
        assert!(
            !names
                .iter()
                .any(|name| name == "off" || name.starts_with("fixed"))
        );
        assert_eq!(simulation.problems.len(), 1);
        assert_eq!(simulation.problems[0].arms.len(), 3);
        let powers: Vec<u64> = (7..=17).map(|power| 1 << power).collect();
        assert_eq!(simulation.tokens, powers);
    }

    #[test]
    fn a_report_has_a_row_for_each_policy_and_reward_that_it_looks_at() {
        let report = play(&[
            "--arms",
            "0.3,0.8",
            "--policies",
            "metasd-ucb+beta=0.1,fixed:1",
            "--tokens",
            "64,32,64",
            "--runs",
            "5",
        ]);
        let lines = report.lines();
        let fixed = lines.iter().find(|line| line.starts_with("fixed:1"));
        // At both budgets, and the growth between them.
        assert_eq!(fixed.expect("a row").matches("0.0±0.0").count(), 3);
        let json = report.json();
        let problem = &json["problems"][0];
        assert_eq!(problem["alphas"], serde_json::json!([0.3, 0.8]));
        assert_eq!(problem["best_fixed"], 1);
        let policies = problem["policies"].as_array().expect("a list");
        let names: Vec<_> = policies
            .iter()
            .map(|policy| (policy["name"].as_str(), policy["reward"].as_str()))
            .collect();
        let ucb = Some("metasd-ucb+beta=0.1");
        assert_eq!(
            names,
            [
                (ucb, Some("bd")),
                (ucb, Some("be")),
                (Some("fixed:1"), Some("bd"))
            ]
        );
        let points = policies[2]["regret"].as_array().expect("a list");
        assert_eq!(points.len(), 2);
        assert_eq!(points[0]["tokens"], 32);
        assert_eq!(points[1]["mean"], 0.0);
        assert_eq!(points[1]["stderr"], 0.0);
        for key in ["a", "b", "r2"] {
            assert!(policies[0]["fit"][key].is_number(), "{key}");
        }
    }

    #[test]
    fn several_problems_are_solved_one_after_the_other() {
        let arguments = [
            "--arms",
            "0.3,0.8",
            "--arms",
            "0.5,0.4,0.8/0.2",
            "--policies",
            "random",
            "--tokens",
            "32",
            "--runs",
            "3",
        ];
        let json = play(&arguments).json();
        let problems = json["problems"].as_array().expect("a list");
        assert_eq!(problems.len(), 2);
        assert_eq!(
            problems[1]["alphas"],
            serde_json::json!([0.5, 0.4, "0.8/0.2"])
        );
        assert!(problems[1]["policies"][0]["rounds_to_best_arm"].is_null());
    }

    #[test]
    fn what_two_threads_play_is_what_one_plays() {
        let arguments = [
            "--tokens",
            "64",
            "--runs",
            "4",
            "--policies",
            "exp3,thompson",
        ];
        assert_eq!(play(&arguments).json(), play(&arguments).json());
    }

    #[test]
    fn a_single_run_has_no_standard_error() {
        let report = play(&["--runs", "1", "--tokens", "32", "--policies", "random"]);
        assert!(!report.lines()[2..4].concat().contains('±'));
        assert!(report.json()["problems"][0]["policies"][0]["regret"][0]["stderr"].is_null());
    }

    #[test]
    fn files_of_several_problems_are_told_apart_by_their_names() {
        assert_eq!(beside(Path::new("a/b.svg"), ""), Path::new("a/b.svg"));
        assert_eq!(beside(Path::new("a/b.svg"), "-2"), Path::new("a/b-2.svg"));
        assert_eq!(beside(Path::new("b"), "-2"), Path::new("b-2"));
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        let message = |arguments: &[&str]| {
            let error = simulation(arguments).expect_err("wrong");
            assert_eq!(error.exit_code(), 2);
            error.to_string()
        };
        assert!(message(&["--spread", "1"]).starts_with("spread is 1"));
        assert!(message(&["--epsilon", "2"]).contains("epsilon is 2"));
        assert!(message(&["--seed", "-3"]).starts_with("seed is -3"));
        assert!(message(&["--policies", "fixed:9"]).contains("the drafters are `0`"));
        assert!(message(&["--policies", "exp3@3"]).contains("--spec-draft-n-max"));
        assert!(message(&["--arms-from", "no/file"]).contains("no/file"));
    }
}
