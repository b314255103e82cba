//! Several candidates in one batch, on the real target: every node's logits are those that its
//! candidate alone would give, and what is kept is as if it had been decoded alone.

#[allow(dead_code, reason = "other tests need more of it")]
#[path = "support/models.rs"]
mod models;

use std::sync::Arc;

use metasd::align::{Aligner, Proposal};
use metasd::audit::DEFAULT_MAX_GAP;
use metasd::dist::argmax;
use metasd::llama::{ContextParams, KvCache, Model, Outputs};
use metasd::scripted::ScriptedTarget;
use metasd::target::{LlamaTarget, Target};
use metasd::tree::Tree;
use metasd::{ErrorKind, TokenId};

const TEXT: &str = "The keeper of the lighthouse rowed ashore for bread, and then he";

/// Continuations of [`TEXT`] that share beginnings of several lengths, an empty one among them.
const CANDIDATES: [&str; 6] = [
    " went back to the island.",
    " went back home",
    " walked",
    "",
    " went back to the island.",
    "\n\ndef f(x):",
];

fn target(model: &Arc<Model>, sequences: usize, n_ctx: usize) -> LlamaTarget {
    let params = ContextParams {
        n_ctx,
        n_batch: 64,
        max_outputs: 40,
        sequences,
        threads: 1,
    };
    LlamaTarget::new(model.clone(), &params).expect("a context")
}

/// The text but its last token, that token, and the candidates.
fn tokens(model: &Model) -> (Vec<TokenId>, TokenId, Vec<Vec<TokenId>>) {
    let mut text = model.tokenize(TEXT, true, true);
    let last = text.pop().expect("a token");
    let candidates = CANDIDATES.map(|text| model.tokenize(text, false, true));
    (text, last, candidates.to_vec())
}

/// The rows that `last` and then `tokens` give one after another, each decoded alone.
fn rows_alone(target: &mut LlamaTarget, last: TokenId, tokens: &[TokenId]) -> Vec<Vec<f32>> {
    let before = target.len();
    let rows = [&[last], tokens]
        .concat()
        .iter()
        .map(|&token| {
            target.decode(&[token], Outputs::Last).expect("it fits");
            target.logits(0).expect("a row").to_vec()
        })
        .collect();
    target.truncate(before).expect("it can be cut");
    rows
}

/// The total variation distance between the distributions of two rows.
fn distance(a: &[f32], b: &[f32]) -> f32 {
    let mut aligner = Aligner::new(1.0).expect("a temperature");
    aligner.tv(a, Proposal::Logits(b)).expect("finite logits")
}

/// Equal but for the rounding that the number of tokens in a batch makes: the same distribution,
/// and a most probable token that the other row has too, or all but.
#[track_caller]
fn assert_close(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    let distance = distance(found, expected);
    assert!(distance < 0.003, "the distributions differ by {distance}");
    let [a, b] = [found, expected].map(|row| argmax(row).expect("finite logits").index());
    let gap = expected[b] - expected[a];
    assert!(gap < DEFAULT_MAX_GAP, "token {a} lies {gap} below {b}");
}

#[test]
fn the_rows_of_a_tree_are_those_of_each_candidate_alone() {
    let model = models::smollm2("F32");
    let (text, last, candidates) = tokens(&model);
    let mut alone = target(&model, 1, 256);
    let mut together = target(&model, candidates.len() + 1, 256);
    alone.decode(&text, Outputs::None).expect("it fits");
    together.decode(&text, Outputs::None).expect("it fits");
    let tree = Tree::new(last, &candidates);
    let drafted: usize = candidates.iter().map(Vec::len).sum();
    assert!(tree.nodes().len() < drafted, "nothing is shared");

    together.decode_tree(&tree).expect("it fits");
    assert_eq!(together.len(), text.len() + 1);
    for (candidate, tokens) in candidates.iter().enumerate() {
        let expected = rows_alone(&mut alone, last, tokens);
        for (&node, expected) in tree.path(candidate).iter().zip(&expected) {
            assert_close(together.logits(node).expect("a row"), expected);
        }
    }
    // Not by chance: siblings' rows are far apart.
    let [a, b] = [0, 2].map(|candidate| tree.path(candidate)[1]);
    let (a, b) = (together.logits(a), together.logits(b));
    assert!(distance(a.expect("a row"), b.expect("a row")) > 0.3);
}

#[test]
fn what_is_kept_of_a_tree_is_text_and_the_rest_is_gone() {
    let model = models::smollm2("F32");
    let (text, last, candidates) = tokens(&model);
    let next = model.tokenize(" slowly", false, true)[0];
    let mut alone = target(&model, 1, 256);
    alone.decode(&text, Outputs::None).expect("it fits");
    let mut together = target(&model, candidates.len() + 1, 256);
    together.decode(&text, Outputs::None).expect("it fits");
    let tree = Tree::new(last, &candidates);

    // Nothing, the root, a part of a candidate that others share, and a whole one; each after a
    // tree that was dropped, so that old cells would show.
    let kept: [&[TokenId]; 3] = [&[], &candidates[1][..2], &candidates[0]];
    for tokens in kept {
        let node = (tokens.iter()).fold(0, |node, &token| tree.child(node, token).expect("there"));
        together.decode_tree(&tree).expect("it fits");
        together.truncate(text.len()).expect("it can be cut");
        together.decode_tree(&tree).expect("it fits");
        together.keep_path(node).expect("a node");
        assert_eq!(together.len(), text.len() + 1 + tokens.len());
        let written = [&[last], tokens].concat();
        alone.decode(&written, Outputs::None).expect("it fits");
        for target in [&mut alone, &mut together] {
            target.decode(&[next], Outputs::Last).expect("it fits");
        }
        let expected = alone.logits(0).expect("a row");
        assert_close(together.logits(0).expect("a row"), expected);
        // A second tree goes where the first one went.
        let second = Tree::new(last, &candidates[2..]);
        together.decode_tree(&second).expect("it fits");
        let expected = rows_alone(&mut alone, last, &candidates[5]);
        for (&node, expected) in second.path(3).iter().zip(&expected) {
            assert_close(together.logits(node).expect("a row"), expected);
        }
        for target in [&mut alone, &mut together] {
            target.truncate(text.len()).expect("it can be cut");
        }
    }
}

#[test]
fn a_tree_that_cannot_be_decoded_is_refused_and_the_cache_is_as_it_was() {
    let model = models::smollm2("Q4_0");
    let (text, last, candidates) = tokens(&model);
    let tree = Tree::new(last, &candidates);
    let refused = |target: &mut LlamaTarget, tree: &Tree| {
        target.decode(&text, Outputs::None).expect("it fits");
        let error = target.decode_tree(tree).expect_err("refused");
        assert_eq!(target.len(), text.len());
        error
    };
    let single = refused(&mut target(&model, 1, 256), &tree);
    assert!(single.to_string().contains("7 sequences"), "{single}");
    let mut several = target(&model, 7, 256);
    let long = Tree::new(last, [vec![last; 40]]);
    let error = refused(&mut several, &long);
    assert!(error.to_string().contains("41 nodes"), "{error}");
    let error = several.keep_path(0).expect_err("no tree");
    assert!(error.to_string().contains("no tree"), "{error}");
    let mut narrow = target(&model, 7, text.len() + 4);
    let error = refused(&mut narrow, &tree);
    assert_eq!(error.kind(), ErrorKind::ContextOverflow);
    // It still works.
    let small = Tree::new(last, [&candidates[2]]);
    narrow.decode_tree(&small).expect("it fits");
    let error = narrow.keep_path(9).expect_err("no such node");
    assert!(error.to_string().contains("no node 9"), "{error}");
    narrow.keep_path(1).expect("a node");
    assert_eq!(narrow.len(), text.len() + 2);
}

#[test]
fn a_scripted_target_decodes_and_keeps_trees_as_the_real_one_does() {
    // The favourite is the sum of the text's tokens.
    let script = |text: &[TokenId]| {
        let sum: usize = text.iter().map(|token| token.index()).sum();
        (0..10)
            .map(|token| f32::from(u8::from(token == sum % 10)))
            .collect()
    };
    let mut target = ScriptedTarget::new(10, 50, Box::new(script)).with_trees(3, 8);
    let favourite = |target: &ScriptedTarget, row: usize| {
        let row = target.logits(row).expect("a row");
        argmax(row).expect("finite logits").0
    };
    let tokens = |ids: &[i32]| ids.iter().copied().map(TokenId).collect::<Vec<_>>();
    target
        .decode(&tokens(&[1, 2]), Outputs::None)
        .expect("it fits");
    let tree = Tree::new(TokenId(3), [tokens(&[1, 1]), tokens(&[1, 5]), tokens(&[2])]);
    target.decode_tree(&tree).expect("it fits");
    assert_eq!(target.len(), 3);
    let favourites: Vec<i32> = (0..5).map(|row| favourite(&target, row)).collect();
    // The root, 1, 1 1, 1 5 and 2.
    assert_eq!(favourites, [6, 7, 8, 2, 8]);
    target.keep_path(3).expect("a node");
    assert_eq!(target.len(), 5);
    assert!(target.keep_path(3).is_err(), "the tree is gone");
    target
        .decode(&tokens(&[4]), Outputs::Last)
        .expect("it fits");
    assert_eq!(favourite(&target, 0), 6);
    let wide = Tree::new(
        TokenId(3),
        [tokens(&[1]), tokens(&[2]), tokens(&[4]), tokens(&[5])],
    );
    assert!(target.decode_tree(&wide).is_err(), "four candidates");
    target.decode_tree(&tree).expect("it fits");
    target.truncate(6).expect("it can be cut");
    assert!(target.keep_path(0).is_err(), "the tree is gone");
}
