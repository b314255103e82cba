//! What a report says of the files, the machine and the build, so that another can repeat it.

use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use metasd::pool::{DrafterSource, DrafterSpec};
use metasd::{Error, Result};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Bytes read from a file at once.
const CHUNK: usize = 1 << 20;

/// A file, by its content.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FileFacts {
    /// Its name, without its folder.
    pub file: String,
    /// Bytes.
    pub bytes: u64,
    /// The digest of its content.
    pub sha256: String,
}

impl FileFacts {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(path: &Path) -> Result<Self> {
        let failed = |error| Error::io("cannot read", path, error);
        let mut file = File::open(path).map_err(failed)?;
        let mut hash = Sha256::new();
        let mut chunk = vec![0; CHUNK];
        let mut bytes = 0;
        loop {
            let read = file.read(&mut chunk).map_err(failed)?;
            if read == 0 {
                break;
            }
            hash.update(&chunk[..read]);
            bytes += read as u64;
        }
        let name = path.file_name().unwrap_or(path.as_os_str());
        Ok(Self {
            file: name.to_string_lossy().into_owned(),
            bytes,
            sha256: hex(&hash.finalize()),
        })
    }
}

/// A drafter of the pool.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DrafterFacts {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: &'static str,
    /// Its model, if it has one.
    pub model: Option<FileFacts>,
}

impl DrafterFacts {
    /// What there is to say of `spec`.
    ///
    /// # Errors
    /// When its model cannot be read.
    pub fn of(spec: &DrafterSpec) -> Result<Self> {
        let model = match &spec.source {
            DrafterSource::Model { path, .. } => Some(FileFacts::of(path)?),
            _ => None,
        };
        Ok(Self {
            name: spec.name.clone(),
            kind: spec.source.kind().name(),
            model,
        })
    }
}

/// The digest of `text`.
pub fn digest(text: &str) -> String {
    hex(&Sha256::digest(text))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The machine.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Machine {
    /// Operating system.
    pub os: &'static str,
    /// Kind of processor.
    pub arch: &'static str,
    /// The processor's own name, where the system tells it.
    pub cpu: Option<String>,
    /// Physical cores.
    pub cores: usize,
}

impl Machine {
    /// This machine.
    pub fn this() -> Self {
        Self {
            os: std::env::consts::OS,
            arch: std::env::consts::ARCH,
            cpu: cpu_name(),
            cores: num_cpus::get_physical(),
        }
    }
}

fn cpu_name() -> Option<String> {
    let told = if cfg!(target_os = "macos") {
        let mut sysctl = std::process::Command::new("sysctl");
        let output = sysctl.args(["-n", "machdep.cpu.brand_string"]).output();
        String::from_utf8(output.ok()?.stdout).ok()?
    } else {
        let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
        let line = info.lines().find(|line| line.starts_with("model name"))?;
        line.split_once(':')?.1.to_owned()
    };
    Some(told.trim().to_owned()).filter(|name| !name.is_empty())
}

/// The build.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Build {
    /// The program's version.
    pub metasd: &'static str,
    /// The version of llama.cpp.
    pub llama_cpp: String,
    /// What was compiled in beside the CPU.
    pub features: Vec<&'static str>,
    /// Whether it was compiled with optimisation.
    pub optimised: bool,
}

impl Build {
    /// This build.
    pub fn this() -> Self {
        let features = [
            ("cuda", cfg!(feature = "cuda")),
            ("metal", cfg!(feature = "metal")),
            ("vulkan", cfg!(feature = "vulkan")),
            ("dynamic-backends", cfg!(feature = "dynamic-backends")),
        ];
        Self {
            metasd: env!("CARGO_PKG_VERSION"),
            llama_cpp: metasd::llama::version(),
            features: features
                .into_iter()
                .filter_map(|(name, on)| on.then_some(name))
                .collect(),
            optimised: !cfg!(debug_assertions),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_content() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), "abc").expect("writable");
        let facts = FileFacts::of(file.path()).expect("readable");
        // FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((facts.bytes, &*facts.sha256), (3, abc));
        assert_eq!(digest("abc"), abc);
        FileFacts::of(Path::new("no such file")).expect_err("missing");
    }
}
