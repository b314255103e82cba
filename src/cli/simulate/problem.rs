//! The arms of one problem, as they are written or as a pool was measured.

use std::path::Path;
use std::str::FromStr;

use metasd::sim::Arm;
use metasd::{Error, ErrorKind, Result};
use serde::Deserialize;

use crate::cli::prompt::read_file;

/// Arms that policies choose among: `0.5,0.4/0.6,0.3`.
#[derive(Clone, Debug)]
pub struct Problem {
    /// What it is called; empty where it was written as arms alone.
    pub name: String,
    /// The arms.
    pub arms: Vec<Arm>,
}

/// What is read of the object that `metasd pool matrix --json` prints.
#[derive(Debug, Deserialize)]
struct Matrix {
    categories: Vec<Category>,
}

#[derive(Debug, Deserialize)]
struct Category {
    name: String,
    drafters: Vec<Drafter>,
}

#[derive(Debug, Deserialize)]
struct Drafter {
    mean_bd: Option<f64>,
}

impl Problem {
    /// A problem for each category in the output of `metasd pool matrix --json` at `path`: an arm
    /// for each drafter that was measured, with its mean block divergence as agreement.
    ///
    /// # Errors
    /// When the file cannot be read or its last line is no such object.
    pub fn read(path: &Path) -> Result<Vec<Self>> {
        let text = read_file(path).map_err(|error| match error.kind() {
            // The command line is wrong then.
            ErrorKind::NotFound => Error::invalid(error.to_string()).context("--arms-from"),
            _ => error,
        })?;
        let wrong = |what: String| {
            Error::new(
                ErrorKind::Config,
                format!(
                    "{}: {what}; the last line must be what `metasd pool matrix --json` prints",
                    path.display()
                ),
            )
        };
        let line = text.lines().last().unwrap_or_default();
        let matrix: Matrix =
            serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        let problem = |category: Category| {
            let measured = category
                .drafters
                .iter()
                .filter_map(|drafter| drafter.mean_bd);
            let arms: Vec<Arm> = measured.map(Arm::steady).collect::<Result<_>>()?;
            if arms.is_empty() {
                return Err(wrong(format!(
                    "no drafter of `{}` was measured",
                    category.name
                )));
            }
            Ok(Self {
                name: category.name,
                arms,
            })
        };
        matrix.categories.into_iter().map(problem).collect()
    }

    /// The same problem with another spread of its arms.
    ///
    /// # Errors
    /// When it is out of range.
    pub fn spread(self, spread: f64) -> Result<Self> {
        let arms = self.arms.into_iter().map(|arm| arm.spread(spread));
        Ok(Self {
            arms: arms.collect::<Result<_>>()?,
            name: self.name,
        })
    }
}

impl FromStr for Problem {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Ok(Self {
            name: String::new(),
            arms: text.split(',').map(str::parse).collect::<Result<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Problem>> {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), text).expect("writable");
        Problem::read(file.path())
    }

    #[test]
    fn a_measured_pool_has_a_problem_for_each_category() {
        let text = "a table\n{\"categories\": [{\"name\": \"qa\", \"drafters\": [{\"name\": \"a\", \
                    \"mean_bd\": 0.25}, {\"name\": \"b\", \"mean_bd\": null}, {\"name\": \"c\", \
                    \"mean_bd\": 0.5}]}, {\"name\": \"code\", \"drafters\": [{\"mean_bd\": 0.4}]}]}\n";
        let problems = read(text).expect("valid");
        let arms: Vec<Vec<String>> = problems
            .iter()
            .map(|problem| problem.arms.iter().map(Arm::to_string).collect())
            .collect();
        assert_eq!(problems[0].name, "qa");
        assert_eq!(arms, [vec!["0.25", "0.5"], vec!["0.4"]]);
    }

    #[test]
    fn what_is_no_measurement_is_refused_by_name() {
        for text in [
            "",
            "nonsense",
            "{\"categories\": [{\"name\": \"qa\", \"drafters\": []}]}",
        ] {
            let error = read(text).expect_err("no matrix");
            assert!(error.to_string().contains("pool matrix --json"), "{error}");
            assert_eq!(error.exit_code(), 2);
        }
    }
}
