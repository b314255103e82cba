// First drafts of llama.cpp's own draft-eagle3, for benches/compare_eagle3.py, which builds this.
//
//     eagle3_reference TARGET.gguf HEAD.gguf < TEXTS
//
// A line of TEXTS is the number of a prompt's tokens and then the tokens of the prompt and of what
// follows it. For each position after the prompt the token that llama.cpp drafts first is printed.

#include "common.h"
#include "llama.h"
#include "speculative.h"

#include <cstdio>
#include <iostream>
#include <sstream>

static const int N_CTX = 2048;

static llama_context * context(llama_model * model, llama_context * other) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx     = N_CTX;
    params.n_threads = params.n_threads_batch = 1;
    params.ctx_other = other;
    return model ? llama_init_from_model(model, params) : nullptr;
}

int main(int argc, char ** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s TARGET.gguf HEAD.gguf < TEXTS\n", argv[0]);
        return 2;
    }
    llama_log_set([](ggml_log_level level, const char * text, void *) {
        if (level == GGML_LOG_LEVEL_ERROR) { std::fputs(text, stderr); }
    }, nullptr);
    llama_backend_init();
    llama_model * target_model = llama_model_load_from_file(argv[1], llama_model_default_params());
    llama_model * head_model   = llama_model_load_from_file(argv[2], llama_model_default_params());
    llama_context * target = context(target_model, nullptr);
    llama_context * head   = target ? context(head_model, target) : nullptr;
    if (!target || !head) {
        std::fprintf(stderr, "a model cannot be loaded\n");
        return 1;
    }

    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        size_t prompt = 0;
        words >> prompt;
        llama_tokens text;
        for (llama_token token; words >> token;) { text.push_back(token); }

        llama_memory_clear(llama_get_memory(target), true);
        llama_memory_clear(llama_get_memory(head), true);
        common_params_speculative params;
        params.types                  = { COMMON_SPECULATIVE_TYPE_DRAFT_EAGLE3 };
        params.draft.n_max            = 1;
        params.draft.backend_sampling = false;
        params.draft.ctx_tgt          = target;
        params.draft.ctx_dft          = head;
        common_speculative_ptr spec(common_speculative_init(params, 1));

        // Decodes and hands over positions from..to of the text.
        auto decode = [&](size_t from, size_t to) {
            common_batch batch(target);
            for (size_t i = from; i < to; ++i) { batch.add(text[i], (llama_pos) i, 0, true); }
            return llama_process(target, LLAMA_PROCESS_TYPE_DECODE, batch.get()) == 0 &&
                   common_speculative_process(spec.get(), batch);
        };
        bool ok = decode(0, prompt - 1);
        common_speculative_begin(spec.get(), 0, llama_tokens(text.begin(), text.begin() + prompt - 1));
        for (size_t i = prompt; ok && i < text.size(); ++i) {
            llama_tokens before(text.begin(), text.begin() + i - 1), draft;
            auto & dp   = common_speculative_get_draft_params(spec.get(), 0);
            dp.drafting = true;
            dp.n_max    = 1;
            dp.pos0     = (llama_pos) i - 1;
            dp.id_last  = text[i - 1];
            dp.prompt   = &before;
            dp.result   = &draft;
            common_speculative_draft(spec.get());
            std::printf("%s%d", i == prompt ? "" : " ", draft.empty() ? -1 : draft[0]);
            ok = decode(i - 1, i);
            common_speculative_accept(spec.get(), 0, 0);
        }
        std::printf("\n");
        if (!ok) {
            std::fprintf(stderr, "a decode failed\n");
            return 1;
        }
    }
    return 0;
}
