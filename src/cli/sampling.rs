//! Sampling arguments as the engine takes them.

use metasd::llama::SamplingParams;
use metasd::{Error, Result};

use super::options::{SamplingArgs, TruncationArgs};

/// The sampler's parameters, with a seed drawn where a random one is asked for.
///
/// # Errors
/// When a value is out of range.
pub fn params(args: &SamplingArgs) -> Result<SamplingParams> {
    let params = SamplingParams {
        temperature: args.temp,
        repeat_penalty: args.repeat_penalty,
        frequency_penalty: args.frequency_penalty,
        presence_penalty: args.presence_penalty,
        repeat_last_n: count(args.repeat_last_n, u32::MAX),
        seed: seed(args.seed)?,
        ..truncated(&args.truncation)
    };
    params.validate()?;
    Ok(params)
}

/// The sampler's default parameters but for which tokens are left; unchecked.
pub fn truncated(args: &TruncationArgs) -> SamplingParams {
    SamplingParams {
        top_k: count(args.top_k, 0),
        top_p: args.top_p,
        min_p: args.min_p,
        ..SamplingParams::default()
    }
}

/// A number of tokens; a negative one asks for `all`.
fn count(value: i64, all: u32) -> u32 {
    match value {
        ..0 => all,
        _ => u32::try_from(value).unwrap_or(u32::MAX),
    }
}

/// The seed asked for; -1 draws one.
///
/// # Errors
/// For another negative number.
pub fn seed(seed: i64) -> Result<u64> {
    match seed {
        -1 => Ok(u64::from(rand::random::<u32>())),
        seed => u64::try_from(seed).map_err(|_| {
            Error::invalid(format!(
                "seed is {seed}; it must not be negative, or -1 for a random one"
            ))
        }),
    }
}

/// The token budget.
///
/// # Errors
/// For a negative number other than llama.cpp's -1 and -2, which ask for none.
pub fn max_tokens(args: &SamplingArgs) -> Result<Option<usize>> {
    match args.predict {
        -2 | -1 => Ok(None),
        n => usize::try_from(n).map(Some).map_err(|_| {
            Error::invalid(format!(
                "predict is {n}; it must not be negative, or -1 for no limit"
            ))
        }),
    }
}

/// Cuts the penalties' window to the context: no text is longer, and llama.cpp takes memory for
/// every token of it.
pub fn fit(params: &mut SamplingParams, n_ctx: usize) {
    let n_ctx = u32::try_from(n_ctx).unwrap_or(u32::MAX);
    params.repeat_last_n = params.repeat_last_n.min(n_ctx);
}
