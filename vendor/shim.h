// C interface of metasd's shim over llama.cpp: the calls that may throw, and the parts of
// llama-ext.h (C++) that no crate reaches. build.rs generates Rust bindings from this header.
//
// Every function that can fail returns a status and writes a message of at most `err_len` bytes
// (zero-terminated) to `err`; no C++ exception leaves this interface.
#pragma once

#include <stdbool.h>
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

// llama_set_embeddings_layer_inp: from now on each decode keeps what goes into layer `layer`, which
// is below the model's number of layers. llama.cpp ends the process where the model's graph does
// not name that tensor.
int32_t msd_expose_layer_input(struct llama_context * ctx, uint32_t layer, char * err, size_t err_len);

// llama_get_embeddings_layer_inp: what went into an exposed layer at the last decode, n_embd floats
// for each token of the batch in its order, valid until the next decode.
const float * msd_layer_input(struct llama_context * ctx, uint32_t layer);

// llama_model_quantize with the source's own types allowed as input. `prune` holds `n_prune`
// indices of layers to leave out (NULL for none).
int32_t msd_quantize(const char * in, const char * out, enum llama_ftype ftype, int32_t threads,
                     const int32_t * prune, size_t n_prune, char * err, size_t err_len);

// What a GGUF file says of its model beside the vocabulary's texts: enough to load the weights again
// without making sense of the rest.
struct msd_blueprint;

// Reads the blueprint of a model of `n_vocab` tokens. `*out` is the caller's to free.
int32_t msd_blueprint_read(const char * path, uint32_t n_vocab, struct msd_blueprint ** out, char * err,
                           size_t err_len);

void msd_blueprint_free(struct msd_blueprint * blueprint);

// Loads the weights of the file at `path`, of which `blueprint` was read, with n_vocab tokens that
// have no texts. The blueprint is only looked at. `*out` is the caller's to free with
// llama_model_free.
int32_t msd_model_load_bare(const struct msd_blueprint * blueprint, const char * path,
                            struct llama_model_params params, struct llama_model ** out, char * err,
                            size_t err_len);

// From now on has the allocator give large blocks back to the system when they are freed, and gives
// back what is free now. Does nothing where the C library has no such calls.
void msd_give_back_freed_memory(void);

// llama_state_seq_get_size and llama_state_seq_get_data for sequence `seq`: bytes that `*out` of
// `capacity` bytes took, or with NULL those that it would take. 0 when the state cannot be had.
size_t msd_state_save(struct llama_context * ctx, llama_seq_id seq, uint8_t * out, size_t capacity);

// llama_state_seq_set_data for sequence `seq`.
int32_t msd_state_restore(struct llama_context * ctx, llama_seq_id seq, const uint8_t * bytes,
                          size_t size, char * err, size_t err_len);

// llama_get_memory_breakdown, host buffers apart from device buffers.
int32_t msd_memory_breakdown(const struct llama_context * ctx, struct msd_memory * out,
                             char * err, size_t err_len);

// The decoder layer of a head (architecture `eagle3`) with a cache of keys and values.
//
// Its weights are the model's, and where that has no embedding or output matrix the target's; both
// models must outlive it. Fails where their shapes do not go together.
struct msd_head;

// Pairs of a token and a state, at positions that follow each other.
struct msd_head_pairs {
    const llama_token * tokens;
    const float * source;    // for each pair a state, or the features that one is made of
    bool          features;  // which
    int32_t       count;     // pairs
    int32_t       rows;      // how many of the last of them yield logits and a state
    int32_t       position;  // of the first
    int32_t       first_slot; // where in the cache it goes; a pair sees all slots before its own
};

// Makes a head with room for `n_slots` pairs. `*out` is the caller's to free with msd_head_free.
int32_t msd_head_new(const struct llama_model * head, const struct llama_model * target, int32_t n_slots,
                     int32_t threads, struct msd_head ** out, char * err, size_t err_len);

void msd_head_free(struct msd_head * head);

// Tokens that the head drafts: the length of a row of its logits.
int32_t msd_head_vocabulary(const struct msd_head * head);

// Numbers that a state is made of.
int32_t msd_head_features(const struct msd_head * head);

// Puts pairs into the cache. Writes `rows` rows of logits and as many states, which stand for those
// of the next positions where the target has not been.
int32_t msd_head_run(struct msd_head * head, const struct msd_head_pairs * pairs, float * logits,
                     float * states, char * err, size_t err_len);

// Moves the `kept` slots after the first `dropped` ones to the beginning of the cache.
int32_t msd_head_drop(struct msd_head * head, int32_t dropped, int32_t kept, char * err, size_t err_len);

// What the head occupies, without what it borrows.
int32_t msd_head_memory(const struct msd_head * head, struct msd_memory * out, char * err, size_t err_len);

#ifdef __cplusplus
}
#endif
