"""What the pipeline refuses and how it resumes, without a model: `make train-check`."""

import gzip
import json
import random
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import gguf
import numpy as np
import torch
import torch.nn.functional as F

from composed import COMPOSED
from corpus import DOMAINS, Answer, read_prompts, read_shard, read_texts, write_shard
from drafter import ROPE_BASE, SPREAD, Drafter, load, project, save
from evaluate import acceptance
from export import quantize_q4_0
from gguf_model import Refused, Shape, open_gguf
from teacher import check_prompts
from train import SOFT, batches, candidates, loss_of, read_corpus, tensors

SHAPE = Shape(vocab=4096, width=64, layers=2, heads=2, kv_heads=2, feed_forward=96, rope_base=10_000.0, eps=1e-5)


def an_answer(length: int, seed: int = 0) -> Answer:
    draw = np.random.default_rng(seed)
    ids = np.stack([draw.choice(4096, 16, replace=False) for _ in range(length)]).astype(np.int32)
    log_probs = np.log(np.sort(draw.dirichlet(np.ones(16), length))[:, ::-1]).astype(np.float32)
    return Answer(draw.integers(0, 4096, 7).astype(np.int32), ids[:, 0].copy(), ids, log_probs)


def new_drafter() -> Drafter:
    return Drafter(SHAPE, torch.randn(SHAPE.vocab, SHAPE.width) * 0.1, torch.ones(SHAPE.width))


class Refusals(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_a_prompt_file_without_the_field_is_refused_with_its_line(self):
        path = self.folder / "qa.jsonl"
        for line in ('{"text": "x"}', '{"prompt": 3}', '{"prompt": " "}', "[]", "nonsense"):
            path.write_text(f'{{"prompt": "fine"}}\n{line}\n')
            with self.assertRaisesRegex(Refused, r"qa\.jsonl:2: "):
                read_prompts(path)

    def test_answers_of_another_teacher_are_refused(self):
        path = self.folder / "qa-0000.npz"
        write_shard(path, [an_answer(3)], "one")
        with self.assertRaisesRegex(Refused, "another target or vocabulary"):
            read_shard(path, "two")

    def test_a_token_outside_the_vocabulary_is_refused(self):
        path = self.folder / "qa.jsonl.gz"
        with gzip.open(path, "wt") as file:
            file.write(json.dumps({"prompt": "p", "tokens": [1, 9999]}) + "\n")
        with self.assertRaisesRegex(Refused, r":1: a token outside the target's vocabulary of 4096"):
            read_texts(path, lambda prompt: [1], 4096)

    def test_a_cut_shard_is_refused(self):
        path = self.folder / "qa-0000.npz"
        write_shard(path, [an_answer(3)], "one")
        path.write_bytes(path.read_bytes()[:200])
        with self.assertRaisesRegex(Refused, "not a shard"):
            read_shard(path, "one")

    def test_a_finished_shard_of_other_prompts_is_refused(self):
        path = self.folder / "qa-0000.npz"
        answers = [an_answer(3), an_answer(5, 1)]
        write_shard(path, answers, "one")
        prompts = [answer.prompt.tolist() for answer in answers]
        check_prompts(path, prompts, "one")
        check_prompts(path, [(prompt, [7]) for prompt in prompts], "one")
        with self.assertRaisesRegex(Refused, "answers to other prompts"):
            check_prompts(path, [prompts[0], [1, 2]], "one")

    def test_too_few_answers_to_hold_any_out_are_refused(self):
        target = SimpleNamespace(fingerprint="one")
        with self.assertRaisesRegex(Refused, "no answers for code; the teacher stage"):
            read_corpus(target, [self.folder], [])
        for domain in DOMAINS:
            write_shard(self.folder / f"{domain}-0000.npz", [an_answer(3)], "one")
        with self.assertRaisesRegex(Refused, "5 answers are too few"):
            read_corpus(target, [self.folder], [])

    def test_a_checkpoint_of_another_shape_is_refused(self):
        path = self.folder / "base.pt"
        save(path, new_drafter(), [], {"step": 1})
        self.assertEqual(load(path, SHAPE)["record"], {"step": 1})
        with self.assertRaisesRegex(Refused, "another shape"):
            load(path, replace(SHAPE, layers=3))
        path.write_bytes(path.read_bytes()[:1000])
        with self.assertRaisesRegex(Refused, "not a checkpoint"):
            load(path, SHAPE)

    def test_a_file_that_is_no_gguf_is_refused(self):
        path = self.folder / "x.gguf"
        path.write_bytes(b"nothing of the kind" * 10)
        with self.assertRaisesRegex(Refused, "not a readable GGUF"):
            open_gguf(path)


class Pieces(unittest.TestCase):
    def test_a_shard_gives_back_what_was_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "qa-0000.npz"
            wrote = [an_answer(3), an_answer(5, 1)]
            write_shard(path, wrote, "one")
            for was, got in zip(wrote, read_shard(path, "one"), strict=True):
                for field in ("prompt", "answer", "label_ids"):
                    np.testing.assert_array_equal(getattr(was, field), getattr(got, field))
                np.testing.assert_allclose(was.label_log_probs, got.label_log_probs, rtol=2e-3)

    def test_a_pass_shows_every_answer_once(self):
        answers = [an_answer(4 + seed % 9, seed) for seed in range(300)]
        shown, supply = [], batches(answers, random.Random(1))
        while len(shown) < len(answers):
            shown += map(id, next(supply))
        self.assertEqual(sorted(shown), sorted(map(id, answers)))

    def test_the_sampled_softmax_is_the_exact_one_on_average(self):
        torch.manual_seed(0)
        logits = torch.randn(4096)
        hard, ids = torch.tensor([5, 9]), torch.arange(2 * SOFT).view(2, SOFT)
        sums = []
        for seed in range(200):
            chosen, weight, place = candidates(hard, ids, 4096, torch.Generator().manual_seed(seed))
            self.assertTrue((chosen[place[hard]] == hard).all())
            sums.append((logits[chosen] + weight).exp().sum())
        self.assertAlmostEqual(float(torch.stack(sums).mean() / logits.exp().sum()), 1.0, delta=0.01)

    def test_the_loss_of_an_unmoved_model_falls_after_a_step(self):
        torch.manual_seed(0)
        model = new_drafter()
        batch = [an_answer(20, seed) for seed in range(4)]
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        losses = []
        for _ in range(5):
            loss, count = loss_of(model, batch, torch.Generator().manual_seed(0), torch.device("cpu"))
            self.assertEqual(count, 80)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        self.assertLess(losses[-1], losses[0])

    def test_positions_point_at_the_token_before_the_answer(self):
        batch = [an_answer(3, 2), an_answer(6, 3)]
        tokens, where, hard, _, probabilities = tensors(batch)
        flat = tokens.flatten()
        self.assertEqual(flat[where[0]], batch[0].prompt[-1])
        self.assertEqual(flat[where[1]], batch[0].answer[0])
        self.assertEqual(flat[where[3]], batch[1].prompt[-1])
        self.assertTrue(torch.allclose(probabilities.sum(1), torch.ones(len(hard))))

    def test_the_projection_keeps_what_tells_tokens_apart_at_one_spread_and_adds_a_constant(self):
        torch.manual_seed(0)
        embedding = 5 + torch.randn(500, 32) * torch.linspace(3, 0.01, 32)
        small, gain = project(embedding, 17)
        self.assertEqual(small.shape, (500, 17))
        self.assertEqual(len(small[:, -1].unique()), 1)
        self.assertEqual(float(gain[-1]), 0)
        self.assertTrue((small[:, :-1].std(0) / SPREAD - 1).abs().max() < 0.3)
        # Weighed by the spread that was taken out, distances between tokens are as before.
        weighed = small[:, :-1] * (gain / gain.max())[:-1]
        near = lambda rows: torch.cdist(rows, rows).flatten()
        self.assertGreater(float(torch.corrcoef(torch.stack([near(weighed), near(embedding)]))[0, 1]), 0.98)

    def test_a_new_drafter_attends_to_what_followed_the_same_token_before(self):
        torch.manual_seed(0)
        shape = replace(SHAPE, width=256, heads=4, kv_heads=4, rope_base=ROPE_BASE)
        model = Drafter(shape, *project(torch.randn(shape.vocab, 300), shape.width))
        once = torch.randperm(shape.vocab)[:60]
        twice = torch.cat([once, once]).unsqueeze(0)
        seen = torch.arange(60, 119)
        best = F.linear(model(twice, seen), model.token_embd).topk(2).indices
        # The token itself is the likeliest to begin with, since input and output share a matrix.
        followed = (best == twice[0, 61:].unsqueeze(1)).any(1).float().mean()
        self.assertGreater(float(followed), 0.9)

    def test_positions_left_out_do_not_change_the_others(self):
        torch.manual_seed(0)
        model = new_drafter()
        for block in model.blk:
            torch.nn.init.normal_(block.attn_output.weight, std=0.1)
        tokens = torch.randint(0, SHAPE.vocab, (3, 10))
        some = torch.tensor([4, 9, 17, 29])
        torch.testing.assert_close(model(tokens, some), model(tokens, torch.arange(30))[some])

    def test_rounds_are_counted_as_an_engine_plays_them(self):
        self.assertEqual(acceptance([], 5), (0, 0))
        self.assertEqual(acceptance([False] * 4, 5), (4, 4))
        # Two accepted and the target's own; five accepted, the most, and its own; one that ends the text.
        self.assertEqual(acceptance([True, True, False] + [True] * 6 + [True], 5), (3, 10))

    def test_prompts_are_composed_alike_every_time(self):
        for domain, composer in COMPOSED.items():
            made = composer.prompts(1, 50)
            self.assertEqual(len(set(made)), 50, domain)
            self.assertEqual(made, composer.prompts(1, 50), domain)
            self.assertNotEqual(made, composer.prompts(2, 50), domain)

    def test_q4_0_reads_back_closer_than_the_plain_rule(self):
        rows = np.random.default_rng(0).normal(size=(64, 256)).astype(np.float32)
        kind = gguf.GGMLQuantizationType.Q4_0
        error = lambda packed: float(((gguf.quants.dequantize(packed, kind) - rows) ** 2).mean())
        self.assertLess(error(quantize_q4_0(rows)), error(gguf.quants.quantize(rows, kind)))


if __name__ == "__main__":
    unittest.main()
