//! The file that takes every run as it ends, so that an interrupted bench goes on from it.

use std::fs::File;
use std::io::{ErrorKind as IoErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use metasd::bench::RunRecord;
use metasd::{Error, ErrorKind, Result};
use serde_json::Value;

/// Differences that an error names; one is enough to see what is wrong.
const NAMED_DIFFERENCES: usize = 4;

/// A line with the settings, and one for each run that has ended.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    records: Vec<RunRecord>,
}

impl Journal {
    /// Opens the file at `path`, or begins it. What follows its last whole line was being written
    /// when the bench was interrupted, and goes.
    ///
    /// # Errors
    /// When the file has other settings than `settings`, naming what differs; when a line is no
    /// run; when it cannot be read or written.
    pub fn open(path: &Path, settings: &Value) -> Result<Self> {
        let text = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == IoErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Error::io("cannot read", path, error)),
        };
        let whole = text
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let records = read(&text[..whole], path, settings)?;
        if whole == 0 && !line(settings, path)?.as_bytes().starts_with(&text) {
            return Err(wrong(path, 1, "not the settings of a bench"));
        }
        let failed = |error| Error::io("cannot write", path, error);
        let mut file = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        file.set_len(whole as u64).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let mut journal = Self {
            file,
            path: path.to_owned(),
            records,
        };
        if whole == 0 {
            journal.line(settings)?;
        }
        Ok(journal)
    }

    /// The runs that have ended.
    pub fn records(&self) -> &[RunRecord] {
        &self.records
    }

    /// Adds a run; it is in the file when this returns.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, record: RunRecord) -> Result<()> {
        self.line(&record)?;
        self.records.push(record);
        Ok(())
    }

    fn line(&mut self, value: &impl serde::Serialize) -> Result<()> {
        let line = line(value, &self.path)?;
        self.file
            .write_all(line.as_bytes())
            .map_err(|error| Error::io("cannot write", &self.path, error))
    }
}

/// `value` as a line of the file at `path`.
fn line(value: &impl serde::Serialize, path: &Path) -> Result<String> {
    let text = serde_json::to_string(value)
        .map_err(|error| Error::io("cannot write", path, std::io::Error::other(error)))?;
    Ok(text + "\n")
}

fn wrong(path: &Path, line: usize, what: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::Config,
        format!(
            "{}:{line}: {what}; remove the file to begin anew, or name another folder with --output",
            path.display()
        ),
    )
}

fn read(text: &[u8], path: &Path, settings: &Value) -> Result<Vec<RunRecord>> {
    let text = std::str::from_utf8(text).map_err(|error| wrong(path, 1, error))?;
    let mut lines = text.lines().enumerate();
    let Some((_, header)) = lines.next() else {
        return Ok(Vec::new());
    };
    let header: Value = serde_json::from_str(header).map_err(|error| {
        wrong(
            path,
            1,
            format_args!("not the settings of a bench: {error}"),
        )
    })?;
    let mut differences = Vec::new();
    compare("", &header, settings, &mut differences);
    if !differences.is_empty() {
        let rest = differences.len().saturating_sub(NAMED_DIFFERENCES);
        differences.truncate(NAMED_DIFFERENCES);
        if rest > 0 {
            differences.push(format!("and {rest} more"));
        }
        return Err(Error::invalid(format!(
            "{} holds runs of other settings: {}; name another folder with --output, or remove \
             the file to begin anew",
            path.display(),
            differences.join(", ")
        )));
    }
    lines
        .map(|(index, line)| {
            serde_json::from_str(line)
                .map_err(|error| wrong(path, index + 1, format_args!("not a run: {error}")))
        })
        .collect()
}

/// Where `there` differs from `here`, as `name: THERE there, HERE here`.
fn compare(name: &str, there: &Value, here: &Value, differences: &mut Vec<String>) {
    let below = |key: &str| match name {
        "" => key.to_owned(),
        name => format!("{name}.{key}"),
    };
    match (there, here) {
        (Value::Object(there), Value::Object(here)) => {
            let missing = here.keys().filter(|key| !there.contains_key(*key));
            for key in there.keys().chain(missing) {
                let value = |object: &serde_json::Map<String, Value>| {
                    object.get(key).cloned().unwrap_or(Value::Null)
                };
                compare(&below(key), &value(there), &value(here), differences);
            }
        }
        (Value::Array(there), Value::Array(here)) if there.len() == here.len() => {
            for (index, (there, here)) in there.iter().zip(here).enumerate() {
                compare(&below(&index.to_string()), there, here, differences);
            }
        }
        (there, here) if there != here => {
            differences.push(format!("{name} is {there} there and {here} here"));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use metasd::bench::Parts;
    use serde_json::json;

    use super::*;

    fn record(prompt: usize) -> RunRecord {
        RunRecord {
            repetition: 0,
            prompt,
            domain: "qa".to_owned(),
            temperature: 0.0,
            method: "off".to_owned(),
            reward: None,
            stop_reason: "limit".to_owned(),
            tokens: 8,
            milliseconds: 160.5,
            parts: Parts::default(),
            comparison: None,
            rounds: Vec::new(),
        }
    }

    fn settings() -> Value {
        json!({"format": 1, "predict": 8, "methods": ["off", "exp3"], "target": {"sha256": "ab"}})
    }

    fn path(folder: &tempfile::TempDir) -> PathBuf {
        folder.path().join("runs.jsonl")
    }

    #[test]
    fn runs_are_found_again_without_the_line_that_was_cut() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = path(&folder);
        let mut journal = Journal::open(&path, &settings()).expect("a new file");
        assert!(journal.records().is_empty());
        journal.add(record(0)).expect("written");
        journal.add(record(1)).expect("written");
        let text = std::fs::read(&path).expect("readable");
        std::fs::write(&path, &text[..text.len() - 7]).expect("writable");
        let mut journal = Journal::open(&path, &settings()).expect("the same settings");
        assert_eq!(journal.records(), [record(0)]);
        journal.add(record(2)).expect("written");
        let journal = Journal::open(&path, &settings()).expect("the same settings");
        assert_eq!(journal.records(), [record(0), record(2)]);
    }

    #[test]
    fn a_header_that_was_cut_is_written_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = path(&folder);
        std::fs::write(&path, "{\"form").expect("writable");
        Journal::open(&path, &settings()).expect("nothing is lost");
        let text = std::fs::read_to_string(&path).expect("readable");
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn a_file_of_something_else_is_left_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = path(&folder);
        for foreign in [
            &b"one long line"[..],
            b"{\"format\": 1}",
            b"\xff\xfe",
            b"a\n",
        ] {
            std::fs::write(&path, foreign).expect("writable");
            let error = Journal::open(&path, &settings()).expect_err("no journal");
            assert!(error.to_string().contains("runs.jsonl"), "{error}");
            assert_eq!(error.exit_code(), 2);
            assert_eq!(std::fs::read(&path).expect("readable"), foreign);
        }
    }

    #[test]
    fn other_settings_are_refused_naming_what_differs() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = path(&folder);
        Journal::open(&path, &settings()).expect("a new file");
        let mut other = settings();
        other["predict"] = json!(16);
        other["target"]["sha256"] = json!("cd");
        other["threads"] = json!(2);
        let error = Journal::open(&path, &other).expect_err("other settings");
        let message = error.to_string();
        for part in [
            "runs.jsonl holds runs of other settings: ",
            "predict is 8 there and 16 here",
            "target.sha256 is \"ab\" there and \"cd\" here",
            "threads is null there and 2 here",
            "--output",
        ] {
            assert!(message.contains(part), "{message}");
        }
        assert_eq!(error.exit_code(), 2);
        let mut methods = settings();
        methods["methods"] = json!(["off"]);
        let message = Journal::open(&path, &methods)
            .expect_err("fewer")
            .to_string();
        assert!(
            message.contains("methods is [\"off\",\"exp3\"] there"),
            "{message}"
        );
    }

    #[test]
    fn a_line_that_is_no_run_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = path(&folder);
        drop(Journal::open(&path, &settings()).expect("a new file"));
        let mut text = std::fs::read_to_string(&path).expect("readable");
        text.push_str("{\"repetition\": 0}\n");
        std::fs::write(&path, &text).expect("writable");
        let error = Journal::open(&path, &settings()).expect_err("no run");
        assert!(
            error.to_string().contains("runs.jsonl:2: not a run"),
            "{error}"
        );
        assert_eq!(std::fs::read_to_string(&path).expect("readable"), text);
    }
}
