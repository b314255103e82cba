//! Several continuations of a text as one tree, in which beginnings that they share are there
//! once.

use crate::types::TokenId;

/// A token of a [`Tree`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// The token.
    pub token: TokenId,
    /// Tokens between the root and it, itself included; 0 for the root.
    pub depth: usize,
    /// Index of the node before it; `None` for the root.
    pub parent: Option<usize>,
    /// The candidates that pass through it, ascending. Those of a node are among its parent's.
    pub candidates: Vec<usize>,
}

/// A trie of candidates, each a list of tokens that may follow one committed token.
///
/// Node 0 is the committed token, the root; all candidates pass through it. A node's index is
/// above its parent's, and siblings have different tokens. So index and token of the nodes are a
/// batch for a model that lets each node see its ancestors alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    /// The last node of each candidate.
    ends: Vec<usize>,
}

impl Tree {
    /// The tree of `candidates` after the committed token `root`. A candidate may be empty, and
    /// two may be equal or one the beginning of the other.
    pub fn new<C: AsRef<[TokenId]>>(
        root: TokenId,
        candidates: impl IntoIterator<Item = C>,
    ) -> Self {
        let mut tree = Self {
            nodes: vec![Node {
                token: root,
                depth: 0,
                parent: None,
                candidates: Vec::new(),
            }],
            ends: Vec::new(),
        };
        for tokens in candidates {
            tree.add(tokens.as_ref());
        }
        tree
    }

    /// Adds a candidate after those there are.
    pub fn add(&mut self, tokens: &[TokenId]) {
        let candidate = self.ends.len();
        let mut at = 0;
        self.nodes[at].candidates.push(candidate);
        for &token in tokens {
            at = self.child(at, token).unwrap_or_else(|| {
                self.nodes.push(Node {
                    token,
                    depth: self.nodes[at].depth + 1,
                    parent: Some(at),
                    candidates: Vec::new(),
                });
                self.nodes.len() - 1
            });
            self.nodes[at].candidates.push(candidate);
        }
        self.ends.push(at);
    }

    /// Nodes that [`Tree::add`] would add for `tokens`: those that no candidate has in common
    /// with it.
    pub fn nodes_to_add(&self, tokens: &[TokenId]) -> usize {
        let mut at = 0;
        let shared = tokens.iter().take_while(|&&token| {
            let child = self.child(at, token);
            at = child.unwrap_or(at);
            child.is_some()
        });
        tokens.len() - shared.count()
    }

    /// The nodes, the root first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The number of candidates.
    pub fn candidates(&self) -> usize {
        self.ends.len()
    }

    /// The child of node `parent` that holds `token`, if there is one.
    ///
    /// # Panics
    /// If there is no node `parent`.
    pub fn child(&self, parent: usize, token: TokenId) -> Option<usize> {
        let child = self.children(parent).find(|&(_, node)| node.token == token);
        child.map(|(index, _)| index)
    }

    /// The children of node `parent` with their indices, in the order of the first candidates
    /// that pass through them.
    ///
    /// # Panics
    /// If there is no node `parent`.
    pub fn children(&self, parent: usize) -> impl Iterator<Item = (usize, &Node)> {
        let later = self.nodes.iter().enumerate().skip(parent + 1);
        assert!(parent < self.nodes.len(), "there is no node {parent}");
        later.filter(move |(_, node)| node.parent == Some(parent))
    }

    /// The nodes of a candidate, the root first: one more than its tokens.
    ///
    /// # Panics
    /// If there is no such candidate.
    pub fn path(&self, candidate: usize) -> Vec<usize> {
        self.path_to(self.ends[candidate])
    }

    /// The nodes from the root to `node`, both included.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn path_to(&self, node: usize) -> Vec<usize> {
        let mut path: Vec<usize> =
            std::iter::successors(Some(node), |&node| self.nodes[node].parent).collect();
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(ids: &[i32]) -> Vec<TokenId> {
        ids.iter().copied().map(TokenId).collect()
    }

    fn tree(candidates: &[&[i32]]) -> Tree {
        Tree::new(TokenId(9), candidates.iter().map(|ids| tokens(ids)))
    }

    #[test]
    fn shared_beginnings_are_there_once_and_know_who_passes_through_them() {
        let tree = tree(&[&[1, 2, 3], &[1, 2, 4], &[5], &[1, 2]]);
        let shown: Vec<_> = tree
            .nodes()
            .iter()
            .map(|node| (node.token.0, node.depth, node.parent, &node.candidates[..]))
            .collect();
        let expected: [(i32, usize, Option<usize>, &[usize]); 6] = [
            (9, 0, None, &[0, 1, 2, 3]),
            (1, 1, Some(0), &[0, 1, 3]),
            (2, 2, Some(1), &[0, 1, 3]),
            (3, 3, Some(2), &[0]),
            (4, 3, Some(2), &[1]),
            (5, 1, Some(0), &[2]),
        ];
        assert_eq!(shown, expected);
        assert_eq!(tree.path(1), [0, 1, 2, 4]);
        assert_eq!(tree.path(3), [0, 1, 2]);
        let children: Vec<usize> = tree.children(0).map(|(index, _)| index).collect();
        assert_eq!(children, [1, 5]);
    }

    #[test]
    fn without_candidates_or_with_empty_ones_there_is_the_root_alone() {
        assert_eq!(tree(&[]).nodes().len(), 1);
        let empty = tree(&[&[], &[]]);
        assert_eq!((empty.nodes().len(), empty.candidates()), (1, 2));
        assert_eq!(empty.path(1), [0]);
        assert_eq!(empty.nodes()[0].candidates, [0, 1]);
    }

    proptest! {
        #[test]
        fn every_candidate_is_read_back_along_its_path(
            candidates in prop::collection::vec(prop::collection::vec(0..3i32, 0..6), 0..6),
        ) {
            let mut tree = Tree::new(TokenId(0), Vec::<Vec<TokenId>>::new());
            for candidate in &candidates {
                let (before, added) = (tree.nodes().len(), tree.nodes_to_add(&tokens(candidate)));
                tree.add(&tokens(candidate));
                prop_assert_eq!(tree.nodes().len(), before + added);
            }
            let mut prefixes = std::collections::HashSet::new();
            for (index, candidate) in candidates.iter().enumerate() {
                let path = tree.path(index);
                let read: Vec<i32> = path[1..].iter().map(|&n| tree.nodes()[n].token.0).collect();
                prop_assert_eq!(&read, candidate);
                for (depth, &node) in path.iter().enumerate() {
                    prop_assert_eq!(tree.nodes()[node].depth, depth);
                    prop_assert!(tree.nodes()[node].candidates.contains(&index));
                    prefixes.insert(&candidate[..depth]);
                }
                prop_assert!(path.is_sorted());
            }
            prefixes.insert(&[]);
            prop_assert_eq!(tree.nodes().len(), prefixes.len());
            let passing: usize = tree.nodes().iter().map(|node| node.candidates.len()).sum();
            prop_assert_eq!(passing, candidates.iter().map(|c| c.len() + 1).sum::<usize>());
        }
    }
}
