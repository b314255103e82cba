//! Which drafter speculates next: a multi-armed bandit over the pool.
//!
//! A [`Policy`] picks an arm for every round and learns from the round's [`Feedback`].
//! [`PolicySpec`] is what a user writes (`metasd-ucb`, `fixed:code`, …); together with
//! [`PolicyParams`] and the drafters' names it builds the policy.
//!
//! Nothing here knows what an arm is. All randomness comes from the caller's generator, so
//! the same feedback and the same generator give the same choices.

use std::fmt;
use std::str::FromStr;

use rand::Rng;
use serde::{Deserialize, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::types::ArmId;

mod arms;
pub mod cyclic;
pub mod fixed;
pub mod off;
pub mod ucb;
pub mod uniform;

/// How far beyond [0, 1] a reward may stray and still count as a rounding error.
const ROUNDING: f64 = 1e-6;

/// What a policy maximises.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reward {
    /// Block divergence: mean over the drafted positions of 1 − TV(target, drafter). It
    /// tells drafters apart with less noise than [`Reward::Be`] (arXiv 2604.05417).
    #[default]
    Bd,
    /// Block efficiency: the share of the drafted tokens that were accepted.
    Be,
}

impl Reward {
    /// Every reward's name, as it is written in a configuration.
    pub const KNOWN: &[&str] = &["bd", "be"];
}

impl fmt::Display for Reward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Reward::Bd => "bd",
            Reward::Be => "be",
        })
    }
}

impl FromStr for Reward {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "bd" => Ok(Reward::Bd),
            "be" => Ok(Reward::Be),
            _ => Err(Error::invalid(format!(
                "unknown reward `{text}`; known are {}",
                list(Reward::KNOWN)
            ))),
        }
    }
}

/// What a policy learns from one round.
///
/// A round in which the drafter proposed nothing is reported with `drafted`, `bd` and `be`
/// of 0. Leaving it out would keep the arm looking untried, and a policy that tries every
/// arm first would pick it forever.
#[derive(Clone, PartialEq, Debug)]
pub struct Feedback {
    /// The arm that drafted.
    pub arm: ArmId,
    /// Tokens it proposed.
    pub drafted: usize,
    /// Of these, the tokens that passed verification.
    pub accepted: usize,
    /// Tokens the round added to the text: the accepted ones and the target's own.
    pub committed: usize,
    /// Block divergence of the round, in [0, 1]; higher is better.
    pub bd: f64,
    /// Block efficiency of the round, in [0, 1]; higher is better.
    pub be: f64,
    /// Wall-clock time of the round, in seconds.
    pub seconds: f64,
    /// Rewards that other arms would have had on the committed tokens; empty unless
    /// [`Policy::wants_counterfactual`].
    pub counterfactual: Vec<(ArmId, f64)>,
}

impl Feedback {
    /// The value of `reward` in this round, in [0, 1].
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::error::ErrorKind::InvalidArgument) if the value is NaN or
    /// more than a rounding error (10⁻⁶) outside [0, 1].
    pub fn reward(&self, reward: Reward) -> Result<f64> {
        let value = match reward {
            Reward::Bd => self.bd,
            Reward::Be => self.be,
        };
        if (-ROUNDING..=1.0 + ROUNDING).contains(&value) {
            Ok(value.clamp(0.0, 1.0))
        } else {
            Err(Error::invalid(format!(
                "reward `{reward}` of arm {} is {value}; it must lie in [0, 1]",
                self.arm
            )))
        }
    }
}

/// A rule that picks the arm of each round.
///
/// Arms are numbered from 0. A caller alternates [`select`](Policy::select) and
/// [`observe`](Policy::observe); when a selected arm turns out to be unusable it calls
/// [`retire`](Policy::retire) instead, for a policy may select the same arm until it has
/// learnt something new.
pub trait Policy: Send + fmt::Debug {
    /// The policy as a [`PolicySpec`] writes it.
    fn name(&self) -> String;

    /// Starts a new query on `arms` arms: statistics and position are as in a policy just
    /// built. Retired arms stay retired; only building the policy anew brings them back.
    fn reset(&mut self, arms: usize);

    /// The arm for the next round. `None` when the policy does not speculate or has no arm
    /// left: the target then decodes alone.
    fn select(&mut self, rng: &mut dyn Rng) -> Option<ArmId>;

    /// Learns from a round. Feedback for a retired arm is ignored.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::error::ErrorKind::InvalidArgument) if the arm is not one
    /// of those given to [`reset`](Policy::reset) or if its reward is refused by
    /// [`Feedback::reward`]; the statistics are then unchanged.
    fn observe(&mut self, feedback: &Feedback) -> Result<()>;

    /// Takes an arm out for the rest of the policy's life: its drafter has left the pool.
    fn retire(&mut self, arm: ArmId);

    /// Whether [`Feedback::counterfactual`] should be filled, which costs time.
    fn wants_counterfactual(&self) -> bool {
        false
    }

    /// What the policy believes at this moment.
    fn state(&self) -> PolicyState;
}

/// A picture of a policy's statistics, for logs and for people.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PolicyState {
    /// [`Policy::name`].
    pub name: String,
    /// Rounds observed since the last reset, those of arms that have retired since included.
    pub t: u64,
    /// The arms, in order.
    pub arms: Vec<ArmState>,
}

/// One arm in a [`PolicyState`].
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ArmState {
    /// Which arm.
    #[serde(serialize_with = "serialize_arm")]
    pub arm: ArmId,
    /// Its rounds observed since the last reset.
    pub pulls: u64,
    /// Mean reward of these rounds; `None` before the first.
    pub mean: Option<f64>,
    /// What the policy ranks the arm by, such as an upper confidence bound. `None` when the
    /// arm was not pulled or has retired, or when the policy does not rank.
    pub index: Option<f64>,
    /// Whether the arm is out for good.
    pub retired: bool,
}

fn serialize_arm<S: Serializer>(
    arm: &ArmId,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    arm.0.serialize(serializer)
}

impl fmt::Display for PolicyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.3}"));
        writeln!(f, "{}, t = {}", self.name, self.t)?;
        write!(
            f,
            "{:>4} {:>6} {:>6} {:>6}",
            "arm", "pulls", "mean", "index"
        )?;
        for arm in &self.arms {
            write!(
                f,
                "\n{:>4} {:>6} {:>6} {:>6}{}",
                arm.arm,
                arm.pulls,
                number(arm.mean),
                number(arm.index),
                if arm.retired { " retired" } else { "" }
            )?;
        }
        Ok(())
    }
}

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

/// `` `a`, `b`, `c` ``
fn list(names: &[impl fmt::Display]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

/// The candidate that `text` is most likely a misspelling of, if any comes near.
fn closest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let text = text.to_lowercase();
    let near = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        // `ucb` is far from `metasd-ucb` by edits, yet plainly a part of it.
        if text.len() >= 3 && candidate.contains(&text) {
            return Some(0);
        }
        let distance = edit_distance(&text, &candidate);
        (3 * distance <= candidate.chars().count().max(3)).then_some(distance)
    };
    candidates
        .into_iter()
        .filter_map(|candidate| near(candidate).map(|distance| (distance, candidate)))
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance in characters, a swap of two neighbours counting as one edit.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
fn feedback(arm: usize, reward: f64) -> Feedback {
    Feedback {
        arm: ArmId(arm),
        drafted: 5,
        accepted: 2,
        committed: 3,
        bd: reward,
        be: 0.4,
        seconds: 0.01,
        counterfactual: Vec::new(),
    }
}

/// The policy `spec` with default parameters, on drafters named `d0`, `d1`, …
#[cfg(test)]
fn policy(spec: &str, arms: usize) -> Box<dyn Policy> {
    let names: Vec<String> = (0..arms).map(|i| format!("d{i}")).collect();
    let spec: PolicySpec = spec.parse().unwrap();
    spec.build(&PolicyParams::default(), &names).unwrap()
}

#[cfg(test)]
fn rng(seed: u64) -> rand_chacha::ChaCha8Rng {
    rand::SeedableRng::seed_from_u64(seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use proptest::prelude::*;
    use rand::RngExt;

    /// Every known policy, with a drafter's name in the place of `NAME`.
    fn every_spec() -> impl Iterator<Item = String> {
        PolicySpec::KNOWN
            .iter()
            .map(|name| name.replace("NAME", "d0"))
    }

    fn selections(policy: &mut dyn Policy, seed: u64, rounds: usize) -> Vec<Option<ArmId>> {
        let mut rng = rng(seed);
        let mut rewards = super::rng(seed + 1);
        (0..rounds)
            .map(|_| {
                let arm = policy.select(&mut rng);
                if let Some(arm) = arm {
                    let feedback = feedback(arm.0, rewards.random());
                    policy.observe(&feedback).unwrap();
                }
                arm
            })
            .collect()
    }

    fn message<T: fmt::Debug>(result: Result<T>) -> String {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        error.to_string()
    }

    #[test]
    fn the_reward_is_block_divergence_unless_told_otherwise() {
        let feedback = feedback(0, 0.7);
        assert_eq!(feedback.reward(Reward::default()).unwrap(), 0.7);
        assert_eq!(feedback.reward(Reward::Be).unwrap(), 0.4);
    }

    #[test]
    fn a_reward_name_round_trips_and_an_unknown_one_lists_the_known() {
        for name in Reward::KNOWN {
            let reward: Reward = name.parse().unwrap();
            assert_eq!(reward.to_string(), *name);
            assert_eq!(serde_json::to_value(reward).unwrap(), *name);
        }
        let message = message("accuracy".parse::<Reward>());
        assert_eq!(message, "unknown reward `accuracy`; known are `bd`, `be`");
    }

    #[test]
    fn a_reward_outside_the_unit_interval_is_refused_beyond_rounding() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.01, 1.01] {
            let message = message(feedback(3, value).reward(Reward::Bd));
            assert!(message.contains("`bd` of arm 3"), "{message}");
        }
        assert_eq!(feedback(0, 1.0 + 5e-7).reward(Reward::Bd).unwrap(), 1.0);
        assert_eq!(feedback(0, -5e-7).reward(Reward::Bd).unwrap(), 0.0);
    }

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

    #[test]
    fn a_lone_arm_is_always_selected() {
        for spec in every_spec().filter(|spec| spec != "off") {
            let selected = selections(&mut *policy(&spec, 1), 1, 20);
            assert_eq!(selected, [Some(ArmId(0)); 20], "{spec}");
        }
    }

    #[test]
    fn nothing_is_selected_without_arms() {
        for spec in every_spec() {
            let mut policy = policy(&spec, 3);
            policy.reset(0);
            assert_eq!(policy.select(&mut rng(1)), None, "{spec}");
        }
    }

    #[test]
    fn nothing_is_selected_once_all_arms_have_retired() {
        for spec in every_spec() {
            let mut policy = policy(&spec, 3);
            selections(&mut *policy, 1, 5);
            (0..3).map(ArmId).for_each(|arm| policy.retire(arm));
            assert_eq!(policy.select(&mut rng(1)), None, "{spec}");
        }
    }

    #[test]
    fn a_retired_arm_stays_out_after_a_reset() {
        for spec in every_spec() {
            let mut policy = policy(&spec, 3);
            policy.retire(ArmId(0));
            policy.reset(3);
            let selected = selections(&mut *policy, 1, 30);
            assert!(!selected.contains(&Some(ArmId(0))), "{spec}");
            assert!(policy.state().arms[0].retired, "{spec}");
        }
    }

    #[test]
    fn a_reset_policy_selects_and_believes_as_a_new_one() {
        for spec in every_spec() {
            let mut used = policy(&spec, 2);
            selections(&mut *used, 9, 25);
            used.reset(4);
            let mut new = policy(&spec, 4);
            assert_eq!(used.state(), new.state(), "{spec}");
            assert_eq!(
                selections(&mut *used, 2, 40),
                selections(&mut *new, 2, 40),
                "{spec}"
            );
            assert_eq!(used.state(), new.state(), "{spec}");
        }
    }

    #[test]
    fn feedback_for_an_unknown_arm_is_refused() {
        for spec in every_spec() {
            let mut policy = policy(&spec, 3);
            let message = message(policy.observe(&feedback(3, 0.5)));
            assert!(message.contains("arm 3"), "{spec}: {message}");
        }
    }

    #[test]
    fn feedback_for_a_retired_arm_is_ignored() {
        for spec in every_spec() {
            let mut policy = policy(&spec, 3);
            policy.observe(&feedback(1, 0.5)).unwrap();
            policy.retire(ArmId(1));
            let before = policy.state();
            policy.observe(&feedback(1, 0.9)).unwrap();
            policy.observe(&feedback(1, f64::NAN)).unwrap();
            assert_eq!(policy.state(), before, "{spec}");
            assert_eq!((before.t, before.arms[1].pulls), (1, 1), "{spec}");
        }
    }

    #[test]
    fn a_refused_reward_leaves_the_statistics_alone() {
        for spec in every_spec() {
            let mut policy = policy(&spec, 3);
            policy.observe(&feedback(1, 0.5)).unwrap();
            let before = policy.state();
            for value in [f64::NAN, -0.5, 1.5] {
                message(policy.observe(&feedback(1, value)));
            }
            assert_eq!(policy.state(), before, "{spec}");
        }
    }

    #[test]
    fn the_chosen_reward_is_the_one_that_is_learnt() {
        let params = PolicyParams {
            reward: Reward::Be,
            ..PolicyParams::default()
        };
        for spec in every_spec() {
            let spec: PolicySpec = spec.parse().unwrap();
            let mut policy = spec.build(&params, &["d0".to_owned()]).unwrap();
            // A bad value of the reward that is not in use does no harm.
            policy.observe(&feedback(0, f64::NAN)).unwrap();
            assert_eq!(policy.state().arms[0].mean, Some(0.4), "{spec}");
        }
    }

    #[test]
    fn the_same_generator_gives_the_same_selections() {
        for spec in every_spec() {
            let run = || selections(&mut *policy(&spec, 5), 11, 60);
            assert_eq!(run(), run(), "{spec}");
        }
    }

    #[test]
    fn a_state_prints_as_a_table_and_serialises() {
        let mut policy = policy("metasd-ucb", 3);
        policy.observe(&feedback(0, 0.25)).unwrap();
        policy.retire(ArmId(2));
        let state = policy.state();
        assert_eq!(
            state.to_string(),
            "metasd-ucb, t = 1\n\
             \x20arm  pulls   mean  index\n\
             \x20  0      1  0.250  0.250\n\
             \x20  1      0      -      -\n\
             \x20  2      0      -      - retired"
        );
        let json = serde_json::to_value(&state).unwrap();
        assert_eq!(json["name"], "metasd-ucb");
        assert_eq!(json["t"], 1);
        assert_eq!(json["arms"][0]["index"], 0.25);
        assert_eq!(json["arms"][1]["mean"], serde_json::Value::Null);
        assert_eq!(json["arms"][2]["arm"], 2);
        assert_eq!(json["arms"][2]["retired"], true);
    }

    #[test]
    fn an_edit_is_a_change_an_addition_a_loss_or_a_swap_of_neighbours() {
        for (a, b, distance) in [
            ("", "", 0),
            ("", "abc", 3),
            ("random", "random", 0),
            ("rondom", "random", 1),
            ("ranom", "random", 1),
            ("raandom", "random", 1),
            ("radnom", "random", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
            assert_eq!(edit_distance(b, a), distance, "{b} {a}");
        }
    }

    proptest! {
        #[test]
        fn whatever_parses_displays_as_it_was_written(text in "(fixed:)?\\PC{0,12}") {
            if let Ok(spec) = text.parse::<PolicySpec>() {
                prop_assert_eq!(spec.to_string(), text);
            }
        }

        #[test]
        fn no_policy_selects_an_arm_that_is_unknown_or_has_retired(
            arms in 1usize..6,
            seed: u64,
            steps in prop::collection::vec((prop::option::weighted(0.1, 0usize..6), 0.0..=1.0), 0..60),
        ) {
            for spec in every_spec() {
                let mut policy = policy(&spec, arms);
                let mut rng = rng(seed);
                let mut retired = std::collections::BTreeSet::new();
                for &(retire, reward) in &steps {
                    if let Some(arm) = retire {
                        policy.retire(ArmId(arm));
                        retired.insert(arm);
                    }
                    if let Some(ArmId(arm)) = policy.select(&mut rng) {
                        prop_assert!(arm < arms && !retired.contains(&arm), "{}", spec);
                        policy.observe(&feedback(arm, reward)).unwrap();
                    }
                }
            }
        }
    }
}
