"""Prompts and answered prompts on disk.

Prompts: `DOMAIN.jsonl`, a line `{"prompt": "..."}` each.
Answers: `DOMAIN-NNNN.npz`, a shard of answered prompts with soft labels, and, from elsewhere, `DOMAIN.jsonl.gz` with
`prompt` and `tokens` (ids of the target's vocabulary) a line, which gives hard labels only.
"""

import gzip
import hashlib
import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gguf_model import Refused

DOMAINS = ("code", "math", "qa", "summarization", "translation")


@dataclass
class Answer:
    """One answered prompt. `label_ids` and `label_log_probs` are [answer, k], or None where only the text is known."""

    prompt: np.ndarray
    answer: np.ndarray
    label_ids: np.ndarray | None
    label_log_probs: np.ndarray | None


def read_prompts(path: Path) -> list[str]:
    prompts = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as why:
                raise Refused(f"{path}:{number}: not JSON ({why})") from why
            if not isinstance(row, dict) or not isinstance(row.get("prompt"), str) or not row["prompt"].strip():
                raise Refused(f'{path}:{number}: expected an object with a text in "prompt"')
            prompts.append(row["prompt"])
    return prompts


def held_out(prompt_tokens) -> bool:
    """One answer in thirty is kept for the held-out loss: chosen by its prompt, so that a second answer to the same
    prompt never lands on the other side."""
    return hashlib.sha256(np.asarray(prompt_tokens, np.int32).tobytes()).digest()[0] % 30 == 0


def write_shard(path: Path, answers: list[Answer], fingerprint: str) -> None:
    """Writes a shard under its name only when it is complete, so that an interrupted run leaves none in halves."""
    partial = path.with_suffix(".part")
    with open(partial, "wb") as file:
        np.savez(
            file,
            fingerprint=np.array(fingerprint),
            prompt_lengths=np.array([len(a.prompt) for a in answers], np.int32),
            answer_lengths=np.array([len(a.answer) for a in answers], np.int32),
            prompts=np.concatenate([a.prompt for a in answers]).astype(np.uint16),
            answers=np.concatenate([a.answer for a in answers]).astype(np.uint16),
            label_ids=np.concatenate([a.label_ids for a in answers]).astype(np.uint16),
            label_log_probs=np.concatenate([a.label_log_probs for a in answers]).astype(np.float16),
        )
    os.replace(partial, path)


def read_shard(path: Path, fingerprint: str) -> list[Answer]:
    try:
        shard = np.load(path)
        found = str(shard["fingerprint"])
        columns = {name: shard[name] for name in shard.files}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as why:
        raise Refused(f"{path}: not a shard of answers ({why}); remove it and run `make train-teacher` again") from why
    if found != fingerprint:
        raise Refused(f"{path}: answered by another target or vocabulary ({found}, expected {fingerprint})")
    answers, p, a = [], 0, 0
    for prompt, answer in zip(columns["prompt_lengths"], columns["answer_lengths"]):
        answers.append(
            Answer(
                columns["prompts"][p : p + prompt].astype(np.int32),
                columns["answers"][a : a + answer].astype(np.int32),
                columns["label_ids"][a : a + answer].astype(np.int32),
                columns["label_log_probs"][a : a + answer].astype(np.float32),
            )
        )
        p, a = p + prompt, a + answer
    return answers


def read_texts(path: Path, chat, vocab: int) -> list[Answer]:
    """Answers without soft labels; `chat` turns a prompt into the tokens before the answer."""
    answers = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            row = json.loads(line)
            if not isinstance(row.get("prompt"), str) or not isinstance(row.get("tokens"), list) or not row["tokens"]:
                raise Refused(f'{path}:{number}: expected "prompt" and "tokens"')
            tokens = np.array(row["tokens"], np.int32)
            if tokens.min() < 0 or tokens.max() >= vocab:
                raise Refused(f"{path}:{number}: a token outside the target's vocabulary of {vocab}")
            answers.append(Answer(np.array(chat(row["prompt"]), np.int32), tokens, None, None))
    return answers
