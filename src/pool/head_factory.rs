//! How an EAGLE-3 head is brought into memory.

use std::sync::Arc;

use super::compatibility::check_vocabulary;
use super::factory::{DrafterFactory, Opened, Origin, Stop, Weights, until};
use crate::drafter::{Drafter, Eagle3Drafter, HeadFile};
use crate::error::Result;
use crate::llama::{MemoryBreakdown, Model, ModelParams};

/// A drafter that is a head of the target.
///
/// Its file is checked against the target at every load: that takes no longer than reading the
/// metadata of a few megabytes.
pub(super) struct HeadFactory {
    origin: Origin,
}

impl HeadFactory {
    pub(super) fn new(origin: Origin) -> Self {
        Self { origin }
    }

    fn load(&self, params: &ModelParams, stop: Option<&Stop>) -> Result<Arc<Model>> {
        let model = Model::load(&self.origin.path, params, stop.map(until))?;
        check_vocabulary(&*self.origin.context.target, &*model)?;
        Ok(model)
    }

    /// Looks at the file, before llama.cpp does: with some that are no head it ends the process.
    fn check(&self) -> Result<HeadFile> {
        HeadFile::read(&self.origin.path, &self.origin.context.target)
    }

    fn make(&self, file: &HeadFile, model: Arc<Model>) -> Result<Eagle3Drafter> {
        let features = self.origin.context.features_for(&self.origin.path)?;
        Eagle3Drafter::new(model, file, features, self.origin.drafter)
    }

    /// Makes the drafter of all that is in the file. Within the outer error is what is wrong with
    /// the file, within the inner one why no drafter can be made of it.
    pub(super) fn open_whole(&self) -> Result<Result<Eagle3Drafter>> {
        self.origin.context.features_for(&self.origin.path)?;
        let file = self.check()?;
        let model = self.load(&self.origin.params, None)?;
        Ok(self.make(&file, model))
    }
}

impl DrafterFactory for HeadFactory {
    /// What its graph takes is known once it has been made, which is therefore done here; from then
    /// on the target keeps the features that it reads.
    fn plan(&self) -> Result<MemoryBreakdown> {
        Ok(self.open_whole()??.memory())
    }

    fn read(&self, stop: &Stop) -> Result<Weights> {
        self.check()?;
        Ok(self.load(&self.origin.on_host(), Some(stop))?)
    }

    fn open(&self, weights: Option<&Weights>, stop: &Stop) -> Result<Opened> {
        let file = self.check()?;
        self.origin.open(
            weights,
            |params| self.load(params, Some(stop)),
            |model| self.make(&file, model),
        )
    }
}
