//! How soon a policy takes the best arm.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::bandit::{self, Feedback, Policy, PolicyParams, PolicySpec, PolicyState};
use crate::error::Result;
use crate::sim::{Experiment, Query, SETTLED_ROUNDS, SETTLED_SHARE, stopping_time};
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

/// In how many runs each round went to the best arm.
#[derive(Default)]
struct Hits {
    rounds: Vec<u64>,
    runs: u64,
}

impl Hits {
    fn add(&mut self, choices: &[Option<ArmId>], best: ArmId) {
        if self.runs == 0 {
            self.rounds.resize(choices.len(), 0);
        }
        // Beyond the end of the shortest run the others alone would count.
        self.rounds.truncate(choices.len());
        for (hits, choice) in self.rounds.iter_mut().zip(choices) {
            *hits += u64::from(*choice == Some(best));
        }
        self.runs += 1;
    }

    fn convergence(&self) -> Convergence {
        let share = self
            .rounds
            .iter()
            .map(|&hits| hits as f64 / self.runs as f64);
        Convergence {
            share: share.collect(),
        }
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
        let mut hits = Hits::default();
        for run in 0..self.runs {
            let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
            rng.set_stream(run);
            policy.choices.clear();
            stopping_time(&mut policy, self.arms, self.tokens, self.n_max, &mut rng)?;
            hits.add(&policy.choices, best);
            after_run()?;
        }
        Ok(hits.convergence())
    }
}

/// The random stream of the order of texts, none of those that policies and samplers draw from.
const ORDER: u64 = 2;

impl Query<'_> {
    /// How soon a policy takes `best` in one long query of all `queries`, again and again until it has
    /// `tokens` tokens: in the run of each seed, and each time, in another order, so that no round is
    /// always that of the same text. A query of a recording alone is too short to tell. `after_run`
    /// is called after each run; its error ends the whole.
    ///
    /// # Errors
    /// Those of [`PolicySpec::build`], [`Query::play`] and `after_run`.
    pub fn convergence(
        queries: &[Self],
        (spec, params): (&PolicySpec, &PolicyParams),
        best: ArmId,
        (tokens, seeds): (usize, impl IntoIterator<Item = u64>),
        after_run: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Convergence> {
        let pass: usize = queries.iter().map(Self::tokens).sum();
        let Some(first) = queries.first().filter(|_| pass > 0) else {
            return Ok(Hits::default().convergence());
        };
        let mut policy = spec.build(params, &first.header.names())?;
        let mut hits = Hits::default();
        for seed in seeds {
            let mut order: Vec<&Self> = queries.iter().collect();
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(ORDER);
            let mut texts = Vec::new();
            for _ in 0..tokens.div_ceil(pass) {
                order.shuffle(&mut rng);
                texts.extend(order.iter().flat_map(|query| &query.texts).copied());
            }
            let whole = Query::new(first.header, texts);
            let replay = whole.play(&mut *policy, &mut bandit::generator(seed))?;
            hits.add(&replay.choices, best);
            after_run()?;
        }
        Ok(hits.convergence())
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
    use crate::record::{Attempt, Header, Text, header};
    use crate::sim::Arm;
    use crate::types::TokenId;

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
                beta: Some(beta),
                ..PolicyParams::default()
            };
            convergence(&[0.5, 0.41, 0.32, 0.31, 0.3], "metasd-ucb", &params).rounds()
        };
        let bd = rounds(Reward::Bd, 0.13).expect("it settles");
        let be = rounds(Reward::Be, 0.2).unwrap_or(usize::MAX);
        assert!(bd < be, "{bd} {be}");
    }

    /// A text of which at every position the drafter `right` has two tokens accepted and another
    /// none.
    fn text(right: usize) -> Text {
        let tokens = 120;
        let attempt = |position: usize, arm: usize| {
            let drafted = 5.min(tokens - 1 - position);
            let is_right = arm == right;
            Attempt {
                drafted,
                accepted: if is_right { drafted.min(2) } else { 0 },
                bd: if is_right { 0.6 } else { 0.3 },
                ..Attempt::default()
            }
        };
        Text {
            category: 0,
            prompt_tokens: 3,
            tokens: vec![TokenId(5); tokens],
            verify_us: vec![9; tokens],
            attempts: (0..tokens)
                .flat_map(|position| [0, 1].map(|arm| attempt(position, arm)))
                .collect(),
        }
    }

    fn recorded(texts: &[Text], policy: &str, tokens: usize) -> Convergence {
        let header = Header {
            n_predict: 120,
            n_ctx: 200,
            ..header(&["a", "b"], &["x"], texts.len())
        };
        let queries: Vec<_> = texts
            .iter()
            .map(|text| Query::new(&header, [text]))
            .collect();
        let (policy, params) = (policy.parse().unwrap(), PolicyParams::default());
        let (with, runs) = ((&policy, &params), (tokens, 0..20));
        Query::convergence(&queries, with, ArmId(0), runs, &mut || Ok(())).unwrap()
    }

    #[test]
    fn recorded_texts_are_one_query_that_is_long_enough_to_tell() {
        let texts = [0; 3].map(text);
        let rounds = |policy: &str| recorded(&texts, policy, 360).rounds();
        assert_eq!(rounds("fixed:a"), Some(SETTLED_ROUNDS));
        assert_eq!(rounds("fixed:b"), None);
        let ucb = rounds("metasd-ucb").unwrap();
        assert!(
            (SETTLED_ROUNDS..SETTLED_ROUNDS + 10).contains(&ucb),
            "{ucb}"
        );
        // 40 rounds a time.
        assert_eq!(recorded(&texts[..1], "fixed:a", 120).rounds(), None);
        assert!(recorded(&texts[..1], "fixed:a", 121).rounds().is_some());
        assert!(recorded(&[], "fixed:a", 9).share().is_empty());
    }

    #[test]
    fn every_run_takes_recorded_texts_in_an_order_of_its_own() {
        // What is tried first and second says which text came first: the policy draws nothing.
        let run = || recorded(&[text(0), text(1)], "etc", 240);
        let last = run().share()[30];
        assert!(last > 0.1 && last < 0.9, "{last}");
        assert_eq!(run(), run());
    }
}
