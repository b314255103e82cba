//! What goes into chosen layers of a model, kept at each decode beside the logits.

use super::{Context, Message};
use crate::error::{Error, ErrorKind, Result};
use crate::ffi;

/// Architectures whose graph names the input of every layer, at the pinned llama.cpp
/// (`t_layer_inp` in its `src/models/`). For any other it ends the process.
const ARCHITECTURES: &[&str] = &[
    "llama",
    "qwen3",
    "qwen3moe",
    "gpt-oss",
    "gemma4",
    "minimax-m2",
    "mimo2",
    "nanbeige",
    "hunyuan_vl",
    "hunyuan-dense",
    "muse-glimmer",
];

/// Whether the layer inputs of a model of `architecture` can be exposed.
pub fn exposes_layer_inputs(architecture: &str) -> bool {
    ARCHITECTURES.contains(&architecture)
}

impl Context {
    /// The layers whose inputs each decode keeps, ascending; none unless [`Self::expose`] was
    /// called.
    pub fn exposed(&self) -> &[u32] {
        &self.exposed
    }

    /// Lets each decode from now on keep what goes into each of `layers` too.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for an architecture of which [`exposes_layer_inputs`] says no;
    /// [`ErrorKind::InvalidArgument`] for a layer that the model does not have.
    pub fn expose(&mut self, layers: &[u32]) -> Result<()> {
        let model = self.model();
        if !exposes_layer_inputs(model.architecture()) {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "{}: llama.cpp does not hand out the hidden features of a model of \
                     architecture {}; it does for {}",
                    model.path().display(),
                    model.architecture(),
                    ARCHITECTURES.join(", ")
                ),
            ));
        }
        let depth = model.n_layer();
        if let Some(layer) = layers.iter().find(|&&layer| layer >= depth) {
            return Err(Error::invalid(format!(
                "{} has {depth} layers; there is no layer {layer}",
                model.path().display()
            )));
        }
        for &layer in layers {
            let Err(place) = self.exposed.binary_search(&layer) else {
                continue;
            };
            let mut message = Message::new();
            // SAFETY: the context is valid and exclusively borrowed, the model has that layer and
            // names its input, and the message buffer is ours.
            let status = unsafe {
                ffi::msd_expose_layer_input(
                    self.raw.as_ptr(),
                    layer,
                    message.as_mut_ptr(),
                    message.len(),
                )
            };
            if status != ffi::MSD_OK {
                let why = message.text().unwrap_or_default();
                return Err(Error::new(
                    ErrorKind::Backend,
                    format!("the input of layer {layer} cannot be exposed: {why}"),
                ));
            }
            self.exposed.insert(place, layer);
        }
        // What the last decode kept is of the layers before.
        self.decoded = 0;
        Ok(())
    }

    /// What went into `layer` at the last decode: the width of the hidden state for each token of
    /// the batch, in its order.
    ///
    /// # Errors
    /// [`ErrorKind::Backend`] when that was not kept.
    pub fn layer_input(&self, layer: u32) -> Result<&[f32]> {
        let missing = || {
            Error::new(
                ErrorKind::Backend,
                format!("the last decode did not keep the input of layer {layer}"),
            )
        };
        if self.decoded == 0 || self.exposed.binary_search(&layer).is_err() {
            return Err(missing());
        }
        // SAFETY: the context is valid and was decoded with this layer exposed. llama.cpp reorders
        // its output buffer on the first read after a decode, behind a pointer of which this is
        // the only user (`!Sync`).
        let pointer = unsafe { ffi::msd_layer_input(self.raw.as_ptr(), layer) };
        if pointer.is_null() {
            return Err(missing());
        }
        // SAFETY: there is a row for each token of the batch, and they stay until the next decode,
        // which needs `&mut self` and so ends this borrow.
        Ok(unsafe { std::slice::from_raw_parts(pointer, self.decoded * self.model().n_embd()) })
    }
}
