#!/usr/bin/env python3
"""Stage 3 of a head: trains one on the target's features: `eagle-general` on all domains first, then a specialist on its
own from a copy of it.

Drafting is unrolled as an engine does it: step 0 has g of the target, step s the head's own state of step s - 1, and a
chain goes on only where its likeliest token was the text's, since an engine throws away what follows a rejected one. The
loss is the cross entropy against the target's distribution over the draft vocabulary, mixed with its likeliest token. Both
are over the tokens that occur in the batch and a sample of the others, weighed up to stand for all of them.

Training stops by the clock (--minutes, over all runs of the same head together). Every two minutes a checkpoint is
written; an interrupted run goes on from it. Shards that appear meanwhile are taken in.
"""

import argparse
import json
import random
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from corpus import DOMAINS
from eagle import DRAFT_VOCAB, Batch, Head, head_shape, load_head, save_head, unroll
from eagle_export import read_head
from eagle_start import begin, draft_vocabulary, take_vocabulary, whiten_again
from features import LAYERS, read_answers, read_features
from gguf_model import Refused
from target import Target, fast_dtype

HEADS = ("general", *DOMAINS)
STEPS, FADE = 5, 0.8
# Of the target's likeliest token in what is learned; tokens sampled into the softmax.
HARD, SAMPLED = 0.3, 2048
# Shards that the generalist's start is computed from.
FIRST = 8
BATCH_ANSWERS, BLOCK = 500, 64
LR_MATRIX, LR_NORMS = 0.0025, 1e-3
# The rate falls to nothing over the last share of a run: of the generalist's, of a specialist's.
FALL, OWN_FALL = 0.6, 0.95
WARM_UP, CHECKPOINT_EVERY = 20, 120
# Shards whose answers are mixed into the same batches.
MIXED = 4
LOG_EVERY = 20


class Muon(torch.optim.Optimizer):
    """Momentum made orthogonal (Jordan 2024, "Muon"), in `dtype`: torch's own always works in BF16, which most processors
    emulate.

    Rows are taken in blocks of BLOCK, of an attention matrix those of a head: an update is as large as one of the whole
    matrix would be, at a tenth of the work, which leaves time for more and smaller steps.
    """

    def __init__(self, matrices, lr, momentum=0.95, decay=0.01, dtype=torch.float32):
        super().__init__(matrices, {"lr": lr, "momentum": momentum, "decay": decay})
        self.dtype = dtype

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for weight in group["params"]:
                state = self.state[weight]
                if not state:
                    state["momentum"] = torch.zeros_like(weight)
                held = state["momentum"].lerp_(weight.grad, 1 - group["momentum"])
                rows = BLOCK if len(weight) % BLOCK == 0 else len(weight)
                update = weight.grad.lerp(held, group["momentum"]).view(-1, rows, weight.shape[1])
                update = (update / (update.norm(dim=(1, 2), keepdim=True) + 1e-7)).to(self.dtype)
                for _ in range(5):
                    square = update @ update.transpose(1, 2)
                    polynomial = torch.baddbmm(square, square, square, beta=-4.7750, alpha=2.0315)
                    update = torch.baddbmm(update, polynomial, update, beta=3.4445)
                weight.mul_(1 - group["lr"] * group["decay"])
                weight.add_(update.reshape(weight.shape).float(), alpha=-group["lr"])


def batch_of(examples, target: Target, place: torch.Tensor) -> Batch:
    """`place` [vocab]: the draft token of each of the target's, or -1."""
    tokens = [torch.from_numpy(e.tokens).long() for e in examples]
    lengths = [len(e.features) for e in examples]
    ends = np.cumsum(lengths).tolist()
    bounds = [(end - length, end) for end, length in zip(ends, lengths)]
    hard = torch.cat([place[t[2:]] for t in tokens])
    for (start, _), e in zip(bounds, examples):
        hard[start : start + e.first] = -1
    return Batch(
        embedded=target.embedding[torch.cat([t[1:-1] for t in tokens])],
        features=torch.cat([torch.from_numpy(e.features) for e in examples]),
        positions=torch.cat([torch.arange(length) for length in lengths]),
        bounds=bounds,
        starts=torch.cat([torch.arange(start + e.first, end) for (start, end), e in zip(bounds, examples)]),
        hard=hard,
        hidden=torch.cat([torch.from_numpy(e.hidden) for e in examples]).float(),
    )


class SoftCrossEntropy(torch.autograd.Function):
    """Sum over rows of weight · cross entropy of `logits` [n, vocab] to the distributions `goal`, with one matrix kept
    for the way back."""

    @staticmethod
    def forward(ctx, logits, goal, weight):
        dtype, logits = logits.dtype, logits.float()
        log_sum = logits.logsumexp(-1)
        losses = log_sum - (logits * goal).sum(-1)
        slope = (logits - log_sum.unsqueeze(-1)).exp_().sub_(goal).mul_(weight.unsqueeze(-1))
        ctx.save_for_backward(slope.to(dtype))
        return (losses * weight).sum()

    @staticmethod
    def backward(ctx, grad):
        return ctx.saved_tensors[0] * grad, None, None


def accepted(logits, hard):
    return logits.argmax(-1) == hard


def candidates(hard: torch.Tensor, vocab: int, generator):
    """(draft tokens, log weight of each, place of each among them or -1): all of `hard`, and a sample of the others."""
    present = torch.zeros(vocab, dtype=torch.bool)
    present[hard[hard >= 0]] = True
    others = (~present).nonzero().squeeze(1)
    sampled = others[torch.randperm(len(others), generator=generator)[:SAMPLED]]
    chosen = torch.cat([present.nonzero().squeeze(1), sampled])
    weight = torch.zeros(len(chosen))
    weight[len(chosen) - len(sampled) :] = np.log(max(1, len(others)) / max(1, len(sampled)))
    place = torch.full((vocab + 1,), -1, dtype=torch.long)
    place[chosen] = torch.arange(len(chosen))
    return chosen, weight, place


def loss_of(head: Head, batch: Batch, steps: int, generator):
    """The loss for a mean chain, and how many drafts were right and how many were made at each step."""
    chosen, weight, place = candidates(batch.hard, len(head.output), generator)
    output = head.output[chosen]
    batch = replace(batch, hard=place[batch.hard])
    with torch.no_grad(), torch.autocast("cpu", enabled=False):
        goal = F.linear(batch.hidden, output)
        likeliest = goal.argmax(-1, keepdim=True)
        goal = goal.add_(weight).softmax(-1)
        goal.mul_(1 - HARD).scatter_add_(1, likeliest, torch.full_like(likeliest, HARD, dtype=torch.float32))
    row = torch.full((len(batch.positions),), -1, dtype=torch.long)
    row[batch.starts] = torch.arange(len(batch.starts))
    loss, right, made = 0.0, [], []
    for step, (chains, logits) in enumerate(unroll(head, batch, steps, accepted, output)):
        now = batch.starts[chains] + step
        known = (batch.hard[now] >= 0).float()
        loss = loss + FADE**step * SoftCrossEntropy.apply(logits + weight, goal[row[now]], known)
        right.append(int(accepted(logits.detach(), batch.hard[now]).sum()))
        made.append(len(chains))
    return loss / len(batch.starts), right, made


def no_shards(folders) -> Refused:
    return Refused(f"{', '.join(map(str, folders))}: no shards of features; the features stage makes them")


class Supply:
    """Endless batches of about BATCH_ANSWERS chains, from the shards seen least so far."""

    def __init__(self, folders, domains, fingerprint: str, seed: int, visits: dict[str, int]):
        self.folders, self.domains, self.fingerprint = folders, domains, fingerprint
        self.shuffle, self.visits, self.loaded, self.ready = random.Random(seed), visits, {}, []

    def examples(self, path: Path):
        if path not in self.loaded:
            self.loaded[path] = read_features(path, self.fingerprint, self.domains)
        return self.loaded[path]

    def next(self):
        if not self.ready:
            paths = [path for folder in self.folders for path in sorted(folder.glob("train-*.npz"))]
            if not paths:
                raise no_shards(self.folders)
            seen = lambda path: self.visits.get(str(path), 0)
            fewest = min(map(seen, paths))
            fresh = [path for path in paths if seen(path) == fewest]
            self.shuffle.shuffle(fresh)
            # A single domain has little in each shard.
            taken = fresh[: MIXED if len(self.domains) > 1 else MIXED * len(DOMAINS)]
            order = [example for path in taken for example in self.examples(path)]
            self.shuffle.shuffle(order)
            for path in taken:
                self.visits[str(path)] = seen(path) + 1
            batch, size = [], 0
            for example in order:
                batch.append(example)
                size += len(example.hidden)
                if size >= BATCH_ANSWERS:
                    self.ready.append(batch)
                    batch, size = [], 0
            if batch and (size > BATCH_ANSWERS // 2 or not self.ready):
                self.ready.append(batch)
        return self.ready.pop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=HEADS)
    parser.add_argument("--target", required=True, help="GGUF file of the target")
    parser.add_argument("--answers", type=Path, action="append", default=[], help="folder of the teacher's shards")
    parser.add_argument("--texts", type=Path, action="append", default=[], help="folder with DOMAIN.jsonl.gz")
    parser.add_argument("--features", type=Path, action="append", required=True, help="folder of shards of features")
    parser.add_argument("--out", type=Path, required=True, help="folder for the checkpoints")
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--begin", type=Path, help="GGUF file of the head that `general` goes on from, in place of a closed form")
    options = parser.parse_args()
    if options.begin and options.name != "general":
        parser.error("--begin is for `general`; a specialist begins with it")

    path = options.out / f"eagle-{options.name}.pt"
    own = DOMAINS if options.name == "general" else (options.name,)
    target = Target(options.target, dtype=torch.float32)
    shape = head_shape(target.shape, len(LAYERS))
    options.out.mkdir(parents=True, exist_ok=True)
    record = {
        "name": options.name,
        "seed": options.seed,
        "step": 0,
        "seconds": 0.0,
        "answer_tokens": 0,
        "drafts": 0,
        "visits": {},
        "before": None,
    }
    resumed = None
    if path.exists():
        head, resumed = load_head(path, shape)
        record = resumed["record"]
        if record["seconds"] >= options.minutes * 60:
            print(f"{path}: already trained")
            return
    elif options.name == "general":
        torch.manual_seed(options.seed)
        paths = sorted(path for folder in options.features for path in folder.glob("train-*.npz"))
        random.Random(options.seed).shuffle(paths)
        examples = [e for path in paths[:FIRST] for e in read_features(path, target.fingerprint)]
        if not examples:
            raise no_shards(options.features)
        if options.begin:
            head = read_head(options.begin, shape)
            # The output matrix is rounded in the file.
            take_vocabulary(head, head.d2t.clone(), target)
            whiten_again(head, examples)
            record["before"] = options.begin.name
        else:
            # The prompts are not looked at here, and tokenizing them takes a while.
            target.chat = lambda prompt: [target.end]
            answers = read_answers(target, options.answers, options.texts, 10**6)
            d2t = draft_vocabulary({d: [a for part in parts for a in part] for d, parts in answers.items()}, DRAFT_VOCAB)
            head = Head(shape)
            begin(head, target, examples, d2t)
        save_head(path, head, [], record)
    else:
        origin = options.out / "eagle-general.pt"
        if not origin.exists():
            raise Refused(f"{origin}: not there; train `general` first")
        head, parent = load_head(origin, shape)
        record["before"] = {k: v for k, v in parent["record"].items() if k != "visits"}
    matrices = [p for p in head.parameters() if p.ndim == 2]
    norms = [p for p in head.parameters() if p.ndim == 1]
    rates = (LR_MATRIX, LR_NORMS)
    # The weights stay F32; products are rounded where that is faster.
    dtype = fast_dtype("cpu")
    optimizers = [
        Muon(matrices, LR_MATRIX, dtype=dtype),
        torch.optim.AdamW(norms, LR_NORMS, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
    ]
    if resumed and resumed["optimizers"]:
        for optimizer, state in zip(optimizers, resumed["optimizers"]):
            optimizer.load_state_dict(state)
    place = torch.full((len(target.output),), -1, dtype=torch.long)
    place[head.d2t] = torch.arange(len(head.d2t))

    supply = Supply(options.features, own, target.fingerprint, options.seed * 1_000_003 + record["step"], record["visits"])
    saved = began = time.monotonic()
    losses, rights, mades = [], np.zeros(STEPS), np.zeros(STEPS)
    while True:
        step, elapsed = record["step"], record["seconds"] + time.monotonic() - began
        done = elapsed / (options.minutes * 60)
        last = done >= 1
        fall = FALL if options.name == "general" else OWN_FALL
        rate = min(1.0, (step + 1) / WARM_UP, max(0.0, 1 - done) / fall)
        for optimizer, base in zip(optimizers, rates):
            for group in optimizer.param_groups:
                group["lr"] = base * rate
        if last or time.monotonic() - saved > CHECKPOINT_EVERY:
            record["seconds"] = elapsed
            save_head(path, head, optimizers, record)
            saved = began = time.monotonic()
        if last:
            break
        batch = batch_of(supply.next(), target, place)
        generator = torch.Generator().manual_seed(options.seed * 1_000_003 + step)
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16):
            loss, right, made = loss_of(head, batch, STEPS, generator)
        if not torch.isfinite(loss):
            raise Refused(f"{path}: the loss of step {step} is {loss.item()}; a lower rate or another seed may help")
        loss.backward()
        torch.nn.utils.clip_grad_norm_(norms, 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        record["step"] = step + 1
        record["answer_tokens"] += len(batch.starts)
        record["drafts"] += sum(made)
        losses.append(loss.item())
        rights[: len(right)] += right
        mades[: len(made)] += made
        if (step + 1) % LOG_EVERY == 0:
            shares = " ".join(f"{r / max(1, m):.3f}" for r, m in zip(rights, mades))
            print(f"{options.name} step {step + 1}: loss {np.mean(losses):.3f}, right {shares}, chain "
                  f"{1 + rights.sum() / mades[0]:.3f}, {record['answer_tokens']} answer tokens, {elapsed:.0f} s", flush=True)
            losses, rights, mades = [], np.zeros(STEPS), np.zeros(STEPS)
    print(json.dumps({k: v for k, v in record.items() if k != "visits"}), flush=True)


if __name__ == "__main__":
    try:
        main()
    except Refused as why:
        sys.exit(f"error: {why}")
