//! Writing a model with other weights: another type, or fewer layers.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::backend::{self, capture_errors, reason};
use super::context::Message;
use super::gguf;
use crate::error::{Error, ErrorKind, Result};
use crate::ffi;

/// A type of weights by llama.cpp's name, such as `Q4_0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightType {
    name: &'static str,
    ftype: ffi::llama_ftype,
}

/// The types that can be written without an importance matrix.
const WEIGHT_TYPES: &[WeightType] = &[
    WeightType::new("F32", ffi::LLAMA_FTYPE_ALL_F32),
    WeightType::new("F16", ffi::LLAMA_FTYPE_MOSTLY_F16),
    WeightType::new("BF16", ffi::LLAMA_FTYPE_MOSTLY_BF16),
    WeightType::new("Q8_0", ffi::LLAMA_FTYPE_MOSTLY_Q8_0),
    WeightType::new("Q6_K", ffi::LLAMA_FTYPE_MOSTLY_Q6_K),
    WeightType::new("Q5_0", ffi::LLAMA_FTYPE_MOSTLY_Q5_0),
    WeightType::new("Q5_1", ffi::LLAMA_FTYPE_MOSTLY_Q5_1),
    WeightType::new("Q5_K_M", ffi::LLAMA_FTYPE_MOSTLY_Q5_K_M),
    WeightType::new("Q4_0", ffi::LLAMA_FTYPE_MOSTLY_Q4_0),
    WeightType::new("Q4_1", ffi::LLAMA_FTYPE_MOSTLY_Q4_1),
    WeightType::new("Q4_K_M", ffi::LLAMA_FTYPE_MOSTLY_Q4_K_M),
    WeightType::new("Q3_K_M", ffi::LLAMA_FTYPE_MOSTLY_Q3_K_M),
    WeightType::new("Q2_K", ffi::LLAMA_FTYPE_MOSTLY_Q2_K),
];

impl WeightType {
    const fn new(name: &'static str, ftype: ffi::llama_ftype) -> Self {
        Self { name, ftype }
    }

    /// llama.cpp's name of the type.
    pub fn name(self) -> &'static str {
        self.name
    }
}

impl FromStr for WeightType {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        WEIGHT_TYPES
            .iter()
            .copied()
            .find(|known| known.name.eq_ignore_ascii_case(name))
            .ok_or_else(|| {
                let known: Vec<_> = WEIGHT_TYPES.iter().map(|known| known.name).collect();
                Error::invalid(format!(
                    "unknown weight type `{name}`; known: {}",
                    known.join(", ")
                ))
            })
    }
}

/// What [`quantize`] writes.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantizeParams {
    /// The type of the weights.
    pub weight_type: WeightType,
    /// Layers to leave out, counted from 0; the rest move up.
    pub prune_layers: Vec<u32>,
    /// Threads; 0 for all.
    pub threads: usize,
}

/// Writes the model at `input` to `output` with other weights. `output` appears only when it is
/// complete.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] when a pruned layer does not exist or none would be left,
/// [`ErrorKind::InvalidModel`] with llama.cpp's reason, [`ErrorKind::Io`].
pub fn quantize(input: &Path, output: &Path, params: &QuantizeParams) -> Result<()> {
    backend::init();
    gguf::check_header(input)?;
    check_layers(input, &params.prune_layers)?;

    if params.threads > ffi::MSD_MAX_THREADS as usize {
        return Err(Error::invalid(format!(
            "threads is {}; it must be at most {}",
            params.threads,
            ffi::MSD_MAX_THREADS
        )));
    }
    let part = part_beside(output)?;
    let path = |path: &Path| {
        path.to_str()
            .and_then(|path| CString::new(path).ok())
            .ok_or_else(|| Error::invalid(format!("{} is not a UTF-8 path", path.display())))
    };
    let (from, to) = (path(input)?, path(&part)?);
    // Found out here, with its reason: llama.cpp would only say that it failed.
    std::fs::File::create(&part).map_err(|error| Error::io("cannot write", output, error))?;
    let prune: Vec<i32> = params
        .prune_layers
        .iter()
        .filter_map(|&layer| i32::try_from(layer).ok())
        .collect();
    let mut message = Message::new();
    let (status, lines) = capture_errors(|| {
        // SAFETY: all pointers are valid for the call; `prune` has the length given with it.
        unsafe {
            ffi::msd_quantize(
                from.as_ptr(),
                to.as_ptr(),
                params.weight_type.ftype,
                i32::try_from(params.threads).unwrap_or(0),
                prune.as_ptr(),
                prune.len(),
                message.as_mut_ptr(),
                message.len(),
            )
        }
    });
    if status != ffi::MSD_OK {
        let _ = std::fs::remove_file(&part);
        let why = message.text().unwrap_or_else(|| reason(&lines));
        return Err(Error::new(
            ErrorKind::InvalidModel,
            format!(
                "{} cannot be written as {}: {why}",
                input.display(),
                params.weight_type.name
            ),
        ));
    }
    std::fs::rename(&part, output).map_err(|error| {
        let _ = std::fs::remove_file(&part);
        Error::io("cannot write", output, error)
    })
}

/// Where the file is written until it is complete, in the folder of `output`.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] when `output` names no file, or something there that is none.
fn part_beside(output: &Path) -> Result<PathBuf> {
    let name = output
        .file_name()
        .ok_or_else(|| Error::invalid(format!("{} names no file", output.display())))?;
    // Renaming onto it would replace a device or a link by a file.
    if std::fs::symlink_metadata(output).is_ok_and(|there| !there.is_file()) {
        return Err(Error::invalid(format!(
            "{} is there and no regular file; name another output",
            output.display()
        )));
    }
    let part = format!(".{}.part-{}", name.to_string_lossy(), std::process::id());
    Ok(output.with_file_name(part))
}

fn check_layers(input: &Path, prune: &[u32]) -> Result<()> {
    if prune.is_empty() {
        return Ok(());
    }
    let layers = gguf::block_count(input)?.ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidModel,
            format!("{} does not say how many layers it has", input.display()),
        )
    })?;
    if let Some(layer) = prune.iter().find(|&&layer| layer >= layers) {
        return Err(Error::invalid(format!(
            "--prune-layers names layer {layer}; {} has layers 0 to {}",
            input.display(),
            layers.saturating_sub(1)
        )));
    }
    let mut distinct = prune.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() as u64 >= u64::from(layers) {
        return Err(Error::invalid("--prune-layers would leave no layer"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_types_are_found_in_any_case_and_an_unknown_one_lists_the_rest() {
        assert_eq!("q4_0".parse::<WeightType>().expect("known").name(), "Q4_0");
        let error = "Q9_9".parse::<WeightType>().expect_err("unknown");
        assert!(error.to_string().contains("BF16"), "{error}");
    }
}
