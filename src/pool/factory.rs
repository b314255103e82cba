//! How a drafter with weights is brought into memory.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use super::compatibility::check_vocabulary;
use super::source::LoadContext;
use crate::drafter::{Drafter, ModelDrafter, ModelDrafterParams};
use crate::error::{Error, ErrorKind, Result};
use crate::llama::{Blueprint, MemoryBreakdown, Model, ModelParams, ProgressFn};

/// Weights in host memory, as their factory knows them.
pub type Weights = Arc<dyn Any + Send + Sync>;

/// Set when a load has become pointless.
pub type Stop = Arc<AtomicBool>;

/// Makes one drafter, again and again. Its calls may take long, and are made on another thread
/// than the session's.
pub trait DrafterFactory: Send + Sync {
    /// What the drafter will occupy, found out without loading it.
    ///
    /// # Errors
    /// When it can never be made: its file is no model, or speaks another language.
    fn plan(&self) -> Result<MemoryBreakdown>;

    /// Brings the weights into host memory, where they are not used but at hand.
    ///
    /// # Errors
    /// When they cannot be read; [`ErrorKind::Cancelled`] after `stop` was set.
    fn read(&self, stop: &Stop) -> Result<Weights>;

    /// Makes the drafter, with its weights in device memory: out of `weights`, if they are at
    /// hand, or else from disk.
    ///
    /// # Errors
    /// When it cannot be made; [`ErrorKind::Cancelled`] after `stop` was set.
    fn open(&self, weights: Option<&Weights>, stop: &Stop) -> Result<Opened>;
}

/// A drafter that is ready.
pub struct Opened {
    /// The drafter.
    pub drafter: Box<dyn Drafter>,
    /// Its weights, where those it uses are in host memory, and so stay there when the drafter
    /// goes.
    pub weights: Option<Weights>,
    /// Bytes that were read or copied for it.
    pub moved: u64,
}

/// The file that a drafter is made of, again and again, and how.
pub(super) struct Origin {
    pub path: PathBuf,
    pub params: ModelParams,
    pub drafter: ModelDrafterParams,
    pub context: LoadContext,
}

impl Origin {
    /// How the weights are loaded when they are only to be at hand.
    pub fn on_host(&self) -> ModelParams {
        ModelParams {
            gpu_layers: Some(0),
            ..self.params.clone()
        }
    }

    /// The drafter that is made of the weights at hand, if they can be used, or else of those that
    /// are loaded.
    pub fn open<D: Drafter + 'static>(
        &self,
        weights: Option<&Weights>,
        load: impl FnOnce(&ModelParams) -> Result<Arc<Model>>,
        make: impl FnOnce(Arc<Model>) -> Result<D>,
    ) -> Result<Opened> {
        let at_hand = weights.and_then(|weights| weights.clone().downcast::<Model>().ok());
        // Only where they are used from there can the very weights in host memory be used.
        let (model, from_disk) = match at_hand.filter(|_| !self.context.separate_device) {
            Some(model) => (model, false),
            None => (load(&self.params)?, true),
        };
        let drafter = make(model.clone())?;
        let memory = drafter.memory();
        Ok(Opened {
            drafter: Box::new(drafter),
            moved: if from_disk { memory.model } else { 0 },
            weights: (!self.context.separate_device).then_some(model as Weights),
        })
    }
}

/// What ends a load once `stop` is set.
pub(super) fn until(stop: &Stop) -> ProgressFn {
    let stop = stop.clone();
    Box::new(move |_| !stop.load(Ordering::Relaxed))
}

/// A drafter that is a GGUF model.
pub(super) struct ModelFactory {
    origin: Origin,
    /// What the file was like when it was checked, and what was found.
    checked: parking_lot::Mutex<Option<(Identity, Arc<Blueprint>)>>,
}

/// By what a file is known to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl ModelFactory {
    pub(super) fn new(origin: Origin) -> Self {
        Self {
            origin,
            checked: parking_lot::Mutex::new(None),
        }
    }

    fn identity(&self) -> Result<Identity> {
        let file = std::fs::metadata(&self.origin.path)
            .map_err(|error| Error::io("cannot open the model", &self.origin.path, error))?;
        Ok(Identity {
            bytes: file.len(),
            modified: file.modified().ok(),
        })
    }

    /// Loads the file, which must be the one that was checked: nobody looks at its vocabulary
    /// again.
    fn load(&self, params: &ModelParams, stop: &Stop) -> Result<Arc<Model>> {
        let found = self.identity()?;
        let checked = self.checked.lock().clone();
        let (checked, blueprint) =
            checked.ok_or_else(|| Error::invalid("a drafter is planned before it is loaded"))?;
        if found != checked {
            return Err(self.has_changed(checked, found));
        }
        Model::load_bare(&self.origin.path, params, &blueprint, Some(until(stop)))
    }

    fn has_changed(&self, checked: Identity, found: Identity) -> Error {
        let how = match found.bytes == checked.bytes {
            true => "it was written again".to_owned(),
            false => format!("it had {} bytes and has {}", checked.bytes, found.bytes),
        };
        Error::new(
            ErrorKind::InvalidModel,
            format!(
                "{} has changed since the pool was opened: {how}; restart to use the new file",
                self.origin.path.display()
            ),
        )
    }
}

impl DrafterFactory for ModelFactory {
    fn plan(&self) -> Result<MemoryBreakdown> {
        let identity = self.identity()?;
        let description = Model::describe(&self.origin.path, &self.origin.params)?;
        check_vocabulary(&*self.origin.context.target, &*description)?;
        let memory = ModelDrafter::plan(&description, self.origin.drafter)?;
        let blueprint = Arc::new(Blueprint::of(&description, &self.origin.context.target)?);
        *self.checked.lock() = Some((identity, blueprint));
        Ok(memory)
    }

    fn read(&self, stop: &Stop) -> Result<Weights> {
        Ok(self.load(&self.origin.on_host(), stop)?)
    }

    fn open(&self, weights: Option<&Weights>, stop: &Stop) -> Result<Opened> {
        self.origin.open(
            weights,
            |params| self.load(params, stop),
            |model| ModelDrafter::new(model, self.origin.drafter),
        )
    }
}
