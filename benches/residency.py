#!/usr/bin/env python3
"""What does a pool larger than its budget cost, and does it keep to the budget?

Every prompt is answered greedily by the target with an n-gram drafter alone, with all drafters ready, and with as many as
the budget holds, swapped in while the target goes on (async) or waited for (sync). Printed: whether the texts agree, the
most that the drafters took by their own account and by the process's memory beyond that without models among them, the
time that rounds waited as a part of the time of generation, and that part with a budget in which all fit, which is what
having one costs at all. For the times run nothing else meanwhile.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Eight drafters: these of the default pool go by a second name as well.
AGAIN = ["code", "general"]


def last_json(text):
    return json.loads(text.strip().splitlines()[-1])


def run(options, models, arguments, prompt):
    """The report of `metasd run` with its peak memory in bytes."""
    command = [options.program, "run", *models, "-n", options.predict, "-t", options.threads]
    command += ["-c", options.ctx_size, "--seed", 0, "--json", "-p", prompt, *arguments]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([str(part) for part in command], stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        out.seek(0), err.seek(0)
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit(f"error: metasd run {' '.join(map(str, arguments))}: {err.read().decode().strip()}")
        # Kilobytes, but bytes on macOS.
        rss = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        return {**last_json(out.read().decode()), "rss": rss}


def sizes(options):
    """The bytes of each drafter, the smallest first."""
    command = [options.program, "pool", "status", *options.models, "--max-resident", 1, "--json"]
    command += ["-t", options.threads, "-c", options.ctx_size]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"error: metasd pool status: {done.stderr.strip()}")
    drafters = last_json(done.stdout)["drafters"]
    return sorted(d["weights"] + d["kv_cache"] + d["compute"] for d in drafters)


def read_prompts(options):
    """The prompts by category, as many of each as asked for."""
    prompts = {}
    for path in options.prompts or sorted((ROOT / "ggml-models/prompts").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            of_category = prompts.setdefault(row.get("category", path.stem), [])
            if len(of_category) < options.per_category:
                of_category.append(row["turns"][0] if "turns" in row else row["prompt"])
    return prompts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prompts", type=Path, action="append", help="JSONL files [ggml-models/prompts/*.jsonl]")
    parser.add_argument("--per-category", type=int, default=1, help="prompts of each category")
    parser.add_argument("--policy", default="metasd-ucb")
    parser.add_argument("--resident", type=int, default=2, help="drafters that the budget holds")
    parser.add_argument("-n", "--predict", type=int, default=96)
    parser.add_argument("-t", "--threads", type=int, default=2)
    parser.add_argument("-c", "--ctx-size", type=int, default=2048)
    parser.add_argument("--program", default=ROOT / "target/release/metasd")
    parser.add_argument("--pool", default=ROOT / "ggml-models/pool.toml")
    options = parser.parse_args()
    options.models = ["--pool", options.pool]
    for name in AGAIN:
        options.models += ["--model-draft", f"{name}-2={ROOT / f'ggml-models/drafters/{name}.gguf'}"]

    budget = sum(sizes(options)[-options.resident :])
    methods = {
        "all ready": [],
        "all within the budget": ["--vram-budget", "1T"],
        "async": ["--vram-budget", budget, "--swap", "async"],
        "sync": ["--vram-budget", budget, "--swap", "sync"],
    }
    # A pool without models, on the same target, which is told the same.
    target = run(options, options.models, ["--policy", "off"], "Hi")["model"]
    plain = ["--pool", ROOT / "tests/support/plain-pool.toml", "--model", target]
    told = tomllib.loads(Path(options.pool).read_text(encoding="utf-8"))["target"].get("system_prompt")
    if told is not None:
        plain += ["--system-prompt", told]
    totals = {name: {"generated": 0.0, "swap": 0.0, "peak": 0, "rss": 0, "differ": 0, "loads": 0} for name in methods}
    count = 0
    prompts = read_prompts(options)
    for category, texts in prompts.items():
        for prompt in texts:
            count += 1
            alone = run(options, plain, [], prompt)
            for name, arguments in methods.items():
                report = run(options, options.models, ["--policy", options.policy, *arguments], prompt)
                total = totals[name]
                total["generated"] += report["timings"]["predicted_ms"]
                total["swap"] += report["timings"]["swap_ms"]
                total["peak"] = max(total["peak"], report.get("residency", {}).get("vram_peak", 0))
                total["rss"] = max(total["rss"], report["rss"] - alone["rss"])
                total["differ"] += report["tokens"] != alone["tokens"]
                total["loads"] += sum(drafter["loads"] for drafter in report["drafters"])
            print(f"{category}: done", file=sys.stderr)

    mib = lambda number: f"{number / 2**20:.1f} MiB"
    print(f"{count} prompts of {len(prompts)} categories, {options.predict} tokens, {options.policy}; budget {mib(budget)}")
    for name, total in totals.items():
        print(
            f"  {name}: {total['differ']} texts differ from the target's own; {total['loads']} loads; "
            f"drafters at most {mib(total['peak'])} by their account, the process {mib(total['rss'])} more than "
            f"without models; waited {total['swap'] / total['generated']:.2%} of {total['generated'] / 1e3:.1f} s"
        )


if __name__ == "__main__":
    main()
