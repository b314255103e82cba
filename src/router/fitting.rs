//! A router made from labelled prompts.

use std::collections::BTreeSet;

use super::geometry::Geometry;
use super::{Embedding, Label, Router, TargetIdentity, embed};
use crate::error::{Error, Result};
use crate::types::TokenId;

/// A prompt whose label is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LabelledPrompt {
    /// The label: the name of the drafter that the prompt calls for.
    pub label: String,
    /// The prompt as the target reads it.
    pub tokens: Vec<TokenId>,
}

/// Labelled prompts with their embeddings, on which a router is fitted.
#[derive(Debug)]
pub struct Fitting {
    target: TargetIdentity,
    shared: Vec<TokenId>,
    names: Vec<String>,
    /// The label and the embedding of each prompt.
    pub(super) samples: Vec<(usize, Vec<f64>)>,
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
            let embedded = embed(&prompt.tokens, &shared, embedding)?.ok_or_else(|| {
                Error::invalid(format!(
                    "prompt {} of label `{}` has no token that any other prompt lacks; leave it \
                     out",
                    index + 1,
                    prompt.label
                ))
            })?;
            let label = names.iter().position(|name| *name == prompt.label);
            samples.push((label.expect("every label has been collected"), embedded));
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

    /// For each prompt its label and the one it would get if it had not been among those that
    /// everything but the shared tokens is fitted on.
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

    /// The geometry of all samples but `left_out`.
    pub(super) fn geometry(&self, left_out: Option<usize>) -> Geometry {
        let samples = self.samples.iter().enumerate();
        let samples = samples.filter(|&(index, _)| Some(index) != left_out);
        let mut of_label: Vec<Vec<&[f64]>> = vec![Vec::new(); self.names.len()];
        for (_, (label, embedded)) in samples {
            of_label[*label].push(embedded);
        }
        Geometry::fit(self.target.width, &of_label)
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
