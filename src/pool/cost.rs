//! What it costs to bring a drafter back, as measured.

use std::time::Duration;

/// Time spent on a number of things.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Rate {
    count: u64,
    time: Duration,
}

impl Rate {
    fn add(&mut self, count: u64, time: Duration) {
        self.count += count;
        self.time += time;
    }

    /// The time of `count` of them; `None` when none was measured.
    fn of(&self, count: u64) -> Option<Duration> {
        (self.count > 0).then(|| self.time.mul_f64(count as f64 / self.count as f64))
    }
}

/// What a drafter's loads, catch-ups and restores have cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SwitchCost {
    loads: Rate,
    // These three by tokens.
    catch_up: Rate,
    save: Rate,
    restore: Rate,
}

impl SwitchCost {
    pub(super) fn add_load(&mut self, time: Duration) {
        self.loads.add(1, time);
    }

    pub(super) fn add_catch_up(&mut self, tokens: usize, time: Duration) {
        self.catch_up.add(tokens as u64, time);
    }

    pub(super) fn add_save(&mut self, tokens: usize, time: Duration) {
        self.save.add(tokens as u64, time);
    }

    pub(super) fn add_restore(&mut self, tokens: usize, time: Duration) {
        self.restore.add(tokens as u64, time);
    }

    /// The mean time of a load; `None` when there was none.
    pub(super) fn load(&self) -> Option<Duration> {
        self.loads.of(1)
    }

    /// The time in which `tokens` tokens are decoded into its KV cache; `None` when that was never
    /// measured.
    pub(super) fn catch_up(&self, tokens: usize) -> Option<Duration> {
        self.catch_up.of(tokens as u64)
    }

    /// All time spent catching up.
    pub(super) fn catch_up_time(&self) -> Duration {
        self.catch_up.time
    }

    /// Whether an evicted KV cache is worth keeping: whether saving a token's part of it and putting
    /// it back takes less time than decoding the token anew. What was never measured is tried.
    pub(super) fn is_worth_keeping(&self) -> bool {
        let moved = (self.save.of(1)).zip(self.restore.of(1));
        match moved.zip(self.catch_up.of(1)) {
            Some(((save, restore), catch_up)) => save + restore < catch_up,
            None => true,
        }
    }

    /// What a change to the drafter costs: its load where it is not `ready`, and catching up with
    /// `behind` tokens. What was never measured counts as nothing.
    pub(super) fn of_switch(&self, ready: bool, behind: usize) -> Duration {
        let load = if ready { None } else { self.load() };
        load.unwrap_or_default() + self.catch_up(behind).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_switch_costs_the_mean_load_and_the_catch_up_by_tokens() {
        let mut cost = SwitchCost::default();
        assert_eq!(cost.of_switch(false, 100), Duration::ZERO);
        cost.add_load(10 * MS);
        cost.add_load(30 * MS);
        cost.add_catch_up(50, 25 * MS);
        assert_eq!(cost.load(), Some(20 * MS));
        assert_eq!(cost.of_switch(false, 100), 70 * MS);
        assert_eq!(cost.of_switch(true, 100), 50 * MS);
        assert_eq!(cost.of_switch(true, 0), Duration::ZERO);
    }

    #[test]
    fn a_cache_is_kept_while_moving_it_is_cheaper_than_decoding_again() {
        let mut cost = SwitchCost::default();
        assert!(cost.is_worth_keeping(), "nothing is known, so it is tried");
        cost.add_save(100, MS);
        assert!(cost.is_worth_keeping());
        cost.add_restore(100, 2 * MS);
        assert!(cost.is_worth_keeping());
        cost.add_catch_up(10, MS);
        assert!(cost.is_worth_keeping());
        cost.add_restore(100, 100 * MS);
        assert!(!cost.is_worth_keeping());
    }

    #[test]
    fn a_rate_without_a_measurement_says_nothing() {
        assert_eq!(Rate::default().of(5), None);
        let mut rate = Rate::default();
        rate.add(0, MS);
        assert_eq!(rate.of(5), None);
    }
}
