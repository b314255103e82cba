"""The target in PyTorch, from its GGUF file: answers prompts in batches and scores given texts.

Matrices are BF16 where the processor multiplies it (twice as fast as F32 on those with AVX512-BF16 and on GPUs, several
times slower elsewhere), the residual stream and the norms F32. The output matrix is both: BF16 finds the likeliest
tokens, F32 says how likely each of those is, since logits rounded to eight bits would blur every choice between two
close tokens.
"""

import hashlib

import numpy as np
import torch
import torch.nn.functional as F

from gguf_model import Refused, open_gguf, read_shape, read_tokenizer, read_weights

SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"


def rms_norm(x, weight, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def rotary_angles(shape, positions):
    """(cos, sin) of every rotary pair at the given positions: each [..., head_dim / 2]."""
    half = torch.arange(0, shape.head_dim, 2, device=positions.device, dtype=torch.float32)
    angles = positions.float().unsqueeze(-1) * shape.rope_base ** (-half / shape.head_dim)
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    """Rotates interleaved pairs of the last axis."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


def fast_dtype(device) -> torch.dtype:
    """The type that matrices are multiplied in fastest."""
    if torch.device(device).type == "cpu" and not torch.cpu._is_avx512_bf16_supported():
        return torch.float32
    return torch.bfloat16


class Target:
    def __init__(self, path, device="cpu", dtype=None):
        self.path = path
        self.dtype = dtype or fast_dtype(device)
        reader = open_gguf(path)
        self.shape = read_shape(reader, path)
        self.tokenizer = read_tokenizer(reader, path)
        self.device = torch.device(device)
        weights = read_weights(reader)
        norm = lambda name: torch.from_numpy(weights[name]).to(self.device)
        matrix = lambda name: torch.from_numpy(weights[name]).to(self.device, self.dtype)
        self.embedding = norm("token_embd.weight")
        self.output = norm("output.weight") if "output.weight" in weights else self.embedding
        self.output_rounded = self.output.to(self.dtype)
        self.output_norm = norm("output_norm.weight")
        self.blocks = [
            {
                "attn_norm": norm(f"blk.{i}.attn_norm.weight"),
                "ffn_norm": norm(f"blk.{i}.ffn_norm.weight"),
                "qkv": torch.cat([matrix(f"blk.{i}.attn_{part}.weight") for part in "qkv"]),
                "attn_output": matrix(f"blk.{i}.attn_output.weight"),
                "gate_up": torch.cat([matrix(f"blk.{i}.ffn_{part}.weight") for part in ("gate", "up")]),
                "ffn_down": matrix(f"blk.{i}.ffn_down.weight"),
            }
            for i in range(self.shape.layers)
        ]
        # Answers of another model or vocabulary must not slip into a corpus.
        self.fingerprint = hashlib.sha256(
            weights["token_embd.weight"][::97].tobytes() + weights["output_norm.weight"].tobytes()
        ).hexdigest()[:16]
        self.end = self.tokenizer.token_to_id("<|im_end|>")
        if self.end is None:
            raise Refused(f"{path}: the vocabulary has no <|im_end|>; the prompts are written in ChatML")

    def chat(self, prompt: str) -> list[int]:
        """The tokens of one user turn in ChatML, up to where the answer begins."""
        text = (
            f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"
        )
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def new_cache(self, rows: int, columns: int):
        size = (rows, self.shape.kv_heads, columns, self.shape.head_dim)
        return [
            tuple(torch.zeros(size, device=self.device, dtype=self.dtype) for _ in range(2))
            for _ in range(self.shape.layers)
        ]

    def hidden(self, tokens, first, pad, cache):
        """The hidden states after the last norm, [rows, n, width].

        `tokens` [rows, n] stand in the columns first.. of the cache; `pad` [rows] is each row's count of unused
        columns on the left, which no position attends to.
        """
        shape = self.shape
        rows, n = tokens.shape
        last = first + n
        columns = torch.arange(first, last, device=self.device)
        cos, sin = rotary_angles(shape, (columns - pad.unsqueeze(1)).clamp(min=0))
        cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
        keys = torch.arange(last, device=self.device)
        seen = (keys <= columns.unsqueeze(1)) & (keys >= pad.view(-1, 1, 1))
        # A padding column would attend to nothing at all and turn into NaN; let it see itself.
        seen |= keys == columns.unsqueeze(1)
        group = shape.heads // shape.kv_heads
        # One query per head and key group is as well a longer query: no copy of the keys for each head.
        mask = seen.repeat_interleave(group, 1).unsqueeze(1)
        x = self.embedding[tokens]
        for block, (k_cache, v_cache) in zip(self.blocks, cache):
            h = rms_norm(x, block["attn_norm"], shape.eps).to(self.dtype)
            qkv = F.linear(h, block["qkv"]).view(rows, n, -1, shape.head_dim).transpose(1, 2)
            q, k, v = qkv.split((shape.heads, shape.kv_heads, shape.kv_heads), 1)
            q = rotate(q.float(), cos, sin).to(self.dtype)
            k_cache[:, :, first:last] = rotate(k.float(), cos, sin).to(self.dtype)
            v_cache[:, :, first:last] = v
            q = q.view(rows, shape.kv_heads, group, n, shape.head_dim).transpose(2, 3)
            q = q.reshape(rows, shape.kv_heads, n * group, shape.head_dim)
            a = F.scaled_dot_product_attention(q, k_cache[:, :, :last], v_cache[:, :, :last], attn_mask=mask)
            a = a.view(rows, shape.kv_heads, n, group, shape.head_dim).permute(0, 2, 1, 3, 4).reshape(rows, n, -1)
            x = x + F.linear(a, block["attn_output"]).float()
            h = rms_norm(x, block["ffn_norm"], shape.eps).to(self.dtype)
            gate, up = F.linear(h, block["gate_up"]).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, block["ffn_down"]).float()
        return rms_norm(x, self.output_norm, shape.eps)

    def soft_labels(self, hidden, k: int):
        """The k likeliest tokens of each row of `hidden` [rows, width] by falling probability: ids and
        log-probabilities, each [rows, k]. Their logits are exact; the softmax's sum is over rounded ones."""
        rounded = F.linear(hidden.to(self.dtype), self.output_rounded)
        # Rounding may move a token by a few places, not by half as many again.
        ids = rounded.topk(k + k // 2, dim=-1).indices
        exact = torch.einsum("rw,rkw->rk", hidden, self.output[ids])
        top, order = exact.topk(k, dim=-1)
        return ids.gather(1, order), top - rounded.float().logsumexp(-1, keepdim=True)


def read_prompts(target: Target, prompts: list[list[int]], columns: int):
    """Decodes a batch of token lists, padded on the left, into a new cache of `columns`: yields the first column and
    the hidden states [rows, n, width] of one piece after the other, and with them (cache, pad)."""
    longest = max(map(len, prompts))
    pad = torch.tensor([longest - len(p) for p in prompts], device=target.device)
    tokens = torch.tensor([[target.end] * (longest - len(p)) + p for p in prompts], device=target.device)
    cache = target.new_cache(len(prompts), columns)
    # In pieces of columns: the score matrix of all of it would not fit a processor's cache.
    for first in range(0, longest, 64):
        yield first, target.hidden(tokens[:, first : first + 64], first, pad, cache), cache, pad


@torch.inference_mode()
def label(target: Target, texts: list[tuple[list[int], list[int]]], k: int):
    """Soft labels for given answers, texts of (prompt, answer): for each (label ids [answer, k], label
    log-probabilities [answer, k]), by teacher forcing."""
    longest = max(len(prompt) + len(answer) for prompt, answer in texts)
    found = [([], []) for _ in texts]
    for first, hidden, _, _ in read_prompts(target, [prompt + answer for prompt, answer in texts], longest):
        # Row by row, the columns of this piece whose next token belongs to the answer.
        spans = []
        for row, (prompt, answer) in enumerate(texts):
            begin = longest - len(answer) - 1
            begin, end = max(begin - first, 0), min(longest - 1 - first, hidden.shape[1])
            spans += [(row, column) for column in range(begin, end)]
        if not spans:
            continue
        rows, columns = torch.tensor(spans, device=target.device).T
        ids, log_probs = target.soft_labels(hidden[rows, columns], k)
        ids, log_probs = ids.to(torch.int32).cpu().numpy(), log_probs.cpu().numpy()
        for at, (row, _) in enumerate(spans):
            found[row][0].append(ids[at])
            found[row][1].append(log_probs[at])
    return [(np.stack(ids), np.stack(log_probs)) for ids, log_probs in found]


@torch.inference_mode()
def answer(target: Target, prompts: list[list[int]], predict: int, k: int, temperature: float, generator):
    """Answers a batch of prompts: for each (tokens, label ids [n, k], label log-probabilities [n, k]).

    The answers end with the end-of-generation token or after `predict` tokens. Temperature 0 is greedy.
    """
    rows = len(prompts)
    longest = max(map(len, prompts))
    for _, hidden, cache, pad in read_prompts(target, prompts, longest + predict):
        pass
    hidden = hidden[:, -1]
    answers = [([], [], []) for _ in prompts]
    alive = list(range(rows))
    for step in range(predict):
        ids, log_probs = target.soft_labels(hidden, k)
        if temperature == 0:
            chosen = ids[:, 0]
        else:
            # Among the k likeliest: a text for training need not be an exact sample.
            rank = torch.multinomial((log_probs / temperature).softmax(-1), 1, generator=generator)
            chosen = ids.gather(1, rank).squeeze(1)
        # Finished rows go on being computed until a quarter is dead: copying the cache costs more than a few rows.
        for at, row in enumerate(alive):
            if row is None:
                continue
            got = answers[row]
            got[0].append(int(chosen[at]))
            got[1].append(ids[at].to(torch.int32).cpu().numpy())
            got[2].append(log_probs[at].cpu().numpy())
            if got[0][-1] == target.end:
                alive[at] = None
        dead = sum(row is None for row in alive)
        if dead == len(alive) or step + 1 == predict:
            break
        if dead * 4 > len(alive):
            keep = torch.tensor([at for at, row in enumerate(alive) if row is not None], device=target.device)
            alive = [row for row in alive if row is not None]
            pad, chosen = pad[keep], chosen[keep]
            used = longest + step
            smaller = target.new_cache(len(alive), longest + predict)
            for (k_new, v_new), (k_old, v_old) in zip(smaller, cache):
                k_new[:, :, :used] = k_old[keep, :, :used]
                v_new[:, :, :used] = v_old[keep, :, :used]
            cache = smaller
        hidden = target.hidden(chosen.unsqueeze(1), longest + step, pad, cache)[:, -1]
    return answers
