//! What a generation reports about itself.

use std::time::Duration;

use serde::Serialize;

use crate::bandit::Feedback;
use crate::pool::Member;
use crate::round::RoundTimes;

/// Token counts and times of one generation; times in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timings {
    /// Prompt tokens decoded, those reused from the KV cache left out.
    pub prompt_n: usize,
    /// Prompt tokens found in the KV cache.
    pub cache_n: usize,
    /// Time for decoding the prompt.
    pub prompt_ms: f64,
    /// Tokens generated.
    pub predicted_n: usize,
    /// Time for generating them: drafting, verification, selection and all else between.
    pub predicted_ms: f64,
    /// Generated tokens per second.
    pub predicted_per_second: f64,
    /// Tokens drafted.
    pub draft_n: usize,
    /// Drafted tokens that were accepted.
    pub draft_n_accepted: usize,
    /// Time in drafting.
    pub draft_ms: f64,
    /// Time in verification: the target's decodes, acceptance, roll-back.
    pub verify_ms: f64,
    /// Time in measuring block divergence.
    pub reward_ms: f64,
    /// Time in the policy.
    pub select_ms: f64,
    /// Time in decoding committed tokens that a drafter had not seen.
    pub catchup_ms: f64,
    /// Time that rounds waited for drafters that were not ready.
    pub swap_ms: f64,
    /// Time in scoring drafters on committed tokens because the policy asked for it, their
    /// catching up with the text included.
    pub counterfactual_ms: f64,
    /// The part of `predicted_ms` inside the models' own decode calls.
    pub decode_ms: f64,
}

/// What one drafter did in a generation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DrafterStatistics {
    /// Its name in the pool.
    pub name: String,
    /// `model`, `eagle3` or `ngram`; `ensemble` for all of them as one.
    pub kind: &'static str,
    /// Rounds it was chosen for.
    pub rounds: usize,
    /// Tokens it drafted.
    pub drafted: usize,
    /// Those of them that were accepted.
    pub accepted: usize,
    /// Mean block divergence over its rounds; `null` when it had none.
    pub mean_bd: Option<f64>,
    /// Mean block efficiency over its rounds; `null` when it had none.
    pub mean_be: Option<f64>,
    /// Times its weights were loaded, since the session began.
    pub loads: usize,
    /// Times they were evicted, since the session began, as is all that follows.
    pub evictions: usize,
    /// Bytes read or copied for its loads.
    pub bytes_moved: u64,
    /// Milliseconds that its loads took.
    pub load_ms: f64,
    /// Milliseconds of decoding committed tokens that it had not seen.
    pub catchup_ms: f64,
    /// The part of `load_ms` during which the generation went on.
    pub hidden_swap_ms: f64,
    /// Milliseconds that the generation waited for it.
    pub exposed_swap_ms: f64,
    /// Why it left the pool, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// Running totals of one drafter.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub rounds: usize,
    pub drafted: usize,
    pub accepted: usize,
    pub bd: f64,
    pub be: f64,
}

impl Totals {
    pub(super) fn add(&mut self, feedback: &Feedback) {
        self.rounds += 1;
        self.drafted += feedback.drafted;
        self.accepted += feedback.accepted;
        self.bd += feedback.bd;
        self.be += feedback.be;
    }

    /// The report of a drafter in the pool.
    pub(super) fn report_of(&self, member: &Member) -> DrafterStatistics {
        let moves = member.statistics();
        DrafterStatistics {
            loads: moves.loads,
            evictions: moves.evictions,
            bytes_moved: moves.bytes_moved,
            load_ms: moves.load_ms,
            catchup_ms: moves.catchup_ms,
            hidden_swap_ms: moves.hidden_swap_ms,
            exposed_swap_ms: moves.exposed_swap_ms,
            failure: member.failure().map(str::to_owned),
            ..self.report(member.name(), member.kind().name())
        }
    }

    pub(super) fn report(&self, name: &str, kind: &'static str) -> DrafterStatistics {
        let mean = |sum: f64| (self.rounds > 0).then(|| sum / self.rounds as f64);
        DrafterStatistics {
            name: name.to_owned(),
            kind,
            rounds: self.rounds,
            drafted: self.drafted,
            accepted: self.accepted,
            mean_bd: mean(self.bd),
            mean_be: mean(self.be),
            loads: 0,
            evictions: 0,
            bytes_moved: 0,
            load_ms: 0.0,
            catchup_ms: 0.0,
            hidden_swap_ms: 0.0,
            exposed_swap_ms: 0.0,
            failure: None,
        }
    }
}

impl Timings {
    pub(super) fn add_round(&mut self, times: &RoundTimes) {
        self.draft_ms += milliseconds(times.draft);
        self.catchup_ms += milliseconds(times.catchup);
        self.verify_ms += milliseconds(times.verify);
        self.reward_ms += milliseconds(times.reward);
        self.decode_ms += milliseconds(times.decode);
    }
}

/// A duration in milliseconds.
pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
