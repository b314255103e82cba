#!/usr/bin/env python3
"""Stage 4: a checkpoint becomes a GGUF file that plain llama.cpp loads, with the target's tokenizer in it.

The shared input and output matrix is Q4_0 (it is most of the file and most of the work), the layers Q8_0.
"""

import argparse
import sys
from pathlib import Path

import gguf
import numpy as np

from drafter import load, shape_for
from gguf_model import Refused, open_gguf, read_shape

MATRIX = gguf.GGMLQuantizationType.Q4_0
LAYER = gguf.GGMLQuantizationType.Q8_0


def quantize_q4_0(rows: np.ndarray) -> np.ndarray:
    """Q4_0 blocks (32 values, an F16 scale d, 16 bytes) with the d of least squared error among some near the usual
    one, -max/8: a smaller step pays for the one value that it clips."""
    blocks = rows.reshape(-1, 32)
    extreme = np.take_along_axis(blocks, np.abs(blocks).argmax(1)[:, None], 1)
    best_error = np.full((len(blocks), 1), np.inf, np.float32)
    best_d, best_q = np.zeros_like(extreme), np.zeros_like(blocks)
    for divisor in np.arange(-9.0, -5.9, 0.25, dtype=np.float32):
        d = (extreme / divisor).astype(np.float16).astype(np.float32)
        inverse = np.divide(1, d, out=np.zeros_like(d), where=d != 0)
        q = np.clip(np.rint(blocks * inverse), -8, 7)
        error = ((q * d - blocks) ** 2).sum(1, keepdims=True)
        better = error < best_error
        best_error = np.where(better, error, best_error)
        best_d, best_q = np.where(better, d, best_d), np.where(better, q, best_q)
    nibbles = (best_q + 8).astype(np.uint8)
    packed = nibbles[:, :16] | (nibbles[:, 16:] << 4)
    scale = best_d.astype(np.float16).view(np.uint8).reshape(-1, 2)
    return np.concatenate([scale, packed], 1).reshape(rows.shape[0], -1)


def copy_tokenizer(reader: gguf.GGUFReader, writer: gguf.GGUFWriter) -> None:
    for name, found in reader.fields.items():
        if not name.startswith("tokenizer."):
            continue
        kind = found.types[0]
        inner = found.types[1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(name, found.contents(), kind, sub_type=inner)


def write_gguf(path: Path, checkpoint: dict, shape, target: gguf.GGUFReader, name: str) -> None:
    partial = path.with_suffix(".part")
    writer = gguf.GGUFWriter(partial, "llama")
    record = checkpoint["record"]
    writer.add_name(f"metasd drafter {name} for SmolLM2-135M-Instruct")
    writer.add_description(f"step {record['step']}, seed {record['seed']}; see ggml-models/CARD.md")
    writer.add_license("apache-2.0")
    writer.add_context_length(2048)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_rope_freq_base(shape.rope_base)
    writer.add_rope_dimension_count(shape.head_dim)
    writer.add_layer_norm_rms_eps(shape.eps)
    writer.add_vocab_size(shape.vocab)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)
    copy_tokenizer(target, writer)
    for tensor, values in checkpoint["weights"].items():
        values = values.float().numpy()
        if not np.isfinite(values).all():
            raise Refused(f"{path}: {tensor} holds a value that is not finite")
        tensor = tensor if tensor.endswith(".weight") else f"{tensor}.weight"
        if values.ndim == 1:
            writer.add_tensor(tensor, values)
        elif tensor == "token_embd.weight":
            writer.add_tensor(tensor, quantize_q4_0(values), raw_dtype=MATRIX)
        else:
            writer.add_tensor(tensor, gguf.quants.quantize(values, LAYER), raw_dtype=LAYER)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    partial.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--target", required=True, help="GGUF file of the target")
    parser.add_argument("--checkpoints", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    target = open_gguf(options.target)
    shape = shape_for(read_shape(target, options.target))
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.names:
        source = options.checkpoints / f"{name}.pt"
        if not source.exists():
            raise Refused(f"{source}: not there; train `{name}` first")
        out = options.out / f"{name}.gguf"
        write_gguf(out, load(source, shape), shape, target, name)
        print(f"{out}: {out.stat().st_size:,} bytes")


if __name__ == "__main__":
    try:
        main()
    except Refused as why:
        sys.exit(f"error: {why}")
