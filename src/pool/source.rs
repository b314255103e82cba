//! Drafters as they are configured.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::factory::{DrafterFactory, ModelFactory, Origin};
use super::head_factory::HeadFactory;
use crate::drafter::{DrafterKind, ModelDrafterParams, NgramParams, is_head};
use crate::error::{Error, ErrorKind, Result};
use crate::features::FeatureSource;
use crate::llama::{DeviceChoice, Model, ModelParams};

/// A drafter as it is configured.
#[derive(Clone, Debug, PartialEq)]
pub struct DrafterSpec {
    /// Its name, unique in the pool.
    pub name: String,
    /// What it is made of.
    pub source: DrafterSource,
}

/// What a drafter is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum DrafterSource {
    /// A GGUF model with the target's vocabulary.
    Model {
        /// The file.
        path: PathBuf,
        /// Tokens of context; `None` for the target's.
        n_ctx: Option<usize>,
        /// Threads; `None` for the target's.
        threads: Option<usize>,
        /// Layers in device memory; `None` for all.
        gpu_layers: Option<u32>,
    },
    /// An EAGLE-3 head of the target.
    Eagle3 {
        /// The file.
        path: PathBuf,
        /// Tokens of context; `None` for the target's.
        n_ctx: Option<usize>,
        /// Threads; `None` for the target's.
        threads: Option<usize>,
        /// Layers in device memory; `None` for all.
        gpu_layers: Option<u32>,
    },
    /// The text's own n-grams.
    Ngram(NgramParams),
}

impl DrafterSource {
    /// Its kind.
    pub fn kind(&self) -> DrafterKind {
        match self {
            Self::Model { .. } => DrafterKind::Model,
            Self::Eagle3 { .. } => DrafterKind::Eagle3,
            Self::Ngram(_) => DrafterKind::Ngram,
        }
    }

    /// Its file, if it has one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Model { path, .. } | Self::Eagle3 { path, .. } => Some(path),
            Self::Ngram(_) => None,
        }
    }

    /// The same, a model whose file is an EAGLE-3 head being one. A file that cannot be read stays
    /// what it was called.
    #[must_use]
    pub fn recognised(self) -> Self {
        match self {
            Self::Model {
                path,
                n_ctx,
                threads,
                gpu_layers,
            } if is_head(&path) => Self::Eagle3 {
                path,
                n_ctx,
                threads,
                gpu_layers,
            },
            source => source,
        }
    }
}

/// What drafters take over from the target where their own configuration is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolDefaults {
    /// Tokens of context.
    pub n_ctx: usize,
    /// The most tokens in one decode.
    pub n_batch: usize,
    /// Threads.
    pub threads: usize,
}

/// What every drafter of a pool is loaded with, on whatever thread.
#[derive(Clone, Debug)]
pub struct LoadContext {
    /// The target's model.
    pub target: Arc<Model>,
    /// What is taken over from the target.
    pub defaults: PoolDefaults,
    /// The devices that drafters are offloaded to; `None` for all GPUs.
    pub devices: Option<DeviceChoice>,
    /// Whether those have memory of their own, which the weights go to.
    pub separate_device: bool,
    /// The target's hidden features, without which there can be no head.
    pub features: Option<FeatureSource>,
}

impl LoadContext {
    /// For drafters of `target`, on all devices there are.
    pub fn new(target: &Arc<Model>, defaults: PoolDefaults) -> Self {
        Self {
            target: target.clone(),
            defaults,
            devices: None,
            separate_device: crate::llama::has_device_memory(),
            features: None,
        }
    }

    /// The same for drafters that may read the target's hidden features.
    #[must_use]
    pub fn with_features(self, features: FeatureSource) -> Self {
        Self {
            features: Some(features),
            ..self
        }
    }

    /// The target's hidden features, for the head at `path`.
    pub(super) fn features_for(&self, path: &Path) -> Result<&FeatureSource> {
        self.features.as_ref().ok_or_else(|| {
            Error::new(
                ErrorKind::Unsupported,
                format!(
                    "{} is an EAGLE-3 head, and this pool has no access to the target's hidden \
                     features; make its LoadContext with_features",
                    path.display()
                ),
            )
        })
    }

    /// How the model of `gpu_layers` is loaded.
    pub(super) fn model_params(&self, gpu_layers: Option<u32>) -> ModelParams {
        ModelParams {
            gpu_layers,
            devices: self.devices.clone(),
        }
    }

    /// How the context of a drafter is made.
    pub(super) fn drafter_params(
        &self,
        n_ctx: Option<usize>,
        threads: Option<usize>,
    ) -> ModelDrafterParams {
        ModelDrafterParams {
            n_ctx: n_ctx.unwrap_or(self.defaults.n_ctx),
            n_batch: self.defaults.n_batch,
            threads: threads.unwrap_or(self.defaults.threads),
        }
    }

    /// The file of a drafter with all that it is made with.
    pub(super) fn origin(
        &self,
        path: &Path,
        n_ctx: Option<usize>,
        threads: Option<usize>,
        gpu_layers: Option<u32>,
    ) -> Origin {
        Origin {
            path: path.to_owned(),
            params: self.model_params(gpu_layers),
            drafter: self.drafter_params(n_ctx, threads),
            context: self.clone(),
        }
    }

    /// What brings a drafter of `source` into memory; `None` for one that takes none.
    pub(super) fn factory(&self, source: &DrafterSource) -> Option<Arc<dyn DrafterFactory>> {
        match source {
            DrafterSource::Ngram(_) => None,
            DrafterSource::Model {
                path,
                n_ctx,
                threads,
                gpu_layers,
            } => {
                let origin = self.origin(path, *n_ctx, *threads, *gpu_layers);
                Some(Arc::new(ModelFactory::new(origin)))
            }
            DrafterSource::Eagle3 {
                path,
                n_ctx,
                threads,
                gpu_layers,
            } => {
                let origin = self.origin(path, *n_ctx, *threads, *gpu_layers);
                Some(Arc::new(HeadFactory::new(origin)))
            }
        }
    }
}
