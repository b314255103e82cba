//! A target and a drafter that follow a script instead of running a model: for tests of the
//! engine, and for programs that embed it.

mod factory;

use std::time::Duration;

pub use factory::{LoadFault, ScriptedFactory};

use rand::Rng;

use crate::drafter::{Beliefs, Draft, DraftTimes, Drafter, DrafterKind};
use crate::error::{Error, ErrorKind, Result};
use crate::llama::{KvCache, MemoryBreakdown, Outputs, SamplerChain};
use crate::session::Vocabulary;
use crate::target::Target;
use crate::tree::Tree;
use crate::types::TokenId;

/// Raw logits for the token after a text: one `f32` for every token of the vocabulary.
pub type Script = Box<dyn FnMut(&[TokenId]) -> Vec<f32> + Send>;

/// A target whose logits are a function of the text so far.
pub struct ScriptedTarget {
    script: Script,
    n_vocab: usize,
    n_ctx: usize,
    max_outputs: usize,
    max_candidates: usize,
    held: Vec<TokenId>,
    /// The tree decoded last, until the cache changes.
    tree: Option<Tree>,
    rows: Vec<Vec<f32>>,
    fail_after: Option<usize>,
    decodes: usize,
}

impl ScriptedTarget {
    /// A target over `n_vocab` tokens with a context of `n_ctx`.
    pub fn new(n_vocab: usize, n_ctx: usize, script: Script) -> Self {
        Self {
            script,
            n_vocab,
            n_ctx,
            max_outputs: 16,
            max_candidates: 0,
            held: Vec::new(),
            tree: None,
            rows: Vec::new(),
            fail_after: None,
            decodes: 0,
        }
    }

    /// Lets every decode after the first `decodes` fail.
    #[must_use]
    pub fn failing_after(mut self, decodes: usize) -> Self {
        self.fail_after = Some(decodes);
        self
    }

    /// Lets it decode trees of up to `candidates`, with up to `nodes` nodes.
    #[must_use]
    pub fn with_trees(mut self, candidates: usize, nodes: usize) -> Self {
        self.max_candidates = candidates;
        self.max_outputs = nodes;
        self
    }

    /// Begins a decode of `count` tokens.
    fn begin(&mut self, count: usize) -> Result<()> {
        self.rows.clear();
        self.tree = None;
        if self.fail_after.is_some_and(|most| self.decodes >= most) {
            return Err(Error::new(ErrorKind::Backend, "the script ends here"));
        }
        self.decodes += 1;
        if self.held.len() + count > self.n_ctx {
            return Err(Error::new(
                ErrorKind::ContextOverflow,
                "the context is full",
            ));
        }
        Ok(())
    }
}

impl KvCache for ScriptedTarget {
    fn len(&self) -> usize {
        self.held.len()
    }

    fn truncate(&mut self, len: usize) -> Result<()> {
        self.tree = None;
        self.held.truncate(len);
        Ok(())
    }
}

impl Target for ScriptedTarget {
    fn vocab_size(&self) -> usize {
        self.n_vocab
    }

    fn context_size(&self) -> usize {
        self.n_ctx
    }

    fn max_outputs(&self) -> usize {
        self.max_outputs
    }

    fn batch_size(&self) -> usize {
        self.max_outputs
    }

    fn decode(&mut self, tokens: &[TokenId], outputs: Outputs) -> Result<()> {
        self.begin(tokens.len())?;
        for (i, &token) in tokens.iter().enumerate() {
            self.held.push(token);
            if outputs.include(i, tokens.len()) {
                self.rows.push((self.script)(&self.held));
            }
        }
        Ok(())
    }

    fn max_candidates(&self) -> usize {
        self.max_candidates
    }

    fn decode_tree(&mut self, tree: &Tree) -> Result<()> {
        if tree.candidates() > self.max_candidates || tree.nodes().len() > self.max_outputs {
            return Err(Error::invalid("the tree is too large"));
        }
        self.begin(tree.nodes().len())?;
        for node in 0..tree.nodes().len() {
            let path = tree.path_to(node);
            let tokens = path.iter().map(|&node| tree.nodes()[node].token);
            let text: Vec<TokenId> = self.held.iter().copied().chain(tokens).collect();
            self.rows.push((self.script)(&text));
        }
        self.held.push(tree.nodes()[0].token);
        self.tree = Some(tree.clone());
        Ok(())
    }

    fn keep_path(&mut self, node: usize) -> Result<()> {
        let tree = self
            .tree
            .take_if(|tree| node < tree.nodes().len())
            .ok_or_else(|| Error::invalid("there is no such node in the cache"))?;
        let path = tree.path_to(node);
        let tokens = path[1..].iter().map(|&node| tree.nodes()[node].token);
        self.held.extend(tokens);
        Ok(())
    }

    fn logits(&self, row: usize) -> Result<&[f32]> {
        self.rows
            .get(row)
            .map(Vec::as_slice)
            .ok_or_else(|| Error::new(ErrorKind::Backend, format!("there is no row {row}")))
    }

    fn decode_time(&self) -> Duration {
        Duration::ZERO
    }
}

/// A drafter whose logits, or certain proposals, are a function of the text so far.
pub struct ScriptedDrafter {
    script: Script,
    one_hot: bool,
    fail_after: Option<usize>,
    drafts: usize,
    fail_after_beliefs: Option<usize>,
    beliefs: usize,
    memory: MemoryBreakdown,
}

impl ScriptedDrafter {
    /// A drafter that draws its tokens from the script's logits after the sampler chain.
    pub fn new(script: Script) -> Self {
        Self {
            script,
            one_hot: false,
            fail_after: None,
            drafts: 0,
            fail_after_beliefs: None,
            beliefs: 0,
            memory: MemoryBreakdown::default(),
        }
    }

    /// A drafter that proposes the script's most probable token with certainty.
    pub fn one_hot(script: Script) -> Self {
        Self {
            one_hot: true,
            ..Self::new(script)
        }
    }

    /// Lets every draft after the first `drafts` fail, half-way.
    #[must_use]
    pub fn failing_after(mut self, drafts: usize) -> Self {
        self.fail_after = Some(drafts);
        self
    }

    /// Lets it say that it occupies `memory`.
    #[must_use]
    pub fn occupying(mut self, memory: MemoryBreakdown) -> Self {
        self.memory = memory;
        self
    }

    /// Lets it fail whenever it is asked for its beliefs after the first `beliefs` times.
    #[must_use]
    pub fn failing_after_beliefs(mut self, beliefs: usize) -> Self {
        self.fail_after_beliefs = Some(beliefs);
        self
    }
}

impl Drafter for ScriptedDrafter {
    fn kind(&self) -> DrafterKind {
        if self.one_hot {
            DrafterKind::Ngram
        } else {
            DrafterKind::Model
        }
    }

    fn draft(
        &mut self,
        history: &[TokenId],
        max: usize,
        chain: &mut SamplerChain,
        rng: &mut dyn Rng,
        draft: &mut Draft,
    ) -> Result<DraftTimes> {
        let fails = self.fail_after.is_some_and(|most| self.drafts >= most);
        self.drafts += 1;
        let mut text = history.to_vec();
        for drafted in 0..max {
            if fails && drafted >= max / 2 {
                return Err(Error::new(ErrorKind::Backend, "the script ends here"));
            }
            let logits = (self.script)(&text);
            let token = if self.one_hot {
                let token = crate::dist::argmax(&logits)?;
                draft.push_one_hot(token);
                chain.accept(token);
                token
            } else {
                draft.draw(&logits, chain, rng)?
            };
            text.push(token);
        }
        Ok(DraftTimes::default())
    }

    fn believe(
        &mut self,
        history: &[TokenId],
        count: usize,
        beliefs: &mut Beliefs,
    ) -> Result<Option<DraftTimes>> {
        if self
            .fail_after_beliefs
            .is_some_and(|most| self.beliefs >= most)
        {
            return Err(Error::new(ErrorKind::Backend, "the script ends here"));
        }
        self.beliefs += 1;
        for end in history.len() - count..history.len() {
            let logits = (self.script)(&history[..end]);
            if self.one_hot {
                beliefs.push_certain(Some(crate::dist::argmax(&logits)?));
            } else {
                beliefs.push_logits(&logits);
            }
        }
        Ok(Some(DraftTimes::default()))
    }

    fn rollback(&mut self, _len: usize) -> Result<()> {
        Ok(())
    }

    fn memory(&self) -> MemoryBreakdown {
        self.memory
    }
}

/// A vocabulary of short texts.
#[derive(Clone, Debug)]
pub struct ScriptedVocabulary {
    /// The bytes of each token.
    pub pieces: Vec<Vec<u8>>,
    /// The token that ends a generation.
    pub eog: Option<TokenId>,
}

impl ScriptedVocabulary {
    /// Tokens `a`, `b`, `c`, … without an end-of-generation token.
    ///
    /// # Panics
    /// If there are more than 26.
    pub fn letters(n_vocab: usize) -> Self {
        assert!(n_vocab <= 26, "there are 26 letters");
        Self {
            pieces: (b'a'..=b'z').take(n_vocab).map(|c| vec![c]).collect(),
            eog: None,
        }
    }
}

impl Vocabulary for ScriptedVocabulary {
    fn piece(&self, token: TokenId) -> Vec<u8> {
        self.pieces[token.index()].clone()
    }

    fn is_eog(&self, token: TokenId) -> bool {
        self.eog == Some(token)
    }
}
