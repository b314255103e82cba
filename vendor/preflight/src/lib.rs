//! Nothing to call: this crate exists for its build script.
//!
//! llama.cpp is compiled by a dependency, whose own message about a missing tool is a page of
//! backtrace. This crate has almost nothing to compile, so cargo runs its check first.
