"""A `llama` model in a GGUF file: its numbers, its weights, its tokenizer, read with the `gguf` package.

Everything here keeps GGUF's own layout (rotary pairs interleaved), so that nothing is permuted on the way in or out.
"""

from dataclasses import dataclass

import gguf
import numpy as np
import tokenizers
from tokenizers import decoders, models, pre_tokenizers


class Refused(Exception):
    """The input cannot be used; the message names the file and what would be right."""


@dataclass(frozen=True)
class Shape:
    """The sizes of a `llama` model."""

    vocab: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    feed_forward: int
    rope_base: float
    eps: float

    @property
    def head_dim(self) -> int:
        return self.width // self.heads


def open_gguf(path) -> gguf.GGUFReader:
    try:
        return gguf.GGUFReader(path)
    except (OSError, ValueError) as why:
        raise Refused(f"{path}: not a readable GGUF file ({why})") from why


def field(reader: gguf.GGUFReader, path, name: str, default=None):
    found = reader.get_field(name)
    if found is None:
        if default is None:
            raise Refused(f"{path}: the field {name} is missing")
        return default
    return found.contents()


def read_shape(reader: gguf.GGUFReader, path) -> Shape:
    architecture = field(reader, path, "general.architecture")
    if architecture != "llama":
        raise Refused(f"{path}: architecture is {architecture!r}; these scripts know 'llama' only")
    heads = field(reader, path, "llama.attention.head_count")
    return Shape(
        vocab=len(field(reader, path, "tokenizer.ggml.tokens")),
        width=field(reader, path, "llama.embedding_length"),
        layers=field(reader, path, "llama.block_count"),
        heads=heads,
        kv_heads=field(reader, path, "llama.attention.head_count_kv", heads),
        feed_forward=field(reader, path, "llama.feed_forward_length"),
        rope_base=field(reader, path, "llama.rope.freq_base", 10000.0),
        eps=field(reader, path, "llama.attention.layer_norm_rms_epsilon"),
    )


def read_weights(reader: gguf.GGUFReader) -> dict[str, np.ndarray]:
    """Every tensor in F32, in the order [rows, columns] that a linear layer multiplies with."""
    return {
        tensor.name: np.ascontiguousarray(gguf.quants.dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)
        for tensor in reader.tensors
    }


def read_tokenizer(reader: gguf.GGUFReader, path) -> tokenizers.Tokenizer:
    """The byte-level BPE tokenizer of the file (pre-tokenizer `smollm`: every digit by itself)."""
    pre = field(reader, path, "tokenizer.ggml.pre")
    if pre != "smollm":
        raise Refused(f"{path}: pre-tokenizer is {pre!r}; these scripts know 'smollm' only")
    tokens = field(reader, path, "tokenizer.ggml.tokens")
    kinds = field(reader, path, "tokenizer.ggml.token_type")
    merges = [tuple(merge.split(" ", 1)) for merge in field(reader, path, "tokenizer.ggml.merges")]
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    control = gguf.TokenType.CONTROL
    tokenizer.add_special_tokens([token for token, kind in zip(tokens, kinds) if kind == control])
    return tokenizer
