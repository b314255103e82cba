//! Checks the tools that compiling llama.cpp and its bindings takes.

use std::process::{Command, Stdio, exit};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for variable in ["CMAKE", "CXX", "LIBCLANG_PATH", "PATH"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }

    let cmake = std::env::var("CMAKE").unwrap_or_else(|_| "cmake".into());
    if !runs(&cmake) {
        stop("cmake was not found");
    }

    let compiler = cc::Build::new().cpp(true).try_get_compiler();
    if !compiler.is_ok_and(|tool| runs(&tool.path().to_string_lossy()) || tool.is_like_msvc()) {
        stop("a C++ compiler was not found");
    }

    if clang_sys::load().is_err() {
        stop("libclang was not found");
    }
}

fn runs(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn stop(what: &str) -> ! {
    eprintln!(
        "metasd cannot be built: {what}; `make setup` in the project's folder installs what is missing."
    );
    exit(1);
}
