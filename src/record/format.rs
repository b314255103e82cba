//! A recording as bytes; the layout stands at [`super`].

use super::frame::{Reader, push_frame, push_number};
use super::{Attempt, Header, Record, Text};
use crate::error::{Error, ErrorKind, Result};
use crate::types::TokenId;

/// The version of the format that is written, and the only one that is read.
pub const VERSION: u32 = 1;

/// What a recording begins with. The first byte is no text, and a transfer that converts the ends
/// of lines damages the last.
pub(super) const MAGIC: [u8; 8] = *b"\x89MSDREC\n";

/// What was read from the beginning of a recording.
#[derive(Debug)]
pub(super) struct Decoded {
    pub record: Record,
    /// Bytes up to the end of the last whole text.
    pub whole: usize,
}

/// The bytes that a file begins with.
pub(super) fn encode_header(header: &Header) -> Result<Vec<u8>> {
    let json = serde_json::to_vec(header)
        .map_err(|error| Error::invalid(format!("the header of the recording: {error}")))?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    push_frame(&mut bytes, &json)?;
    Ok(bytes)
}

/// The bytes of a text.
///
/// # Errors
/// When it is not one of a recording with `header`, or larger than 4 GiB.
pub(super) fn encode_text(header: &Header, text: &Text) -> Result<Vec<u8>> {
    check_text(header, text)?;
    let mut payload = Vec::new();
    push_number(&mut payload, text.category as u64);
    push_number(&mut payload, text.prompt_tokens as u64);
    push_number(&mut payload, text.tokens.len() as u64);
    for token in &text.tokens {
        push_number(&mut payload, token.index() as u64);
    }
    for (position, &verify_us) in text.verify_us.iter().enumerate() {
        push_number(&mut payload, verify_us);
        for attempt in text.at(position) {
            push_number(&mut payload, attempt.drafted as u64);
            push_number(&mut payload, attempt.accepted as u64);
            if attempt.drafted > 0 {
                payload.extend(attempt.bd.to_le_bytes());
            }
            payload.extend(attempt.tv.to_le_bytes());
            push_number(&mut payload, attempt.draft_us);
        }
    }
    let mut bytes = Vec::new();
    push_frame(&mut bytes, &payload)?;
    Ok(bytes)
}

/// Reads a whole recording.
///
/// # Errors
/// [`ErrorKind::InvalidRecord`] saying what is wrong: no recording, another version, damaged,
/// or not complete.
pub(super) fn decode(bytes: &[u8]) -> Result<Record> {
    let Decoded { record, whole } = decode_whole_texts(bytes)?;
    let (found, wanted) = (record.texts.len(), record.header.prompts);
    if whole < bytes.len() {
        return Err(wrong(format!(
            "it ends inside text {} of {wanted}; `metasd record` with the same options completes it",
            found + 1
        )));
    }
    if found < wanted {
        return Err(wrong(format!(
            "it has {found} of {wanted} texts; `metasd record` with the same options completes it"
        )));
    }
    Ok(record)
}

/// Reads a recording up to where it ends, be that in the middle of a text.
///
/// # Errors
/// Those of [`decode`] but for the texts that are not there.
pub(super) fn decode_whole_texts(bytes: &[u8]) -> Result<Decoded> {
    let mut rest = Reader { bytes };
    match rest.take(MAGIC.len()) {
        Some(magic) if magic == MAGIC => {}
        _ if bytes.is_empty() => return Err(wrong("it is empty")),
        _ => {
            return Err(wrong(
                "it is no recording: it does not begin as those of `metasd record` do",
            ));
        }
    }
    let version = rest.array().map(u32::from_le_bytes);
    match version {
        Some(VERSION) => {}
        Some(other) => {
            return Err(wrong(format!(
                "it has version {other} of the format; this program reads version {VERSION}"
            )));
        }
        None => return Err(wrong("it ends inside its header")),
    }
    let json = rest
        .frame()
        .map_err(|why| wrong(format!("its header is damaged: {why}")))?
        .ok_or_else(|| wrong("it ends inside its header"))?;
    let header: Header =
        serde_json::from_slice(json).map_err(|error| wrong(format!("its header: {error}")))?;
    if header.n_max == 0 || header.drafters.is_empty() {
        return Err(wrong(
            "its header: there must be a drafter, and n_max must be at least 1",
        ));
    }
    let mut texts = Vec::new();
    let mut whole = bytes.len() - rest.bytes.len();
    while texts.len() < header.prompts {
        let place = || format!("text {} of {}", texts.len() + 1, header.prompts);
        let frame = rest.frame();
        let frame = frame
            .map_err(|why| wrong(format!("{}, at byte {whole}, is damaged: {why}", place())))?;
        let Some(payload) = frame else { break };
        let text = decode_text(&header, payload)
            .map_err(|error| wrong(format!("{}, at byte {whole}: {error}", place())))?;
        texts.push(text);
        whole = bytes.len() - rest.bytes.len();
    }
    if texts.len() == header.prompts && whole < bytes.len() {
        return Err(wrong(format!(
            "{} bytes follow the last of its {} texts",
            bytes.len() - whole,
            texts.len()
        )));
    }
    Ok(Decoded {
        record: Record { header, texts },
        whole,
    })
}

fn decode_text(header: &Header, payload: &[u8]) -> Result<Text> {
    let mut reader = Reader { bytes: payload };
    let short = || wrong("it ends too early");
    let text = read_text(header, &mut reader).ok_or_else(short)?;
    if !reader.bytes.is_empty() {
        return Err(wrong(format!("{} bytes follow it", reader.bytes.len())));
    }
    check_text(header, &text)?;
    Ok(text)
}

/// `None` when the payload ends too early or a number is too large.
fn read_text(header: &Header, reader: &mut Reader<'_>) -> Option<Text> {
    let mut text = Text {
        category: reader.count()?,
        prompt_tokens: reader.count()?,
        ..Text::default()
    };
    for _ in 0..reader.count()? {
        let token = i32::try_from(reader.number()?).ok()?;
        text.tokens.push(TokenId(token));
    }
    for _ in 0..text.tokens.len() {
        text.verify_us.push(reader.number()?);
        for _ in 0..header.drafters.len() {
            let drafted = reader.count()?;
            text.attempts.push(Attempt {
                drafted,
                accepted: reader.count()?,
                bd: match drafted {
                    0 => 0.0,
                    _ => f64::from_le_bytes(reader.array()?),
                },
                tv: f32::from_le_bytes(reader.array()?),
                draft_us: reader.number()?,
            });
        }
    }
    Some(text)
}

/// Whether `text` can be one of a recording with `header`.
fn check_text(header: &Header, text: &Text) -> Result<()> {
    let check = |holds: bool, what: &dyn Fn() -> String| match holds {
        true => Ok(()),
        false => Err(wrong(what())),
    };
    let categories = header.categories.len();
    check(text.category < categories, &|| {
        format!("category {} is none of {categories}", text.category)
    })?;
    let tokens = text.tokens.len();
    check((1..=header.n_predict).contains(&tokens), &|| {
        format!(
            "it has {tokens} tokens; it must have 1 to {}",
            header.n_predict
        )
    })?;
    let attempts = tokens * header.drafters.len();
    check(
        text.verify_us.len() == tokens && text.attempts.len() == attempts,
        &|| {
            format!(
                "{tokens} tokens have {} times and {} attempts; there must be {tokens} and {attempts}",
                text.verify_us.len(),
                text.attempts.len()
            )
        },
    )?;
    for position in 0..tokens {
        let most = header.most_drafted(text.prompt_tokens, position);
        for (attempt, drafter) in text.at(position).iter().zip(&header.drafters) {
            let Attempt {
                drafted,
                accepted,
                bd,
                tv,
                ..
            } = *attempt;
            check(accepted <= drafted && drafted <= most, &|| {
                format!(
                    "position {position}, drafter `{}`: {accepted} tokens accepted of {drafted} \
                     drafted, of which there are {most} at most",
                    drafter.name
                )
            })?;
            for (name, value) in [("bd", bd), ("tv", f64::from(tv))] {
                check((0.0..=1.0).contains(&value), &|| {
                    format!(
                        "position {position}, drafter `{}`: {name} is {value}; it must lie in [0, 1]",
                        drafter.name
                    )
                })?;
            }
        }
    }
    Ok(())
}

fn wrong(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidRecord, what)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::header;

    fn text(tokens: i32) -> Text {
        let count = usize::try_from(tokens).expect("a count");
        let header = header(&["a", "b"], &["x", "y"], 2);
        let attempt = |position: usize, arm: usize| {
            let drafted = header.most_drafted(10, position) * arm;
            Attempt {
                drafted,
                accepted: drafted / 2,
                bd: if drafted > 0 {
                    0.1 + 0.1 * position as f64
                } else {
                    0.0
                },
                tv: 1.0 / (1.0 + position as f32),
                draft_us: 1000 * position as u64,
            }
        };
        Text {
            category: 1,
            prompt_tokens: 10,
            tokens: (0..tokens).map(|token| TokenId(token * 49_151)).collect(),
            verify_us: (0..count as u64).map(|position| position * 99).collect(),
            attempts: (0..count)
                .flat_map(|position| [0, 1].map(|arm| attempt(position, arm)))
                .collect(),
        }
    }

    fn record() -> Record {
        Record {
            header: header(&["a", "b"], &["x", "y"], 2),
            texts: vec![text(8), text(3)],
        }
    }

    fn bytes(record: &Record) -> Vec<u8> {
        let mut bytes = encode_header(&record.header).expect("a header");
        for text in &record.texts {
            bytes.extend(encode_text(&record.header, text).expect("a text"));
        }
        bytes
    }

    fn message(bytes: &[u8]) -> String {
        let error = decode(bytes).expect_err("wrong");
        assert_eq!(error.kind(), ErrorKind::InvalidRecord);
        error.to_string()
    }

    #[test]
    fn a_recording_is_read_as_it_was_written() {
        let record = record();
        assert_eq!(decode(&bytes(&record)).expect("whole"), record);
    }

    #[test]
    fn a_foreign_or_empty_file_and_another_version_are_told_apart() {
        assert_eq!(message(b""), "it is empty");
        for foreign in [&b"GGUF\x03\0\0\0\x01\0\0\0"[..], b"{}", b"\x89MSDREC\r\n"] {
            assert!(message(foreign).contains("no recording"));
        }
        let mut newer = bytes(&record());
        newer[8] = 2;
        assert_eq!(
            message(&newer),
            "it has version 2 of the format; this program reads version 1"
        );
    }

    #[test]
    fn wherever_a_recording_ends_too_early_it_says_so() {
        let record = record();
        let bytes = bytes(&record);
        let header = encode_header(&record.header).expect("a header").len();
        let first = encode_text(&record.header, &record.texts[0]).expect("a text");
        let first = header + first.len();
        for end in 1..bytes.len() {
            let expected = match end {
                _ if end < MAGIC.len() => "it is no recording",
                _ if end < header => "it ends inside its header",
                _ if end == header => "it has 0 of 2 texts",
                _ if end < first => "it ends inside text 1 of 2",
                _ if end == first => "it has 1 of 2 texts",
                _ => "it ends inside text 2 of 2",
            };
            let message = message(&bytes[..end]);
            assert!(message.starts_with(expected), "{end}: {message}");
            let whole = decode_whole_texts(&bytes[..end]);
            match whole {
                Err(_) => assert!(end < header),
                Ok(decoded) => {
                    let texts = usize::from(end >= first);
                    assert_eq!(decoded.record.texts, record.texts[..texts]);
                    assert_eq!(decoded.whole, if end < first { header } else { first });
                }
            }
        }
    }

    #[test]
    fn what_follows_the_last_text_is_not_taken_for_more() {
        let mut longer = bytes(&record());
        longer.extend([0; 3]);
        assert_eq!(message(&longer), "3 bytes follow the last of its 2 texts");
    }

    #[test]
    fn a_text_that_no_recorder_writes_is_refused_with_its_place() {
        let record = record();
        let with = |change: &dyn Fn(&mut Text)| {
            let mut text = record.texts[0].clone();
            change(&mut text);
            let error = encode_text(&record.header, &text).expect_err("wrong");
            assert_eq!(error.kind(), ErrorKind::InvalidRecord);
            error.to_string()
        };
        assert!(with(&|text| text.category = 2).contains("category 2 is none of 2"));
        assert!(with(&|text| text.attempts[3].bd = f64::NAN).contains("drafter `b`: bd is NaN"));
        assert!(with(&|text| text.attempts[2].tv = 1.5).contains("position 1, drafter `a`"));
        let message = with(&|text| text.attempts[1].accepted = 6);
        assert!(
            message.contains("6 tokens accepted of 5 drafted"),
            "{message}"
        );
        assert!(with(&|text| text.tokens.clear()).contains("0 tokens"));
        assert!(with(&|text| text.attempts.truncate(15)).contains("15 attempts"));
        // The same from a file whose checksum is right.
        let mut file = encode_header(&record.header).expect("a header");
        push_frame(&mut file, &[1, 10, 1, 0, 0]).expect("a frame");
        let message = super::tests::message(&file);
        assert!(
            message.contains("text 1 of 2") && message.contains("ends too early"),
            "{message}"
        );
    }

    proptest! {
        #[test]
        fn any_damaged_byte_is_found(
            place in any::<prop::sample::Index>(), bits in 1u8..=255,
        ) {
            let mut bytes = bytes(&record());
            let place = place.index(bytes.len());
            bytes[place] ^= bits;
            let error = decode(&bytes).expect_err("damaged");
            prop_assert_eq!(error.kind(), ErrorKind::InvalidRecord);
            // No damage passes for an interruption, which would be written over.
            prop_assert!(decode_whole_texts(&bytes).is_err());
        }

        #[test]
        fn no_bytes_at_all_make_the_reader_panic(
            payload in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let header = header(&["a", "b"], &["x"], 1);
            let mut file = encode_header(&header).expect("a header");
            push_frame(&mut file, &payload).expect("a frame");
            let _ = decode(&file);
        }
    }
}
