#!/usr/bin/env python3
"""Stage 1: collects the training prompts of each domain into one file, checked and without doubles.

They come from the generators in composed/, and from folders that hold DOMAIN.jsonl, a line `{"prompt": "..."}` each.
Prompts of the files given with --exclude (JSON lines with `prompt` or `turns`) never get in: nothing is trained on
what is used for evaluation.
"""

import argparse
import json
import os
import random
import sys
from pathlib import Path

from composed import COMPOSED
from corpus import DOMAINS, read_prompts
from gguf_model import Refused


def read_excluded(path: Path) -> set[str]:
    texts = set()
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                texts.update(row["turns"] if "turns" in row else [row["prompt"]])
            except (json.JSONDecodeError, KeyError, TypeError) as why:
                raise Refused(f'{path}:{number}: expected an object with "prompt" or "turns" ({why})') from why
    return texts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path, nargs="*")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--exclude", type=Path, action="append", default=[])
    parser.add_argument("--composed", type=int, default=2000, help="composed prompts of a domain at most")
    parser.add_argument("--most", type=int, default=4000, help="prompts of a domain at most")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    excluded = set().union(*(read_excluded(path) for path in options.exclude))
    options.out.mkdir(parents=True, exist_ok=True)
    for domain in DOMAINS:
        files = [source / f"{domain}.jsonl" for source in options.sources]
        files = [file for file in files if file.exists()]
        composed = COMPOSED[domain].prompts(options.seed, options.composed) if options.composed else []
        if not files and not composed:
            raise Refused(f"no prompts for {domain}: no folder given holds {domain}.jsonl, and --composed is 0")
        given = (prompt for file in files for prompt in read_prompts(file))
        prompts = dict.fromkeys([*given, *composed])
        kept = [prompt for prompt in prompts if prompt not in excluded]
        random.Random(options.seed).shuffle(kept)
        kept = kept[: options.most]
        path = options.out / f"{domain}.jsonl"
        partial = path.with_suffix(".part")
        partial.write_text("".join(json.dumps({"prompt": prompt}) + "\n" for prompt in kept), encoding="utf-8")
        # An unchanged file keeps its time, and with it the shards made of it stay valid.
        if path.exists() and path.read_bytes() == partial.read_bytes():
            partial.unlink()
        else:
            os.replace(partial, path)
        print(f"{path}: {len(kept)} prompts, {len(prompts) - len(kept)} left out")


if __name__ == "__main__":
    try:
        main()
    except Refused as why:
        sys.exit(f"error: {why}")
