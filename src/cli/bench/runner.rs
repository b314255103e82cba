//! The runs, one after the other.

use std::collections::HashSet;

use metasd::audit;
use metasd::bandit::PolicyParams;
use metasd::bench::{Comparison, Job, Parts, Plan, RoundPoint, RunKey, RunRecord};
use metasd::llama::SamplingParams;
use metasd::session::{Event, GenerateParams, Generation, StopReason};
use metasd::{Error, ErrorKind, Result, TokenId};

use super::journal::Journal;
use crate::cli::engine::Engine;
use crate::cli::progress::Progress;
use crate::cli::{interrupt, say};

/// Tokens of a run that only warms up.
const WARM_UP: usize = 16;

/// A prompt as the model reads it.
#[derive(Debug)]
pub struct Task {
    /// Its domain.
    pub domain: String,
    /// What the model reads.
    pub tokens: Vec<TokenId>,
}

/// What runs.
#[derive(Debug)]
pub struct Bench {
    /// Target and drafters.
    pub engine: Engine,
    /// The runs.
    pub plan: Plan,
    /// The parameters of each of the plan's variants.
    pub params: Vec<PolicyParams>,
    /// The prompts.
    pub prompts: Vec<Task>,
    /// What the target alone says to each prompt, as far as it was asked.
    pub references: Vec<Option<Vec<TokenId>>>,
    /// How tokens are drawn, but for the temperature, which is each run's own.
    pub sampling: SamplingParams,
    /// Tokens of a run.
    pub predict: usize,
    /// The most tokens drafted in a round, for methods that do not say.
    pub n_max: usize,
    /// How close two logits are that rounding may swap.
    pub max_gap: f32,
}

impl Bench {
    /// Makes the runs that `journal` does not have yet.
    ///
    /// # Errors
    /// When the target or a drafter fails, a run cannot be written, or Ctrl-C stops it.
    pub fn run_all(&mut self, journal: &mut Journal, progress: &Progress) -> Result<()> {
        let jobs = self.plan.jobs();
        let done: HashSet<RunKey> = journal.records().iter().map(RunRecord::key).collect();
        let left: Vec<Job> = jobs
            .iter()
            .filter(|job| !done.contains(&self.plan.key(job)))
            .copied()
            .collect();
        if left.len() < jobs.len() {
            say(format_args!(
                "{} of {} runs are there already",
                jobs.len() - left.len(),
                jobs.len()
            ));
        }
        if left.is_empty() {
            return Ok(());
        }
        progress.during("warming up", || self.warm_up())?;
        let bar = progress.steps("runs", jobs.len() as u64);
        bar.set_position((jobs.len() - left.len()) as u64);
        for (index, job) in left.iter().enumerate() {
            let record = self.run_one(job).inspect_err(|error| {
                if error.kind() == ErrorKind::Cancelled {
                    bar.suspend(|| say("interrupted; the same command goes on from here"));
                }
            })?;
            journal.add(record)?;
            bar.inc(1);
            let next = left.get(index + 1);
            let domain = &self.prompts[job.prompt].domain;
            let place = |job: &Job| (job.repetition, self.prompts[job.prompt].domain.clone());
            if next.map(place) != Some(place(job)) {
                let (repetition, of) = (job.repetition + 1, self.plan.repetitions);
                bar.suspend(|| {
                    say(format_args!(
                        "{domain} done, repetition {repetition} of {of}"
                    ))
                });
            }
        }
        Ok(())
    }

    /// Lets every method run for a moment: weights are paged in, buffers grow.
    fn warm_up(&mut self) -> Result<()> {
        let job = |variant: usize| Job {
            repetition: 0,
            prompt: 0,
            temperature: 0.0,
            variant,
        };
        (0..self.plan.variants.len()).try_for_each(|variant| {
            let predict = self.predict.min(WARM_UP);
            self.generate(&job(variant), predict).map(drop)
        })
    }

    fn run_one(&mut self, job: &Job) -> Result<RunRecord> {
        let greedy = job.temperature == 0.0;
        let reference = match greedy {
            true => Some(self.reference(job.prompt)?),
            false => None,
        };
        let (generation, rounds) = self.generate(job, self.predict)?;
        let comparison = match reference {
            Some(reference) => Some(self.comparison(job.prompt, &reference, &generation)?),
            None => None,
        };
        let variant = &self.plan.variants[job.variant];
        Ok(RunRecord {
            repetition: job.repetition,
            prompt: job.prompt,
            domain: self.prompts[job.prompt].domain.clone(),
            temperature: job.temperature,
            method: variant.method.to_string(),
            reward: variant.reward,
            stop_reason: stop_reason(generation.stop_reason),
            tokens: generation.tokens.len(),
            milliseconds: generation.timings.predicted_ms,
            parts: Parts::of(&generation.timings),
            comparison,
            rounds,
        })
    }

    /// What the target alone says greedily to a prompt. Asked before anything is measured on the
    /// prompt, it also brings the prompt into the target's cache.
    fn reference(&mut self, prompt: usize) -> Result<Vec<TokenId>> {
        if let Some(reference) = &self.references[prompt] {
            return Ok(reference.clone());
        }
        let tokens = &self.prompts[prompt].tokens;
        let session = &mut self.engine.session;
        let reference = audit::reference(session, tokens, self.predict, interrupt::flag())?;
        self.references[prompt] = Some(reference.clone());
        Ok(reference)
    }

    fn comparison(
        &mut self,
        prompt: usize,
        reference: &[TokenId],
        generation: &Generation,
    ) -> Result<Comparison> {
        let tokens = &self.prompts[prompt].tokens;
        let session = &mut self.engine.session;
        audit::judge(session, tokens, reference, &generation.tokens, self.max_gap)
            .map(|verdict| Comparison::from(&verdict))
    }

    /// One generation as a new session would make it: only the target's cache of the prompt is
    /// kept, which all methods need alike.
    fn generate(&mut self, job: &Job, predict: usize) -> Result<(Generation, Vec<RoundPoint>)> {
        let variant = &self.plan.variants[job.variant];
        let session = &mut self.engine.session;
        let params = self.params[job.variant].clone();
        session.set_policy(variant.method.policy.clone(), params)?;
        session.set_n_max(variant.method.n_max.unwrap_or(self.n_max))?;
        session.forget_drafters();
        let params = GenerateParams {
            max_tokens: Some(predict),
            sampling: SamplingParams {
                temperature: job.temperature,
                seed: self.plan.seed.wrapping_add(job.repetition as u64),
                ..self.sampling
            },
            ..GenerateParams::default()
        };
        let names = session.proposers();
        let mut rounds = Vec::new();
        let mut left: Option<Error> = None;
        let tokens = &self.prompts[job.prompt].tokens;
        let mut observe = |event: Event<'_>| match event {
            Event::Round(record) => rounds.push(RoundPoint {
                drafter: names
                    .iter()
                    .position(|name| Some(name) == record.drafter.as_ref()),
                drafted: record.drafted,
                accepted: record.accepted,
                committed: record.committed,
                bd: record.bd.map(|bd| bd as f32),
                be: record.be.map(|be| be as f32),
            }),
            Event::DrafterLeft { name, error } => {
                left = Some(Error::new(
                    error.kind(),
                    format!("drafter `{name}` failed and cannot be measured: {error}"),
                ));
            }
            _ => {}
        };
        let generation = session.generate(tokens, &params, interrupt::flag(), &mut observe)?;
        if generation.stop_reason == StopReason::Cancelled {
            return Err(Error::new(ErrorKind::Cancelled, "interrupted"));
        }
        match left {
            Some(error) => Err(error),
            None => match generation.error {
                Some(error) => Err(error),
                None => Ok((generation, rounds)),
            },
        }
    }
}

/// The reason as JSON writes it.
fn stop_reason(reason: StopReason) -> String {
    match serde_json::to_value(reason) {
        Ok(serde_json::Value::String(text)) => text,
        _ => String::new(),
    }
}
