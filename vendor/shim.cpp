#include "guard.h"

#include "ggml-backend.h"
#include "llama-ext.h"

#include "gguf.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

// Streams over a function of ours: a file's tensors behind a header that is not the file's.
#if defined(__GLIBC__) || defined(__APPLE__)
#define MSD_HAS_STREAMS
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

struct msd_blueprint {
    std::string vocab_size_key;
    int64_t     n_vocab = 0;
    // The file's header without the arrays of its vocabulary; empty where the file itself is read.
    std::vector<char> header;
    // Where the tensors begin in the file.
    uint64_t data_offset = 0;

    bool read(const char * path, uint32_t vocab_size) {
        const gguf_init_params                                 params = { /*.no_alloc =*/ true, /*.ctx =*/ nullptr };
        const std::unique_ptr<gguf_context, void (*)(gguf_context *)> gguf(gguf_init_from_file(path, params), gguf_free);
        if (gguf == nullptr) {
            return false;
        }
        const int64_t architecture = gguf_find_key(gguf.get(), "general.architecture");
        if (architecture < 0 || gguf_get_kv_type(gguf.get(), architecture) != GGUF_TYPE_STRING) {
            return false;
        }
        vocab_size_key = std::string(gguf_get_val_str(gguf.get(), architecture)) + ".vocab_size";
        n_vocab        = vocab_size;
#ifdef MSD_HAS_STREAMS
        const int64_t parts    = gguf_find_key(gguf.get(), "split.count");
        const bool    is_whole = parts < 0 || gguf_get_kv_type(gguf.get(), parts) != GGUF_TYPE_UINT16 ||
                              gguf_get_val_u16(gguf.get(), parts) <= 1;
        if (is_whole) {
            data_offset = gguf_get_data_offset(gguf.get());
            strip(gguf.get());
            header.resize(gguf_get_meta_size(gguf.get()));
            gguf_get_meta_data(gguf.get(), header.data());
        }
#endif
        return true;
    }

  private:
    void strip(gguf_context * gguf) const {
        for (int64_t i = gguf_get_n_kv(gguf) - 1; i >= 0; --i) {
            const std::string key = gguf_get_key(gguf, i);
            if (gguf_get_kv_type(gguf, i) == GGUF_TYPE_ARRAY && key.rfind("tokenizer.", 0) == 0) {
                gguf_remove_key(gguf, key.c_str());
            }
        }
        gguf_set_val_str(gguf, "tokenizer.ggml.model", "no_vocab");
        gguf_set_val_u32(gguf, vocab_size_key.c_str(), static_cast<uint32_t>(n_vocab));
    }
};

namespace {

// A guard for a call whose only failure is that there is no row.
template <typename Body>
const float * row_or_null(Body && body) {
    try {
        return body();
    } catch (...) {
        return nullptr;
    }
}

// Loads the file itself with its vocabulary overridden: its texts are read but not looked at.
llama_model * load_without_texts(const msd_blueprint & blueprint, const char * path, llama_model_params params) {
    // The last one, of an empty key, ends the list.
    llama_model_kv_override overrides[3] = {};
    overrides[0].tag = LLAMA_KV_OVERRIDE_TYPE_STR;
    std::snprintf(overrides[0].key, sizeof(overrides[0].key), "tokenizer.ggml.model");
    std::snprintf(overrides[0].val_str, sizeof(overrides[0].val_str), "no_vocab");
    overrides[1].tag = LLAMA_KV_OVERRIDE_TYPE_INT;
    std::snprintf(overrides[1].key, sizeof(overrides[1].key), "%s", blueprint.vocab_size_key.c_str());
    overrides[1].val_i64 = blueprint.n_vocab;
    params.kv_overrides  = overrides;
    return llama_model_load_from_file(path, params);
}

#ifdef MSD_HAS_STREAMS

// A file's tensors behind a blueprint's header.
struct stream {
    const std::vector<char> & header;
    uint64_t                  data_offset;
    int                       fd;
    uint64_t                  size;
    uint64_t                  position = 0;

    ssize_t read(char * out, size_t count) {
        ssize_t done = 0;
        if (position < header.size()) {
            done = static_cast<ssize_t>(std::min<uint64_t>(count, header.size() - position));
            std::memcpy(out, header.data() + position, static_cast<size_t>(done));
        } else {
            done = pread(fd, out, count, static_cast<off_t>(position - header.size() + data_offset));
        }
        position += done > 0 ? static_cast<uint64_t>(done) : 0;
        return done;
    }

    bool seek(int64_t offset, int whence) {
        const int64_t base = whence == SEEK_SET ? 0 : static_cast<int64_t>(whence == SEEK_CUR ? position : size);
        if (base + offset < 0) {
            return false;
        }
        position = static_cast<uint64_t>(base + offset);
        return true;
    }
};

int close_stream(void * cookie) {
    const std::unique_ptr<stream> owned(static_cast<stream *>(cookie));
    return close(owned->fd);
}

#ifdef __APPLE__
int read_stream(void * cookie, char * out, int count) {
    return static_cast<int>(static_cast<stream *>(cookie)->read(out, static_cast<size_t>(count)));
}

fpos_t seek_stream(void * cookie, fpos_t offset, int whence) {
    stream * self = static_cast<stream *>(cookie);
    return self->seek(offset, whence) ? static_cast<fpos_t>(self->position) : -1;
}
#else
ssize_t read_stream(void * cookie, char * out, size_t count) { return static_cast<stream *>(cookie)->read(out, count); }

int seek_stream(void * cookie, off64_t * offset, int whence) {
    stream * self = static_cast<stream *>(cookie);
    if (!self->seek(*offset, whence)) {
        return -1;
    }
    *offset = static_cast<off64_t>(self->position);
    return 0;
}
#endif

FILE * open_behind_header(const msd_blueprint & blueprint, const char * path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return nullptr;
    }
    struct stat found = {};
    if (fstat(fd, &found) != 0 || static_cast<uint64_t>(found.st_size) < blueprint.data_offset) {
        close(fd);
        return nullptr;
    }
    const uint64_t size = blueprint.header.size() + static_cast<uint64_t>(found.st_size) - blueprint.data_offset;
    std::unique_ptr<stream> owned(new stream{ blueprint.header, blueprint.data_offset, fd, size });
#ifdef __APPLE__
    FILE * file = funopen(owned.get(), read_stream, nullptr, seek_stream, close_stream);
#else
    const cookie_io_functions_t functions = { read_stream, nullptr, seek_stream, close_stream };
    FILE *                      file      = fopencookie(owned.get(), "rb", functions);
#endif
    if (file == nullptr) {
        close(fd);
        return nullptr;
    }
    owned.release();
    return file;
}

#else

FILE * open_behind_header(const msd_blueprint &, const char *) { return nullptr; }

#endif

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
    return row_or_null([&] { return llama_get_logits_ith(ctx, i); });
}

int32_t msd_expose_layer_input(llama_context * ctx, uint32_t layer, char * err, size_t err_len) {
    return guarded(err, err_len, [&]() -> int32_t {
        llama_set_embeddings_layer_inp(ctx, layer, true);
        return MSD_OK;
    });
}

const float * msd_layer_input(llama_context * ctx, uint32_t layer) {
    return row_or_null([&] { return llama_get_embeddings_layer_inp(ctx, layer); });
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

int32_t msd_blueprint_read(const char * path, uint32_t n_vocab, msd_blueprint ** out, char * err,
                           size_t err_len) {
    *out = nullptr;
    return guarded(err, err_len, [&]() -> int32_t {
        auto blueprint = std::make_unique<msd_blueprint>();
        if (!blueprint->read(path, n_vocab)) {
            return MSD_FAILED;
        }
        *out = blueprint.release();
        return MSD_OK;
    });
}

void msd_blueprint_free(msd_blueprint * blueprint) { delete blueprint; }

int32_t msd_model_load_bare(const msd_blueprint * blueprint, const char * path, llama_model_params params,
                            llama_model ** out, char * err, size_t err_len) {
    *out = nullptr;
    return guarded(err, err_len, [&]() -> int32_t {
        params.load_mode = LLAMA_LOAD_MODE_NONE;
        if (blueprint->header.empty()) {
            *out = load_without_texts(*blueprint, path, params);
        } else if (FILE * file = open_behind_header(*blueprint, path)) {
            *out = llama_model_load_from_file_ptr(file, params);
            std::fclose(file);
        } else {
            say(err, err_len, "the file cannot be opened");
        }
        return *out != nullptr ? MSD_OK : MSD_FAILED;
    });
}

void msd_give_back_freed_memory(void) {
#ifdef __GLIBC__
    // Named once, the threshold no longer grows with every large block that is freed, as it does
    // by itself until weights come out of the heap and leave holes there.
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    malloc_trim(0);
#endif
}

size_t msd_state_save(llama_context * ctx, llama_seq_id seq, uint8_t * out, size_t capacity) {
    try {
        return out == nullptr ? llama_state_seq_get_size(ctx, seq)
                              : llama_state_seq_get_data(ctx, out, capacity, seq);
    } catch (...) {
        return 0;
    }
}

int32_t msd_state_restore(llama_context * ctx, llama_seq_id seq, const uint8_t * bytes, size_t size,
                          char * err, size_t err_len) {
    return guarded(err, err_len, [&]() -> int32_t {
        return llama_state_seq_set_data(ctx, bytes, size, seq) > 0 ? MSD_OK : MSD_FAILED;
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
