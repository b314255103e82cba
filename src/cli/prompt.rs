//! From what the user wrote to the tokens that the model reads.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use metasd::llama::{ChatMessage, Model};
use metasd::{Error, Result, TokenId};

use super::args::PromptSource;
use super::options::TemplateArgs;
use super::warn;

/// No prompt file is read further; a device may have no end.
const MAX_BYTES: u64 = 64 << 20;

/// The prompt's text.
///
/// # Errors
/// When it is empty, or when its file cannot be read or is not UTF-8.
pub fn read(source: &PromptSource) -> Result<String> {
    let text = match (&source.prompt, &source.file) {
        (Some(text), _) => text.clone(),
        (None, Some(path)) => read_file(path)?,
        (None, None) => return Err(Error::invalid("no prompt: give one with -p or -f")),
    };
    if text.is_empty() {
        return Err(Error::invalid(
            "the prompt is empty; it must have at least one character",
        ));
    }
    Ok(text)
}

fn read_all(mut from: impl Read, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    from.read_to_end(bytes).map(|_| ())
}

/// The text of a file (`-`: of standard input) without the newline that ends its last line.
///
/// # Errors
/// When it cannot be read or is not UTF-8.
pub fn read_file(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    let (read, name) = if path == Path::new("-") {
        let input = std::io::stdin().lock().take(MAX_BYTES + 1);
        (read_all(input, &mut bytes), Path::new("standard input"))
    } else {
        let file = File::open(path).map(|file| file.take(MAX_BYTES + 1));
        (file.and_then(|file| read_all(file, &mut bytes)), path)
    };
    read.map_err(|error| Error::io("cannot read", name, error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Error::invalid(format!(
            "{} is larger than 64 MiB; no context holds such a prompt",
            name.display()
        )));
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let byte = error.as_bytes().get(offset).copied().unwrap_or_default();
        Error::invalid(format!(
            "{} is not UTF-8: byte 0x{byte:02x} at offset {offset} is no part of a character",
            name.display()
        ))
    })?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

/// The tokens of `text` as the first message of a conversation, or as it is when the user asked
/// for that or the model knows no conversations. `default_system` is the system prompt of those
/// who give none.
///
/// # Errors
/// When the model's chat template cannot be applied.
pub fn tokens(
    model: &Model,
    text: &str,
    template: &TemplateArgs,
    default_system: Option<&str>,
) -> Result<Vec<TokenId>> {
    if template.no_conversation || !model.has_chat_template() {
        if template.system_prompt.is_some() {
            warn(format_args!(
                "{} has no chat template; the system prompt is left out",
                model.path().display()
            ));
        }
        return Ok(model.tokenize(text, true, true));
    }
    let mut messages = system_message(template.system_prompt.as_deref(), default_system);
    messages.push(ChatMessage::new("user", text));
    let text = model.apply_chat_template(&messages, true)?;
    Ok(model.tokenize(&text, true, true))
}

/// The message that a conversation begins with, if any: what was given, else the default. An
/// empty one asks for none.
pub fn system_message(given: Option<&str>, default: Option<&str>) -> Vec<ChatMessage> {
    given
        .or(default)
        .filter(|text| !text.is_empty())
        .map(|text| ChatMessage::new("system", text))
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_bytes(bytes: &[u8]) -> Result<String> {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), bytes).expect("writable");
        read_file(file.path())
    }

    #[test]
    fn the_newline_that_ends_a_file_is_no_part_of_the_prompt() {
        assert_eq!(read_bytes(b"a\nb\n").expect("text"), "a\nb");
        assert_eq!(read_bytes(b"a\r\n").expect("text"), "a");
        assert_eq!(read_bytes(b"a\n\n").expect("text"), "a\n");
    }

    #[test]
    fn a_byte_that_is_no_text_is_named_with_its_offset() {
        let error = read_bytes(b"abc\xffd").expect_err("not UTF-8");
        assert!(
            error.to_string().contains("byte 0xff at offset 3"),
            "{error}"
        );
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn the_given_system_prompt_wins_and_an_empty_one_asks_for_none() {
        let content = |given, default| {
            let message = system_message(given, default).pop();
            message.map(|message| message.content)
        };
        assert_eq!(content(None, None), None);
        assert_eq!(content(None, Some("d")).as_deref(), Some("d"));
        assert_eq!(content(Some("g"), Some("d")).as_deref(), Some("g"));
        assert_eq!(content(Some(""), Some("d")), None);
    }
}
