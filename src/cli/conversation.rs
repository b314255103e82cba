//! A conversation as one growing sequence of tokens.
//!
//! A model's answer is kept as the tokens that it generated. To tokenise its text anew could give
//! other tokens, and everything from there on would have to be decoded again.

use metasd::llama::{ChatMessage, Model};
use metasd::{Result, TokenId};

/// What the conversation needs of a model.
pub trait Template {
    /// The conversation as text, up to where the next answer begins.
    ///
    /// # Errors
    /// When the chat template cannot be applied.
    fn render(&self, messages: &[ChatMessage]) -> Result<String>;

    /// The tokens of a text that is `first` in the sequence or follows other tokens.
    fn tokens(&self, text: &str, first: bool) -> Vec<TokenId>;

    /// The text of the token with which an answer ended; `None` for any other token.
    fn ending(&self, token: TokenId) -> Option<String>;
}

impl Template for Model {
    fn render(&self, messages: &[ChatMessage]) -> Result<String> {
        self.apply_chat_template(messages, true)
    }

    fn tokens(&self, text: &str, first: bool) -> Vec<TokenId> {
        self.tokenize(text, first, true)
    }

    fn ending(&self, token: TokenId) -> Option<String> {
        let text = || String::from_utf8_lossy(&self.piece(token, true)).into_owned();
        self.is_eog(token).then(text)
    }
}

/// Messages so far and the tokens that stand for them.
#[derive(Debug, Default)]
pub struct Conversation {
    messages: Vec<ChatMessage>,
    /// The text of the last prompt; the last answer follows it.
    prompt: String,
    /// Tokens of the last prompt and of the last answer.
    tokens: Vec<TokenId>,
}

impl Conversation {
    /// A conversation that begins with `messages`.
    pub fn new(messages: Vec<ChatMessage>) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }

    /// What the model reads when the user says `text`.
    ///
    /// # Errors
    /// When the chat template cannot be applied.
    pub fn ask(&self, model: &impl Template, text: &str) -> Result<Turn> {
        let mut messages = self.messages.clone();
        messages.push(ChatMessage::new("user", text));
        let prompt = model.render(&messages)?;
        let tokens = match self.continued(model, &prompt) {
            Some(tokens) => tokens,
            None => model.tokens(&prompt, true),
        };
        Ok(Turn {
            messages,
            prompt,
            tokens,
        })
    }

    /// Takes up the answer to `turn`: its text, and the tokens of `turn` and answer together.
    pub fn answered(&mut self, turn: Turn, text: &str, tokens: &[TokenId]) {
        self.messages = turn.messages;
        self.messages.push(ChatMessage::new("assistant", text));
        self.prompt = turn.prompt;
        self.tokens = tokens.to_vec();
    }

    /// The tokens so far and those of what the template puts after them in `prompt`; `None` when
    /// `prompt` does not go on from them.
    fn continued(&self, model: &impl Template, prompt: &str) -> Option<Vec<TokenId>> {
        let answer = self
            .messages
            .last()
            .filter(|last| last.role == "assistant")?;
        let rest = prompt.strip_prefix(self.prompt.as_str())?;
        // Some templates trim what is said.
        let after = [answer.content.as_str(), answer.content.trim()]
            .into_iter()
            .find_map(|said| rest.strip_prefix(said))?;
        let mut tokens = self.tokens.clone();
        let mut rest = after;
        if let Some(ending) = tokens.last().and_then(|&last| model.ending(last)) {
            match after.strip_prefix(ending.as_str()) {
                Some(after) => rest = after,
                // The template ends an answer otherwise than the model did.
                None => {
                    tokens.pop();
                }
            }
        }
        tokens.extend(model.tokens(rest, false));
        Some(tokens)
    }
}

/// A prompt on its way to an answer.
#[derive(Clone, Debug)]
pub struct Turn {
    messages: Vec<ChatMessage>,
    prompt: String,
    tokens: Vec<TokenId>,
}

impl Turn {
    /// What the model reads.
    pub fn tokens(&self) -> &[TokenId] {
        &self.tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A template of one line a message, in which every character is a token and `;` ends an
    /// answer.
    struct Characters {
        trims: bool,
    }

    impl Template for Characters {
        fn render(&self, messages: &[ChatMessage]) -> Result<String> {
            let line = |message: &ChatMessage| {
                let content = if self.trims {
                    message.content.trim()
                } else {
                    &message.content
                };
                format!("{}:{content};\n", message.role)
            };
            Ok(messages.iter().map(line).collect::<String>() + "assistant:")
        }

        fn tokens(&self, text: &str, first: bool) -> Vec<TokenId> {
            let begin = first.then_some(TokenId(1));
            begin
                .into_iter()
                .chain(text.chars().map(|c| TokenId(c as i32)))
                .collect()
        }

        fn ending(&self, token: TokenId) -> Option<String> {
            (token == TokenId(';' as i32)).then(|| ";".to_owned())
        }
    }

    const PLAIN: Characters = Characters { trims: false };
    const TRIMMING: Characters = Characters { trims: true };

    fn text(tokens: &[TokenId]) -> String {
        let character = |token: &TokenId| u32::try_from(token.0).ok().and_then(char::from_u32);
        tokens.iter().filter_map(character).collect()
    }

    /// The second prompt after `answer`, whose tokens may be other than its text's.
    fn second(model: &Characters, answer: &str, answer_tokens: &str) -> String {
        let mut conversation = Conversation::new(vec![ChatMessage::new("system", "s")]);
        let turn = conversation.ask(model, "a").expect("renders");
        assert_eq!(text(turn.tokens()), "\u{1}system:s;\nuser:a;\nassistant:");
        let mut tokens = turn.tokens().to_vec();
        tokens.extend(model.tokens(answer_tokens, false));
        conversation.answered(turn, answer, &tokens);
        let turn = conversation.ask(model, "b").expect("renders");
        assert_eq!(turn.messages.len(), 4);
        text(turn.tokens()).replace("\u{1}system:s;\nuser:a;\nassistant:", "^")
    }

    #[test]
    fn an_answer_that_ended_is_followed_by_what_the_template_puts_after_it() {
        assert_eq!(second(&PLAIN, "yes", "yes;"), "^yes;\nuser:b;\nassistant:");
    }

    #[test]
    fn an_answer_that_was_cut_off_is_ended_as_the_template_ends_it() {
        assert_eq!(second(&PLAIN, "ye", "ye"), "^ye;\nuser:b;\nassistant:");
    }

    #[test]
    fn the_answers_own_tokens_are_kept() {
        assert_eq!(second(&PLAIN, "yes", "YES;"), "^YES;\nuser:b;\nassistant:");
        assert_eq!(
            second(&TRIMMING, " yes", " yes;"),
            "^ yes;\nuser:b;\nassistant:"
        );
    }

    #[test]
    fn a_template_that_rewrites_the_past_is_tokenised_from_the_beginning() {
        let mut conversation = Conversation::new(Vec::new());
        let turn = conversation.ask(&PLAIN, "a").expect("renders");
        let tokens = turn.tokens().to_vec();
        conversation.answered(turn, "yes", &tokens);
        conversation.prompt = "another beginning".to_owned();
        let turn = conversation.ask(&PLAIN, "b").expect("renders");
        assert_eq!(
            text(turn.tokens()),
            "\u{1}user:a;\nassistant:yes;\nuser:b;\nassistant:"
        );
    }
}
