#!/usr/bin/env python3
"""Stage 2 of a head: the target reads answered prompts and leaves what a head learns from: its hidden states at the
inputs of three layers for every position, and those after its last norm where they predict an answer's tokens.

A shard that exists is never computed again, so an interrupted run goes on with the next one. Shards hold all domains in
equal parts of answers, so that training can begin on the first ones while others are made. The held-out shard comes
first. The target's matrices are in the type that the machine multiplies fastest, and F32 for --evaluation.
"""

import argparse
import os
import random
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from corpus import DOMAINS, Answer, held_out, read_shard, read_texts
from gguf_model import Refused
from target import Target, rms_norm, rotary_angles, rotate

# Low, middle and high, as in EAGLE-3 (Li et al. 2025): inputs of these layers of the target's 30.
LAYERS = (2, 15, 27)
# Answers of each domain in a shard, and in the held-out one.
ROWS, HELD_ROWS = 16, 24
BATCH_POSITIONS = 1536


@dataclass
class Example:
    """A text as a head sees it. `features` [n, layers, width] of the positions 0..n-1, F16; `tokens` [n + 2], so that
    tokens[P + 1] goes into position P and tokens[P + 2] is what it drafts; `hidden` [n - first, width], F16: the
    target's state after its last norm that predicts tokens[P + 2] for P = first.., the answer's positions."""

    domain: str
    tokens: np.ndarray
    first: int
    features: np.ndarray
    hidden: np.ndarray


@torch.inference_mode()
def read_layers(target: Target, tokens: torch.Tensor, layers=LAYERS):
    """The hidden states at the inputs of `layers`, [rows, n, layers, width], and after the last norm, [rows, n,
    width], of `tokens` [rows, n]: rows are padded on the right, where causal attention lets nothing back."""
    shape = target.shape
    rows, n = tokens.shape
    cos, sin = rotary_angles(shape, torch.arange(n, device=target.device))
    x = target.embedding[tokens]
    taken = {}
    for layer, block in enumerate(target.blocks):
        taken[layer] = x if layer in layers else None
        h = rms_norm(x, block["attn_norm"], shape.eps).to(target.dtype)
        qkv = F.linear(h, block["qkv"]).view(rows, n, -1, shape.head_dim).transpose(1, 2)
        q, k, v = qkv.split((shape.heads, shape.kv_heads, shape.kv_heads), 1)
        q, k = (rotate(part.float(), cos, sin).to(target.dtype) for part in (q, k))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + F.linear(a.transpose(1, 2).reshape(rows, n, -1), block["attn_output"]).float()
        h = rms_norm(x, block["ffn_norm"], shape.eps).to(target.dtype)
        gate, up = F.linear(h, block["gate_up"]).chunk(2, -1)
        x = x + F.linear(F.silu(gate).mul_(up), block["ffn_down"]).float()
    return torch.stack([taken[layer] for layer in layers], 2), rms_norm(x, target.output_norm, shape.eps)


def examples_of(target: Target, texts: list[tuple[str, Answer]]) -> list[Example]:
    texts = sorted(texts, key=lambda text: len(text[1].prompt) + len(text[1].answer))
    made, batch = [], []

    def flush():
        longest = max(len(a.prompt) + len(a.answer) for _, a in batch) - 1
        tokens = np.zeros((len(batch), longest), np.int64)
        for row, (_, a) in enumerate(batch):
            tokens[row, : len(a.prompt) + len(a.answer) - 1] = np.concatenate([a.prompt, a.answer])[:-1]
        features, hidden = read_layers(target, torch.from_numpy(tokens).to(target.device))
        # Hidden states of a large model can leave the range of F16; those of a position that does would poison the rest.
        features = features.clamp(-65504, 65504).half().cpu().numpy()
        hidden = hidden.half().cpu().numpy()
        for row, (domain, a) in enumerate(batch):
            n, first = len(a.prompt) + len(a.answer) - 2, len(a.prompt) - 1
            made.append(
                Example(
                    domain,
                    np.concatenate([a.prompt, a.answer]).astype(np.int32),
                    first,
                    features[row, :n],
                    hidden[row, first + 1 : n + 1],
                )
            )
        batch.clear()

    for text in texts:
        if batch and (len(batch) + 1) * (len(text[1].prompt) + len(text[1].answer)) > BATCH_POSITIONS:
            flush()
        batch.append(text)
    if batch:
        flush()
    return made


def write_features(path: Path, examples: list[Example], fingerprint: str) -> None:
    """Writes a shard under its name only when it is complete."""
    partial = path.with_suffix(f".part{os.getpid()}")
    with open(partial, "wb") as file:
        np.savez(
            file,
            fingerprint=np.array(fingerprint),
            layers=np.array(LAYERS, np.int32),
            domains=np.array([DOMAINS.index(e.domain) for e in examples], np.int32),
            lengths=np.array([len(e.features) for e in examples], np.int32),
            firsts=np.array([e.first for e in examples], np.int32),
            tokens=np.concatenate([e.tokens for e in examples]).astype(np.uint16),
            features=np.concatenate([e.features for e in examples]),
            hidden=np.concatenate([e.hidden for e in examples]),
        )
    os.replace(partial, path)


def read_features(path: Path, fingerprint: str, domains=DOMAINS) -> list[Example]:
    try:
        shard = np.load(path)
        found, layers = str(shard["fingerprint"]), tuple(shard["layers"].tolist())
        columns = {name: shard[name] for name in shard.files}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as why:
        raise Refused(f"{path}: not a shard of features ({why}); remove it and run the features stage again") from why
    if found != fingerprint:
        raise Refused(f"{path}: features of another target or vocabulary ({found}, expected {fingerprint})")
    if layers != LAYERS:
        raise Refused(f"{path}: features of layers {layers}, expected {LAYERS}")
    examples, t, f, h = [], 0, 0, 0
    for domain, n, first in zip(columns["domains"], columns["lengths"], columns["firsts"]):
        if DOMAINS[domain] in domains:
            examples.append(
                Example(
                    DOMAINS[domain],
                    columns["tokens"][t : t + n + 2].astype(np.int64),
                    int(first),
                    columns["features"][f : f + n],
                    columns["hidden"][h : h + n - first],
                )
            )
        t, f, h = t + n + 2, f + n, h + n - first
    return examples


def read_answers(target: Target, answers: list[Path], texts: list[Path], longest: int) -> dict[str, list[Answer]]:
    """The answered prompts of each domain, those of the teacher's shards (`answers`) before given texts."""
    found = {}
    for domain in DOMAINS:
        parts = []
        for folder in answers:
            paths = sorted(folder.glob(f"{domain}-[0-9]*.npz"))
            parts.append([answer for path in paths for answer in read_shard(path, target.fingerprint)])
        for folder in texts:
            path = folder / f"{domain}.jsonl.gz"
            parts.append(read_texts(path, target.chat, target.shape.vocab) if path.exists() else [])
        # An answer of one token leaves nothing to draft.
        found[domain] = [[a for a in part if len(a.prompt) <= longest and len(a.answer) > 1] for part in parts]
        if not any(found[domain]):
            raise Refused(f"no answers for {domain} in {', '.join(map(str, [*answers, *texts]))}")
    return found


def plan(found, seed: int):
    """(name, [(domain, answer)]) of each shard: first `held`, then the others in the order of a shuffle by `seed`;
    with `equal`, of every source of a domain the same number of answers as long as it has any."""
    held, queues = [], {}
    for domain, parts in found.items():
        shuffle = random.Random(seed)
        train, kept = [], []
        for part in parts:
            part = part[:]
            shuffle.shuffle(part)
            kept += [a for a in part if held_out(a.prompt)]
            train.append([a for a in part if not held_out(a.prompt)])
        shuffle.shuffle(kept)
        held += [(domain, a) for a in kept[:HELD_ROWS]]
        spread = [(at / max(1, len(part)), source, a) for source, part in enumerate(train) for at, a in enumerate(part)]
        queues[domain] = [a for _, _, a in sorted(spread, key=lambda entry: entry[:2])]
    yield "held", held
    at = 0
    while any(len(queue) > at for queue in queues.values()):
        yield f"train-{at // ROWS:04}", [(d, a) for d, queue in queues.items() for a in queue[at : at + ROWS]]
        at += ROWS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True, help="GGUF file of the target")
    parser.add_argument("--answers", type=Path, action="append", default=[], help="folder of the teacher's shards")
    parser.add_argument("--texts", type=Path, action="append", default=[], help="folder with DOMAIN.jsonl.gz")
    parser.add_argument("--out", type=Path, required=True, help="folder for the shards")
    parser.add_argument("--longest", type=int, default=400, help="leave out prompts of more tokens")
    parser.add_argument("--evaluation", action="store_true", help="one shard of all answers, to evaluate on")
    parser.add_argument("--shards", type=int, help="shards at most")
    parser.add_argument("--share", type=int, nargs=2, default=(0, 1), metavar=("I", "N"), help="the I-th of N in parallel")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no new shard after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    # Rounding in the states is noise that a head learns to live with; what is measured on is exact.
    target = Target(options.target, options.device, torch.float32 if options.evaluation else None)
    if target.shape.layers <= max(LAYERS):
        raise Refused(f"{options.target}: {target.shape.layers} layers; the features are those of {LAYERS}")
    options.out.mkdir(parents=True, exist_ok=True)
    found = read_answers(target, options.answers, options.texts, options.longest)
    if options.evaluation:
        work = [("evaluation", [(domain, a) for domain, parts in found.items() for part in parts for a in part])]
    else:
        work = list(plan(found, options.seed))[: options.shards]
    begun = time.monotonic()
    for number, (name, texts) in enumerate(work):
        path = options.out / f"{name}.npz"
        if path.exists() or number % options.share[1] != options.share[0]:
            continue
        if time.monotonic() - begun > options.minutes * 60:
            print("out of time; run again to go on", flush=True)
            break
        start = time.monotonic()
        examples = examples_of(target, texts)
        write_features(path, examples, target.fingerprint)
        seconds, positions = time.monotonic() - start, sum(len(e.features) for e in examples)
        answered = sum(len(e.hidden) for e in examples)
        print(f"{path.name}: {positions} positions, {answered} of answers, {positions / seconds:.0f}/s", flush=True)


if __name__ == "__main__":
    try:
        main()
    except Refused as why:
        sys.exit(f"error: {why}")
