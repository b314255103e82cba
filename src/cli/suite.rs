//! Files of prompts: a JSON object a line.

use std::collections::HashMap;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};

use metasd::{Error, ErrorKind, Result};
use serde::Deserialize;

use super::prompt::read_file;

/// Where prompts lie beside the pool file.
const PROMPTS: &str = "prompts";

/// A prompt of a suite.
#[derive(Debug, PartialEq)]
pub struct Prompt {
    /// What is asked; of several turns the first.
    pub text: String,
    /// What kind of prompt it is; empty where its line does not say.
    pub category: String,
}

/// A line of a prompt file; whatever else it has is not looked at.
#[derive(Debug, Deserialize)]
struct PromptLine {
    prompt: Option<String>,
    turns: Option<Vec<String>>,
    category: Option<String>,
}

/// The prompts of the file at `path`, of each category `per_category` at most.
///
/// # Errors
/// When the file cannot be read, or naming the line that is wrong.
pub fn read(path: &Path, per_category: Option<usize>) -> Result<Vec<Prompt>> {
    parse_prompts(&read_file(path)?, path, per_category)
}

/// The prompts of the files `given`, else of those beside the pool file; one without a category
/// has its file's name for it.
///
/// # Errors
/// Those of [`read`]; when there are no files.
pub fn read_all(given: &[PathBuf], pool: Option<&Path>) -> Result<Vec<Prompt>> {
    let found = match (given, pool) {
        ([], None) => {
            return Err(Error::invalid("no prompts; give a file with --prompts"));
        }
        ([], Some(pool)) => prompt_files(&pool.with_file_name(PROMPTS))?,
        (given, _) => given.to_vec(),
    };
    let mut prompts = Vec::new();
    for path in &found {
        let read = read(path, None).map_err(|error| match error.kind() {
            // The command line is wrong then.
            ErrorKind::NotFound => Error::invalid(error.to_string()).context("--prompts"),
            _ => error,
        })?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        prompts.extend(read.into_iter().map(|prompt| match &*prompt.category {
            "" => Prompt {
                category: stem.clone().into_owned(),
                ..prompt
            },
            _ => prompt,
        }));
    }
    Ok(prompts)
}

/// The prompt files in `folder`, by name.
fn prompt_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let none = || {
        Error::invalid(format!(
            "no prompts: {} has no .jsonl file; give one with --prompts",
            folder.display()
        ))
    };
    let wrong = |error: std::io::Error| match error.kind() {
        IoErrorKind::NotFound => none(),
        _ => Error::io("cannot read", folder, error),
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(none());
    }
    files.sort_unstable();
    Ok(files)
}

fn parse_prompts(text: &str, path: &Path, per_category: Option<usize>) -> Result<Vec<Prompt>> {
    let most = per_category.unwrap_or(usize::MAX);
    let mut taken: HashMap<String, usize> = HashMap::new();
    let mut prompts = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |what: String| {
            let place = format!("{}:{}", path.display(), index + 1);
            Error::new(ErrorKind::Config, format!("{place}: {what}"))
        };
        let line: PromptLine = serde_json::from_str(line).map_err(|error| {
            wrong(format!(
                "{error}; a line is a JSON object with `prompt` or `turns`"
            ))
        })?;
        let first_turn = || line.turns.and_then(|turns| turns.into_iter().next());
        let text = line
            .prompt
            .or_else(first_turn)
            .filter(|text| !text.is_empty())
            .ok_or_else(|| {
                wrong("no prompt: it must have a text in `prompt` or `turns`".to_owned())
            })?;
        let category = line.category.unwrap_or_default();
        let count = taken.entry(category.clone()).or_default();
        if *count < most {
            *count += 1;
            prompts.push(Prompt { text, category });
        }
    }
    Ok(prompts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, per_category: Option<usize>) -> Result<Vec<(String, String)>> {
        let prompts = parse_prompts(text, Path::new("p.jsonl"), per_category)?;
        Ok(prompts
            .into_iter()
            .map(|prompt| (prompt.text, prompt.category))
            .collect())
    }

    #[test]
    fn a_line_has_a_prompt_or_turns_of_which_the_first_counts() {
        let text =
            "{\"prompt\": \"a\", \"id\": 7}\n\n{\"turns\": [\"b\", \"c\"], \"category\": \"qa\"}";
        let expected = [("a".into(), String::new()), ("b".into(), "qa".into())];
        assert_eq!(parse(text, None).expect("valid"), expected);
    }

    #[test]
    fn so_many_prompts_of_each_category_are_taken() {
        let line = |text: &str, category: &str| {
            format!("{{\"prompt\": \"{text}\", \"category\": \"{category}\"}}\n")
        };
        let text = [("a", "x"), ("b", "x"), ("c", "y")]
            .map(|(t, c)| line(t, c))
            .concat();
        let texts: Vec<_> = parse(&text, Some(1))
            .expect("valid")
            .into_iter()
            .map(|p| p.0)
            .collect();
        assert_eq!(texts, ["a", "c"]);
    }

    #[test]
    fn a_wrong_line_is_named() {
        for line in [
            "nonsense",
            "{\"turns\": []}",
            "{\"prompt\": \"\"}",
            "{\"prompt\": 3}",
        ] {
            let text = format!("{{\"prompt\": \"a\"}}\n{line}");
            let error = parse(&text, None).expect_err("wrong");
            assert!(error.to_string().starts_with("p.jsonl:2: "), "{error}");
            assert_eq!(error.exit_code(), 2);
        }
    }

    #[test]
    fn prompt_files_are_read_by_name_and_lend_their_names_to_prompts_without_category() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pool = folder.path().join("pool.toml");
        let prompts = folder.path().join(PROMPTS);
        let error = read_all(&[], Some(&pool)).expect_err("no folder");
        assert!(error.to_string().contains(PROMPTS), "{error}");
        assert_eq!(error.exit_code(), 2);
        std::fs::create_dir(&prompts).expect("writable");
        assert!(read_all(&[], Some(&pool)).is_err());
        let write = |name: &str, line: &str| {
            std::fs::write(prompts.join(name), line).expect("writable");
        };
        write("b.jsonl", "{\"prompt\": \"2\"}");
        write(
            "a.jsonl",
            "{\"turns\": [\"1\", \"-\"], \"category\": \"qa\"}",
        );
        write("notes.txt", "no prompts");
        let read = read_all(&[], Some(&pool)).expect("valid");
        let prompt = |text: &str, category: &str| Prompt {
            text: text.into(),
            category: category.into(),
        };
        assert_eq!(read, [prompt("1", "qa"), prompt("2", "b")]);
    }
}
