//! `fixed:NAME`: one drafter throughout.

use rand::Rng;

use crate::bandit::arms::Arms;
use crate::bandit::spelling::{closest, did_you_mean, list};
use crate::bandit::{Feedback, Policy, PolicyParams, PolicyState};
use crate::error::{Error, Result};
use crate::types::ArmId;

/// Always the same arm; none once it has retired, so that decoding goes on without drafts
/// rather than with a drafter nobody asked for.
///
/// Draws no randomness.
#[derive(Clone, Debug)]
pub struct Fixed {
    arms: Arms,
    arm: ArmId,
    drafter: String,
}

impl Fixed {
    /// The first arm whose name is `drafter`; an error that lists the names if none is.
    pub(super) fn new(params: &PolicyParams, arms: &[String], drafter: &str) -> Result<Self> {
        let Some(arm) = arms.iter().position(|name| name == drafter) else {
            return Err(unknown_drafter(arms, drafter));
        };
        Ok(Self {
            arms: Arms::new(params.reward, arms.len()),
            arm: ArmId(arm),
            drafter: drafter.to_owned(),
        })
    }
}

/// How the policy is written.
pub(super) fn name(drafter: &str) -> String {
    format!("fixed:{drafter}")
}

fn unknown_drafter(arms: &[String], drafter: &str) -> Error {
    let drafters = match arms {
        [] => "there are no drafters".to_owned(),
        _ => format!("the drafters are {}", list(arms)),
    };
    let suggestion = closest(drafter, arms.iter().map(String::as_str));
    Error::invalid(format!(
        "policy `{}` names no drafter{}; {drafters}",
        name(drafter),
        did_you_mean(suggestion)
    ))
}

impl Policy for Fixed {
    fn name(&self) -> String {
        name(&self.drafter)
    }

    fn reset(&mut self, arms: usize) {
        self.arms.reset(arms);
    }

    fn carry(&mut self, arms: usize, discount: f64) {
        self.arms.carry(arms, discount);
    }

    fn select(&mut self, _rng: &mut dyn Rng) -> Option<ArmId> {
        self.arms.is_available(self.arm).then_some(self.arm)
    }

    fn observe(&mut self, feedback: &Feedback) -> Result<()> {
        self.arms.observe(feedback).map(drop)
    }

    fn retire(&mut self, arm: ArmId) {
        self.arms.retire(arm);
    }

    fn state(&self) -> PolicyState {
        self.arms.state(self.name(), |_| None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bandit::{PolicySpec, policy, rng};
    use crate::error::ErrorKind;

    #[test]
    fn only_the_named_drafter_is_selected() {
        let mut policy = policy("fixed:d1", 3);
        for _ in 0..10 {
            assert_eq!(policy.select(&mut rng(0)), Some(ArmId(1)));
        }
    }

    #[test]
    fn a_name_may_hold_colons() {
        let arms = ["a".to_owned(), "hf:b".to_owned()];
        let spec: PolicySpec = "fixed:hf:b".parse().unwrap();
        let mut policy = spec.build(&PolicyParams::default(), &arms).unwrap();
        assert_eq!(policy.select(&mut rng(0)), Some(ArmId(1)));
        assert_eq!(policy.name(), "fixed:hf:b");
    }

    #[test]
    fn no_other_arm_steps_in_when_the_drafter_retires() {
        let mut policy = policy("fixed:d1", 3);
        policy.retire(ArmId(0));
        assert_eq!(policy.select(&mut rng(0)), Some(ArmId(1)));
        policy.retire(ArmId(1));
        assert_eq!(policy.select(&mut rng(0)), None);
    }

    #[test]
    fn an_unknown_drafter_is_refused_with_those_there_are() {
        let refuse = |arms: &[String]| {
            let spec = PolicySpec::Fixed("codr".to_owned());
            let error = spec.build(&PolicyParams::default(), arms).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            error.to_string()
        };
        assert_eq!(
            refuse(&["chat".to_owned(), "code".to_owned()]),
            "policy `fixed:codr` names no drafter (did you mean `code`?); \
             the drafters are `chat`, `code`"
        );
        assert_eq!(
            refuse(&[]),
            "policy `fixed:codr` names no drafter; there are no drafters"
        );
    }
}
