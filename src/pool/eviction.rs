//! Who makes room.

use std::time::Duration;

use super::budget::{Footprint, Ledger};
use crate::types::ArmId;

/// A load is taken to cost at least this, so that those too short to measure are told apart by
/// their use alone.
const LEAST_COST: Duration = Duration::from_millis(1);

/// A drafter that may be evicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub arm: ArmId,
    /// Rounds of others since it drafted last.
    pub idle: u64,
    /// What bringing it back costs.
    pub reload: Duration,
    pub footprint: Footprint,
}

impl Candidate {
    /// What a reader can predict: rounds idle for each millisecond of reloading.
    fn dispensability(&self) -> f64 {
        self.idle as f64 / self.reload.max(LEAST_COST).as_secs_f64()
    }
}

/// Puts first who is evicted first: the least recently used, weighed by what reloading costs. A
/// drafter that takes twice as long to load stays twice as long; of equals the first of the pool
/// goes first.
pub(super) fn order(candidates: &mut [Candidate]) {
    candidates.sort_by(|a, b| {
        (b.dispensability().total_cmp(&a.dispensability())).then(a.arm.cmp(&b.arm))
    });
}

/// Who is evicted so that a drafter of `need` fits: as many of `candidates`, in their
/// [`order`], as it takes; none when it fits already. `None` when all of them are not enough.
pub(super) fn victims(
    mut candidates: Vec<Candidate>,
    need: Footprint,
    ledger: &Ledger,
) -> Option<Vec<ArmId>> {
    order(&mut candidates);
    let mut ledger = ledger.clone();
    let mut candidates = candidates
        .into_iter()
        .filter(|candidate| !candidate.footprint.is_nothing());
    let mut victims = Vec::new();
    while !ledger.fits(need) {
        let victim = candidates.next()?;
        ledger.refund(victim.footprint);
        victims.push(victim.arm);
    }
    Some(victims)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pool::budget::ResidencyParams;
    use crate::pool::size::ByteSize;

    fn candidate(arm: usize, idle: u64, reload_ms: u64, device: u64) -> Candidate {
        Candidate {
            arm: ArmId(arm),
            idle,
            reload: Duration::from_millis(reload_ms),
            footprint: Footprint { device, host: 0 },
        }
    }

    fn ledger(limit: u64, candidates: &[Candidate]) -> Ledger {
        let mut ledger = Ledger::new(&ResidencyParams {
            vram_budget: Some(ByteSize(limit)),
            ..ResidencyParams::default()
        });
        for candidate in candidates {
            ledger.charge(candidate.footprint);
        }
        ledger
    }

    fn need(device: u64) -> Footprint {
        Footprint { device, host: 0 }
    }

    fn arms(candidates: &[Candidate]) -> Vec<usize> {
        candidates.iter().map(|candidate| candidate.arm.0).collect()
    }

    #[test]
    fn at_equal_cost_the_least_recently_used_goes_first() {
        let mut all = [
            candidate(0, 3, 20, 1),
            candidate(1, 9, 20, 1),
            candidate(2, 5, 20, 1),
        ];
        order(&mut all);
        assert_eq!(arms(&all), [1, 2, 0]);
    }

    #[test]
    fn one_that_takes_twice_as_long_to_load_stays_twice_as_long() {
        let mut all = [candidate(0, 19, 40, 1), candidate(1, 10, 20, 1)];
        order(&mut all);
        assert_eq!(arms(&all), [1, 0]);
        let mut all = [candidate(0, 21, 40, 1), candidate(1, 10, 20, 1)];
        order(&mut all);
        assert_eq!(arms(&all), [0, 1]);
    }

    #[test]
    fn nobody_goes_when_there_is_room_and_all_are_not_enough_for_a_giant() {
        let all = vec![candidate(0, 1, 1, 30), candidate(1, 2, 1, 30)];
        let ledger = ledger(100, &all);
        assert_eq!(victims(all.clone(), need(40), &ledger), Some(Vec::new()));
        assert_eq!(
            victims(all.clone(), need(41), &ledger),
            Some(vec![ArmId(1)])
        );
        assert_eq!(victims(all, need(101), &ledger), None);
    }

    proptest! {
        #[test]
        fn victims_are_the_shortest_beginning_of_the_order_that_makes_room(
            drawn in prop::collection::vec((0u64..50, 0u64..100, 0u64..40), 0..8),
            wanted in 0u64..150,
        ) {
            let mut all: Vec<Candidate> = drawn
                .iter()
                .enumerate()
                .map(|(arm, &(idle, reload, device))| candidate(arm, idle, reload, device))
                .collect();
            let ledger = ledger(100, &all);
            let chosen = victims(all.clone(), need(wanted), &ledger);
            order(&mut all);
            all.retain(|candidate| candidate.footprint.device > 0);
            let room = |count: usize| {
                let mut left = ledger.clone();
                all[..count].iter().for_each(|victim| left.refund(victim.footprint));
                left.fits(need(wanted))
            };
            let fewest = (0..=all.len()).find(|&count| room(count));
            let expected = fewest.map(|count| all[..count].iter().map(|c| c.arm).collect());
            prop_assert_eq!(chosen, expected);
        }
    }
}
