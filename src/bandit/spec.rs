//! Policies as a user writes and tunes them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::bandit::spelling::{closest, did_you_mean, list};
use crate::bandit::{Policy, Reward, cyclic, fixed, off, ucb, uniform};
use crate::error::{Error, Result};

/// What the policies can be tuned by.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyParams {
    /// What is maximised.
    pub reward: Reward,
    /// Exploration strength β of `metasd-ucb`, in units of reward; finite and ≥ 0.
    pub beta: f64,
}

impl Default for PolicyParams {
    fn default() -> Self {
        Self {
            reward: Reward::default(),
            beta: ucb::DEFAULT_BETA,
        }
    }
}

impl PolicyParams {
    /// Checks every field's range.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::error::ErrorKind::InvalidArgument), naming the field and
    /// its range.
    pub fn validate(&self) -> Result<()> {
        if !(self.beta.is_finite() && self.beta >= 0.0) {
            return Err(Error::invalid(format!(
                "beta is {}; it must be finite and not negative",
                self.beta
            )));
        }
        Ok(())
    }
}

/// Declares the policies that are written as a bare name: variant, name and constructor
/// (`fn(&PolicyParams, arms) -> impl Policy`). `fixed:NAME`, which carries a drafter's name,
/// is spelt out.
macro_rules! policies {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $new:path;)*) => {
        /// A policy as a user writes it. What was parsed displays as it was written.
        #[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub enum PolicySpec {
            $($(#[$doc])* $variant,)*
            /// `fixed:NAME`: one drafter throughout, given by its name. See
            /// [`fixed::Fixed`].
            Fixed(String),
        }

        impl PolicySpec {
            /// Every policy, as it is written.
            pub const KNOWN: &[&str] = &[$($name,)* "fixed:NAME"];

            /// The policy of a bare name.
            fn plain(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Builds the policy for the drafters named `arms`, arm `i` being `arms[i]`.
            /// Without any drafter it never selects one.
            ///
            /// # Errors
            /// [`InvalidArgument`](crate::error::ErrorKind::InvalidArgument) if `params` are
            /// out of range, or if the drafter of `fixed:NAME` is not among `arms`.
            pub fn build(&self, params: &PolicyParams, arms: &[String]) -> Result<Box<dyn Policy>> {
                params.validate()?;
                Ok(match self {
                    $(Self::$variant => Box::new($new(params, arms.len())),)*
                    Self::Fixed(drafter) => Box::new(fixed::Fixed::new(params, arms, drafter)?),
                })
            }
        }

        impl fmt::Display for PolicySpec {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant => f.pad($name),)*
                    Self::Fixed(drafter) => f.pad(&fixed::name(drafter)),
                }
            }
        }
    };
}

policies! {
    /// `metasd-ucb`: see [`ucb::Ucb`].
    #[default]
    MetasdUcb = "metasd-ucb" => ucb::Ucb::new;
    /// `round-robin`: see [`cyclic::Cyclic`].
    RoundRobin = "round-robin" => cyclic::Cyclic::new;
    /// `random`: see [`uniform::Uniform`].
    Random = "random" => uniform::Uniform::new;
    /// `off`: see [`off::Off`].
    Off = "off" => off::Off::new;
}

impl FromStr for PolicySpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some(spec) = Self::plain(text) {
            return Ok(spec);
        }
        if let Some(drafter) = text.strip_prefix("fixed:")
            && !drafter.is_empty()
        {
            return Ok(Self::Fixed(drafter.to_owned()));
        }
        if matches!(text, "fixed" | "fixed:") {
            return Err(Error::invalid(
                "policy `fixed` needs the name of a drafter: write `fixed:NAME`",
            ));
        }
        Err(unknown_policy(text))
    }
}

impl TryFrom<String> for PolicySpec {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<PolicySpec> for String {
    fn from(spec: PolicySpec) -> Self {
        spec.to_string()
    }
}

fn unknown_policy(text: &str) -> Error {
    let head = |name: &'static str| name.split_once(':').map_or(name, |(head, _)| head);
    let (typed, argument) = text.split_once(':').unwrap_or((text, ""));
    let heads = PolicySpec::KNOWN.iter().map(|name| head(name));
    let suggestion = closest(typed, heads).map(|name| match (name, argument) {
        ("fixed", "") => "fixed:NAME".to_owned(),
        ("fixed", drafter) => fixed::name(drafter),
        _ => name.to_owned(),
    });
    Error::invalid(format!(
        "unknown policy `{text}`{}; known are {}",
        did_you_mean(suggestion.as_deref()),
        list(PolicySpec::KNOWN)
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bandit::{every_spec, message, policy};

    #[test]
    fn every_known_policy_parses_displays_and_names_itself_as_written() {
        for written in every_spec() {
            let spec: PolicySpec = written.parse().unwrap();
            assert_eq!(spec.to_string(), written);
            assert_eq!(policy(&written, 3).name(), written);
            let json = serde_json::to_value(&spec).unwrap();
            assert_eq!(json, *written);
            assert_eq!(serde_json::from_value::<PolicySpec>(json).unwrap(), spec);
        }
        assert_eq!(PolicySpec::default().to_string(), "metasd-ucb");
    }

    #[test]
    fn an_unknown_policy_lists_the_known_and_suggests_the_closest() {
        for (typo, meant) in [
            ("metasd-ubc", "metasd-ucb"),
            ("ucb", "metasd-ucb"),
            ("metasd-ucb:0.1", "metasd-ucb"),
            ("roundrobin", "round-robin"),
            ("Random", "random"),
            ("of", "off"),
            ("fixd", "fixed:NAME"),
            ("Fixed:code", "fixed:code"),
            ("fixde:a:b", "fixed:a:b"),
        ] {
            let message = message(typo.parse::<PolicySpec>());
            let suggestion = format!("unknown policy `{typo}` (did you mean `{meant}`?)");
            assert!(message.starts_with(&suggestion), "{message}");
            assert!(message.ends_with(&list(PolicySpec::KNOWN)), "{message}");
        }
        for strange in ["", ":", "greedy", "größer"] {
            let message = message(strange.parse::<PolicySpec>());
            assert!(!message.contains("did you mean"), "{message}");
        }
    }

    #[test]
    fn a_fixed_policy_needs_a_drafter() {
        for written in ["fixed", "fixed:"] {
            let message = message(written.parse::<PolicySpec>());
            assert!(message.contains("write `fixed:NAME`"), "{message}");
        }
    }

    #[test]
    fn parameters_default_field_by_field_and_refuse_unknown_ones() {
        let parsed: PolicyParams = serde_json::from_str(r#"{"reward": "be"}"#).unwrap();
        assert_eq!(parsed.reward, Reward::Be);
        assert_eq!(parsed.beta, PolicyParams::default().beta);
        let error = serde_json::from_str::<PolicyParams>(r#"{"betta": 1}"#).unwrap_err();
        assert!(error.to_string().contains("betta"), "{error}");
    }

    #[test]
    fn beta_must_be_finite_and_not_negative() {
        for beta in [-0.1, f64::NAN, f64::INFINITY] {
            let params = PolicyParams {
                beta,
                ..PolicyParams::default()
            };
            assert!(message(params.validate()).starts_with("beta is"));
            assert!(message(PolicySpec::Off.build(&params, &[])).starts_with("beta is"));
        }
    }

    proptest! {
        #[test]
        fn whatever_parses_displays_as_it_was_written(text in "(fixed:)?\\PC{0,12}") {
            if let Ok(spec) = text.parse::<PolicySpec>() {
                prop_assert_eq!(spec.to_string(), text);
            }
        }
    }
}
