//! What rounds have shown of each arm, as sums that can be discounted and taken back.

use std::ops::MulAssign;

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
    /// Takes in a round that the arm drafted, or with a `sign` of −1 takes it back.
    fn count_reward(&mut self, reward: f64, sign: f64) {
        self.rounds += sign;
        self.rewards += sign * reward;
        // What subtractions round off must not outlive the rounds.
        if self.rounds == 0.0 {
            self.rewards = 0.0;
        }
    }

    /// Takes in a round in which the arm agreed with the target by `agreement` on average over
    /// `positions` committed positions, or with a `sign` of −1 takes it back.
    fn count_agreement(&mut self, agreement: f64, positions: f64, sign: f64) {
        self.scored += sign;
        self.positions += sign * positions;
        self.agreement += sign * agreement * positions;
        if self.scored == 0.0 {
            self.positions = 0.0;
            self.agreement = 0.0;
        }
    }

    /// Rounds that say something about the arm.
    fn weight(&self) -> f64 {
        self.rounds + self.scored
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

/// What a round has shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown<'a> {
    arm: ArmId,
    reward: f64,
    /// The drafting arm's own agreement; `None` where the round counts by its reward alone.
    own: Option<f64>,
    /// The agreement of the arms that were scored, each a mean over `positions`.
    agreements: &'a [(ArmId, f64)],
    /// Committed positions.
    positions: f64,
}

impl<'a> Shown<'a> {
    /// Of the round of `feedback`, whose reward is `reward`: of the drafting arm its reward alone,
    /// or, in a round to be `scored` in which it has an entry, of every arm that has one its
    /// agreement.
    pub(super) fn new(feedback: &'a Feedback, reward: f64, scored: bool) -> Self {
        let entries = feedback.counterfactual.iter().filter(|_| scored);
        let mut of_arm = entries.filter(|&&(arm, _)| arm == feedback.arm);
        let own = of_arm.next().map(|&(_, agreement)| agreement);
        Self {
            arm: feedback.arm,
            reward,
            own,
            agreements: own.map_or(&[], |_| &feedback.counterfactual),
            positions: feedback.positions(),
        }
    }
}

/// A round that is kept, to be taken back when its time is over.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    arm: ArmId,
    reward: f64,
    own: Option<f64>,
    agreements: Vec<(ArmId, f64)>,
    positions: f64,
}

impl Kept {
    /// What `shown` says of the arms that are `known`, in the memory of `spare` if there is one.
    pub(super) fn new(
        shown: Shown<'_>,
        known: impl Fn(ArmId) -> bool,
        spare: Option<Self>,
    ) -> Self {
        let mut agreements = spare.map_or(Vec::new(), |spare| spare.agreements);
        agreements.clear();
        agreements.extend(shown.agreements.iter().filter(|(arm, _)| known(*arm)));
        Self {
            arm: shown.arm,
            reward: shown.reward,
            own: shown.own,
            agreements,
            positions: shown.positions,
        }
    }

    /// The round.
    pub(super) fn shown(&self) -> Shown<'_> {
        Shown {
            arm: self.arm,
            reward: self.reward,
            own: self.own,
            agreements: &self.agreements,
            positions: self.positions,
        }
    }
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

    /// Takes in what a round says of the arms that are `known`.
    pub(super) fn add(&mut self, shown: Shown<'_>, known: impl Fn(ArmId) -> bool) {
        self.count(shown, known, 1.0);
    }

    /// Undoes [`Ledger::add`].
    pub(super) fn take_back(&mut self, shown: Shown<'_>) {
        self.count(shown, |_| true, -1.0);
    }

    fn count(&mut self, shown: Shown<'_>, known: impl Fn(ArmId) -> bool, sign: f64) {
        let Some(own) = shown.own else {
            if let Some(evidence) = self.arms.get_mut(shown.arm.0) {
                evidence.count_reward(shown.reward, sign);
            }
            return;
        };
        self.drafting.count_reward(shown.reward, sign);
        self.drafting.count_agreement(own, shown.positions, sign);
        for &(arm, agreement) in shown.agreements {
            if known(arm)
                && let Some(evidence) = self.arms.get_mut(arm.0)
            {
                evidence.count_agreement(agreement, shown.positions, sign);
            }
        }
    }

    /// Rounds that say something about `arm`; a discounted round counts as a part.
    pub(super) fn weight(&self, arm: ArmId) -> f64 {
        self.arms[arm.0].weight()
    }

    /// The mean reward of an arm, as far as it was scored by its agreement in the scale of
    /// rewards. `None` when nothing is known of it.
    pub(super) fn mean(&self, arm: ArmId) -> Option<f64> {
        self.means()(arm)
    }

    /// [`Ledger::mean`] for many arms: what all have in common is worked out once.
    pub(super) fn means(&self) -> impl Fn(ArmId) -> Option<f64> {
        let shift = self.shift();
        move |arm| {
            let evidence = &self.arms[arm.0];
            let weight = evidence.weight();
            // Below the normal numbers the quotient would no longer be a mean.
            if weight < f64::MIN_POSITIVE {
                return None;
            }
            let mut sum = evidence.rewards;
            if evidence.positions >= f64::MIN_POSITIVE {
                sum += evidence.scored * (evidence.agreement / evidence.positions + shift);
            }
            Some(sum / weight)
        }
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
            ledger.add(Shown::new(round, round.bd, true), |_| true);
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
        ledger.take_back(Shown::new(&round, round.bd, true));
        assert_eq!(ledger.mean(ArmId(0)), None);
        assert_eq!(ledger.drafting, Evidence::default());
    }

    #[test]
    fn a_round_that_is_kept_says_what_it_said_of_the_arms_that_were_known() {
        let round = scored(0, 0.1, 3, &[(0, 0.7), (1, 0.3), (2, 0.5)]);
        let shown = Shown::new(&round, round.bd, true);
        let known = |arm: ArmId| arm.0 != 1;
        let earlier = scored(2, 0.9, 1, &[(2, 0.4)]);
        let earlier = Kept::new(Shown::new(&earlier, 0.9, true), known, None);
        let kept = Kept::new(shown, known, Some(earlier));
        let mut ledger = Ledger::new(3);
        ledger.add(shown, known);
        assert_eq!(ledger.mean(ArmId(1)), None);
        assert!(ledger.mean(ArmId(2)).is_some());
        ledger.take_back(kept.shown());
        assert_eq!(ledger.arms, Ledger::new(3).arms);
        assert_eq!(ledger.drafting, Evidence::default());
    }
}
