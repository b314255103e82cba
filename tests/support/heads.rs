//! The EAGLE-3 heads that are shipped.

use std::path::{Path, PathBuf};

/// The file of the head `name`.
///
/// # Panics
/// If it is missing.
pub fn head(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("ggml-models/drafters")
        .join(format!("eagle-{name}.gguf"));
    assert!(path.is_file(), "{} is missing", path.display());
    path
}
