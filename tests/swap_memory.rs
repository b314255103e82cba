//! What a thousand swaps leave behind, and what a budget means for the process: nothing, and what it
//! says. One test, so that nothing else allocates meanwhile.
#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "shared with tests that need more of it")]
#[path = "support/models.rs"]
mod models;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use metasd::ArmId;
use metasd::pool::{
    ByteSize, DrafterSource, DrafterSpec, LoadContext, Pool, PoolDefaults, ResidencyParams,
    SwapMode,
};

const SWAPS: usize = 1000;
const SETTLED: usize = 50;

/// What the process has of the system.
#[derive(Debug)]
struct Holdings {
    rss: u64,
    threads: usize,
    files: usize,
    mappings: Vec<String>,
}

impl Holdings {
    fn now() -> Self {
        let read =
            |name: &str| std::fs::read_to_string(format!("/proc/self/{name}")).expect("proc");
        let count = |name: &str| {
            let entries = std::fs::read_dir(format!("/proc/self/{name}")).expect("proc");
            entries.count()
        };
        let rss = read("status");
        let rss = rss.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = rss.and_then(|rss| rss.split_whitespace().next()?.parse::<u64>().ok());
        Self {
            rss: kib.expect("a number") * 1024,
            threads: count("task"),
            files: count("fd"),
            mappings: read("maps")
                .lines()
                .filter(|line| line.ends_with(".gguf"))
                .map(str::to_owned)
                .collect(),
        }
    }
}

fn drafters() -> Vec<DrafterSpec> {
    let names = [
        "code",
        "math",
        "qa",
        "summarization",
        "translation",
        "general",
    ];
    names
        .map(|name| DrafterSpec {
            name: name.into(),
            source: DrafterSource::Model {
                path: Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join(format!("ggml-models/drafters/{name}.gguf")),
                n_ctx: None,
                threads: None,
                gpu_layers: None,
            },
        })
        .to_vec()
}

#[test]
fn a_thousand_swaps_leave_nothing_behind_and_the_budget_holds_for_the_process() {
    let target = models::smollm2("Q4_0");
    let defaults = PoolDefaults {
        n_ctx: 2048,
        n_batch: 512,
        threads: 1,
    };
    let context = LoadContext::new(&target, defaults);
    let planned = |limits: ResidencyParams| {
        Pool::open_within(&drafters(), &context, limits).expect("drafters that fit")
    };
    let one = planned(ResidencyParams {
        max_resident: Some(1),
        ..ResidencyParams::default()
    });
    let budget = 2 * one
        .members()
        .iter()
        .map(|m| m.memory().total())
        .max()
        .unwrap_or(0);
    drop(one);
    let before = Holdings::now();

    let mut pool = planned(ResidencyParams {
        vram_budget: Some(ByteSize(budget)),
        swap: SwapMode::Sync,
        ..ResidencyParams::default()
    });
    let never = AtomicBool::new(false);
    let (mut swaps, mut settled, mut most) = (0, None, 0);
    let mut arm = 0;
    while swaps < SWAPS {
        arm = (arm + 1) % drafters().len();
        if pool.is_ready(ArmId(arm)) {
            continue;
        }
        pool.bring(ArmId(arm), &never)
            .expect("a drafter that loads");
        pool.touch(ArmId(arm));
        swaps += 1;
        let now = Holdings::now();
        most = most.max(now.rss);
        if swaps == SETTLED {
            settled = Some(now);
        }
    }
    let settled = settled.expect("more swaps than that");
    let after = Holdings::now();
    println!(
        "budget {budget}; RSS before {}, after {SETTLED} swaps {}, after {SWAPS} {}, at most {most}",
        before.rss, settled.rss, after.rss
    );
    let growth = after.rss as f64 / settled.rss as f64;
    assert!(
        growth < 1.02,
        "RSS {} after {SETTLED}, {} after {SWAPS}",
        settled.rss,
        after.rss
    );
    assert_eq!(after.threads, settled.threads);
    assert_eq!(after.files, settled.files);
    assert_eq!(
        after.mappings.len(),
        settled.mappings.len(),
        "{:#?}",
        after.mappings
    );
    let report = pool.residency().expect("limits");
    assert!(report.vram_peak <= budget, "{report:?}");
    let taken = most.saturating_sub(before.rss);
    assert!(
        taken as f64 <= 1.1 * budget as f64,
        "the process took {taken} more than before, the budget is {budget}"
    );

    drop(pool);
    let mut left = Holdings::now();
    // The kernel lists a thread for a moment after it was joined.
    let since = Instant::now();
    while left.threads > before.threads && since.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(10));
        left = Holdings::now();
    }
    assert_eq!(left.threads, before.threads);
    assert_eq!(left.files, before.files);
    assert_eq!(
        left.mappings.len(),
        before.mappings.len(),
        "{:#?}",
        left.mappings
    );
}
