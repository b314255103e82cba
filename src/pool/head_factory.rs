//! How an EAGLE-3 head is brought into memory.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::compatibility::check_vocabulary;
use super::factory::{DrafterFactory, Opened, Stop, Weights};
use super::source::LoadContext;
use crate::drafter::{Drafter, Eagle3Drafter, HeadFile, ModelDrafterParams};
use crate::error::Result;
use crate::llama::{MemoryBreakdown, Model, ModelParams, ProgressFn};

/// A drafter that is a head of the target.
///
/// Its file is checked against the target at every load: that takes no longer than reading the
/// metadata of a few megabytes.
pub(super) struct HeadFactory {
    path: PathBuf,
    params: ModelParams,
    drafter: ModelDrafterParams,
    context: LoadContext,
}

impl HeadFactory {
    pub(super) fn new(
        path: PathBuf,
        params: ModelParams,
        drafter: ModelDrafterParams,
        context: LoadContext,
    ) -> Self {
        Self {
            path,
            params,
            drafter,
            context,
        }
    }

    fn load(&self, params: &ModelParams, stop: Option<&Stop>) -> Result<Arc<Model>> {
        let go_on = stop.map(|stop| {
            let stop = stop.clone();
            Box::new(move |_| !stop.load(Ordering::Relaxed)) as ProgressFn
        });
        let model = Model::load(&self.path, params, go_on)?;
        check_vocabulary(&*self.context.target, &*model)?;
        Ok(model)
    }

    /// Looks at the file, before llama.cpp does: with some that are no head it ends the process.
    fn check(&self) -> Result<HeadFile> {
        HeadFile::read(&self.path, &self.context.target)
    }

    fn make(&self, file: &HeadFile, model: Arc<Model>) -> Result<Eagle3Drafter> {
        let features = self.context.features_for(&self.path)?;
        Eagle3Drafter::new(model, file, features, self.drafter)
    }

    /// Makes the drafter of all that is in the file. Within the outer error is what is wrong with
    /// the file, within the inner one why no drafter can be made of it.
    pub(super) fn open_whole(&self) -> Result<Result<Eagle3Drafter>> {
        self.context.features_for(&self.path)?;
        let file = self.check()?;
        let model = self.load(&self.params, None)?;
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
        let on_host = ModelParams {
            gpu_layers: Some(0),
            ..self.params.clone()
        };
        Ok(self.load(&on_host, Some(stop))?)
    }

    fn open(&self, weights: Option<&Weights>, stop: &Stop) -> Result<Opened> {
        let file = self.check()?;
        let at_hand = weights.and_then(|weights| weights.clone().downcast::<Model>().ok());
        let (model, from_disk) = match at_hand.filter(|_| !self.context.separate_device) {
            Some(model) => (model, false),
            None => (self.load(&self.params, Some(stop))?, true),
        };
        let drafter = self.make(&file, model.clone())?;
        let memory = drafter.memory();
        Ok(Opened {
            drafter: Box::new(drafter),
            moved: if from_disk { memory.model } else { 0 },
            weights: (!self.context.separate_device).then_some(model as Weights),
        })
    }
}
