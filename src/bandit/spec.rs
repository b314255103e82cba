//! Policies as a user writes and tunes them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::bandit::spelling::{closest, did_you_mean, list};
use crate::bandit::steady::Steady;
use crate::bandit::{
    Policy, Reward, cyclic, discounted, exp3, explore_commit, fixed, greedy, halving, hedge, joint,
    off, routed, sliding_window, thompson, ucb, uniform,
};
use crate::error::{Error, Result};

/// The β for block efficiency, of every policy that has one.
const BE_BETA: f64 = 0.15;

/// What the policies can be tuned by.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyParams {
    /// What is maximised.
    pub reward: Reward,
    /// Exploration strength β of `metasd-ucb`, `sw-ucb`, `d-ucb` and `thompson`, in units of
    /// reward; finite and ≥ 0. `None` for what suits the policy and the reward: for
    /// [`Reward::Bd`] 0.12, but 0.07 for `sw-ucb` and `d-ucb`; 0.15 for [`Reward::Be`], which
    /// deviates about twice as far from its mean.
    pub beta: Option<f64>,
    /// How many of the last rounds `sw-ucb` looks at; ≥ 1.
    pub window: usize,
    /// What a round counts for `d-ucb` after each later round, as a factor γ; 0 < γ ≤ 1.
    pub discount: f64,
    /// The share γ of its rounds that `exp3` spreads over all arms; 0 < γ ≤ 1.
    pub exploration: f64,
    /// Rounds over which `seq-halving` halves the arms, ≥ 1; `None` for as many as suit the
    /// length of the query.
    pub horizon: Option<usize>,
    /// Rounds of each arm before `etc` commits; ≥ 1.
    pub explore_rounds: usize,
    /// The share ε of its rounds in which `eps-greedy` takes any arm; 0 ≤ ε ≤ 1.
    pub epsilon: f64,
    /// What a round's regret counts for `hedge` after each later round, as a factor;
    /// 0 < λ ≤ 1.
    pub retention: f64,
    /// The first rounds of a query in which `metasd-ucb`, `sw-ucb` and `d-ucb` have every arm
    /// scored; 0 for none.
    pub counterfactual: usize,
    /// Rounds for which an arm is stayed with after a change to it, whatever the policy; ≥ 1.
    pub dwell: usize,
    /// The part of the time that changes may take, whatever the policy: one that costs much is
    /// stayed with for longer; above 0 and at most 1, `None` to leave changes free.
    pub switch_cost: Option<f64>,
}

impl Default for PolicyParams {
    fn default() -> Self {
        Self {
            reward: Reward::default(),
            beta: None,
            window: sliding_window::DEFAULT_WINDOW,
            discount: discounted::DEFAULT_DISCOUNT,
            exploration: exp3::DEFAULT_EXPLORATION,
            horizon: None,
            explore_rounds: explore_commit::DEFAULT_EXPLORE_ROUNDS,
            epsilon: greedy::DEFAULT_EPSILON,
            retention: hedge::DEFAULT_RETENTION,
            counterfactual: 0,
            dwell: 1,
            switch_cost: None,
        }
    }
}

impl PolicyParams {
    /// [`PolicyParams::beta`], or what suits the reward: `bd` for block divergence. Block efficiency
    /// takes one of a few values in a round, so that it needs a larger guard.
    pub(super) fn beta_or(&self, bd: f64) -> f64 {
        self.beta.unwrap_or(match self.reward {
            Reward::Bd => bd,
            Reward::Be => BE_BETA,
        })
    }

    /// Checks every field's range.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::error::ErrorKind::InvalidArgument), naming the field and
    /// its range.
    pub fn validate(&self) -> Result<()> {
        if let Some(beta) = self.beta.filter(|beta| !(beta.is_finite() && *beta >= 0.0)) {
            return Err(Error::invalid(format!(
                "beta is {beta}; it must be finite and not negative"
            )));
        }
        for (name, count) in [
            ("window", self.window),
            ("horizon", self.horizon.unwrap_or(1)),
            ("explore_rounds", self.explore_rounds),
            ("dwell", self.dwell),
        ] {
            if count == 0 {
                return Err(Error::invalid(format!(
                    "{name} is 0; it must be at least 1"
                )));
            }
        }
        for (name, share) in [
            ("discount", self.discount),
            ("exploration", self.exploration),
            ("retention", self.retention),
            ("switch_cost", self.switch_cost.unwrap_or(1.0)),
        ] {
            if !(share > 0.0 && share <= 1.0) {
                return Err(Error::invalid(format!(
                    "{name} is {share}; it must be above 0 and at most 1"
                )));
            }
        }
        if !(0.0..=1.0).contains(&self.epsilon) {
            return Err(Error::invalid(format!(
                "epsilon is {}; it must lie in [0, 1]",
                self.epsilon
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
                let policy: Box<dyn Policy> = match self {
                    $(Self::$variant => Box::new($new(params, arms.len())),)*
                    Self::Fixed(drafter) => Box::new(fixed::Fixed::new(params, arms, drafter)?),
                };
                Ok(Steady::of(policy, params))
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
    /// `sw-ucb`: see [`sliding_window::SlidingWindow`].
    SwUcb = "sw-ucb" => sliding_window::SlidingWindow::new;
    /// `d-ucb`: see [`discounted::Discounted`].
    DUcb = "d-ucb" => discounted::Discounted::new;
    /// `exp3`: see [`exp3::Exp3`].
    Exp3 = "exp3" => exp3::Exp3::new;
    /// `hedge`: see [`hedge::Hedge`].
    Hedge = "hedge" => hedge::Hedge::new;
    /// `seq-halving`: see [`halving::Halving`].
    SeqHalving = "seq-halving" => halving::Halving::new;
    /// `etc`: see [`explore_commit::ExploreCommit`].
    Etc = "etc" => explore_commit::ExploreCommit::new;
    /// `thompson`: see [`thompson::Thompson`].
    Thompson = "thompson" => thompson::Thompson::new;
    /// `eps-greedy`: see [`greedy::EpsGreedy`].
    EpsGreedy = "eps-greedy" => greedy::EpsGreedy::new;
    /// `round-robin`: see [`cyclic::Cyclic`].
    RoundRobin = "round-robin" => cyclic::Cyclic::new;
    /// `random`: see [`uniform::Uniform`].
    Random = "random" => uniform::Uniform::new;
    /// `router`: see [`routed::Routed`].
    Router = "router" => routed::Routed::new;
    /// `static-ensemble`: see [`joint::Joint`].
    StaticEnsemble = "static-ensemble" => joint::Joint::static_ensemble;
    /// `draft-all`: see [`joint::Joint`].
    DraftAll = "draft-all" => joint::Joint::draft_all;
    /// `off`: see [`off::Off`].
    Off = "off" => off::Off::new;
}

impl PolicySpec {
    /// Whether the policy is more than a choice among arms by their feedback: it needs a prompt, or
    /// several drafts in a round. Such a policy cannot be played on scripted arms.
    pub fn needs_models(&self) -> bool {
        matches!(self, Self::Router | Self::StaticEnsemble | Self::DraftAll)
    }
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
    use crate::bandit::{Feedback, every_spec, feedback, message, policy, rng};

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
            ("halving", "seq-halving"),
            ("greedy", "eps-greedy"),
            ("tompson", "thompson"),
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
        for strange in ["", ":", "softmax", "größer"] {
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
    fn beta_is_what_suits_the_reward_unless_it_is_given() {
        let beta = |json: &str| {
            let params: PolicyParams = serde_json::from_str(json).unwrap();
            params.beta_or(0.07)
        };
        assert_eq!(beta("{}"), 0.07);
        assert_eq!(beta(r#"{"reward": "bd"}"#), 0.07);
        assert_eq!(beta(r#"{"reward": "be"}"#), 0.15);
        assert_eq!(beta(r#"{"reward": "be", "beta": 0.07}"#), 0.07);
        assert_eq!(beta(r#"{"beta": 0}"#), 0.0);
    }

    #[test]
    fn every_policy_that_explores_by_beta_has_one_for_each_reward() {
        for (written, bd) in [
            ("metasd-ucb", 0.12),
            ("sw-ucb", 0.07),
            ("d-ucb", 0.07),
            ("thompson", 0.12),
        ] {
            let state_with = |reward, beta| {
                let params = PolicyParams {
                    reward,
                    beta,
                    ..PolicyParams::default()
                };
                let spec: PolicySpec = written.parse().unwrap();
                let mut policy = spec
                    .build(&params, &["a".to_owned(), "b".to_owned()])
                    .unwrap();
                for (arm, reward) in [(0, 0.8), (1, 0.7), (0, 0.7)] {
                    let round = Feedback {
                        be: reward,
                        ..feedback(arm, reward)
                    };
                    policy.observe(&round).unwrap();
                }
                let draws = (0..20).map(|seed| policy.select(&mut rng(seed)));
                (draws.collect::<Vec<_>>(), policy.state())
            };
            for (reward, default) in [(Reward::Bd, bd), (Reward::Be, 0.15)] {
                let expected = state_with(reward, Some(default));
                assert_eq!(state_with(reward, None), expected, "{written} {reward}");
            }
        }
    }

    #[test]
    fn beta_must_be_finite_and_not_negative() {
        for beta in [-0.1, f64::NAN, f64::INFINITY] {
            let params = PolicyParams {
                beta: Some(beta),
                ..PolicyParams::default()
            };
            assert!(message(params.validate()).starts_with("beta is"));
            assert!(message(PolicySpec::Off.build(&params, &[])).starts_with("beta is"));
        }
    }

    #[test]
    fn the_other_parameters_are_named_with_their_range() {
        let refused = |json: &str, expected: &str| {
            let params: PolicyParams = serde_json::from_str(json).unwrap();
            let message = message(params.validate());
            assert!(message.starts_with(expected), "{message}");
        };
        refused(r#"{"window": 0}"#, "window is 0; it must be at least 1");
        refused(r#"{"horizon": 0}"#, "horizon is 0; it must be at least 1");
        refused(
            r#"{"explore_rounds": 0}"#,
            "explore_rounds is 0; it must be",
        );
        refused(r#"{"discount": 0}"#, "discount is 0; it must be above 0");
        refused(r#"{"discount": 1.01}"#, "discount is 1.01; it must be");
        refused(r#"{"retention": 0}"#, "retention is 0; it must be above 0");
        refused(r#"{"exploration": 0}"#, "exploration is 0; it must be");
        refused(r#"{"exploration": 2}"#, "exploration is 2; it must be");
        refused(r#"{"epsilon": -0.1}"#, "epsilon is -0.1; it must lie in");
        refused(r#"{"epsilon": 1.5}"#, "epsilon is 1.5; it must lie in");
        for value in [f64::NAN, f64::INFINITY] {
            for (name, params) in [
                (
                    "discount",
                    PolicyParams {
                        discount: value,
                        ..PolicyParams::default()
                    },
                ),
                (
                    "exploration",
                    PolicyParams {
                        exploration: value,
                        ..PolicyParams::default()
                    },
                ),
                (
                    "retention",
                    PolicyParams {
                        retention: value,
                        ..PolicyParams::default()
                    },
                ),
                (
                    "epsilon",
                    PolicyParams {
                        epsilon: value,
                        ..PolicyParams::default()
                    },
                ),
            ] {
                assert!(message(params.validate()).starts_with(name));
            }
        }
    }

    #[test]
    fn the_ends_of_the_ranges_are_in_them() {
        let params = PolicyParams {
            beta: Some(0.0),
            window: 1,
            discount: 1.0,
            exploration: 1.0,
            horizon: Some(1),
            explore_rounds: 1,
            epsilon: 1.0,
            retention: 1.0,
            counterfactual: usize::MAX,
            ..PolicyParams::default()
        };
        params.validate().unwrap();
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
