//! The real policies on scripted arms or on recorded texts: how many rounds a query takes, and how
//! many more than with the best arm alone. No model runs.
//!
//! A [`Query`] replays a recording, round for round as the engine would have gone.
//!
//! An [`Arm`] is a drafter whose agreement with the target is scripted. [`stopping_time`] plays
//! one query; an [`Experiment`] repeats it, and [`regret`] compares two policies over the same
//! queries.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::bandit::{Feedback, Policy, PolicyParams, PolicySpec};
use crate::error::{Error, Result};
use crate::types::ArmId;

mod arm;
#[cfg(test)]
mod bands;
mod convergence;
mod estimate;
mod fit;
mod moments;
mod replay;
mod settling;

pub use arm::{Arm, Block, DEFAULT_SPREAD};
pub use convergence::Convergence;
pub use estimate::Estimate;
pub use fit::Fit;
pub use moments::Moments;
pub use replay::{ArmTotals, Query, Replay, Split};
pub use settling::{SETTLED_ROUNDS, SETTLED_SHARE};

use settling::Settling;

/// The stream of an arm's generator that its agreement on other arms' text comes from; its own
/// blocks come from stream 0.
const SCORE_STREAM: u64 = 1;

/// What came of one query.
#[derive(Clone, PartialEq, Debug)]
pub struct SimRun {
    /// The stopping time τ(B): rounds until the budget was reached.
    pub rounds: u64,
    /// Rounds of each arm.
    pub pulls: Vec<u64>,
    /// The first round (from 1) by which the arm that was the best at the moment had
    /// [`SETTLED_SHARE`] of the last [`SETTLED_ROUNDS`] rounds; `None` if that never came.
    pub settled: Option<u64>,
}

/// Plays a query of `tokens` tokens with `policy`, which is reset first.
///
/// A round of an arm drafts `n_max` tokens, those before the first rejection are accepted, and one
/// more is committed. Its `BD` is the mean agreement over the drafted positions, its `BE` is
/// accepted / `n_max`. A round without an arm commits one token. Unlike an engine, the last rounds
/// may draft beyond the budget. A policy that wants counterfactual feedback is given every arm's
/// mean agreement over as many positions as were committed: of the arm that drafted, its own
/// positions up to the first rejection and after a whole accepted draft one more; of the others,
/// positions drawn for it.
///
/// Each arm draws from a generator of its own, seeded from `rng` before anything else: with equal
/// generators an arm that does not change gives the same blocks in the same order to every policy,
/// and what differs between two policies is only their choices. What an arm that did not draft
/// would have agreed to comes from another stream of its generator.
///
/// # Errors
/// [`InvalidArgument`](crate::error::ErrorKind::InvalidArgument) if `tokens` or `n_max` is 0;
/// those of [`Policy::observe`].
///
/// # Panics
/// If the policy selects an arm it was not given.
pub fn stopping_time(
    policy: &mut dyn Policy,
    arms: &[Arm],
    tokens: u64,
    n_max: usize,
    rng: &mut dyn Rng,
) -> Result<SimRun> {
    check_positive("tokens", tokens)?;
    check_positive("n_max", n_max as u64)?;
    let mut tapes: Vec<ChaCha8Rng> = arms
        .iter()
        .map(|_| ChaCha8Rng::seed_from_u64(rng.next_u64()))
        .collect();
    let mut score_tapes = tapes.clone();
    (score_tapes.iter_mut()).for_each(|tape| tape.set_stream(SCORE_STREAM));
    policy.expect_rounds(expected_rounds(arms, tokens, n_max));
    policy.reset(arms.len());
    let mut run = SimRun {
        rounds: 0,
        pulls: vec![0; arms.len()],
        settled: None,
    };
    let mut settling = Settling::new(arms);
    let mut done = 0;
    while done < tokens {
        run.rounds += 1;
        let progress = done as f64 / tokens as f64;
        let Some(choice) = policy.select(rng) else {
            done += 1;
            continue;
        };
        let block = arms[choice.0].round(progress, n_max, &mut tapes[choice.0]);
        let committed = block.accepted + 1;
        let mut counterfactual = Vec::new();
        if policy.wants_counterfactual() {
            for (index, (arm, tape)) in arms.iter().zip(&mut score_tapes).enumerate() {
                let own = (index == choice.0).then_some(&block);
                counterfactual.push((ArmId(index), arm.score(progress, committed, own, tape)));
            }
        }
        done += committed as u64;
        policy.observe(&Feedback {
            arm: choice,
            drafted: n_max,
            accepted: block.accepted,
            committed,
            bd: block.bd,
            be: block.accepted as f64 / n_max as f64,
            seconds: 0.0,
            counterfactual,
        })?;
        run.pulls[choice.0] += 1;
        if run.settled.is_none() && settling.has_settled(arms, progress, choice) {
            run.settled = Some(run.rounds);
        }
    }
    Ok(run)
}

/// The rounds that `tokens` tokens take in turns of all arms.
fn expected_rounds(arms: &[Arm], tokens: u64, n_max: usize) -> Option<usize> {
    let committed = arms.iter().map(|arm| arm.committed(0.5, n_max));
    let mean = committed.sum::<f64>() / arms.len() as f64;
    (!arms.is_empty()).then(|| (tokens as f64 / mean) as usize)
}

fn check_positive(name: &str, value: u64) -> Result<()> {
    if value > 0 {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{name} is 0; it must be at least 1"
    )))
}

/// The same query over and over, each time with other randomness.
#[derive(Clone, Copy, Debug)]
pub struct Experiment<'a> {
    /// The arms.
    pub arms: &'a [Arm],
    /// Tokens of a query.
    pub tokens: u64,
    /// Tokens drafted in a round.
    pub n_max: usize,
    /// How often the query is repeated.
    pub runs: u64,
    /// Seed of the whole; the `r`-th query of every policy has stream `r` of it.
    pub seed: u64,
}

impl Experiment<'_> {
    /// All runs of a policy. The arms go by their numbers: `fixed:0` is the first. `after_run` is
    /// called after each run; its error ends the runs.
    ///
    /// # Errors
    /// Those of [`PolicySpec::build`], [`stopping_time`] and `after_run`.
    pub fn runs(
        &self,
        spec: &PolicySpec,
        params: &PolicyParams,
        after_run: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Vec<SimRun>> {
        let names: Vec<String> = (0..self.arms.len()).map(|arm| arm.to_string()).collect();
        let mut policy = spec.build(params, &names)?;
        (0..self.runs)
            .map(|run| {
                let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
                rng.set_stream(run);
                let (arms, policy) = (self.arms, &mut *policy);
                let run = stopping_time(policy, arms, self.tokens, self.n_max, &mut rng)?;
                after_run().map(|()| run)
            })
            .collect()
    }

    /// The arm that alone takes the fewest rounds on average, with its runs; of equal ones the
    /// lowest. `after_run` as in [`Self::runs`].
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::error::ErrorKind::InvalidArgument) without arms; those of
    /// [`Self::runs`].
    pub fn best_fixed(
        &self,
        after_run: &mut dyn FnMut() -> Result<()>,
    ) -> Result<(ArmId, Vec<SimRun>)> {
        let params = PolicyParams::default();
        let mut best: Option<(u64, ArmId, Vec<SimRun>)> = None;
        for arm in 0..self.arms.len() {
            let runs = self.runs(&PolicySpec::Fixed(arm.to_string()), &params, after_run)?;
            let rounds = runs.iter().map(|run| run.rounds).sum();
            if best.as_ref().is_none_or(|&(fewest, ..)| rounds < fewest) {
                best = Some((rounds, ArmId(arm), runs));
            }
        }
        best.map(|(_, arm, runs)| (arm, runs))
            .ok_or_else(|| Error::invalid("no arms; a simulation needs at least one"))
    }
}

/// The regret E\[τ(policy)\] − E\[τ(best)\] in rounds, from runs of the same [`Experiment`].
///
/// The difference is taken run by run. As both have the same randomness there, what is left of it
/// comes from the choices, and the standard error is far below that of either mean.
pub fn regret(policy: &[SimRun], best: &[SimRun]) -> Estimate {
    let differences: Vec<f64> = policy
        .iter()
        .zip(best)
        .map(|(policy, best)| policy.rounds as f64 - best.rounds as f64)
        .collect();
    Estimate::of(&differences)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bandit::Reward;

    fn arms(texts: &[&str]) -> Vec<Arm> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn experiment(arms: &[Arm], tokens: u64, runs: u64) -> Experiment<'_> {
        Experiment {
            arms,
            tokens,
            n_max: 5,
            runs,
            seed: 1,
        }
    }

    fn ok() -> Result<()> {
        Ok(())
    }

    fn spec(text: &str) -> PolicySpec {
        text.parse().unwrap()
    }

    fn regret_of(text: &str, params: &PolicyParams, experiment: &Experiment<'_>) -> Estimate {
        let (_, best) = experiment.best_fixed(&mut ok).unwrap();
        regret(
            &experiment.runs(&spec(text), params, &mut ok).unwrap(),
            &best,
        )
    }

    #[test]
    fn the_best_fixed_arm_has_no_regret_at_all() {
        let arms = arms(&["0.4", "0.7", "0.55"]);
        let experiment = experiment(&arms, 500, 20);
        let (best, _) = experiment.best_fixed(&mut ok).unwrap();
        assert_eq!(best, ArmId(1));
        let zero = Estimate {
            mean: 0.0,
            error: 0.0,
        };
        let params = PolicyParams::default();
        assert_eq!(regret_of("fixed:1", &params, &experiment), zero);
        assert!(regret_of("fixed:0", &params, &experiment).mean > 10.0);
    }

    #[test]
    fn a_fixed_arm_takes_the_rounds_that_its_agreement_says() {
        let arms = arms(&["0.6"]);
        let experiment = experiment(&arms, 1000, 200);
        let runs = experiment.runs(&spec("fixed:0"), &PolicyParams::default(), &mut ok);
        let rounds: Vec<f64> = runs.unwrap().iter().map(|run| run.rounds as f64).collect();
        let expected = 1000.0 / arms[0].committed(0.0, 5);
        let found = Estimate::of(&rounds);
        // Within a round of the overshoot.
        assert!(
            (found.mean - expected).abs() < 1.0 + 4.0 * found.error,
            "{found:?}"
        );
    }

    #[test]
    fn without_speculation_every_token_is_a_round() {
        let arms = arms(&["0.6", "0.4"]);
        let run = &experiment(&arms, 77, 1)
            .runs(&spec("off"), &PolicyParams::default(), &mut ok)
            .unwrap()[0];
        assert_eq!(
            (run.rounds, &run.pulls[..], run.settled),
            (77, &[0, 0][..], None)
        );
    }

    #[test]
    fn a_run_repeats_with_its_seed_and_counts_its_rounds() {
        let arms = arms(&["0.4", "0.5", "0.6"]);
        for text in PolicySpec::KNOWN {
            let spec = spec(&text.replace("NAME", "2"));
            let runs = || {
                experiment(&arms, 400, 3)
                    .runs(&spec, &PolicyParams::default(), &mut ok)
                    .unwrap()
            };
            assert_eq!(runs(), runs(), "{text}");
            for run in runs() {
                let pulled: u64 = run.pulls.iter().sum();
                assert!(*text == "off" || pulled == run.rounds, "{text}");
            }
        }
    }

    #[test]
    fn a_policy_settles_on_the_best_arm_and_one_that_takes_turns_never_does() {
        let arms = arms(&["0.3", "0.8"]);
        let settled = |text: &str| {
            let runs =
                experiment(&arms, 2000, 1).runs(&spec(text), &PolicyParams::default(), &mut ok);
            runs.unwrap()[0].settled
        };
        assert_eq!(settled("fixed:1"), Some(SETTLED_ROUNDS as u64));
        assert_eq!(settled("fixed:0"), None);
        assert_eq!(settled("round-robin"), None);
        assert!(settled("metasd-ucb").is_some_and(|round| round < 100));
    }

    #[test]
    fn following_a_change_takes_fewer_rounds_than_any_arm_alone() {
        let arms = arms(&["0.8/0.3", "0.3/0.8"]);
        let experiment = experiment(&arms, 4000, 30);
        let sliding = regret_of("sw-ucb", &PolicyParams::default(), &experiment);
        assert!(sliding.mean + 4.0 * sliding.error < 0.0, "{sliding:?}");
    }

    #[test]
    fn regret_of_ucb_grows_with_the_logarithm_of_the_budget() {
        let arms = arms(&["0.4", "0.55", "0.7"]);
        let params = PolicyParams {
            beta: Some(0.2),
            ..PolicyParams::default()
        };
        let points: Vec<(f64, f64)> = (7..=13)
            .map(|power| {
                let experiment = experiment(&arms, 1 << power, 100);
                let regret = regret_of("metasd-ucb", &params, &experiment);
                (experiment.tokens as f64, regret.mean)
            })
            .collect();
        let logarithm = Fit::logarithm(&points).unwrap();
        let line = Fit::line(&points).unwrap();
        assert!(logarithm.slope > 0.0 && logarithm.r2 > 0.95, "{points:?}");
        assert!(1.0 - logarithm.r2 < 0.5 * (1.0 - line.r2), "{points:?}");
        let random = regret_of("random", &params, &experiment(&arms, 1 << 13, 20));
        assert!(points[6].1 < 0.2 * random.mean, "{points:?} {random:?}");
    }

    #[test]
    fn block_divergence_costs_less_regret_than_block_efficiency() {
        let arms = arms(&["0.4", "0.5", "0.6"]);
        let experiment = experiment(&arms, 2000, 100);
        let [bd, be] = [Reward::Bd, Reward::Be].map(|reward| {
            let params = PolicyParams {
                reward,
                ..PolicyParams::default()
            };
            regret_of("metasd-ucb", &params, &experiment)
        });
        assert!(
            bd.mean + 2.0 * bd.error < be.mean - 2.0 * be.error,
            "{bd:?} {be:?}"
        );
    }

    #[test]
    fn an_error_after_a_run_ends_the_runs() {
        let arms = arms(&["0.5"]);
        let mut left = 3;
        let mut stop = || {
            left -= 1;
            if left > 0 {
                Ok(())
            } else {
                Err(Error::invalid("enough"))
            }
        };
        let runs = experiment(&arms, 9, 100).runs(
            &PolicySpec::MetasdUcb,
            &PolicyParams::default(),
            &mut stop,
        );
        assert_eq!(runs.unwrap_err().to_string(), "enough");
        assert_eq!(left, 0);
    }

    #[test]
    fn what_cannot_be_simulated_is_refused() {
        let arms = arms(&["0.5"]);
        let params = PolicyParams::default();
        let message = |experiment: Experiment<'_>| {
            let runs = experiment.runs(&PolicySpec::MetasdUcb, &params, &mut ok);
            runs.unwrap_err().to_string()
        };
        assert!(message(experiment(&arms, 0, 1)).starts_with("tokens is 0"));
        let undrafted = Experiment {
            n_max: 0,
            ..experiment(&arms, 9, 1)
        };
        assert!(message(undrafted).starts_with("n_max is 0"));
        let error = experiment(&[], 9, 1).best_fixed(&mut ok).unwrap_err();
        assert!(error.to_string().starts_with("no arms"), "{error}");
    }
}
