#!/usr/bin/env python3
"""Stage 3: trains one drafter on the target's answers: `base` on all domains first, then `general` (all of them) or a
specialist (its own) from a copy of `base`.

The loss is taken at answer positions only: half the cross entropy against the target's likeliest tokens, half that
against the token of the text. The output layer is computed for the tokens that occur in the batch, and for a sample
of the others, weighed up to stand for all of them in the softmax's sum: the whole vocabulary would cost six times
the rest of the model.

Every few minutes a checkpoint is written; an interrupted run goes on from it.
"""

import argparse
import json
import random
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from corpus import DOMAINS, held_out, read_shard, read_texts
from drafter import Drafter, load, project, save, shape_for
from gguf_model import Refused
from target import Target

SOFT = 8
SAMPLED = 3072
BATCH_POSITIONS = 6144
LR_MATRIX, LR_REST = 0.02, 1.5e-3
CHECKPOINT_EVERY = 120
WARM_UP = 30


def read_corpus(target, answers: list[Path], texts: list[Path]):
    """Per domain the training answers and the held-out ones."""
    train, held = {d: [] for d in DOMAINS}, {d: [] for d in DOMAINS}
    found = []
    for domain in DOMAINS:
        for folder in answers:
            for path in sorted(folder.glob(f"{domain}-*.npz")):
                found += [(domain, answer) for answer in read_shard(path, target.fingerprint)]
        for folder in texts:
            path = folder / f"{domain}.jsonl.gz"
            if path.exists():
                found += [(domain, answer) for answer in read_texts(path, target.chat, target.shape.vocab)]
    for domain, answer in found:
        (held if held_out(answer.prompt) else train)[domain].append(answer)
    for domain in DOMAINS:
        where = ", ".join(map(str, answers))
        if not train[domain] and not held[domain]:
            raise Refused(f"{where}: no answers for {domain}; the teacher stage writes them")
        if not train[domain] or not held[domain]:
            raise Refused(
                f"{where}: {len(found)} answers are too few: of those for {domain}, one in thirty is held out, "
                "and there must be some on both sides; compose more prompts (about 150 a domain are enough), for answers in a new folder"
            )
    return train, held


def batches(answers, shuffle: random.Random):
    """Endless batches of about BATCH_POSITIONS positions, answers of like length together; a pass over all answers
    ends before the next begins."""
    size = lambda answer: len(answer.prompt) + len(answer.answer)
    while True:
        order = answers[:]
        shuffle.shuffle(order)
        made = []
        for at in range(0, len(order), 1024):
            chunk = sorted(order[at : at + 1024], key=size)
            batch = []
            for answer in chunk:
                if batch and (len(batch) + 1) * size(answer) > BATCH_POSITIONS:
                    made.append(batch)
                    batch = []
                batch.append(answer)
            made.append(batch)
        shuffle.shuffle(made)
        yield from made


def tensors(batch):
    """(tokens [rows, n], where [answers], hard [answers], ids [answers, SOFT], probabilities [answers, SOFT]).

    `where` are indices into the flattened positions that predict an answer token; where a text has no soft labels
    its hard ones stand in.
    """
    longest = max(len(a.prompt) + len(a.answer) for a in batch) - 1
    tokens = np.zeros((len(batch), longest), np.int64)
    where, hard, ids, probabilities = [], [], [], []
    for row, a in enumerate(batch):
        text = np.concatenate([a.prompt, a.answer])[:-1]
        tokens[row, : len(text)] = text
        where.append(row * longest + np.arange(len(a.prompt) - 1, len(text)))
        hard.append(a.answer)
        if a.label_ids is None:
            ids.append(np.repeat(a.answer[:, None], SOFT, 1))
            one_hot = np.zeros((len(a.answer), SOFT), np.float32)
            one_hot[:, 0] = 1
            probabilities.append(one_hot)
        else:
            ids.append(a.label_ids[:, :SOFT])
            p = np.exp(a.label_log_probs[:, :SOFT])
            probabilities.append(p / p.sum(1, keepdims=True))
    join = lambda parts: torch.from_numpy(np.concatenate(parts))
    return torch.from_numpy(tokens), join(where), join(hard).long(), join(ids).long(), join(probabilities)


def candidates(hard, ids, vocab: int, generator):
    """(tokens, log weight of each, place of each token among them): all that occur, and a sample of the others."""
    present = torch.zeros(vocab, dtype=torch.bool)
    present[hard] = True
    present[ids.flatten()] = True
    others = (~present).nonzero().squeeze(1)
    sampled = others[torch.randperm(len(others), generator=generator)[:SAMPLED]]
    chosen = torch.cat([present.nonzero().squeeze(1), sampled])
    weight = torch.zeros(len(chosen))
    weight[len(chosen) - len(sampled) :] = np.log(len(others) / len(sampled))
    place = torch.zeros(vocab, dtype=torch.long)
    place[chosen] = torch.arange(len(chosen))
    return chosen, weight, place


def loss_of(model, batch, generator, device):
    tokens, where, hard, ids, probabilities = tensors(batch)
    chosen, weight, place = candidates(hard, ids, model.shape.vocab, generator)
    with torch.autocast(device.type, torch.bfloat16):
        hidden = model(tokens.to(device), where.to(device))
        logits = F.linear(hidden, model.token_embd[chosen.to(device)])
    logits = logits.float()
    total = (logits + weight.to(device)).logsumexp(-1)
    of_text = total - logits.gather(1, place[hard].unsqueeze(1).to(device)).squeeze(1)
    of_target = total - (logits.gather(1, place[ids].to(device)) * probabilities.to(device)).sum(1)
    return 0.5 * (of_text + of_target).mean(), len(hard)


@torch.inference_mode()
def agreement(model, answers, device):
    """Share of the text's tokens that are the drafter's likeliest, over the whole vocabulary."""
    same = count = 0
    generator = batches(answers, random.Random(0))
    while count < 6000:
        tokens, where, hard, _, _ = tensors(next(generator))
        with torch.autocast(device.type, torch.bfloat16):
            hidden = model(tokens.to(device), where.to(device))
            best = F.linear(hidden, model.token_embd).argmax(-1)
        same += int((best.cpu() == hard).sum())
        count += len(hard)
    return same / count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=("base", "general", *DOMAINS))
    parser.add_argument("--target", required=True, help="GGUF file of the target")
    parser.add_argument("--answers", type=Path, action="append", required=True, help="folder of the teacher's shards")
    parser.add_argument("--texts", type=Path, action="append", default=[], help="folder with DOMAIN.jsonl.gz")
    parser.add_argument("--out", type=Path, required=True, help="folder for the checkpoints")
    parser.add_argument("--tokens", type=int, required=True, help="answer tokens to train on, repetitions counted")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()

    path, device = options.out / f"{options.name}.pt", torch.device(options.device)
    target = Target(options.target)
    shape = shape_for(target.shape)
    options.out.mkdir(parents=True, exist_ok=True)
    model = Drafter(shape, *project(target.embedding, shape.width))
    # The base begins from the target's embedding, everything else from the base; a run cut short from itself.
    record = {"name": options.name, "seed": options.seed, "step": 0, "seconds": 0.0, "answer_tokens": 0, "before": None}
    resumed = load(path, shape) if path.exists() else None
    if resumed:
        record = resumed["record"]
        if record["answer_tokens"] >= options.tokens and "agreement" in record:
            print(f"{path}: already trained")
            return
        model.load_state_dict(resumed["weights"])
        # Of fewer tokens, where a finished run goes on.
        record.pop("agreement", None)
    elif options.name != "base":
        origin = options.out / "base.pt"
        if not origin.exists():
            raise Refused(f"{origin}: not there; train `base` first")
        first = load(origin, shape)
        model.load_state_dict(first["weights"])
        record["before"] = first["record"]
    model.to(device)
    matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and n != "token_embd"]
    rest = [p for n, p in model.named_parameters() if p.ndim == 1 or n == "token_embd"]
    optimizers = [
        torch.optim.Muon(matrices, lr=LR_MATRIX, momentum=0.95, weight_decay=0.01),
        torch.optim.AdamW(rest, lr=LR_REST, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
    ]
    if resumed:
        for optimizer, state in zip(optimizers, resumed["optimizers"]):
            optimizer.load_state_dict(state)

    train, held = read_corpus(target, options.answers, options.texts)
    del target
    own = DOMAINS if options.name in ("base", "general") else (options.name,)
    supply = batches([answer for domain in own for answer in train[domain]], random.Random(options.seed))
    for _ in range(record["step"]):
        next(supply)
    saved = began = time.monotonic()
    recent = []
    while record["answer_tokens"] < options.tokens:
        step = record["step"]
        # The base holds its rate, since its copies go on; they fall from it to nothing.
        rate = min(1.0, (step + 1) / WARM_UP)
        if options.name != "base":
            rate *= 1 - record["answer_tokens"] / options.tokens
        for optimizer, base in zip(optimizers, (LR_MATRIX, LR_REST)):
            for group in optimizer.param_groups:
                group["lr"] = base * rate
        generator = torch.Generator().manual_seed(options.seed * 1_000_003 + step)
        loss, count = loss_of(model, next(supply), generator, device)
        if not torch.isfinite(loss):
            raise Refused(f"{path}: the loss of step {step} is {loss.item()}; a lower rate or another seed may help")
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        record["step"] = step + 1
        record["answer_tokens"] += count
        recent.append(loss.item())
        now = time.monotonic()
        last = record["answer_tokens"] >= options.tokens
        if last or (step + 1) % 50 == 0:
            print(f"{options.name} step {step + 1}: loss {np.mean(recent):.3f}, {record['answer_tokens']} of "
                  f"{options.tokens} tokens, {record['seconds'] + now - began:.0f} s", flush=True)
            recent = []
        if last or now - saved > CHECKPOINT_EVERY:
            record["seconds"] += now - began
            save(path, model, optimizers, record)
            saved = began = time.monotonic()
    record["agreement"] = {domain: round(agreement(model, held[domain], device), 4) for domain in DOMAINS}
    save(path, model, optimizers, record)
    print(json.dumps(record), flush=True)


if __name__ == "__main__":
    try:
        main()
    except Refused as why:
        sys.exit(f"error: {why}")
