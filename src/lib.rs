//! Multi-drafter speculative decoding with alignment feedback (MetaSD, arXiv 2604.05417) on
//! llama.cpp.
#![warn(missing_docs)]

pub mod align;
pub mod audit;
pub mod bandit;
pub mod bench;
pub mod config;
pub mod dist;
pub mod drafter;
mod error;
pub mod features;
#[allow(missing_docs)]
mod ffi;
pub mod llama;
pub mod pool;
pub mod record;
pub mod recorder;
pub mod round;
pub mod router;
pub mod scripted;
pub mod session;
pub mod sim;
pub mod target;
pub mod tree;
mod types;
pub mod verify;

pub use error::{Error, ErrorKind, Result};
pub use types::{ArmId, TokenId};
