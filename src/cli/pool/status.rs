//! `metasd pool status`: where every drafter is, what it takes, and what moving it costs.

use std::process::ExitCode;

use metasd::drafter::Draft;
use metasd::llama::{Outputs, SamplerChain, SamplingParams};
use metasd::pool::{ByteSize, Member, Place, Pool, ResidencyReport, ResidencyStatistics};
use metasd::target::{LlamaTarget, Target};
use metasd::{ArmId, Error, Result};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::cli::args::PoolStatusArgs;
use crate::cli::interrupt::{self, Busy};
use crate::cli::output::Output;
use crate::cli::progress::Progress;
use crate::cli::selection::Selection;
use crate::cli::{Environment, engine};

/// What a drafter catches up with, so that it is known what that costs.
const TEXT: &str = "The pool holds several drafters, of which one speculates in each round. Those \
    that are not on the device are loaded when they are chosen, and read what was said meanwhile \
    before they draft.";

/// Opens the pool within its limits, brings every drafter in once, and prints what that came to.
///
/// # Errors
/// When the pool file or a limit is wrong or the target unusable; an unusable drafter is a row.
pub fn run(args: &PoolStatusArgs, environment: &Environment) -> Result<ExitCode> {
    let selection = Selection::new(&args.models, environment)?;
    let limits = args.residency.over(&selection.residency, &args.models)?;
    for index in 0..selection.drafters.len() {
        selection.check_file(index)?;
    }
    let _busy = Busy::new();
    let progress = Progress::new(args.json);
    let model = engine::load_target(&selection.target, &args.models, &progress)?;
    let (mut target, defaults) = engine::open_target(&model, &args.models, 1, 1)?;
    let context = engine::load_context(&target, &args.models, defaults)?;
    let mut pool = progress.during("loading the drafters", || {
        Pool::open_within(&selection.drafters, &context, limits)
    })?;
    progress.during("measuring the drafters", || measure(&mut pool, &mut target))?;

    let mut output = Output::default();
    if args.json {
        let line = serde_json::to_string(&Status::of(&pool))
            .map_err(|error| Error::invalid(format!("the status is no JSON: {error}")))?;
        output.line(&line);
    } else {
        output.line(&table(&pool));
    }
    Ok(output.finish(ExitCode::SUCCESS))
}

/// Has every drafter be ready once and read a text.
fn measure(pool: &mut Pool, target: &mut LlamaTarget) -> Result<()> {
    let text = target.model().tokenize(TEXT, true, false);
    // A head reads what went into the target's layers there.
    for chunk in text[..text.len().saturating_sub(1)].chunks(target.batch_size()) {
        target.decode(chunk, Outputs::None)?;
    }
    let mut chain = SamplerChain::new(&SamplingParams::default(), target.vocab_size())?;
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut draft = Draft::new(target.vocab_size());
    for arm in (0..pool.members().len()).map(ArmId) {
        match pool.bring(arm, interrupt::flag()) {
            Ok(()) => pool.touch(arm),
            // Its row says so.
            Err(_) if pool.members()[arm.0].failure().is_some() => continue,
            Err(error) => return Err(error),
        }
        let Some(drafter) = pool.drafter(arm) else {
            continue;
        };
        let behind = drafter.behind(text.len());
        draft.clear();
        let read = drafter
            .draft(&text, 1, &mut chain, &mut rng, &mut draft)
            .and_then(|times| drafter.rollback(0).map(|()| times));
        match read {
            Ok(times) => pool.caught_up(arm, behind, times.catchup),
            Err(error) => pool.retire(arm, &error),
        }
    }
    Ok(())
}

/// The JSON object of `pool status --json`.
#[derive(Debug, Serialize)]
struct Status<'a> {
    residency: Option<ResidencyReport>,
    drafters: Vec<DrafterStatus<'a>>,
}

/// A drafter in it; memory in bytes.
#[derive(Debug, Serialize)]
struct DrafterStatus<'a> {
    name: &'a str,
    kind: &'static str,
    place: Place,
    pinned: bool,
    weights: u64,
    kv_cache: u64,
    compute: u64,
    catchup_ms_per_token: Option<f64>,
    #[serde(flatten)]
    statistics: ResidencyStatistics,
    failure: Option<&'a str>,
}

impl<'a> Status<'a> {
    fn of(pool: &'a Pool) -> Self {
        Self {
            residency: pool.residency(),
            drafters: pool.members().iter().map(DrafterStatus::of).collect(),
        }
    }
}

impl<'a> DrafterStatus<'a> {
    fn of(member: &'a Member) -> Self {
        let memory = member.memory();
        Self {
            name: member.name(),
            kind: member.kind().name(),
            place: member.place(),
            pinned: member.is_pinned(),
            weights: memory.model,
            kv_cache: memory.context,
            compute: memory.compute,
            catchup_ms_per_token: catch_up_ms(member),
            statistics: member.statistics(),
            failure: member.failure(),
        }
    }
}

fn catch_up_ms(member: &Member) -> Option<f64> {
    let time = member.catch_up_time(1)?;
    Some(time.as_secs_f64() * 1e3)
}

fn table(pool: &Pool) -> String {
    const HEAD: [&str; 11] = [
        "name",
        "place",
        "pinned",
        "weights",
        "kv",
        "compute",
        "loads",
        "evictions",
        "moved",
        "load ms",
        "ms/token",
    ];
    let size = |bytes: u64| match bytes {
        0 => "-".to_owned(),
        bytes => ByteSize(bytes).to_string(),
    };
    let row = |member: &Member| {
        let (memory, moves) = (member.memory(), member.statistics());
        let number = |number: Option<f64>, digits: usize| {
            number.map_or("-".to_owned(), |number| format!("{number:.digits$}"))
        };
        [
            member.name().to_owned(),
            member.place().name().to_owned(),
            if member.is_pinned() { "yes" } else { "-" }.to_owned(),
            size(memory.model),
            size(memory.context),
            size(memory.compute),
            moves.loads.to_string(),
            moves.evictions.to_string(),
            size(moves.bytes_moved),
            number(member.load_time().map(|time| time.as_secs_f64() * 1e3), 1),
            number(catch_up_ms(member), 3),
        ]
    };
    let rows: Vec<[String; 11]> = [HEAD.map(str::to_owned)]
        .into_iter()
        .chain(pool.members().iter().map(row))
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: [usize; 11] = std::array::from_fn(width);
    let line = |row: &[String; 11]| {
        let cells = row.iter().zip(widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| match column {
            0..=2 => format!("{cell:width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    for member in pool.members() {
        if let Some(failure) = member.failure() {
            lines.push(format!("drafter `{}`: {failure}", member.name()));
        }
    }
    if let Some(report) = pool.residency() {
        lines.push(budgets(&report));
    }
    lines.join("\n")
}

/// What is taken of the limits, in a line.
fn budgets(report: &ResidencyReport) -> String {
    let of = |name: &str, used: u64, peak: u64, limit: Option<u64>| {
        let limit = limit.map_or("no limit".to_owned(), |limit| {
            format!("limit {}", ByteSize(limit))
        });
        format!(
            "{name} {} (peak {}, {limit})",
            ByteSize(used),
            ByteSize(peak)
        )
    };
    format!(
        "{}; {}; {} ready{}; swap {}",
        of(
            "device",
            report.vram_used,
            report.vram_peak,
            report.vram_budget
        ),
        of("host", report.ram_used, report.ram_peak, report.ram_budget),
        report.resident,
        report
            .max_resident
            .map_or(String::new(), |most| format!(" of {most} at most")),
        report.swap
    )
}
