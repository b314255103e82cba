#!/usr/bin/env python3
"""Stage 2: the target answers the prompts; its answers and their soft labels become shards. Answers that are there
already (--texts) are given soft labels alone, which is several times faster.

A shard that exists is never computed again: an interrupted run goes on with the next one. One of other prompts is
refused.
"""

import argparse
import random
import sys
import time
from pathlib import Path

import numpy as np
import torch

from corpus import DOMAINS, Answer, read_prompts, read_shard, read_texts, write_shard
from gguf_model import Refused
from target import Target, answer, label

LABELS = 16
ROWS = 96


def shards(target, domains, prompts_dir: Path, longest: int, seed: int):
    """(domain, index, token lists): prompts of like length together, because a batch pays for its longest, and the
    domains and lengths mixed over time, so that an unfinished run is a fair sample of the whole."""
    work = []
    for domain in domains:
        path = prompts_dir / f"{domain}.jsonl"
        if not path.exists():
            raise Refused(f"{path}: not there; the prompts stage writes it")
        chats = [target.chat(prompt) for prompt in read_prompts(path)]
        chats = sorted((chat for chat in chats if len(chat) <= longest), key=len)
        batches = [chats[at : at + ROWS] for at in range(0, len(chats), ROWS)]
        work.append([(domain, index, batch) for index, batch in enumerate(batches)])
    shuffle = random.Random(seed)
    for batches in work:
        shuffle.shuffle(batches)
    # Each domain spread evenly over the whole run, however many shards it has.
    order = [(at / len(batches), shard) for batches in work for at, shard in enumerate(batches)]
    return [shard for _, shard in sorted(order, key=lambda entry: entry[0])]


def text_shards(target, domains, folders: list[Path], longest: int):
    """(name, [(prompt, answer)]) of given answers, texts of like length together."""
    for domain in domains:
        for number, folder in enumerate(folders):
            path = folder / f"{domain}.jsonl.gz"
            if not path.exists():
                continue
            found = read_texts(path, target.chat, target.shape.vocab)
            texts = [(a.prompt.tolist(), a.answer.tolist()) for a in found if len(a.prompt) <= longest]
            texts.sort(key=lambda text: len(text[0]) + len(text[1]))
            for index in range(0, len(texts), ROWS):
                yield f"{domain}-texts{number}-{index // ROWS:04}", texts[index : index + ROWS]


def check_prompts(path: Path, batch, fingerprint: str):
    """Refuses a finished shard that is not of the prompts of `batch`: beside it some would be missing and some double."""
    wanted = [prompt[0] if isinstance(prompt, tuple) else prompt for prompt in batch]
    if [answer.prompt.tolist() for answer in read_shard(path, fingerprint)] != wanted:
        raise Refused(f"{path}: answers to other prompts; remove {path.parent}, or name another folder with --out")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True, help="GGUF file of the target")
    parser.add_argument("--prompts", type=Path, required=True, help="folder with DOMAIN.jsonl")
    parser.add_argument("--texts", type=Path, action="append", default=[], help="folder with DOMAIN.jsonl.gz")
    parser.add_argument("--domains", nargs="+", choices=DOMAINS, default=DOMAINS)
    parser.add_argument("--out", type=Path, required=True, help="folder for the shards")
    parser.add_argument("--predict", type=int, default=176, help="tokens of an answer at most")
    parser.add_argument("--longest", type=int, default=700, help="leave out prompts of more tokens")
    parser.add_argument("--temp", type=float, default=0.0)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no new shard after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()

    target = Target(options.target, options.device)
    options.out.mkdir(parents=True, exist_ok=True)
    generator = torch.Generator(options.device).manual_seed(options.seed)

    def answered(batch):
        answers = answer(target, batch, options.predict, LABELS, options.temp, generator)
        return [
            Answer(np.array(prompt), np.array(tokens), np.stack(ids), np.stack(log_probs))
            for prompt, (tokens, ids, log_probs) in zip(batch, answers)
        ]

    def labelled(texts):
        labels = label(target, texts, LABELS)
        return [
            Answer(np.array(prompt), np.array(tokens), ids, log_probs)
            for (prompt, tokens), (ids, log_probs) in zip(texts, labels)
        ]

    work = [
        (f"{domain}-{index:04}", answered, batch)
        for domain, index, batch in shards(target, options.domains, options.prompts, options.longest, options.seed)
    ]
    work += [
        (name, labelled, texts) for name, texts in text_shards(target, options.domains, options.texts, options.longest)
    ]
    begun = time.monotonic()
    for name, make, batch in work:
        path = options.out / f"{name}.npz"
        if path.exists():
            check_prompts(path, batch, target.fingerprint)
            continue
        if time.monotonic() - begun > options.minutes * 60:
            print("out of time; run again to go on", flush=True)
            break
        start = time.monotonic()
        answers = make(batch)
        write_shard(path, answers, target.fingerprint)
        count = sum(len(a.answer) for a in answers)
        print(f"{path.name}: {len(batch)} answers, {count} tokens, {count / (time.monotonic() - start):.0f}/s", flush=True)


if __name__ == "__main__":
    try:
        main()
    except Refused as why:
        sys.exit(f"error: {why}")
