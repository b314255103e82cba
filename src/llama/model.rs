//! A loaded model: weights, vocabulary, chat template.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::model::{LlamaChatMessage, LlamaModel};
use llama_cpp_2::token::LlamaToken;

use super::backend::{self, capture_errors, reason};
use super::blueprint::{Blueprint, c_path, unusable};
use super::context::Message;
use super::device::DeviceChoice;
use super::gguf;
use crate::error::{Error, ErrorKind, Result};
use crate::ffi;
use crate::types::TokenId;

/// Called during loading with the part done, 0 to 1; returning `false` stops the load.
pub type ProgressFn = Box<dyn FnMut(f32) -> bool>;

/// How a model is loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelParams {
    /// Layers to keep in device memory; `None` for all that the build can offload.
    pub gpu_layers: Option<u32>,
    /// The devices to keep them on, over which llama.cpp splits them; `None` for all GPUs there
    /// are.
    pub devices: Option<DeviceChoice>,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    /// `system`, `user` or `assistant`.
    pub role: String,
    /// The text.
    pub content: String,
}

impl ChatMessage {
    /// A message of `role`.
    pub fn new(role: &str, content: impl Into<String>) -> Self {
        Self {
            role: role.to_owned(),
            content: content.into(),
        }
    }
}

/// A model in memory, shared by the contexts that run it.
pub struct Model {
    inner: LlamaModel,
    path: PathBuf,
    file_size: u64,
    architecture: String,
    n_vocab: usize,
    /// Whose vocabulary it has, where it was loaded without its own.
    vocabulary: Option<Arc<Model>>,
}

// `Model::raw` reads the pointer out of the crate's wrapper, and `Model::load_bare` puts it there.
const _: () = assert!(size_of::<LlamaModel>() == size_of::<*mut ffi::llama_model>());

impl Model {
    /// Loads the GGUF file at `path`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`], [`ErrorKind::InvalidModel`] for a file that is not GGUF, is cut
    /// short or has an architecture unknown to llama.cpp, [`ErrorKind::Cancelled`] when
    /// `progress` returned `false`.
    pub fn load(
        path: &Path,
        params: &ModelParams,
        progress: Option<ProgressFn>,
    ) -> Result<Arc<Self>> {
        Self::load_as(path, params, false, progress)
    }

    /// What stands in the GGUF file at `path` beside its weights, of which none is read: the
    /// vocabulary, and all that a context is planned by ([`Context::plan`](super::Context::plan)).
    /// No context can be made of it.
    ///
    /// # Errors
    /// Those of [`Self::load`].
    pub fn describe(path: &Path, params: &ModelParams) -> Result<Arc<Self>> {
        Self::load_as(path, params, true, None)
    }

    fn load_as(
        path: &Path,
        params: &ModelParams,
        description: bool,
        progress: Option<ProgressFn>,
    ) -> Result<Arc<Self>> {
        let backend = backend::init();
        let file_size = gguf::check_header(path)?;
        gguf::block_count(path)?;
        gguf::check_numbers(path)?;
        let mut raw_params = LlamaModelParams::default();
        if let Some(layers) = params.gpu_layers {
            raw_params = raw_params.with_n_gpu_layers(layers);
        }
        if let Some(devices) = &params.devices {
            raw_params = raw_params
                .with_devices(devices.indices())
                .map_err(|error| Error::invalid(error.to_string()))?;
        }
        if description {
            raw_params = raw_params.with_no_alloc(true);
        }
        let cancelled = std::rc::Rc::new(std::cell::Cell::new(false));
        if let Some(mut progress) = progress {
            let cancelled = cancelled.clone();
            raw_params = raw_params.with_progress_callback(move |part| {
                let go_on = progress(part);
                cancelled.set(!go_on);
                go_on
            });
        }
        let (loaded, lines) =
            capture_errors(|| LlamaModel::load_from_file(backend, path, &raw_params));
        let inner = loaded.map_err(|error| {
            if cancelled.get() {
                return Error::new(ErrorKind::Cancelled, "loading was stopped");
            }
            let why = if lines.is_empty() {
                error.to_string()
            } else {
                reason(&lines)
            };
            Error::new(
                ErrorKind::InvalidModel,
                format!("{} cannot be loaded: {why}", path.display()),
            )
        })?;
        let n_vocab = usize::try_from(inner.n_vocab()).unwrap_or(0);
        if n_vocab == 0 {
            return Err(Error::new(
                ErrorKind::InvalidModel,
                format!("{} has no vocabulary", path.display()),
            ));
        }
        let architecture = inner
            .meta_val_str("general.architecture")
            .unwrap_or_else(|_| "unknown".into());
        Ok(Arc::new(Self {
            inner,
            path: path.to_owned(),
            file_size,
            architecture,
            n_vocab,
            vocabulary: None,
        }))
    }

    /// Loads the GGUF file at `path`, of which `blueprint` was made, without its vocabulary: making
    /// sense of tens of thousands of texts takes longer than reading the weights of a small model,
    /// and as much memory. The weights are read, not mapped, so that they take what
    /// [`Self::describe`] said, and whatever becomes of the file does not harm them.
    ///
    /// # Errors
    /// Those of [`Self::load`].
    pub fn load_bare(
        path: &Path,
        params: &ModelParams,
        blueprint: &Blueprint,
        mut progress: Option<ProgressFn>,
    ) -> Result<Arc<Self>> {
        backend::init();
        let file_size = gguf::check_header(path)?;
        let c_path = c_path(path)?;
        // SAFETY: returns a plain struct.
        let mut raw = unsafe { ffi::llama_model_default_params() };
        if let Some(layers) = params.gpu_layers {
            raw.n_gpu_layers = i32::try_from(layers).unwrap_or(i32::MAX);
        }
        let mut devices = params.devices.as_ref().map(DeviceChoice::raw);
        if let Some(devices) = &mut devices {
            raw.devices = devices.as_mut_ptr();
        }
        let mut cancelled = false;
        let mut watch = (&mut progress, &mut cancelled);
        raw.progress_callback = Some(report_progress);
        raw.progress_callback_user_data = (&raw mut watch).cast();
        let mut model = std::ptr::null_mut();
        let mut message = Message::new();
        let (status, lines) = capture_errors(|| {
            // SAFETY: the blueprint, the path, the list of devices and what the callback looks at
            // outlive the call; `out` and the message buffer are ours.
            unsafe {
                ffi::msd_model_load_bare(
                    blueprint.raw(),
                    c_path.as_ptr(),
                    raw,
                    &raw mut model,
                    message.as_mut_ptr(),
                    message.len(),
                )
            }
        });
        if status != ffi::MSD_OK || model.is_null() {
            if cancelled {
                return Err(Error::new(ErrorKind::Cancelled, "loading was stopped"));
            }
            let why = message.text().unwrap_or_else(|| reason(&lines));
            return Err(unusable(path, why));
        }
        // SAFETY: `LlamaModel` is `repr(transparent)` over a non-null `llama_model*` (its size is
        // checked above), and this one is not null and nobody else's.
        let inner =
            unsafe { std::mem::transmute_copy::<*mut ffi::llama_model, LlamaModel>(&model) };
        Ok(Arc::new(Self {
            inner,
            path: path.to_owned(),
            file_size,
            architecture: blueprint.architecture.clone(),
            n_vocab: blueprint.n_vocab,
            vocabulary: Some(blueprint.vocabulary.clone()),
        }))
    }

    /// Whose texts its tokens have: its own, unless it was loaded without.
    fn texts(&self) -> &Self {
        self.vocabulary.as_deref().unwrap_or(self)
    }

    /// The file it was loaded from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of that file.
    pub fn file_size(&self) -> u64 {
        self.file_size
    }

    /// The architecture's name in the file, such as `llama`.
    pub fn architecture(&self) -> &str {
        &self.architecture
    }

    /// Tokens in the vocabulary.
    pub fn vocab_size(&self) -> usize {
        self.n_vocab
    }

    /// Transformer blocks.
    pub fn n_layer(&self) -> u32 {
        // SAFETY: the model is valid; here and below the call reads a number.
        count(unsafe { ffi::llama_model_n_layer(self.raw()) })
    }

    /// Width of the hidden state.
    pub fn n_embd(&self) -> usize {
        usize::try_from(self.inner.n_embd()).unwrap_or(0)
    }

    /// Parameters.
    pub fn n_params(&self) -> u64 {
        self.inner.n_params()
    }

    /// Bytes of keys and values of one position in the KV cache, in 16-bit floats.
    pub fn kv_bytes_per_token(&self) -> u64 {
        // SAFETY: as above.
        let (heads, kv_heads) = unsafe {
            (
                count(ffi::llama_model_n_head(self.raw())).max(1),
                count(ffi::llama_model_n_head_kv(self.raw())),
            )
        };
        let head_size = self.n_embd() as u64 / u64::from(heads);
        (u64::from(self.n_layer()) * u64::from(kv_heads)).saturating_mul(head_size * 2 * 2)
    }

    /// The longest context the model was trained for, in tokens.
    /// 0 when the file makes no sense of it.
    pub fn n_ctx_train(&self) -> usize {
        // SAFETY: as above.
        count(unsafe { ffi::llama_model_n_ctx_train(self.raw()) }) as usize
    }

    /// Checks that its memory can be cut back to any position, as speculation needs.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a recurrent or hybrid model.
    pub fn check_rollback(&self) -> Result<()> {
        if !self.inner.is_recurrent() && !self.inner.is_hybrid() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "{} is a recurrent or hybrid model ({}); its memory cannot be rolled back, which \
                 speculation needs",
                self.path.display(),
                self.architecture
            ),
        ))
    }

    /// The tokens of `text`. `add_special` lets the model add its begin-of-text token;
    /// `parse_special` reads special tokens written out in the text, such as `<|im_start|>`.
    pub fn tokenize(&self, text: &str, add_special: bool, parse_special: bool) -> Vec<TokenId> {
        self.texts()
            .inner
            .vocab()
            .tokenize(text.as_bytes(), add_special, parse_special)
            .into_iter()
            .map(|token| TokenId(token.0))
            .collect()
    }

    /// The bytes of one token; empty for a control token unless `special`. They need not be valid
    /// UTF-8 by themselves.
    pub fn piece(&self, token: TokenId, special: bool) -> Vec<u8> {
        self.texts()
            .inner
            .vocab()
            .token_to_piece(LlamaToken(token.0), special, None)
    }

    /// The token's text as the vocabulary stores it.
    pub fn token_text(&self, token: TokenId) -> Vec<u8> {
        self.texts()
            .inner
            .vocab()
            .text(LlamaToken(token.0))
            .map(|text| text.to_bytes().to_vec())
            .unwrap_or_default()
    }

    /// Whether the token ends a generation.
    pub fn is_eog(&self, token: TokenId) -> bool {
        self.texts().inner.vocab().is_eog(LlamaToken(token.0))
    }

    /// The name of the vocabulary's type: `bpe`, `spm`, …
    pub fn vocab_type(&self) -> String {
        format!("{:?}", self.texts().inner.vocab().vocab_type()).to_lowercase()
    }

    /// The begin-of-text token, if the vocabulary has one.
    pub fn bos(&self) -> Option<TokenId> {
        let token = self.texts().inner.vocab().bos().0;
        (token >= 0).then_some(TokenId(token))
    }

    /// The end-of-text token, if the vocabulary has one.
    pub fn eos(&self) -> Option<TokenId> {
        let token = self.texts().inner.vocab().eos().0;
        (token >= 0).then_some(TokenId(token))
    }

    /// Whether the file brings a chat template.
    pub fn has_chat_template(&self) -> bool {
        self.inner.chat_template(None).is_ok()
    }

    /// The conversation as one prompt, in the model's own chat template; with
    /// `add_generation_prompt` it ends where the assistant's answer begins.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] when the model has no chat template or llama.cpp does not know
    /// the one it has; [`ErrorKind::InvalidArgument`] for a message with a NUL character.
    pub fn apply_chat_template(
        &self,
        messages: &[ChatMessage],
        add_generation_prompt: bool,
    ) -> Result<String> {
        let unsupported = |what: String| {
            Error::new(
                ErrorKind::Unsupported,
                format!(
                    "{}: {what}; give a raw prompt instead (--no-conversation)",
                    self.path.display()
                ),
            )
        };
        let template = self
            .inner
            .chat_template(None)
            .map_err(|error| unsupported(format!("no chat template ({error})")))?;
        let messages = messages
            .iter()
            .map(|message| LlamaChatMessage::new(message.role.clone(), message.content.clone()))
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(|_| Error::invalid("a message contains a NUL character"))?;
        self.inner
            .apply_chat_template(&template, &messages, add_generation_prompt)
            .map_err(|error| unsupported(format!("its chat template cannot be applied ({error})")))
    }

    pub(super) fn raw(&self) -> *mut ffi::llama_model {
        // SAFETY: at the pinned version LlamaModel is `repr(transparent)` over a non-null
        // `llama_model*` (its size is checked above); reading it through a shared reference is
        // reading a pointer.
        unsafe { *std::ptr::from_ref(&self.inner).cast::<*mut ffi::llama_model>() }
    }
}

/// llama.cpp's progress callback; its user data is a progress function, if there is one, and
/// whether it stopped the load.
extern "C" fn report_progress(part: f32, watch: *mut std::ffi::c_void) -> bool {
    // SAFETY: `Model::load_bare` passes this pair, which nothing else touches during the call.
    let (progress, cancelled) =
        unsafe { &mut *watch.cast::<(&mut Option<ProgressFn>, &mut bool)>() };
    let go_on = progress.as_mut().is_none_or(|progress| progress(part));
    **cancelled = !go_on;
    go_on
}

/// A number out of a file's metadata, where a negative one stands for nonsense.
fn count(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model")
            .field("path", &self.path)
            .field("architecture", &self.architecture)
            .finish_non_exhaustive()
    }
}
