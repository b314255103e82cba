//! The command line as clap reads it. Names are llama.cpp's where it has one.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use metasd::audit::DEFAULT_MAX_GAP;
use metasd::bandit::PolicySpec;
use metasd::llama::WeightType;

use super::options::{
    ColorChoice, ModelArgs, SamplingArgs, SpeculationArgs, TemplateArgs, positive,
};

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
    /// Write a model with other weights: another type, or fewer layers
    Quantize(QuantizeArgs),
    /// Check on this machine that speculation leaves the text as it is
    Audit(AuditArgs),
}

#[derive(Debug, Subcommand)]
pub enum PoolCommand {
    /// Check every drafter's vocabulary and context, and measure what it costs
    Check(PoolCheckArgs),
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
