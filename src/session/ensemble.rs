//! All drafters of a pool as one, for `static-ensemble`.

use std::time::Instant;

use rand::Rng;

use crate::align::Proposal;
use crate::dist::softmax_into;
use crate::drafter::{Draft, DraftTimes, Drafter, DrafterKind};
use crate::error::{Error, ErrorKind, Result};
use crate::llama::{SamplerChain, SamplingParams};
use crate::types::{ArmId, TokenId};

/// A drafter whose distribution at each position is the average of its members' there, each of
/// them following the tokens that were drawn before: `q = (1/m) Σ softmax(logits_i)` over the `m`
/// members that have a proposal. An n-gram drafter counts as certain of its token, and not at all
/// where it has none.
///
/// The average is taken of the raw distributions, and the sampler chain is applied to it as to any
/// drafter's. So with greedy sampling the most probable token of the average is drafted; an average
/// of what the chain makes of each member would be a lot drawn among their favourites.
pub(super) struct Ensemble<'a> {
    members: Vec<(ArmId, &'a mut dyn Drafter)>,
    memory: &'a mut EnsembleMemory,
    /// The members that failed; the ensemble goes on without them.
    failures: Vec<(ArmId, Error)>,
}

/// What an ensemble keeps from round to round: rows of the size of the vocabulary.
#[derive(Debug)]
pub(super) struct EnsembleMemory {
    draft: Draft,
    probs: Vec<f32>,
    average: Vec<f32>,
    /// Draws a member's token at next to no cost; only its distribution is looked at.
    greedy: SamplerChain,
}

impl EnsembleMemory {
    /// For a vocabulary of `n_vocab` tokens.
    ///
    /// # Errors
    /// Those of [`SamplerChain::new`].
    pub(super) fn new(n_vocab: usize) -> Result<Self> {
        Ok(Self {
            draft: Draft::new(n_vocab),
            probs: vec![0.0; n_vocab],
            average: vec![0.0; n_vocab],
            greedy: SamplerChain::new(&SamplingParams::default(), n_vocab)?,
        })
    }

    /// Adds the distribution that `member` has after `text` to the sum. Returns whether it has one.
    fn add(
        &mut self,
        member: &mut dyn Drafter,
        text: &[TokenId],
        rng: &mut dyn Rng,
        times: &mut DraftTimes,
    ) -> Result<bool> {
        self.draft.clear();
        let spent = member.draft(text, 1, &mut self.greedy, rng, &mut self.draft)?;
        times.catchup += spent.catchup;
        times.decode += spent.decode;
        let Some(proposal) = self.draft.proposals().next() else {
            return Ok(false);
        };
        match proposal {
            Proposal::OneHot(token) => {
                let index = usize::try_from(token.0).ok();
                let sum = index.and_then(|index| self.average.get_mut(index));
                *sum.ok_or_else(|| outside(token))? += 1.0;
            }
            Proposal::Logits(row) => {
                softmax_into(row, 1.0, &mut self.probs)?;
                let both = self.average.iter_mut().zip(&self.probs);
                both.for_each(|(sum, p)| *sum += p);
            }
        }
        Ok(true)
    }
}

fn outside(token: TokenId) -> Error {
    Error::new(
        ErrorKind::VocabularyMismatch,
        format!("it proposed token {token}, which the target's vocabulary does not have"),
    )
}

impl<'a> Ensemble<'a> {
    pub(super) fn new(
        members: Vec<(ArmId, &'a mut dyn Drafter)>,
        memory: &'a mut EnsembleMemory,
    ) -> Self {
        Self {
            members,
            memory,
            failures: Vec::new(),
        }
    }

    /// The members that failed, and why.
    pub(super) fn into_failures(self) -> Vec<(ArmId, Error)> {
        self.failures
    }

    /// Makes `average` the logits of the average distribution after `text`. Returns whether any
    /// member has one.
    fn average(&mut self, text: &[TokenId], rng: &mut dyn Rng, times: &mut DraftTimes) -> bool {
        self.memory.average.fill(0.0);
        let mut count = 0.0;
        self.members.retain_mut(|(arm, member)| {
            match self.memory.add(&mut **member, text, rng, times) {
                Ok(has) => {
                    count += f32::from(u8::from(has));
                    true
                }
                Err(error) => {
                    self.failures.push((*arm, error));
                    false
                }
            }
        });
        let to_logit = |sum: &mut f32| *sum = (*sum / count).ln();
        self.memory.average.iter_mut().for_each(to_logit);
        count > 0.0
    }
}

impl Drafter for Ensemble<'_> {
    /// It has a distribution as a model has.
    fn kind(&self) -> DrafterKind {
        DrafterKind::Model
    }

    fn draft(
        &mut self,
        history: &[TokenId],
        max: usize,
        chain: &mut SamplerChain,
        rng: &mut dyn Rng,
        draft: &mut Draft,
    ) -> Result<DraftTimes> {
        let started = Instant::now();
        let mut times = DraftTimes::default();
        let mut text = history.to_vec();
        for _ in 0..max {
            if !self.average(&text, rng, &mut times) {
                break;
            }
            text.push(draft.draw(&self.memory.average, chain, rng)?);
        }
        times.draft = started.elapsed().saturating_sub(times.catchup);
        Ok(times)
    }

    fn rollback(&mut self, len: usize) -> Result<()> {
        let failures = &mut self.failures;
        self.members.retain_mut(|(arm, member)| {
            member
                .rollback(len)
                .map_err(|error| failures.push((*arm, error)))
                .is_ok()
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::dist::Dist;
    use crate::scripted::{Script, ScriptedDrafter};

    const N_VOCAB: usize = 4;

    /// Always the distribution `probs`.
    fn always(probs: [f32; N_VOCAB]) -> Script {
        Box::new(move |_| probs.map(f32::ln).to_vec())
    }

    /// What an ensemble of `drafters` drafts after a token, with the failures.
    fn draft(
        drafters: &mut [ScriptedDrafter],
        max: usize,
        temperature: f32,
    ) -> (Draft, Vec<(ArmId, Error)>) {
        let mut memory = EnsembleMemory::new(N_VOCAB).expect("a greedy chain");
        let params = SamplingParams {
            temperature,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            ..SamplingParams::default()
        };
        let mut chain = SamplerChain::new(&params, N_VOCAB).expect("valid parameters");
        let members = drafters.iter_mut().enumerate();
        let members = members.map(|(arm, drafter)| (ArmId(arm), drafter as &mut dyn Drafter));
        let mut ensemble = Ensemble::new(members.collect(), &mut memory);
        let mut drafted = Draft::new(N_VOCAB);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        ensemble
            .draft(&[TokenId(0)], max, &mut chain, &mut rng, &mut drafted)
            .expect("an ensemble does not fail");
        (drafted, ensemble.into_failures())
    }

    fn assert_close(dist: &Dist, expected: [f32; N_VOCAB]) {
        for (index, expected) in expected.into_iter().enumerate() {
            let p = dist.prob(TokenId::from_index(index));
            assert!((p - expected).abs() < 1e-5, "token {index}: {p}");
        }
    }

    #[test]
    fn tokens_are_drawn_from_the_average_and_a_certain_member_counts_as_one() {
        let mut drafters = [
            ScriptedDrafter::new(always([0.1, 0.2, 0.3, 0.4])),
            ScriptedDrafter::new(always([0.7, 0.1, 0.2, 0.0])),
            ScriptedDrafter::one_hot(always([0.0, 1.0, 0.0, 0.0])),
        ];
        let (drafted, failures) = draft(&mut drafters, 3, 1.0);
        assert!(failures.is_empty());
        assert_eq!(drafted.tokens().len(), 3);
        for dist in drafted.dists() {
            assert_close(dist, [0.8, 1.3, 0.5, 0.4].map(|sum| sum / 3.0));
        }
        let (drafted, _) = draft(&mut drafters[..2], 1, 1.0);
        assert_close(&drafted.dists()[0], [0.4, 0.15, 0.25, 0.2]);
    }

    #[test]
    fn greedy_sampling_drafts_the_most_probable_token_of_the_average() {
        // Nobody's favourite, and everybody's second.
        let mut drafters = [
            ScriptedDrafter::new(always([0.51, 0.49, 0.0, 0.0])),
            ScriptedDrafter::new(always([0.0, 0.49, 0.51, 0.0])),
            ScriptedDrafter::new(always([0.0, 0.49, 0.0, 0.51])),
        ];
        let (drafted, _) = draft(&mut drafters, 4, 0.0);
        assert_eq!(drafted.tokens(), [TokenId(1); 4]);
    }

    #[test]
    fn members_follow_the_tokens_that_were_drawn_before() {
        let next = || -> Script {
            Box::new(|text: &[TokenId]| {
                let mut row = vec![0.0; N_VOCAB];
                row[text.len() % N_VOCAB] = 9.0;
                row
            })
        };
        let mut drafters = [ScriptedDrafter::new(next()), ScriptedDrafter::new(next())];
        let (drafted, _) = draft(&mut drafters, 5, 0.0);
        let expected = [1, 2, 3, 0, 1].map(TokenId);
        assert_eq!(drafted.tokens(), expected);
    }

    #[test]
    fn a_member_that_fails_leaves_and_the_others_go_on() {
        let mut drafters = [
            ScriptedDrafter::new(always([1.0, 0.0, 0.0, 0.0])).failing_after(1),
            ScriptedDrafter::new(always([0.0, 1.0, 0.0, 0.0])),
            ScriptedDrafter::new(Box::new(|_| vec![f32::NAN; N_VOCAB])),
            ScriptedDrafter::one_hot(Box::new(|_| vec![0.0, 0.0, 0.0, 0.0, 1.0])),
        ];
        let (drafted, failures) = draft(&mut drafters, 2, 1.0);
        assert_close(&drafted.dists()[0], [0.5, 0.5, 0.0, 0.0]);
        assert_close(&drafted.dists()[1], [0.0, 1.0, 0.0, 0.0]);
        let failed: Vec<_> = failures
            .iter()
            .map(|(arm, error)| (arm.0, error.kind()))
            .collect();
        let expected = [
            (2, ErrorKind::InvalidDistribution),
            (3, ErrorKind::VocabularyMismatch),
            (0, ErrorKind::Backend),
        ];
        assert_eq!(failed, expected);
    }

    #[test]
    fn without_members_nothing_is_drafted() {
        let (drafted, failures) = draft(&mut [], 3, 1.0);
        assert!(drafted.tokens().is_empty() && failures.is_empty());
    }
}
