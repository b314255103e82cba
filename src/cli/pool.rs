//! `metasd pool check`, and the status of a pool.

mod status;

pub use status::run as status;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use metasd::drafter::HeadFile;
use metasd::llama::{
    Context, ContextParams, HeadContext, HeadParams, KvCache, Model, ModelParams, Outputs,
};
use metasd::pool::{DrafterSource, DrafterSpec, check_vocabulary};
use metasd::{Result, TokenId};

use super::args::PoolCheckArgs;
use super::output::Output;
use super::progress::Progress;
use super::selection::Selection;
use super::{Environment, engine};

/// Decodes before those that count, and those that count.
const WARM_UP: usize = 4;
const MEASURED: usize = 16;

/// Checks every drafter of a pool, and measures what one token of each costs.
///
/// # Errors
/// When the pool file is wrong or the target unusable; an unusable drafter is a row of the table.
pub fn check(args: &PoolCheckArgs, environment: &Environment) -> Result<ExitCode> {
    let selection = Selection::new(&args.models, environment)?;
    let progress = Progress::new(false);
    let target = engine::load_target(&selection.target, &args.models, &progress)?;
    let n_ctx = engine::context_size(args.models.ctx_size, &target);
    let params = ContextParams {
        n_ctx,
        n_batch: args.models.batch_size,
        max_outputs: 1,
        sequences: 1,
        threads: args.models.threads.unwrap_or_else(engine::default_threads),
    };
    let cost = progress.during("measuring the target", || {
        cost_of(&mut Context::new(target.clone(), &params)?)
    })?;
    let bench = Bench {
        target: target.clone(),
        params,
    };
    let mut rows = vec![Row {
        name: "(target)".to_owned(),
        cost: format!("{:.2} ms", cost.as_secs_f64() * 1e3),
        ..Row::of(&target)
    }];
    let mut faults = Vec::new();
    for (index, drafter) in selection.drafters.iter().enumerate() {
        let row = progress.during("measuring a drafter", || {
            selection.check_file(index)?;
            bench
                .row(drafter, cost)
                .map_err(|error| error.context(format_args!("drafter `{}`", drafter.name)))
        });
        rows.push(row.unwrap_or_else(|error| {
            let verdict = match engine::is_of_another_target(&error) {
                true => "differs",
                false => "unusable",
            };
            faults.push(error);
            Row {
                name: drafter.name.clone(),
                kind: drafter.source.kind().name(),
                vocabulary: verdict.to_owned(),
                ..Row::default()
            }
        }));
    }

    let mut output = Output::default();
    output.line(&table(&rows));
    for fault in &faults {
        output.line(&fault.to_string());
    }
    Ok(output.finish(if faults.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }))
}

/// What drafters are measured against and with.
struct Bench {
    target: Arc<Model>,
    params: ContextParams,
}

impl Bench {
    fn row(&self, drafter: &DrafterSpec, target_cost: Duration) -> Result<Row> {
        let (path, n_ctx, threads, gpu_layers) = match &drafter.source {
            DrafterSource::Model {
                path,
                n_ctx,
                threads,
                gpu_layers,
            }
            | DrafterSource::Eagle3 {
                path,
                n_ctx,
                threads,
                gpu_layers,
            } => (path, *n_ctx, *threads, *gpu_layers),
            source => {
                return Ok(Row {
                    name: drafter.name.clone(),
                    kind: source.kind().name(),
                    vocabulary: "ok".to_owned(),
                    cost: "0".to_owned(),
                    ..Row::default()
                });
            }
        };
        let head = match &drafter.source {
            DrafterSource::Eagle3 { path, .. } => Some(HeadFile::read(path, &self.target)?),
            _ => None,
        };
        let model = Model::load(
            path,
            &ModelParams {
                gpu_layers,
                ..ModelParams::default()
            },
            None,
        )?;
        check_vocabulary(&*self.target, &*model)?;
        model.check_rollback()?;
        let params = ContextParams {
            n_ctx: n_ctx.unwrap_or(self.params.n_ctx),
            threads: threads.unwrap_or(self.params.threads),
            ..self.params.clone()
        };
        let cost = match head {
            None => cost_of(&mut Context::new(model.clone(), &params)?)?,
            Some(head) => {
                let params = HeadParams {
                    n_ctx: params.n_ctx,
                    threads: params.threads,
                    drafted: head.drafted().map(<[u32]>::to_vec),
                };
                let context = HeadContext::new(model.clone(), self.target.clone(), &params);
                cost_of(&mut context?)?
            }
        };
        Ok(Row {
            name: drafter.name.clone(),
            kind: drafter.source.kind().name(),
            cost: format!("{:.3}", cost.as_secs_f64() / target_cost.as_secs_f64()),
            ..Row::of(&model)
        })
    }
}

/// Something that decodes one token after another.
trait Steps: KvCache {
    fn size(&self) -> usize;
    fn step(&mut self) -> Result<()>;
}

impl Steps for Context {
    fn size(&self) -> usize {
        self.n_ctx()
    }

    fn step(&mut self) -> Result<()> {
        self.decode(&[TokenId(0)], Outputs::Last)
    }
}

/// A head's own state goes with each token, as when it drafts.
impl Steps for HeadContext {
    fn size(&self) -> usize {
        self.n_ctx()
    }

    fn step(&mut self) -> Result<()> {
        let state = match self.rows() {
            0 => vec![0.0; self.width()],
            _ => self.state(0)?.to_vec(),
        };
        self.decode_state(TokenId(0), &state)
    }
}

/// The time of one token, the median of several.
fn cost_of(context: &mut impl Steps) -> Result<Duration> {
    let mut times = Vec::with_capacity(MEASURED);
    for round in 0..WARM_UP + MEASURED {
        if context.len() == context.size() {
            context.truncate(0)?;
        }
        let started = Instant::now();
        context.step()?;
        if round >= WARM_UP {
            times.push(started.elapsed());
        }
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// A line of the table.
#[derive(Debug, Default)]
struct Row {
    name: String,
    kind: &'static str,
    size: String,
    layers: String,
    params: String,
    vocabulary: String,
    cost: String,
}

impl Row {
    fn of(model: &Model) -> Self {
        Self {
            kind: "model",
            size: format!("{:.1} MB", model.file_size() as f64 / 1e6),
            layers: model.n_layer().to_string(),
            params: format!("{:.1} M", model.n_params() as f64 / 1e6),
            vocabulary: "ok".to_owned(),
            ..Self::default()
        }
    }

    fn cells(&self) -> [&str; 7] {
        [
            &self.name,
            self.kind,
            &self.size,
            &self.layers,
            &self.params,
            &self.vocabulary,
            &self.cost,
        ]
    }
}

/// The rows under a head, in columns; empty cells are hyphens.
fn table(rows: &[Row]) -> String {
    let head = [
        "name",
        "kind",
        "file",
        "layers",
        "params",
        "vocabulary",
        "cost",
    ];
    let lines: Vec<[&str; 7]> = [head]
        .into_iter()
        .chain(rows.iter().map(Row::cells))
        .collect();
    let width = |column: usize| {
        lines
            .iter()
            .map(|cells| cells[column].len())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; 7] = std::array::from_fn(width);
    let line = |cells: &[&str; 7]| {
        let cells = cells
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                let cell = if cell.is_empty() { "-" } else { cell };
                // Names to the left, numbers to the right.
                if matches!(column, 0 | 1 | 5) {
                    format!("{cell:width$}")
                } else {
                    format!("{cell:>width$}")
                }
            });
        cells.collect::<Vec<_>>().join("  ")
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let row = Row {
            name: "a-long-name".to_owned(),
            kind: "ngram",
            vocabulary: "ok".to_owned(),
            cost: "0".to_owned(),
            ..Row::default()
        };
        assert_eq!(
            table(&[row]),
            "name         kind   file  layers  params  vocabulary  cost\n\
             a-long-name  ngram     -       -       -  ok             0"
        );
    }
}
