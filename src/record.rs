//! What every drafter would have done at every position of greedily decoded texts.
//!
//! With greedy decoding the committed text does not depend on who drafts. So it is enough to
//! decode a text once and to note at each of its positions what a round of every drafter would
//! have come to there: any policy can then be replayed without a model
//! ([`Query`](crate::sim::Query)).
//!
//! A [`Record`] is what a file holds: a [`Header`] that says what was recorded, and a [`Text`] for
//! every prompt. As bytes:
//!
//! ```text
//! file   magic (8 bytes), version (u32), frame of the header as JSON, a frame for every text
//! frame  length (u32), its complement (u32), payload, first 8 bytes of SHA-256(length, payload)
//! text   category, prompt tokens, tokens (count and each), then for each position:
//!        verification µs, and for each drafter: drafted, accepted, BD (f64, if drafted > 0),
//!        TV (f32), draft µs
//! ```
//!
//! Numbers of fixed width are little-endian; counts, tokens and times are LEB128. The length stands
//! there twice so that a damaged one is not taken for a file that ends too early.

mod file;
mod format;
mod frame;

pub use file::RecordWriter;
pub use format::VERSION;

use serde::{Deserialize, Serialize};

use crate::types::TokenId;

/// A model or another drafter, by its name and its content.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its name: a drafter's in the pool, the target's file name.
    pub name: String,
    /// What it is: `model` or `ngram`.
    pub kind: String,
    /// SHA-256 of its file in hexadecimal; `None` for a drafter without one.
    pub sha256: Option<String>,
}

/// What was recorded, and how.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The target.
    pub target: Source,
    /// The drafters in the order of their arms.
    pub drafters: Vec<Source>,
    /// The most tokens drafted in a round, at least 1.
    pub n_max: usize,
    /// The most tokens of a text.
    pub n_predict: usize,
    /// Tokens that the target's context holds.
    pub n_ctx: usize,
    /// The temperature at which the distributions were compared.
    pub reward_temperature: f32,
    /// Seed of the generator that the drafters were given. Greedy drafting does not depend on it.
    pub seed: u64,
    /// The prompts' categories, in the order of the prompts.
    pub categories: Vec<String>,
    /// The number of prompts, each of which gives a text.
    pub prompts: usize,
    /// SHA-256 of the prompts' tokens in hexadecimal: recordings of the same prompts have the
    /// same.
    pub prompts_sha256: String,
}

impl Header {
    /// The most tokens that a round at `position` of a text may draft: those that neither the
    /// token budget nor the context cuts off. A round that may draft none is the target's alone,
    /// and no policy is asked.
    pub fn most_drafted(&self, prompt_tokens: usize, position: usize) -> usize {
        let room = self.n_ctx.saturating_sub(prompt_tokens + position);
        let left = self.n_predict.saturating_sub(position + 1);
        self.n_max.min(room).min(left)
    }

    /// The drafters' names in the order of their arms.
    pub fn names(&self) -> Vec<String> {
        let names = self.drafters.iter().map(|drafter| drafter.name.clone());
        names.collect()
    }
}

/// What a round of one drafter would have come to at one position.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Attempt {
    /// Tokens drafted.
    pub drafted: usize,
    /// Of these, the tokens that the target accepted, the first ones. Those beyond the end of the
    /// text count too, as they do for the engine.
    pub accepted: usize,
    /// Block divergence, in [0, 1]; 0 when nothing was drafted.
    pub bd: f64,
    /// Total variation distance between target and drafter at the position itself, in [0, 1]; 1
    /// when the drafter proposed nothing.
    pub tv: f32,
    /// Time for catching up by the last token and drafting, in microseconds.
    pub draft_us: u64,
}

impl Default for Attempt {
    /// A drafter that proposed nothing.
    fn default() -> Self {
        Self {
            drafted: 0,
            accepted: 0,
            bd: 0.0,
            tv: 1.0,
            draft_us: 0,
        }
    }
}

impl Attempt {
    /// How well target and drafter agree on the committed text here: 1 − TV, in [0, 1].
    pub fn agreement(&self) -> f64 {
        1.0 - f64::from(self.tv)
    }

    /// Block efficiency: accepted / drafted; 0 when nothing was drafted.
    pub fn be(&self) -> f64 {
        if self.drafted == 0 {
            return 0.0;
        }
        self.accepted as f64 / self.drafted as f64
    }
}

/// One prompt's text with what every drafter would have done at each position.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Text {
    /// Index of the prompt's category in [`Header::categories`].
    pub category: usize,
    /// Tokens of the prompt.
    pub prompt_tokens: usize,
    /// The generated tokens, at least one. Position `i` is the one at which token `i` comes next.
    pub tokens: Vec<TokenId>,
    /// For each position the time of the target's batches over all candidates, in microseconds.
    pub verify_us: Vec<u64>,
    /// The attempts of all drafters at the first position, then those at the second, and so on.
    pub attempts: Vec<Attempt>,
}

impl Text {
    /// The attempts at `position`, one for each drafter.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn at(&self, position: usize) -> &[Attempt] {
        let arms = self.attempts.len() / self.tokens.len();
        &self.attempts[position * arms..][..arms]
    }
}

/// A recording.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// What was recorded.
    pub header: Header,
    /// The texts in the order of the prompts.
    pub texts: Vec<Text>,
}

#[cfg(test)]
pub(crate) fn header(drafters: &[&str], categories: &[&str], prompts: usize) -> Header {
    let source = |name: &str| Source {
        name: name.to_owned(),
        kind: "model".to_owned(),
        sha256: Some("00ff".to_owned()),
    };
    Header {
        target: source("target.gguf"),
        drafters: drafters.iter().map(|name| source(name)).collect(),
        n_max: 5,
        n_predict: 8,
        n_ctx: 100,
        reward_temperature: 1.0,
        seed: 0,
        categories: categories.iter().map(|&name| name.to_owned()).collect(),
        prompts,
        prompts_sha256: "ab".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_drafts_neither_past_the_budget_nor_past_the_context() {
        let header = header(&["a"], &["x"], 1);
        assert_eq!(header.most_drafted(10, 0), 5);
        // Of 8 tokens the last is the target's own.
        assert_eq!(header.most_drafted(10, 4), 3);
        assert_eq!(header.most_drafted(10, 7), 0);
        assert_eq!(header.most_drafted(96, 2), 2);
        assert_eq!(header.most_drafted(100, 0), 0);
    }

    #[test]
    fn a_drafter_without_a_draft_has_no_efficiency() {
        assert_eq!(Attempt::default().be(), 0.0);
        let attempt = Attempt {
            drafted: 4,
            accepted: 1,
            ..Attempt::default()
        };
        assert_eq!(attempt.be(), 0.25);
    }
}
