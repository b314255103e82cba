#!/usr/bin/env python3
"""First drafts of an EAGLE-3 head beside those of llama.cpp's own draft-eagle3.

    benches/compare_eagle3.py -m TARGET.gguf -md HEAD.gguf

Builds llama.cpp's side from the libraries that the crate's build left in target/, has metasd decode
five prompts greedily, and compares the token that either side drafts first at every position of the
answers. Where they differ, the gap between the two logits is printed: batches of other sizes round
differently in the last bits, so that two all but equal ones may change places.
"""

import argparse
import glob
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def built():
    """The newest build of llama.cpp in target/: the folder of its libraries, and its source."""
    found = glob.glob(f"{ROOT}/target/release/build/llama-cpp-sys-2-*/out/lib/libllama-common.a")
    if not found:
        sys.exit("no libllama-common.a in target/release; build with `cargo build --release` first")
    library = os.path.dirname(max(found, key=os.path.getmtime))
    with open(f"{library}/../build/CMakeCache.txt") as cache:
        for line in cache:
            if line.startswith("CMAKE_HOME_DIRECTORY:INTERNAL="):
                return library, line.split("=", 1)[1].strip()
    sys.exit(f"{library}/../build/CMakeCache.txt names no source")


def build(program):
    library, source = built()
    command = ["c++", "-std=c++17", "-O1", f"{ROOT}/benches/eagle3_reference.cpp", "-o", program]
    command += [f"-I{source}/{folder}" for folder in ("include", "common", "src", "ggml/include")]
    command += [f"{library}/lib{name}.a" for name in
                ("llama-common", "llama", "ggml", "ggml-cpu", "ggml-base")]
    base = glob.glob(f"{library}/../build/**/libllama-common-base.a", recursive=True)
    command += base + ["-lpthread", "-ldl", "-lgomp", "-lm"]
    subprocess.run(command, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-m", "--model", required=True, help="target (GGUF)")
    parser.add_argument("-md", "--model-draft", required=True, help="head (GGUF)")
    parser.add_argument("--ours", default=f"{ROOT}/target/release/examples/first_drafts")
    args = parser.parse_args()
    models = [args.model, args.model_draft]
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/eagle3_reference"
        build(program)
        texts = subprocess.run([args.ours, *models], check=True, capture_output=True).stdout
        drafts = subprocess.run([program, *models], check=True, input=texts, capture_output=True)
        with open(f"{folder}/texts", "wb") as file:
            file.write(texts)
        with open(f"{folder}/drafts", "wb") as file:
            file.write(drafts.stdout)
        compare = [args.ours, *models, f"{folder}/texts", f"{folder}/drafts"]
        sys.exit(subprocess.run(compare).returncode)


if __name__ == "__main__":
    main()
