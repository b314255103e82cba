//! What rounds have shown of each arm, as sums that can be discounted and taken back.

use std::ops::{AddAssign, MulAssign, SubAssign};

use crate::bandit::Feedback;
use crate::types::ArmId;

/// Sums over rounds of one arm.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Evidence {
    /// Rounds that the arm drafted and that count by their reward.
    rounds: f64,
    /// The rewards of these.
    rewards: f64,
    /// Rounds that count by the arm's agreement on the committed text, whoever drafted.
    scored: f64,
    /// Committed positions of these.
    positions: f64,
    /// Agreement summed over these positions.
    agreement: f64,
}

impl Evidence {
    /// A round that the arm drafted.
    fn reward(reward: f64) -> Self {
        Self {
            rounds: 1.0,
            rewards: reward,
            ..Self::default()
        }
    }

    /// A round in which the arm agreed with the target by `agreement` on average over
    /// `positions` committed positions.
    fn agreement(agreement: f64, positions: f64) -> Self {
        Self {
            scored: 1.0,
            positions,
            agreement: agreement * positions,
            ..Self::default()
        }
    }

    /// Rounds that say something about the arm.
    fn weight(&self) -> f64 {
        self.rounds + self.scored
    }
}

impl AddAssign for Evidence {
    fn add_assign(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.rewards += other.rewards;
        self.scored += other.scored;
        self.positions += other.positions;
        self.agreement += other.agreement;
    }
}

impl SubAssign for Evidence {
    fn sub_assign(&mut self, other: Self) {
        self.rounds -= other.rounds;
        self.rewards -= other.rewards;
        self.scored -= other.scored;
        self.positions -= other.positions;
        self.agreement -= other.agreement;
        // What the subtractions round off must not outlive the rounds.
        if self.rounds == 0.0 {
            self.rewards = 0.0;
        }
        if self.scored == 0.0 {
            self.positions = 0.0;
            self.agreement = 0.0;
        }
    }
}

impl MulAssign<f64> for Evidence {
    fn mul_assign(&mut self, factor: f64) {
        self.rounds *= factor;
        self.rewards *= factor;
        self.scored *= factor;
        self.positions *= factor;
        self.agreement *= factor;
    }
}

/// Whom a piece of evidence is about.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum About {
    /// An arm.
    Arm(ArmId),
    /// The arms that drafted scored rounds, as one: their reward and their agreement in them.
    Drafting,
}

/// The evidence of every arm, and what makes rewards and agreements comparable.
///
/// A reward is measured over the drafted positions and agreement over the committed ones, which
/// are other places: a drafter sees its own wrong turns in the one and never in the other. For
/// the arms that drafted scored rounds both are known; the difference of the two means is added
/// to every arm's agreement. One shift for all arms leaves their order alone. Agreement is
/// averaged over positions, not over rounds: a round ends where its drafter was wrong, so that
/// over rounds the drafting arm would come off worse than one that only looked on.
#[derive(Clone, Default, Debug)]
pub(super) struct Ledger {
    arms: Vec<Evidence>,
    drafting: Evidence,
}

impl Ledger {
    pub(super) fn new(arms: usize) -> Self {
        Self {
            arms: vec![Evidence::default(); arms],
            drafting: Evidence::default(),
        }
    }

    /// Forgets everything.
    pub(super) fn reset(&mut self, arms: usize) {
        self.carry(arms, 0.0);
    }

    /// Lets what there is count `discount` times.
    pub(super) fn carry(&mut self, arms: usize, discount: f64) {
        self.arms.resize(arms, Evidence::default());
        self.discount(discount);
    }

    pub(super) fn discount(&mut self, factor: f64) {
        self.arms.iter_mut().for_each(|arm| *arm *= factor);
        self.drafting *= factor;
    }

    fn slot(&mut self, about: About) -> &mut Evidence {
        match about {
            About::Arm(arm) => &mut self.arms[arm.0],
            About::Drafting => &mut self.drafting,
        }
    }

    pub(super) fn add(&mut self, about: About, evidence: Evidence) {
        *self.slot(about) += evidence;
    }

    pub(super) fn take_back(&mut self, about: About, evidence: Evidence) {
        *self.slot(about) -= evidence;
    }

    /// Rounds that say something about `arm`; a discounted round counts as a part.
    pub(super) fn weight(&self, arm: ArmId) -> f64 {
        self.arms[arm.0].weight()
    }

    /// The mean reward of `arm`, as far as it was scored by its agreement in the scale of
    /// rewards. `None` when nothing is known of it.
    pub(super) fn mean(&self, arm: ArmId) -> Option<f64> {
        let evidence = &self.arms[arm.0];
        let weight = evidence.weight();
        // Below the normal numbers the quotient would no longer be a mean.
        if weight < f64::MIN_POSITIVE {
            return None;
        }
        let mut sum = evidence.rewards;
        if evidence.positions >= f64::MIN_POSITIVE {
            sum += evidence.scored * (evidence.agreement / evidence.positions + self.shift());
        }
        Some(sum / weight)
    }

    /// Mean reward minus mean agreement of the arms that drafted scored rounds.
    fn shift(&self) -> f64 {
        let Evidence {
            rounds,
            rewards,
            positions,
            agreement,
            ..
        } = self.drafting;
        if rounds < f64::MIN_POSITIVE || positions < f64::MIN_POSITIVE {
            return 0.0;
        }
        rewards / rounds - agreement / positions
    }
}

/// What the round of `feedback`, whose reward is `reward`, shows: of the drafting arm its reward
/// alone, or, in a round to be `scored` in which it has an entry, of every arm that has one its
/// agreement.
pub(super) fn evidence(
    feedback: &Feedback,
    reward: f64,
    scored: bool,
) -> impl Iterator<Item = (About, Evidence)> {
    let entry_of_arm = |&&(arm, _): &&(ArmId, f64)| arm == feedback.arm;
    let drafting = feedback
        .counterfactual
        .iter()
        .find(entry_of_arm)
        .filter(|_| scored);
    let entries = drafting.map_or(&[][..], |_| &feedback.counterfactual);
    let positions = feedback.positions();
    let alone = match drafting {
        Some(&(_, agreement)) => {
            let mut both = Evidence::reward(reward);
            both += Evidence::agreement(agreement, positions);
            (About::Drafting, both)
        }
        None => (About::Arm(feedback.arm), Evidence::reward(reward)),
    };
    let of_entry = move |&(arm, agreement): &(ArmId, f64)| {
        (About::Arm(arm), Evidence::agreement(agreement, positions))
    };
    std::iter::once(alone).chain(entries.iter().map(of_entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bandit::feedback;

    fn scored(arm: usize, reward: f64, committed: usize, entries: &[(usize, f64)]) -> Feedback {
        Feedback {
            committed,
            counterfactual: entries.iter().map(|&(arm, x)| (ArmId(arm), x)).collect(),
            ..feedback(arm, reward)
        }
    }

    fn ledger(rounds: &[Feedback]) -> Ledger {
        let mut ledger = Ledger::new(3);
        for round in rounds {
            for (about, piece) in evidence(round, round.bd, true) {
                ledger.add(about, piece);
            }
        }
        ledger
    }

    #[test]
    fn agreement_is_averaged_over_positions_and_shifted_to_the_drafting_arms_rewards() {
        let ledger = ledger(&[
            scored(0, 0.5, 4, &[(0, 0.75), (1, 0.5)]),
            scored(1, 0.4, 1, &[(0, 0.25), (1, 0.0)]),
        ]);
        // Agreement 3.25 / 5 and 2 / 5; the drafting arms' rewards 0.9 / 2, agreement 3 / 5.
        let shift = 0.45 - 0.6;
        assert!((ledger.mean(ArmId(0)).unwrap() - (0.65 + shift)).abs() < 1e-12);
        assert!((ledger.mean(ArmId(1)).unwrap() - (0.4 + shift)).abs() < 1e-12);
        assert_eq!(ledger.mean(ArmId(2)), None);
        assert_eq!(ledger.weight(ArmId(1)), 2.0);
    }

    #[test]
    fn an_arm_that_drafted_alone_has_the_mean_of_its_rewards() {
        let ledger = ledger(&[
            scored(0, 0.5, 1, &[(0, 0.2), (1, 0.1)]),
            scored(1, 0.3, 1, &[(1, 0.2), (0, 0.3)]),
        ]);
        // Rewards 0.4 on average, agreement of those who drafted 0.2.
        assert!((ledger.mean(ArmId(0)).unwrap() - (0.25 + 0.2)).abs() < 1e-12);
        assert!((ledger.mean(ArmId(1)).unwrap() - (0.15 + 0.2)).abs() < 1e-12);
    }

    #[test]
    fn a_round_without_an_entry_of_its_own_arm_counts_by_its_reward() {
        let ledger = ledger(&[
            scored(0, 0.5, 2, &[(1, 0.9)]),
            scored(2, 0.25, 2, &[]),
            scored(2, 0.75, 2, &[]),
        ]);
        assert_eq!(ledger.mean(ArmId(0)), Some(0.5));
        assert_eq!(ledger.mean(ArmId(1)), None);
        assert_eq!(ledger.mean(ArmId(2)), Some(0.5));
    }

    #[test]
    fn what_is_taken_back_leaves_nothing_and_a_discount_leaves_the_means() {
        let round = scored(0, 0.1, 3, &[(0, 0.7), (1, 0.3)]);
        let mut ledger = ledger(std::slice::from_ref(&round));
        let before = [0, 1].map(|arm| ledger.mean(ArmId(arm)).unwrap());
        ledger.carry(3, 0.3);
        for (arm, before) in before.into_iter().enumerate() {
            assert!((ledger.mean(ArmId(arm)).unwrap() - before).abs() < 1e-12);
            assert!((ledger.weight(ArmId(arm)) - 0.3).abs() < 1e-12);
        }
        ledger.carry(3, 1.0 / 0.3);
        let mut ledger = self::ledger(std::slice::from_ref(&round));
        for (about, piece) in evidence(&round, round.bd, true) {
            ledger.take_back(about, piece);
        }
        assert_eq!(ledger.mean(ArmId(0)), None);
        assert_eq!(ledger.drafting, Evidence::default());
    }
}
