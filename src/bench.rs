//! A benchmark: which runs it has and in which order, what one of them measured, and what all of
//! them say. No model runs here, and no clock.
//!
//! A [`Plan`] crosses methods, rewards, temperatures and prompts and shuffles what runs one after
//! the other; a [`RunRecord`] is one finished run; [`Summary::new`] compares the runs of every
//! method with those of plain decoding on the same prompt; [`curves`] has what is drawn.

pub mod curves;
mod method;
mod plan;
mod quartiles;
mod record;
mod summary;

pub use method::Method;
pub use plan::{Job, Plan, Variant};
pub use quartiles::Quartiles;
pub use record::{Comparison, Parts, RoundPoint, RunKey, RunRecord};
pub use summary::{DomainSummary, MeanRow, Row, Summary, Texts};

/// Runs for the tests of the submodules.
#[cfg(test)]
mod fixture {
    use super::*;
    use crate::bandit::Reward;

    /// A round of `drafter` that commits `accepted` tokens and one more.
    pub fn round(drafter: usize, accepted: usize, bd: f32) -> RoundPoint {
        RoundPoint {
            drafter: Some(drafter),
            drafted: 3,
            accepted,
            committed: accepted + 1,
            bd: Some(bd),
            be: Some(accepted as f32 / 3.0),
        }
    }

    /// A run of `method` on a prompt of `domain`, at 10 ms a round.
    pub fn run(
        (domain, prompt): (&str, usize),
        method: &str,
        reward: Option<Reward>,
        rounds: Vec<RoundPoint>,
    ) -> RunRecord {
        let milliseconds = 10.0 * rounds.len() as f64;
        RunRecord {
            repetition: 0,
            prompt,
            domain: domain.to_owned(),
            temperature: 0.0,
            method: method.to_owned(),
            reward,
            stop_reason: "limit".to_owned(),
            tokens: rounds.iter().map(|round| round.committed).sum(),
            milliseconds,
            parts: Parts {
                verify_ms: milliseconds,
                ..Parts::default()
            },
            comparison: None,
            rounds,
        }
    }
}
