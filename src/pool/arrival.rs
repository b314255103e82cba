//! Drafters that the loader has moved, or failed to.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Pool;
use super::budget::Footprint;
use super::loader::{Loaded, Outcome};
use crate::error::{Error, ErrorKind, Result};
use crate::types::ArmId;

/// How often a wait looks whether it should stop.
const LOOK: Duration = Duration::from_millis(20);

impl Pool {
    /// Takes in what the loader has done since the last look. Returns the drafters that could not
    /// be loaded, or not in time, and have therefore left the pool.
    pub fn collect(&mut self) -> Vec<(ArmId, Error)> {
        let Some(residency) = &mut self.residency else {
            return Vec::new();
        };
        let done: Vec<Outcome> = match &residency.loader {
            Some(loader) => loader.outcomes().collect(),
            None => Vec::new(),
        };
        let mut failed: Vec<_> = done
            .into_iter()
            .filter_map(|outcome| self.take_in(outcome))
            .collect();
        failed.extend(self.give_up());
        failed
    }

    /// Waits up to `most` for the loader to finish something, and takes it in as
    /// [`Self::collect`] does. The time counts as exposed.
    pub fn wait(&mut self, most: Duration) -> Vec<(ArmId, Error)> {
        let started = Instant::now();
        let Some(residency) = &self.residency else {
            return Vec::new();
        };
        let outcome = match &residency.loader {
            Some(loader) => loader.wait(most),
            None => {
                // Nothing is on its way; whoever waits asks again.
                std::thread::sleep(most);
                None
            }
        };
        if let Some(arm) = residency.loading {
            let waited = started.elapsed();
            let member = &mut self.members[arm.0];
            member.statistics.exposed_swap_ms += waited.as_secs_f64() * 1e3;
            if let Some(move_in) = &mut member.move_in {
                move_in.exposed += waited;
            }
        }
        let mut failed: Vec<_> = outcome
            .and_then(|outcome| self.take_in(outcome))
            .into_iter()
            .collect();
        failed.extend(self.collect());
        failed
    }

    /// Brings the drafter of `arm` to the device and waits for it.
    ///
    /// # Errors
    /// Those of [`Self::request`], [`ErrorKind::Cancelled`] when `cancel` was set, or why the load
    /// failed; the drafter has then left the pool. That another has left it meanwhile is in
    /// [`Member::failure`](super::Member::failure) alone.
    pub fn bring(&mut self, arm: ArmId, cancel: &AtomicBool) -> Result<()> {
        loop {
            if self.is_ready(arm) {
                return Ok(());
            }
            if let Some(failure) = self.members[arm.0].failure() {
                return Err(Error::new(ErrorKind::Backend, failure));
            }
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Cancelled, "loading was stopped"));
            }
            if !self.request(arm)? {
                return Err(Error::new(
                    ErrorKind::OutOfMemory,
                    "a load that was given up still holds the memory it needs",
                ));
            }
            let failed = self.wait(LOOK);
            if let Some((_, error)) = failed.into_iter().find(|(left, _)| *left == arm) {
                return Err(error);
            }
        }
    }

    fn take_in(&mut self, outcome: Outcome) -> Option<(ArmId, Error)> {
        match outcome {
            Outcome::Loaded { arm, result, time } => {
                if let Some(residency) = &mut self.residency {
                    residency.loading = None;
                }
                self.arrive(arm, result, time).map(|error| (arm, error))
            }
            Outcome::Released {
                arm,
                state,
                weights,
            } => {
                let member = &mut self.members[arm.0];
                let residency = self.residency.as_mut()?;
                residency
                    .ledger
                    .refund_host(member.releasing.take().unwrap_or(0));
                if member.failure.is_some() {
                    return None;
                }
                if let Some(weights) = weights {
                    let bytes = member.memory.model;
                    residency.ledger.charge_host(bytes);
                    member.weights = Some((weights, bytes));
                }
                if let Some((state, time)) = state {
                    member.cost.add_save(state.len(), time);
                    if member.valid > 0 && residency.ledger.fits_host(state.size()) {
                        residency.ledger.charge_host(state.size());
                        member.state = Some(state);
                    }
                }
                None
            }
        }
    }

    /// Takes in a drafter that was loaded in `time`, or not. Returns why it has left the pool, if
    /// it has and that is news.
    pub(super) fn arrive(
        &mut self,
        arm: ArmId,
        result: Result<Loaded>,
        time: Duration,
    ) -> Option<Error> {
        let member = &mut self.members[arm.0];
        let residency = self.residency.as_mut()?;
        residency.ledger.refund(std::mem::take(&mut member.charged));
        let exposed = member
            .move_in
            .take()
            .map_or(time, |move_in| move_in.exposed);
        if member.failure.is_some() {
            return None;
        }
        let mut loaded = match result {
            Ok(loaded) => loaded,
            Err(error) => {
                residency.drop_from_host(member);
                member.fail(&error);
                return Some(error);
            }
        };
        // What was undone of the history while it was away must not come back.
        if member.valid < usize::MAX
            && let Err(error) = loaded.opened.drafter.rollback(member.valid)
        {
            residency.drop_from_host(member);
            member.fail(&error);
            return Some(error);
        }
        member.arrive(loaded.opened.drafter, time, loaded.opened.moved);
        member.statistics.hidden_swap_ms += time.saturating_sub(exposed).as_secs_f64() * 1e3;
        member.owed = true;
        member.used = residency.rounds;
        if let Some((tokens, time)) = loaded.restored {
            member.cost.add_restore(tokens, time);
        }
        if let Some(weights) = loaded.opened.weights {
            // The ready drafter's own, which its footprint covers.
            residency.drop_from_host(member);
            member.weights = Some((weights, 0));
        }
        member.charged = residency.footprint(member);
        residency.ledger.charge(member.charged);
        self.keep_within(arm)
    }

    /// Evicts others where the drafter of `arm` turned out larger than planned, and that one where
    /// that does not do.
    fn keep_within(&mut self, arm: ArmId) -> Option<Error> {
        let residency = self.residency.as_mut()?;
        if residency.ledger.is_kept() {
            return None;
        }
        let others = self.victims(Footprint::default(), arm, true);
        if let Some(others) = others
            && self.residency.as_mut()?.start_loader().is_ok()
        {
            others.into_iter().for_each(|other| self.evict(other));
            return None;
        }
        let error = self.no_room_for(arm);
        self.retire(arm, &error);
        Some(error)
    }

    /// Gives up a load that takes too long, with the thread that is held by it.
    fn give_up(&mut self) -> Option<(ArmId, Error)> {
        let residency = self.residency.as_mut()?;
        let ledger = &mut residency.ledger;
        residency.abandoned.retain(|(loader, held)| {
            let ended = loader.has_ended();
            if ended {
                ledger.refund(*held);
            }
            !ended
        });
        let arm = residency.loading?;
        let since = self.members[arm.0].move_in?.since;
        let timeout = residency.params.load_timeout;
        if since.elapsed() < timeout {
            return None;
        }
        residency.loading = None;
        let member = &mut self.members[arm.0];
        member.move_in = None;
        let held = std::mem::take(&mut member.charged);
        if let Some(mut loader) = residency.loader.take() {
            loader.abandon();
            residency.abandoned.push((loader, held));
        }
        for member in &mut self.members {
            // What that thread would have kept of them is lost.
            residency
                .ledger
                .refund_host(member.releasing.take().unwrap_or(0));
        }
        let error = Error::new(
            ErrorKind::Backend,
            format!(
                "loading it took longer than {} s (--load-timeout)",
                timeout.as_secs_f64()
            ),
        );
        self.retire(arm, &error);
        Some((arm, error))
    }
}
