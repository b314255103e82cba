//! The command line as clap reads it. Names are llama.cpp's where it has one.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use metasd::audit::DEFAULT_MAX_GAP;
use metasd::bandit::{PolicySpec, Reward};
use metasd::llama::WeightType;

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
    /// What the model is told to be
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
    #[arg(short, long, value_name = "N", value_parser = positive)]
    pub threads: Option<usize>,
}

#[derive(Debug, Args)]
pub struct AuditArgs {
    #[command(flatten)]
    pub source: AuditSource,

    /// Take this many prompts of each category at most
    #[arg(long, value_name = "N", value_parser = positive, requires = "prompts")]
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
    #[arg(default_value_t = 96, value_parser = positive)]
    pub predict: usize,

    /// Policies to check [default: metasd-ucb, round-robin and fixed: for every drafter]
    #[arg(long, value_name = "POLICIES", value_delimiter = ',')]
    pub policies: Vec<PolicySpec>,

    /// A difference is explained where two tokens' logits are closer than this
    #[arg(long, value_name = "GAP", default_value_t = DEFAULT_MAX_GAP)]
    #[arg(allow_negative_numbers = true)]
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

/// How a prompt becomes what the model reads.
#[derive(Debug, Args)]
#[command(next_help_heading = "Prompt")]
pub struct TemplateArgs {
    /// Give the model the prompt as it is, without its chat template (also -no-cnv)
    #[arg(long)]
    pub no_conversation: bool,

    /// What the model is told to be, in its chat template (also -sys)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    #[arg(conflicts_with = "no_conversation")]
    pub system_prompt: Option<String>,
}

/// Which models, and how they run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Models")]
pub struct ModelArgs {
    /// The target, a GGUF file [default: the pool's]
    #[arg(short, long, value_name = "FILE")]
    pub model: Option<PathBuf>,

    /// A drafter, a GGUF file with the target's vocabulary; may be repeated (also -md). Without
    /// --pool these and an n-gram drafter are the pool
    #[arg(long, value_name = "[NAME=]FILE", visible_alias = "spec-draft-model")]
    pub model_draft: Vec<PathBuf>,

    /// The pool [default: $METASD_POOL, else ggml-models/pool.toml here or beside the program]
    #[arg(long, value_name = "FILE.toml")]
    pub pool: Option<PathBuf>,

    /// Tokens of context; 0 for what the model was trained for [default: 4096, or less if the
    /// model was trained for less]
    #[arg(short, long, value_name = "N")]
    pub ctx_size: Option<usize>,

    /// Tokens of the drafters' context [default: the target's] (also -cd)
    #[arg(long, value_name = "N", value_parser = positive)]
    pub ctx_size_draft: Option<usize>,

    /// The most tokens in one decode
    #[arg(short, long, value_name = "N", default_value_t = 512, value_parser = positive)]
    pub batch_size: usize,

    /// Threads [default: physical cores]
    #[arg(short, long, value_name = "N", value_parser = positive)]
    pub threads: Option<usize>,

    /// Threads of the drafters [default: the target's] (also -td)
    #[arg(long, value_name = "N", value_parser = positive, visible_alias = "spec-draft-threads")]
    pub threads_draft: Option<usize>,

    /// Layers in device memory: a number, `all` or `auto` (also -ngl)
    #[arg(
        long,
        value_name = "N",
        default_value = "auto",
        visible_alias = "gpu-layers"
    )]
    #[arg(allow_negative_numbers = true)]
    pub n_gpu_layers: GpuLayers,

    /// The same for the drafters (also -ngld)
    #[arg(
        long,
        value_name = "N",
        default_value = "auto",
        visible_alias = "gpu-layers-draft"
    )]
    #[arg(alias = "spec-draft-ngl", allow_negative_numbers = true)]
    pub n_gpu_layers_draft: GpuLayers,
}

/// Which drafter speculates when, and how far. What is not given is the pool file's, and where
/// that is silent the default.
#[derive(Debug, Args)]
#[command(next_help_heading = "Speculation")]
pub struct SpeculationArgs {
    /// Who picks the drafter of each round: metasd-ucb, fixed:NAME, off, ...; an unknown one
    /// lists all [default: the pool's, else metasd-ucb]
    #[arg(long, value_name = "POLICY")]
    pub policy: Option<PolicySpec>,

    /// What a drafter is rewarded for: bd, agreement of the distributions, or be, the accepted
    /// share [default: the pool's, else bd]
    #[arg(long, value_name = "REWARD")]
    pub reward: Option<Reward>,

    /// How much metasd-ucb explores [default: the pool's, else 0.07]
    #[arg(long, value_name = "BETA", allow_negative_numbers = true)]
    pub beta: Option<f64>,

    /// The temperature at which distributions are compared for the reward [default: the pool's,
    /// else 1]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub reward_temperature: Option<f32>,

    /// The most tokens drafted in a round [default: the pool's, else 5]
    #[arg(long, value_name = "N", visible_alias = "draft-max", alias = "draft")]
    pub spec_draft_n_max: Option<usize>,
}

/// How tokens are drawn.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sampling")]
pub struct SamplingArgs {
    /// Tokens to generate; -1 for until the text ends or the context is full
    #[arg(
        short = 'n',
        long = "predict",
        visible_alias = "n-predict",
        value_name = "N"
    )]
    #[arg(default_value_t = -1, allow_negative_numbers = true)]
    pub predict: i64,

    /// Temperature; 0 takes the most probable token (greedy)
    #[arg(
        long,
        value_name = "T",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    #[arg(alias = "temperature")]
    pub temp: f32,

    /// Keep the K most probable tokens; 0 keeps all
    #[arg(
        long,
        value_name = "K",
        default_value_t = 40,
        allow_negative_numbers = true
    )]
    pub top_k: i64,

    /// Keep the fewest tokens whose probabilities sum to P; 1 keeps all
    #[arg(
        long,
        value_name = "P",
        default_value_t = 0.95,
        allow_negative_numbers = true
    )]
    pub top_p: f32,

    /// Drop tokens less probable than this part of the most probable one
    #[arg(
        long,
        value_name = "P",
        default_value_t = 0.05,
        allow_negative_numbers = true
    )]
    pub min_p: f32,

    /// Divide the logits of repeated tokens by this; 1 does nothing
    #[arg(
        long,
        value_name = "X",
        default_value_t = 1.0,
        allow_negative_numbers = true
    )]
    pub repeat_penalty: f32,

    /// Tokens the penalties look back at; -1 for all
    #[arg(
        long,
        value_name = "N",
        default_value_t = 64,
        allow_negative_numbers = true
    )]
    pub repeat_last_n: i64,

    /// Subtract this from the logit of a token that occurred
    #[arg(
        long,
        value_name = "X",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    pub presence_penalty: f32,

    /// Subtract this from a token's logit for every time it occurred
    #[arg(
        long,
        value_name = "X",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    pub frequency_penalty: f32,

    /// Seed of all random numbers; -1 for a random one
    #[arg(short, long, value_name = "SEED", default_value_t = -1, allow_negative_numbers = true)]
    pub seed: i64,
}

/// When output is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    Auto,
    Always,
    Never,
}

/// Layers in device memory; `None` leaves it to the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuLayers(pub Option<u32>);

impl std::str::FromStr for GpuLayers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" | "all" | "-1" => Ok(Self(None)),
            _ => text
                .parse()
                .map(|layers| Self(Some(layers)))
                .map_err(|_| "it must be a number of layers, `all` or `auto`".to_owned()),
        }
    }
}

/// A whole number of at least 1.
fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".to_owned()),
        Ok(value) => Ok(value),
        Err(_) => Err("it must be a whole number of at least 1".to_owned()),
    }
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
