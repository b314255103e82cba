//! How soon a policy takes the best arm.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::bandit::{Feedback, Policy, PolicyParams, PolicySpec, PolicyState};
use crate::error::Result;
use crate::sim::{Experiment, SETTLED_ROUNDS, SETTLED_SHARE, stopping_time};
use crate::types::ArmId;

/// For each round of a query in what share of the runs it went to the best arm.
#[derive(Clone, PartialEq, Debug)]
pub struct Convergence {
    share: Vec<f64>,
}

impl Convergence {
    /// The shares of the rounds up to that in which the shortest run ended, the first round first.
    pub fn share(&self) -> &[f64] {
        &self.share
    }

    /// The first round by which the best arm had [`SETTLED_SHARE`] of the last [`SETTLED_ROUNDS`]
    /// rounds of all runs; `None` if that never came.
    pub fn rounds(&self) -> Option<usize> {
        let needed = SETTLED_SHARE * SETTLED_ROUNDS as f64;
        let is_enough = |window: &[f64]| window.iter().sum::<f64>() >= needed;
        let first = self.share.windows(SETTLED_ROUNDS).position(is_enough)?;
        Some(first + SETTLED_ROUNDS)
    }
}

impl Experiment<'_> {
    /// How soon a policy takes `best`. The runs are those of [`Self::runs`]; `after_run` as there.
    ///
    /// # Errors
    /// Those of [`Self::runs`].
    pub fn convergence(
        &self,
        spec: &PolicySpec,
        params: &PolicyParams,
        best: ArmId,
        after_run: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Convergence> {
        let names: Vec<String> = (0..self.arms.len()).map(|arm| arm.to_string()).collect();
        let mut policy = Observed {
            policy: spec.build(params, &names)?,
            choices: Vec::new(),
        };
        let mut hits: Vec<u64> = Vec::new();
        for run in 0..self.runs {
            let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
            rng.set_stream(run);
            policy.choices.clear();
            stopping_time(&mut policy, self.arms, self.tokens, self.n_max, &mut rng)?;
            if run == 0 {
                hits.resize(policy.choices.len(), 0);
            }
            // Beyond the end of the shortest run the others alone would count.
            hits.truncate(policy.choices.len());
            for (hits, choice) in hits.iter_mut().zip(&policy.choices) {
                *hits += u64::from(*choice == Some(best));
            }
            after_run()?;
        }
        let share = hits.iter().map(|&hits| hits as f64 / self.runs as f64);
        Ok(Convergence {
            share: share.collect(),
        })
    }
}

/// A policy whose choices are written down.
#[derive(Debug)]
struct Observed {
    policy: Box<dyn Policy>,
    choices: Vec<Option<ArmId>>,
}

impl Policy for Observed {
    fn name(&self) -> String {
        self.policy.name()
    }

    fn reset(&mut self, arms: usize) {
        self.policy.reset(arms);
    }

    fn carry(&mut self, arms: usize, discount: f64) {
        self.policy.carry(arms, discount);
    }

    fn expect_rounds(&mut self, rounds: Option<usize>) {
        self.policy.expect_rounds(rounds);
    }

    fn select(&mut self, rng: &mut dyn Rng) -> Option<ArmId> {
        let choice = self.policy.select(rng);
        self.choices.push(choice);
        choice
    }

    fn observe(&mut self, feedback: &Feedback) -> Result<()> {
        self.policy.observe(feedback)
    }

    fn retire(&mut self, arm: ArmId) {
        self.policy.retire(arm);
    }

    fn wants_counterfactual(&self) -> bool {
        self.policy.wants_counterfactual()
    }

    fn state(&self) -> PolicyState {
        self.policy.state()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bandit::Reward;
    use crate::sim::Arm;

    fn convergence(alphas: &[f64], policy: &str, params: &PolicyParams) -> Convergence {
        let arms: Vec<Arm> = alphas.iter().map(|&a| Arm::steady(a).unwrap()).collect();
        let experiment = Experiment {
            arms: &arms,
            tokens: 3000,
            n_max: 5,
            runs: 60,
            seed: 1,
        };
        let policy: PolicySpec = policy.parse().unwrap();
        let found = experiment.convergence(&policy, params, ArmId(0), &mut || Ok(()));
        found.unwrap()
    }

    #[test]
    fn fixed_arms_and_turns_have_the_shares_that_their_names_say() {
        let params = PolicyParams::default();
        let best = convergence(&[0.7, 0.3], "fixed:0", &params);
        assert!(best.share().iter().all(|&share| share == 1.0));
        assert_eq!(best.rounds(), Some(SETTLED_ROUNDS));
        let turns = convergence(&[0.7, 0.3], "round-robin", &params);
        assert_eq!(turns.share()[..4], [1.0, 0.0, 1.0, 0.0]);
        assert_eq!(turns.rounds(), None);
    }

    #[test]
    fn a_curve_is_as_long_as_the_shortest_run() {
        let params = PolicyParams::default();
        let curve = convergence(&[0.7, 0.6], "random", &params);
        // A run commits 1 to 6 tokens a round.
        assert!((500..3000).contains(&curve.share().len()));
        assert!(
            curve
                .share()
                .iter()
                .all(|share| (0.0..=1.0).contains(share))
        );
    }

    #[test]
    fn block_divergence_finds_the_best_arm_sooner_than_block_efficiency() {
        let rounds = |reward, beta| {
            let params = PolicyParams {
                reward,
                beta,
                ..PolicyParams::default()
            };
            convergence(&[0.5, 0.41, 0.32, 0.31, 0.3], "metasd-ucb", &params).rounds()
        };
        let bd = rounds(Reward::Bd, 0.13).expect("it settles");
        let be = rounds(Reward::Be, 0.2).unwrap_or(usize::MAX);
        assert!(bd < be, "{bd} {be}");
    }
}
