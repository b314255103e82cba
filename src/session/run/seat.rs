//! Who drafts when the drafter that the policy chose is not ready.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Run;
use crate::error::Error;
use crate::pool::SwapMode;
use crate::session::Event;
use crate::types::ArmId;

/// How often a round that waits for a drafter looks whether it should stop.
const LOOK: Duration = Duration::from_millis(20);

/// Who drafts in a round.
#[derive(Debug, Default)]
pub(super) struct Seat {
    /// The arm; `None` for plain decoding.
    pub arm: Option<ArmId>,
    /// How long the round has waited for it.
    pub swap: Duration,
}

impl Run<'_> {
    /// Has the policy choose, and finds who drafts. `None` when `cancel` was set meanwhile.
    pub(super) fn seat(
        &mut self,
        cancel: &AtomicBool,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Option<Seat> {
        let Some(mode) = self.session.pool.swap() else {
            let arm = self.select();
            return Some(Seat {
                arm,
                swap: Duration::ZERO,
            });
        };
        let started = Instant::now();
        let selecting = self.timings.select_ms;
        let failed = self.session.pool.collect();
        self.retire_all(failed, observe);
        let mut chosen = self.select();
        let arm = loop {
            let Some(arm) = chosen else {
                break None;
            };
            if self.session.pool.is_ready(arm) {
                break Some(arm);
            }
            if self.session.pool.members()[arm.0].failure().is_some() {
                // A policy that does not know it yet, or has nobody else.
                break None;
            }
            if mode == SwapMode::Async && self.session.pool.would_push_out_owed(arm) {
                // That one drafts first, and makes room in a later round.
                break self.substitute();
            }
            match self.session.pool.request(arm) {
                Ok(true) if mode == SwapMode::Sync => {}
                Ok(_) => break self.substitute(),
                Err(error) => {
                    self.retire(arm, &error, observe);
                    chosen = self.select();
                    continue;
                }
            }
            if cancel.load(Ordering::Relaxed) {
                return None;
            }
            let failed = self.session.pool.wait(LOOK);
            let has_left = failed.iter().any(|(left, _)| *left == arm);
            self.retire_all(failed, observe);
            if has_left {
                chosen = self.select();
            }
        };
        if let Some(arm) = arm {
            self.session.pool.touch(arm);
        }
        let selecting = Duration::from_secs_f64((self.timings.select_ms - selecting) / 1e3);
        let swap = started.elapsed().saturating_sub(selecting);
        Some(Seat { arm, swap })
    }

    /// Who drafts in the place of a drafter that is on its way: one that was on its way before and
    /// has not drafted yet, else the ready one of the best mean reward, else the one that drafted
    /// last.
    fn substitute(&self) -> Option<ArmId> {
        let pool = &self.session.pool;
        let by_reward = || {
            let arms = self.session.policy.state().arms;
            let known = arms.into_iter().filter(|arm| pool.is_ready(arm.arm));
            known
                .filter_map(|arm| Some((arm.arm, arm.mean?)))
                .max_by(|(_, a), (_, b)| a.total_cmp(b))
                .map(|(arm, _)| arm)
        };
        pool.owed().or_else(by_reward).or_else(|| pool.latest())
    }

    /// Tells the policy what a change to each drafter would cost, in rounds, if it wants to know.
    pub(super) fn tell_switch_costs(&mut self) {
        if !self.session.policy.wants_switch_costs() {
            return;
        }
        let round = self.round_time.as_secs_f64() / self.rounds.max(1) as f64;
        let (pool, len) = (&self.session.pool, self.session.history.len());
        let in_rounds = |arm| match round > 0.0 {
            true => pool.switch_cost(arm, len).as_secs_f64() / round,
            false => 0.0,
        };
        let costs: Vec<f64> = (0..pool.members().len())
            .map(ArmId)
            .map(in_rounds)
            .collect();
        self.session.policy.switch_costs(&costs);
    }

    pub(super) fn retire_all(
        &mut self,
        failed: Vec<(ArmId, Error)>,
        observe: &mut dyn FnMut(Event<'_>),
    ) {
        for (arm, error) in failed {
            self.retire(arm, &error, observe);
        }
    }
}
