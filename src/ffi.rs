//! Raw calls: the generated bindings of the shim in `vendor/`, and llama.cpp's own from
//! `llama-cpp-sys-2`. Nothing here is safe; [`crate::llama`] is.

pub use llama_cpp_sys_2::*;

#[allow(
    missing_docs,
    non_camel_case_types,
    non_upper_case_globals,
    dead_code,
    unreachable_pub
)]
#[allow(clippy::all, clippy::pedantic)]
mod shim {
    include!(concat!(env!("OUT_DIR"), "/shim.rs"));
}
pub use shim::{
    MSD_ABORTED, MSD_MAX_THREADS, MSD_NO_SLOT, MSD_OK, msd_blueprint, msd_blueprint_free,
    msd_blueprint_read, msd_context_new, msd_decode, msd_expose_layer_input,
    msd_give_back_freed_memory, msd_head, msd_head_drop, msd_head_features, msd_head_free,
    msd_head_memory, msd_head_new, msd_head_pairs, msd_head_run, msd_head_vocabulary,
    msd_layer_input, msd_logits_row, msd_memory, msd_memory_breakdown, msd_model_load_bare,
    msd_quantize, msd_state_restore, msd_state_save,
};
