//! Several continuations of the sequence decoded in one batch, each in a sequence of its own.

use super::Context;
use crate::error::{Error, Result};
use crate::ffi;
use crate::tree::Tree;

/// The sequence of the committed tokens.
pub(super) const COMMITTED: i32 = 0;

/// What the cache holds of the tree decoded last beside its root.
#[derive(Clone, Debug)]
pub(super) struct Branches {
    candidates: usize,
    /// Each node's depth and a candidate that passes through it.
    nodes: Vec<(usize, Option<usize>)>,
}

/// The sequence of a candidate.
fn sequence(candidate: usize) -> i32 {
    i32::try_from(candidate + 1).expect("a context has few sequences")
}

impl Context {
    /// The most candidates of a tree that [`Self::decode_tree`] takes.
    pub fn max_candidates(&self) -> usize {
        self.params.sequences - 1
    }

    /// Decodes `tree` at the end of the sequence in one batch: the root as the next token, and
    /// each other node at its depth, so that it sees what is held, its ancestors and itself alone.
    /// Row `i` of [`Self::logits`] belongs to node `i`.
    ///
    /// Of the tree only the root counts as held afterwards; the rest goes with the next change of
    /// the cache unless [`Self::keep_path`] keeps a part of it. The cells of what was held before
    /// are shared by all candidates.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for more candidates than
    /// [`Self::max_candidates`]; for more nodes than a batch those of [`Self::decode`], as for
    /// everything else. The cache is then as it was.
    pub fn decode_tree(&mut self, tree: &Tree) -> Result<()> {
        (self.rows, self.decoded) = (0, 0);
        self.prune()?;
        if tree.candidates() > self.max_candidates() {
            return Err(Error::invalid(format!(
                "a tree of {} candidates needs a context of {} sequences; this one has {}",
                tree.candidates(),
                tree.candidates() + 1,
                self.params.sequences
            )));
        }
        let nodes = tree.nodes();
        self.check(nodes.iter().map(|node| node.token))?;
        self.batch.clear();
        for node in nodes {
            let committed = (node.depth == 0).then_some(COMMITTED);
            let candidates = node.candidates.iter().map(|&candidate| sequence(candidate));
            let sequences = committed.into_iter().chain(candidates);
            (self.batch).push(node.token, self.len + node.depth, sequences, true);
        }
        for candidate in 0..tree.candidates() {
            self.share(COMMITTED, sequence(candidate), 0, self.len);
        }
        self.branches = Some(Branches {
            candidates: tree.candidates(),
            nodes: nodes
                .iter()
                .map(|node| (node.depth, node.candidates.first().copied()))
                .collect(),
        });
        self.submit(nodes.len())?;
        self.len += 1;
        (self.first, self.rows) = (0, nodes.len());
        Ok(())
    }

    /// Keeps of the tree decoded last the nodes from its root to `node`, as if they had been
    /// decoded as a text, and drops the rest. The rows of logits stay.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when there is no such
    /// node, or when the cache has changed since a tree was decoded.
    pub fn keep_path(&mut self, node: usize) -> Result<()> {
        let branches = self.branches.as_ref();
        let Some(&(depth, candidate)) = branches.and_then(|branches| branches.nodes.get(node))
        else {
            return Err(match branches {
                None => Error::invalid("no tree is in the cache; decode one and then keep a path"),
                Some(branches) => Error::invalid(format!(
                    "the tree has {} nodes; there is no node {node}",
                    branches.nodes.len()
                )),
            });
        };
        if let Some(candidate) = candidate.filter(|_| depth > 0) {
            let end = self.len + depth;
            self.share(sequence(candidate), COMMITTED, self.len, end);
            self.len = end;
        }
        self.prune()
    }

    /// Drops the candidates of the tree decoded last.
    pub(super) fn prune(&mut self) -> Result<()> {
        if let Some(branches) = self.branches.take() {
            for candidate in 0..branches.candidates {
                self.remove(sequence(candidate), 0, usize::MAX)?;
            }
        }
        Ok(())
    }

    /// Makes the cells of positions `from..to` of one sequence cells of the other one too.
    fn share(&mut self, of: i32, with: i32, from: usize, to: usize) {
        let edge = |position: usize| i32::try_from(position).expect("a position fits an i32");
        // SAFETY: the context is valid and exclusively borrowed, and both sequences are below its
        // number of sequences. They share one buffer, so that no data is copied.
        unsafe {
            ffi::llama_memory_seq_cp(
                ffi::llama_get_memory(self.raw.as_ptr()),
                of,
                with,
                edge(from),
                edge(to),
            );
        }
    }
}
