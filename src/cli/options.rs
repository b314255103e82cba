//! Groups of options that several commands share.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use metasd::bandit::{PolicyParams, PolicySpec, Reward};
use metasd::pool::{ByteSize, ResidencyParams, SwapMode};

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

/// Tokens generated for a prompt of a suite where nothing else is said.
pub const DEFAULT_PREDICT: usize = 96;

/// Which prompts a command goes through, and how far.
#[derive(Debug, Args)]
#[command(next_help_heading = "Prompt")]
pub struct SuiteArgs {
    /// JSON lines with `prompt` or `turns` (the first is taken) and optionally `category`, without
    /// which a prompt's is the file's name; several, or repeated [default: all *.jsonl of the
    /// folder prompts/ beside the pool]
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub prompts: Vec<PathBuf>,

    /// Take the prompts of these categories; may be repeated [default: all]
    #[arg(
        long = "category",
        alias = "categories",
        value_name = "NAMES",
        value_delimiter = ','
    )]
    pub categories: Vec<String>,

    /// Take this many prompts of each category at most [default: all]
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    pub per_category: Option<usize>,

    #[command(flatten)]
    pub template: TemplateArgs,

    /// Tokens to generate for each prompt at most [default: 96]
    #[arg(
        short = 'n',
        long = "predict",
        visible_alias = "n-predict",
        value_name = "N"
    )]
    #[arg(value_parser = positive, allow_negative_numbers = true)]
    pub predict: Option<usize>,
}

/// Which models, and how they run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Models")]
pub struct ModelArgs {
    /// The target, a GGUF file [default: the pool's]
    #[arg(short, long, value_name = "FILE")]
    pub model: Option<PathBuf>,

    /// A drafter, a GGUF model with the target's vocabulary or an EAGLE-3 head of the target; may
    /// be repeated (also -md). Without --pool these and an n-gram drafter are the pool
    #[arg(long, value_name = "[NAME=]FILE", visible_alias = "spec-draft-model")]
    pub model_draft: Vec<PathBuf>,

    /// The pool: a file, or NAME for ggml-models/pool-NAME.toml [default: $METASD_POOL, else
    /// ggml-models/pool.toml here or beside the program]
    #[arg(long, value_name = "FILE.toml|NAME")]
    pub pool: Option<PathBuf>,

    /// Tokens of context; 0 for what the model was trained for [default: 4096, or less if the
    /// model was trained for less]
    #[arg(short, long, value_name = "N", value_parser = whole, allow_negative_numbers = true)]
    pub ctx_size: Option<usize>,

    /// Tokens of the drafters' context [default: the target's] (also -cd)
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    pub ctx_size_draft: Option<usize>,

    /// The most tokens in one decode
    #[arg(short, long, value_name = "N", default_value_t = 512)]
    #[arg(value_parser = positive, allow_negative_numbers = true)]
    pub batch_size: usize,

    /// Threads [default: physical cores]
    #[arg(short, long, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    pub threads: Option<usize>,

    /// Threads of the drafters [default: the target's] (also -td)
    #[arg(long, value_name = "N", visible_alias = "spec-draft-threads")]
    #[arg(value_parser = positive, allow_negative_numbers = true)]
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

    /// The devices of the target's layers, separated by commas, or `none` [default: all GPUs];
    /// `metasd devices` lists them
    #[arg(long, value_name = "NAMES")]
    pub device: Option<String>,

    /// The same for the drafters
    #[arg(long, value_name = "NAMES", visible_alias = "spec-draft-device")]
    pub device_draft: Option<String>,
}

impl ModelArgs {
    /// Whether drafters go to a device with memory of its own.
    pub fn drafters_have_own_memory(&self) -> bool {
        let stay = self.n_gpu_layers_draft.0 == Some(0);
        let none = self.device_draft.as_deref() == Some("none");
        !stay && !none && metasd::llama::has_device_memory()
    }
}

/// How much memory the drafters may take. What is not given is the pool file's.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Residency")]
pub struct ResidencyArgs {
    /// The most device memory of drafters that are ready, such as 512M or 2G (on a machine without
    /// GPU: of host memory); the others are loaded when they are chosen [default: the pool's, else
    /// all are ready]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub vram_budget: Option<ByteSize>,

    /// The most host memory for drafters that are not ready [default: the pool's, else what it
    /// takes; without GPU none]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub ram_budget: Option<ByteSize>,

    /// The most drafters with weights that are ready [default: the pool's, else all]
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    pub max_resident: Option<usize>,

    /// Whether a round waits for a drafter that is not ready: sync, or async, which goes on
    /// with another meanwhile [default: the pool's, else async]
    #[arg(long, value_name = "MODE")]
    pub swap: Option<SwapMode>,

    /// A drafter that takes longer to load leaves the pool [default: the pool's, else 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub load_timeout: Option<Duration>,

    /// A drafter that is never evicted; may be repeated [default: those the pool pins]
    #[arg(long, value_name = "NAME")]
    pub pin: Vec<String>,
}

impl ResidencyArgs {
    /// What is given over the pool file's `params`, for drafters loaded as `models` say.
    ///
    /// # Errors
    /// Those of [`ResidencyParams::validate`].
    pub fn over(
        &self,
        params: &ResidencyParams,
        models: &ModelArgs,
    ) -> metasd::Result<ResidencyParams> {
        let params = ResidencyParams {
            vram_budget: self.vram_budget.or(params.vram_budget),
            ram_budget: self.ram_budget.or(params.ram_budget),
            max_resident: self.max_resident.or(params.max_resident),
            swap: self.swap.unwrap_or(params.swap),
            load_timeout: self.load_timeout.unwrap_or(params.load_timeout),
            pins: match self.pin.is_empty() {
                true => params.pins.clone(),
                false => self.pin.clone(),
            },
            separate_device: models.drafters_have_own_memory(),
        };
        params.validate()?;
        Ok(params)
    }
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

    #[command(flatten)]
    pub tuning: TuningArgs,

    /// The router that --policy router asks, made by `metasd router fit` [default: the pool's]
    #[arg(long, value_name = "FILE")]
    pub router: Option<PathBuf>,

    /// The temperature at which distributions are compared for the reward [default: the pool's,
    /// else 1]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub reward_temperature: Option<f32>,

    /// Keep what the policy has learnt from one generation to the next, a round counting DISCOUNT
    /// times in each that follows [default: the pool's, else off; without a number 0.5]
    #[arg(long, value_name = "DISCOUNT", num_args = 0..=1, allow_negative_numbers = true)]
    #[arg(default_missing_value = "0.5")]
    pub carry: Option<f64>,

    /// The most tokens drafted in a round [default: the pool's, else 5]
    #[arg(long, value_name = "N", visible_alias = "draft-max", alias = "draft")]
    #[arg(value_parser = whole, allow_negative_numbers = true)]
    pub spec_draft_n_max: Option<usize>,

    #[command(flatten)]
    pub residency: ResidencyArgs,
}

/// What the policies are tuned by, each option named like its field of [`PolicyParams`].
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Speculation")]
pub struct TuningArgs {
    /// How much metasd-ucb, sw-ucb, d-ucb and thompson explore [default: the pool's, else 0.12, or
    /// 0.07 for sw-ucb and d-ucb; with the reward be 0.15]
    #[arg(long, value_name = "BETA", allow_negative_numbers = true)]
    pub beta: Option<f64>,

    /// Rounds that sw-ucb looks back at [default: the pool's, else 64]
    #[arg(long, value_name = "ROUNDS", value_parser = positive, allow_negative_numbers = true)]
    pub window: Option<usize>,

    /// What d-ucb multiplies a round's weight by with each round after it [default: the pool's,
    /// else 0.98]
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true)]
    pub discount: Option<f64>,

    /// The share of its rounds that exp3 spreads over all drafters [default: the pool's, else 0.2]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub exploration: Option<f64>,

    /// Rounds over which seq-halving halves the drafters [default: the pool's, else as suits the
    /// number of tokens]
    #[arg(long, value_name = "ROUNDS", value_parser = positive, allow_negative_numbers = true)]
    pub horizon: Option<usize>,

    /// Rounds of each drafter before etc commits to one [default: the pool's, else 3]
    #[arg(long, value_name = "ROUNDS", value_parser = positive, allow_negative_numbers = true)]
    pub explore_rounds: Option<usize>,

    /// The share of its rounds in which eps-greedy takes any drafter [default: the pool's, else
    /// 0.1]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub epsilon: Option<f64>,

    /// What hedge multiplies a drafter's regret by with each round [default: the pool's, else 0.98]
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true)]
    pub retention: Option<f64>,

    /// Have metasd-ucb, sw-ucb and d-ucb score all drafters on the text of the first ROUNDS rounds
    /// [default: the pool's, else 0]
    #[arg(long, value_name = "ROUNDS", value_parser = whole, allow_negative_numbers = true)]
    pub counterfactual: Option<usize>,

    /// Stay with a drafter for ROUNDS rounds after a change to it, whatever the policy [default:
    /// the pool's, else 1]
    #[arg(long, value_name = "ROUNDS", value_parser = positive, allow_negative_numbers = true)]
    pub dwell: Option<usize>,

    /// The part of the time that changing drafters may take: after a change that costs much, as
    /// measured, the drafter is stayed with for longer [default: the pool's, else any]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub switch_cost: Option<f64>,
}

impl TuningArgs {
    /// Puts what is given into `params`.
    pub fn apply(&self, params: &mut PolicyParams) {
        fn put<T: Copy>(given: Option<T>, field: &mut T) {
            if let Some(value) = given {
                *field = value;
            }
        }
        put(self.beta.map(Some), &mut params.beta);
        put(self.window, &mut params.window);
        put(self.discount, &mut params.discount);
        put(self.exploration, &mut params.exploration);
        put(self.horizon.map(Some), &mut params.horizon);
        put(self.explore_rounds, &mut params.explore_rounds);
        put(self.epsilon, &mut params.epsilon);
        put(self.retention, &mut params.retention);
        put(self.counterfactual, &mut params.counterfactual);
        put(self.dwell, &mut params.dwell);
        put(self.switch_cost.map(Some), &mut params.switch_cost);
    }
}

/// Which tokens are left to be drawn; greedy decoding does not depend on it.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Sampling")]
pub struct TruncationArgs {
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

    #[command(flatten)]
    pub truncation: TruncationArgs,

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

/// A number of seconds above 0.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text
        .parse()
        .ok()
        .and_then(|s| Duration::try_from_secs_f64(s).ok());
    seconds
        .filter(|time| !time.is_zero())
        .ok_or_else(|| "it must be a number of seconds above 0".to_owned())
}

/// A whole number that is not negative.
fn whole(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| "it must be a whole number that is not negative".to_owned())
}

/// A whole number of at least 1.
pub fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".to_owned()),
        Ok(value) => Ok(value),
        Err(_) => Err("it must be a whole number of at least 1".to_owned()),
    }
}

/// A whole number from 1 to `MOST`.
pub fn up_to<const MOST: usize>(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(value) if (1..=MOST).contains(&value) => Ok(value),
        _ => Err(format!("it must be a whole number from 1 to {MOST}")),
    }
}
