//! What a comparison of policies on a recording reports.

use metasd::bandit::Reward;
use metasd::sim::{SETTLED_ROUNDS, SETTLED_SHARE};
use serde::Serialize;

use crate::cli::simulate::CONVERGENCE_TOKENS;
use crate::cli::table::markdown;

/// Each policy's ratio averaged over the domains.
pub fn average(domains: &[DomainReport]) -> Vec<AverageReport> {
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
pub struct Report {
    pub runs: u64,
    pub seed: u64,
    pub domains: Vec<DomainReport>,
    /// Means over the domains.
    pub average: Vec<AverageReport>,
}

#[derive(Debug, Serialize)]
pub struct DomainReport {
    pub name: String,
    pub prompts: usize,
    pub tokens: usize,
    /// The drafter that alone takes the fewest rounds, in hindsight.
    pub best_fixed: String,
    /// Rounds over all prompts, here and below.
    pub rounds_best_fixed: u64,
    pub rounds_oracle: u64,
    /// Rounds over those of the best drafter alone, here and below.
    pub ratio_oracle: f64,
    pub fixed: Vec<FixedReport>,
    pub policies: Vec<PolicyReport>,
}

#[derive(Debug, Serialize)]
pub struct FixedReport {
    pub name: String,
    pub rounds: u64,
    pub ratio: f64,
}

#[derive(Debug, Serialize)]
pub struct PolicyReport {
    pub name: String,
    pub reward: Reward,
    /// Mean over the runs.
    pub rounds: f64,
    /// Its standard error; `null` for a single run.
    pub rounds_error: Option<f64>,
    pub ratio: f64,
    /// The share of its rounds that went to the best drafter.
    pub best_share: f64,
    /// The round by which it has taken the best drafter in nine of ten rounds of a long query of the
    /// domain's texts; `null` if it never has, or where texts change midway.
    pub rounds_to_best_arm: Option<usize>,
    /// Mean round by which a query had settled on it, over those that had; `null` if none had.
    pub settled_round: Option<f64>,
    /// The share of these queries.
    pub settled_share: f64,
}

#[derive(Debug, Serialize)]
pub struct AverageReport {
    pub name: String,
    pub reward: Reward,
    pub ratio: f64,
}

impl Report {
    pub fn lines(&self) -> Vec<String> {
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
        let mut lines = vec![
            format!(
                "Rounds over all prompts of a domain (and over those of the best drafter alone); \
                 policies: mean of {} runs, seed {}\n",
                self.runs, self.seed
            ),
            markdown(table),
        ];
        if let Some(table) = self.soonest() {
            lines.push(format!(
                "\nRounds until the best drafter has {:.0}% of the last {SETTLED_ROUNDS} over all \
                 runs, in a query of {CONVERGENCE_TOKENS} tokens made of the domain's texts in \
                 changing orders; - for never\n",
                100.0 * SETTLED_SHARE
            ));
            lines.push(markdown(table));
        }
        lines
    }

    /// How soon each policy has taken the best drafter of each domain; nothing where none has of
    /// any.
    fn soonest(&self) -> Option<Vec<Vec<String>>> {
        let policies = || self.domains.iter().flat_map(|domain| &domain.policies);
        policies().find(|policy| policy.rounds_to_best_arm.is_some())?;
        let head = self
            .domains
            .iter()
            .map(|domain| domain.name.replace('|', "\\|"));
        let mut table = vec![[String::new()].into_iter().chain(head).collect()];
        for (index, policy) in self.average.iter().enumerate() {
            let rounds = self.domains.iter().map(|domain| {
                let rounds = domain.policies[index].rounds_to_best_arm;
                rounds.map_or("-".to_owned(), |rounds| rounds.to_string())
            });
            let name = format!("{} {}", policy.name, policy.reward);
            table.push([name].into_iter().chain(rounds).collect());
        }
        Some(table)
    }
}
