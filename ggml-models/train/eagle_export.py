#!/usr/bin/env python3
"""Stage 4 of a head: a checkpoint becomes a GGUF file of architecture `eagle3`, with the target's tokenizer in it.

The token embeddings are not in it: llama.cpp takes the target's. Matrices are Q8_0, the output matrix Q5_0: it is most of
the file and of the work. `target_layers` names the layers whose inputs make a feature; `d2t` holds the target's token of
each draft token (I64, absolute).
"""

import argparse
import sys
from pathlib import Path

import gguf
import numpy as np
import torch

from eagle import Head, HeadShape, head_shape, load_head
from export import copy_tokenizer
from features import LAYERS
from gguf_model import Refused, Shape, open_gguf, read_shape

MATRIX, OUTPUT = gguf.GGMLQuantizationType.Q8_0, gguf.GGMLQuantizationType.Q5_0
# Where the names of a checkpoint and of the architecture differ, or have a block's number.
OUTSIDE = ("fc", "output_norm", "output")


def write_head(path: Path, head: Head, record: dict, target: gguf.GGUFReader, target_shape: Shape, name: str) -> None:
    partial = path.with_suffix(".part")
    shape = head.shape
    writer = gguf.GGUFWriter(partial, "eagle3")
    writer.add_name(f"metasd {name} head for SmolLM2-135M-Instruct")
    writer.add_description(f"step {record['step']}, seed {record['seed']}; see ggml-models/CARD.md")
    writer.add_license("apache-2.0")
    writer.add_context_length(2048)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.heads)
    writer.add_rope_freq_base(shape.rope_base)
    writer.add_rope_dimension_count(shape.head_dim)
    writer.add_layer_norm_rms_eps(shape.eps)
    writer.add_vocab_size(target_shape.vocab)
    writer.add_array("eagle3.target_layers", list(LAYERS))
    writer.add_uint32("eagle3.target_hidden_size", target_shape.width)
    writer.add_bool("eagle3.norm_before_residual", False)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    copy_tokenizer(target, writer)
    for tensor, values in [*head.named_parameters(), ("output", head.output)]:
        values = values.detach().float().numpy()
        if tensor == "fc":
            values = values @ head.whiten.numpy()
        if not np.isfinite(values).all():
            raise Refused(f"{path}: {tensor} holds a value that is not finite")
        named = f"{tensor}.weight" if tensor in OUTSIDE else f"blk.0.{tensor}.weight"
        if values.ndim == 1:
            writer.add_tensor(named, values)
        else:
            kind = OUTPUT if tensor == "output" else MATRIX
            writer.add_tensor(named, gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.add_tensor("d2t", head.d2t.numpy().astype(np.int64))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    partial.replace(path)


def read_head(path: Path, shape: HeadShape) -> Head:
    """The head in a file written here, its weights rounded as they are there."""
    head = Head(shape)
    tensors = {tensor.name: tensor for tensor in open_gguf(path).tensors}
    with torch.no_grad():
        for name, weight in [*head.named_parameters(), ("output", head.output)]:
            named = f"{name}.weight" if name in OUTSIDE else f"blk.0.{name}.weight"
            found = tensors.get(named)
            if found is None or found.shape.tolist()[::-1] != list(weight.shape):
                raise Refused(f"{path}: {named} is missing or of another shape than {list(weight.shape)}")
            values = gguf.quants.dequantize(found.data, found.tensor_type)
            weight.copy_(torch.from_numpy(np.array(values, np.float32)))
        if "d2t" not in tensors:
            raise Refused(f"{path}: d2t is missing")
        head.d2t.copy_(torch.from_numpy(np.array(tensors["d2t"].data)))
    return head


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--target", required=True, help="GGUF file of the target")
    parser.add_argument("--checkpoints", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    target = open_gguf(options.target)
    target_shape = read_shape(target, options.target)
    shape = head_shape(target_shape, len(LAYERS))
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.names:
        source = options.checkpoints / f"eagle-{name}.pt"
        if not source.exists():
            raise Refused(f"{source}: not there; train `{name}` first")
        head, checkpoint = load_head(source, shape)
        out = options.out / f"eagle-{name}.gguf"
        write_head(out, head, checkpoint["record"], target, target_shape, f"eagle-{name}")
        print(f"{out}: {out.stat().st_size:,} bytes")


if __name__ == "__main__":
    try:
        main()
    except Refused as why:
        sys.exit(f"error: {why}")
