//! The arguments of `metasd simulate`.

use std::path::PathBuf;

use clap::Args;
use metasd::bandit::Reward;
use metasd::bench::Method;
use metasd::sim::{DEFAULT_SPREAD, Split};

use super::Problem;
use crate::cli::options::{TuningArgs, up_to};

/// Larger numbers would not come to an end, or not fit in memory.
const MOST_TOKENS: usize = 1 << 30;
const MOST_RUNS: usize = 100_000;
const MOST_DRAFTED: usize = 1000;

#[derive(Debug, Args)]
#[command(
    after_help = "Without --horizon, seq-halving explores as long as suits the rounds that each \
                  budget takes on average over the arms."
)]
pub struct SimulateArgs {
    /// Simulate drafters that are scripted with --arms
    #[arg(long, required_unless_present = "record", help_heading = "Simulation")]
    pub synthetic: bool,
    #[command(flatten)]
    pub replay: ReplayArgs,

    /// The drafters' agreements with the target, each the chance that a drafted token is accepted:
    /// 0.7, or 0.7/0.4 for one that changes in the middle (more parts likewise), or 0.7..0.4 for
    /// one that drifts; may be repeated for several problems [default: 0.4,0.55,0.7]
    #[arg(long, value_name = "ARMS", allow_negative_numbers = true)]
    #[arg(help_heading = "Simulation")]
    pub arms: Vec<Problem>,

    /// A problem for each category of a pool that was measured: the output of `pool matrix --json`;
    /// may be repeated
    #[arg(long, value_name = "FILE", help_heading = "Simulation")]
    pub arms_from: Vec<PathBuf>,

    /// How much agreement varies from position to position: 0 not at all, towards 1 all or none
    #[arg(long, value_name = "SPREAD", default_value_t = DEFAULT_SPREAD)]
    #[arg(allow_negative_numbers = true, help_heading = "Simulation")]
    pub spread: f64,

    /// Policies to play, with +FIELD=VALUE for a parameter of its own: metasd-ucb+beta=0.12;
    /// fixed:0 is the first arm alone [default: all that choose among arms, but for fixed:NAME and
    /// off]
    #[arg(
        long,
        value_name = "POLICIES",
        value_delimiter = ',',
        help_heading = "Simulation"
    )]
    pub policies: Vec<Method>,

    /// What they are rewarded for
    #[arg(long, value_name = "REWARDS", value_delimiter = ',')]
    #[arg(default_value = "bd,be", help_heading = "Simulation")]
    pub rewards: Vec<Reward>,

    /// Token budgets of a query
    #[arg(long, value_name = "TOKENS", value_delimiter = ',')]
    #[arg(value_parser = up_to::<MOST_TOKENS>)]
    #[arg(default_value = "128,256,512,1024,2048,4096,8192,16384,32768,65536,131072")]
    #[arg(allow_negative_numbers = true, help_heading = "Simulation")]
    pub tokens: Vec<usize>,

    /// Queries for each policy, reward and budget
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = up_to::<MOST_RUNS>)]
    #[arg(allow_negative_numbers = true, help_heading = "Simulation")]
    pub runs: usize,

    /// Tokens drafted in a round
    #[arg(long, value_name = "N", visible_alias = "draft-max", alias = "draft")]
    #[arg(default_value_t = 5, value_parser = up_to::<MOST_DRAFTED>)]
    #[arg(allow_negative_numbers = true, help_heading = "Simulation")]
    pub spec_draft_n_max: usize,

    /// Seed of all random numbers; -1 for a random one
    #[arg(short, long, value_name = "SEED", default_value_t = 1)]
    #[arg(allow_negative_numbers = true, help_heading = "Simulation")]
    pub seed: i64,

    /// Print a JSON object with all results as the last line of the output
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Draw regret over tokens to this SVG file, and beside it how soon the best arm is taken; of
    /// several problems each to a file with its number
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub tuning: TuningArgs,
}

/// Which recording is replayed, and what of it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Recording")]
pub struct ReplayArgs {
    /// Replay a recording of `metasd record`, in which drafters go by their names
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = [
        "synthetic",
        "arms",
        "spread",
        "tokens",
        "spec_draft_n_max",
        "plot",
    ])]
    pub record: Option<PathBuf>,

    /// Take of each category all texts, or the first, third, ... (even) or the others (odd)
    #[arg(long, value_name = "WHICH", default_value = "all", requires = "record")]
    pub split: Split,

    /// Take texts that change midway instead: those of one category that go on in those of another
    /// (of several likewise); may be repeated
    #[arg(long, value_name = "A,B", requires = "record")]
    pub concat: Vec<String>,

    /// Print how every drafter alone does by category, instead of policies
    #[arg(long, requires = "record")]
    pub matrix: bool,
}
