//! What a policy believes, as a picture for logs and for people.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::types::ArmId;

/// A picture of a policy's statistics, for logs and for people.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PolicyState {
    /// [`Policy::name`](super::Policy::name).
    pub name: String,
    /// Rounds observed since the last reset or carry, those of arms that have retired since
    /// included.
    pub t: u64,
    /// The arms, in order.
    pub arms: Vec<ArmState>,
}

/// One arm in a [`PolicyState`].
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ArmState {
    /// Which arm.
    #[serde(serialize_with = "serialize_arm")]
    pub arm: ArmId,
    /// Its rounds observed since the last reset or carry.
    pub pulls: u64,
    /// How many rounds its mean is over: its own, those in which it was scored beside another,
    /// and what is left of earlier queries that were carried over.
    pub weight: f64,
    /// Mean reward of these rounds; `None` before the first.
    pub mean: Option<f64>,
    /// What the policy ranks the arm by, such as an upper confidence bound. `None` when the
    /// arm was not pulled or has retired, or when the policy does not rank.
    pub index: Option<f64>,
    /// Whether the arm is out for good.
    pub retired: bool,
}

fn serialize_arm<S: Serializer>(
    arm: &ArmId,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    arm.0.serialize(serializer)
}

impl fmt::Display for PolicyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.3}"));
        writeln!(f, "{}, t = {}", self.name, self.t)?;
        write!(
            f,
            "{:>4} {:>6} {:>7} {:>6} {:>6}",
            "arm", "pulls", "weight", "mean", "index"
        )?;
        for arm in &self.arms {
            write!(
                f,
                "\n{:>4} {:>6} {:>7.1} {:>6} {:>6}{}",
                arm.arm,
                arm.pulls,
                arm.weight,
                number(arm.mean),
                number(arm.index),
                if arm.retired { " retired" } else { "" }
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::bandit::{feedback, policy};
    use crate::types::ArmId;

    #[test]
    fn a_state_prints_as_a_table_and_serialises() {
        let mut policy = policy("metasd-ucb", 3);
        policy.observe(&feedback(0, 0.25)).unwrap();
        policy.retire(ArmId(2));
        let state = policy.state();
        assert_eq!(
            state.to_string(),
            "metasd-ucb, t = 1\n\
             \x20arm  pulls  weight   mean  index\n\
             \x20  0      1     1.0  0.250  0.250\n\
             \x20  1      0     0.0      -      -\n\
             \x20  2      0     0.0      -      - retired"
        );
        let json = serde_json::to_value(&state).unwrap();
        assert_eq!(json["name"], "metasd-ucb");
        assert_eq!(json["t"], 1);
        assert_eq!(json["arms"][0]["index"], 0.25);
        assert_eq!(json["arms"][1]["mean"], serde_json::Value::Null);
        assert_eq!(json["arms"][2]["arm"], 2);
        assert_eq!(json["arms"][2]["retired"], true);
    }
}
