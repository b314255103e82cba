//! The command line as clap reads it. Names are llama.cpp's where it has one.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use metasd::audit::DEFAULT_MAX_GAP;
use metasd::bandit::PolicySpec;
use metasd::llama::WeightType;
use metasd::session::DEFAULT_N_MAX;

use super::bench::BenchArgs;
use super::options::{
    ColorChoice, ModelArgs, ResidencyArgs, SamplingArgs, SpeculationArgs, SuiteArgs, TemplateArgs,
    positive,
};
use super::simulate::SimulateArgs;

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
    /// List the devices that this build can use, with free and total memory
    Devices,
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
    /// Bring every drafter in once; print where each is, what it takes and what moving it costs
    Status(PoolStatusArgs),
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
pub struct PoolStatusArgs {
    /// Print a JSON object as the last line of the output
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub residency: ResidencyArgs,
    #[command(flatten)]
    pub models: ModelArgs,
}

#[derive(Debug, Args)]
pub struct PoolMatrixArgs {
    #[command(flatten)]
    pub suite: SuiteArgs,

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

/// Tokens of an answer that are recorded where nothing else is said.
pub const DEFAULT_RECORDED: usize = 192;

#[derive(Debug, Args)]
#[command(mut_arg("predict", |arg| arg.help("The most tokens of an answer [default: 192]")))]
pub struct RecordArgs {
    #[command(flatten)]
    pub suite: SuiteArgs,

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
    /// A single prompt, instead of a suite
    #[arg(
        short,
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        help_heading = "Prompt"
    )]
    #[arg(conflicts_with_all = ["prompts", "categories", "per_category"])]
    pub prompt: Option<String>,
    #[command(flatten)]
    pub suite: SuiteArgs,

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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::options::DEFAULT_PREDICT;

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
    fn every_command_on_a_suite_takes_the_same_prompts() {
        let common = "--prompts a.jsonl b.jsonl --category x,y --category z --per-category 3 -n 7";
        let older = common.replace("--category ", "--categories ");
        for command in ["pool matrix", "record -o f", "bench", "audit"] {
            for given in [common, &older] {
                let line = format!("metasd {command} {given}");
                let parsed = Cli::try_parse_from(line.split(' ')).expect("valid");
                let suite = match parsed.command {
                    Command::Pool(PoolCommand::Matrix(args)) => args.suite,
                    Command::Record(args) => args.suite,
                    Command::Bench(args) => args.suite,
                    Command::Audit(args) => args.suite,
                    other => panic!("not on a suite: {other:?}"),
                };
                assert_eq!(suite.prompts.len(), 2, "{line}");
                assert_eq!(suite.categories, ["x", "y", "z"], "{line}");
                assert_eq!((suite.per_category, suite.predict), (Some(3), Some(7)));
            }
        }
    }

    #[test]
    fn the_help_of_a_command_on_a_suite_says_how_many_tokens_it_generates() {
        let mut cli = Cli::command();
        cli.build();
        let help = |path: &[&str]| {
            let mut command = cli.clone();
            for name in path {
                command = command.find_subcommand(name).expect("known").clone();
            }
            command.render_help().to_string()
        };
        let default = |tokens: usize| format!("[default: {tokens}");
        assert!(help(&["pool", "matrix"]).contains(&default(DEFAULT_PREDICT)));
        assert!(help(&["audit"]).contains(&default(DEFAULT_PREDICT)));
        assert!(help(&["record"]).contains(&default(DEFAULT_RECORDED)));
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
