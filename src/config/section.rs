//! A table of a TOML file whose mistakes are reported with file, line and field.

use std::borrow::Cow;
use std::fmt::Display;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::error::{Error, ErrorKind, Result};

/// Where a text comes from.
#[derive(Clone, Debug)]
pub(super) struct Source {
    path: PathBuf,
    /// The byte offset at which each line begins.
    lines: Vec<usize>,
}

impl Source {
    pub(super) fn new(path: &Path, text: &str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            path: path.to_owned(),
            lines: [0].into_iter().chain(after_breaks).collect(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The line, from 1, that holds the byte at `offset`.
    fn line(&self, offset: usize) -> usize {
        self.lines.partition_point(|&start| start <= offset)
    }

    pub(super) fn error(&self, line: usize, message: impl Display) -> Error {
        Error::new(
            ErrorKind::Config,
            format!("{}:{line}: {message}", self.path.display()),
        )
    }
}

/// A table that is read key by key.
pub(super) struct Section<'a> {
    source: &'a Source,
    table: DeTable<'a>,
    /// What errors call it; empty for the file as a whole.
    label: String,
    line: usize,
}

impl<'a> Section<'a> {
    /// The whole of `text`.
    pub(super) fn root(source: &'a Source, text: &'a str) -> Result<Self> {
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map_or(1, |span| source.line(span.start));
            source.error(line, error.message())
        })?;
        Ok(Self {
            source,
            table: table.into_inner(),
            label: String::new(),
            line: 1,
        })
    }

    /// What errors call this table from now on.
    pub(super) fn label(&mut self, label: impl Into<String>) {
        self.label = label.into();
    }

    pub(super) fn error(&self, line: usize, message: impl Display) -> Error {
        if self.label.is_empty() {
            self.source.error(line, message)
        } else {
            self.source
                .error(line, format_args!("{}: {message}", self.label))
        }
    }

    /// The first key for which `wanted` holds, with its line.
    pub(super) fn find(&self, wanted: impl Fn(&str) -> bool) -> Option<(String, usize)> {
        self.table
            .keys()
            .filter(|key| wanted(key.get_ref()))
            .min_by_key(|key| key.span().start)
            .map(|key| {
                (
                    key.get_ref().clone().into_owned(),
                    self.source.line(key.span().start),
                )
            })
    }

    /// Refuses every key but `known`.
    pub(super) fn check_keys(&self, known: &[impl AsRef<str>]) -> Result<()> {
        let is_known = |key: &str| known.iter().any(|known| known.as_ref() == key);
        let Some((key, line)) = self.find(|key| !is_known(key)) else {
            return Ok(());
        };
        let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
        Err(self.error(
            line,
            format_args!("unknown key `{key}`; known keys: {}", known.join(", ")),
        ))
    }

    /// The value of `key` with its line, if the table has it.
    pub(super) fn take<T: DeserializeOwned>(&mut self, key: &str) -> Result<Option<(T, usize)>> {
        let Some(value) = self.table.remove(key) else {
            return Ok(None);
        };
        let line = self.source.line(value.span().start);
        T::deserialize(ValueDeserializer::from(value))
            .map(|value| Some((value, line)))
            .map_err(|error| self.error(line, format_args!("{key}: {}", in_plain_words(&error))))
    }

    /// The value of `key`, which must be there; `what` says what it is, for who left it out.
    pub(super) fn require<T: DeserializeOwned>(
        &mut self,
        key: &str,
        what: &str,
    ) -> Result<(T, usize)> {
        match self.take(key)? {
            Some(found) => Ok(found),
            None => Err(self.error(
                self.line,
                format_args!("`{key}` is missing; it must be {what}"),
            )),
        }
    }

    /// The value of `key`, a number of at least 1, if the table has it.
    pub(super) fn take_positive(&mut self, key: &str) -> Result<Option<usize>> {
        match self.take(key)? {
            Some((0, line)) => {
                Err(self.error(line, format_args!("{key} is 0; it must be at least 1")))
            }
            found => Ok(found.map(|(value, _)| value)),
        }
    }

    /// The table `[key]`, if there is one.
    pub(super) fn table(&mut self, key: &str) -> Result<Option<Self>> {
        let Some(value) = self.table.remove(key) else {
            return Ok(None);
        };
        self.section(value, format_args!("`{key}` is one table: write [{key}]"))
            .map(Some)
    }

    /// The tables `[[key]]` in their order; none when there is no such key.
    pub(super) fn tables(&mut self, key: &str) -> Result<Vec<Self>> {
        let Some(value) = self.table.remove(key) else {
            return Ok(Vec::new());
        };
        let wrong = format!("`{key}` is a list of tables: write [[{key}]] above each");
        let line = self.source.line(value.span().start);
        let DeValue::Array(tables) = value.into_inner() else {
            return Err(self.error(line, wrong));
        };
        tables
            .into_iter()
            .map(|value| self.section(value, &wrong))
            .collect()
    }

    fn section(&self, value: Spanned<DeValue<'a>>, wrong: impl Display) -> Result<Self> {
        let line = self.source.line(value.span().start);
        match value.into_inner() {
            DeValue::Table(table) => Ok(Self {
                source: self.source,
                table,
                label: String::new(),
                line,
            }),
            _ => Err(self.error(line, wrong)),
        }
    }
}

/// A parameter structure that owns its keys and defaults; the file only fills it in.
pub(super) struct Parameters<T> {
    keys: Vec<String>,
    structure: PhantomData<T>,
}

impl<T: Default + Serialize + DeserializeOwned> Parameters<T> {
    pub(super) fn new() -> Self {
        let keys = match serde_json::to_value(T::default()) {
            Ok(serde_json::Value::Object(fields)) => fields.keys().cloned().collect(),
            _ => Vec::new(),
        };
        Self {
            keys,
            structure: PhantomData,
        }
    }

    /// The keys it takes.
    pub(super) fn keys(&self) -> &[String] {
        &self.keys
    }

    /// The structure with what `section` has of its keys. `validate` names the field it objects
    /// to, by which the line is found.
    pub(super) fn read(
        &self,
        section: &mut Section<'_>,
        validate: impl Fn(&T) -> Result<()>,
    ) -> Result<T> {
        let mut all = DeTable::new();
        let mut lines = Vec::new();
        for key in &self.keys {
            let Some(value) = section.table.remove(key.as_str()) else {
                continue;
            };
            let line = section.source.line(value.span().start);
            let spanned_key = Spanned::new(0..0, Cow::Owned(key.clone()));
            // Alone at first, so that a mistake is known to be this key's.
            let alone = DeTable::from_iter([(spanned_key.clone(), value.clone())]);
            deserialize::<T>(alone).map_err(|error| {
                section.error(line, format_args!("{key}: {}", in_plain_words(&error)))
            })?;
            all.insert(spanned_key, value);
            lines.push((key, line));
        }
        let parameters = deserialize::<T>(all)
            .map_err(|error| section.error(section.line, in_plain_words(&error)))?;
        validate(&parameters).map_err(|error| {
            let message = error.to_string();
            let line = lines
                .iter()
                .find(|(key, _)| message.contains(key.as_str()))
                .map_or(section.line, |&(_, line)| line);
            section.error(line, message)
        })?;
        Ok(parameters)
    }
}

fn deserialize<'a, T: Deserialize<'a>>(
    table: DeTable<'a>,
) -> std::result::Result<T, toml::de::Error> {
    T::deserialize(ValueDeserializer::from(Spanned::new(
        0..0,
        DeValue::Table(table),
    )))
}

/// serde's message with the names of Rust's types replaced.
fn in_plain_words(error: &toml::de::Error) -> String {
    let message = error.message();
    let Some((found, expected)) = message.rsplit_once("expected ") else {
        return message.to_owned();
    };
    let expected = match expected {
        "usize" | "u64" | "u32" => "a whole number that is not negative",
        "f64" | "f32" => "a number",
        other => other,
    };
    format!("{found}expected {expected}")
}

/// The keys of both lists.
pub(super) fn joined(first: &[&str], second: &[impl AsRef<str>]) -> Vec<String> {
    let second = second.iter().map(AsRef::as_ref);
    first
        .iter()
        .copied()
        .chain(second)
        .map(str::to_owned)
        .collect()
}
