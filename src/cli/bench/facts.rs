//! What a report says of the files, the machine and the build, so that another can repeat it.

use std::path::Path;

use metasd::Result;
use metasd::pool::DrafterSpec;
use serde::Serialize;

use crate::cli::digest;

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
        let (bytes, sha256) = digest::of_file(path)?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        Ok(Self {
            file: name.to_string_lossy().into_owned(),
            bytes,
            sha256,
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
        let model = spec.source.path().map(FileFacts::of).transpose()?;
        Ok(Self {
            name: spec.name.clone(),
            kind: spec.source.kind().name(),
            model,
        })
    }
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
