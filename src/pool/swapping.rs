//! Drafters going to the device, and making room there.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Pool;
use super::budget::{Footprint, Ledger};
use super::eviction::{self, Candidate};
use super::factory::DrafterFactory;
use super::loader::{KeepWeights, Load, Release};
use super::member::{Member, MoveIn};
use crate::error::{Error, Result};
use crate::types::ArmId;

impl Pool {
    /// Notes that the drafter of `arm` drafts in the coming round.
    pub fn touch(&mut self, arm: ArmId) {
        if let (Some(residency), Some(member)) = (&mut self.residency, self.members.get_mut(arm.0))
        {
            residency.rounds += 1;
            member.used = residency.rounds;
            member.owed = false;
        }
    }

    /// The arm whose drafter was loaded for a round that another drafted in its place.
    pub fn owed(&self) -> Option<ArmId> {
        let owed = |member: &Member| member.owed && member.drafter.is_some();
        self.members.iter().position(owed).map(ArmId)
    }

    /// Whether the drafter of `arm` could be brought to the device only in the place of one that
    /// was loaded and has not drafted since.
    pub fn would_push_out_owed(&self, arm: ArmId) -> bool {
        let Some(residency) = &self.residency else {
            return false;
        };
        let need = residency.footprint(&self.members[arm.0]);
        self.owed().is_some() && self.victims(need, arm, false).is_none()
    }

    /// The arm whose drafter drafted last, of those that are ready.
    pub fn latest(&self) -> Option<ArmId> {
        let ready = self.members.iter().enumerate();
        ready
            .filter(|(_, member)| member.drafter.is_some())
            .max_by_key(|(_, member)| member.used)
            .map(|(index, _)| ArmId(index))
    }

    /// What a change to the drafter of `arm` costs after a history of `len` tokens, as far as that
    /// was measured: its load where it is not ready, and catching up.
    pub fn switch_cost(&self, arm: ArmId, len: usize) -> Duration {
        let Some(member) = self.members.get(arm.0) else {
            return Duration::ZERO;
        };
        match (&member.drafter, &member.state) {
            (Some(drafter), _) => member.cost.of_switch(true, drafter.behind(len)),
            (None, Some(state)) => {
                let known = state.len().min(member.valid);
                member.cost.of_switch(false, len.saturating_sub(known))
            }
            (None, None) => member.cost.of_switch(false, len),
        }
    }

    /// Begins to bring the drafter of `arm` to the device, unless it is there or another is on its
    /// way; those that make room leave the device at once. Returns at once, with whether waiting
    /// for it makes sense: not while a load that was given up holds on to the memory.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory) when no eviction makes enough
    /// room; [`ErrorKind::Io`](crate::ErrorKind::Io) when there is no thread for it.
    pub fn request(&mut self, arm: ArmId) -> Result<bool> {
        let member = &self.members[arm.0];
        let Some((residency, factory)) = self.residency.as_mut().zip(member.factory.clone()) else {
            return Ok(true);
        };
        let busy = residency.loading.is_some() || member.releasing.is_some();
        if busy || member.drafter.is_some() || member.failure.is_some() {
            return Ok(true);
        }
        residency.start_loader()?;
        let (need, is_clear) = (residency.footprint(member), residency.abandoned.is_empty());
        let victims = self
            .victims(need, arm, false)
            .or_else(|| self.victims(need, arm, true));
        match victims {
            Some(victims) => victims.into_iter().for_each(|victim| self.evict(victim)),
            None if is_clear => return Err(self.no_room_for(arm)),
            None => return Ok(false),
        }
        self.send_for(arm, factory);
        Ok(true)
    }

    /// Hands the load of `arm` to the loader; there is room for it.
    fn send_for(&mut self, arm: ArmId, factory: Arc<dyn DrafterFactory>) {
        let member = &mut self.members[arm.0];
        let Some(residency) = &mut self.residency else {
            return;
        };
        if member.valid == 0 {
            residency.drop_state(member);
        }
        let state = member.state.take();
        if let Some(state) = &state {
            residency.ledger.refund_host(state.size());
        }
        member.charged = residency.footprint(member);
        residency.ledger.charge(member.charged);
        member.move_in = Some(MoveIn {
            since: Instant::now(),
            exposed: Duration::ZERO,
        });
        residency.loading = Some(arm);
        if let Some(loader) = &residency.loader {
            loader.load(Load {
                arm,
                factory,
                weights: member.weights.as_ref().map(|(weights, _)| weights.clone()),
                state,
            });
        }
    }

    pub(super) fn no_room_for(&self, arm: ArmId) -> Error {
        let member = &self.members[arm.0];
        let Some(residency) = &self.residency else {
            return Error::invalid("there are no limits");
        };
        let mut staying = Ledger::new(&residency.params);
        let stays = |member: &&Member| member.drafter.is_some() && !member.can_go();
        for member in self.members.iter().filter(stays) {
            staying.charge(member.charged);
        }
        residency.does_not_fit(member, &staying)
    }

    /// Who is evicted for the drafter of `arm`, for which `need` has to be free; `owed`: if need be
    /// also those that were loaded and have not drafted since.
    pub(super) fn victims(&self, need: Footprint, arm: ArmId, owed: bool) -> Option<Vec<ArmId>> {
        let residency = self.residency.as_ref()?;
        let candidates = self.members.iter().enumerate();
        let candidates = candidates
            .filter(|(index, member)| *index != arm.0 && member.can_go() && (owed || !member.owed))
            .map(|(index, member)| Candidate {
                arm: ArmId(index),
                idle: residency.rounds - member.used,
                reload: self.reload_cost(member),
                footprint: member.charged,
            })
            .collect();
        eviction::victims(candidates, need, &residency.ledger)
    }

    /// What bringing back a ready drafter would cost: its load and what it holds.
    fn reload_cost(&self, member: &Member) -> Duration {
        let held = member.drafter.as_ref().map_or(0, |drafter| drafter.held());
        member.cost.of_switch(false, held)
    }

    /// Hands the drafter of `arm` to the loader, which frees it before it does anything else.
    pub(super) fn evict(&mut self, arm: ArmId) {
        let member = &mut self.members[arm.0];
        let (Some(residency), Some(drafter)) = (&mut self.residency, member.drafter.take()) else {
            return;
        };
        residency.ledger.refund(std::mem::take(&mut member.charged));
        member.statistics.evictions += 1;
        member.owed = false;
        member.valid = usize::MAX;
        let (model, cache) = (member.memory.model, member.memory.context);
        let worth_keeping = drafter.held() > 0 && member.cost.is_worth_keeping();
        self.make_host_room(model + if worth_keeping { cache } else { 0 }, arm);
        let member = &mut self.members[arm.0];
        let Some(residency) = &mut self.residency else {
            return;
        };
        let mut reserved = 0;
        let weights = match (member.weights.take(), &member.factory) {
            // A copy of its own, beside the device's.
            (Some((weights, bytes)), _) if bytes > 0 => {
                member.weights = Some((weights, bytes));
                KeepWeights::No
            }
            (Some((weights, _)), _) if residency.ledger.fits_host(model) => {
                reserved = model;
                KeepWeights::These(weights)
            }
            (None, Some(factory))
                if residency.params.separate_device && residency.ledger.fits_host(model) =>
            {
                reserved = model;
                KeepWeights::Read(factory.clone())
            }
            _ => KeepWeights::No,
        };
        let keep_state = worth_keeping && cache > 0 && residency.ledger.fits_host(reserved + cache);
        reserved += if keep_state { cache } else { 0 };
        residency.ledger.charge_host(reserved);
        member.releasing = Some(reserved);
        if let Some(loader) = &residency.loader {
            loader.release(Release {
                arm,
                drafter,
                keep_state,
                weights,
            });
        }
    }

    /// Drops what is kept of other drafters in host memory until `bytes` more fit, in the order of
    /// eviction; nothing where that does not do.
    fn make_host_room(&mut self, bytes: u64, newcomer: ArmId) {
        let Some(residency) = &mut self.residency else {
            return;
        };
        let kept = |member: &Member| {
            let weights = member.weights.as_ref().map_or(0, |(_, bytes)| *bytes);
            weights + member.state.as_ref().map_or(0, |state| state.size())
        };
        let mut candidates: Vec<Candidate> = self
            .members
            .iter()
            .enumerate()
            .filter(|(index, member)| {
                let idle = member.drafter.is_none() && member.move_in.is_none();
                idle && *index != newcomer.0 && kept(member) > 0
            })
            .map(|(index, member)| Candidate {
                arm: ArmId(index),
                idle: residency.rounds - member.used,
                reload: member.cost.load().unwrap_or_default(),
                footprint: Footprint {
                    device: 0,
                    host: kept(member),
                },
            })
            .collect();
        eviction::order(&mut candidates);
        let mut ledger = residency.ledger.clone();
        let mut going = Vec::new();
        for candidate in candidates {
            if ledger.fits_host(bytes) {
                break;
            }
            ledger.refund_host(candidate.footprint.host);
            going.push(candidate.arm);
        }
        if ledger.fits_host(bytes) {
            for arm in going {
                residency.drop_from_host(&mut self.members[arm.0]);
            }
        }
    }
}
