// C interface of metasd's shim over llama.cpp: the calls that may throw, and the parts of
// llama-ext.h (C++) that no crate reaches. build.rs generates Rust bindings from this header.
//
// Every function that can fail returns a status and writes a message of at most `err_len` bytes
// (zero-terminated) to `err`; no C++ exception leaves this interface.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "llama.h"

#ifdef __cplusplus
extern "C" {
#endif

// Statuses. Other values of msd_decode are llama_decode's own.
enum msd_status {
    MSD_OK        = 0,
    MSD_NO_SLOT   = 1,    // no room in the KV cache for the batch
    MSD_ABORTED   = 2,    // the abort callback asked to stop
    MSD_FAILED    = -100, // the call reported a failure without an exception
    MSD_EXCEPTION = -101, // an exception was caught; `err` holds its text
};

// The most threads that ggml takes for one context.
static const int32_t MSD_MAX_THREADS = GGML_MAX_N_THREADS;

// Bytes that a context and its model occupy, summed over the buffers of one side.
struct msd_memory {
    uint64_t host_model;
    uint64_t host_context;
    uint64_t host_compute;
    uint64_t device_model;
    uint64_t device_context;
    uint64_t device_compute;
};

// llama_init_from_model. `*out` is the caller's to free with llama_free.
int32_t msd_context_new(struct llama_model * model, struct llama_context_params params,
                        struct llama_context ** out, char * err, size_t err_len);

// llama_decode.
int32_t msd_decode(struct llama_context * ctx, struct llama_batch batch, char * err, size_t err_len);

// llama_get_logits_ith: the row of the batch's i-th token, n_vocab floats, valid until the next
// decode. NULL when that token had no output requested.
const float * msd_logits_row(struct llama_context * ctx, int32_t i);

// llama_model_quantize with the source's own types allowed as input. `prune` holds `n_prune`
// indices of layers to leave out (NULL for none).
int32_t msd_quantize(const char * in, const char * out, enum llama_ftype ftype, int32_t threads,
                     const int32_t * prune, size_t n_prune, char * err, size_t err_len);

// llama_get_memory_breakdown, host buffers apart from device buffers.
int32_t msd_memory_breakdown(const struct llama_context * ctx, struct msd_memory * out,
                             char * err, size_t err_len);

#ifdef __cplusplus
}
#endif
