//! Policies on a [`Record`]: exact, since with greedy decoding the text is the same whoever drafts.
//!
//! A round of an arm at a position comes to what was recorded there, and the next round begins
//! behind the tokens it commits. So a replay makes the same choices as the engine with the same
//! seed, thousands of times in the time of one generation.

mod totals;

pub use totals::ArmTotals;

use std::str::FromStr;

use rand_chacha::ChaCha8Rng;

use crate::bandit::{self, Feedback, Policy, PolicyParams, PolicySpec, expected_rounds};
use crate::error::{Error, Result};
use crate::record::{Attempt, Header, Record, Text};
use crate::sim::{SETTLED_ROUNDS, SETTLED_SHARE};
use crate::types::ArmId;

/// Texts that a policy takes as one query, one after the other.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    pub(super) header: &'a Header,
    pub(super) texts: Vec<&'a Text>,
}

/// What came of one query.
#[derive(Clone, PartialEq, Debug)]
pub struct Replay {
    /// The arm of every round; `None` where the target decoded alone.
    pub choices: Vec<Option<ArmId>>,
    /// Sums over the rounds of each arm.
    pub arms: Vec<ArmTotals>,
}

impl Replay {
    /// The stopping time: rounds until the text was there, those of the target alone included.
    pub fn rounds(&self) -> u64 {
        self.choices.len() as u64
    }

    /// The first round (from 1) by which `best` had [`SETTLED_SHARE`] of the last
    /// [`SETTLED_ROUNDS`] rounds; `None` if that never came.
    pub fn settled(&self, best: ArmId) -> Option<u64> {
        let needed = SETTLED_SHARE * SETTLED_ROUNDS as f64;
        let has_settled = |last: &[Option<ArmId>]| {
            let hits = last.iter().filter(|&&choice| choice == Some(best));
            hits.count() as f64 >= needed
        };
        let first = self.choices.windows(SETTLED_ROUNDS).position(has_settled);
        first.map(|first| (first + SETTLED_ROUNDS) as u64)
    }
}

impl<'a> Query<'a> {
    /// The query of `texts` of a recording with `header`, in that order: a single text as the
    /// engine generates it, or several as if one went on in the next.
    pub fn new(header: &'a Header, texts: impl IntoIterator<Item = &'a Text>) -> Self {
        Self {
            header,
            texts: texts.into_iter().collect(),
        }
    }

    /// Tokens of the texts together.
    pub fn tokens(&self) -> usize {
        self.texts.iter().map(|text| text.tokens.len()).sum()
    }

    /// The most tokens that the texts could have had together.
    fn budget(&self) -> usize {
        self.texts.len().saturating_mul(self.header.n_predict)
    }

    /// Plays the query with `policy`, which is reset first. `rng` is [`bandit::generator`]'s for
    /// the choices that the engine makes with the same seed.
    ///
    /// Every policy that wants counterfactual feedback gets an entry for every arm: the mean of
    /// its agreements over the round's committed positions. The round's time is that of its draft
    /// and of the recorded verification, which is one of all drafts together.
    ///
    /// # Errors
    /// Those of [`Policy::observe`].
    ///
    /// # Panics
    /// If the policy selects an arm it was not given.
    pub fn play(&self, policy: &mut dyn Policy, rng: &mut ChaCha8Rng) -> Result<Replay> {
        let arms = self.header.drafters.len();
        policy.expect_rounds(expected_rounds(Some(self.budget())));
        policy.reset(arms);
        let mut replay = Replay {
            choices: Vec::new(),
            arms: vec![ArmTotals::default(); arms],
        };
        for text in &self.texts {
            let mut position = 0;
            while position < text.tokens.len() {
                let most = self.header.most_drafted(text.prompt_tokens, position);
                let choice = if most > 0 { policy.select(rng) } else { None };
                replay.choices.push(choice);
                let Some(arm) = choice else {
                    position += 1;
                    continue;
                };
                let attempt = text.at(position)[arm.0];
                let next = after(text, position, &attempt);
                replay.arms[arm.0].add(&attempt);
                let counterfactual = match policy.wants_counterfactual() {
                    true => agreements(text, position..next),
                    false => Vec::new(),
                };
                policy.observe(&Feedback {
                    arm,
                    drafted: attempt.drafted,
                    accepted: attempt.accepted,
                    committed: next - position,
                    bd: attempt.bd,
                    be: attempt.be(),
                    seconds: (attempt.draft_us + text.verify_us[position]) as f64 * 1e-6,
                    counterfactual,
                })?;
                position = next;
            }
        }
        Ok(replay)
    }

    /// Plays the query with the policy `spec` under each seed of `seeds`. A policy that draws no
    /// random number is played once, and its replay stands for all.
    ///
    /// # Errors
    /// Those of [`PolicySpec::build`] and [`Query::play`].
    pub fn runs(
        &self,
        spec: &PolicySpec,
        params: &PolicyParams,
        seeds: impl IntoIterator<Item = u64>,
    ) -> Result<Vec<Replay>> {
        let mut policy = spec.build(params, &self.header.names())?;
        let mut runs: Vec<Replay> = Vec::new();
        let mut is_deterministic = false;
        for seed in seeds {
            if let Some(only) = runs.first().filter(|_| is_deterministic) {
                runs.push(only.clone());
                continue;
            }
            let mut rng = bandit::generator(seed);
            let before = rng.get_word_pos();
            runs.push(self.play(&mut *policy, &mut rng)?);
            is_deterministic = rng.get_word_pos() == before;
        }
        Ok(runs)
    }

    /// The rounds of each drafter alone, with what it did.
    ///
    /// # Errors
    /// None but a fault of the recording.
    pub fn fixed(&self) -> Result<Vec<Replay>> {
        let params = PolicyParams::default();
        let names = self.header.names();
        let play = |name: String| {
            let mut policy = PolicySpec::Fixed(name).build(&params, &names)?;
            self.play(&mut *policy, &mut bandit::generator(0))
        };
        names.iter().cloned().map(play).collect()
    }

    /// The fewest rounds in which any choice of a drafter, or of none, at every round could have
    /// come to the texts: by dynamic programming over the positions, from the last one.
    pub fn oracle_rounds(&self) -> u64 {
        let of_text = |text: &&Text| {
            let tokens = text.tokens.len();
            // Rounds from each position to the end.
            let mut rounds = vec![0u64; tokens + 1];
            for position in (0..tokens).rev() {
                let alone = rounds[position + 1];
                // Where nothing may be drafted every attempt has accepted nothing.
                let with = |attempt: &Attempt| rounds[after(text, position, attempt)];
                let best = text.at(position).iter().map(with).min();
                rounds[position] = 1 + best.map_or(alone, |best| best.min(alone));
            }
            rounds[0]
        };
        self.texts.iter().map(of_text).sum()
    }
}

/// The position after a round that begins at `position`: behind what it commits, but not behind
/// the end of the text.
fn after(text: &Text, position: usize, attempt: &Attempt) -> usize {
    (position + attempt.accepted + 1).min(text.tokens.len())
}

/// The mean agreement of every arm over `positions`.
fn agreements(text: &Text, positions: std::ops::Range<usize>) -> Vec<(ArmId, f64)> {
    let count = positions.len() as f64;
    let arms = text.at(positions.start).len();
    let mean = |arm: usize| {
        let agreements = positions
            .clone()
            .map(|position| text.at(position)[arm].agreement());
        agreements.sum::<f64>() / count
    };
    (0..arms).map(|arm| (ArmId(arm), mean(arm))).collect()
}

/// Which texts of a category are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Split {
    /// Every one.
    #[default]
    All,
    /// The first, the third, …: those of even index, counted from 0 within the category.
    Even,
    /// The second, the fourth, ….
    Odd,
}

impl FromStr for Split {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "all" => Ok(Self::All),
            "even" => Ok(Self::Even),
            "odd" => Ok(Self::Odd),
            _ => Err(Error::invalid(format!(
                "unknown part `{text}`; known are `all`, `even`, `odd`"
            ))),
        }
    }
}

impl Record {
    /// The texts of each category that `split` takes, in the order of the categories; a category
    /// without any is left out.
    pub fn by_category(&self, split: Split) -> Vec<(&str, Vec<&Text>)> {
        let takes = |&(index, _): &(usize, &Text)| match split {
            Split::All => true,
            Split::Even => index % 2 == 0,
            Split::Odd => index % 2 == 1,
        };
        let names = self.header.categories.iter().enumerate();
        let of_category = |(category, name)| {
            let texts = self
                .texts
                .iter()
                .filter(move |text| text.category == category);
            let taken: Vec<&Text> = texts
                .enumerate()
                .filter(takes)
                .map(|(_, text)| text)
                .collect();
            (name, taken)
        };
        names
            .map(|(category, name)| of_category((category, name.as_str())))
            .filter(|(_, texts)| !texts.is_empty())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bandit::PolicyState;
    use crate::record::header;
    use crate::types::TokenId;

    /// A text of as many tokens as each of `accepted` has numbers: what each arm has accepted at
    /// each position, of the five or fewer that may be drafted. Its BD is a tenth of the position
    /// and its agreement a tenth of the arm's number.
    fn text(category: usize, accepted: &[&[usize]]) -> Text {
        let tokens = accepted[0].len();
        let header = header(&["a"; 3][..accepted.len()], &["x", "y"], 1);
        let attempt = |position: usize, arm: usize| {
            let drafted = header.most_drafted(10, position);
            assert!(accepted[arm][position] <= drafted, "{arm} at {position}");
            Attempt {
                drafted,
                accepted: accepted[arm][position],
                bd: position as f64 / 10.0,
                tv: 1.0 - arm as f32 / 10.0,
                draft_us: 0,
            }
        };
        Text {
            category,
            prompt_tokens: 10,
            tokens: vec![TokenId(1); tokens],
            verify_us: vec![0; tokens],
            attempts: (0..tokens)
                .flat_map(|position| (0..accepted.len()).map(move |arm| (position, arm)))
                .map(|(position, arm)| attempt(position, arm))
                .collect(),
        }
    }

    /// Texts of eight tokens. In the first each drafter alone takes 4 rounds, but `a` up to
    /// position 3 and then `b` take 2.
    fn record() -> Record {
        let mut header = header(&["a", "b"], &["x", "y"], 3);
        header.n_predict = 8;
        Record {
            texts: vec![
                text(0, &[&[2, 0, 0, 0, 0, 2, 0, 0], &[0, 0, 0, 4, 0, 0, 0, 0]]),
                text(1, &[&[0; 8], &[5, 0, 0, 0, 0, 0, 1, 0]]),
                text(0, &[&[0; 8], &[0; 8]]),
            ],
            header,
        }
    }

    fn rounds(query: &Query<'_>) -> Vec<u64> {
        let fixed = query.fixed().expect("a whole record");
        fixed.iter().map(Replay::rounds).collect()
    }

    #[test]
    fn a_drafter_alone_jumps_behind_what_it_has_accepted() {
        let record = record();
        let query = Query::new(&record.header, [&record.texts[0]]);
        let fixed = query.fixed().expect("a whole record");
        // a: 0, 3, 4, 5 and done; b: 0, 1, 2, 3 and done.
        assert_eq!(rounds(&query), [4, 4]);
        let a = Some(ArmId(0));
        assert_eq!(fixed[0].choices, [a; 4]);
        let totals = fixed[0].arms[0];
        assert_eq!(
            (totals.rounds, totals.accepted, totals.drafted),
            (4, 4, 5 + 4 + 3 + 2)
        );
        assert_eq!(totals.mean_acceptance_length(), Some(2.0));
        assert!((totals.mean_bd().expect("rounds") - 0.3).abs() < 1e-6);
        // BD is 0, 0.3, 0.4, 0.5 there.
        assert!((totals.variance_bd().expect("rounds") - 0.035).abs() < 1e-6);
        assert_eq!(fixed[0].arms[1].mean_bd(), None);
    }

    #[test]
    fn where_nothing_may_be_drafted_no_policy_is_asked() {
        let record = record();
        // a takes a round for each token, and the last is the target's alone.
        let query = Query::new(&record.header, [&record.texts[1]]);
        let fixed = query.fixed().expect("a whole record");
        assert_eq!(fixed[0].rounds(), 8);
        assert_eq!(fixed[0].arms[0].rounds, 7);
        assert_eq!(fixed[0].choices[7], None);
        // b: 0, 6 and done.
        assert_eq!(fixed[1].rounds(), 2);
    }

    #[test]
    fn the_oracle_takes_the_fewest_rounds_of_any_choices() {
        let record = record();
        let of = |text: usize| Query::new(&record.header, [&record.texts[text]]).oracle_rounds();
        // a to 3, b to the end.
        assert_eq!(of(0), 2);
        assert_eq!(of(1), 2);
        assert_eq!(of(2), 8);
        let both = Query::new(&record.header, &record.texts[..2]);
        assert_eq!((both.oracle_rounds(), both.tokens()), (4, 16));
        assert_eq!(rounds(&both), [12, 6]);
    }

    #[test]
    fn the_oracle_is_the_best_of_all_sequences_of_choices() {
        fn best(text: &Text, position: usize) -> u64 {
            if position >= text.tokens.len() {
                return 0;
            }
            let lengths = text.at(position).iter().map(|attempt| attempt.accepted + 1);
            let rest = lengths
                .chain([1])
                .map(|length| best(text, position + length));
            1 + rest.min().expect("there is always the target alone")
        }
        let header = header(&["a", "b"], &["x"], 1);
        // A greedy choice of the longest draft would miss the best way here.
        let texts = [
            text(0, &[&[3, 0, 4, 0, 0, 0, 0, 0], &[1, 0, 0, 0, 0, 0, 0, 0]]),
            text(0, &[&[1, 2, 0, 1, 0, 2, 1, 0], &[0, 1, 3, 0, 3, 0, 0, 0]]),
        ];
        for text in &texts {
            let query = Query::new(&header, [text]);
            assert_eq!(query.oracle_rounds(), best(text, 0));
        }
        assert_eq!(Query::new(&header, [&texts[0]]).oracle_rounds(), 3);
    }

    #[test]
    fn a_replay_repeats_with_its_seed_and_without_randomness_whatever_the_seed() {
        let record = record();
        let query = Query::new(&record.header, &record.texts);
        for text in PolicySpec::KNOWN {
            let spec: PolicySpec = text.replace("NAME", "b").parse().expect("known");
            let params = PolicyParams::default();
            let runs = query.runs(&spec, &params, [3, 3, 4]).expect("playable");
            assert_eq!(runs[0], runs[1], "{text}");
            let names = record.header.names();
            for (seed, run) in [3, 3, 4].into_iter().zip(&runs) {
                let mut policy = spec.build(&params, &names).expect("valid");
                let alone = query.play(&mut *policy, &mut bandit::generator(seed));
                assert_eq!(*run, alone.expect("playable"), "{text}");
            }
        }
    }

    /// Takes the arms in turns and keeps what it is told.
    #[derive(Debug, Default)]
    struct Listener {
        told: Vec<Feedback>,
    }

    impl Policy for Listener {
        fn name(&self) -> String {
            "listener".into()
        }
        fn reset(&mut self, _arms: usize) {}
        fn select(&mut self, _rng: &mut dyn rand::Rng) -> Option<ArmId> {
            Some(ArmId(self.told.len() % 2))
        }
        fn observe(&mut self, feedback: &Feedback) -> Result<()> {
            self.told.push(feedback.clone());
            Ok(())
        }
        fn retire(&mut self, _arm: ArmId) {}
        fn wants_counterfactual(&self) -> bool {
            self.told.len() != 1
        }
        fn state(&self) -> PolicyState {
            PolicySpec::Off
                .build(&PolicyParams::default(), &[])
                .expect("off needs nothing")
                .state()
        }
    }

    #[test]
    fn feedback_is_what_the_engine_would_have_told() {
        let mut record = record();
        // Different agreements at the positions 0 to 2, over which the first round commits.
        for (position, tv) in [0.8, 0.6, 0.1].into_iter().enumerate() {
            record.texts[0].attempts[2 * position + 1].tv = tv;
        }
        record.texts[0].verify_us[0] = 1500;
        record.texts[0].attempts[0].draft_us = 500;
        let mut listener = Listener::default();
        Query::new(&record.header, [&record.texts[0]])
            .play(&mut listener, &mut bandit::generator(0))
            .expect("playable");
        // a commits 0 to 2, b the rest.
        let [first, second] = &listener.told[..] else {
            panic!("{:?}", listener.told);
        };
        assert_eq!(
            (first.arm, first.drafted, first.accepted, first.committed),
            (ArmId(0), 5, 2, 3)
        );
        assert_eq!((first.bd, first.be, first.seconds), (0.0, 0.4, 0.002));
        let [(ArmId(0), a), (ArmId(1), b)] = first.counterfactual[..] else {
            panic!("{first:?}");
        };
        assert!(a.abs() < 1e-6 && (b - 0.5).abs() < 1e-6, "{a} {b}");
        assert_eq!((second.arm, second.committed), (ArmId(1), 5));
        assert!(second.counterfactual.is_empty(), "it was not wanted");
    }

    #[test]
    fn a_query_has_settled_once_the_best_arm_has_nine_of_ten_of_fifty_rounds() {
        let replay = |choices: &[usize]| Replay {
            choices: choices.iter().map(|&arm| Some(ArmId(arm))).collect(),
            arms: Vec::new(),
        };
        let settled = |choices: &[usize]| replay(choices).settled(ArmId(1));
        assert_eq!(settled(&[1; 49]), None);
        assert_eq!(settled(&[1; 60]), Some(50));
        // Of rounds 3 to 52 five went to others, of those before more.
        let mut late = [1; 60];
        for round in [0, 1, 9, 10, 11, 12, 13] {
            late[round] = 0;
        }
        assert_eq!(settled(&late), Some(52));
    }

    #[test]
    fn a_split_takes_every_other_text_of_each_category() {
        let record = record();
        let counts = |split| {
            let taken = record.by_category(split);
            let counts = taken.iter().map(|(name, texts)| (*name, texts.len()));
            counts
                .map(|(name, count)| format!("{name} {count}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(counts(Split::All), ["x 2", "y 1"]);
        assert_eq!(counts(Split::Even), ["x 1", "y 1"]);
        assert_eq!(counts(Split::Odd), ["x 1"]);
        assert_eq!(record.by_category(Split::Odd)[0].1[0], &record.texts[2]);
        assert!("some".parse::<Split>().is_err());
    }
}
