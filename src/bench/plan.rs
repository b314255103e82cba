//! Which runs there are, and in which order.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::bandit::Reward;
use crate::bench::{Method, RunKey};

/// A method with what it is rewarded for: a row of the tables.
#[derive(Clone, PartialEq, Debug)]
pub struct Variant {
    /// The method.
    pub method: Method,
    /// The reward; `None` for a method that does not look at it.
    pub reward: Option<Reward>,
}

/// One run to be made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Job {
    /// Which repetition, from 0.
    pub repetition: usize,
    /// Which prompt.
    pub prompt: usize,
    /// The sampling temperature.
    pub temperature: f32,
    /// Which of [`Plan::variants`].
    pub variant: usize,
}

/// All runs of a benchmark.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// What is compared.
    pub variants: Vec<Variant>,
    /// The sampling temperatures.
    pub temperatures: Vec<f32>,
    /// Prompts.
    pub prompts: usize,
    /// How often everything is repeated.
    pub repetitions: usize,
    /// Seed of the order.
    pub seed: u64,
}

impl Plan {
    /// Every method with every reward, but once where the reward makes no difference.
    pub fn variants(methods: &[Method], rewards: &[Reward]) -> Vec<Variant> {
        let variants = |method: &Method| {
            let rewards: Vec<Option<Reward>> = if method.learns() {
                rewards.iter().copied().map(Some).collect()
            } else {
                vec![None]
            };
            rewards.into_iter().map({
                let method = method.clone();
                move |reward| Variant {
                    method: method.clone(),
                    reward,
                }
            })
        };
        methods.iter().flat_map(variants).collect()
    }

    /// The runs in their order: repetition by repetition and prompt by prompt, so that a drift of
    /// the machine falls on all methods alike, and for each prompt all methods in an order of its
    /// own, so that none is always the one after another.
    pub fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        for repetition in 0..self.repetitions {
            for prompt in 0..self.prompts {
                for &temperature in &self.temperatures {
                    let mut block: Vec<Job> = (0..self.variants.len())
                        .map(|variant| Job {
                            repetition,
                            prompt,
                            temperature,
                            variant,
                        })
                        .collect();
                    block.shuffle(&mut rng);
                    jobs.append(&mut block);
                }
            }
        }
        jobs
    }

    /// What the record of `job` is found by.
    pub fn key(&self, job: &Job) -> RunKey {
        let variant = &self.variants[job.variant];
        RunKey {
            repetition: job.repetition,
            prompt: job.prompt,
            temperature: job.temperature.to_bits(),
            method: variant.method.to_string(),
            reward: variant.reward,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn plan(seed: u64) -> Plan {
        let methods = ["off", "metasd-ucb", "fixed:a"].map(|text| text.parse().unwrap());
        Plan {
            variants: Plan::variants(&methods, &[Reward::Bd, Reward::Be]),
            temperatures: vec![0.0, 1.0],
            prompts: 3,
            repetitions: 2,
            seed,
        }
    }

    #[test]
    fn a_method_that_learns_has_a_variant_for_each_reward() {
        let rewards: Vec<_> = plan(1).variants.iter().map(|v| v.reward).collect();
        assert_eq!(
            rewards,
            [None, Some(Reward::Bd), Some(Reward::Be), None],
            "off, metasd-ucb twice, fixed:a"
        );
    }

    #[test]
    fn every_run_occurs_once_and_its_methods_stand_together() {
        let plan = plan(1);
        let jobs = plan.jobs();
        assert_eq!(jobs.len(), 4 * 2 * 3 * 2);
        let keys: HashSet<RunKey> = jobs.iter().map(|job| plan.key(job)).collect();
        assert_eq!(keys.len(), jobs.len());
        for block in jobs.chunks(4) {
            let place = |job: &Job| (job.repetition, job.prompt, job.temperature.to_bits());
            assert!(block.iter().all(|job| place(job) == place(&block[0])));
        }
    }

    #[test]
    fn the_order_of_the_methods_varies_and_repeats_with_the_seed() {
        let order = |jobs: &[Job]| jobs.iter().map(|job| job.variant).collect::<Vec<_>>();
        let jobs = plan(1).jobs();
        assert_eq!(jobs, plan(1).jobs());
        assert_ne!(jobs, plan(2).jobs());
        let orders: HashSet<Vec<usize>> = jobs.chunks(4).map(order).collect();
        assert!(orders.len() > 4, "{orders:?}");
    }
}
