//! Safe wrappers over llama.cpp: backend, model, context, batch, KV cache, sampler chain.
//!
//! Models, vocabularies, chat templates and samplers come from `llama-cpp-2`; contexts and batches
//! are our own, because a drafter's context must own its model and move between threads. Nothing
//! here knows of speculation, drafters or arms.

mod backend;
mod batch;
mod blueprint;
mod chain;
mod context;
mod device;
mod embedding;
mod gguf;
mod head;
mod kv;
mod model;
mod quantize;

pub use backend::{give_back_freed_memory, init, version};
pub use blueprint::Blueprint;
pub use chain::{SamplerChain, SamplingParams};
pub use context::{
    Context, ContextParams, MemoryBreakdown, Outputs, SavedState, exposes_layer_inputs,
};
pub use device::{Device, DeviceChoice, devices, has_device_memory, has_gpu};
pub use embedding::TokenEmbedding;
pub use gguf::{GgufHeader, TensorFacts};
pub use head::{HeadContext, HeadParams};
pub use kv::{KvCache, Rollback};
pub use model::{ChatMessage, Model, ModelParams, ProgressFn};
pub use quantize::{QuantizeParams, WeightType, quantize};
