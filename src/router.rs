//! Which drafter a prompt calls for, decided once from the prompt alone: the label whose centroid
//! is nearest to the prompt's embedding.
//!
//! The embedding is the mean of the target's input embedding, its rows scaled to unit length, over
//! the different tokens of the prompt. It needs no decode, and is the same whatever the KV cache
//! holds. Tokens that all fitted prompts share, which are the chat template's and the system
//! prompt's, tell nothing of a prompt and are left out.
//!
//! The centroids are those of the embeddings after three steps: the mean over the labels is taken
//! off, since the rows have a direction in common; each dimension is divided by its standard
//! deviation within the labels, as in nearest shrunken centroids (Tibshirani et al. 2002,
//! PNAS 99(10), eq. 2); and the rest is scaled to unit length, since the mean of many rows is a
//! shorter vector than that of few. Nearness is the cosine.

mod file;
mod fitting;
mod geometry;

use std::collections::BTreeSet;

pub use fitting::{Fitting, LabelledPrompt};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::llama::{Model, TokenEmbedding};
use crate::types::TokenId;
use geometry::{Geometry, mean, unit};

/// The target's input embedding.
pub trait Embedding: Send {
    /// Numbers in a row.
    fn width(&self) -> usize;

    /// Writes the row of `token` to `row`, which is [`Self::width`] long.
    ///
    /// # Errors
    /// When there is no such token, or its row cannot be read.
    fn read(&mut self, token: TokenId, row: &mut [f32]) -> Result<()>;
}

impl Embedding for TokenEmbedding {
    fn width(&self) -> usize {
        Self::width(self)
    }

    fn read(&mut self, token: TokenId, row: &mut [f32]) -> Result<()> {
        Self::read(self, token, row)
    }
}

/// What of a target a router depends on. The type of its weights is not part of it: a router that
/// was fitted on one quantisation serves the others.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetIdentity {
    /// The architecture's name.
    pub architecture: String,
    /// Transformer blocks.
    pub layers: u32,
    /// Width of the embedding.
    pub width: usize,
    /// Tokens in the vocabulary.
    pub vocabulary: usize,
    /// SHA-256, in hexadecimal, over the stored text of every token.
    pub digest: String,
}

impl TargetIdentity {
    /// The identity of `model`.
    pub fn of(model: &Model) -> Self {
        let mut digest = Sha256::new();
        for index in 0..model.vocab_size() {
            let text = model.token_text(TokenId::from_index(index));
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(&text);
        }
        let digest = digest.finalize();
        Self {
            architecture: model.architecture().to_owned(),
            layers: model.n_layer(),
            width: model.n_embd(),
            vocabulary: model.vocab_size(),
            digest: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }
}

/// A fitted router.
#[derive(Clone, PartialEq, Debug)]
pub struct Router {
    target: TargetIdentity,
    /// The tokens that all fitted prompts share, ascending.
    shared: Vec<TokenId>,
    geometry: Geometry,
    labels: Vec<Label>,
}

/// A label of a router.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The label: a drafter's name.
    pub name: String,
    /// How many prompts it was fitted on.
    pub prompts: usize,
}

impl Router {
    /// The labels, in the order in which they first occurred among the fitted prompts.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// Checks that the router was fitted on a target like `target`.
    ///
    /// # Errors
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) saying what differs.
    pub fn check_target(&self, target: &TargetIdentity) -> Result<()> {
        if self.target == *target {
            return Ok(());
        }
        let told = |identity: &TargetIdentity| {
            format!(
                "{} with {} layers, width {} and {} tokens of digest {:.12}",
                identity.architecture,
                identity.layers,
                identity.width,
                identity.vocabulary,
                identity.digest
            )
        };
        Err(Error::new(
            crate::ErrorKind::Config,
            format!(
                "the router was fitted on {}; the target is {}; fit one with `metasd router fit`",
                told(&self.target),
                told(target)
            ),
        ))
    }

    /// The labels' places in [`Self::labels`], that of the nearest centroid first; of equally near
    /// ones, as all are when the prompt has only tokens that the fitted ones share, the first.
    ///
    /// # Errors
    /// Those of `embedding`.
    pub fn rank(&self, prompt: &[TokenId], embedding: &mut dyn Embedding) -> Result<Vec<usize>> {
        let embedded = embed(prompt, &self.shared, embedding)?;
        Ok(self.geometry.rank(embedded.as_deref()))
    }
}

/// The mean row, each scaled to unit length, of the different tokens of `prompt` that are not in
/// `shared`; `None` when there are none.
fn embed(
    prompt: &[TokenId],
    shared: &[TokenId],
    embedding: &mut dyn Embedding,
) -> Result<Option<Vec<f64>>> {
    let tokens: BTreeSet<TokenId> = prompt.iter().copied().collect();
    let mut rows = Vec::new();
    let mut row = vec![0.0; embedding.width()];
    for token in tokens {
        if shared.binary_search(&token).is_err() {
            embedding.read(token, &mut row)?;
            rows.push(unit(row.iter().map(|&x| f64::from(x)).collect()));
        }
    }
    Ok((!rows.is_empty()).then(|| mean(row.len(), &rows)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    /// Tokens below 30 point along three axes in turn, the others along none.
    pub(super) struct Axes;

    impl Embedding for Axes {
        fn width(&self) -> usize {
            3
        }

        fn read(&mut self, token: TokenId, row: &mut [f32]) -> Result<()> {
            row.fill(1.0);
            match token.index() {
                axis @ 0..30 => row[axis % 3] += 4.0,
                30..40 => {}
                _ => return Err(Error::invalid("no such token")),
            }
            Ok(())
        }
    }

    pub(super) fn identity() -> TargetIdentity {
        TargetIdentity {
            architecture: "llama".into(),
            layers: 2,
            width: 3,
            vocabulary: 40,
            digest: "00".repeat(32),
        }
    }

    fn prompt(label: &str, tokens: &[i32]) -> LabelledPrompt {
        LabelledPrompt {
            label: label.into(),
            tokens: tokens.iter().copied().map(TokenId).collect(),
        }
    }

    fn tokens(ids: &[i32]) -> Vec<TokenId> {
        ids.iter().copied().map(TokenId).collect()
    }

    /// Prompts about an axis each, of different lengths, all with the tokens 37, 38 and 39.
    fn prompts() -> Vec<LabelledPrompt> {
        vec![
            prompt("x", &[37, 38, 0, 39]),
            prompt("y", &[37, 38, 1, 4, 7, 1, 1, 10, 2, 39, 39, 39]),
            prompt("z", &[37, 2, 38, 38, 39]),
            prompt("x", &[39, 38, 0, 3, 6, 9, 12, 0, 0, 1, 2, 37]),
            prompt("y", &[37, 38, 39, 1]),
            prompt("z", &[37, 38, 2, 5, 8, 0, 39]),
        ]
    }

    fn fitting(prompts: &[LabelledPrompt]) -> Result<Fitting> {
        Fitting::new(identity(), prompts, &mut Axes, &mut || Ok(()))
    }

    pub(super) fn router() -> Router {
        fitting(&prompts()).expect("valid").router()
    }

    #[test]
    fn a_prompt_goes_to_the_label_of_prompts_like_it_however_long_it_is() {
        let router = router();
        let names: Vec<_> = router
            .labels()
            .iter()
            .map(|l| (&*l.name, l.prompts))
            .collect();
        assert_eq!(names, [("x", 2), ("y", 2), ("z", 2)]);
        let rank = |ids: &[i32]| router.rank(&tokens(ids), &mut Axes).expect("known tokens");
        assert_eq!(rank(&[37, 38, 39, 2])[0], 2);
        assert_eq!(rank(&[0])[0], 0);
        let long: Vec<i32> = [1, 4, 7, 10, 13, 16, 0, 2].repeat(100);
        assert_eq!(rank(&long)[0], 1);
        assert_eq!(rank(&[1, 4, 7, 10, 0, 3, 2]), [1, 0, 2]);
    }

    #[test]
    fn tokens_that_all_fitted_prompts_share_have_no_say() {
        let router = router();
        assert_eq!(router.shared, tokens(&[37, 38, 39]));
        let rank = |ids: &[i32]| router.rank(&tokens(ids), &mut Axes).expect("known tokens");
        assert_eq!(rank(&[37, 2, 38, 39]), rank(&[2]));
        assert_eq!(rank(&[37, 38, 39]), [0, 1, 2], "nothing to go by");
        assert_eq!(rank(&[]), [0, 1, 2]);
    }

    #[test]
    fn a_prompt_that_is_left_out_has_no_part_in_its_own_label() {
        let fitted = fitting(&prompts()).expect("valid");
        assert!(
            fitted
                .leave_one_out()
                .iter()
                .all(|(label, found)| label == found)
        );
        // The only prompt of `y` looks like those of `x`: with itself it is found, without not.
        let prompts = [
            prompt("x", &[0, 3, 1]),
            prompt("x", &[0, 3, 6, 1]),
            prompt("y", &[0, 1, 4]),
            prompt("z", &[2]),
        ];
        let fitted = fitting(&prompts).expect("valid");
        let embedded = fitted.samples[2].1.clone();
        assert_eq!(fitted.geometry(None).rank(Some(&embedded))[0], 1);
        assert_eq!(fitted.leave_one_out()[2], ("y", "x"));
    }

    #[test]
    fn a_dimension_in_which_the_labels_themselves_vary_counts_for_less() {
        // Within both labels prompts differ along the first axis, far more than the labels differ
        // along the second.
        let prompts = [
            prompt("x", &[0, 3, 6, 9, 31, 1]),
            prompt("x", &[2, 5, 8, 11, 32, 1]),
            prompt("y", &[0, 3, 6, 9, 31, 30]),
            prompt("y", &[2, 5, 8, 11, 32, 30]),
        ];
        let geometry = fitting(&prompts).expect("valid").geometry(None);
        let [first, second, third] = geometry.scale[..] else {
            panic!("three dimensions");
        };
        assert!(
            second > 2.0 * first && second > 2.0 * third,
            "{:?}",
            geometry.scale
        );
    }

    #[test]
    fn what_cannot_be_fitted_is_said() {
        let message = |prompts: &[LabelledPrompt]| {
            let error = fitting(prompts).expect_err("nothing to choose by");
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            error.to_string()
        };
        assert!(message(&[]).contains("0 label(s)"));
        assert!(message(&[prompt("x", &[1]), prompt("x", &[2])]).contains("1 label(s)"));
        let text = message(&[
            prompt("x", &[1, 2]),
            prompt("y", &[2, 1]),
            prompt("z", &[1, 2, 3]),
        ]);
        assert!(text.starts_with("prompt 1 of label `x`"), "{text}");
    }

    #[test]
    fn failures_of_the_embedding_and_of_the_caller_are_passed_on() {
        let unknown = fitting(&[prompt("x", &[99]), prompt("y", &[1])]);
        assert_eq!(unknown.expect_err("token 99").to_string(), "no such token");
        let mut stop = || Err(Error::new(ErrorKind::Cancelled, "stopped"));
        let stopped = Fitting::new(identity(), &prompts(), &mut Axes, &mut stop);
        assert_eq!(stopped.expect_err("stopped").kind(), ErrorKind::Cancelled);
    }

    #[test]
    fn a_router_of_another_target_is_told_by_what_differs() {
        let router = router();
        router.check_target(&identity()).expect("the same");
        let other = TargetIdentity {
            width: 5,
            ..identity()
        };
        let error = router.check_target(&other).expect_err("another");
        assert_eq!(error.kind(), ErrorKind::Config);
        let text = error.to_string();
        assert!(
            text.contains("width 3") && text.contains("width 5"),
            "{text}"
        );
    }
}
