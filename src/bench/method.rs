//! What is measured: a policy, and how it departs from the settings of the others.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::bandit::{PolicyParams, PolicySpec};
use crate::error::{Error, Result};

/// The drafter's name that stands for each of them.
const EACH: &str = "*";

/// A policy as a benchmark runs it: `POLICY`, `POLICY@N_MAX` or either with `+FIELD=VALUE`, as
/// often as needed, for a field of [`PolicyParams`] that is this method's own:
/// `metasd-ucb@5+beta=0.12`. It displays as it is written.
#[derive(Clone, PartialEq, Debug)]
pub struct Method {
    /// The policy.
    pub policy: PolicySpec,
    /// The most tokens it drafts in a round; `None` for what holds for all methods.
    pub n_max: Option<usize>,
    fields: Vec<(String, String)>,
}

impl Method {
    /// `policy` with the settings that hold for all methods.
    pub fn plain(policy: PolicySpec) -> Self {
        Self {
            policy,
            n_max: None,
            fields: Vec::new(),
        }
    }

    /// `methods` with `fixed:*` spelt out for each of `drafters`, plain decoding first, and none
    /// twice: nothing can be compared without plain decoding.
    pub fn expand(methods: &[Self], drafters: &[String]) -> Vec<Self> {
        let mut expanded = vec![Self::plain(PolicySpec::Off)];
        for method in methods {
            let spelt_out: Vec<Self> = match &method.policy {
                PolicySpec::Fixed(drafter) if drafter == EACH => drafters
                    .iter()
                    .map(|name| Self {
                        policy: PolicySpec::Fixed(name.clone()),
                        ..method.clone()
                    })
                    .collect(),
                _ => vec![method.clone()],
            };
            for method in spelt_out {
                if !expanded.contains(&method) && method.policy != PolicySpec::Off {
                    expanded.push(method);
                }
            }
        }
        expanded
    }

    /// `base` with the method's own fields.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::error::ErrorKind::InvalidArgument) naming the method, for a field
    /// that there is not or a value out of its range.
    pub fn params(&self, base: &PolicyParams) -> Result<PolicyParams> {
        let wrong = |what: String| Error::invalid(format!("method `{self}`: {what}"));
        let mut fields = serde_json::to_value(base).map_err(|error| wrong(error.to_string()))?;
        for (field, text) in &self.fields {
            let value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str()));
            fields[field.as_str()] = value;
        }
        let params: PolicyParams =
            serde_json::from_value(fields).map_err(|error| wrong(error.to_string()))?;
        params
            .validate()
            .map_err(|error| wrong(error.to_string()))?;
        Ok(params)
    }

    /// Whether what it does depends on the reward.
    pub fn learns(&self) -> bool {
        !matches!(
            self.policy,
            PolicySpec::Off | PolicySpec::Fixed(_) | PolicySpec::RoundRobin | PolicySpec::Random
        ) && !self.policy.needs_models()
    }

    /// The drafter that it has throughout, if there is one.
    pub fn drafter(&self) -> Option<&str> {
        match &self.policy {
            PolicySpec::Fixed(drafter) => Some(drafter),
            _ => None,
        }
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |what: &str| Error::invalid(format!("method `{text}`: {what}"));
        let mut parts = text.split('+');
        let head = parts.next().unwrap_or_default();
        let (policy, n_max) = match head.rsplit_once('@') {
            None => (head, None),
            Some((policy, n_max)) => match n_max.parse() {
                Ok(n_max) if n_max > 0 => (policy, Some(n_max)),
                _ => {
                    return Err(wrong(
                        "what follows `@` is the most tokens drafted in a round, at least 1",
                    ));
                }
            },
        };
        let mut fields = Vec::new();
        for part in parts {
            let (field, value) = part
                .split_once('=')
                .ok_or_else(|| wrong("what follows `+` is FIELD=VALUE, such as beta=0.1"))?;
            if field == "reward" {
                return Err(wrong("the reward is given with --rewards"));
            }
            fields.push((field.to_owned(), value.to_owned()));
        }
        let method = Self {
            policy: policy.parse()?,
            n_max,
            fields,
        };
        method.params(&PolicyParams::default())?;
        Ok(method)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.policy.to_string();
        if let Some(n_max) = self.n_max {
            text.push_str(&format!("@{n_max}"));
        }
        for (field, value) in &self.fields {
            text.push_str(&format!("+{field}={value}"));
        }
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(text: &str) -> Method {
        text.parse().unwrap()
    }

    fn message(text: &str) -> String {
        let error = text.parse::<Method>().unwrap_err();
        assert_eq!(error.exit_code(), 2);
        error.to_string()
    }

    #[test]
    fn a_method_displays_as_it_is_written() {
        for text in ["off", "fixed:code@2", "metasd-ucb@5+beta=0.12+window=9"] {
            assert_eq!(method(text).to_string(), text);
        }
    }

    #[test]
    fn its_own_fields_stand_before_the_common_ones() {
        let base = PolicyParams {
            beta: Some(0.5),
            window: 7,
            ..PolicyParams::default()
        };
        let params = method("sw-ucb+beta=0.12").params(&base).unwrap();
        assert_eq!((params.beta, params.window), (Some(0.12), 7));
        assert_eq!(method("sw-ucb@4").n_max, Some(4));
        assert_eq!(method("sw-ucb").params(&base).unwrap(), base);
    }

    #[test]
    fn what_is_no_method_is_refused_by_name() {
        assert!(message("metasd-ubc").contains("did you mean `metasd-ucb`"));
        assert!(message("exp3@0").contains("`exp3@0`: what follows `@`"));
        assert!(message("exp3@x").contains("at least 1"));
        assert!(message("exp3+beta").contains("FIELD=VALUE"));
        assert!(message("exp3+betta=1").contains("betta"));
        assert!(message("exp3+beta=high").contains("high"));
        assert!(message("exp3+beta=-1").contains("beta is -1"));
        assert!(message("exp3+reward=be").contains("--rewards"));
    }

    #[test]
    fn a_star_is_each_drafter_and_plain_decoding_comes_first_and_once() {
        let methods = ["fixed:*@2", "exp3", "off", "fixed:b@2"].map(method);
        let names = ["a", "b"].map(str::to_owned);
        let expanded: Vec<String> = Method::expand(&methods, &names)
            .iter()
            .map(Method::to_string)
            .collect();
        assert_eq!(expanded, ["off", "fixed:a@2", "fixed:b@2", "exp3"]);
    }

    #[test]
    fn only_a_method_that_learns_depends_on_the_reward() {
        for text in [
            "off",
            "fixed:a",
            "random",
            "router",
            "draft-all",
            "static-ensemble",
        ] {
            assert!(!method(text).learns(), "{text}");
        }
        assert!(method("metasd-ucb@3").learns());
    }
}
