#!/usr/bin/env python3
"""metasd beside llama.cpp's own programs: same target, same drafter, same prompts, interleaved.

    benches/compare_llama.py --speculative PATH/llama-speculative-simple \\
        --plain PATH/llama-completion -m TARGET.gguf -md DRAFTER.gguf

Both programs decode the same raw prompts greedily with the same threads, context and N_max. They
take turns, so that whatever else the machine does meets both; the first turn of each warms the
file cache and is not counted. Printed are tokens per second (median and range over the turns),
the ratio of each pair of turns (median and range), and the peak memory of each process.

Run nothing else meanwhile: ggml's threads spin, and a second busy process voids the figures.
"""

import argparse
import hashlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

PROMPTS = [
    "Write a Python function that checks whether a string is a palindrome, with an example.",
    "A farmer has 17 sheep and buys twice as many. Then he sells 9. How many sheep are left?",
    "Explain to a child why the moon changes its shape during a month.",
]


def templated(prompt):
    return f"<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"


def run(command):
    """Runs a command; returns its output (both streams) and its peak memory in MiB."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}:\n{text[-2000:]}")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return text, usage.ru_maxrss / unit


def found(pattern, text, command):
    match = re.search(pattern, text)
    if not match:
        sys.exit(f"{command[0]} printed nothing like {pattern!r}:\n{text[-2000:]}")
    return [float(group) for group in match.groups()]


def metasd(args, prompt, drafting):
    command = [args.metasd, "run", "-m", args.model, "--json", "--no-conversation"]
    command += ["-p", prompt, "-n", str(args.predict), "-c", str(args.ctx_size)]
    command += ["-t", str(args.threads), "-td", str(args.threads), "--temp", "0"]
    if drafting:
        command += ["-md", f"peer={args.model_draft}", "--policy", "fixed:peer"]
        command += ["--spec-draft-n-max", str(args.n_max)]
    else:
        command += ["--policy", "off"]
    text, memory = run(command)
    report = json.loads(text.strip().splitlines()[-1])
    timings = report["timings"]
    return {
        "speed": timings["predicted_per_second"],
        "tokens": timings["predicted_n"],
        "accepted": timings["draft_n_accepted"],
        "drafted": timings["draft_n"],
        "outside": 1 - timings["decode_ms"] / timings["predicted_ms"],
        "memory": memory,
    }


def peer_speculative(args, prompt):
    command = [args.speculative, "-m", args.model, "-md", args.model_draft, "-p", prompt]
    command += ["-n", str(args.predict), "-c", str(args.ctx_size), "-t", str(args.threads)]
    command += ["-td", str(args.threads), "--spec-draft-n-max", str(args.n_max)]
    command += ["--temp", "0", "--seed", "0", "--spec-type", "draft-simple"]
    command += args.peer_flag
    text, memory = run(command)
    tokens, seconds = found(r"decoded\s+(\d+) tokens in\s+([\d.]+) seconds", text, command)
    (drafted,) = found(r"n_drafted = (\d+)", text, command)
    (accepted,) = found(r"n_accept\s+= (\d+)", text, command)
    return {"speed": tokens / seconds, "tokens": tokens, "drafted": drafted,
            "accepted": accepted, "memory": memory}


def peer_plain(args, prompt):
    command = [args.plain, "-m", args.model, "-p", prompt, "-no-cnv", "-n", str(args.predict)]
    command += ["-c", str(args.ctx_size), "-t", str(args.threads), "--temp", "0", "--seed", "0"]
    command += ["--perf"]
    text, memory = run(command)
    _, runs = found(r"(?<!prompt )eval time =\s*([\d.]+) ms /\s*(\d+) runs", text, command)
    # All that a user waits for after the prompt: decoding, sampling and what lies between.
    (total,) = found(r"total time =\s*([\d.]+) ms", text, command)
    (prompt_time,) = found(r"prompt eval time =\s*([\d.]+) ms", text, command)
    milliseconds = total - prompt_time
    return {"speed": runs / milliseconds * 1e3, "tokens": runs, "memory": memory}


def spread(values):
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def compare(title, ours, theirs, args):
    print(f"\n{title}")
    pairs = []
    for prompt in map(templated, PROMPTS):
        for turn in range(args.turns + 1):
            order = [ours, theirs] if turn % 2 else [theirs, ours]
            results = {side: side(args, prompt) for side in order}
            if turn > 0:
                pairs.append((results[ours], results[theirs]))
            print(f"\r  {len(pairs)} pairs", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for name, side in (("metasd", 0), ("llama.cpp", 1)):
        runs = [pair[side] for pair in pairs]
        line = f"  {name:10} tokens/s {spread([r['speed'] for r in runs])}"
        line += f", peak memory {max(r['memory'] for r in runs):.0f} MiB"
        if runs[0].get("drafted"):
            line += f", accepted {sum(r['accepted'] for r in runs):.0f} of "
            line += f"{sum(r['drafted'] for r in runs):.0f} drafted"
        if "outside" in runs[0]:
            line += f", outside decode {100 * statistics.median(r['outside'] for r in runs):.2f}%"
        print(line)
    speeds = [mine["speed"] / peer["speed"] for mine, peer in pairs]
    memory = max(m["memory"] for m, _ in pairs) / max(p["memory"] for _, p in pairs)
    print(f"  metasd / llama.cpp: speed {spread(speeds)}, peak memory {memory:.3f}")


def metasd_drafting(args, prompt):
    return metasd(args, prompt, True)


def metasd_plain(args, prompt):
    return metasd(args, prompt, False)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--metasd", default="target/release/metasd", help="our binary")
    parser.add_argument("--speculative", help="the peer's llama-speculative-simple")
    parser.add_argument("--plain", help="the peer's llama-completion")
    parser.add_argument("-m", "--model", required=True, help="target (GGUF)")
    parser.add_argument("-md", "--model-draft", required=True, help="drafter (GGUF)")
    parser.add_argument("-n", "--predict", type=int, default=96, help="tokens a prompt")
    parser.add_argument("-c", "--ctx-size", type=int, default=2048)
    parser.add_argument("-t", "--threads", type=int, default=os.cpu_count())
    parser.add_argument("--n-max", type=int, default=3, help="tokens drafted a round")
    parser.add_argument("--turns", type=int, default=3, help="counted turns a prompt")
    parser.add_argument("--peer-flag", action="append", default=[], help="passed to the peer")
    args = parser.parse_args()
    if not args.speculative and not args.plain:
        parser.error("give --speculative, --plain or both")
    for path in (args.model, args.model_draft):
        with open(path, "rb") as file:
            print(f"{os.path.basename(path)}: sha256 {hashlib.file_digest(file, 'sha256').hexdigest()}")
    print(f"{args.threads} threads, N_max {args.n_max}, {args.predict} tokens, greedy, seed 0")
    if args.speculative:
        compare("speculation with one drafter", metasd_drafting, peer_speculative, args)
    if args.plain:
        compare("plain decoding", metasd_plain, peer_plain, args)


if __name__ == "__main__":
    main()
