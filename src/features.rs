//! A target's hidden features, kept for the white-box drafters that read them.
//!
//! They are by-products of the target's own decodes: what goes into a few chosen layers at every
//! position of a prompt batch or a verification batch. One store serves all heads of a session.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::error::{Error, ErrorKind, Result};
use crate::llama::Model;

/// The most bytes of features that a store keeps. Past it the oldest positions go.
const MAX_BYTES: usize = 64 << 20;

/// Positions that are kept whatever they take: more than a round can need.
const MIN_POSITIONS: usize = 64;

/// The features of the newest committed positions, in 32-bit floats.
///
/// A position is a token's place in the committed history, as in every KV cache of the session. Of
/// each position it keeps one row: for each layer that was asked for, in ascending order, `width`
/// numbers. It holds positions `start()..end()`, where `end()` is the target's cache length.
///
/// It keeps as many positions as the target's context has, or as fit 64 MiB where that is less:
/// `positions × layers × width × 4` bytes, which are taken as the text grows.
#[derive(Debug)]
pub struct FeatureStore {
    width: usize,
    n_ctx: usize,
    /// Ascending.
    layers: Vec<u32>,
    start: usize,
    end: usize,
    /// Positions before this one were decoded before all layers were asked for.
    since: Since,
    /// Rows by position modulo the capacity.
    rows: Vec<f32>,
    branches: Option<Branches>,
}

/// From which position on the features of all layers that are asked for have been recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    /// From the one that is recorded next.
    Next,
    /// From this one.
    Position(usize),
}

/// The features of a tree's nodes, of which some may become part of the text.
#[derive(Debug)]
struct Branches {
    /// The root's position.
    position: usize,
    /// The node before each node, `None` for the root.
    parents: Vec<Option<usize>>,
    /// A row for each node.
    rows: Vec<f32>,
}

impl FeatureStore {
    /// An empty store for a target of hidden width `width` with a context of `n_ctx` tokens.
    pub fn new(width: usize, n_ctx: usize) -> Self {
        Self {
            width,
            n_ctx,
            layers: Vec::new(),
            start: 0,
            end: 0,
            since: Since::Next,
            rows: Vec::new(),
            branches: None,
        }
    }

    /// Asks for the inputs of `layers` too. Where that adds any, what was kept is forgotten: it
    /// lacks them.
    pub fn require(&mut self, layers: &[u32]) {
        let before = self.layers.len();
        self.layers.extend_from_slice(layers);
        self.layers.sort_unstable();
        self.layers.dedup();
        if self.layers.len() > before {
            self.rows.clear();
            self.branches = None;
            self.start = self.end;
            self.since = Since::Next;
        }
    }

    /// The layers that are asked for, ascending; none as long as nobody reads features.
    pub fn layers(&self) -> &[u32] {
        &self.layers
    }

    /// The first position whose features are kept.
    pub fn start(&self) -> usize {
        self.start
    }

    /// The position after the last one whose features are kept.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Positions that are kept at most.
    pub fn capacity(&self) -> usize {
        let bytes = self.row_len().max(1) * size_of::<f32>();
        (MAX_BYTES / bytes)
            .max(MIN_POSITIONS)
            .min(self.n_ctx)
            .max(1)
    }

    /// Bytes that are taken.
    pub fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<f32>()
    }

    fn row_len(&self) -> usize {
        self.layers.len() * self.width
    }

    /// Records the positions from `position` on: `inputs` has for each layer that is asked for
    /// `width` numbers a position. What was kept from `position` on is replaced; what lies before
    /// a gap is forgotten.
    ///
    /// # Panics
    /// If `inputs` has not a slice of one length for each layer, a whole number of positions long.
    pub fn append(&mut self, position: usize, inputs: &[&[f32]]) {
        let count = self.positions_of(inputs);
        if count == 0 {
            return;
        }
        self.branches = None;
        self.make_end(position);
        let kept = count.min(self.capacity());
        for i in count - kept..count {
            let slot = self.slot(position + i);
            for (layer, input) in inputs.iter().enumerate() {
                self.rows[slot + layer * self.width..][..self.width]
                    .copy_from_slice(&input[i * self.width..][..self.width]);
            }
        }
        self.end = position + count;
        self.start = self.start.max(self.end.saturating_sub(self.capacity()));
    }

    /// Records the root of a tree at `position`, and holds the other nodes until the text goes on:
    /// [`Self::keep`] may make some of them part of it. `inputs` is as in [`Self::append`], with a
    /// node where that has a position; `parents` names the node before each.
    ///
    /// # Panics
    /// As [`Self::append`], and if there is not a parent (or `None`) for each node.
    pub fn append_tree(
        &mut self,
        position: usize,
        parents: impl IntoIterator<Item = Option<usize>>,
        inputs: &[&[f32]],
    ) {
        let parents: Vec<_> = parents.into_iter().collect();
        let count = self.positions_of(inputs);
        assert_eq!(parents.len(), count, "a node has a parent or is the root");
        let mut rows = Vec::with_capacity(count * self.row_len());
        for node in 0..count {
            for input in inputs {
                rows.extend_from_slice(&input[node * self.width..][..self.width]);
            }
        }
        let root: Vec<&[f32]> = inputs.iter().map(|input| &input[..self.width]).collect();
        self.append(position, &root);
        self.branches = Some(Branches {
            position,
            parents,
            rows,
        });
    }

    /// Records of the tree appended last the nodes from its root to `node`, as if they had been
    /// appended as a text, and drops the rest. Does nothing when the store has changed since.
    pub fn keep(&mut self, node: usize) {
        let Some(branches) = self.branches.take() else {
            return;
        };
        let parent = |&node: &usize| branches.parents.get(node).copied().flatten();
        let mut path: Vec<usize> = std::iter::successors(Some(node), parent).collect();
        path.reverse();
        let (width, row_len) = (self.width, self.row_len());
        for (depth, node) in path.into_iter().enumerate().skip(1) {
            let Some(row) = branches.rows.get(node * row_len..(node + 1) * row_len) else {
                return;
            };
            let inputs: Vec<&[f32]> = row.chunks_exact(width).collect();
            self.append(branches.position + depth, &inputs);
        }
    }

    /// Forgets every position at `len` and after.
    pub fn truncate(&mut self, len: usize) {
        self.branches = None;
        self.end = self.end.min(len);
        self.start = self.start.min(self.end);
        if let Since::Position(since) = &mut self.since {
            *since = (*since).min(self.end);
        }
    }

    /// Forgets everything, because a decode's features could not be had.
    pub fn clear(&mut self) {
        self.branches = None;
        (self.start, self.end) = (0, 0);
        self.since = Since::Position(0);
    }

    /// Whether the features of `position` are kept; not where the target was there before all
    /// layers were asked for, or has not been there yet but will be with its next decode.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] when they ought to be: the target's cache was filled by other
    /// means than its decodes.
    pub fn holds(&self, position: usize) -> Result<bool> {
        if (self.start..self.end).contains(&position) {
            return Ok(true);
        }
        match self.since {
            Since::Next => Ok(false),
            Since::Position(since) if position < since => Ok(false),
            Since::Position(_) => Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "the target's features at position {position} are missing (kept: {} to {}); \
                     a KV cache that was restored without them must be decoded again",
                    self.start, self.end
                ),
            )),
        }
    }

    /// Appends to `features` those of `layers` at positions `from..to`, position by position, the
    /// layers in the order given.
    ///
    /// # Panics
    /// If the store does not hold these positions, or was not asked for one of the layers.
    pub fn read(&self, from: usize, to: usize, layers: &[u32], features: &mut Vec<f32>) {
        assert!(
            self.start <= from && to <= self.end,
            "positions {from} to {to} are not among {} to {}",
            self.start,
            self.end
        );
        let columns: Vec<usize> = layers
            .iter()
            .map(|layer| self.layers.binary_search(layer).expect("a layer asked for"))
            .collect();
        let row_len = self.row_len();
        for position in from..to {
            let slot = position % self.capacity() * row_len;
            for column in &columns {
                let at = slot + column * self.width;
                features.extend_from_slice(&self.rows[at..at + self.width]);
            }
        }
    }

    /// Where the row of `position` begins; there is room for it afterwards.
    fn slot(&mut self, position: usize) -> usize {
        let row_len = self.row_len();
        let slot = position % self.capacity() * row_len;
        if self.rows.len() < slot + row_len {
            self.rows.resize(slot + row_len, 0.0);
        }
        slot
    }

    /// Makes `position` the end: by forgetting what lies after it, or all where there is a gap.
    fn make_end(&mut self, position: usize) {
        match self.since {
            Since::Next => {
                self.since = Since::Position(position);
                (self.start, self.end) = (position, position);
            }
            Since::Position(_) if position > self.end => {
                (self.start, self.end) = (position, position);
            }
            Since::Position(_) => self.truncate(position),
        }
    }

    fn positions_of(&self, inputs: &[&[f32]]) -> usize {
        assert_eq!(inputs.len(), self.layers.len(), "an input of each layer");
        let numbers = inputs.first().map_or(0, |input| input.len());
        assert!(
            inputs.iter().all(|input| input.len() == numbers),
            "inputs of one length"
        );
        assert_eq!(numbers % self.width.max(1), 0, "whole positions");
        numbers / self.width.max(1)
    }
}

/// What a white-box drafter gets of its target: the features of the text, and the model to borrow
/// weights of. It can be cloned and sent to where a drafter is loaded.
#[derive(Clone, Debug)]
pub struct FeatureSource {
    model: Arc<Model>,
    store: Arc<Mutex<FeatureStore>>,
}

impl FeatureSource {
    /// The features of a target of `model`, which puts them into `store`.
    pub fn new(model: Arc<Model>, store: Arc<Mutex<FeatureStore>>) -> Self {
        Self { model, store }
    }

    /// The target's model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The features, exclusively. The target waits where it has decoded meanwhile.
    pub fn store(&self) -> MutexGuard<'_, FeatureStore> {
        self.store.lock()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What goes into `layer` at a position of a text, here the width 2.
    fn input(layer: u32, token: u32) -> [f32; 2] {
        [layer as f32, token as f32]
    }

    /// The inputs of `layers` for `tokens`.
    fn inputs(layers: &[u32], tokens: &[u32]) -> Vec<Vec<f32>> {
        let of_layer = |&layer: &u32| tokens.iter().flat_map(|&t| input(layer, t)).collect();
        layers.iter().map(of_layer).collect()
    }

    fn append(store: &mut FeatureStore, position: usize, tokens: &[u32]) {
        let inputs = inputs(store.layers(), tokens);
        let inputs: Vec<&[f32]> = inputs.iter().map(Vec::as_slice).collect();
        store.append(position, &inputs);
    }

    /// The second number of the rows from `from` on, which the tests make the token.
    fn tokens(store: &FeatureStore, from: usize, layer: u32) -> Vec<u32> {
        let mut features = Vec::new();
        store.read(from, store.end(), &[layer], &mut features);
        let rows = features.as_chunks::<2>().0.iter();
        rows.map(|&[of, token]| {
            assert_eq!(of, layer as f32);
            token as u32
        })
        .collect()
    }

    fn store(n_ctx: usize) -> FeatureStore {
        let mut store = FeatureStore::new(2, n_ctx);
        store.require(&[7, 2]);
        store
    }

    #[test]
    fn a_text_is_kept_layer_by_layer_in_any_order_and_cut_back() {
        let mut store = store(100);
        append(&mut store, 0, &[10, 11, 12]);
        append(&mut store, 3, &[13]);
        let mut features = Vec::new();
        store.read(1, 3, &[7, 2], &mut features);
        let expected = [[7.0, 11.0], [2.0, 11.0], [7.0, 12.0], [2.0, 12.0]];
        assert_eq!(features, expected.concat());
        store.truncate(2);
        append(&mut store, 2, &[22, 23]);
        assert_eq!(tokens(&store, 0, 2), [10, 11, 22, 23]);
        // Decoding again from an earlier position replaces what follows.
        append(&mut store, 1, &[31]);
        assert_eq!(tokens(&store, 0, 7), [10, 31]);
    }

    #[test]
    fn the_newest_positions_are_kept_where_not_all_fit() {
        let mut store = store(100);
        let n_ctx = store.capacity();
        assert_eq!(n_ctx, 100);
        append(&mut store, 0, &(0..70).collect::<Vec<_>>());
        append(&mut store, 70, &(70..130).collect::<Vec<_>>());
        assert_eq!((store.start(), store.end()), (30, 130));
        assert_eq!(tokens(&store, 30, 7), (30..130).collect::<Vec<_>>());
        append(&mut store, 130, &(130..400).collect::<Vec<_>>());
        assert_eq!((store.start(), store.end()), (300, 400));
        assert_eq!(tokens(&store, 300, 2), (300..400).collect::<Vec<_>>());
        assert!(store.bytes() <= 100 * 2 * 2 * 4 * 2, "{}", store.bytes());
    }

    #[test]
    fn the_bytes_are_bounded_however_large_the_context() {
        let mut store = FeatureStore::new(4096, 1_000_000);
        store.require(&[1, 2, 3]);
        assert!(store.capacity() * 3 * 4096 * 4 <= MAX_BYTES);
        assert!(store.capacity() > 1000);
    }

    #[test]
    fn a_gap_is_an_error_and_what_was_not_asked_for_in_time_is_none() {
        let mut store = store(100);
        assert!(!store.holds(3).expect("it will be decoded"));
        append(&mut store, 4, &[14, 15]);
        assert!(!store.holds(3).expect("decoded before it was asked for"));
        assert!(store.holds(5).expect("kept"));
        // A cache restored up to position 9.
        append(&mut store, 9, &[19]);
        let error = store.holds(8).expect_err("a gap");
        assert!(error.to_string().contains("position 8"), "{error}");
        assert!(store.holds(9).expect("kept"));
        // A further layer: what is there lacks it.
        store.require(&[2, 5]);
        assert_eq!(store.layers(), [2, 5, 7]);
        assert!(!store.holds(9).expect("will be decoded again"));
        append(&mut store, 10, &[20]);
        assert!(!store.holds(9).expect("decoded before it was asked for"));
        assert_eq!(tokens(&store, 10, 5), [20]);
        store.require(&[7]);
        assert!(store.holds(10).expect("nothing new was asked for"));
    }

    #[test]
    fn after_a_failed_read_the_features_are_missing() {
        let mut store = store(100);
        append(&mut store, 0, &[10, 11]);
        store.clear();
        assert!(store.holds(1).is_err());
    }

    #[test]
    fn of_a_tree_the_root_is_kept_and_a_path_when_it_is_chosen() {
        let tree = |store: &mut FeatureStore| {
            append(store, 0, &[10, 11]);
            let inputs = inputs(&[2, 7], &[12, 20, 30, 21, 31]);
            let inputs: Vec<&[f32]> = inputs.iter().map(Vec::as_slice).collect();
            let parents = [None, Some(0), Some(0), Some(1), Some(2)];
            store.append_tree(2, parents, &inputs);
        };
        let mut store = store(100);
        tree(&mut store);
        assert_eq!(tokens(&store, 0, 2), [10, 11, 12]);
        store.keep(4);
        assert_eq!(tokens(&store, 0, 7), [10, 11, 12, 30, 31]);
        store.keep(3);
        assert_eq!(store.end(), 5, "only once");
        tree(&mut store);
        store.keep(0);
        assert_eq!(tokens(&store, 0, 2), [10, 11, 12]);
        tree(&mut store);
        store.truncate(3);
        store.keep(3);
        assert_eq!(store.end(), 3, "the branches are gone");
    }

    proptest! {
        #[test]
        fn whatever_happens_the_rows_are_those_of_the_text(
            steps in prop::collection::vec((0..4_u8, 0..40_usize, 1..30_usize), 1..40),
        ) {
            let mut store = store(64);
            let (mut text, mut next): (Vec<u32>, u32) = (Vec::new(), 0);
            for (step, at, count) in steps {
                let at = at % (text.len() + 1);
                if step == 0 {
                    text.truncate(at);
                    store.truncate(at);
                    continue;
                }
                let new: Vec<u32> = (next..).take(count).collect();
                next += count as u32;
                append(&mut store, text.len(), &new);
                text.extend(new);
            }
            prop_assert!(store.end() == text.len() || store.layers().is_empty());
            prop_assert!(store.end() - store.start() <= 64);
            prop_assert_eq!(&tokens(&store, store.start(), 2), &text[store.start()..]);
        }
    }
}
