// The decoder layer of an EAGLE-3 head as a graph of our own over the weights that llama.cpp loaded.
//
// llama.cpp's graph computes the whole layer and the output matrix for every pair, and spreads each
// row over the target's vocabulary; of a committed pair only keys and values are needed. It has
// encoder and decoder as two passes, which never find each other's graph to use again.

#include "guard.h"

#include "ggml-backend.h"
#include "ggml-cpp.h"
#include "llama-ext.h"
#include "llama-model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

namespace {

// Slots are looked at in steps of so many, so that a graph serves several calls.
constexpr int64_t SLOT_STEP = 64;

constexpr size_t MAX_NODES = 128;

int64_t padded(int64_t slots) { return (slots + SLOT_STEP - 1) / SLOT_STEP * SLOT_STEP; }

// What a graph depends on beside the weights.
struct Shape {
    int64_t pairs;   // pairs that go in
    int64_t rows;    // how many of the last of them yield logits and a state
    int64_t slots;   // slots that are attended to, padded
    bool    encodes; // whether states are made of features

    bool operator==(const Shape & other) const {
        return pairs == other.pairs && rows == other.rows && slots == other.slots &&
               encodes == other.encodes;
    }
};

struct Graph {
    Shape            shape = {};
    ggml_context_ptr context;
    ggml_cgraph *    graph  = nullptr;
    ggml_tensor *    tokens = nullptr; // I32 [pairs]
    ggml_tensor *    source = nullptr; // F32 [features or state, pairs]
    ggml_tensor *    places = nullptr; // I32 [pairs]: positions
    ggml_tensor *    slots  = nullptr; // I64 [pairs]: where keys and values go
    ggml_tensor *    mask   = nullptr; // F16 [slots, rows]
    ggml_tensor *    logits = nullptr; // F32 [drafted vocabulary, rows]
    ggml_tensor *    states = nullptr; // F32 [state, rows]
};

} // namespace

struct msd_head {
    const llama_model & model;
    ggml_tensor *       embedding;
    ggml_tensor *       output;
    int64_t             n_slots;
    int64_t             width;
    int64_t             head_size;
    int64_t             n_head;
    int64_t             n_head_kv;

    std::vector<ggml_backend_ptr> backends; // the CPU last
    ggml_backend_sched_ptr        scheduler;
    ggml_context_ptr              cache_context;
    ggml_backend_buffer_ptr       cache_buffer;
    ggml_tensor *                 keys   = nullptr; // F16 [head_size * n_head_kv, slots]
    ggml_tensor *                 values = nullptr;

    Graph graph;

    msd_head(const llama_model * head, const llama_model * target, int32_t n_slots, int32_t threads);

    const llama_layer & layer() const { return model.layers[0]; }

    int64_t vocabulary() const { return output->ne[1]; }

    void build(const Shape & shape);

    void run(const Shape & shape, const llama_token * tokens, const float * source, int32_t position,
             int32_t first_slot, float * logits, float * states);

  private:
    ggml_tensor * normed(ggml_context * c, ggml_tensor * x, ggml_tensor * weight) const {
        return ggml_mul(c, ggml_rms_norm(c, x, model.hparams.f_norm_rms_eps), weight);
    }

    ggml_tensor * rotated(ggml_context * c, ggml_tensor * x, ggml_tensor * places) const;
};

msd_head::msd_head(const llama_model * head, const llama_model * target, int32_t slots, int32_t threads) :
    model(*head),
    embedding(head->tok_embd != nullptr ? head->tok_embd : target->tok_embd),
    output(head->output != nullptr ? head->output : target->output),
    n_slots(padded(slots)),
    width(llama_model_n_embd(head)),
    n_head(llama_model_n_head(head)),
    n_head_kv(llama_model_n_head_kv(head)) {
    const int64_t n_vocab = llama_vocab_n_tokens(llama_model_get_vocab(head));
    if (model.layers.size() != 1 || model.fc == nullptr || embedding == nullptr || output == nullptr) {
        throw std::runtime_error("the model is no head with one layer");
    }
    if (embedding->ne[0] != width || embedding->ne[1] < n_vocab || output->ne[0] != width) {
        throw std::runtime_error("the embedding or the output matrix is of another shape than the head");
    }
    // llama.cpp gave the layer's weights these shapes when it loaded them.
    head_size = n_head_kv > 0 ? layer().wk->ne[1] / n_head_kv : 0;
    if (head_size <= 0 || n_head % n_head_kv != 0 || layer().wv->ne[1] != head_size * n_head_kv ||
        layer().wq->ne[1] != head_size * n_head) {
        throw std::runtime_error("the heads of the attention are of different sizes");
    }

    for (int i = 0; i < llama_model_n_devices(head); ++i) {
        backends.emplace_back(ggml_backend_dev_init(llama_model_get_device(head, i), nullptr));
    }
    backends.emplace_back(ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, nullptr));
    std::vector<ggml_backend_t> raw;
    for (const auto & backend : backends) {
        if (!backend) {
            throw std::runtime_error("a backend cannot be started");
        }
        raw.push_back(backend.get());
    }
    ggml_backend_reg_t registry = ggml_backend_dev_backend_reg(ggml_backend_get_device(raw.back()));
    const auto set_threads = reinterpret_cast<ggml_backend_set_n_threads_t>(
        ggml_backend_reg_get_proc_address(registry, "ggml_backend_set_n_threads"));
    if (set_threads != nullptr) {
        set_threads(raw.back(), threads);
    }
    scheduler.reset(ggml_backend_sched_new(raw.data(), nullptr, static_cast<int>(raw.size()), MAX_NODES * 2,
                                           /* parallel = */ false, /* op_offload = */ true));

    cache_context.reset(ggml_init({ ggml_tensor_overhead() * 2, nullptr, /* no_alloc = */ true }));
    const int64_t of_pair = head_size * n_head_kv;
    keys   = ggml_new_tensor_2d(cache_context.get(), GGML_TYPE_F16, of_pair, n_slots);
    values = ggml_new_tensor_2d(cache_context.get(), GGML_TYPE_F16, of_pair, n_slots);
    // Beside the weights of the layer, as far as their kind of buffer holds other tensors.
    cache_buffer.reset(ggml_backend_alloc_ctx_tensors(cache_context.get(), raw.front()));
    if (!scheduler || !cache_buffer) {
        throw std::runtime_error("out of memory for the cache of the head");
    }
    ggml_backend_buffer_clear(cache_buffer.get(), 0);
}

// As llama_context and the graph of the `eagle3` architecture set the parameters of the rotation.
ggml_tensor * msd_head::rotated(ggml_context * c, ggml_tensor * x, ggml_tensor * places) const {
    const auto & h      = model.hparams;
    const bool   yarn   = h.rope_scaling_type_train == LLAMA_ROPE_SCALING_TYPE_YARN;
    const bool   scales = h.rope_scaling_type_train != LLAMA_ROPE_SCALING_TYPE_NONE;
    const float  scale  = scales ? h.rope_freq_scale_train : 1.0f;
    const float  ext    = h.yarn_ext_factor >= 0.0f ? h.yarn_ext_factor : (yarn ? 1.0f : 0.0f);
    float        attn   = h.yarn_attn_factor;
    if (ext != 0.0f) {
        const float factor    = 1.0f / scale;
        const auto  magnitude = [factor](float m) { return factor <= 1.0f ? 1.0f : 0.1f * m * std::log(factor) + 1.0f; };
        attn = h.rope_yarn_log_mul != 0.0f ? magnitude(1.0f) / magnitude(h.rope_yarn_log_mul) : magnitude(1.0f);
        attn *= 1.0f / (1.0f + 0.1f * std::log(factor));
    }
    attn *= h.rope_attn_factor;
    const int trained = h.n_ctx_orig_yarn != 0 ? static_cast<int>(h.n_ctx_orig_yarn) : llama_model_n_ctx_train(&model);
    return ggml_rope_ext(c, x, places, layer().rope_freqs, static_cast<int>(h.n_rot_full), llama_model_rope_type(&model),
                         trained, h.rope_freq_base_train, scale, ext, attn, h.yarn_beta_fast, h.yarn_beta_slow);
}

void msd_head::build(const Shape & shape) {
    graph = {};
    graph.context.reset(ggml_init({ ggml_tensor_overhead() * MAX_NODES + ggml_graph_overhead_custom(MAX_NODES, false),
                                    nullptr, /* no_alloc = */ true }));
    ggml_context * c = graph.context.get();
    graph.graph      = ggml_new_graph_custom(c, MAX_NODES, false);
    const auto input = [&](ggml_tensor * tensor) {
        ggml_set_input(tensor);
        return tensor;
    };
    const auto & l      = layer();
    graph.tokens        = input(ggml_new_tensor_1d(c, GGML_TYPE_I32, shape.pairs));
    graph.places        = input(ggml_new_tensor_1d(c, GGML_TYPE_I32, shape.pairs));
    graph.slots         = input(ggml_new_tensor_1d(c, GGML_TYPE_I64, shape.pairs));
    const int64_t reads = shape.encodes ? model.fc->ne[0] : width;
    graph.source        = input(ggml_new_tensor_2d(c, GGML_TYPE_F32, reads, shape.pairs));

    ggml_tensor * state = graph.source;
    if (shape.encodes) {
        if (model.hparams.norm_before_fc) {
            state = normed(c, state, model.output_norm_enc);
        }
        state = ggml_mul_mat(c, model.fc, state);
    }
    ggml_tensor * token_norm = normed(c, ggml_get_rows(c, embedding, graph.tokens), l.attn_norm);
    ggml_tensor * state_norm = normed(c, state, l.attn_norm_2);
    ggml_tensor * both       = ggml_concat(c, token_norm, state_norm, 0);
    ggml_tensor * residual   = model.hparams.norm_before_residual ? state_norm : state;

    ggml_tensor * k = ggml_reshape_3d(c, ggml_mul_mat(c, l.wk, both), head_size, n_head_kv, shape.pairs);
    k               = ggml_reshape_2d(c, rotated(c, k, graph.places), head_size * n_head_kv, shape.pairs);
    ggml_build_forward_expand(graph.graph, ggml_set_rows(c, keys, k, graph.slots));
    ggml_build_forward_expand(graph.graph, ggml_set_rows(c, values, ggml_mul_mat(c, l.wv, both), graph.slots));

    if (shape.rows > 0) {
        const int64_t skipped = shape.pairs - shape.rows;
        const auto    last    = [&](ggml_tensor * x) {
            return ggml_view_2d(c, x, x->ne[0], shape.rows, x->nb[1], skipped * x->nb[1]);
        };
        ggml_tensor * places = ggml_view_1d(c, graph.places, shape.rows, skipped * graph.places->nb[0]);
        graph.mask           = input(ggml_new_tensor_2d(c, GGML_TYPE_F16, shape.slots, shape.rows));

        ggml_tensor * q = ggml_reshape_3d(c, ggml_mul_mat(c, l.wq, last(both)), head_size, n_head, shape.rows);
        q               = ggml_permute(c, rotated(c, q, places), 0, 2, 1, 3);
        const auto held = [&](ggml_tensor * x) {
            x = ggml_view_3d(c, x, head_size, n_head_kv, shape.slots, ggml_row_size(x->type, head_size), x->nb[1], 0);
            return ggml_permute(c, x, 0, 2, 1, 3);
        };
        ggml_tensor * attended =
            ggml_flash_attn_ext(c, q, held(keys), held(values), graph.mask, 1.0f / std::sqrt(float(head_size)), 0.0f, 0.0f);
        ggml_prec_set_acc(attended, GGML_PREC_F32);
        attended = ggml_reshape_2d(c, attended, head_size * n_head, shape.rows);

        ggml_tensor * between = ggml_add(c, ggml_mul_mat(c, l.wo, attended), last(residual));
        ggml_tensor * x       = normed(c, between, l.ffn_norm);
        x                     = ggml_swiglu_split(c, ggml_mul_mat(c, l.ffn_gate, x), ggml_mul_mat(c, l.ffn_up, x));
        graph.states          = ggml_add(c, ggml_mul_mat(c, l.ffn_down, x), between);
        ggml_set_output(graph.states);
        graph.logits = ggml_mul_mat(c, output, normed(c, graph.states, model.output_norm));
        ggml_set_output(graph.logits);
        ggml_build_forward_expand(graph.graph, graph.logits);
    }

    ggml_backend_sched_reset(scheduler.get());
    if (!ggml_backend_sched_alloc_graph(scheduler.get(), graph.graph)) {
        graph = {};
        throw std::runtime_error("out of memory for the graph of the head");
    }
    graph.shape = shape;
}

void msd_head::run(const Shape & shape, const llama_token * tokens, const float * source, int32_t position,
                   int32_t first_slot, float * logits, float * states) {
    if (!graph.context || !(graph.shape == shape)) {
        build(shape);
    }
    std::vector<int32_t> places(shape.pairs);
    std::vector<int64_t> slots(shape.pairs);
    for (int64_t i = 0; i < shape.pairs; ++i) {
        places[i] = position + static_cast<int32_t>(i);
        slots[i]  = first_slot + i;
    }
    const auto set = [](ggml_tensor * tensor, const void * data) {
        ggml_backend_tensor_set(tensor, data, 0, ggml_nbytes(tensor));
    };
    set(graph.tokens, tokens);
    set(graph.source, source);
    set(graph.places, places.data());
    set(graph.slots, slots.data());
    if (shape.rows > 0) {
        const ggml_fp16_t        hidden = ggml_fp32_to_fp16(-std::numeric_limits<float>::infinity());
        std::vector<ggml_fp16_t> mask(shape.slots * shape.rows, hidden);
        for (int64_t row = 0; row < shape.rows; ++row) {
            const int64_t seen = first_slot + shape.pairs - shape.rows + row + 1;
            std::fill_n(mask.begin() + row * shape.slots, seen, ggml_fp16_t{ 0 });
        }
        set(graph.mask, mask.data());
    }
    const ggml_status status = ggml_backend_sched_graph_compute(scheduler.get(), graph.graph);
    if (status != GGML_STATUS_SUCCESS) {
        throw std::runtime_error(ggml_status_to_string(status));
    }
    if (shape.rows > 0) {
        ggml_backend_tensor_get(graph.logits, logits, 0, ggml_nbytes(graph.logits));
        ggml_backend_tensor_get(graph.states, states, 0, ggml_nbytes(graph.states));
    }
}

extern "C" {

int32_t msd_head_new(const llama_model * head, const llama_model * target, int32_t n_slots, int32_t threads,
                     msd_head ** out, char * err, size_t err_len) {
    *out = nullptr;
    return guarded(err, err_len, [&]() -> int32_t {
        *out = new msd_head(head, target, n_slots, threads);
        return MSD_OK;
    });
}

void msd_head_free(msd_head * head) {
    delete head;
}

int32_t msd_head_vocabulary(const msd_head * head) {
    return static_cast<int32_t>(head->vocabulary());
}

int32_t msd_head_features(const msd_head * head) {
    return static_cast<int32_t>(head->model.fc->ne[0]);
}

int32_t msd_head_run(msd_head * head, const msd_head_pairs * pairs, float * logits, float * states, char * err,
                     size_t err_len) {
    return guarded(err, err_len, [&]() -> int32_t {
        const int64_t seen = int64_t(pairs->first_slot) + pairs->count;
        if (pairs->count <= 0 || pairs->rows < 0 || pairs->rows > pairs->count || pairs->first_slot < 0 ||
            seen > head->n_slots) {
            throw std::runtime_error("pairs outside of the cache");
        }
        const Shape shape = { pairs->count, pairs->rows, pairs->rows > 0 ? padded(seen) : 0, pairs->features };
        head->run(shape, pairs->tokens, pairs->source, pairs->position, pairs->first_slot, logits, states);
        return MSD_OK;
    });
}

int32_t msd_head_drop(msd_head * head, int32_t dropped, int32_t kept, char * err, size_t err_len) {
    return guarded(err, err_len, [&]() -> int32_t {
        if (dropped < 0 || kept < 0 || int64_t(dropped) + kept > head->n_slots) {
            throw std::runtime_error("slots outside of the cache");
        }
        for (ggml_tensor * cache : { head->keys, head->values }) {
            std::vector<uint8_t> rows(cache->nb[1] * kept);
            ggml_backend_tensor_get(cache, rows.data(), cache->nb[1] * dropped, rows.size());
            ggml_backend_tensor_set(cache, rows.data(), 0, rows.size());
        }
        return MSD_OK;
    });
}

int32_t msd_head_memory(const msd_head * head, msd_memory * out, char * err, size_t err_len) {
    *out = msd_memory{};
    return guarded(err, err_len, [&]() -> int32_t {
        const auto & model = head->model;
        const auto & l     = model.layers[0];
        for (const ggml_tensor * weight :
             { model.tok_embd, model.output, model.output_norm, model.output_norm_enc, model.fc, model.d2t, l.attn_norm,
               l.attn_norm_2, l.wq, l.wk, l.wv, l.wo, l.ffn_norm, l.ffn_gate, l.ffn_up, l.ffn_down, l.rope_freqs }) {
            if (weight != nullptr) {
                const bool on_host = weight->buffer == nullptr || ggml_backend_buffer_is_host(weight->buffer);
                (on_host ? out->host_model : out->device_model) += ggml_nbytes(weight);
            }
        }
        const size_t cache   = ggml_backend_buffer_get_size(head->cache_buffer.get());
        const bool   on_host = ggml_backend_buffer_is_host(head->cache_buffer.get());
        (on_host ? out->host_context : out->device_context) += cache;
        for (const auto & backend : head->backends) {
            const size_t bytes = ggml_backend_sched_get_buffer_size(head->scheduler.get(), backend.get());
            const bool   host  = ggml_backend_buft_is_host(ggml_backend_get_default_buffer_type(backend.get()));
            (host ? out->host_compute : out->device_compute) += bytes;
        }
        return MSD_OK;
    });
}

} // extern "C"
