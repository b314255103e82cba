//! Compiles the C++ shim against the llama.cpp that `llama-cpp-sys-2` has just built, and
//! generates its Rust bindings.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::exit;

use sha2::{Digest, Sha256};

/// llama.cpp's types as the sys crate already binds them: the shim's bindings reuse these, so
/// that a pointer from one is a pointer for the other.
const BOUND_BY_SYS: &str = "(llama|ggml|gguf)_.*";

fn main() {
    for file in [
        "build.rs",
        "vendor/shim.h",
        "vendor/shim.cpp",
        "vendor/head.cpp",
        "vendor/guard.h",
        "vendor/PIN.toml",
    ] {
        println!("cargo:rerun-if-changed={file}");
    }
    let source = llama_source();
    check_pin(&source);

    let includes = ["include", "src", "ggml/include"].map(|folder| source.join(folder));
    let mut shim = cc::Build::new();
    shim.cpp(true)
        .std("c++17")
        .warnings(true)
        .file("vendor/shim.cpp")
        .file("vendor/head.cpp");
    for folder in &includes {
        // System headers: their warnings are llama.cpp's business.
        if shim.get_compiler().is_like_msvc() {
            shim.include(folder);
        } else {
            shim.flag("-isystem").flag(folder.display().to_string());
        }
    }
    shim.compile("metasd_shim");

    link_shared_libraries();

    let bindings = bindgen::Builder::default()
        .header("vendor/shim.h")
        .clang_args(
            includes
                .iter()
                .map(|folder| format!("-I{}", folder.display())),
        )
        .allowlist_function("msd_.*")
        .allowlist_type("msd_.*")
        .allowlist_var("MSD_.*")
        .blocklist_type(BOUND_BY_SYS)
        .raw_line("use llama_cpp_sys_2::*;")
        .prepend_enum_name(false)
        .layout_tests(false)
        .generate()
        .unwrap_or_else(|error| stop(&format!("the shim's bindings: {error}")));
    let out = PathBuf::from(variable("OUT_DIR")).join("shim.rs");
    bindings
        .write_to_file(&out)
        .unwrap_or_else(|error| stop(&format!("{}: {error}", out.display())));
}

/// With `dynamic-backends` llama.cpp is a set of shared libraries: they are looked for beside the
/// program, where a distribution puts them, and where this build left them.
fn link_shared_libraries() {
    if env::var_os("CARGO_FEATURE_DYNAMIC_BACKENDS").is_none()
        || env::var_os("CARGO_CFG_UNIX").is_none()
    {
        return;
    }
    let origin = if variable("CARGO_CFG_TARGET_VENDOR") == "apple" {
        "@loader_path"
    } else {
        "$ORIGIN"
    };
    let built = PathBuf::from(variable("DEP_LLAMA_GGML_CMAKE_DIR"));
    let built = built.parent().unwrap_or(&built).display();
    println!("cargo:rustc-link-arg=-Wl,-rpath,{origin}");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{built}");
}

/// The root of the llama.cpp source, read from the cache that its cmake build left behind.
fn llama_source() -> PathBuf {
    let installed = PathBuf::from(variable("DEP_LLAMA_GGML_CMAKE_DIR"));
    let cache = installed.join("../../build/CMakeCache.txt");
    let text = fs::read_to_string(&cache)
        .unwrap_or_else(|error| stop(&format!("{}: {error}", cache.display())));
    text.lines()
        .find_map(|line| line.strip_prefix("CMAKE_HOME_DIRECTORY:INTERNAL="))
        .map(PathBuf::from)
        .unwrap_or_else(|| {
            stop(&format!(
                "{} names no CMAKE_HOME_DIRECTORY",
                cache.display()
            ))
        })
}

/// Stops unless the llama.cpp at `source` is the one in `vendor/PIN.toml`.
fn check_pin(source: &Path) {
    let pin: toml::Table = fs::read_to_string("vendor/PIN.toml")
        .map_err(|error| error.to_string())
        .and_then(|text| text.parse().map_err(|error| format!("{error}")))
        .unwrap_or_else(|error| stop(&format!("vendor/PIN.toml: {error}")));
    let headers = pin
        .get("headers")
        .and_then(toml::Value::as_table)
        .unwrap_or_else(|| stop("vendor/PIN.toml has no [headers] table"));
    for (name, wanted) in headers {
        let path = source.join(name);
        println!("cargo:rerun-if-changed={}", path.display());
        let bytes =
            fs::read(&path).unwrap_or_else(|error| stop(&format!("{}: {error}", path.display())));
        let found: String = Sha256::digest(&bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        if wanted.as_str() != Some(&found) {
            stop(&format!(
                "llama.cpp's {name} is not the pinned one (sha256 {found}, vendor/PIN.toml has {wanted}); \
                 build with `--locked`, or move the pin as that file describes"
            ));
        }
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| stop(&format!("cargo did not set {name}")))
}

fn stop(what: &str) -> ! {
    eprintln!("metasd cannot be built: {what}.");
    exit(1);
}
