"""What a head begins with: closed forms in place of the first hours of training."""

import numpy as np
import torch
import torch.nn.functional as F

from corpus import DOMAINS
from eagle import Head
from target import Target, rms_norm

# Heads that bring the token in and heads that copy; the share of the regression's ridge; the lead of the right position
# in the softmax; what a copied token's logit gains to begin with.
BRINGING, COPYING, RIDGE, MARGIN, GAIN = 5, 2, 0.02, 7.0, 5.0
# Variance, where a feature's is 1 on average, below which a direction is not blown up to the spread of the others.
NOISE = 0.05
# First positions of a text that are left out.
FEW = 4


def ridge(inputs, goal, share: float):
    """The linear map [in, out] of least squares, shrunk by `share` of the inputs' number."""
    gram = (inputs.T @ inputs).double()
    gram.diagonal().add_(share * len(inputs))
    return torch.linalg.solve(gram, (inputs.T @ goal).double()).float()


def draft_vocabulary(answers: dict[str, list], size: int) -> torch.Tensor:
    """The `size` tokens most frequent in the answers, of which each domain counts alike, by rising id. Where the answers
    hold fewer, the lowest other ids fill it up, which a byte-pair vocabulary's most frequent tokens have."""
    share = {}
    for domain in DOMAINS:
        tokens = np.concatenate([answer.answer for answer in answers[domain]])
        ids, counts = np.unique(tokens, return_counts=True)
        for token, count in zip(ids.tolist(), counts.tolist()):
            share[token] = share.get(token, 0.0) + count / len(tokens)
    ranked = sorted(share, key=lambda token: (-share[token], token))[:size]
    if len(ranked) < size:
        seen = set(ranked)
        ranked += [token for token in range(2 * size) if token not in seen][: size - len(ranked)]
    return torch.tensor(sorted(ranked))


def take_vocabulary(head: Head, d2t: torch.Tensor, target: Target) -> None:
    head.d2t.copy_(d2t)
    head.output.copy_(target.output[d2t])


def settled(examples) -> torch.Tensor:
    """The features [n, layers · width] of all positions but the first of a text, which have states of another order of
    magnitude that nothing depends on."""
    return torch.cat([torch.from_numpy(e.features[FEW:]).float().flatten(1) for e in examples])


def whitening(features: torch.Tensor) -> torch.Tensor:
    """The matrix that turns `features` [n, d] to directions of one spread, [d, d] and invertible."""
    spread = features.square().mean(0).sqrt().clamp(min=1e-6)
    variance, directions = torch.linalg.eigh((features.T @ features) / len(features) / spread / spread.unsqueeze(1))
    return (variance.clamp(min=0) + NOISE).rsqrt().unsqueeze(1) * directions.T / spread


@torch.no_grad()
def whiten_again(head: Head, examples) -> None:
    """Makes a head of a GGUF file, where `whiten` is multiplied into `fc`, trainable as it was: the same function, taken
    apart by the features of `examples`."""
    head.whiten.copy_(whitening(settled(examples)))
    head.fc.copy_(torch.linalg.solve(head.whiten.double(), head.fc.double(), left=False).float())


@torch.no_grad()
def begin(head: Head, target: Target, examples, d2t: torch.Tensor) -> None:
    """Sets the head to the best linear prediction of the target's next state from the token and the features, over
    `examples`, and lets it copy from the text. `fc` has the features' part of the prediction. The token's comes through
    heads that look at their own position. Copying heads look for a position whose feature is of the present token and
    bring the token that stands beside it, which came next: since a pair is of a token and the feature before it, one
    layer makes an induction head (Olsson et al. 2022). The feed-forward network adds nothing yet."""
    take_vocabulary(head, d2t, target)
    head.output_norm.copy_(target.output_norm)
    shape, width, dim = head.shape, head.shape.width, head.shape.head_dim
    features = settled(examples)
    head.whiten.copy_(whitening(features))
    features = F.linear(features, head.whiten)
    own = torch.cat([torch.from_numpy(e.tokens[FEW:-2]).long() for e in examples])
    after = torch.cat([torch.from_numpy(e.tokens[FEW + 1 : -1]).long() for e in examples])
    answers = torch.cat([torch.arange(FEW, len(e.features)) >= e.first for e in examples])
    goal = torch.cat([torch.from_numpy(e.hidden[max(0, FEW - e.first) :]).float() for e in examples]) / target.output_norm
    embed = lambda tokens: rms_norm(target.embedding[tokens], head.attn_norm, shape.eps)
    embedded = embed(after)
    solution = ridge(torch.cat([embedded, features], 1)[answers], goal, RIDGE)

    # What tells output tokens apart, by falling spread; the last directions hardly reach a logit.
    rows = head.output * head.output_norm
    rows = rows - rows.mean(0)
    tells, basis = torch.linalg.eigh(rows.T @ rows / len(rows))
    tells, basis = tells.flip(0), basis.flip(1)

    # There g keeps a code of the position's own token: its embedding in as many dimensions as copying heads compare.
    turn = shape.rope_base ** -(torch.arange(0, dim, 2) / dim)
    fast, still = (turn > 0.05).nonzero().squeeze(1), (turn < 5e-3).nonzero().squeeze(1)
    compared = torch.stack((2 * still, 2 * still + 1), 1).flatten()
    codes = COPYING * len(compared)
    centre = embedded.mean(0)
    sizes, axes = torch.linalg.eigh((embedded - centre).T @ (embedded - centre) / len(embedded))
    code = axes.flip(1)[:, :codes] * sizes.flip(0)[:codes].rsqrt()
    decode = ridge(features, (embed(own) - centre) @ code, RIDGE)
    kept = basis[:, -codes:]
    of_features = solution[width:].T
    of_features = of_features - kept @ (kept.T @ of_features)
    level = F.linear(features, of_features).square().mean().sqrt()
    head.fc.copy_(of_features + level * kept @ decode.T)

    # The token's part in as many dimensions as the bringing heads have, the best for tokens as they occur.
    rank = BRINGING * dim
    gram = (embedded.T @ embedded / len(embedded)).double() + RIDGE * torch.eye(width, dtype=torch.float64)
    variance, directions = torch.linalg.eigh(gram)
    root = (directions * variance.sqrt()) @ directions.T
    u, s, v = torch.linalg.svd(solution[:width].T.double() @ root)
    scale = s[:rank].sqrt()
    head.attn_v[:rank] = 0
    head.attn_v[:rank, :width] = (scale.unsqueeze(1) * v[:rank] @ torch.linalg.inv(root)).float()
    head.attn_output[:, :rank] = (u[:, :rank] * scale).float()

    # A constant out of every pair, for heads that go by position alone: see teach_copying in drafter.py.
    g = F.linear(features, head.fc)
    pairs = head.pairs(target.embedding[after], g)
    constant = ridge(pairs, torch.ones(len(pairs), 1), 1e-3).squeeze(1)
    gap = (1 - turn[fast].cos()).sum()
    strength = (MARGIN * dim**0.5 / gap).sqrt()
    head.attn_q.mul_(0.3)
    head.attn_k.mul_(0.3)
    head.attn_q[: rank + COPYING * dim] = 0
    head.attn_k[: rank + COPYING * dim] = 0
    for first in range(0, rank, dim):
        head.attn_q[first + 2 * fast] = strength * constant
        head.attn_q[first + 2 * still] = -strength * len(fast) / len(still) * constant
        head.attn_k[first + 2 * fast] = strength * constant
        head.attn_k[first + 2 * still] = strength * constant

    # Two tokens' match is a sum over the compared dimensions; the right one leads the best wrong one of hundreds.
    match = (MARGIN * dim**0.5 / (len(compared) - 3.3 * len(compared) ** 0.5)) ** 0.5
    size = g.square().mean(1).sqrt().mean()
    state = goal.square().mean().sqrt()
    row = target.embedding[d2t].square().mean().sqrt()
    for at in range(COPYING):
        first = rank + at * dim
        of_code = slice(at * len(compared), (at + 1) * len(compared))
        ask = torch.cat([code[:, of_code].T, torch.zeros(len(compared), width)], 1)
        head.attn_q[first + compared] = match * (ask - torch.outer(centre @ code[:, of_code], constant))
        head.attn_k[first + compared, width:] = match * size / level * kept[:, of_code].T
        # The token as the output tells it apart, from its embedding, and into the state so that its logit gains.
        of_rows = slice(at * dim, (at + 1) * dim)
        shown = basis[:, of_rows] * tells[of_rows].rsqrt()
        bring = torch.cat([row * (shown * head.output_norm.unsqueeze(1)).T, torch.zeros(dim, width)], 1)
        mean = (embedded.mean(0) * row * head.output_norm) @ shown
        head.attn_v[first : first + dim] = bring - torch.outer(mean, constant)
        head.attn_output[:, first : first + dim] = state * GAIN / (COPYING * dim) * shown
