//! `metasd pool matrix`.

use std::process::ExitCode;

use indicatif::ProgressBar;
use metasd::bandit::{PolicyParams, PolicySpec};
use metasd::pool::Pool;
use metasd::session::{DrafterStatistics, GenerateParams, Session, SessionParams, StopReason};
use metasd::{Error, ErrorKind, Result, TokenId};
use serde::Serialize;

use super::args::PoolMatrixArgs;
use super::interrupt::{self, Busy};
use super::options::DEFAULT_PREDICT;
use super::output::Output;
use super::progress::Progress;
use super::selection::Selection;
use super::suite::{self, Category};
use super::table::markdown;
use super::{Environment, engine, prompt, say};

/// Generates greedily with every drafter alone, and prints by category of prompt how many tokens a
/// round of it is worth and how well it agrees with the target.
///
/// # Errors
/// For wrong arguments or prompts, an unusable target, or a target that fails on the way; an
/// unusable drafter is a row of the tables.
pub fn run(args: &PoolMatrixArgs, environment: &Environment) -> Result<ExitCode> {
    engine::check_n_max(args.spec_draft_n_max, args.models.batch_size)?;
    let selection = Selection::new(&args.models, environment)?;
    let categories = suite::read(&args.suite, selection.pool.as_deref())?;
    let predict = args.suite.predict.unwrap_or(DEFAULT_PREDICT);

    let _busy = Busy::new();
    let progress = Progress::new(false);
    let model = engine::load_target(&selection.target, &args.models, &progress)?;
    let (target, defaults) = engine::open_target(&model, &args.models, args.spec_draft_n_max, 1)?;
    let context = engine::load_context(&target, &args.models, defaults)?;
    let mut pool = Pool::default();
    let mut rows: Vec<Row> = progress.during("loading the drafters", || {
        let load = |(index, drafter)| {
            let loaded = selection
                .check_file(index)
                .and_then(|()| pool.load(drafter, &context));
            Row::new(drafter.name.clone(), loaded.err(), categories.len())
        };
        selection.drafters.iter().enumerate().map(load).collect()
    });
    note_failures(&mut rows, &pool);
    let params = SessionParams {
        policy: PolicySpec::Off,
        policy_params: PolicyParams::default(),
        n_max: args.spec_draft_n_max,
        ..selection.session.clone()
    };
    let mut session = Session::new(Box::new(target), model.clone(), pool, params)?;

    let total: usize = categories.iter().map(|category| category.texts.len()).sum();
    let bar = progress.steps("prompts", total as u64);
    for (column, category) in categories.iter().enumerate() {
        for text in &category.texts {
            let system_prompt = selection.system_prompt.as_deref();
            let tokens = prompt::tokens(&model, text, &args.suite.template, system_prompt)?;
            measure(&mut session, &tokens, predict, column, &mut rows)?;
            bar.inc(1);
        }
        tell(&bar, category, (column + 1, categories.len()));
    }
    bar.finish_and_clear();

    let names: Vec<&str> = categories.iter().map(|category| &*category.name).collect();
    let mut output = Output::default();
    output.line("Mean acceptance length, tokens a round:\n");
    output.line(&table(&names, &rows, Cell::mean_acceptance_length));
    output.line("\nMean block divergence (bd):\n");
    output.line(&table(&names, &rows, Cell::mean_bd));
    let mut faults = rows.iter().filter_map(Row::fault).peekable();
    let code = match faults.peek() {
        None => ExitCode::SUCCESS,
        Some(_) => ExitCode::FAILURE,
    };
    for fault in faults {
        output.line(&format!("\n{fault}"));
    }
    if args.json {
        let report = Report {
            target: model.path().display().to_string(),
            n_max: args.spec_draft_n_max,
            predict,
            categories: category_reports(&categories, &rows),
        };
        let line = serde_json::to_string(&report)
            .map_err(|error| Error::invalid(format!("the report is no JSON: {error}")))?;
        output.line(&line);
    }
    Ok(output.finish(code))
}

/// Every usable drafter alone on one prompt. The session forgets after each what was generated,
/// while the target's cache of the prompt serves all of them.
fn measure(
    session: &mut Session,
    prompt: &[TokenId],
    predict: usize,
    column: usize,
    rows: &mut [Row],
) -> Result<()> {
    let params = GenerateParams {
        max_tokens: Some(predict),
        ..GenerateParams::default()
    };
    for index in 0..rows.len() {
        if rows[index].failure.is_none() {
            let policy = PolicySpec::Fixed(rows[index].name.clone());
            session.set_policy(policy, PolicyParams::default())?;
            let generation = session.generate(prompt, &params, interrupt::flag(), &mut |_| {})?;
            if let Some(error) = generation.error {
                return Err(error);
            }
            if generation.stop_reason == StopReason::Cancelled {
                return Err(Error::new(ErrorKind::Cancelled, "stopped"));
            }
            let row = &mut rows[index];
            let of_row = |drafter: &&DrafterStatistics| drafter.name == row.name;
            if let Some(drafter) = generation.drafters.iter().find(of_row) {
                row.cells[column].add(drafter);
            }
            // A drafter may also fail while another one drafts.
            note_failures(rows, session.pool());
        }
    }
    Ok(())
}

/// Takes over from the pool which drafters have left it.
fn note_failures(rows: &mut [Row], pool: &Pool) {
    for member in pool.members() {
        if let Some(failure) = member.failure()
            && let Some(row) = rows.iter_mut().find(|row| row.name == member.name())
            && row.failure.is_none()
        {
            row.failure = Some(format!("drafter `{}`: {failure}", row.name));
        }
    }
}

/// A line of progress that stays, for those who do not see the bar.
fn tell(bar: &ProgressBar, category: &Category, (place, of): (usize, usize)) {
    bar.suspend(|| say(format_args!("{} done, {place} of {of}", category.name)));
}

/// What one drafter did on the prompts of one category. Rounds in which the token budget left
/// nothing to draft are in none of the counts.
#[derive(Clone, Debug, Default)]
struct Cell {
    rounds: usize,
    drafted: usize,
    accepted: usize,
    bd: f64,
}

impl Cell {
    fn add(&mut self, drafter: &DrafterStatistics) {
        self.rounds += drafter.rounds;
        self.drafted += drafter.drafted;
        self.accepted += drafter.accepted;
        self.bd += drafter.mean_bd.unwrap_or(0.0) * drafter.rounds as f64;
    }

    /// The accepted tokens and the target's own one; `None` without a round.
    fn mean_acceptance_length(&self) -> Option<f64> {
        self.per_round((self.accepted + self.rounds) as f64)
    }

    fn mean_bd(&self) -> Option<f64> {
        self.per_round(self.bd)
    }

    fn per_round(&self, sum: f64) -> Option<f64> {
        (self.rounds > 0).then(|| sum / self.rounds as f64)
    }
}

/// A drafter with a cell for every category.
#[derive(Debug)]
struct Row {
    name: String,
    cells: Vec<Cell>,
    failure: Option<String>,
}

impl Row {
    fn new(name: String, failure: Option<Error>, categories: usize) -> Self {
        Self {
            cells: vec![Cell::default(); categories],
            failure: failure.map(|error| match error.to_string() {
                told if told.contains(&format!("drafter `{name}`")) => told,
                told => format!("drafter `{name}`: {told}"),
            }),
            name,
        }
    }

    fn fault(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}

/// A Markdown table of `value`: a row for every drafter, a column for every category and one for
/// the mean over categories.
fn table(categories: &[&str], rows: &[Row], value: fn(&Cell) -> Option<f64>) -> String {
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
    let head = ["drafter"].iter().chain(categories).chain(&["mean"]);
    let mut lines: Vec<Vec<String>> = vec![head.map(|name| name.replace('|', "\\|")).collect()];
    for row in rows {
        let values: Vec<Option<f64>> = row.cells.iter().map(value).collect();
        let mut line = vec![row.name.clone()];
        if row.failure.is_some() {
            line.resize(values.len() + 2, "unusable".to_owned());
        } else {
            line.extend(values.iter().copied().map(number));
            line.push(number(mean(&values)));
        }
        lines.push(line);
    }
    markdown(lines)
}

/// The mean of those that there are.
fn mean(values: &[Option<f64>]) -> Option<f64> {
    let there: Vec<f64> = values.iter().flatten().copied().collect();
    (!there.is_empty()).then(|| there.iter().sum::<f64>() / there.len() as f64)
}

fn category_reports<'a>(categories: &'a [Category], rows: &'a [Row]) -> Vec<CategoryReport<'a>> {
    let report = |(column, category): (usize, &'a Category)| CategoryReport {
        name: &category.name,
        prompts: category.texts.len(),
        drafters: rows
            .iter()
            .map(|row| DrafterReport::new(row, &row.cells[column]))
            .collect(),
    };
    categories.iter().enumerate().map(report).collect()
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    target: String,
    n_max: usize,
    predict: usize,
    categories: Vec<CategoryReport<'a>>,
}

#[derive(Debug, Serialize)]
struct CategoryReport<'a> {
    name: &'a str,
    prompts: usize,
    drafters: Vec<DrafterReport<'a>>,
}

#[derive(Debug, Serialize)]
struct DrafterReport<'a> {
    name: &'a str,
    rounds: usize,
    drafted: usize,
    accepted: usize,
    /// `null` without a round, as is the next.
    mean_acceptance_length: Option<f64>,
    mean_bd: Option<f64>,
    /// Why it is unusable; its counts end where it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a str>,
}

impl<'a> DrafterReport<'a> {
    fn new(row: &'a Row, cell: &Cell) -> Self {
        Self {
            name: &row.name,
            rounds: cell.rounds,
            drafted: cell.drafted,
            accepted: cell.accepted,
            mean_acceptance_length: cell.mean_acceptance_length(),
            mean_bd: cell.mean_bd(),
            failure: row.fault(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics(rounds: usize, accepted: usize, mean_bd: Option<f64>) -> DrafterStatistics {
        DrafterStatistics {
            name: "a".to_owned(),
            kind: "model",
            rounds,
            drafted: 5 * rounds,
            accepted,
            mean_bd,
            ..DrafterStatistics::default()
        }
    }

    fn cell(rounds: usize, accepted: usize, mean_bd: f64) -> Cell {
        let mut cell = Cell::default();
        cell.add(&statistics(rounds, accepted, Some(mean_bd)));
        cell
    }

    #[test]
    fn every_round_counts_the_same_whichever_prompt_it_belongs_to() {
        let mut cell = cell(1, 5, 1.0);
        cell.add(&statistics(3, 1, Some(0.2)));
        cell.add(&statistics(0, 0, None));
        assert_eq!(cell.mean_acceptance_length(), Some(2.5));
        assert!((cell.mean_bd().expect("rounds") - 0.4).abs() < 1e-12);
        assert_eq!(cell.drafted, 20);
    }

    #[test]
    fn without_a_round_there_is_no_mean() {
        assert_eq!(Cell::default().mean_acceptance_length(), None);
        assert_eq!(Cell::default().mean_bd(), None);
        assert_eq!(mean(&[None, None]), None);
        assert_eq!(mean(&[None, Some(2.0), Some(4.0)]), Some(3.0));
    }

    #[test]
    fn a_table_has_a_row_for_every_drafter_and_says_which_is_unusable() {
        let mut rows = vec![Row::new("q4".to_owned(), None, 2)];
        rows[0].cells = vec![cell(2, 2, 0.5), Cell::default()];
        rows.push(Row::new("gone".to_owned(), Some(Error::invalid("x")), 2));
        assert_eq!(
            table(&["qa", "a|b"], &rows, Cell::mean_acceptance_length),
            "| drafter |       qa |     a\\|b |     mean |\n\
             | ------- | -------: | -------: | -------: |\n\
             | q4      |    2.000 |        - |    2.000 |\n\
             | gone    | unusable | unusable | unusable |"
        );
        assert_eq!(rows[1].fault(), Some("drafter `gone`: x"));
    }
}
