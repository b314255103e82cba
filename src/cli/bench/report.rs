//! From the runs to the files of the report.

use std::path::Path;

use metasd::bandit::PolicyParams;
use metasd::bench::{Plan, RunRecord, Summary};
use metasd::{Error, Result};
use serde_json::{Value, json};

use super::document::{Document, Table, csv_line};
use super::figures::Material;
use super::{json_value, no_json, tables};
use crate::cli::plot;

/// The file that takes the runs.
pub const RUNS: &str = "runs.jsonl";

/// The report for people.
pub const MARKDOWN: &str = "report.md";

/// All that is written when the runs are done.
#[derive(Debug)]
pub struct Report {
    document: Document,
    summary: Summary,
    json: String,
    rounds: String,
}

impl Report {
    /// What `records`, the runs of `plan` under `settings`, say.
    ///
    /// # Errors
    /// When a figure cannot be drawn, or when Ctrl-C stops it.
    pub fn new(
        settings: &Value,
        plan: &Plan,
        params: &[PolicyParams],
        drafters: &[String],
        n_max: usize,
        records: &[RunRecord],
    ) -> Result<Self> {
        let summary = Summary::new(&plan.variants, &plan.temperatures, drafters, records);
        let first = plan.temperatures.first().copied().unwrap_or_default();
        let material = Material {
            variants: &plan.variants,
            params,
            drafters,
            records: records
                .iter()
                .filter(|record| record.temperature == first)
                .collect(),
            n_max,
            seed: plan.seed,
        };
        Ok(Self {
            document: document(settings, &summary, &material, drafters)?,
            json: summary_json(settings, plan, records, &summary)?,
            rounds: rounds_csv(records, drafters),
            summary,
        })
    }

    /// Writes all files into `folder`.
    ///
    /// # Errors
    /// When one cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(|error| Error::io("cannot write", &path, error))
        };
        for figure in self.document.figures() {
            plot::write(&folder.join(format!("{}.svg", figure.name)), &figure.svg)?;
            write(&format!("{}.csv", figure.name), &figure.csv)?;
        }
        write("rounds.csv", &self.rounds)?;
        write("summary.json", &format!("{}\n", self.json))?;
        write("report.html", &self.document.html())?;
        write(MARKDOWN, &self.document.markdown())
    }

    /// What is printed: the speed-ups.
    pub fn headline(&self) -> String {
        tables::speedups(&self.summary).markdown()
    }

    /// The object of `summary.json`, in one line.
    pub fn summary_json(&self) -> &str {
        &self.json
    }
}

fn summary_json(
    settings: &Value,
    plan: &Plan,
    records: &[RunRecord],
    summary: &Summary,
) -> Result<String> {
    let mut object = json_value(summary)?;
    object["seed"] = json!(plan.seed);
    object["runs"] = json!(records.len());
    object["machine"] = settings["machine"].clone();
    object["build"] = settings["build"].clone();
    object["settings"] = settings.clone();
    serde_json::to_string(&object).map_err(no_json)
}

fn rounds_csv(records: &[RunRecord], drafters: &[String]) -> String {
    let mut text = csv_line(&[
        "domain",
        "prompt",
        "repetition",
        "temperature",
        "method",
        "reward",
        "round",
        "drafter",
        "drafted",
        "accepted",
        "committed",
        "bd",
        "be",
    ]);
    let value = |value: Option<f32>| value.map_or(String::new(), |value| value.to_string());
    for record in records {
        for (index, round) in record.rounds.iter().enumerate() {
            let drafter = round.drafter.map(|drafter| {
                // An ensemble goes by its policy.
                drafters.get(drafter).unwrap_or(&record.method)
            });
            text.push_str(&csv_line(&[
                record.domain.clone(),
                (record.prompt + 1).to_string(),
                (record.repetition + 1).to_string(),
                record.temperature.to_string(),
                record.method.clone(),
                record.reward.map_or(String::new(), |r| r.to_string()),
                (index + 1).to_string(),
                drafter.cloned().unwrap_or_default(),
                round.drafted.to_string(),
                round.accepted.to_string(),
                round.committed.to_string(),
                value(round.bd),
                value(round.be),
            ]));
        }
    }
    text
}

fn document(
    settings: &Value,
    summary: &Summary,
    material: &Material<'_>,
    drafters: &[String],
) -> Result<Document> {
    let mut document = Document::new("metasd bench");
    document.text(
        "A speed-up is the median, over pairs of runs on the same prompt in the same repetition, \
         of a method's tokens per second over those of plain decoding (`off`); in brackets the \
         quartiles of these ratios. The time for reading the prompt is in neither, that in which a \
         drafter reads the text before its first draft is the method's. `÷ best single` is the \
         speed-up over that of the fastest drafter alone in the same domain.",
    );
    document.heading("All domains");
    document.text(
        "Means of the domains' figures. For comparison, MetaSD's authors report their bandit at \
         0.88 of the best specialist's speed-up, averaged over their domains (arXiv 2604.05417).",
    );
    document.table(tables::means(summary));
    document.text("Speed-up by domain:");
    document.table(tables::speedups(summary));
    document.text(texts(summary));
    let names: Vec<&str> = summary.domains.iter().map(|d| &*d.name).collect();
    if let Some(figure) = material.convergence(&names)? {
        document.figure(figure);
    }
    for domain in &summary.domains {
        let prompts = match domain.prompts {
            1 => "1 prompt".to_owned(),
            prompts => format!("{prompts} prompts"),
        };
        document.heading(format!("{}: {prompts}", domain.name));
        document.text(
            "The last column counts greedy texts: the target's own token for token (=), parting \
             from it where two tokens are all but equally likely (≈), parting elsewhere (≠).",
        );
        document.table(tables::domain(domain));
        document.text("Share of each drafter in the rounds, in percent:");
        document.table(tables::shares(domain, drafters));
        document.text("Where the time of a generated token went, in milliseconds:");
        document.table(tables::parts(domain));
        let figures = [
            material.speedup(domain)?,
            material.share(&domain.name)?,
            material.timeline(&domain.name)?,
            material.regret(&domain.name)?,
        ];
        for figure in figures.into_iter().flatten() {
            document.figure(figure);
        }
    }
    document.heading("Settings");
    document.text(
        "The raw runs are in `runs.jsonl`, every round in `rounds.csv`, the tables in \
         `summary.json`.",
    );
    document.table(settings_table(settings));
    Ok(document)
}

/// What the greedy texts were, over all domains and methods.
fn texts(summary: &Summary) -> String {
    let rows = summary.domains.iter().flat_map(|domain| &domain.rows);
    let texts: Vec<_> = rows.filter_map(|row| row.texts).collect();
    if texts.is_empty() {
        return "No text was greedy, so none was compared with the target's own.".to_owned();
    }
    let sum = |count: fn(&metasd::bench::Texts) -> usize| texts.iter().map(count).sum::<usize>();
    format!(
        "Of {} greedy texts {} were the target's own token for token, {} part from it where two \
         tokens are all but equally likely and the rounding of a batch decides, {} part from it \
         elsewhere.",
        sum(|texts| texts.compared),
        sum(|texts| texts.identical),
        sum(|texts| texts.explained),
        sum(|texts| texts.unexplained)
    )
}

/// Every setting by its name, lists and objects spelt out.
fn settings_table(settings: &Value) -> Table {
    let mut rows = Vec::new();
    flatten("", settings, &mut rows);
    Table {
        head: ["setting", "value"].map(str::to_owned).to_vec(),
        rows,
    }
}

fn flatten(name: &str, value: &Value, rows: &mut Vec<Vec<String>>) {
    let below = |key: &str| match name {
        "" => key.to_owned(),
        name => format!("{name}.{key}"),
    };
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                flatten(&below(key), value, rows);
            }
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            for (index, value) in list.iter().enumerate() {
                let key = value["name"].as_str().or(value["domain"].as_str());
                flatten(&below(key.unwrap_or(&index.to_string())), value, rows);
            }
        }
        Value::Array(list) => {
            let texts: Vec<String> = list.iter().map(plain).collect();
            rows.push(vec![name.to_owned(), texts.join(", ")]);
        }
        value => rows.push(vec![name.to_owned(), plain(value)]),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        value => value.to_string(),
    }
}
