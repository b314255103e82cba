//! Whether a drafter speaks the target's language, token for token.

use crate::error::{Error, ErrorKind, Result};
use crate::llama::Model;
use crate::types::TokenId;

/// Vocabularies of one family often differ by padding at the end; up to so many tokens are taken
/// for that, as in llama.cpp.
const MAX_PADDING: usize = 128;

/// What is compared of two vocabularies.
pub trait VocabularyFacts {
    /// The file or name it is known by.
    fn label(&self) -> String;
    /// The tokenizer's type.
    fn vocab_type(&self) -> String;
    /// Tokens.
    fn size(&self) -> usize;
    /// The begin-of-text token.
    fn bos(&self) -> Option<TokenId>;
    /// The end-of-text token.
    fn eos(&self) -> Option<TokenId>;
    /// The text stored for a token below [`Self::size`].
    fn token_text(&self, token: TokenId) -> Vec<u8>;
}

impl VocabularyFacts for Model {
    fn label(&self) -> String {
        self.path().display().to_string()
    }
    fn vocab_type(&self) -> String {
        Self::vocab_type(self)
    }
    fn size(&self) -> usize {
        self.vocab_size()
    }
    fn bos(&self) -> Option<TokenId> {
        Self::bos(self)
    }
    fn eos(&self) -> Option<TokenId> {
        Self::eos(self)
    }
    fn token_text(&self, token: TokenId) -> Vec<u8> {
        Self::token_text(self, token)
    }
}

/// Checks that a drafter's tokens mean what the target's do: same type, begin- and end-of-text
/// tokens, size up to padding, and text of every token they share.
///
/// # Errors
/// [`ErrorKind::VocabularyMismatch`] naming the first of these that differs with both values.
pub fn check_vocabulary(
    target: &impl VocabularyFacts,
    drafter: &impl VocabularyFacts,
) -> Result<()> {
    let differs = |what: &str, drafters: String, targets: String| {
        Error::new(
            ErrorKind::VocabularyMismatch,
            format!(
                "{} has not the target's vocabulary: {what} is {drafters}, the target's is {targets}; \
                 a drafter must share the tokenizer of {}",
                drafter.label(),
                target.label()
            ),
        )
    };
    let id = |token: Option<TokenId>| token.map_or("none".into(), |token| token.to_string());

    if drafter.vocab_type() != target.vocab_type() {
        return Err(differs("type", drafter.vocab_type(), target.vocab_type()));
    }
    if drafter.size().abs_diff(target.size()) > MAX_PADDING {
        return Err(differs(
            "size",
            drafter.size().to_string(),
            target.size().to_string(),
        ));
    }
    if drafter.bos() != target.bos() {
        return Err(differs("BOS token", id(drafter.bos()), id(target.bos())));
    }
    if drafter.eos() != target.eos() {
        return Err(differs("EOS token", id(drafter.eos()), id(target.eos())));
    }
    let common = drafter.size().min(target.size());
    for token in (0..common).map(TokenId::from_index) {
        let (drafters, targets) = (drafter.token_text(token), target.token_text(token));
        if drafters != targets {
            let quoted = |text: &[u8]| format!("\"{}\"", String::from_utf8_lossy(text));
            return Err(differs(
                &format!("text of token {token}"),
                quoted(&drafters),
                quoted(&targets),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone)]
    struct Fake {
        kind: &'static str,
        bos: Option<TokenId>,
        eos: Option<TokenId>,
        texts: Vec<String>,
    }

    impl VocabularyFacts for Fake {
        fn label(&self) -> String {
            "fake.gguf".into()
        }
        fn vocab_type(&self) -> String {
            self.kind.into()
        }
        fn size(&self) -> usize {
            self.texts.len()
        }
        fn bos(&self) -> Option<TokenId> {
            self.bos
        }
        fn eos(&self) -> Option<TokenId> {
            self.eos
        }
        fn token_text(&self, token: TokenId) -> Vec<u8> {
            self.texts[token.index()].clone().into_bytes()
        }
    }

    fn target() -> Fake {
        Fake {
            kind: "bpe",
            bos: Some(TokenId(1)),
            eos: Some(TokenId(2)),
            texts: (0..300).map(|i| format!("t{i}")).collect(),
        }
    }

    fn message(change: impl FnOnce(&mut Fake)) -> String {
        let mut drafter = target();
        change(&mut drafter);
        let error = check_vocabulary(&target(), &drafter).expect_err("they differ");
        assert_eq!(error.kind(), ErrorKind::VocabularyMismatch);
        error.to_string()
    }

    #[test]
    fn the_same_vocabulary_is_compatible_with_padding_too() {
        check_vocabulary(&target(), &target()).expect("equal");
        let mut longer = target();
        longer.texts.resize(300 + MAX_PADDING, "[PAD]".into());
        check_vocabulary(&target(), &longer).expect("padding");
        check_vocabulary(&longer, &target()).expect("padding");
    }

    #[test]
    fn each_difference_is_named_with_both_values() {
        assert!(message(|d| d.kind = "spm").contains("type is spm, the target's is bpe"));
        assert!(message(|d| d.bos = None).contains("BOS token is none, the target's is 1"));
        assert!(
            message(|d| d.eos = Some(TokenId(9))).contains("EOS token is 9, the target's is 2")
        );
        assert!(message(|d| d.texts.truncate(100)).contains("size is 100, the target's is 300"));
    }

    #[test]
    fn the_first_token_that_differs_is_shown_with_both_texts() {
        let text = message(|d| {
            d.texts[40] = "other".into();
            d.texts[50] = "later".into();
        });
        assert!(
            text.contains("text of token 40 is \"other\", the target's is \"t40\""),
            "{text}"
        );
    }
}
