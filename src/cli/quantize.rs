//! `metasd quantize`.

use std::process::ExitCode;

use metasd::llama::{QuantizeParams, quantize};
use metasd::{Error, Result};

use super::args::QuantizeArgs;
use super::progress::Progress;
use super::{engine, say};

/// Writes a model with other weights.
///
/// # Errors
/// Those of [`quantize`]; when input and output are the same file.
pub fn run(args: &QuantizeArgs) -> Result<ExitCode> {
    let same = args
        .input
        .canonicalize()
        .ok()
        .zip(args.output.canonicalize().ok());
    if same.is_some_and(|(input, output)| input == output) {
        return Err(Error::invalid(format!(
            "{} is both input and output; the output must be another file",
            args.input.display()
        )));
    }
    let params = QuantizeParams {
        weight_type: args.weight_type,
        prune_layers: args.prune_layers.clone(),
        threads: args.threads.unwrap_or_else(engine::default_threads),
    };
    Progress::new(false).during("writing", || quantize(&args.input, &args.output, &params))?;
    let size = std::fs::metadata(&args.output)
        .map_err(|error| Error::io("cannot read", &args.output, error))?
        .len();
    say(format_args!(
        "{}: {} bytes, {}",
        args.output.display(),
        size,
        args.weight_type.name()
    ));
    Ok(ExitCode::SUCCESS)
}
