"""The drafter: a small `llama` model over the target's vocabulary, and its checkpoints."""

from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from gguf_model import Refused, Shape
from target import rms_norm, rotary_angles, rotate

WIDTH, LAYERS, HEADS, FEED_FORWARD = 256, 2, 4, 768
# Slow enough that a third of the rotary pairs hardly turns over a context: those compare tokens wherever they stand.
ROPE_BASE = 500_000.0
# Of the embedding's dimensions, and what the constant one holds in terms of it.
SPREAD, CONSTANT = 0.11, 2.0
# Of the copying heads: the lead of the right position in the softmax, and what is written to the residual stream, in
# terms of a token's own part.
MARGIN, NOTE, BRING = 7.0, 2.0, 2.0


def shape_for(target: Shape) -> Shape:
    return Shape(
        vocab=target.vocab,
        width=WIDTH,
        layers=LAYERS,
        heads=HEADS,
        kv_heads=HEADS,
        feed_forward=FEED_FORWARD,
        rope_base=ROPE_BASE,
        eps=1e-5,
    )


def project(embedding: torch.Tensor, width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The target's embedding in `width` dimensions, so that tokens that training never shows are not random, and the
    weights of the output norm that go with it.

    It is centred (a common part of all rows moves all logits alike), laid on its directions of largest variance, and
    every direction is scaled to the same spread: the optimizer's steps fit all of them, and so does a 4-bit block.
    The output norm has the spread instead. The last dimension is a constant, the same for all tokens: attention heads
    that go by position need one. A token counts half as much as any other and half by Zipf's law for its id, since
    ids of a byte-pair vocabulary are in order of their merges.
    """
    rows = embedding.double()
    zipf = 1 / (torch.arange(len(rows), dtype=torch.float64) + 256)
    share = (0.5 * zipf / zipf.sum() + 0.5 / len(rows)).unsqueeze(1)
    rows = rows - (share * rows).sum(0)
    variance, directions = torch.linalg.eigh(rows.T @ (share * rows))
    kept = slice(-(width - 1), None)
    spread = variance[kept].flip(0).sqrt()
    small = SPREAD * (rows @ directions[:, kept].flip(1)) / spread
    # Logits of a spread near 1 to begin with.
    gain = spread / (SPREAD * spread.norm())
    constant = torch.full((len(rows), 1), CONSTANT * SPREAD, dtype=torch.float64)
    return torch.cat([small, constant], 1).float(), torch.cat([gain, gain.new_zeros(1)]).float()


class Block(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        width, feed_forward = shape.width, shape.feed_forward
        self.shape = shape
        self.attn_norm = nn.Parameter(torch.ones(width))
        self.attn_q = nn.Linear(width, width, bias=False)
        self.attn_k = nn.Linear(width, width, bias=False)
        self.attn_v = nn.Linear(width, width, bias=False)
        self.attn_output = nn.Linear(width, width, bias=False)
        self.ffn_norm = nn.Parameter(torch.ones(width))
        self.ffn_gate = nn.Linear(width, feed_forward, bias=False)
        self.ffn_up = nn.Linear(width, feed_forward, bias=False)
        self.ffn_down = nn.Linear(feed_forward, width, bias=False)
        nn.init.zeros_(self.attn_output.weight)
        nn.init.zeros_(self.ffn_down.weight)

    def forward(self, x, cos, sin, only=None):
        """[rows, n, width] to the same; with `only`, indices into the flattened positions, to those alone, [only,
        width]: what follows the attention is not computed for the others."""
        shape = self.shape
        rows, n, _ = x.shape
        heads = lambda y: y.view(rows, n, shape.heads, shape.head_dim).transpose(1, 2)
        h = rms_norm(x, self.attn_norm, shape.eps)
        q, k, v = heads(self.attn_q(h)), heads(self.attn_k(h)), heads(self.attn_v(h))
        q, k = rotate(q.float(), cos, sin).to(v.dtype), rotate(k.float(), cos, sin).to(v.dtype)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        a = a.transpose(1, 2).reshape(rows, n, -1)
        if only is not None:
            x, a = x.flatten(0, 1)[only], a.flatten(0, 1)[only]
        x = x + self.attn_output(a)
        h = rms_norm(x, self.ffn_norm, shape.eps)
        return x + self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h))


@torch.no_grad()
def teach_copying(blocks, shape: Shape) -> None:
    """Sets the first two blocks' attention so that the drafter copies from the text before it learns anything else.

    A head of the first block looks at the token before and notes in the residual stream who that was; two heads of
    the second look for places whose note is the present token and bring what stands there: an induction head (Olsson
    et al. 2022, "In-context learning and induction heads"). Such heads form by themselves only after far more tokens
    than a drafter is trained on, and they are what pays where an answer repeats its prompt.
    """
    dim, last = shape.head_dim, shape.width - 1
    turn = shape.rope_base ** -(torch.arange(0, dim, 2) / dim)
    still = [2 * pair + side for pair in range(len(turn)) if turn[pair] < 5e-3 for side in (0, 1)]
    notes = range(last - len(still), last)
    before, find = blocks[0], blocks[1]
    for part in (before.attn_q, before.attn_k, before.attn_v):
        part.weight[:dim] = 0
    for part in (find.attn_q, find.attn_k, find.attn_v):
        part.weight[: 2 * dim] = 0
    # q·k over the fast pairs is Σ cos((distance − 1)·turn); the still ones take off as much as it is at distance 1, so
    # that the right distance scores 0, all others less, and how large a key is does not matter. The next best is
    # MARGIN lower after the division by √dim.
    fast = int((turn > 0.05).sum())
    gap = (1 - turn[:fast].cos()).sum()
    strength = (MARGIN * dim**0.5 / gap).sqrt() / CONSTANT
    toward = torch.zeros(dim)
    toward[: 2 * fast] = torch.stack((turn[:fast].cos(), -turn[:fast].sin()), 1).flatten()
    toward[still[::2]] = -fast / (len(still) / 2)
    before.attn_q.weight[:dim, last] = toward * strength
    before.attn_k.weight[0:dim:2, last] = strength
    for slot, written in enumerate(notes):
        before.attn_v.weight[slot, slot] = 1
        before.attn_output.weight[written, slot] = NOTE * SPREAD
    # Two tokens' match is a sum over the still dimensions; the right one leads the best wrong one of hundreds by
    # MARGIN.
    lead = len(still) - 3.3 * len(still) ** 0.5
    match = (MARGIN * dim**0.5 / (lead * NOTE)) ** 0.5
    for head in range(2):
        first = head * dim
        for slot, (dimension, written) in enumerate(zip(still, notes)):
            find.attn_q.weight[first + dimension, slot] = match
            find.attn_k.weight[first + dimension, written] = match
        for slot in range(dim):
            find.attn_v.weight[first + slot, first + slot] = 1
            find.attn_output.weight[first + slot, first + slot] = BRING * SPREAD


class Drafter(nn.Module):
    """Input and output share one matrix, [vocab, width]."""

    def __init__(self, shape: Shape, embedding: torch.Tensor, gain: torch.Tensor):
        super().__init__()
        if embedding.shape != (shape.vocab, shape.width):
            raise Refused(f"embedding is {tuple(embedding.shape)}, expected {(shape.vocab, shape.width)}")
        self.shape = shape
        self.token_embd = nn.Parameter(embedding.clone())
        self.blk = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.output_norm = nn.Parameter(gain.clone())
        if shape.layers > 1 and shape.heads > 1:
            teach_copying(self.blk, shape)

    def forward(self, tokens, only):
        """Hidden states after the last norm, [only, width], at the positions `only` of the flattened `tokens`
        [rows, n]. Rows are padded on the right."""
        cos, sin = rotary_angles(self.shape, torch.arange(tokens.shape[1], device=tokens.device))
        x = self.token_embd[tokens]
        for block in self.blk[:-1]:
            x = block(x, cos, sin)
        x = self.blk[-1](x, cos, sin, only)
        return rms_norm(x, self.output_norm, self.shape.eps)


def save(path: Path, model: Drafter, optimizers, record: dict) -> None:
    partial = path.with_suffix(".part")
    torch.save(
        {
            "shape": vars(model.shape),
            "weights": model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in optimizers],
            "record": record,
        },
        partial,
    )
    partial.replace(path)


def load(path: Path, shape: Shape) -> dict:
    try:
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
        found = Shape(**checkpoint["shape"])
    except Exception as why:  # torch reports a damaged archive by classes of its own
        raise Refused(f"{path}: not a checkpoint of a drafter ({why})") from why
    if found != shape:
        raise Refused(f"{path}: a checkpoint of another shape: {found}, expected {shape}")
    return checkpoint
