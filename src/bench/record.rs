//! What one run measured, as it is written to a line of the benchmark's file.

use serde::{Deserialize, Serialize};

use crate::audit::Verdict;
use crate::bandit::Reward;
use crate::session::Timings;

/// One finished run: one prompt with one method.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunRecord {
    /// Which repetition, from 0.
    pub repetition: usize,
    /// Which prompt, from 0.
    pub prompt: usize,
    /// The prompt's domain.
    pub domain: String,
    /// The sampling temperature.
    pub temperature: f32,
    /// The method as it is written.
    pub method: String,
    /// The reward; `null` for a method that does not look at it.
    pub reward: Option<Reward>,
    /// Why the text ended.
    pub stop_reason: String,
    /// Tokens generated.
    pub tokens: usize,
    /// Time for generating them, without that for reading the prompt.
    pub milliseconds: f64,
    /// Where that time went.
    pub parts: Parts,
    /// How the text compares with the target's own; `null` unless greedy.
    pub comparison: Option<Comparison>,
    /// Every round.
    pub rounds: Vec<RoundPoint>,
}

/// What a run is found by.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RunKey {
    /// Which repetition.
    pub repetition: usize,
    /// Which prompt.
    pub prompt: usize,
    /// The bits of the temperature.
    pub temperature: u32,
    /// The method as it is written.
    pub method: String,
    /// The reward.
    pub reward: Option<Reward>,
}

impl RunRecord {
    /// What the run is found by.
    pub fn key(&self) -> RunKey {
        RunKey {
            repetition: self.repetition,
            prompt: self.prompt,
            temperature: self.temperature.to_bits(),
            method: self.method.clone(),
            reward: self.reward,
        }
    }

    /// Tokens generated a second; `None` when there was no time to measure.
    pub fn tokens_per_second(&self) -> Option<f64> {
        (self.milliseconds > 0.0).then(|| self.tokens as f64 / self.milliseconds * 1e3)
    }
}

/// Where the time of a run went, in milliseconds.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Parts {
    /// Drafting.
    pub draft_ms: f64,
    /// The target's decodes and acceptance.
    pub verify_ms: f64,
    /// Text that a drafter had not seen.
    pub catchup_ms: f64,
    /// Bringing drafters into memory.
    pub swap_ms: f64,
    /// The policy.
    pub select_ms: f64,
    /// Block divergence.
    pub reward_ms: f64,
    /// Scoring drafters on the committed text because the policy asked for it.
    pub counterfactual_ms: f64,
    /// All else.
    pub other_ms: f64,
}

impl Parts {
    /// The names of the parts, in the order of [`Self::values`].
    pub const NAMES: [&str; 8] = [
        "draft",
        "verify",
        "catch-up",
        "swap",
        "select",
        "reward",
        "counterfactual",
        "other",
    ];

    /// Where the time of a generation went.
    pub fn of(timings: &Timings) -> Self {
        let mut parts = Self {
            draft_ms: timings.draft_ms,
            verify_ms: timings.verify_ms,
            catchup_ms: timings.catchup_ms,
            swap_ms: timings.swap_ms,
            select_ms: timings.select_ms,
            reward_ms: timings.reward_ms,
            counterfactual_ms: timings.counterfactual_ms,
            other_ms: 0.0,
        };
        let known: f64 = parts.values().iter().sum();
        parts.other_ms = (timings.predicted_ms - known).max(0.0);
        parts
    }

    /// The parts in the order of [`Self::NAMES`].
    pub fn values(&self) -> [f64; 8] {
        [
            self.draft_ms,
            self.verify_ms,
            self.catchup_ms,
            self.swap_ms,
            self.select_ms,
            self.reward_ms,
            self.counterfactual_ms,
            self.other_ms,
        ]
    }

    /// Each part times `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let mut parts = *self;
        for part in parts.parts_mut() {
            *part *= factor;
        }
        parts
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (part, more) in self.parts_mut().into_iter().zip(other.values()) {
            *part += more;
        }
    }

    fn parts_mut(&mut self) -> [&mut f64; 8] {
        [
            &mut self.draft_ms,
            &mut self.verify_ms,
            &mut self.catchup_ms,
            &mut self.swap_ms,
            &mut self.select_ms,
            &mut self.reward_ms,
            &mut self.counterfactual_ms,
            &mut self.other_ms,
        ]
    }
}

/// How a greedy text compares with that of the target alone.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// The name of the [`Verdict`].
    pub verdict: String,
    /// Tokens before the first difference; `null` where there is none.
    pub position: Option<usize>,
    /// How close the two tokens' logits are there; `null` where a text had ended.
    pub gap: Option<f32>,
}

impl From<&Verdict> for Comparison {
    fn from(verdict: &Verdict) -> Self {
        let difference = verdict.difference();
        Self {
            verdict: verdict.name().to_owned(),
            position: difference.map(|difference| difference.position),
            gap: difference
                .map(|difference| difference.gap)
                .filter(|gap| gap.is_finite()),
        }
    }
}

/// One round of a run; written as an array of its fields.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "RoundRow", into = "RoundRow")]
pub struct RoundPoint {
    /// Which drafter of the pool; the place after them is that of an ensemble of all, and `None`
    /// the target alone.
    pub drafter: Option<usize>,
    /// Tokens drafted.
    pub drafted: usize,
    /// Tokens accepted.
    pub accepted: usize,
    /// Tokens committed.
    pub committed: usize,
    /// Block divergence; `None` when nothing was drafted.
    pub bd: Option<f32>,
    /// Block efficiency; `None` when nothing was drafted.
    pub be: Option<f32>,
}

type RoundRow = (Option<usize>, usize, usize, usize, Option<f32>, Option<f32>);

impl From<RoundRow> for RoundPoint {
    fn from((drafter, drafted, accepted, committed, bd, be): RoundRow) -> Self {
        Self {
            drafter,
            drafted,
            accepted,
            committed,
            bd,
            be,
        }
    }
}

impl From<RoundPoint> for RoundRow {
    fn from(round: RoundPoint) -> Self {
        (
            round.drafter,
            round.drafted,
            round.accepted,
            round.committed,
            round.bd,
            round.be,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Difference;
    use crate::bench::fixture::{round, run};

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let idle = RoundPoint {
            drafter: None,
            drafted: 0,
            accepted: 0,
            committed: 1,
            bd: None,
            be: None,
        };
        let rounds = vec![round(2, 1, 0.25), idle];
        let mut record = run(("qa", 3), "metasd-ucb@3", Some(Reward::Be), rounds);
        record.comparison = Some(Comparison {
            verdict: "identical".to_owned(),
            position: None,
            gap: None,
        });
        let line = serde_json::to_string(&record).unwrap();
        assert!(line.contains("[[2,3,1,2,0.25,0.33333334],[null,0,0,1,null,null]]"));
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<RunRecord>(&line).unwrap(), record);
    }

    #[test]
    fn the_parts_make_up_the_time() {
        let timings = Timings {
            predicted_ms: 10.0,
            draft_ms: 2.0,
            verify_ms: 5.0,
            catchup_ms: 1.0,
            ..Timings::default()
        };
        let parts = Parts::of(&timings);
        assert_eq!(parts.other_ms, 2.0);
        assert_eq!(parts.scaled(0.5).values().iter().sum::<f64>(), 5.0);
    }

    #[test]
    fn a_text_that_had_ended_has_no_gap() {
        let verdict = Verdict::Unexplained(Difference {
            position: 4,
            expected: None,
            found: None,
            gap: f32::INFINITY,
        });
        let comparison = Comparison::from(&verdict);
        assert_eq!((comparison.position, comparison.gap), (Some(4), None));
        assert_eq!(comparison.verdict, "unexplained");
    }
}
