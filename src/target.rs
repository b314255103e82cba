//! The target: the model whose distribution is kept.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::error::{Error, Result};
use crate::features::{FeatureSource, FeatureStore};
use crate::llama::{Context, ContextParams, KvCache, MemoryBreakdown, Model, Outputs};
use crate::tree::Tree;
use crate::types::TokenId;

/// A model that is decoded in order and gives its raw logits.
pub trait Target: KvCache + Send {
    /// Tokens in the vocabulary: the length of a row of logits.
    fn vocab_size(&self) -> usize;

    /// Tokens the KV cache holds.
    fn context_size(&self) -> usize;

    /// The most tokens one decode takes when every position's logits are wanted.
    fn max_outputs(&self) -> usize;

    /// The most tokens one decode takes when at most the last position's logits are wanted.
    fn batch_size(&self) -> usize;

    /// Decodes `tokens` at the end of the cache.
    ///
    /// # Errors
    /// When they do not fit or the model fails; the cache is then as it was.
    fn decode(&mut self, tokens: &[TokenId], outputs: Outputs) -> Result<()>;

    /// The most candidates of a tree; 0 for a target that was made for one sequence.
    fn max_candidates(&self) -> usize;

    /// Decodes `tree` at the end of the cache in one batch, so that each node sees what the cache
    /// holds, its ancestors and itself alone: the root is the next token of the text. Row `i` of
    /// [`Target::logits`] then belongs to node `i`.
    ///
    /// Of the tree the cache counts the root alone, which [`KvCache::truncate`] drops like any
    /// token; the other nodes go with the next change of the cache, unless [`Target::keep_path`]
    /// makes some of them part of the text.
    ///
    /// # Errors
    /// When there are more than [`Target::max_candidates`] candidates, more nodes than
    /// [`Target::max_outputs`] or than the context has room for, or when the model fails; the
    /// cache is then as it was.
    fn decode_tree(&mut self, tree: &Tree) -> Result<()>;

    /// Keeps of the tree decoded last the nodes from the root to `node`, as if they had been
    /// decoded as a text: the cache is longer by the depth of `node`. The other nodes are dropped.
    /// The rows of logits stay.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when there is no such
    /// node, or when the cache has changed since a tree was decoded.
    fn keep_path(&mut self, node: usize) -> Result<()>;

    /// Raw logits, `vocab_size` of them, of the last decode's `row`-th output.
    ///
    /// # Errors
    /// When there is no such row.
    fn logits(&self, row: usize) -> Result<&[f32]>;

    /// Time spent in the model's own decode calls so far.
    fn decode_time(&self) -> Duration;
}

/// A GGUF model as target.
///
/// Its decodes keep the hidden features that white-box drafters ask for, and none as long as there
/// is no such drafter: see [`Self::features`].
#[derive(Debug)]
pub struct LlamaTarget {
    context: Context,
    max_outputs: usize,
    features: Arc<Mutex<FeatureStore>>,
}

impl LlamaTarget {
    /// Makes a context for `model` that verifies up to `params.max_outputs - 1` drafted tokens at
    /// once, in trees of up to `params.sequences - 1` candidates.
    ///
    /// # Errors
    /// Those of [`Context::new`]; [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) for a
    /// model whose memory cannot be rolled back.
    pub fn new(model: Arc<Model>, params: &ContextParams) -> Result<Self> {
        model.check_rollback()?;
        let features = FeatureStore::new(model.n_embd(), params.n_ctx);
        Ok(Self {
            max_outputs: params.max_outputs.min(params.n_batch).min(params.n_ctx),
            context: Context::new(model, params)?,
            features: Arc::new(Mutex::new(features)),
        })
    }

    /// What drafters that read this target's hidden features are made with.
    pub fn features(&self) -> FeatureSource {
        FeatureSource::new(self.context.model().clone(), self.features.clone())
    }

    /// The model it runs.
    pub fn model(&self) -> &Arc<Model> {
        self.context.model()
    }

    /// What it occupies; the features that are kept count as context.
    ///
    /// # Errors
    /// Those of [`Context::memory`].
    pub fn memory(&self) -> Result<MemoryBreakdown> {
        let mut memory = self.context.memory()?;
        memory.context += self.features.lock().bytes() as u64;
        Ok(memory)
    }

    /// Lets the next decode keep the layer inputs that are asked for. A target that cannot goes on
    /// without; those who read the features see that they are missing.
    fn expose(&mut self) {
        let features = self.features.lock();
        if features.layers() == self.context.exposed() {
            return;
        }
        if let Err(error) = self.context.expose(features.layers()) {
            log::warn!("hidden features: {error}");
        }
    }

    /// Puts the features of the last decode into the store by `append`.
    fn record(&self, append: impl FnOnce(&mut FeatureStore, &[&[f32]])) {
        let mut features = self.features.lock();
        // More may have been asked for meanwhile; the next decode has them.
        if features.layers().is_empty() || features.layers() != self.context.exposed() {
            return;
        }
        let layers = features.layers().iter();
        let inputs: Result<Vec<&[f32]>> = layers
            .map(|&layer| self.context.layer_input(layer))
            .collect();
        match inputs {
            Ok(inputs) => append(&mut features, &inputs),
            Err(error) => {
                log::warn!("hidden features: {error}");
                features.clear();
            }
        }
    }
}

impl KvCache for LlamaTarget {
    fn len(&self) -> usize {
        self.context.len()
    }

    fn truncate(&mut self, len: usize) -> Result<()> {
        self.context.truncate(len)?;
        self.features.lock().truncate(len);
        Ok(())
    }
}

impl Target for LlamaTarget {
    fn vocab_size(&self) -> usize {
        self.context.model().vocab_size()
    }

    fn context_size(&self) -> usize {
        self.context.n_ctx()
    }

    fn max_outputs(&self) -> usize {
        self.max_outputs
    }

    fn batch_size(&self) -> usize {
        self.context.n_batch()
    }

    fn decode(&mut self, tokens: &[TokenId], outputs: Outputs) -> Result<()> {
        let position = self.context.len();
        self.expose();
        self.context.decode(tokens, outputs)?;
        if !tokens.is_empty() {
            self.record(|features, inputs| features.append(position, inputs));
        }
        Ok(())
    }

    fn max_candidates(&self) -> usize {
        self.context.max_candidates()
    }

    fn decode_tree(&mut self, tree: &Tree) -> Result<()> {
        if tree.nodes().len() > self.max_outputs {
            return Err(Error::invalid(format!(
                "a tree of {} nodes is larger than max_outputs {}",
                tree.nodes().len(),
                self.max_outputs
            )));
        }
        let position = self.context.len();
        self.expose();
        self.context.decode_tree(tree)?;
        let parents = tree.nodes().iter().map(|node| node.parent);
        self.record(|features, inputs| features.append_tree(position, parents, inputs));
        Ok(())
    }

    fn keep_path(&mut self, node: usize) -> Result<()> {
        self.context.keep_path(node)?;
        self.features.lock().keep(node);
        Ok(())
    }

    fn logits(&self, row: usize) -> Result<&[f32]> {
        self.context.logits(row)
    }

    fn decode_time(&self) -> Duration {
        self.context.decode_time()
    }
}
