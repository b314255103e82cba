//! The command line as clap reads it. Names are llama.cpp's where it has one.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use metasd::audit::DEFAULT_MAX_GAP;
use metasd::bandit::{PolicySpec, Reward};
use metasd::bench::Method;
use metasd::llama::WeightType;
use metasd::session::DEFAULT_N_MAX;
use metasd::sim::{DEFAULT_SPREAD, Split};

use super::bench::BenchArgs;
use super::options::{
    ColorChoice, ModelArgs, SamplingArgs, SpeculationArgs, TemplateArgs, TuningArgs, positive,
};
use super::simulate::Problem;

/// Multi-drafter speculative decoding on llama.cpp: several small drafters speculate for one
/// target model, a bandit picks which, and the text is exactly the target's own.
#[derive(Debug, Parser)]
#[command(
    name = "metasd",
    version,
    propagate_version = true,
    args_override_self = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,

    /// Log more: once for information, twice for llama.cpp's messages too (RUST_LOG overrides)
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Output")]
    pub verbose: u8,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Generate from one prompt
    Run(RunArgs),
    /// Talk with the model
    Chat(ChatArgs),
    /// Look after a pool of drafters
    #[command(subcommand)]
    Pool(PoolCommand),
    /// Fit or try the router of --policy router, which picks a drafter by the prompt
    #[command(subcommand)]
    Router(RouterCommand),
    /// Write a model with other weights: another type, or fewer layers
    Quantize(QuantizeArgs),
    /// Check on this machine that speculation leaves the text as it is
    Audit(AuditArgs),
    /// Compare methods over prompts and write a report
    Bench(BenchArgs),
    /// Write down what every drafter would do at every position of greedy answers, for `simulate`
    Record(RecordArgs),
    /// Play the policies on scripted drafters or on a recording; no model is loaded
    Simulate(SimulateArgs),
}

#[derive(Debug, Subcommand)]
pub enum PoolCommand {
    /// Check every drafter's vocabulary and context, and measure what it costs
    Check(PoolCheckArgs),
    /// Measure how far the target goes along with every drafter, by category of prompt
    Matrix(PoolMatrixArgs),
}

#[derive(Debug, Subcommand)]
pub enum RouterCommand {
    /// Fit a router on labelled prompts; a prompt's label names the drafter that suits it
    Fit(RouterFitArgs),
    /// Print how many labelled prompts a router sends to their label's drafter
    Eval(RouterEvalArgs),
}

#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub source: PromptSource,
    #[command(flatten)]
    pub template: TemplateArgs,
    #[command(flatten)]
    pub models: ModelArgs,
    #[command(flatten)]
    pub speculation: SpeculationArgs,
    #[command(flatten)]
    pub sampling: SamplingArgs,

    /// End the text before this string; may be repeated
    #[arg(
        short = 'r',
        long = "reverse-prompt",
        visible_alias = "stop",
        value_name = "STRING"
    )]
    #[arg(allow_hyphen_values = true, help_heading = "Sampling")]
    pub stop: Vec<String>,

    /// Go on after the model has ended its text
    #[arg(long, help_heading = "Sampling")]
    pub ignore_eos: bool,

    /// Print a JSON object with text, tokens, times and drafters as the last line of the output
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Write a JSON line for every round to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub trace: Option<PathBuf>,

    /// Colour the text by the drafter that proposed it
    #[arg(long, help_heading = "Output")]
    pub show_drafter: bool,

    /// When to colour; auto: in a terminal, unless NO_COLOR is set
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Output"
    )]
    pub color: ColorChoice,

    /// No progress and no summary
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct ChatArgs {
    /// What the model is told to be (also -sys)
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        help_heading = "Prompt"
    )]
    pub system_prompt: Option<String>,
    #[command(flatten)]
    pub models: ModelArgs,
    #[command(flatten)]
    pub speculation: SpeculationArgs,
    #[command(flatten)]
    pub sampling: SamplingArgs,
}

#[derive(Debug, Args)]
pub struct PoolCheckArgs {
    #[command(flatten)]
    pub models: ModelArgs,
}

#[derive(Debug, Args)]
pub struct PoolMatrixArgs {
    /// JSON lines with `prompt` or `turns` (the first is taken) and optionally `category`, without
    /// which a prompt's is the file's name; may be repeated [default: all *.jsonl of the folder
    /// prompts/ beside the pool]
    #[arg(long, value_name = "FILE", help_heading = "Prompt")]
    pub prompts: Vec<PathBuf>,

    /// Take the prompts of this category; may be repeated [default: all]
    #[arg(long = "category", value_name = "NAME", help_heading = "Prompt")]
    pub categories: Vec<String>,

    /// Take this many prompts of each category at most
    #[arg(long, value_name = "N", help_heading = "Prompt")]
    #[arg(value_parser = positive, allow_negative_numbers = true)]
    pub per_category: Option<usize>,
    #[command(flatten)]
    pub template: TemplateArgs,

    /// Tokens to generate for each prompt with each drafter
    #[arg(
        short = 'n',
        long = "predict",
        visible_alias = "n-predict",
        value_name = "N"
    )]
    #[arg(default_value_t = 96, value_parser = positive, allow_negative_numbers = true)]
    #[arg(help_heading = "Speculation")]
    pub predict: usize,

    /// The most tokens drafted in a round
    #[arg(long, value_name = "N", visible_alias = "draft-max", alias = "draft")]
    #[arg(default_value_t = DEFAULT_N_MAX, value_parser = positive, allow_negative_numbers = true)]
    #[arg(help_heading = "Speculation")]
    pub spec_draft_n_max: usize,

    /// Print a JSON object with all results as the last line of the output
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub models: ModelArgs,
}

/// Labelled prompts and the target that reads them.
#[derive(Debug, Args)]
pub struct LabelledArgs {
    /// JSON lines with `prompt` or `turns` (the first is taken) and optionally `category`, the
    /// prompt's label, without which it is the file's name; several, or repeated [default: all
    /// *.jsonl of the folder prompts/ beside the pool]
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Prompt")]
    pub prompts: Vec<PathBuf>,

    /// Take the prompts of these labels [default: all]
    #[arg(
        long,
        value_name = "LABELS",
        value_delimiter = ',',
        help_heading = "Prompt"
    )]
    pub labels: Vec<String>,
    #[command(flatten)]
    pub template: TemplateArgs,

    /// Print a JSON object with all results as the last line of the output
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub models: ModelArgs,
}

#[derive(Debug, Args)]
pub struct RouterFitArgs {
    /// The file to write
    #[arg(short, long, value_name = "FILE.json", help_heading = "Output")]
    pub output: PathBuf,
    #[command(flatten)]
    pub labelled: LabelledArgs,
}

#[derive(Debug, Args)]
pub struct RouterEvalArgs {
    /// The router [default: the pool's]
    #[arg(long, value_name = "FILE.json")]
    pub router: Option<PathBuf>,
    #[command(flatten)]
    pub labelled: LabelledArgs,
}

#[derive(Debug, Args)]
pub struct RecordArgs {
    /// JSON lines with `prompt` or `turns` (the first is taken) and optionally `category`, without
    /// which a prompt's is the file's name; may be repeated [default: all *.jsonl of the folder
    /// prompts/ beside the pool]
    #[arg(long, value_name = "FILE", help_heading = "Prompt")]
    pub prompts: Vec<PathBuf>,

    /// Take the prompts of these categories [default: all]
    #[arg(
        long,
        visible_alias = "category",
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "Prompt"
    )]
    pub categories: Vec<String>,

    /// Take this many prompts of each category at most
    #[arg(long, value_name = "N", help_heading = "Prompt")]
    #[arg(value_parser = positive, allow_negative_numbers = true)]
    pub per_category: Option<usize>,
    #[command(flatten)]
    pub template: TemplateArgs,

    /// The most tokens of an answer
    #[arg(
        short = 'n',
        long = "predict",
        visible_alias = "n-predict",
        value_name = "N"
    )]
    #[arg(default_value_t = 192, value_parser = positive, allow_negative_numbers = true)]
    #[arg(help_heading = "Recording")]
    pub predict: usize,

    /// The most tokens drafted in a round
    #[arg(long, value_name = "N", visible_alias = "draft-max", alias = "draft")]
    #[arg(default_value_t = DEFAULT_N_MAX, value_parser = positive, allow_negative_numbers = true)]
    #[arg(help_heading = "Recording")]
    pub spec_draft_n_max: usize,

    /// The temperature at which distributions are compared for the reward [default: the pool's,
    /// else 1]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    #[arg(help_heading = "Recording")]
    pub reward_temperature: Option<f32>,

    /// Seed of all random numbers, on which greedy decoding does not depend; -1 for a random one
    #[arg(short, long, value_name = "SEED", default_value_t = 0)]
    #[arg(allow_negative_numbers = true, help_heading = "Recording")]
    pub seed: i64,

    /// The file to write; a recording that was interrupted goes on
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: PathBuf,
    #[command(flatten)]
    pub models: ModelArgs,
}

#[derive(Debug, Args)]
pub struct QuantizeArgs {
    /// The GGUF model to read
    #[arg(value_name = "IN")]
    pub input: PathBuf,

    /// The file to write
    #[arg(value_name = "OUT")]
    pub output: PathBuf,

    /// The type of the weights, by llama.cpp's name: F32, BF16, Q8_0, Q4_0, Q4_K_M, ...
    #[arg(value_name = "TYPE")]
    pub weight_type: WeightType,

    /// Layers to leave out, counted from 0
    #[arg(long, value_name = "LAYERS", value_delimiter = ',')]
    pub prune_layers: Vec<u32>,

    /// Threads [default: physical cores]
    #[arg(short, long, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    pub threads: Option<usize>,
}

#[derive(Debug, Args)]
pub struct AuditArgs {
    #[command(flatten)]
    pub source: AuditSource,

    /// Take this many prompts of each category at most
    #[arg(long, value_name = "N", requires = "prompts")]
    #[arg(value_parser = positive, allow_negative_numbers = true)]
    #[arg(help_heading = "Prompt")]
    pub per_category: Option<usize>,
    #[command(flatten)]
    pub template: TemplateArgs,

    /// Tokens to generate for each prompt
    #[arg(
        short = 'n',
        long = "predict",
        visible_alias = "n-predict",
        value_name = "N"
    )]
    #[arg(default_value_t = 96, value_parser = positive, allow_negative_numbers = true)]
    #[arg(help_heading = "Audit")]
    pub predict: usize,

    /// Policies to check [default: that of --policy, else metasd-ucb, round-robin and fixed: for
    /// every drafter]
    #[arg(
        long,
        value_name = "POLICIES",
        value_delimiter = ',',
        help_heading = "Audit"
    )]
    pub policies: Vec<PolicySpec>,

    /// A difference is explained where two tokens' logits are closer than this
    #[arg(long, value_name = "GAP", default_value_t = DEFAULT_MAX_GAP)]
    #[arg(allow_negative_numbers = true, help_heading = "Audit")]
    pub max_gap: f32,

    /// Print a JSON object with all results as the last line of the output
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub models: ModelArgs,
    #[command(flatten)]
    pub speculation: SpeculationArgs,
}

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
    #[arg(long, value_name = "TOKENS", value_delimiter = ',', value_parser = positive)]
    #[arg(default_value = "128,256,512,1024,2048,4096,8192,16384,32768,65536,131072")]
    #[arg(allow_negative_numbers = true, help_heading = "Simulation")]
    pub tokens: Vec<usize>,

    /// Queries for each policy, reward and budget
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = positive)]
    #[arg(allow_negative_numbers = true, help_heading = "Simulation")]
    pub runs: usize,

    /// Tokens drafted in a round
    #[arg(long, value_name = "N", visible_alias = "draft-max", alias = "draft")]
    #[arg(default_value_t = 5, value_parser = positive, allow_negative_numbers = true)]
    #[arg(help_heading = "Simulation")]
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

/// Where a single prompt comes from.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct PromptSource {
    /// The prompt
    #[arg(
        short,
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        help_heading = "Prompt"
    )]
    pub prompt: Option<String>,

    /// Read the prompt from a file; `-` for standard input
    #[arg(short, long, value_name = "FILE", help_heading = "Prompt")]
    pub file: Option<PathBuf>,
}

/// Where the prompts of an audit come from.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct AuditSource {
    /// A single prompt
    #[arg(
        short,
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        help_heading = "Prompt"
    )]
    pub prompt: Option<String>,

    /// JSON lines with `prompt` or `turns` (the first is taken) and optionally `category`
    #[arg(long, value_name = "FILE", help_heading = "Prompt")]
    pub prompts: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn run(arguments: &[&str]) -> RunArgs {
        let command_line = ["metasd", "run", "-p", "x"].iter().chain(arguments);
        match Cli::try_parse_from(command_line).expect("valid").command {
            Command::Run(arguments) => arguments,
            other => panic!("not a run: {other:?}"),
        }
    }

    #[test]
    fn clap_finds_no_fault_in_the_definition() {
        Cli::command().debug_assert();
    }

    #[test]
    fn negative_numbers_are_values() {
        let arguments = run(&["-n", "-1", "-s", "-1", "--repeat-last-n", "-1"]);
        assert_eq!(arguments.sampling.predict, -1);
        assert_eq!(arguments.sampling.seed, -1);
        assert_eq!(arguments.sampling.repeat_last_n, -1);
    }

    #[test]
    fn greedy_is_the_default() {
        assert_eq!(run(&[]).sampling.temp, 0.0);
    }

    #[test]
    fn a_prompt_may_begin_with_a_hyphen() {
        let parsed = Cli::try_parse_from(["metasd", "run", "-p", "-md"]).expect("valid");
        let Command::Run(arguments) = parsed.command else {
            panic!("not a run");
        };
        assert_eq!(arguments.source.prompt.as_deref(), Some("-md"));
    }

    #[test]
    fn stop_strings_go_by_both_names() {
        let arguments = run(&["--stop", "a", "-r", "b", "--reverse-prompt", "c"]);
        assert_eq!(arguments.stop, ["a", "b", "c"]);
    }
}
