//! Suites of prompts: files with a JSON object a line, by category.

use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};

use metasd::{Error, ErrorKind, Result};
use serde::Deserialize;

use super::options::SuiteArgs;
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

/// The prompts that `args` choose, by category; `pool` is the pool file, if there is one.
///
/// # Errors
/// Those of [`read_all`] and [`categories`].
pub fn read(args: &SuiteArgs, pool: Option<&Path>) -> Result<Vec<Category>> {
    let prompts = read_all(&args.prompts, pool)?;
    categories(prompts, &args.categories, args.per_category)
}

/// The prompts of the files `given`, else of those beside the pool file; one without a category
/// has its file's name for it.
///
/// # Errors
/// When there are no files or one cannot be read, and naming a line that is wrong.
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
        let text = read_file(path).map_err(|error| match error.kind() {
            // The command line is wrong then.
            ErrorKind::NotFound => Error::invalid(error.to_string()).context("--prompts"),
            _ => error,
        })?;
        let read = parse_prompts(&text, path)?;
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

fn parse_prompts(text: &str, path: &Path) -> Result<Vec<Prompt>> {
    let mut prompts = Vec::new();
    // Some editors begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
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
        prompts.push(Prompt { text, category });
    }
    Ok(prompts)
}

/// The prompts of one category.
#[derive(Debug, PartialEq)]
pub struct Category {
    /// Its name.
    pub name: String,
    /// What is asked.
    pub texts: Vec<String>,
}

/// The prompts by category, in the order in which categories first occur; only those `asked` for,
/// if any are, and of each `per_category` prompts at most.
///
/// # Errors
/// When there are no prompts, or none of a category that was asked for.
pub fn categories(
    prompts: Vec<Prompt>,
    asked: &[String],
    per_category: Option<usize>,
) -> Result<Vec<Category>> {
    let mut categories: Vec<Category> = Vec::new();
    for Prompt { text, category } in prompts {
        match categories.iter_mut().find(|known| known.name == category) {
            Some(known) => known.texts.push(text),
            None => categories.push(Category {
                name: category,
                texts: vec![text],
            }),
        }
    }
    if categories.is_empty() {
        return Err(Error::invalid("the prompt files hold no prompts"));
    }
    let known: Vec<&str> = categories.iter().map(|category| &*category.name).collect();
    if let Some(unknown) = asked.iter().find(|asked| !known.contains(&asked.as_str())) {
        return Err(Error::invalid(format!(
            "category `{unknown}` has no prompts; there are {}",
            known.join(", ")
        )));
    }
    categories.retain(|category| asked.is_empty() || asked.contains(&category.name));
    for category in &mut categories {
        category.texts.truncate(per_category.unwrap_or(usize::MAX));
    }
    Ok(categories)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<(String, String)>> {
        let prompts = parse_prompts(text, Path::new("p.jsonl"))?;
        Ok(prompts
            .into_iter()
            .map(|prompt| (prompt.text, prompt.category))
            .collect())
    }

    #[test]
    fn a_line_has_a_prompt_or_turns_of_which_the_first_counts() {
        let text = "\u{feff}{\"prompt\": \"a\", \"id\": 7}\r\n\n{\"turns\": [\"b\", \"c\"], \"category\": \"qa\"}";
        let expected = [("a".into(), String::new()), ("b".into(), "qa".into())];
        assert_eq!(parse(text).expect("valid"), expected);
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
            let error = parse(&text).expect_err("wrong");
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

    fn prompts(lines: &[(&str, &str)]) -> Vec<Prompt> {
        let prompt = |&(text, category): &(&str, &str)| Prompt {
            text: text.to_owned(),
            category: category.to_owned(),
        };
        lines.iter().map(prompt).collect()
    }

    #[test]
    fn categories_come_in_the_order_of_their_first_prompts() {
        let given = [("a", "x"), ("b", "y"), ("c", "x"), ("d", "x")];
        let taken = categories(prompts(&given), &[], Some(2)).expect("valid");
        let taken: Vec<_> = taken.iter().map(|c| (&*c.name, &*c.texts)).collect();
        let (a, b, c) = ("a".to_owned(), "b".to_owned(), "c".to_owned());
        assert_eq!(taken, [("x", &[a, c][..]), ("y", &[b][..])]);
    }

    #[test]
    fn a_category_without_prompts_is_refused_and_those_there_are_are_named() {
        let given = [("a", "x"), ("b", "y")];
        let taken = categories(prompts(&given), &["y".to_owned()], None).expect("valid");
        assert_eq!(taken.len(), 1);
        let error = categories(prompts(&given), &["z".to_owned()], None).expect_err("unknown");
        assert!(error.to_string().contains("`z`"), "{error}");
        assert!(error.to_string().ends_with("x, y"), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
}
