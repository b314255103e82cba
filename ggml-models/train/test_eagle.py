"""What the heads' pipeline refuses and how it resumes, without a model: `make train-check`."""

import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import gguf
import numpy as np
import torch
import torch.nn.functional as F

from corpus import DOMAINS, Answer
from eagle import ROPE_BASE, Head, HeadShape, load_head, save_head, unroll
from eagle_evaluate import right_drafts, rounds_of
from eagle_export import read_head, write_head
from eagle_start import BRINGING, COPYING, begin, draft_vocabulary, settled, take_vocabulary, whiten_again
from eagle_train import Muon, SoftCrossEntropy, Supply, batch_of, candidates, loss_of
from features import LAYERS, Example, plan, read_features, read_layers, write_features
from gguf_model import Refused, Shape

WIDTH, VOCAB = 64, 300
SHAPE = HeadShape(width=WIDTH, layers=3, heads=2, feed_forward=96, draft_vocab=128, rope_base=10_000.0, eps=1e-5)


def a_target():
    torch.manual_seed(0)
    embedding = torch.randn(VOCAB, WIDTH)
    matrix = lambda rows, columns: torch.randn(rows, columns) * columns**-0.5
    block = lambda: {
        "attn_norm": torch.ones(WIDTH),
        "ffn_norm": torch.ones(WIDTH),
        "qkv": matrix(2 * WIDTH, WIDTH),
        "attn_output": matrix(WIDTH, WIDTH),
        "gate_up": matrix(2 * 96, WIDTH),
        "ffn_down": matrix(WIDTH, 96),
    }
    shape = Shape(VOCAB, WIDTH, 4, 2, 1, 96, 10_000.0, 1e-5)
    return SimpleNamespace(
        shape=shape, embedding=embedding, output=embedding, output_norm=torch.ones(WIDTH), device=torch.device("cpu"),
        dtype=torch.float32, blocks=[block() for _ in range(shape.layers)],
    )


def an_example(answer: int, seed: int = 0, domain: str = "qa") -> Example:
    draw = np.random.default_rng(seed)
    first, n = 5, 5 + answer
    return Example(
        domain,
        draw.integers(0, VOCAB, n + 2).astype(np.int64),
        first,
        draw.normal(size=(n, 3, WIDTH)).astype(np.float16),
        draw.normal(size=(n - first, WIDTH)).astype(np.float16),
    )


def a_head() -> Head:
    """One whose parts all matter, so that a wrong index shows."""
    torch.manual_seed(1)
    head = Head(SHAPE)
    head.d2t.copy_(torch.arange(0, 2 * SHAPE.draft_vocab, 2))
    head.output.normal_()
    for weight in (head.attn_output, head.ffn_down):
        torch.nn.init.normal_(weight, std=0.2)
    return head


def places(head: Head) -> torch.Tensor:
    place = torch.full((VOCAB,), -1, dtype=torch.long)
    place[head.d2t] = torch.arange(len(head.d2t))
    return place


always = lambda logits, hard: torch.ones(len(hard), dtype=torch.bool)


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class Refusals(InAFolder):
    def test_features_of_another_target_are_refused(self):
        path = self.folder / "train-0000.npz"
        write_features(path, [an_example(3)], "one")
        with self.assertRaisesRegex(Refused, "another target or vocabulary"):
            read_features(path, "two")

    def test_a_cut_shard_is_refused(self):
        path = self.folder / "train-0000.npz"
        write_features(path, [an_example(3)], "one")
        path.write_bytes(path.read_bytes()[:300])
        with self.assertRaisesRegex(Refused, "not a shard of features"):
            read_features(path, "one")

    def test_a_checkpoint_of_another_shape_is_refused(self):
        path = self.folder / "eagle-base.pt"
        save_head(path, a_head(), [], {"step": 1})
        head, checkpoint = load_head(path, SHAPE)
        self.assertEqual(checkpoint["record"], {"step": 1})
        torch.testing.assert_close(head.fc, a_head().fc)
        with self.assertRaisesRegex(Refused, "another shape"):
            load_head(path, replace(SHAPE, draft_vocab=64))
        path.write_bytes(path.read_bytes()[:1000])
        with self.assertRaisesRegex(Refused, "not a checkpoint"):
            load_head(path, SHAPE)

    def test_training_without_features_is_refused(self):
        with self.assertRaisesRegex(Refused, "no shards of features"):
            Supply([self.folder], DOMAINS, "one", 1, {}).next()


class Features(InAFolder):
    def test_a_shard_gives_back_what_was_written_of_the_domains_asked_for(self):
        path = self.folder / "train-0000.npz"
        wrote = [an_example(3), an_example(6, 1, "code"), an_example(4, 2)]
        write_features(path, wrote, "one")
        self.assertEqual([e.domain for e in read_features(path, "one")], ["qa", "code", "qa"])
        for was, got in zip([wrote[0], wrote[2]], read_features(path, "one", ("qa",)), strict=True):
            self.assertEqual(was.first, got.first)
            for field in ("tokens", "features", "hidden"):
                np.testing.assert_array_equal(getattr(was, field), getattr(got, field))

    def test_features_are_the_inputs_of_layers_and_padding_does_not_matter(self):
        target = a_target()
        tokens = torch.randint(0, VOCAB, (2, 9))
        features, hidden = read_layers(target, tokens, (0, 2, 3))
        torch.testing.assert_close(features[:, :, 0], target.embedding[tokens])
        short, short_hidden = read_layers(target, tokens[:, :6], (0, 2, 3))
        torch.testing.assert_close(features[:, :6], short)
        torch.testing.assert_close(hidden[:, :6], short_hidden)
        # The input of layer 2 is what the first two layers alone leave.
        cut = SimpleNamespace(**{**vars(target), "blocks": target.blocks[:2]})
        _, of_two = read_layers(cut, tokens, (0, 1))
        x = features[:, :, 1]
        torch.testing.assert_close(of_two, x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5))

    def test_no_held_out_answer_is_trained_on_and_none_is_lost(self):
        answers = [Answer(np.array([1, n], np.int32), np.array([2, 3], np.int32), None, None) for n in range(400)]
        planned = dict(plan({domain: [answers[:100], answers[100:]] for domain in DOMAINS}, 1))
        held = {id(a) for _, a in planned.pop("held")}
        shown = [(domain, id(a)) for texts in planned.values() for domain, a in texts]
        self.assertFalse(held & {answer for _, answer in shown})
        self.assertEqual(len(shown), len(set(shown)))
        # The longer source of a domain is as far along as the shorter at any time.
        early = [a for name in list(planned)[:4] for domain, a in planned[name] if domain == "qa"]
        self.assertAlmostEqual(sum(int(a.prompt[1]) < 100 for a in early) / len(early), 0.25, delta=0.05)

    def test_the_least_seen_shards_come_first(self):
        for index in range(6):
            write_features(self.folder / f"train-{index:04}.npz", [an_example(40, index)], "one")
        visits = {}
        supply = Supply([self.folder], DOMAINS, "one", 1, visits)
        for _ in range(2):
            supply.next()
        self.assertEqual(sorted(visits.values()), [1] * 6)


class Unrolling(unittest.TestCase):
    def test_chains_see_what_an_engine_that_drafts_step_by_step_sees(self):
        """Against one pass of the layer for each draft, over the whole text before it."""
        torch.manual_seed(2)
        head, target = a_head(), a_target()
        examples = [an_example(6), an_example(9, 1)]
        batch = batch_of(examples, target, places(head))
        unrolled = [(chains.tolist(), logits) for chains, logits in unroll(head, batch, 4, always)]
        self.assertEqual(len(unrolled), 4)
        for chain, start in enumerate(batch.starts.tolist()):
            begin_, end = next(bound for bound in batch.bounds if bound[0] <= start < bound[1])
            g = list(head.encode(batch.features[begin_ : start + 1]))
            for chains, logits in unrolled:
                at = start + len(g) - (start + 1 - begin_)
                if at >= end:
                    self.assertNotIn(chain, chains)
                    break
                pairs = head.pairs(batch.embedded[begin_ : at + 1], torch.stack(g))
                positions = torch.arange(len(pairs))
                keys, values = head.keys_values(pairs, positions)
                query = head.queries(pairs, positions)[-1:]
                weights = torch.einsum("qhd,khd->hqk", query, keys).softmax(-1)
                attended = torch.einsum("hqk,khd->qhd", weights, values).flatten(1)
                state = head.finish(attended, g[-1].unsqueeze(0))
                torch.testing.assert_close(head.logits(state, head.output)[0], logits[chains.index(chain)], rtol=1e-4, atol=1e-4)
                g.append(state[0])

    def test_a_chain_ends_at_its_first_wrong_draft(self):
        head, target = a_head(), a_target()
        batch = batch_of([an_example(8)], target, places(head))
        only = lambda logits, hard: torch.arange(len(hard)) == 0
        self.assertEqual([chains.tolist() for chains, _ in unroll(head, batch, 3, only)][1:], [[0], [0]])

    def test_a_head_that_knows_the_text_has_all_drafts_accepted(self):
        head, target = a_head(), a_target()
        batch = batch_of([an_example(12)], target, places(head))
        # The text becomes what the head drafts, one token after the other.
        with torch.no_grad():
            for start in range(len(batch.starts)):
                _, logits = next(unroll(head, batch, 1, always))
                at = batch.starts[start]
                batch.hard[at] = logits[start].argmax()
                if at + 1 < len(batch.embedded):
                    batch.embedded[at + 1] = target.embedding[head.d2t[batch.hard[at]]]
        self.assertTrue(all(count >= 1 for count in right_drafts(head, batch, 5)))

    def test_rounds_are_counted_as_an_engine_plays_them(self):
        self.assertEqual(rounds_of([0, 0, 0], 5), 3)
        self.assertEqual(rounds_of([2, 1, 0, 4, 3, 2, 1], 5), 2)
        self.assertEqual(rounds_of([6, 5, 4, 3, 2, 1], 5), 1)


class Training(unittest.TestCase):
    def test_the_loss_falls_and_counts_what_is_right(self):
        head, target = a_head(), a_target()
        batch = batch_of([an_example(30, seed) for seed in range(3)], target, places(head))
        matrices = [p for p in head.parameters() if p.ndim == 2]
        optimizers = [Muon(matrices, 0.02), torch.optim.AdamW([p for p in head.parameters() if p.ndim == 1], 1e-2)]
        losses = []
        for _ in range(8):
            loss, right, made = loss_of(head, batch, 3, torch.Generator().manual_seed(0))
            self.assertEqual(made[0], 90)
            self.assertEqual(right[: len(made) - 1] >= made[1:], True)
            loss.backward()
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()
            losses.append(loss.item())
        self.assertLess(losses[-1], 0.9 * losses[0])

    def test_the_cross_entropy_is_torchs_own(self):
        torch.manual_seed(0)
        logits, goal, weight = torch.randn(5, 7, requires_grad=True), torch.randn(5, 7).softmax(-1), torch.rand(5)
        ours = SoftCrossEntropy.apply(logits, goal, weight)
        theirs = (F.cross_entropy(logits, goal, reduction="none") * weight).sum()
        torch.testing.assert_close(ours, theirs)
        (of_ours,) = torch.autograd.grad(3 * ours, logits)
        (of_theirs,) = torch.autograd.grad(3 * theirs, logits)
        torch.testing.assert_close(of_ours, of_theirs)

    def test_an_update_has_about_the_same_size_in_every_direction(self):
        torch.manual_seed(0)
        weight = torch.nn.Parameter(torch.zeros(40, 24))
        weight.grad = torch.randn(40, 24) @ torch.diag(torch.linspace(3, 0.3, 24))
        Muon([weight], 1.0, decay=0.0).step()
        sizes = torch.linalg.svdvals(weight.detach()) / (40 / 24) ** 0.5
        self.assertTrue(0.5 < sizes.min() and sizes.max() < 1.3, sizes)

    def test_the_vocabulary_is_the_most_frequent_tokens_of_all_domains(self):
        texts = {domain: [Answer(None, np.array([at + 10] * 5 + [7], np.int32), None, None)] for at, domain in enumerate(DOMAINS)}
        self.assertEqual(draft_vocabulary(texts, 6).tolist(), [7, 10, 11, 12, 13, 14])
        # Where the answers hold too few, low ids fill up.
        self.assertEqual(draft_vocabulary(texts, 8).tolist(), [0, 1, 7, 10, 11, 12, 13, 14])

    def test_the_sampled_softmax_is_the_exact_one_on_average(self):
        torch.manual_seed(0)
        logits, hard = torch.randn(8000), torch.tensor([5, -1, 9])
        sums = []
        for seed in range(100):
            chosen, weight, place = candidates(hard, 8000, torch.Generator().manual_seed(seed))
            self.assertEqual(chosen[place[hard[[0, 2]]]].tolist(), [5, 9])
            self.assertEqual(int(place[hard[1]]), -1)
            sums.append((logits[chosen] + weight).exp().sum())
        self.assertAlmostEqual(float(torch.stack(sums).mean() / logits.exp().sum()), 1.0, delta=0.01)

    def test_a_new_head_looks_at_itself_and_at_what_followed_the_same_token_before(self):
        """With features that show the position's token, and a target whose states are all alike."""
        torch.manual_seed(3)
        vocab, width = 2000, 576
        shape = HeadShape(width, 3, 9, 96, vocab, ROPE_BASE, 1e-5)
        # As of a real model: tokens differ in some directions by far more than in others, and have a common part.
        embedding = torch.randn(vocab, width) * torch.logspace(0, -1.5, width)
        embedding[:, -1] += 3
        target = SimpleNamespace(embedding=embedding, output=embedding, output_norm=torch.ones(width))
        examples = []
        for _ in range(40):
            once = torch.randperm(vocab)[:60]
            tokens = torch.cat([once, once, once[:1]])
            features = torch.randn(119, 3, width) * 0.03
            features[:, 0] += embedding[tokens[:119]]
            examples.append(Example("qa", tokens.numpy(), 5, features.half().numpy(), np.ones((114, width), np.float16)))
        head = Head(shape)
        begin(head, target, examples, torch.arange(vocab))
        batch = batch_of(examples[:1], target, torch.arange(vocab))
        with torch.no_grad():
            pairs = head.pairs(batch.embedded, head.encode(batch.features))
            keys, _ = head.keys_values(pairs, batch.positions)
            scores = torch.einsum("qhd,khd->hqk", head.queries(pairs, batch.positions), keys)
        late = batch.positions > batch.positions.unsqueeze(1)
        weights = scores.masked_fill(late, float("-inf")).softmax(-1)
        # The token of pair P stood first at P - 59, in whose pair is the one that came next.
        again = torch.arange(60, 119)
        copying = weights[BRINGING : BRINGING + COPYING, again, again - 59]
        self.assertGreater(float(copying.mean()), 0.5)
        own = weights[:BRINGING].diagonal(dim1=1, dim2=2)[:, 5:]
        self.assertGreater(float(own.mean()), 0.9)

    def test_a_head_that_is_whitened_again_says_the_same(self):
        head, examples = a_head(), [an_example(200, seed) for seed in range(4)]
        features = settled(examples)
        before = head.encode(features)
        whiten_again(head, examples)
        torch.testing.assert_close(head.encode(features), before, rtol=1e-3, atol=1e-3)
        white = F.linear(features, head.whiten)
        spread = (white.T @ white / len(white)).diagonal()
        # What NOISE leaves of 1.
        self.assertTrue(0.8 < spread.min() and spread.max() < 1.0, (spread.min(), spread.max()))
        self.assertFalse(torch.equal(head.whiten, torch.eye(3 * WIDTH)))


class Export(InAFolder):
    def test_a_file_holds_what_the_architecture_asks_for(self):
        head = a_head()
        head.whiten.copy_(torch.eye(3 * WIDTH) + torch.randn(3 * WIDTH, 3 * WIDTH) * 0.05)
        path = self.folder / "eagle-general.gguf"
        target = SimpleNamespace(fields={})
        write_head(path, head, {"step": 1, "seed": 1}, target, a_target().shape, "eagle-general")
        reader = gguf.GGUFReader(path)
        self.assertEqual(reader.get_field("general.architecture").contents(), "eagle3")
        self.assertEqual(reader.get_field("eagle3.target_layers").contents(), list(LAYERS))
        self.assertEqual(reader.get_field("eagle3.target_hidden_size").contents(), WIDTH)
        tensors = {tensor.name: tensor for tensor in reader.tensors}
        self.assertEqual(tensors["d2t"].tensor_type, gguf.GGMLQuantizationType.I64)
        self.assertEqual(tensors["d2t"].data.tolist(), head.d2t.tolist())
        self.assertEqual(tensors["fc.weight"].shape.tolist(), [3 * WIDTH, WIDTH])
        self.assertEqual(tensors["blk.0.attn_q.weight"].shape.tolist(), [2 * WIDTH, WIDTH])
        fc = gguf.quants.dequantize(tensors["fc.weight"].data, tensors["fc.weight"].tensor_type)
        again = read_head(path, SHAPE)
        example = an_example(20)
        with torch.no_grad():
            both = [next(unroll(h, batch_of([example], a_target(), places(h)), 1, always))[1] for h in (head, again)]
        self.assertLess(float((both[0] - both[1]).std() / both[0].std()), 0.1)
        with self.assertRaisesRegex(Refused, "missing or of another shape"):
            read_head(path, replace(SHAPE, feed_forward=128))
        np.testing.assert_allclose(fc, (head.fc @ head.whiten).detach().numpy(), atol=0.02)


if __name__ == "__main__":
    unittest.main()
