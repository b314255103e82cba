//! Which drafter a prompt calls for, decided once from the prompt alone: the label whose centroid
//! is nearest to the prompt's embedding.
//!
//! The embedding is the mean of the target's input embedding over the prompt's tokens. It needs no
//! decode, and is the same whatever the KV cache holds. Tokens that all fitted prompts share, which
//! are the chat template's and the system prompt's, tell nothing of a prompt and are left out;
//! the mean over the labels is taken off, since rows of an embedding have a direction in common;
//! and the rest is scaled to unit length, since a long prompt's mean is the shorter vector. A
//! label's centroid is the mean of its prompts' embeddings, and nearness the cosine.

mod file;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::llama::{Model, TokenEmbedding};
use crate::types::TokenId;

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

/// A prompt whose label is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LabelledPrompt {
    /// The label: the name of the drafter that the prompt calls for.
    pub label: String,
    /// The prompt as the target reads it.
    pub tokens: Vec<TokenId>,
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

/// Where the labels lie.
#[derive(Clone, PartialEq, Debug)]
struct Geometry {
    /// The mean over the labels of their prompts' mean rows.
    origin: Vec<f32>,
    /// One for each label, of unit length, or zero where nothing is known.
    centroids: Vec<Vec<f32>>,
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
        let row = mean_row(prompt, &self.shared, embedding)?;
        Ok(self.geometry.rank(row.as_deref()))
    }
}

/// Labelled prompts with their embeddings, on which a router is fitted.
#[derive(Debug)]
pub struct Fitting {
    target: TargetIdentity,
    shared: Vec<TokenId>,
    names: Vec<String>,
    /// The label and the mean row of each prompt.
    samples: Vec<(usize, Vec<f64>)>,
}

impl Fitting {
    /// Reads the embeddings of `prompts`. `after_prompt` is called after each; its error ends it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for fewer than two labels
    /// or a prompt that has only tokens that all share; those of `embedding` and `after_prompt`.
    pub fn new(
        target: TargetIdentity,
        prompts: &[LabelledPrompt],
        embedding: &mut dyn Embedding,
        after_prompt: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Self> {
        let mut names: Vec<String> = Vec::new();
        for prompt in prompts {
            if !names.contains(&prompt.label) {
                names.push(prompt.label.clone());
            }
        }
        if names.len() < 2 {
            return Err(Error::invalid(format!(
                "the prompts have {} label(s); a router needs at least 2 to choose between",
                names.len()
            )));
        }
        let shared = shared_tokens(prompts);
        let mut samples = Vec::new();
        for (index, prompt) in prompts.iter().enumerate() {
            let row = mean_row(&prompt.tokens, &shared, embedding)?.ok_or_else(|| {
                Error::invalid(format!(
                    "prompt {} of label `{}` has no token that any other prompt lacks; leave it \
                     out",
                    index + 1,
                    prompt.label
                ))
            })?;
            let label = names.iter().position(|name| *name == prompt.label);
            samples.push((label.expect("every label has been collected"), row));
            after_prompt()?;
        }
        Ok(Self {
            target,
            shared,
            names,
            samples,
        })
    }

    /// The router of all prompts.
    pub fn router(&self) -> Router {
        let count = |label| self.samples.iter().filter(|(of, _)| *of == label).count();
        let labels = self.names.iter().enumerate().map(|(label, name)| Label {
            name: name.clone(),
            prompts: count(label),
        });
        Router {
            target: self.target.clone(),
            shared: self.shared.clone(),
            geometry: self.geometry(None),
            labels: labels.collect(),
        }
    }

    /// For each prompt its label and the one it would get if it had not been among the prompts
    /// that origin and centroids come from.
    pub fn leave_one_out(&self) -> Vec<(&str, &str)> {
        let tested = self
            .samples
            .iter()
            .enumerate()
            .map(|(index, (label, row))| {
                let found = self.geometry(Some(index)).rank(Some(row))[0];
                (&*self.names[*label], &*self.names[found])
            });
        tested.collect()
    }

    /// Origin and centroids of all samples but `left_out`.
    fn geometry(&self, left_out: Option<usize>) -> Geometry {
        let width = self.target.width;
        let of_label = |label: usize| {
            let samples = self.samples.iter().enumerate();
            samples.filter(move |&(index, (of, _))| *of == label && Some(index) != left_out)
        };
        let mut origin = vec![0.0; width];
        let labels = 0..self.names.len();
        for label in labels.clone() {
            let count = of_label(label).count() as f64 * labels.len() as f64;
            for (_, (_, row)) in of_label(label) {
                (origin.iter_mut().zip(row)).for_each(|(sum, x)| *sum += x / count);
            }
        }
        let origin: Vec<f32> = origin.into_iter().map(|x| x as f32).collect();
        let centroid = |label| {
            let mut sum = vec![0.0; width];
            for (_, (_, row)) in of_label(label) {
                let unit = direction(row, &origin);
                (sum.iter_mut().zip(unit)).for_each(|(sum, x)| *sum += x);
            }
            let unit = direction(&sum, &vec![0.0; width]);
            unit.into_iter().map(|x| x as f32).collect()
        };
        Geometry {
            centroids: labels.map(centroid).collect(),
            origin,
        }
    }
}

impl Geometry {
    /// The places of the centroids, the nearest to `row` first.
    fn rank(&self, row: Option<&[f64]>) -> Vec<usize> {
        let unit = row.map(|row| direction(row, &self.origin));
        let cosine = |centroid: &Vec<f32>| {
            let unit = unit.iter().flatten();
            unit.zip(centroid).map(|(x, &y)| x * f64::from(y)).sum()
        };
        let cosines: Vec<f64> = self.centroids.iter().map(cosine).collect();
        let mut places: Vec<usize> = (0..cosines.len()).collect();
        places.sort_by(|&a, &b| cosines[b].total_cmp(&cosines[a]));
        places
    }
}

/// The tokens that all `prompts` have, ascending.
fn shared_tokens(prompts: &[LabelledPrompt]) -> Vec<TokenId> {
    let mut sets = prompts
        .iter()
        .map(|prompt| prompt.tokens.iter().copied().collect::<BTreeSet<_>>());
    let first = sets.next().unwrap_or_default();
    sets.fold(first, |shared, set| &shared & &set)
        .into_iter()
        .collect()
}

/// The mean row of the tokens of `prompt` that are not in `shared`; `None` when there are none.
fn mean_row(
    prompt: &[TokenId],
    shared: &[TokenId],
    embedding: &mut dyn Embedding,
) -> Result<Option<Vec<f64>>> {
    let mut row = vec![0.0; embedding.width()];
    let mut sum = vec![0.0; embedding.width()];
    let mut count = 0.0;
    for &token in prompt {
        if shared.binary_search(&token).is_ok() {
            continue;
        }
        embedding.read(token, &mut row)?;
        (sum.iter_mut().zip(&row)).for_each(|(sum, &x)| *sum += f64::from(x));
        count += 1.0;
    }
    if count == 0.0 {
        return Ok(None);
    }
    sum.iter_mut().for_each(|sum| *sum /= count);
    Ok(Some(sum))
}

/// `row − origin` scaled to unit length, or zero where there is no difference.
fn direction(row: &[f64], origin: &[f32]) -> Vec<f64> {
    let mut difference: Vec<f64> = (row.iter().zip(origin))
        .map(|(x, &origin)| x - f64::from(origin))
        .collect();
    let length = difference.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 {
        difference.iter_mut().for_each(|x| *x /= length);
    }
    difference
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    /// Tokens 0 to 2 point along the three axes, the others along none.
    pub(super) struct Axes;

    impl Embedding for Axes {
        fn width(&self) -> usize {
            3
        }

        fn read(&mut self, token: TokenId, row: &mut [f32]) -> Result<()> {
            row.fill(1.0);
            match row.get_mut(token.index()) {
                Some(x) => *x += 4.0,
                None if token.index() < 10 => {}
                None => return Err(Error::invalid("no such token")),
            }
            Ok(())
        }
    }

    pub(super) fn identity() -> TargetIdentity {
        TargetIdentity {
            architecture: "llama".into(),
            layers: 2,
            width: 3,
            vocabulary: 10,
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

    /// Prompts about an axis each, of very different lengths, all with the tokens 7, 8 and 9.
    fn prompts() -> Vec<LabelledPrompt> {
        vec![
            prompt("x", &[7, 8, 0, 9]),
            prompt("y", &[7, 8, 1, 1, 1, 1, 2, 1, 9, 9, 9]),
            prompt("z", &[7, 2, 8, 8, 9]),
            prompt("x", &[9, 8, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 7]),
            prompt("y", &[7, 8, 9, 1]),
            prompt("z", &[7, 8, 2, 2, 2, 0, 9]),
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
        assert_eq!(rank(&[7, 8, 9, 2])[0], 2);
        assert_eq!(rank(&[0])[0], 0);
        let long: Vec<i32> = [1, 1, 1, 0, 2].repeat(100);
        assert_eq!(rank(&long)[0], 1);
        assert_eq!(rank(&[1, 1, 1, 0, 0, 2]), [1, 0, 2]);
    }

    #[test]
    fn tokens_that_all_fitted_prompts_share_have_no_say() {
        let router = router();
        assert_eq!(router.shared, tokens(&[7, 8, 9]));
        let rank = |ids: &[i32]| router.rank(&tokens(ids), &mut Axes).expect("known tokens");
        let padded = [&[7; 50][..], &[2], &[9; 50]].concat();
        assert_eq!(rank(&padded), rank(&[2]));
        assert_eq!(rank(&[7, 8, 9]), [0, 1, 2], "nothing to go by");
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
        // The only prompt of `y` looks like those of `x`: with itself it is found, alone it is not.
        let prompts = [
            prompt("x", &[0, 0, 1]),
            prompt("x", &[0, 0, 0, 1]),
            prompt("y", &[0, 1, 1]),
            prompt("z", &[2]),
        ];
        let fitted = fitting(&prompts).expect("valid");
        let row = fitted.samples[2].1.clone();
        assert_eq!(fitted.geometry(None).rank(Some(&row))[0], 1);
        assert_eq!(fitted.leave_one_out()[2], ("y", "x"));
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
