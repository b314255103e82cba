//! What a simulation reports: tables for people, an object for programs, curves.

use metasd::ArmId;
use metasd::bandit::Reward;
use metasd::bench::Method;
use metasd::sim::{Arm, Convergence, Estimate, Fit, Moments, SETTLED_SHARE, SimRun};
use serde_json::{Value, json};

use super::Problem;
use crate::cli::plot::{Curve, Labels};

/// All results.
#[derive(Debug)]
pub struct Report {
    /// Problem by problem.
    pub problems: Vec<Solved>,
    /// Tokens drafted in a round.
    pub n_max: usize,
    /// Queries for each policy, reward and budget.
    pub runs: u64,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// The results of a problem.
#[derive(Debug)]
pub struct Solved {
    title: String,
    arms: Vec<Arm>,
    best: ArmId,
    /// The rounds of the best arm alone for each budget.
    rounds: Vec<(u64, Estimate)>,
    noise: Vec<Noise>,
    rows: Vec<Row>,
}

/// How noisy a reward is on the arms.
#[derive(Debug)]
struct Noise {
    reward: Reward,
    arms: Vec<Moments>,
}

/// A policy with a reward.
#[derive(Debug)]
pub struct Row {
    /// The policy.
    pub method: Method,
    /// The reward; of a policy that does not look at it the first that was asked for.
    pub reward: Reward,
    points: Vec<(u64, Estimate)>,
    /// In which share of the runs each round went to the best arm.
    share: Vec<f64>,
    rounds_to_best: Option<usize>,
}

impl Row {
    /// A row without results.
    pub fn new(method: &Method, reward: Reward) -> Self {
        Self {
            method: method.clone(),
            reward,
            points: Vec::new(),
            share: Vec::new(),
            rounds_to_best: None,
        }
    }

    /// Adds the regret for a budget.
    pub fn add(&mut self, tokens: u64, regret: Estimate) {
        self.points.push((tokens, regret));
    }

    /// Adds how soon the best arm was taken.
    pub fn converge(&mut self, found: &Convergence) {
        self.share = found.share().to_vec();
        self.rounds_to_best = found.rounds();
    }

    fn name(&self) -> String {
        format!("{} {}", self.method, self.reward)
    }

    /// `(tokens, mean regret)`.
    fn curve(&self) -> Vec<(f64, f64)> {
        let points = self.points.iter();
        points
            .map(|(tokens, regret)| (*tokens as f64, regret.mean))
            .collect()
    }

    /// What the largest budget's regret has over the smallest's; `None` with a single budget. A fit
    /// tells nothing where this is within its error.
    fn growth(&self) -> Option<Estimate> {
        let [(_, first), .., (_, last)] = &*self.points else {
            return None;
        };
        Some(Estimate {
            mean: last.mean - first.mean,
            error: first.error.hypot(last.error),
        })
    }

    /// The row's cells, its names first and what was found of all budgets last.
    fn cells(&self) -> Vec<String> {
        let names = [self.method.to_string(), self.reward.to_string()];
        let regrets = self.points.iter().map(|(_, regret)| estimate(regret));
        let number = |fit: Option<Fit>, digits: usize, value: fn(&Fit) -> f64| {
            fit.map_or("-".to_owned(), |fit| format!("{:.digits$}", value(&fit)))
        };
        let curve = self.curve();
        let (fit, line) = (Fit::logarithm(&curve), Fit::line(&curve));
        let tail = [
            number(fit, 1, |fit| fit.intercept),
            number(fit, 2, |fit| fit.slope),
            number(fit, 3, |fit| fit.r2),
            number(line, 3, |fit| fit.r2),
            self.growth()
                .map_or("-".to_owned(), |growth| estimate(&growth)),
            self.rounds_to_best
                .map_or("-".to_owned(), |rounds| rounds.to_string()),
        ];
        names.into_iter().chain(regrets).chain(tail).collect()
    }

    fn json(&self) -> Value {
        let regret = |(tokens, regret): &(u64, Estimate)| json!({"tokens": tokens, "mean": regret.mean, "stderr": finite(regret.error)});
        let curve = self.curve();
        let fit = Fit::logarithm(&curve)
            .map(|fit| json!({"a": fit.intercept, "b": fit.slope, "r2": fit.r2}));
        json!({
            "name": self.method.to_string(),
            "reward": self.reward,
            "regret": self.points.iter().map(regret).collect::<Vec<_>>(),
            "fit": fit,
            "growth": self.growth().map(|growth| json!({"mean": growth.mean, "stderr": finite(growth.error)})),
            "line_r2": Fit::line(&curve).map(|fit| fit.r2),
            "rounds_to_best_arm": self.rounds_to_best,
        })
    }
}

impl Solved {
    /// The results of `problem`, whose arm `best` alone took `rounds`.
    pub fn new<'a>(
        problem: &Problem,
        best: ArmId,
        rounds: impl Iterator<Item = (u64, &'a [SimRun])>,
        rewards: &[Reward],
        n_max: usize,
        rows: Vec<Row>,
    ) -> Self {
        let arms: Vec<String> = problem.arms.iter().map(Arm::to_string).collect();
        let arms = arms.join(", ");
        let is_steady = problem.arms.iter().all(Arm::is_steady);
        let noise = rewards.iter().filter(|_| is_steady).map(|&reward| Noise {
            reward,
            arms: problem
                .arms
                .iter()
                .map(|arm| arm.moments(reward, 0.0, n_max))
                .collect(),
        });
        let mean = |runs: &[SimRun]| {
            let rounds: Vec<f64> = runs.iter().map(|run| run.rounds as f64).collect();
            Estimate::of(&rounds)
        };
        Self {
            title: match &*problem.name {
                "" => arms,
                name => format!("{name}: {arms}"),
            },
            arms: problem.arms.clone(),
            best,
            rounds: rounds.map(|(tokens, runs)| (tokens, mean(runs))).collect(),
            noise: noise.collect(),
            rows,
        }
    }

    /// What the axes of [`Self::regret_curves`] show.
    pub fn regret_labels(&self) -> Labels<'_> {
        Labels {
            title: "Regret against the best drafter alone",
            x: "tokens",
            y: "rounds",
        }
    }

    /// Regret over tokens; the first reward drawn thicker.
    pub fn regret_curves(&self) -> Vec<Curve> {
        self.curves(|row| row.curve())
    }

    /// What the axes of [`Self::convergence_curves`] show.
    pub fn convergence_labels(&self) -> Labels<'_> {
        Labels {
            title: "Share of the best drafter so far",
            x: "round",
            y: "share of the rounds so far, mean of the queries",
        }
    }

    /// The best arm's share of the rounds so far, over rounds.
    pub fn convergence_curves(&self) -> Vec<Curve> {
        self.curves(|row| {
            let mut sum = 0.0;
            let shares = row.share.iter().enumerate();
            shares
                .map(|(index, share)| {
                    sum += share;
                    let round = (index + 1) as f64;
                    (round, sum / round)
                })
                .collect()
        })
    }

    fn curves(&self, points: impl Fn(&Row) -> Vec<(f64, f64)>) -> Vec<Curve> {
        let first = self.rows.first().map(|row| row.reward);
        let curve = |row: &Row| Curve {
            name: row.name(),
            points: points(row),
            thin: Some(row.reward) != first,
        };
        self.rows.iter().map(curve).collect()
    }

    fn lines(&self) -> Vec<String> {
        let head = ["policy", "reward"].map(str::to_owned).into_iter();
        let tokens = self.rounds.iter().map(|(tokens, _)| tokens.to_string());
        let tail = ["a", "b", "R²", "line R²", "growth", "to best"].map(str::to_owned);
        let rounds = self.rounds.iter().map(|(_, rounds)| estimate(rounds));
        let alone = ["rounds of the best", ""].map(str::to_owned).into_iter();
        let nothing = std::iter::repeat_n(String::new(), tail.len());
        let mut table: Vec<Vec<String>> = vec![
            head.chain(tokens).chain(tail).collect(),
            alone.chain(rounds).chain(nothing).collect(),
        ];
        table.extend(self.rows.iter().map(Row::cells));
        let mut lines = vec![format!("arms {}; the best is {}", self.title, self.best)];
        lines.extend(aligned(&table));
        if !self.noise.is_empty() {
            lines.push(String::new());
            lines.push("noise of the rewards, arm by arm".to_owned());
            lines.extend(aligned(&self.noise_table()));
        }
        lines
    }

    fn noise_table(&self) -> Vec<Vec<String>> {
        let arms = self.arms.iter().map(Arm::to_string);
        let head = ["reward", ""].map(str::to_owned).into_iter();
        let mut table: Vec<Vec<String>> = vec![head.chain(arms).collect()];
        for noise in &self.noise {
            let mut line = |what: &str, digits: usize, value: &dyn Fn(&Moments) -> f64| {
                let number = |value: f64| match value.is_finite() {
                    true => format!("{value:.digits$}"),
                    false => "-".to_owned(),
                };
                let values = noise.arms.iter().map(value).map(number);
                let names = [noise.reward.to_string(), what.to_owned()].into_iter();
                table.push(names.chain(values).collect());
            };
            line("mean", 3, &|arm| arm.mean);
            line("variance", 4, &|arm| arm.variance);
            line("difficulty", 2, &|arm| {
                arm.difficulty(&noise.arms[self.best.0])
            });
        }
        table
    }

    fn json(&self) -> Value {
        let alpha = |arm: &Arm| match arm.is_steady() {
            true => json!(arm.agreement(0.0)),
            false => json!(arm.to_string()),
        };
        let rounds = |(tokens, rounds): &(u64, Estimate)| json!({"tokens": tokens, "mean": rounds.mean, "stderr": finite(rounds.error)});
        let noise = |noise: &Noise| {
            let best = &noise.arms[self.best.0];
            let arm = |arm: &Moments| {
                json!({
                    "mean": arm.mean,
                    "variance": arm.variance,
                    "difficulty": finite(arm.difficulty(best)),
                })
            };
            json!({
                "reward": noise.reward,
                "arms": noise.arms.iter().map(arm).collect::<Vec<_>>(),
            })
        };
        json!({
            "alphas": self.arms.iter().map(alpha).collect::<Vec<_>>(),
            "best_fixed": self.best.0,
            "rounds_best_fixed": self.rounds.iter().map(rounds).collect::<Vec<_>>(),
            "rewards": self.noise.iter().map(noise).collect::<Vec<_>>(),
            "policies": self.rows.iter().map(Row::json).collect::<Vec<_>>(),
        })
    }
}

impl Report {
    /// The tables, line by line.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "regret in rounds (mean ± standard error of {} runs, seed {}) with {} drafted, by \
             tokens; fit a + b·ln tokens with its R², and that of a straight line; growth from the \
             fewest tokens to the most; rounds until the best arm has {:.0}% of them",
            self.runs,
            self.seed,
            self.n_max,
            100.0 * SETTLED_SHARE
        )];
        for problem in &self.problems {
            if lines.len() > 1 {
                lines.push(String::new());
            }
            lines.extend(problem.lines());
        }
        lines
    }

    /// The object of `--json`.
    pub fn json(&self) -> Value {
        json!({
            "n_max": self.n_max,
            "runs": self.runs,
            "seed": self.seed,
            "problems": self.problems.iter().map(Solved::json).collect::<Vec<_>>(),
        })
    }
}

/// A number as JSON has it; `null` for what is none.
fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

/// `12.3±0.4`, without what a single run cannot tell.
fn estimate(estimate: &Estimate) -> String {
    if estimate.error.is_nan() {
        format!("{:.1}", estimate.mean)
    } else {
        format!("{:.1}±{:.1}", estimate.mean, estimate.error)
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
