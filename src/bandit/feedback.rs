//! What a policy learns from a round, and which reward it draws from it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::bandit::spelling::list;
use crate::error::{Error, Result};
use crate::types::ArmId;

/// How far beyond [0, 1] a reward may stray and still count as a rounding error.
const ROUNDING: f64 = 1e-6;

/// What a policy maximises.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reward {
    /// Block divergence: mean over the drafted positions of 1 − TV(target, drafter). It
    /// tells drafters apart with less noise than [`Reward::Be`] (arXiv 2604.05417).
    #[default]
    Bd,
    /// Block efficiency: the share of the drafted tokens that were accepted.
    Be,
}

impl Reward {
    /// Every reward's name, as it is written in a configuration.
    pub const KNOWN: &[&str] = &["bd", "be"];
}

impl fmt::Display for Reward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Reward::Bd => "bd",
            Reward::Be => "be",
        })
    }
}

impl FromStr for Reward {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "bd" => Ok(Reward::Bd),
            "be" => Ok(Reward::Be),
            _ => Err(Error::invalid(format!(
                "unknown reward `{text}`; known are {}",
                list(Reward::KNOWN)
            ))),
        }
    }
}

/// What a policy learns from one round.
///
/// A round in which the drafter proposed nothing is reported with `drafted`, `bd` and `be`
/// of 0. Leaving it out would keep the arm looking untried, and a policy that tries every
/// arm first would pick it forever.
#[derive(Clone, PartialEq, Debug)]
pub struct Feedback {
    /// The arm that drafted.
    pub arm: ArmId,
    /// Tokens it proposed.
    pub drafted: usize,
    /// Of these, the tokens that passed verification.
    pub accepted: usize,
    /// Tokens the round added to the text: the accepted ones and the target's own.
    pub committed: usize,
    /// Block divergence of the round, in [0, 1]; higher is better.
    pub bd: f64,
    /// Block efficiency of the round, in [0, 1]; higher is better.
    pub be: f64,
    /// Wall-clock time of the round, in seconds.
    pub seconds: f64,
    /// How well drafters, the one that drafted among them, agree with the target on the
    /// committed tokens: for each the mean of 1 − TV(target, drafter) over the committed
    /// positions, in [0, 1]. A drafter that is certain of one token agrees by that token's
    /// probability, and one that proposes nothing by 0. Empty unless
    /// [`Policy::wants_counterfactual`](super::Policy::wants_counterfactual); a drafter that
    /// could not be scored has no entry.
    pub counterfactual: Vec<(ArmId, f64)>,
}

impl Feedback {
    /// How many positions a counterfactual entry is the mean over.
    pub(super) fn positions(&self) -> f64 {
        self.committed.max(1) as f64
    }

    /// The value of `reward` in this round, in [0, 1].
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::error::ErrorKind::InvalidArgument) if the value is NaN or
    /// more than a rounding error (10⁻⁶) outside [0, 1].
    pub fn reward(&self, reward: Reward) -> Result<f64> {
        let value = match reward {
            Reward::Bd => self.bd,
            Reward::Be => self.be,
        };
        if (-ROUNDING..=1.0 + ROUNDING).contains(&value) {
            Ok(value.clamp(0.0, 1.0))
        } else {
            Err(Error::invalid(format!(
                "reward `{reward}` of arm {} is {value}; it must lie in [0, 1]",
                self.arm
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bandit::{feedback, message};

    #[test]
    fn the_reward_is_block_divergence_unless_told_otherwise() {
        let feedback = feedback(0, 0.7);
        assert_eq!(feedback.reward(Reward::default()).unwrap(), 0.7);
        assert_eq!(feedback.reward(Reward::Be).unwrap(), 0.4);
    }

    #[test]
    fn a_reward_name_round_trips_and_an_unknown_one_lists_the_known() {
        for name in Reward::KNOWN {
            let reward: Reward = name.parse().unwrap();
            assert_eq!(reward.to_string(), *name);
            assert_eq!(serde_json::to_value(reward).unwrap(), *name);
        }
        let message = message("accuracy".parse::<Reward>());
        assert_eq!(message, "unknown reward `accuracy`; known are `bd`, `be`");
    }

    #[test]
    fn a_reward_outside_the_unit_interval_is_refused_beyond_rounding() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.01, 1.01] {
            let message = message(feedback(3, value).reward(Reward::Bd));
            assert!(message.contains("`bd` of arm 3"), "{message}");
        }
        assert_eq!(feedback(0, 1.0 + 5e-7).reward(Reward::Bd).unwrap(), 1.0);
        assert_eq!(feedback(0, -5e-7).reward(Reward::Bd).unwrap(), 0.0);
    }
}
