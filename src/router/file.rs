//! A router's file: JSON with a format, a version, the target's identity and the centroids.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::geometry::Geometry;
use super::{Label, Router, TargetIdentity};
use crate::error::{Error, ErrorKind, Result};
use crate::types::TokenId;

/// What the field `format` says.
const FORMAT: &str = "metasd-router";

/// The version of the format that is written and read.
const VERSION: u64 = 1;

/// No router file is larger.
const MAX_BYTES: u64 = 64 << 20;

/// The fields of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    format: String,
    version: u64,
    target: TargetIdentity,
    shared_tokens: Vec<i32>,
    origin: Vec<f32>,
    scale: Vec<f32>,
    labels: Vec<LabelFields>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelFields {
    name: String,
    prompts: usize,
    centroid: Vec<f32>,
}

impl Router {
    /// Reads the router file at `path`.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] naming the file and what is wrong with it: it is not there, is no
    /// router file or one of another version, or is damaged.
    pub fn load(path: &Path) -> Result<Self> {
        let wrong = |what: &dyn std::fmt::Display| {
            Error::new(
                ErrorKind::Config,
                format!("the router file {}: {what}", path.display()),
            )
        };
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|error| wrong(&format_args!("cannot be read: {error}")))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(wrong(&"it is larger than 64 MiB"));
        }
        Self::parse(&bytes).map_err(|what| wrong(&what))
    }

    /// Writes the router to `path`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string(&self.fields())
            .map_err(|error| Error::invalid(format!("the router is no JSON: {error}")))?;
        std::fs::write(path, text + "\n")
            .map_err(|error| Error::io("cannot write the router", path, error))
    }

    fn fields(&self) -> Fields {
        let labels = self.labels.iter().zip(&self.geometry.centroids);
        Fields {
            format: FORMAT.to_owned(),
            version: VERSION,
            target: self.target.clone(),
            shared_tokens: self.shared.iter().map(|token| token.0).collect(),
            origin: self.geometry.origin.clone(),
            scale: self.geometry.scale.clone(),
            labels: labels
                .map(|(label, centroid)| LabelFields {
                    name: label.name.clone(),
                    prompts: label.prompts,
                    centroid: centroid.clone(),
                })
                .collect(),
        }
    }

    /// The router of a file's bytes, or what is wrong with them.
    fn parse(bytes: &[u8]) -> std::result::Result<Self, String> {
        let value: Value = serde_json::from_slice(bytes)
            .map_err(|error| format!("it is not JSON, or cut short: {error}"))?;
        if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(format!(
                "it is no router file, whose `format` is \"{FORMAT}\"; `metasd router fit` makes \
                 one"
            ));
        }
        let version = value.get("version").and_then(Value::as_u64);
        if version != Some(VERSION) {
            let version = version.map_or("not a number".to_owned(), |version| version.to_string());
            return Err(format!(
                "its version is {version}; this program reads version {VERSION}; fit it again with \
                 `metasd router fit`"
            ));
        }
        let fields: Fields =
            serde_json::from_value(value).map_err(|error| format!("it is damaged: {error}"))?;
        fields.check()?;
        let (labels, centroids) = fields
            .labels
            .into_iter()
            .map(|label| {
                let LabelFields {
                    name,
                    prompts,
                    centroid,
                } = label;
                (Label { name, prompts }, centroid)
            })
            .unzip();
        Ok(Self {
            target: fields.target,
            shared: fields.shared_tokens.into_iter().map(TokenId).collect(),
            geometry: Geometry {
                origin: fields.origin,
                scale: fields.scale,
                centroids,
            },
            labels,
        })
    }
}

impl Fields {
    fn check(&self) -> std::result::Result<(), String> {
        let width = self.target.width;
        let check_row = |name: &str, row: &[f32]| {
            if row.len() != width {
                return Err(format!(
                    "{name} has {} numbers; the target's width is {width}",
                    row.len()
                ));
            }
            if !row.iter().all(|x| x.is_finite()) {
                return Err(format!("{name} has a number that is not finite"));
            }
            Ok(())
        };
        if width == 0 {
            return Err("`target.width` is 0".to_owned());
        }
        check_row("`origin`", &self.origin)?;
        check_row("`scale`", &self.scale)?;
        for (index, label) in self.labels.iter().enumerate() {
            check_row(
                &format!("the centroid of label `{}`", label.name),
                &label.centroid,
            )?;
            if self.labels[..index]
                .iter()
                .any(|other| other.name == label.name)
            {
                return Err(format!("two labels are named `{}`", label.name));
            }
        }
        if self.labels.is_empty() {
            return Err("it has no labels".to_owned());
        }
        let known =
            |&token: &i32| usize::try_from(token).is_ok_and(|token| token < self.target.vocabulary);
        if !self.shared_tokens.iter().all(known) {
            return Err("`shared_tokens` has a token outside of the vocabulary".to_owned());
        }
        if !self.shared_tokens.is_sorted_by(|a, b| a < b) {
            return Err("`shared_tokens` is not in ascending order".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::router;
    use super::*;

    fn text() -> String {
        serde_json::to_string(&router().fields()).expect("JSON")
    }

    /// What is said of a file with `text`.
    fn message(text: &str) -> String {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), text).expect("writable");
        let error = Router::load(file.path()).expect_err("a wrong file");
        assert_eq!(error.kind(), ErrorKind::Config);
        let said = error.to_string();
        assert!(said.contains(&*file.path().to_string_lossy()), "{said}");
        said
    }

    /// What is said of a router whose `pointer` is `value`.
    fn with(pointer: &str, value: Value) -> String {
        let mut json: Value = serde_json::from_str(&text()).expect("JSON");
        *json.pointer_mut(pointer).expect("a field") = value;
        message(&json.to_string())
    }

    #[test]
    fn what_was_written_is_read_again() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        router().save(file.path()).expect("writable");
        assert_eq!(Router::load(file.path()).expect("readable"), router());
    }

    #[test]
    fn files_of_another_kind_or_version_are_told_from_damaged_ones() {
        assert!(message("").contains("not JSON"));
        assert!(message("{\"a\": 1}").contains("no router file"));
        assert!(message("[1, 2]").contains("no router file"));
        let text = text();
        assert!(message(&text[..text.len() / 2]).contains("cut short"));
        let said = with("/version", 2.into());
        assert!(
            said.contains("version is 2") && said.contains("reads version 1"),
            "{said}"
        );
        assert!(with("/version", "1".into()).contains("not a number"));
        let missing = Router::load(Path::new("no/router.json")).expect_err("missing");
        assert_eq!(missing.kind(), ErrorKind::Config);
        assert!(missing.to_string().contains("no/router.json"));
    }

    #[test]
    fn a_damaged_field_is_named() {
        assert!(with("/origin", vec![1.0, 2.0].into()).contains("`origin` has 2 numbers"));
        assert!(with("/scale/2", 1e39.into()).contains("`scale` has a number that is not"));
        let said = with("/labels/1/centroid", Value::Array(vec![]));
        assert!(
            said.contains("centroid of label `y` has 0 numbers"),
            "{said}"
        );
        assert!(with("/labels/1/centroid/0", 1e300.into()).contains("not finite"));
        assert!(with("/labels/1/name", "x".into()).contains("two labels are named `x`"));
        assert!(with("/labels", Value::Array(vec![])).contains("no labels"));
        assert!(with("/labels/0/prompts", "many".into()).contains("damaged"));
        assert!(with("/target/width", 0.into()).contains("width"));
        assert!(with("/shared_tokens", vec![8, 7].into()).contains("ascending"));
        assert!(with("/shared_tokens", vec![40].into()).contains("outside of the vocabulary"));
        assert!(with("/shared_tokens", vec![-1].into()).contains("outside of the vocabulary"));
        let extra = text().replacen('{', "{\"more\": 1,", 1);
        assert!(message(&extra).contains("unknown field `more`"));
    }
}
