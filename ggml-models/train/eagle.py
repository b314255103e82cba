"""The head: an EAGLE-3 drafter (Li et al. 2025, "EAGLE-3: Scaling up Inference Acceleration of Large Language Models via
Training-Time Test") for one target, and its checkpoints.

`fc` makes g[P] of the target's hidden states at position P. One decoder layer reads pairs (token[P+1], g[P]) at position
P and predicts token[P+2] over a reduced vocabulary; its state before the last norm is g of the next position while the
target has not been there yet.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from gguf_model import Refused, Shape
from target import rms_norm, rotary_angles, rotate

DRAFT_VOCAB = 12288
# Slow enough that a good part of the rotary pairs hardly turns over a context: those compare tokens wherever they stand.
ROPE_BASE = 500_000.0
# As many key heads as query heads: the token comes in through the attention's values alone, and a third of the width
# would be too narrow for it.
HEADS, FEED_FORWARD = 9, 1536


@dataclass(frozen=True)
class HeadShape:
    width: int
    layers: int
    heads: int
    feed_forward: int
    draft_vocab: int
    rope_base: float
    eps: float

    @property
    def head_dim(self) -> int:
        return self.width // self.heads


def head_shape(target: Shape, layers: int) -> HeadShape:
    return HeadShape(target.width, layers, HEADS, FEED_FORWARD, DRAFT_VOCAB, ROPE_BASE, target.eps)


class Head(nn.Module):
    """Weights are named as in the GGUF file. `d2t` [draft vocab] holds the target's token of each draft token, by rising
    id; `output` [draft vocab, width] is the target's, as it is: trained on so little it would forget more than it learns.
    `whiten` [layers · width, layers · width] makes the features' directions of one spread before `fc`, so that
    steps of one size fit all of them; it is not trained, and the export multiplies it into `fc`."""

    def __init__(self, shape: HeadShape):
        super().__init__()
        width = shape.width
        linear = lambda rows, columns: nn.Parameter(torch.empty(rows, columns))
        self.shape = shape
        self.fc = linear(width, shape.layers * width)
        self.attn_norm = nn.Parameter(torch.ones(width))
        self.attn_norm_2 = nn.Parameter(torch.ones(width))
        self.attn_q = linear(width, 2 * width)
        self.attn_k = linear(width, 2 * width)
        self.attn_v = linear(width, 2 * width)
        self.attn_output = linear(width, width)
        self.ffn_norm = nn.Parameter(torch.ones(width))
        self.ffn_gate = linear(shape.feed_forward, width)
        self.ffn_up = linear(shape.feed_forward, width)
        self.ffn_down = linear(width, shape.feed_forward)
        self.output_norm = nn.Parameter(torch.ones(width))
        self.register_buffer("output", torch.zeros(shape.draft_vocab, width))
        self.register_buffer("d2t", torch.zeros(shape.draft_vocab, dtype=torch.long))
        self.register_buffer("whiten", torch.eye(shape.layers * width))
        for name, weight in self.named_parameters():
            if weight.ndim == 2:
                nn.init.normal_(weight, std=weight.shape[1] ** -0.5)
        for weight in (self.attn_output, self.ffn_down):
            nn.init.zeros_(weight)

    def encode(self, features):
        """g of the target's features [n, layers, width]: [n, width]."""
        return F.linear(F.linear(features.flatten(1).float(), self.whiten), self.fc)

    def pairs(self, embedded, g):
        """The attention's input for tokens' embeddings and g, each [n, width]: [n, 2 · width]."""
        eps = self.shape.eps
        return torch.cat([rms_norm(embedded, self.attn_norm, eps), rms_norm(g, self.attn_norm_2, eps)], 1)

    def keys_values(self, pairs, positions):
        """Keys and values [n, heads, head_dim]."""
        heads = lambda y: y.view(len(y), self.shape.heads, self.shape.head_dim)
        cos, sin = rotary_angles(self.shape, positions)
        keys = rotate(heads(F.linear(pairs, self.attn_k)), cos.unsqueeze(1), sin.unsqueeze(1))
        return keys, heads(F.linear(pairs, self.attn_v))

    def queries(self, pairs, positions):
        cos, sin = rotary_angles(self.shape, positions)
        q = F.linear(pairs, self.attn_q).view(len(pairs), self.shape.heads, self.shape.head_dim)
        return rotate(q, cos.unsqueeze(1), sin.unsqueeze(1)) * self.shape.head_dim**-0.5

    def finish(self, attended, g):
        """The state before the last norm, which is the next position's g, of the attention's result and g [n, width]."""
        x = g + F.linear(attended, self.attn_output)
        h = rms_norm(x, self.ffn_norm, self.shape.eps)
        return x + F.linear(F.silu(F.linear(h, self.ffn_gate)) * F.linear(h, self.ffn_up), self.ffn_down)

    def logits(self, state, output):
        """Over the tokens that have the rows of `output`: the head's own, or some of them."""
        return F.linear(rms_norm(state, self.output_norm, self.shape.eps), output)


@dataclass
class Batch:
    """Texts one after the other. `tokens`, `g` inputs and positions are of every pair of every text; a chain begins at
    each of `starts`, indices of pairs of the answers."""

    embedded: torch.Tensor  # [n, width], the embedding of tokens[P + 1]
    features: torch.Tensor  # [n, layers, width]
    positions: torch.Tensor  # [n]
    bounds: list[tuple[int, int]]  # pairs of each text
    starts: torch.Tensor  # [chains], rising
    hard: torch.Tensor  # [n], the draft token of tokens[P + 2], or -1 where it is none or P is of the prompt
    hidden: torch.Tensor  # [chains, width], the target's state that predicts it


def attend(query, base, keys, values, bounds, chain_keys, chain_values):
    """Attention of chain queries [chains, heads, dim]: each sees its text's keys up to its base and its own chain's,
    [chains, heads, dim] each. Returns [chains, heads · dim]."""
    parts = []
    edges = torch.searchsorted(base, torch.tensor([bound for begin, end in bounds for bound in (begin, end)])).tolist()
    for (begin, end), low, high in zip(bounds, edges[::2], edges[1::2]):
        if low == high:
            continue
        q = query[low:high].transpose(0, 1)
        scores = q @ keys[begin:end].permute(1, 2, 0)
        late = torch.arange(begin, end) > base[low:high].unsqueeze(1)
        scores = scores.masked_fill(late, float("-inf"))
        if chain_keys:
            own = torch.stack([(query[low:high] * k[low:high]).sum(-1) for k in chain_keys], -1)
            scores = torch.cat([scores, own.transpose(0, 1)], -1)
        weights = scores.softmax(-1)
        a = (weights[..., : end - begin] @ values[begin:end].transpose(0, 1)).transpose(0, 1)
        for at, v in enumerate(chain_values):
            a = a + weights[..., end - begin + at].T.unsqueeze(-1) * v[low:high]
        parts.append(a.flatten(1))
    return torch.cat(parts)


def unroll(head: Head, batch: Batch, steps: int, goes_on, output=None):
    """Drafts as an engine does, from every start at once, along the text: yields for each step the chains that are still
    going (indices into `starts`) and their logits. `goes_on(logits, hard)` says which of them continue. `output` has the rows of the
    tokens that `batch.hard` counts, if these are not the whole draft vocabulary."""
    output = head.output if output is None else output
    pairs = head.pairs(batch.embedded, encoded := head.encode(batch.features))
    keys, values = head.keys_values(pairs, batch.positions)
    ends = torch.zeros(len(batch.positions), dtype=torch.long)
    for begin, end in batch.bounds:
        ends[begin:end] = end
    base = batch.starts
    alive = torch.arange(len(base))
    pair, g, now = pairs[base], encoded[base], base
    chain_keys, chain_values = [], []
    for step in range(steps):
        query = head.queries(pair, batch.positions[now])
        state = head.finish(attend(query, base, keys, values, batch.bounds, chain_keys, chain_values), g)
        logits = head.logits(state, output)
        yield alive, logits
        if step + 1 == steps:
            return
        kept = (goes_on(logits.detach(), batch.hard[now]) & (now + 1 < ends[base])).nonzero().squeeze(1)
        if not len(kept):
            return
        alive, base, g, now = alive[kept], base[kept], state[kept], now[kept] + 1
        pair = head.pairs(batch.embedded[now], g)
        k, v = head.keys_values(pair, batch.positions[now])
        chain_keys = [part[kept] for part in chain_keys] + [k]
        chain_values = [part[kept] for part in chain_values] + [v]


def save_head(path: Path, head: Head, optimizers, record: dict) -> None:
    partial = path.with_suffix(".part")
    torch.save(
        {
            "shape": asdict(head.shape),
            "weights": head.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in optimizers],
            "record": record,
        },
        partial,
    )
    partial.replace(path)


def load_head(path: Path, shape: HeadShape) -> tuple[Head, dict]:
    """The head and the whole checkpoint."""
    try:
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
        found = HeadShape(**checkpoint["shape"])
    except Exception as why:  # torch reports a damaged archive by classes of its own
        raise Refused(f"{path}: not a checkpoint of a head ({why})") from why
    if found != shape:
        raise Refused(f"{path}: a checkpoint of another shape: {found}, expected {shape}")
    head = Head(shape)
    head.load_state_dict(checkpoint["weights"])
    return head, checkpoint
