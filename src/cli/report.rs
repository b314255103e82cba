//! What a generation reports: the JSON object, and the summary for people.

use std::fmt;

use metasd::bandit::Reward;
use metasd::pool::ResidencyReport;
use metasd::session::{DrafterStatistics, Generation, StopReason, Timings};
use serde::Serialize;

use super::engine::Engine;

/// The JSON object of `run --json`.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    text: &'a str,
    tokens: Vec<i32>,
    stop_reason: StopReason,
    error: Option<String>,
    model: String,
    policy: String,
    reward: Reward,
    seed: u64,
    timings: &'a Timings,
    rounds: usize,
    mean_acceptance_length: f64,
    drafters: &'a [DrafterStatistics],
    /// What the drafters took of the limits; left out without limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    residency: Option<ResidencyReport>,
}

/// What is asked of a generation, as far as it is reported.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The target's file.
    pub model: String,
    /// The policy.
    pub policy: String,
    /// The reward.
    pub reward: Reward,
    /// The seed.
    pub seed: u64,
    /// What the drafters took of the limits, if there are any.
    pub residency: Option<ResidencyReport>,
}

impl Asked {
    /// What is asked of `engine`, with `seed`.
    pub fn of(engine: &Engine, seed: u64) -> Self {
        let params = engine.session.params();
        Self {
            model: engine.model.path().display().to_string(),
            policy: params.policy.to_string(),
            reward: params.policy_params.reward,
            seed,
            residency: engine.session.pool().residency(),
        }
    }
}

impl<'a> Report<'a> {
    /// The report of `generation`.
    pub fn new(generation: &'a Generation, asked: &Asked) -> Self {
        Self {
            text: &generation.text,
            tokens: generation.tokens.iter().map(|token| token.0).collect(),
            stop_reason: generation.stop_reason,
            error: generation.error.as_ref().map(ToString::to_string),
            model: asked.model.clone(),
            policy: asked.policy.clone(),
            reward: asked.reward,
            seed: asked.seed,
            timings: &generation.timings,
            rounds: generation.rounds,
            mean_acceptance_length: generation.mean_acceptance_length(),
            drafters: &generation.drafters,
            residency: asked.residency.clone(),
        }
    }
}

/// The block that sums a generation up.
#[derive(Debug)]
pub struct Summary<'a>(pub &'a Generation, pub &'a Asked);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(generation, asked) = self;
        let timings = &generation.timings;
        writeln!(
            f,
            "prompt      {} tokens read in {:.2} s, {} reused",
            timings.prompt_n,
            timings.prompt_ms / 1e3,
            timings.cache_n
        )?;
        writeln!(
            f,
            "generated   {} tokens in {:.2} s, {:.1} tok/s; {}",
            timings.predicted_n,
            timings.predicted_ms / 1e3,
            timings.predicted_per_second,
            ended(generation.stop_reason)
        )?;
        write!(
            f,
            "rounds      {}, {:.2} tokens each; policy {}, reward {}, seed {}",
            generation.rounds,
            generation.mean_acceptance_length(),
            asked.policy,
            asked.reward,
            asked.seed
        )?;
        let width = generation
            .drafters
            .iter()
            .map(|drafter| drafter.name.len())
            .max();
        let Some(width) = width.map(|width| width.max("drafter".len())) else {
            return Ok(());
        };
        write!(
            f,
            "\n{:width$}  {:>6} {:>5} {:>8} {:>8} {:>6} {:>6}",
            "drafter", "rounds", "share", "drafted", "accepted", "bd", "be"
        )?;
        for drafter in &generation.drafters {
            let mean = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.3}"));
            write!(
                f,
                "\n{:width$}  {:>6} {:>4.0}% {:>8} {:>8} {:>6} {:>6}",
                drafter.name,
                drafter.rounds,
                100.0 * drafter.rounds as f64 / generation.rounds.max(1) as f64,
                drafter.drafted,
                drafter.accepted,
                mean(drafter.mean_bd),
                mean(drafter.mean_be)
            )?;
            if drafter.failure.is_some() {
                f.write_str("  left the pool")?;
            }
        }
        Ok(())
    }
}

fn ended(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Eos => "the model ended its text",
        StopReason::Word => "a stop string was reached",
        StopReason::Limit => "the token budget is used up",
        StopReason::Context => "the context is full",
        StopReason::Cancelled => "stopped",
        StopReason::Error => "the target failed",
    }
}
