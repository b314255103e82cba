#!/usr/bin/env python3
"""Stage 5: the mean acceptance length of every checkpoint on answers of the target, by teacher forcing.

With greedy decoding the committed text does not depend on the drafter, and a drafter that is right so far sees just
that text: how many of its tokens are accepted from a position on is how many positions in a row its likeliest token
is the text's. So one pass over the answers does for all rounds. Weights are as trained, not quantised; `metasd pool
matrix` measures the exported files in the real engine.
"""

import argparse
import sys
from pathlib import Path

import torch
import torch.nn.functional as F

from corpus import DOMAINS, read_shard
from drafter import Drafter, load, shape_for
from gguf_model import Refused
from target import Target
from train import tensors


def acceptance(hits: list[bool], n_max: int) -> tuple[int, int]:
    """(rounds, tokens) of decoding a text whose position i a drafter gets right where `hits[i]`."""
    rounds = at = 0
    while at < len(hits):
        accepted = 0
        while accepted < n_max and at + accepted < len(hits) and hits[at + accepted]:
            accepted += 1
        rounds += 1
        at += accepted + 1
    return rounds, len(hits)


@torch.inference_mode()
def mean_acceptance_length(model, answers, n_max: int) -> float:
    rounds = tokens = 0
    for a in answers:
        text, where, hard, _, _ = tensors([a])
        best = F.linear(model(text, where), model.token_embd).argmax(-1)
        of_one = acceptance((best == hard).tolist(), n_max)
        rounds, tokens = rounds + of_one[0], tokens + of_one[1]
    return tokens / rounds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--target", required=True, help="GGUF file of the target")
    parser.add_argument("--answers", type=Path, required=True, help="folder of shards that no drafter was trained on")
    parser.add_argument("--checkpoints", type=Path, required=True)
    parser.add_argument("--n-max", type=int, default=5)
    options = parser.parse_args()
    target = Target(options.target)
    shape = shape_for(target.shape)
    answers = {
        domain: [a for path in sorted(options.answers.glob(f"{domain}-*.npz")) for a in read_shard(path, target.fingerprint)]
        for domain in DOMAINS
    }
    if not all(answers.values()):
        raise Refused(f"{options.answers}: answers of every domain are needed; the teacher stage writes them")
    print("| drafter | " + " | ".join(DOMAINS) + " |\n| --- |" + " ---: |" * len(DOMAINS))
    for name in options.names:
        weights = load(options.checkpoints / f"{name}.pt", shape)["weights"]
        model = Drafter(shape, torch.zeros(shape.vocab, shape.width), torch.ones(shape.width))
        model.load_state_dict(weights)
        lengths = (mean_acceptance_length(model, answers[domain], options.n_max) for domain in DOMAINS)
        print(f"| {name} | " + " | ".join(f"{length:.3f}" for length in lengths) + " |", flush=True)


if __name__ == "__main__":
    try:
        main()
    except Refused as why:
        sys.exit(f"error: {why}")
