//! The acceptance matrix of a recording.

use metasd::Result;
use metasd::record::Record;
use metasd::sim::ArmTotals;
use serde::Serialize;

use super::Domain;
use crate::cli::table::markdown;

/// Every drafter alone in every domain.
#[derive(Debug, Serialize)]
pub struct Matrix {
    pub target: String,
    pub n_max: usize,
    pub predict: usize,
    pub categories: Vec<CategoryReport>,
}

#[derive(Debug, Serialize)]
pub struct CategoryReport {
    pub name: String,
    pub prompts: usize,
    pub drafters: Vec<DrafterReport>,
}

/// A drafter alone. Rounds in which nothing may be drafted are in none of the counts; what is
/// `null` has no round.
#[derive(Debug, Serialize)]
pub struct DrafterReport {
    pub name: String,
    pub rounds: u64,
    pub drafted: u64,
    pub accepted: u64,
    pub mean_acceptance_length: Option<f64>,
    pub mean_bd: Option<f64>,
    pub mean_be: Option<f64>,
    /// Over the rounds, as the next.
    pub variance_bd: Option<f64>,
    pub variance_be: Option<f64>,
}

impl DrafterReport {
    pub fn new(name: &str, totals: &ArmTotals) -> Self {
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
    pub fn new(record: &Record, domains: &[Domain<'_>]) -> Result<Self> {
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

    pub fn lines(&self) -> Vec<String> {
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
