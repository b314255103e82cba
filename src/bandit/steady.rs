//! A policy that does not change its mind too often, where changing costs something.

use rand::Rng;

use crate::bandit::{Feedback, Policy, PolicyParams, PolicyState};
use crate::error::Result;
use crate::types::ArmId;

/// Another policy, held to an arm for some rounds after each change: for `dwell` rounds, and, given
/// a share of the time that changes may take, until the change was that part of it at most. A change
/// that costs as much as `c` rounds is stayed with for `c / share` rounds.
///
/// Only rounds in which the arm drafted count: while it is being brought in the others' do not.
#[derive(Debug)]
pub struct Steady {
    inner: Box<dyn Policy>,
    dwell: usize,
    share: Option<f64>,
    /// What changing to each arm costs, in rounds.
    costs: Vec<f64>,
    current: Option<ArmId>,
    /// Rounds that the current arm has left before another may be chosen.
    left: usize,
}

impl Steady {
    /// `policy` as `params` have it: held by them, or as it is where they do not hold it.
    pub fn of(policy: Box<dyn Policy>, params: &PolicyParams) -> Box<dyn Policy> {
        if params.dwell <= 1 && params.switch_cost.is_none() {
            return policy;
        }
        Box::new(Self {
            inner: policy,
            dwell: params.dwell,
            share: params.switch_cost,
            costs: Vec::new(),
            current: None,
            left: 0,
        })
    }

    /// Rounds for which a change to `arm` is stayed with.
    fn rounds_with(&self, arm: ArmId) -> usize {
        let cost = self.costs.get(arm.0).copied().unwrap_or(0.0);
        let amortised = self.share.map_or(0.0, |share| (cost / share).ceil());
        // `as` takes what is not finite for the nearest number.
        self.dwell.max(amortised as usize)
    }

    fn forget(&mut self) {
        self.current = None;
        self.left = 0;
    }
}

impl Policy for Steady {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn reset(&mut self, arms: usize) {
        self.forget();
        self.inner.reset(arms);
    }

    fn carry(&mut self, arms: usize, discount: f64) {
        self.forget();
        self.inner.carry(arms, discount);
    }

    fn expect_rounds(&mut self, rounds: Option<usize>) {
        self.inner.expect_rounds(rounds);
    }

    fn select(&mut self, rng: &mut dyn Rng) -> Option<ArmId> {
        if self.current.is_some() && self.left > 0 {
            return self.current;
        }
        let next = self.inner.select(rng);
        if let Some(arm) = next
            && next != self.current
        {
            self.left = self.rounds_with(arm);
        }
        self.current = next;
        next
    }

    fn observe(&mut self, feedback: &Feedback) -> Result<()> {
        self.inner.observe(feedback)?;
        if self.current == Some(feedback.arm) {
            self.left = self.left.saturating_sub(1);
        }
        Ok(())
    }

    fn retire(&mut self, arm: ArmId) {
        if self.current == Some(arm) {
            self.forget();
        }
        self.inner.retire(arm);
    }

    fn wants_counterfactual(&self) -> bool {
        self.inner.wants_counterfactual()
    }

    fn wants_ranking(&self) -> bool {
        self.inner.wants_ranking()
    }

    fn rank(&mut self, ranking: &[ArmId]) {
        self.inner.rank(ranking);
    }

    fn wants_switch_costs(&self) -> bool {
        self.share.is_some()
    }

    fn switch_costs(&mut self, costs: &[f64]) {
        costs.clone_into(&mut self.costs);
    }

    fn state(&self) -> PolicyState {
        self.inner.state()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bandit::{every_spec, feedback, message, play, rng};

    fn steady(spec: &str, arms: usize, dwell: usize, switch_cost: Option<f64>) -> Box<dyn Policy> {
        let names: Vec<String> = (0..arms).map(|i| format!("d{i}")).collect();
        let params = PolicyParams {
            dwell,
            switch_cost,
            ..PolicyParams::default()
        };
        let spec: crate::bandit::PolicySpec = spec.parse().unwrap();
        spec.build(&params, &names).unwrap()
    }

    /// How long each stay with an arm was, the last one left out.
    fn stays(choices: &[usize]) -> Vec<usize> {
        let mut stays: Vec<usize> = choices.chunk_by(|a, b| a == b).map(<[_]>::len).collect();
        stays.pop();
        stays
    }

    #[test]
    fn an_arm_is_stayed_with_for_as_many_rounds_as_asked() {
        let choices = play(&mut *steady("round-robin", 3, 4, None), &[0.5; 3], 12);
        assert_eq!(choices, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    }

    #[test]
    fn a_change_is_stayed_with_until_it_took_its_share_of_the_time() {
        let mut policy = steady("round-robin", 2, 1, Some(0.1));
        assert!(policy.wants_switch_costs());
        policy.switch_costs(&[0.0, 0.55]);
        let choices = play(&mut *policy, &[0.5; 2], 14);
        assert_eq!(stays(&choices), [1, 6, 1]);
    }

    #[test]
    fn rounds_that_others_drafted_in_the_arms_place_do_not_count() {
        let mut policy = steady("round-robin", 3, 2, None);
        for _ in 0..5 {
            assert_eq!(policy.select(&mut rng(0)), Some(ArmId(0)));
            policy.observe(&feedback(2, 0.5)).unwrap();
        }
        policy.observe(&feedback(0, 0.5)).unwrap();
        assert_eq!(policy.select(&mut rng(0)), Some(ArmId(0)));
        policy.observe(&feedback(0, 0.5)).unwrap();
        assert_eq!(policy.select(&mut rng(0)), Some(ArmId(1)));
    }

    #[test]
    fn an_arm_that_retires_is_not_stayed_with() {
        let mut policy = steady("round-robin", 2, 100, None);
        assert_eq!(policy.select(&mut rng(0)), Some(ArmId(0)));
        policy.retire(ArmId(0));
        assert_eq!(policy.select(&mut rng(0)), Some(ArmId(1)));
    }

    #[test]
    fn a_dwell_of_one_leaves_a_policy_as_it_is() {
        for spec in every_spec() {
            let plain = crate::bandit::policy(&spec, 3);
            assert_eq!(
                format!("{:?}", steady(&spec, 3, 1, None)),
                format!("{plain:?}")
            );
        }
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let validate = |dwell, switch_cost| {
            PolicyParams {
                dwell,
                switch_cost,
                ..PolicyParams::default()
            }
            .validate()
        };
        assert!(message(validate(0, None)).contains("dwell is 0; it must be at least 1"));
        for share in [0.0, -0.1, 1.5, f64::NAN] {
            let message = message(validate(1, Some(share)));
            assert!(message.contains("switch_cost is"), "{message}");
        }
    }

    proptest! {
        #[test]
        fn every_stay_is_at_least_the_dwell_whatever_the_policy(
            index in 0usize..crate::bandit::PolicySpec::KNOWN.len(),
            dwell in 1usize..7,
            rewards in prop::array::uniform3(0.0f64..1.0),
        ) {
            let spec = every_spec().nth(index).unwrap();
            let mut policy = steady(&spec, 3, dwell, None);
            if policy.select(&mut rng(1)).is_some() {
                policy.reset(3);
                let choices = play(&mut *policy, &rewards, 60);
                prop_assert!(stays(&choices).iter().all(|&stay| stay >= dwell), "{choices:?}");
            }
        }
    }
}
