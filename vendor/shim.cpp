#include "shim.h"

#include "ggml-backend.h"
#include "llama-ext.h"

#include <cstdio>
#include <exception>
#include <vector>

namespace {

void say(char * err, size_t err_len, const char * text) {
    if (err != nullptr && err_len > 0) {
        std::snprintf(err, err_len, "%s", text);
    }
}

// Runs `body` and turns an exception into a status, so that none unwinds into Rust.
template <typename Body>
int32_t guarded(char * err, size_t err_len, Body && body) {
    say(err, err_len, "");
    try {
        return body();
    } catch (const std::exception & e) {
        say(err, err_len, e.what());
    } catch (...) {
        say(err, err_len, "unknown C++ exception");
    }
    return MSD_EXCEPTION;
}

} // namespace

extern "C" {

int32_t msd_context_new(llama_model * model, llama_context_params params, llama_context ** out,
                        char * err, size_t err_len) {
    *out = nullptr;
    return guarded(err, err_len, [&]() -> int32_t {
        *out = llama_init_from_model(model, params);
        return *out != nullptr ? MSD_OK : MSD_FAILED;
    });
}

int32_t msd_decode(llama_context * ctx, llama_batch batch, char * err, size_t err_len) {
    return guarded(err, err_len, [&]() -> int32_t { return llama_decode(ctx, batch); });
}

const float * msd_logits_row(llama_context * ctx, int32_t i) {
    try {
        return llama_get_logits_ith(ctx, i);
    } catch (...) {
        return nullptr;
    }
}

int32_t msd_quantize(const char * in, const char * out, llama_ftype ftype, int32_t threads,
                     const int32_t * prune, size_t n_prune, char * err, size_t err_len) {
    return guarded(err, err_len, [&]() -> int32_t {
        llama_model_quantize_params params = llama_model_quantize_default_params();
        params.nthread          = threads;
        params.ftype            = ftype;
        params.allow_requantize = true;
        std::vector<int32_t> layers;
        if (prune != nullptr && n_prune > 0) {
            layers.assign(prune, prune + n_prune);
            layers.push_back(-1); // the end mark llama.cpp reads up to
            params.prune_layers = layers.data();
        }
        return llama_model_quantize(in, out, &params) == 0 ? MSD_OK : MSD_FAILED;
    });
}

int32_t msd_memory_breakdown(const llama_context * ctx, msd_memory * out, char * err, size_t err_len) {
    *out = msd_memory{};
    return guarded(err, err_len, [&]() -> int32_t {
        for (const auto & [buft, bytes] : llama_get_memory_breakdown(ctx)) {
            if (ggml_backend_buft_is_host(buft) || ggml_backend_buft_get_device(buft) == nullptr ||
                ggml_backend_dev_type(ggml_backend_buft_get_device(buft)) == GGML_BACKEND_DEVICE_TYPE_CPU) {
                out->host_model   += bytes.model;
                out->host_context += bytes.context;
                out->host_compute += bytes.compute;
            } else {
                out->device_model   += bytes.model;
                out->device_context += bytes.context;
                out->device_compute += bytes.compute;
            }
        }
        return MSD_OK;
    });
}

} // extern "C"
