//! Safe wrappers over llama.cpp: backend, model, context, batch, KV cache, sampler chain.
//!
//! Models, vocabularies, chat templates and samplers come from `llama-cpp-2`; contexts and batches
//! are our own, because a drafter's context must own its model and move between threads. Nothing
//! here knows of speculation, drafters or arms.

mod backend;
mod batch;
mod chain;
mod context;
mod embedding;
mod gguf;
mod kv;
mod model;
mod quantize;

pub use backend::{init, version};
pub use chain::{SamplerChain, SamplingParams};
pub use context::{Context, ContextParams, MemoryBreakdown, Outputs};
pub use embedding::TokenEmbedding;
pub use kv::{KvCache, Rollback};
pub use model::{ChatMessage, Model, ModelParams, ProgressFn};
pub use quantize::{QuantizeParams, WeightType, quantize};
