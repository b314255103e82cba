#!/usr/bin/env python3
"""How much faster than plain decoding are fixed drafters and policies, domain by domain?

For each prompt the methods run one after the other (`off` first and last in turn, so that a drift of the machine
falls on both sides); a repetition's ratio is the decoding time of `off` over all prompts divided by the method's.
Printed: the median over the repetitions and their range. Run nothing else meanwhile.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def decode_ms(program, pool, policy, n_max, prompt, predict, threads):
    command = [program, "run", "--pool", pool, "--policy", policy, "--spec-draft-n-max", n_max, "-n", predict]
    command += ["-t", threads, "--temp", 0, "--seed", 0, "--json", "-p", prompt]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"error: metasd run --policy {policy} failed: {done.stderr.strip()}")
    result = json.loads(done.stdout.strip().splitlines()[-1])
    return result["timings"]["predicted_ms"], result["mean_acceptance_length"], result["tokens"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="+", metavar="POLICY[@N_MAX]", help="e.g. fixed:code@3 metasd-ucb@3")
    parser.add_argument("--category", required=True, help="take the prompts of this category")
    parser.add_argument("--prompts", type=Path, action="append", help="JSONL files [ggml-models/prompts/CATEGORY.jsonl]")
    parser.add_argument("--count", type=int, default=4, help="prompts")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("-n", "--predict", type=int, default=96)
    parser.add_argument("-t", "--threads", type=int, default=2)
    parser.add_argument("--program", default=ROOT / "target/release/metasd")
    parser.add_argument("--pool", default=ROOT / "ggml-models/pool.toml")
    options = parser.parse_args()

    prompts = []
    for path in options.prompts or [ROOT / f"ggml-models/prompts/{options.category}.jsonl"]:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row["category"] == options.category:
                prompts.append(row["turns"][0] if "turns" in row else row["prompt"])
    prompts = prompts[: options.count]
    if not prompts:
        sys.exit(f"error: no prompt of the category {options.category}")

    methods = [(name, *(name.rsplit("@", 1) if "@" in name else (name, "3"))) for name in options.methods]
    ratios, lengths, differing = {name: [] for name in options.methods}, {}, set()
    for repetition in range(options.repeat + 1):
        plain, spent = 0.0, dict.fromkeys(options.methods, 0.0)
        for prompt in prompts:
            run = lambda policy, n_max: decode_ms(
                options.program, options.pool, policy, n_max, prompt, options.predict, options.threads
            )
            before, _, reference = run("off", 1)
            for name, policy, n_max in methods:
                milliseconds, length, tokens = run(policy, n_max)
                spent[name] += milliseconds
                lengths.setdefault(name, {})[prompt] = length
                if tokens != reference:
                    differing.add((name, prompt))
            after, _, _ = run("off", 1)
            plain += (before + after) / 2
        # The first repetition only warms the machine up.
        if repetition:
            for name in options.methods:
                ratios[name].append(plain / spent[name])
    print(f"{options.category}: {len(prompts)} prompts, {options.predict} tokens, {options.repeat} repetitions")
    for name in options.methods:
        values = ratios[name]
        length = statistics.mean(lengths[name].values())
        print(
            f"  {name}: {statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f}), "
            f"mean acceptance length {length:.2f}, "
            f"{sum(1 for other, _ in differing if other == name)} texts differ from plain decoding's"
        )


if __name__ == "__main__":
    main()
