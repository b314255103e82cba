#!/usr/bin/env python3
"""Stage 5 of a head: the mean acceptance length of every head on answers of the target, by teacher forcing.

With greedy decoding the committed text does not depend on the drafter, and a draft counts only while it is that text: so
chains along the text from every position, each until its first wrong draft, hold all rounds that can occur. The weights
are those of the exported file.
"""

import argparse
import sys
from pathlib import Path

import torch

from corpus import DOMAINS
from eagle import head_shape, unroll
from eagle_export import read_head
from eagle_train import accepted, batch_of
from features import LAYERS, read_features
from gguf_model import Refused
from target import Target


@torch.inference_mode()
def right_drafts(head, batch, n_max: int) -> list[int]:
    """How many drafts are right in a row from each start, at most `n_max`."""
    right = torch.zeros(len(batch.starts), dtype=torch.long)
    for step, (chains, logits) in enumerate(unroll(head, batch, n_max, accepted)):
        right[chains] += accepted(logits, batch.hard[batch.starts[chains] + step])
    return right.tolist()


def rounds_of(right: list[int], n_max: int) -> int:
    """Rounds that commit a text of which `right[i]` drafts in a row are right after i tokens."""
    rounds = at = 0
    while at < len(right):
        at += min(right[at], n_max) + 1
        rounds += 1
    return rounds


def mean_acceptance_length(head, target, examples, place, n_max: int) -> float:
    """Tokens a round. The first answer token is the prompt's own; the last round may end the text early."""
    rounds = tokens = 0
    for at in range(0, len(examples), 8):
        batch = batch_of(examples[at : at + 8], target, place)
        right = right_drafts(head, batch, n_max)
        first = 0
        for e in examples[at : at + 8]:
            own = right[first : first + len(e.hidden)]
            rounds, tokens, first = rounds + rounds_of(own, n_max), tokens + len(own), first + len(e.hidden)
    return tokens / rounds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--target", required=True, help="GGUF file of the target")
    parser.add_argument("--features", type=Path, required=True, help="shard of features that no head was trained on")
    parser.add_argument("--heads", type=Path, required=True, help="folder with eagle-NAME.gguf")
    parser.add_argument("--n-max", type=int, default=5)
    options = parser.parse_args()
    target = Target(options.target, dtype=torch.float32)
    shape = head_shape(target.shape, len(LAYERS))
    examples = read_features(options.features, target.fingerprint)
    print("| head | " + " | ".join(DOMAINS) + " | mean |\n| --- |" + " ---: |" * (len(DOMAINS) + 1))
    for name in options.names:
        head = read_head(options.heads / f"eagle-{name}.gguf", shape)
        place = torch.full((target.shape.vocab,), -1, dtype=torch.long)
        place[head.d2t] = torch.arange(len(head.d2t))
        lengths = [
            mean_acceptance_length(head, target, [e for e in examples if e.domain == domain], place, options.n_max)
            for domain in DOMAINS
        ]
        shown = " | ".join(f"{length:.3f}" for length in [*lengths, sum(lengths) / len(lengths)])
        print(f"| eagle-{name} | {shown} |", flush=True)


if __name__ == "__main__":
    try:
        main()
    except Refused as why:
        sys.exit(f"error: {why}")
