//! The arguments of `metasd bench`.

use std::path::PathBuf;

use clap::Args;
use metasd::audit::DEFAULT_MAX_GAP;
use metasd::bandit::Reward;
use metasd::bench::Method;
use metasd::llama::SamplingParams;

use crate::cli::options::{
    ModelArgs, ResidencyArgs, SuiteArgs, TruncationArgs, TuningArgs, positive, up_to,
};
use crate::cli::sampling;

/// A bench of more would neither end nor fit in memory.
const MOST_REPETITIONS: usize = 10_000;

#[derive(Debug, Args)]
#[command(
    after_help = "A method is a policy, with @N_MAX for the most tokens it drafts in a round and \
                  +FIELD=VALUE for a parameter of its own: metasd-ucb@5+beta=0.12. `fixed:*` is \
                  every drafter alone. Plain decoding (`off`), which speed-ups are measured \
                  against, is always run.",
    mut_arg("per_category", |arg| arg.help(
        "Take this many prompts of each category at most [default: all; with --quick 2]"
    )),
    mut_arg("predict", |arg| arg.help(
        "Tokens to generate in a run [default: 128; with --quick 48]"
    ))
)]
pub struct BenchArgs {
    #[command(flatten)]
    pub suite: SuiteArgs,

    /// Methods to compare [default: fixed:*, metasd-ucb, metasd-ucb+counterfactual=8, hedge, exp3,
    /// seq-halving, random, static-ensemble, draft-all; with --quick fixed:*, metasd-ucb]
    #[arg(long, value_name = "METHODS", value_delimiter = ',')]
    #[arg(help_heading = "Bench")]
    pub policies: Vec<Method>,

    /// What the policies are rewarded for
    #[arg(long, value_name = "REWARDS", value_delimiter = ',')]
    #[arg(default_value = "bd,be", help_heading = "Bench")]
    pub rewards: Vec<Reward>,

    /// Sampling temperatures; 0 takes the most probable token (greedy)
    #[arg(long, value_name = "TEMPS", value_delimiter = ',')]
    #[arg(default_value = "0", allow_negative_numbers = true)]
    #[arg(help_heading = "Bench")]
    pub temps: Vec<f32>,

    #[command(flatten)]
    pub truncation: TruncationArgs,

    /// How often everything is repeated [default: 3; with --quick 1]
    #[arg(long, value_name = "N", help_heading = "Bench")]
    #[arg(value_parser = up_to::<MOST_REPETITIONS>, allow_negative_numbers = true)]
    pub repetitions: Option<usize>,

    /// A small part of it, in some minutes; what is given beside it holds
    #[arg(long, help_heading = "Bench")]
    pub quick: bool,

    /// A difference between greedy texts is explained where two tokens' logits are closer than this
    #[arg(long, value_name = "GAP", default_value_t = DEFAULT_MAX_GAP)]
    #[arg(allow_negative_numbers = true, help_heading = "Bench")]
    pub max_gap: f32,

    /// Seed of the order and of all other random numbers; -1 for a random one
    #[arg(short, long, value_name = "SEED", default_value_t = 1)]
    #[arg(allow_negative_numbers = true, help_heading = "Bench")]
    pub seed: i64,

    /// The folder to write to. Its runs.jsonl takes every run as it ends: a bench that was
    /// interrupted goes on from there
    #[arg(short, long, value_name = "FOLDER", default_value = "report")]
    #[arg(help_heading = "Output")]
    pub output: PathBuf,

    /// Print the object of summary.json as the last line of the output
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub models: ModelArgs,
    #[command(flatten)]
    pub tuning: TuningArgs,
    #[command(flatten)]
    pub residency: ResidencyArgs,

    /// The router that the method `router` asks, made by `metasd router fit` [default: the pool's]
    #[arg(long, value_name = "FILE", help_heading = "Speculation")]
    pub router: Option<PathBuf>,

    /// The temperature at which distributions are compared for the reward [default: the pool's,
    /// else 1]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    #[arg(help_heading = "Speculation")]
    pub reward_temperature: Option<f32>,

    /// The most tokens drafted in a round, for methods without @N_MAX [default: the pool's, else 5]
    #[arg(long, value_name = "N", visible_alias = "draft-max", alias = "draft")]
    #[arg(value_parser = positive, allow_negative_numbers = true)]
    #[arg(help_heading = "Speculation")]
    pub spec_draft_n_max: Option<usize>,
}

/// What is measured where the command line does not say.
#[derive(Debug)]
pub struct Defaults {
    methods: &'static [&'static str],
    per_category: Option<usize>,
    repetitions: usize,
    predict: usize,
}

const WHOLE: Defaults = Defaults {
    methods: &[
        "fixed:*",
        "metasd-ucb",
        "metasd-ucb+counterfactual=8",
        "hedge",
        "exp3",
        "seq-halving",
        "random",
        "static-ensemble",
        "draft-all",
    ],
    per_category: None,
    repetitions: 3,
    predict: 128,
};

const QUICK: Defaults = Defaults {
    methods: &["fixed:*", "metasd-ucb"],
    per_category: Some(2),
    repetitions: 1,
    predict: 48,
};

impl BenchArgs {
    fn defaults(&self) -> &'static Defaults {
        if self.quick { &QUICK } else { &WHOLE }
    }

    /// The methods, `fixed:*` not yet spelt out.
    pub fn methods(&self) -> Vec<Method> {
        if !self.policies.is_empty() {
            return self.policies.clone();
        }
        let known = self.defaults().methods.iter();
        known.filter_map(|text| text.parse().ok()).collect()
    }

    /// Prompts of a category at most.
    pub fn per_category(&self) -> Option<usize> {
        self.suite.per_category.or(self.defaults().per_category)
    }

    /// Repetitions.
    pub fn repetitions(&self) -> usize {
        self.repetitions.unwrap_or(self.defaults().repetitions)
    }

    /// How tokens are drawn at `temperature` with `seed`.
    pub fn sampling(&self, temperature: f32, seed: u64) -> SamplingParams {
        SamplingParams {
            temperature,
            seed,
            ..sampling::truncated(&self.truncation)
        }
    }

    /// Tokens of a run.
    pub fn predict(&self) -> usize {
        self.suite.predict.unwrap_or(self.defaults().predict)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::{Cli, Command};

    fn parse(arguments: &[&str]) -> BenchArgs {
        let line = ["metasd", "bench"].iter().chain(arguments);
        match Cli::try_parse_from(line).expect("valid").command {
            Command::Bench(args) => args,
            other => panic!("not a bench: {other:?}"),
        }
    }

    #[test]
    fn every_default_method_is_known() {
        for (arguments, defaults) in [(&[][..], &WHOLE), (&["--quick"][..], &QUICK)] {
            let methods: Vec<String> = parse(arguments)
                .methods()
                .iter()
                .map(Method::to_string)
                .collect();
            assert_eq!(methods, defaults.methods);
        }
    }

    #[test]
    fn what_is_given_stands_before_what_quick_says() {
        let args = parse(&["--quick", "-n", "9", "--policies", "exp3@2,fixed:a"]);
        assert_eq!((args.predict(), args.repetitions()), (9, 1));
        assert_eq!(args.per_category(), Some(2));
        assert_eq!(args.methods().len(), 2);
        assert_eq!(parse(&[]).per_category(), None);
    }

    #[test]
    fn the_temperatures_work_with_the_sampling_that_is_given() {
        let sampling =
            parse(&["--top-k", "7", "--top-p", "0.5", "--min-p", "0.1"]).sampling(0.8, 3);
        let expected = SamplingParams {
            temperature: 0.8,
            top_k: 7,
            top_p: 0.5,
            min_p: 0.1,
            seed: 3,
            ..SamplingParams::default()
        };
        assert_eq!(sampling, expected);
        let unchanged = SamplingParams {
            temperature: 1.0,
            ..SamplingParams::default()
        };
        assert_eq!(parse(&[]).sampling(1.0, 0), unchanged);
    }
}
