//! llama.cpp's sampler chain, read as a distribution instead of a sample.

use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::data::LlamaTokenData;
use llama_cpp_2::token::data_array::LlamaTokenDataArray;
use serde::{Deserialize, Serialize};

use crate::dist::{self, Dist};
use crate::error::{Error, Result};
use crate::types::TokenId;

/// The sampling parameters, named as llama.cpp names them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SamplingParams {
    /// 0 takes the most probable token (greedy).
    pub temperature: f32,
    /// Keep the k most probable tokens; 0 keeps all.
    pub top_k: u32,
    /// Keep the fewest tokens whose probabilities sum to this, in (0, 1]; 1 keeps all.
    pub top_p: f32,
    /// Drop tokens less probable than this part of the most probable one, in [0, 1].
    pub min_p: f32,
    /// Divide the logits of repeated tokens by this, > 0; 1 does nothing.
    pub repeat_penalty: f32,
    /// Subtract this from a logit for every repetition.
    pub frequency_penalty: f32,
    /// Subtract this from a logit when the token occurred at all.
    pub presence_penalty: f32,
    /// Tokens the penalties look back at; 0 switches them off.
    pub repeat_last_n: u32,
    /// Seed of the random numbers that sampling and acceptance use.
    pub seed: u64,
}

impl Default for SamplingParams {
    /// Greedy; the other values are llama.cpp's defaults and act when the temperature is raised.
    fn default() -> Self {
        Self {
            temperature: 0.0,
            top_k: 40,
            top_p: 0.95,
            min_p: 0.05,
            repeat_penalty: 1.0,
            frequency_penalty: 0.0,
            presence_penalty: 0.0,
            repeat_last_n: 64,
            seed: 0,
        }
    }
}

impl SamplingParams {
    /// Checks every value's range.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) naming the parameter.
    pub fn validate(&self) -> Result<()> {
        let check = |holds: bool, name: &str, value: f32, range: &str| {
            if holds {
                Ok(())
            } else {
                Err(Error::invalid(format!(
                    "{name} is {value}; it must be {range}"
                )))
            }
        };
        let t = self.temperature;
        check(
            t.is_finite() && t >= 0.0,
            "temp",
            t,
            "a finite number of 0 or more",
        )?;
        let p = self.top_p;
        check(p > 0.0 && p <= 1.0, "top-p", p, "above 0 and at most 1")?;
        let p = self.min_p;
        check((0.0..=1.0).contains(&p), "min-p", p, "between 0 and 1")?;
        let r = self.repeat_penalty;
        check(
            r.is_finite() && r > 0.0,
            "repeat-penalty",
            r,
            "a finite number above 0",
        )?;
        let f = self.frequency_penalty;
        check(f.is_finite(), "frequency-penalty", f, "a finite number")?;
        let p = self.presence_penalty;
        check(p.is_finite(), "presence-penalty", p, "a finite number")
    }

    fn has_penalties(&self) -> bool {
        self.repeat_last_n > 0
            && (self.repeat_penalty != 1.0
                || self.frequency_penalty != 0.0
                || self.presence_penalty != 0.0)
    }
}

/// penalties → top-k → top-p → min-p → temperature, as llama.cpp orders and computes them, applied
/// to a row of logits and read as the distribution the next token is drawn from.
///
/// The only state is the penalties' window of recent tokens.
pub struct SamplerChain {
    params: SamplingParams,
    /// `None` when the chain is a plain arg-max.
    chain: Option<LlamaSampler>,
    candidates: Vec<LlamaTokenData>,
}

// SAFETY: the sampler is a heap object without thread affinity that only this value refers to.
unsafe impl Send for SamplerChain {}

impl SamplerChain {
    /// The chain of `params` over a vocabulary of `n_vocab` tokens, with no history.
    ///
    /// # Errors
    /// Those of [`SamplingParams::validate`].
    pub fn new(params: &SamplingParams, n_vocab: usize) -> Result<Self> {
        params.validate()?;
        let size = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
        let mut samplers = Vec::new();
        if params.has_penalties() {
            samplers.push(LlamaSampler::penalties(
                i32::try_from(n_vocab).unwrap_or(i32::MAX),
                size(params.repeat_last_n),
                params.repeat_penalty,
                params.frequency_penalty,
                params.presence_penalty,
            ));
        }
        if params.temperature > 0.0 {
            if params.top_k > 0 {
                samplers.push(LlamaSampler::top_k(size(params.top_k)));
            }
            if params.top_p < 1.0 {
                samplers.push(LlamaSampler::top_p(params.top_p, 1));
            }
            if params.min_p > 0.0 {
                samplers.push(LlamaSampler::min_p(params.min_p, 1));
            }
            samplers.push(LlamaSampler::temp(params.temperature));
        }
        let chain = (!samplers.is_empty()).then(|| LlamaSampler::chain(samplers, true));
        Ok(Self {
            params: params.clone(),
            chain,
            candidates: Vec::new(),
        })
    }

    /// The parameters it was made from.
    pub fn params(&self) -> &SamplingParams {
        &self.params
    }

    /// Makes `history` the past that the penalties see.
    pub fn restart(&mut self, history: &[TokenId]) {
        if !self.params.has_penalties() {
            return;
        }
        if let Some(chain) = &mut self.chain {
            chain.reset();
            let window = usize::try_from(self.params.repeat_last_n).unwrap_or(usize::MAX);
            for token in &history[history.len().saturating_sub(window)..] {
                chain.accept(LlamaToken(token.0));
            }
        }
    }

    /// Appends `token` to the past that the penalties see.
    pub fn accept(&mut self, token: TokenId) {
        if self.params.has_penalties()
            && let Some(chain) = &mut self.chain
        {
            chain.accept(LlamaToken(token.0));
        }
    }

    /// The distribution of the next token given a row of raw logits, `n_vocab` long.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidDistribution`](crate::ErrorKind::InvalidDistribution) for NaN or +∞ in
    /// the row, or a row of −∞ alone.
    pub fn distribution(&mut self, logits: &[f32]) -> Result<Dist> {
        let top = dist::argmax(logits)?;
        let Some(chain) = &mut self.chain else {
            return Ok(Dist::one_hot(top));
        };
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        candidates.extend(logits.iter().enumerate().map(|(i, &logit)| {
            LlamaTokenData::new(LlamaToken(TokenId::from_index(i).0), logit, 0.0)
        }));
        let mut array = LlamaTokenDataArray::new(candidates, false);
        chain.apply(&mut array);
        let result = if self.params.temperature > 0.0 {
            softmax(&array.data, logits.len())
        } else {
            // Greedy after penalties; the lowest id among equals, as without penalties.
            let best = array.data.iter().min_by(|a, b| {
                b.logit()
                    .total_cmp(&a.logit())
                    .then(a.id().0.cmp(&b.id().0))
            });
            best.map(|best| Dist::one_hot(TokenId(best.id().0)))
                .ok_or_else(|| Error::invalid("the sampler chain left no token"))
        };
        self.candidates = array.data;
        result
    }
}

impl std::fmt::Debug for SamplerChain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SamplerChain")
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}

fn softmax(candidates: &[LlamaTokenData], n_vocab: usize) -> Result<Dist> {
    let max = candidates
        .iter()
        .map(LlamaTokenData::logit)
        .fold(f32::NEG_INFINITY, f32::max);
    let weight = |candidate: &LlamaTokenData| (candidate.logit() - max).exp();
    if candidates.len() == n_vocab {
        let mut dense = vec![0.0; n_vocab];
        for candidate in candidates {
            dense[TokenId(candidate.id().0).index()] = weight(candidate);
        }
        return Dist::dense(dense);
    }
    Dist::sparse(
        candidates
            .iter()
            .map(|candidate| (TokenId(candidate.id().0), weight(candidate)))
            .collect(),
    )
}
