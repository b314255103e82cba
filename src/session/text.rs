//! From tokens to text while it streams: partial UTF-8 and possible stop strings are held back.

use crate::types::TokenId;

/// A vocabulary as the session needs it to turn tokens into text.
pub trait Vocabulary: Send + Sync {
    /// The bytes of a token; none for a control token. They need not be valid UTF-8 alone.
    fn piece(&self, token: TokenId) -> Vec<u8>;

    /// Whether the token ends a generation.
    fn is_eog(&self, token: TokenId) -> bool;
}

impl Vocabulary for crate::llama::Model {
    fn piece(&self, token: TokenId) -> Vec<u8> {
        Self::piece(self, token, false)
    }

    fn is_eog(&self, token: TokenId) -> bool {
        Self::is_eog(self, token)
    }
}

/// What a pushed piece led to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pushed {
    /// Text that is now certain.
    pub text: String,
    /// Whether a stop string was completed; `text` ends before it and nothing follows.
    pub stopped: bool,
}

/// Assembles pieces into text.
#[derive(Debug)]
pub(super) struct TextStream {
    stops: Vec<String>,
    /// Bytes at the end that may be the beginning of a character.
    bytes: Vec<u8>,
    /// Characters at the end that may be the beginning of a stop string.
    held: String,
}

impl TextStream {
    /// A stream that ends before the first of `stops` (empty ones are ignored).
    pub(super) fn new(stops: &[String]) -> Self {
        Self {
            stops: stops
                .iter()
                .filter(|stop| !stop.is_empty())
                .cloned()
                .collect(),
            bytes: Vec::new(),
            held: String::new(),
        }
    }

    /// Appends the bytes of a token.
    pub(super) fn push(&mut self, piece: &[u8]) -> Pushed {
        self.bytes.extend_from_slice(piece);
        self.take_characters();
        let first_stop = self
            .stops
            .iter()
            .filter_map(|stop| self.held.find(stop.as_str()))
            .min();
        if let Some(at) = first_stop {
            self.held.truncate(at);
            self.bytes.clear();
            return Pushed {
                text: std::mem::take(&mut self.held),
                stopped: true,
            };
        }
        let certain = self.held.len() - self.possible_stop();
        let rest = self.held.split_off(certain);
        Pushed {
            text: std::mem::replace(&mut self.held, rest),
            stopped: false,
        }
    }

    /// What is left when nothing follows: text held back, and U+FFFD for a character that was
    /// never completed.
    pub(super) fn finish(&mut self) -> String {
        let mut rest = std::mem::take(&mut self.held);
        rest.push_str(&String::from_utf8_lossy(&std::mem::take(&mut self.bytes)));
        rest
    }

    /// Moves whole characters from `bytes` to `held`; what can never become one turns into U+FFFD.
    fn take_characters(&mut self) {
        loop {
            match std::str::from_utf8(&self.bytes) {
                Ok(text) => {
                    self.held.push_str(text);
                    self.bytes.clear();
                    return;
                }
                Err(error) => {
                    let valid = error.valid_up_to();
                    self.held
                        .push_str(&String::from_utf8_lossy(&self.bytes[..valid]));
                    let Some(bad) = error.error_len() else {
                        self.bytes.drain(..valid);
                        return;
                    };
                    self.held.push(char::REPLACEMENT_CHARACTER);
                    self.bytes.drain(..valid + bad);
                }
            }
        }
    }

    /// The length of the longest suffix of `held` that is a beginning of a stop string.
    fn possible_stop(&self) -> usize {
        self.stops
            .iter()
            .flat_map(|stop| {
                stop.char_indices()
                    .map(|(at, _)| at)
                    .filter(|&at| at > 0 && self.held.ends_with(&stop[..at]))
            })
            .max()
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(stops: &[&str], pieces: &[&[u8]]) -> (String, bool) {
        let stops: Vec<String> = stops.iter().map(|&stop| stop.to_owned()).collect();
        let mut stream = TextStream::new(&stops);
        let mut text = String::new();
        for piece in pieces {
            let pushed = stream.push(piece);
            text += &pushed.text;
            if pushed.stopped {
                return (text, true);
            }
        }
        (text + &stream.finish(), false)
    }

    #[test]
    fn a_character_split_over_tokens_appears_once_it_is_whole() {
        let mut stream = TextStream::new(&[]);
        let bytes = "é".as_bytes();
        assert_eq!(stream.push(&bytes[..1]).text, "");
        assert_eq!(stream.push(&bytes[1..]).text, "é");
    }

    #[test]
    fn bytes_that_can_be_no_character_become_replacement_characters() {
        assert_eq!(run(&[], &[b"a\xffb", b"\xe2\x82"]).0, "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn a_stop_string_over_several_tokens_cuts_the_text_before_it() {
        assert_eq!(
            run(&["END"], &[b"one E", b"N", b"D two"]),
            ("one ".into(), true)
        );
    }

    #[test]
    fn text_that_only_began_like_a_stop_string_is_given_out() {
        assert_eq!(run(&["END"], &[b"EN", b"ough"]), ("ENough".into(), false));
        assert_eq!(run(&["END"], &[b"the EN"]), ("the EN".into(), false));
    }

    #[test]
    fn the_earliest_of_several_stop_strings_counts() {
        assert_eq!(run(&["cd", "bc"], &[b"abcd"]), ("a".into(), true));
    }

    proptest! {
        #[test]
        fn however_a_text_is_cut_into_pieces_it_comes_out_whole_up_to_the_stop(
            text in "[ab€]{0,20}", stop in "[ab€]{1,3}", cuts in prop::collection::vec(0usize..60, 0..6),
        ) {
            let bytes = text.as_bytes();
            let mut edges: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            edges.extend([0, bytes.len()]);
            edges.sort_unstable();
            let pieces: Vec<&[u8]> = edges.windows(2).map(|edge| &bytes[edge[0]..edge[1]]).collect();
            let (streamed, stopped) = run(&[&stop], &pieces);
            prop_assert_eq!(stopped, text.contains(&stop));
            prop_assert_eq!(streamed, text.split(stop.as_str()).next().unwrap_or(""));
        }
    }
}
