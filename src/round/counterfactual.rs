//! How well drafters agree with the target on the text that a round committed, whoever drafted it.

use std::time::Duration;

use crate::align::{Aligner, Proposal};
use crate::drafter::{Beliefs, Draft, Drafter};
use crate::error::{Error, Result};
use crate::target::Target;
use crate::types::TokenId;

/// Scores drafters on the last `committed` tokens of a history, which the last round committed.
///
/// A score is the mean of 1 − TV(target, drafter) over those positions, in `[0, 1]`, both taken
/// after the committed text and from raw logits over the full vocabulary. A drafter that is
/// certain of one token agrees by the target's probability of it, one that proposes nothing by 0.
/// It is not block divergence, which looks at the drafted positions instead: those after a
/// rejection too, but not the one of the target's own token after a whole accepted draft.
#[derive(Debug)]
pub struct Counterfactual<'a> {
    aligner: &'a mut Aligner,
    beliefs: &'a mut Beliefs,
    history: &'a [TokenId],
    committed: usize,
    /// Time in drafters' own decode calls so far.
    pub decode: Duration,
}

impl<'a> Counterfactual<'a> {
    /// Takes the target's distributions at the last `committed` positions of `history` (fewer
    /// than it is long): the first rows of the round's verification.
    ///
    /// # Errors
    /// When `target` does not have these rows, or one is no distribution.
    pub fn new(
        target: &dyn Target,
        aligner: &'a mut Aligner,
        beliefs: &'a mut Beliefs,
        history: &'a [TokenId],
        committed: usize,
    ) -> Result<Self> {
        if committed >= history.len() {
            return Err(Error::invalid(format!(
                "{committed} tokens of a history of {} cannot be scored; one must come before them",
                history.len()
            )));
        }
        let rows = (0..committed)
            .map(|row| target.logits(row))
            .collect::<Result<Vec<_>>>()?;
        aligner.hold(rows)?;
        Ok(Self {
            aligner,
            beliefs,
            history,
            committed,
            decode: Duration::ZERO,
        })
    }

    /// The score of `drafter`; `None` for one that cannot be scored.
    ///
    /// # Errors
    /// When the drafter fails.
    pub fn score(&mut self, drafter: &mut dyn Drafter) -> Result<Option<f64>> {
        if !self.believe(drafter, self.committed)? {
            return Ok(None);
        }
        self.aligner.agreement(self.beliefs.proposals()).map(Some)
    }

    /// The score of the drafter that the round's `draft` is of. What it believed while it drafted
    /// is not asked again; past the end of a draft that was accepted whole it is asked for one
    /// position more. A draft of certain tokens went on from one match, so it is asked anew.
    ///
    /// # Errors
    /// When the drafter fails.
    pub fn score_drafting(
        &mut self,
        drafter: &mut dyn Drafter,
        draft: &Draft,
    ) -> Result<Option<f64>> {
        let known: Vec<_> = draft.proposals().take(self.committed).map(Some).collect();
        let has_rows = |known: &Option<_>| matches!(known, Some(Proposal::Logits(_)));
        if !known.iter().all(has_rows) {
            return self.score(drafter);
        }
        self.beliefs.clear();
        let rest = self.committed - known.len();
        if rest > 0 && !self.believe(drafter, rest)? {
            return Ok(None);
        }
        let all: Vec<_> = known.into_iter().chain(self.beliefs.proposals()).collect();
        self.aligner.agreement(all).map(Some)
    }

    /// Asks for the beliefs at the last `count` positions. Returns whether the drafter has any.
    fn believe(&mut self, drafter: &mut dyn Drafter, count: usize) -> Result<bool> {
        self.beliefs.clear();
        let Some(times) = drafter.believe(self.history, count, self.beliefs)? else {
            return Ok(false);
        };
        self.decode += times.decode;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drafter::{NgramDrafter, NgramParams};
    use crate::llama::{Outputs, SamplerChain, SamplingParams};
    use crate::scripted::{ScriptedDrafter, ScriptedTarget};

    const N_VOCAB: usize = 4;

    fn tokens(ids: &[i32]) -> Vec<TokenId> {
        ids.iter().copied().map(TokenId).collect()
    }

    /// Logits that depend on the whole text.
    fn logits(text: &[TokenId], scale: f32) -> Vec<f32> {
        let sum: usize = text
            .iter()
            .enumerate()
            .map(|(i, t)| (i + 1) * t.index())
            .sum();
        (0..N_VOCAB)
            .map(|token| scale * ((sum + 3 * token) % 5) as f32)
            .collect()
    }

    fn probabilities(text: &[TokenId], scale: f32) -> Vec<f64> {
        crate::dist::reference_softmax(&logits(text, scale), 1.0)
    }

    /// The score by its definition: from whole texts and in double precision.
    fn reference(history: &[TokenId], committed: usize, q: impl Fn(&[TokenId]) -> Vec<f64>) -> f64 {
        let agreement = |end: usize| {
            let p = probabilities(&history[..end], 1.0);
            let q = q(&history[..end]);
            p.iter().zip(&q).map(|(p, q)| p.min(*q)).sum::<f64>()
        };
        let ends = history.len() - committed..history.len();
        ends.map(agreement).sum::<f64>() / committed as f64
    }

    struct Stage {
        target: ScriptedTarget,
        aligner: Aligner,
        beliefs: Beliefs,
        history: Vec<TokenId>,
    }

    impl Stage {
        /// `history` after a round that committed its last `committed` tokens.
        fn new(history: &[i32], committed: usize) -> Self {
            let history = tokens(history);
            let script = Box::new(|text: &[TokenId]| logits(text, 1.0));
            let mut target = ScriptedTarget::new(N_VOCAB, 100, script);
            let (before, round) = history.split_at(history.len() - committed - 1);
            target.decode(before, Outputs::None).expect("room");
            let round = &round[..committed];
            target.decode(round, Outputs::All).expect("room");
            Self {
                target,
                aligner: Aligner::new(1.0).expect("valid"),
                beliefs: Beliefs::new(N_VOCAB),
                history,
            }
        }

        fn counterfactual(&mut self, committed: usize) -> Counterfactual<'_> {
            Counterfactual::new(
                &self.target,
                &mut self.aligner,
                &mut self.beliefs,
                &self.history,
                committed,
            )
            .expect("rows")
        }
    }

    fn model(scale: f32) -> ScriptedDrafter {
        ScriptedDrafter::new(Box::new(move |text| logits(text, scale)))
    }

    #[test]
    fn a_score_is_the_mean_agreement_after_the_committed_text() {
        let mut stage = Stage::new(&[1, 3, 2, 2, 0, 1], 3);
        let history = stage.history.clone();
        let mut counterfactual = stage.counterfactual(3);
        for scale in [0.0, 0.3, 1.0, 2.0] {
            let score = counterfactual.score(&mut model(scale)).expect("valid");
            let expected = reference(&history, 3, |text| probabilities(text, scale));
            assert!((score.expect("scored") - expected).abs() < 1e-5);
        }
    }

    #[test]
    fn a_certain_drafter_agrees_by_the_probability_of_its_token_and_a_silent_one_not_at_all() {
        // The suffix 1 2 occurred before at the first two of three positions.
        let mut stage = Stage::new(&[1, 2, 1, 2, 1, 2, 2], 3);
        let history = stage.history.clone();
        let mut ngram = NgramDrafter::new(NgramParams { min_n: 2, max_n: 3 }).expect("valid");
        let score = stage.counterfactual(3).score(&mut ngram).expect("valid");
        let p = |end: usize, token: usize| probabilities(&history[..end], 1.0)[token];
        // After 1 2 1 2 comes 1, after 1 2 1 2 1 comes 2, after … 1 2 comes 1.
        let expected = (p(4, 1) + p(5, 2) + p(6, 1)) / 3.0;
        assert!((score.expect("scored") - expected).abs() < 1e-5);

        let mut stage = Stage::new(&[0, 1, 2, 3], 2);
        let score = stage.counterfactual(2).score(&mut ngram).expect("valid");
        assert_eq!(score, Some(0.0));
    }

    #[test]
    fn the_drafting_arm_has_the_score_it_would_have_had_without_drafting() {
        for (drafted, committed) in [(5, 3), (3, 3), (2, 3), (0, 1)] {
            let history = [2, 0, 3, 1, 1, 2, 0];
            let mut stage = Stage::new(&history, committed);
            let history = tokens(&history);
            let mut drafter = model(0.5);
            let mut draft = Draft::new(N_VOCAB);
            let mut chain = SamplerChain::new(&SamplingParams::default(), N_VOCAB).expect("valid");
            // Draws what was committed, and goes on after it as a rejected draft does.
            let mut text = history[..history.len() - committed].to_vec();
            for _ in 0..drafted {
                let mut rng: rand_chacha::ChaCha8Rng = rand::SeedableRng::seed_from_u64(0);
                let token = draft.draw(&logits(&text, 0.5), &mut chain, &mut rng);
                let drawn = token.expect("valid");
                text.push(history.get(text.len()).copied().unwrap_or(drawn));
            }
            let mut counterfactual = stage.counterfactual(committed);
            let score = counterfactual.score_drafting(&mut drafter, &draft);
            let expected = reference(&history, committed, |text| probabilities(text, 0.5));
            let score = score.expect("valid").expect("scored");
            assert!((score - expected).abs() < 1e-5, "{drafted} {committed}");
        }
    }

    #[test]
    fn a_history_needs_a_token_before_those_to_score() {
        let mut stage = Stage::new(&[1, 2, 3], 2);
        let error = Counterfactual::new(
            &stage.target,
            &mut stage.aligner,
            &mut stage.beliefs,
            &stage.history,
            3,
        )
        .expect_err("nothing before");
        assert!(error.to_string().contains("3 tokens"), "{error}");
    }
}
