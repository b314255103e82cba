# The common jobs, one word each; `make` alone lists them. Everything here can be done by hand with cargo: this file
# only knows the order, the downloads and where vendor/setup.sh put the tools. Written for GNU make 3.81 (macOS) on.

# ---------------------------------------------------------------- what may be set

# Backends to compile in beside the CPU: make FEATURES=cuda (or metal, vulkan, dynamic-backends; several with commas).
FEATURES ?=
PROMPT ?= Explain in three sentences why the sky is blue.

# Where the models go. fetch.py reads the same variable.
METASD_CACHE ?= ggml-models/cache
export METASD_CACHE

# Drafters for the tests, made of the target itself, beside its own Q4_0 variant: for each name the layers to leave
# out and the type of the weights. They agree with it far more than the default pool's, whose files are checked in.
DRAFTERS := pruned
PRUNE_pruned := 22,23,24,25
TYPE_pruned  := Q4_0

# The types of the target beside the fetched one: F32 is the memory-bound reference for speed-ups, the others are
# reported beside it.
VARIANTS := F32 BF16 Q4_0

# ---------------------------------------------------------------- names

BASE          := SmolLM2-135M-Instruct
TARGET        := $(METASD_CACHE)/$(BASE)-Q4_1.gguf
VARIANT_FILES := $(VARIANTS:%=$(METASD_CACHE)/$(BASE)-%.gguf)
DRAFTER_DIR   := $(METASD_CACHE)/drafters
DRAFTER_FILES := $(DRAFTERS:%=$(DRAFTER_DIR)/%.gguf)

TARGET_DIR := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)
BIN        := $(TARGET_DIR)/release/metasd

VENDORED := vendor/crates/config.toml

# Looked at when a recipe runs, not when make starts: `make demo` writes these files on its way.
TOOLS := if [ -f .tools/env.sh ]; then . ./.tools/env.sh; fi;
OFFLINE := offline=; if [ -f $(VENDORED) ]; then offline="--config $(VENDORED) --offline"; \
  cmp -s Cargo.lock vendor/crates/.Cargo.lock || echo "make: vendor/crates belongs to another Cargo.lock; run 'make vendor' or remove it" >&2; fi;
# $(call cargo,SUBCOMMAND): the flags of one kind for every job, so that none of them compiles llama.cpp again.
cargo = $(TOOLS) $(OFFLINE) cargo $(1) $$offline --locked $(if $(FEATURES),--features '$(FEATURES)')

# Cargo and cmake share out the cores by themselves; handed make's job slots as well they complain that they cannot
# open them.
unexport MAKEFLAGS MFLAGS

.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
# A recipe that failed half-way must not leave a file that looks made.
.DELETE_ON_ERROR:

.PHONY: help setup models build demo test check fmt-check lint doc bench bench-quick vendor clean distclean FORCE
.DEFAULT_GOAL := help

help: ## list the jobs
	@echo 'usage: make JOB [FEATURES=cuda|metal|vulkan|dynamic-backends] [PROMPT="..."]'
	@echo
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' Makefile

setup: ## install what is missing to build (compiler, cmake, libclang, pip)
	@vendor/setup.sh

# ---------------------------------------------------------------- the program

build: $(BIN) ## compile target/release/metasd

# Cargo decides what is out of date, so it is asked every time.
$(BIN): FORCE | setup
	@$(call cargo,build --release)

ifneq ($(filter vendor,$(MAKECMDGOALS)),)
$(BIN): | vendor
endif

# ---------------------------------------------------------------- models

models: $(TARGET) $(VARIANT_FILES) $(DRAFTER_FILES) ## fetch the target; make its variants and the drafters of the tests

# Asked every time too: fetch.py verifies what is there, at next to no cost once it has seen the file, and leaves it
# alone. Only a file that it replaced is newer than what was made from it.
$(TARGET): FORCE | setup
	@$(TOOLS) python3 ggml-models/fetch.py

# A half-made model is never at the final name: fetch.py and metasd rename at the end.
.PRECIOUS: $(TARGET) $(VARIANT_FILES) $(DRAFTER_FILES)

# With -j the compiler would go on for minutes after a failed download and bury its message; a job that needs the
# model fetches it first.
ifneq ($(filter models demo test bench bench-quick,$(MAKECMDGOALS)),)
$(BIN): | $(TARGET)
endif

# The program is needed to make these but a newer one makes nothing new: order only, here and below.
$(VARIANT_FILES): $(METASD_CACHE)/$(BASE)-%.gguf: $(TARGET) | $(BIN)
	@echo "quantize: $@" >&2
	@$(BIN) quantize $(TARGET) $@ $*

# What a drafter was made with, rewritten only when it differs, so that an edit of the block at the top remakes
# exactly the drafters that it touches.
DRAFTER_SPECS := $(DRAFTERS:%=$(DRAFTER_DIR)/.%.spec)
$(DRAFTER_SPECS): $(DRAFTER_DIR)/.%.spec: FORCE
	@mkdir -p $(DRAFTER_DIR)
	@echo '$(TYPE_$*) $(PRUNE_$*)' | cmp -s - $@ || echo '$(TYPE_$*) $(PRUNE_$*)' > $@

$(DRAFTER_FILES): $(DRAFTER_DIR)/%.gguf: $(DRAFTER_DIR)/.%.spec $(TARGET) | $(BIN)
	@echo "quantize: $@" >&2
	@$(BIN) quantize $(TARGET) $@ $(TYPE_$*) --prune-layers $(PRUNE_$*)

# ---------------------------------------------------------------- training the drafters of the pool

# Nothing of this is needed to build, run or test: the drafters are in ggml-models/drafters. Each stage keeps what it
# has finished under TRAIN_WORK and goes on from there when it is run again. ggml-models/CARD.md tells what was used.
TRAIN_WORK    ?= ggml-models/train/work
TRAIN_PROMPTS ?=
TRAIN_TEXTS   ?=
TRAIN_EXCLUDE ?= $(wildcard ggml-models/prompts/*.jsonl)
TRAIN_TARGET  ?= $(TARGET)
TRAIN_SHIP    ?= ggml-models/drafters
# How much: prompts composed for a domain, tokens of an answer at most, answer tokens that the base and each drafter
# are trained on. Small numbers try the whole way out in minutes:
# make drafters TRAIN_WORK=try TRAIN_SHIP=try/ship TRAIN_COMPOSED=200 TRAIN_PREDICT=32 BASE_TOKENS=20000 OWN_TOKENS=5000
TRAIN_COMPOSED ?= 2000
TRAIN_PREDICT ?= 176
BASE_TOKENS   ?= 4000000
OWN_TOKENS    ?= 700000
SPECIALISTS   := code math qa summarization translation
TRAINED       := $(SPECIALISTS) general
TRAIN         := ggml-models/train
TRAIN_PYTHON  := $(TRAIN_WORK)/venv/bin/python -W ignore

.PHONY: drafters train-check train-tools train-prompts train-teacher train-drafters train-export train-evaluate
drafters: train-export ## train the pool's drafters anew [TRAIN_PROMPTS="folder ..." TRAIN_TEXTS="folder ..."]

train-tools:
	@test -x $(TRAIN_WORK)/venv/bin/python || python3 -m venv $(TRAIN_WORK)/venv
	@$(TRAIN_WORK)/venv/bin/python -m pip install --quiet -r $(TRAIN)/requirements.txt

train-check: train-tools ## test the training pipeline itself
	@cd $(TRAIN) && $(abspath $(TRAIN_WORK))/venv/bin/python -W ignore -m unittest test_pipeline test_eagle

train-prompts: train-tools
	@$(TRAIN_PYTHON) $(TRAIN)/prompts.py $(TRAIN_PROMPTS) $(TRAIN_EXCLUDE:%=--exclude %) \
	  --composed $(TRAIN_COMPOSED) --out $(TRAIN_WORK)/prompts

train-teacher: train-prompts | $(TARGET)
	@$(TRAIN_PYTHON) $(TRAIN)/teacher.py --target $(TRAIN_TARGET) --prompts $(TRAIN_WORK)/prompts \
	  $(TRAIN_TEXTS:%=--texts %) --predict $(TRAIN_PREDICT) --out $(TRAIN_WORK)/answers

train-drafters: train-teacher
	@set -e; for name in base $(TRAINED); do \
	  tokens=$(OWN_TOKENS); if [ $$name = base ]; then tokens=$(BASE_TOKENS); fi; \
	  $(TRAIN_PYTHON) $(TRAIN)/train.py $$name --tokens $$tokens --target $(TRAIN_TARGET) \
	    --answers $(TRAIN_WORK)/answers --out $(TRAIN_WORK)/checkpoints; \
	done

train-export: train-drafters
	@$(TRAIN_PYTHON) $(TRAIN)/export.py $(TRAINED) --target $(TRAIN_TARGET) --checkpoints $(TRAIN_WORK)/checkpoints --out $(TRAIN_SHIP)

train-evaluate: train-drafters ## acceptance of the trained drafters on the target's answers to ggml-models/prompts
	@$(TRAIN_PYTHON) $(TRAIN)/teacher.py --target $(TRAIN_TARGET) --prompts ggml-models/prompts --longest 1500 \
	  --predict 96 --out $(TRAIN_WORK)/evaluation
	@$(TRAIN_PYTHON) $(TRAIN)/evaluate.py $(TRAINED) --target $(TRAIN_TARGET) --answers $(TRAIN_WORK)/evaluation \
	  --checkpoints $(TRAIN_WORK)/checkpoints

# The EAGLE-3 heads, from the answers that the drafters are trained on. HEAD_MINUTES and OWN_MINUTES are of training.
HEAD_MINUTES ?= 60
OWN_MINUTES  ?= 15
HEADS        := general $(SPECIALISTS)

.PHONY: eagle-heads eagle-features eagle-train eagle-export eagle-evaluate
eagle-heads: eagle-export ## train the pool's EAGLE-3 heads anew [TRAIN_PROMPTS="folder ..." TRAIN_TEXTS="folder ..."]

eagle-features: train-teacher
	@$(TRAIN_PYTHON) $(TRAIN)/features.py --target $(TRAIN_TARGET) --answers $(TRAIN_WORK)/answers \
	  $(TRAIN_TEXTS:%=--texts %) --out $(TRAIN_WORK)/features

eagle-train: eagle-features
	@set -e; for name in $(HEADS); do \
	  minutes=$(OWN_MINUTES); if [ $$name = general ]; then minutes=$(HEAD_MINUTES); fi; \
	  $(TRAIN_PYTHON) $(TRAIN)/eagle_train.py $$name --minutes $$minutes --target $(TRAIN_TARGET) \
	    --answers $(TRAIN_WORK)/answers $(TRAIN_TEXTS:%=--texts %) --features $(TRAIN_WORK)/features \
	    --out $(TRAIN_WORK)/checkpoints; \
	done

eagle-export: eagle-train
	@$(TRAIN_PYTHON) $(TRAIN)/eagle_export.py $(HEADS) --target $(TRAIN_TARGET) --checkpoints $(TRAIN_WORK)/checkpoints --out $(TRAIN_SHIP)

eagle-evaluate: eagle-export ## acceptance of the trained heads on the target's answers to ggml-models/prompts
	@$(TRAIN_PYTHON) $(TRAIN)/teacher.py --target $(TRAIN_TARGET) --prompts ggml-models/prompts --longest 1500 \
	  --predict 96 --out $(TRAIN_WORK)/evaluation
	@$(TRAIN_PYTHON) $(TRAIN)/features.py --evaluation --target $(TRAIN_TARGET) --answers $(TRAIN_WORK)/evaluation \
	  --longest 1500 --out $(TRAIN_WORK)/evaluation
	@$(TRAIN_PYTHON) $(TRAIN)/eagle_evaluate.py $(HEADS) --target $(TRAIN_TARGET) \
	  --features $(TRAIN_WORK)/evaluation/evaluation.npz --heads $(TRAIN_SHIP)

# One after the other even with -j: each uses all cores, and F32 takes 540 MB.
$(METASD_CACHE)/$(BASE)-BF16.gguf: | $(METASD_CACHE)/$(BASE)-F32.gguf
$(METASD_CACHE)/$(BASE)-Q4_0.gguf: | $(METASD_CACHE)/$(BASE)-BF16.gguf
$(DRAFTER_FILES): | $(VARIANT_FILES)

# ---------------------------------------------------------------- jobs

# Through the environment, so that quotes and dollars in a prompt reach metasd as they are.
export METASD_PROMPT = $(value PROMPT)
demo: models build ## from nothing to text: setup, models, build, one answer from the default pool
	@$(BIN) run --pool ggml-models/pool.toml --show-drafter -n 200 -p "$$METASD_PROMPT"

test: models ## run the tests (sets up, fetches and builds what they need)
	@$(call cargo,test --release)

# Cheapest first. All in the release profile: any other compiles llama.cpp once more.
check: fmt-check lint doc ## formatting, clippy and documentation, warnings as errors
fmt-check:
	@$(TOOLS) cargo fmt --check
lint: setup
	@$(call cargo,clippy --release --all-targets) -- -D warnings
doc: setup
	@$(TOOLS) export RUSTDOCFLAGS="-D warnings"; $(call cargo,doc --release --no-deps)
lint: | fmt-check
doc: | lint

bench: models build ## run the benchmarks (leave the machine alone meanwhile)
	@$(call cargo,bench)

bench-quick: models build ## compare drafters and policies on a few prompts, with a report in report/ (leave the machine alone meanwhile)
	@$(BIN) bench --pool ggml-models/pool.toml --quick --output report

# config.toml is moved into place as the last step: its being there is what makes the build use vendor/crates. Cargo
# takes the folder in it as relative to vendor/, the parent of the one that holds the file.
vendor: setup ## copy all dependencies into vendor/crates; from then on `make build` needs no network
	@rm -f $(VENDORED)
	@mkdir -p vendor/crates
	@$(TOOLS) cargo vendor --locked vendor/crates > vendor/crates/.printed
	@sed 's|"vendor/crates"|"crates"|' vendor/crates/.printed > vendor/crates/.config.toml
	@grep -q '"crates"' vendor/crates/.config.toml || { echo "make: cargo vendor printed no configuration" >&2; exit 1; }
	@cp Cargo.lock vendor/crates/.Cargo.lock
	@mv vendor/crates/.config.toml $(VENDORED)
	@echo "vendored into vendor/crates; remove that folder to use the network again" >&2

clean: ## remove what was compiled (models and tools stay)
	@$(TOOLS) cargo clean

# Not $(METASD_CACHE): a folder that somebody else named may hold more than our models.
distclean: clean ## remove models, tools and vendored crates as well
	rm -rf ggml-models/cache .tools vendor/crates
