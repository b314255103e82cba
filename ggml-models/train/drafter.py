"""The drafter: a small `llama` model over the target's vocabulary, and its checkpoints."""

from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from gguf_model import Refused, Shape
from target import rms_norm, rotary_angles, rotate

WIDTH, LAYERS, HEADS, FEED_FORWARD = 256, 2, 4, 768


def shape_for(target: Shape) -> Shape:
    return Shape(
        vocab=target.vocab,
        width=WIDTH,
        layers=LAYERS,
        heads=HEADS,
        kv_heads=HEADS,
        feed_forward=FEED_FORWARD,
        rope_base=10_000.0,
        eps=1e-5,
    )


def project(embedding: torch.Tensor, width: int) -> torch.Tensor:
    """The target's embedding on its `width` directions of largest energy (not centred: dot products are what the
    output layer takes), so that tokens that training never shows are not random."""
    energy, directions = torch.linalg.eigh(embedding.double().T @ embedding.double())
    return (embedding.double() @ directions[:, -width:].flip(1)).float()


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

    def forward(self, x, cos, sin):
        shape = self.shape
        rows, n, _ = x.shape
        heads = lambda y: y.view(rows, n, shape.heads, shape.head_dim).transpose(1, 2)
        h = rms_norm(x, self.attn_norm, shape.eps)
        q, k, v = heads(self.attn_q(h)), heads(self.attn_k(h)), heads(self.attn_v(h))
        q, k = rotate(q.float(), cos, sin).to(v.dtype), rotate(k.float(), cos, sin).to(v.dtype)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.attn_output(a.transpose(1, 2).reshape(rows, n, -1))
        h = rms_norm(x, self.ffn_norm, shape.eps)
        return x + self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h))


class Drafter(nn.Module):
    """Input and output share one matrix, [vocab, width]."""

    def __init__(self, shape: Shape, embedding: torch.Tensor):
        super().__init__()
        if embedding.shape != (shape.vocab, shape.width):
            raise Refused(f"embedding is {tuple(embedding.shape)}, expected {(shape.vocab, shape.width)}")
        self.shape = shape
        self.token_embd = nn.Parameter(embedding.clone())
        self.blk = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.output_norm = nn.Parameter(torch.ones(shape.width))

    def forward(self, tokens):
        """Hidden states after the last norm, [rows, n, width]. Rows are padded on the right."""
        cos, sin = rotary_angles(self.shape, torch.arange(tokens.shape[1], device=tokens.device))
        x = self.token_embd[tokens]
        for block in self.blk:
            x = block(x, cos, sin)
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
