//! Which drafters are ready within the limits, and how the others become so.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::Pool;
use super::budget::{Footprint, Ledger, ResidencyParams, ResidencyReport, SwapMode};
use super::factory::{DrafterFactory, Stop};
use super::loader::{Loaded, Loader};
use super::member::Member;
use super::size::ByteSize;
use crate::error::{Error, ErrorKind, Result};
use crate::llama::give_back_freed_memory;
use crate::types::ArmId;

/// What a pool with limits knows beside its members.
pub(super) struct Residency {
    pub(super) params: ResidencyParams,
    pub(super) ledger: Ledger,
    /// Started with the first drafter that is moved.
    pub(super) loader: Option<Loader>,
    /// Loaders that were given up, with what the load that holds each may still take.
    pub(super) abandoned: Vec<(Loader, Footprint)>,
    pub(super) loading: Option<ArmId>,
    /// Rounds in which a drafter of the pool drafted.
    pub(super) rounds: u64,
}

impl Residency {
    pub(super) fn new(params: ResidencyParams) -> Self {
        Self {
            ledger: Ledger::new(&params),
            params,
            loader: None,
            abandoned: Vec::new(),
            loading: None,
            rounds: 0,
        }
    }

    /// Plans the drafter of `member`, which stays on disk.
    pub(super) fn look_at(
        &self,
        member: &mut Member,
        factory: Arc<dyn DrafterFactory>,
    ) -> Result<()> {
        match factory.plan() {
            Ok(memory) => {
                member.memory = memory;
                member.pinned = self.params.pins.contains(&member.name);
                member.factory = Some(factory);
            }
            // As without limits: of such a drafter no context can be made.
            Err(error) => match error.kind() {
                ErrorKind::Backend | ErrorKind::OutOfMemory | ErrorKind::Unsupported => {
                    member.fail(&error);
                }
                _ => return Err(error),
            },
        }
        Ok(())
    }

    /// Enters a drafter that is ready already.
    pub(super) fn enter(&mut self, member: &mut Member) {
        member.charged = self.footprint(member);
        self.ledger.charge(member.charged);
    }

    /// Takes a member that leaves the pool out of the books. What a load under way may take stays
    /// in them until it ends.
    pub(super) fn leave(&mut self, member: &mut Member) {
        if member.drafter.is_some() {
            self.ledger.refund(std::mem::take(&mut member.charged));
        }
        self.drop_from_host(member);
    }

    pub(super) fn footprint(&self, member: &Member) -> Footprint {
        self.params.footprint(&member.memory)
    }

    /// Lets go what is kept of a member in host memory.
    pub(super) fn drop_from_host(&mut self, member: &mut Member) {
        if let Some((_, bytes)) = member.weights.take() {
            self.ledger.refund_host(bytes);
        }
        self.drop_state(member);
    }

    pub(super) fn drop_state(&mut self, member: &mut Member) {
        if let Some(state) = member.state.take() {
            self.ledger.refund_host(state.size());
        }
    }

    /// Sees to it that there is a loader.
    pub(super) fn start_loader(&mut self) -> Result<()> {
        if self.loader.is_none() {
            self.loader = Some(Loader::start()?);
        }
        Ok(())
    }

    /// Why a drafter of `member` cannot be ready beside what is in the books.
    pub(super) fn does_not_fit(&self, member: &Member, beside: &Ledger) -> Error {
        let memory = &member.memory;
        let need = self.footprint(member);
        let taken = beside.report(self.params.swap);
        let of = |limit: Option<u64>, used: u64| {
            let pinned = match used {
                0 => String::new(),
                used => format!(", of which pinned drafters take {}", ByteSize(used)),
            };
            limit.map(|limit| format!("{}{pinned}", ByteSize(limit)))
        };
        let parts = format!(
            "weights {}, KV cache {}, compute {}",
            ByteSize(memory.model),
            ByteSize(memory.context),
            ByteSize(memory.compute)
        );
        let (need, limit) = match of(taken.vram_budget, taken.vram_used) {
            Some(limit) if taken.vram_used + need.device > taken.vram_budget.unwrap_or(0) => {
                (need.device, format!("vram-budget is {limit}"))
            }
            _ => match of(taken.ram_budget, taken.ram_used) {
                Some(limit) if !beside.fits_host(need.host) => {
                    (need.host, format!("ram-budget is {limit}"))
                }
                _ => (
                    memory.total(),
                    "max-resident is used up by pinned drafters".to_owned(),
                ),
            },
        };
        Error::new(
            ErrorKind::OutOfMemory,
            format!(
                "it needs {} ({parts}); {limit}: raise that, or give the drafter a smaller \
                 context (ctx_size, --ctx-size-draft)",
                ByteSize(need)
            ),
        )
    }
}

impl Pool {
    /// Whether there are limits, and what happens in a round whose drafter is not ready.
    pub fn swap(&self) -> Option<SwapMode> {
        self.residency
            .as_ref()
            .map(|residency| residency.params.swap)
    }

    /// What the drafters take against the limits; `None` without limits.
    pub fn residency(&self) -> Option<ResidencyReport> {
        let residency = self.residency.as_ref()?;
        Some(residency.ledger.report(residency.params.swap))
    }

    /// Whether every drafter that has not left the pool is ready.
    pub fn holds_all(&self) -> bool {
        self.members
            .iter()
            .all(|member| member.drafter.is_some() || member.failure.is_some())
    }

    /// Whether the drafter of `arm` is ready.
    pub fn is_ready(&self, arm: ArmId) -> bool {
        self.members.get(arm.0).is_some_and(|m| m.drafter.is_some())
    }

    /// Loads the pinned drafters, and of the others, in their order, those that fit beside them.
    /// A drafter that can never fit leaves the pool ([`Member::failure`] says what it needs and
    /// what there is), one whose load fails too.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] for a pin that names no drafter, [`ErrorKind::InvalidArgument`] when
    /// the pinned drafters do not fit together or none of the drafters fits at all.
    pub fn fill(&mut self) -> Result<()> {
        let Some(residency) = &mut self.residency else {
            return Ok(());
        };
        let known = |pin: &String| self.members.iter().any(|member| member.name == *pin);
        if let Some(pin) = residency.params.pins.iter().find(|pin| !known(pin)) {
            let names: Vec<&str> = self.members.iter().map(|m| m.name.as_str()).collect();
            return Err(Error::new(
                ErrorKind::Config,
                format!(
                    "no drafter `{pin}` to pin; the drafters are {}",
                    names.join(", ")
                ),
            ));
        }
        // What planning took, and from now on what every eviction frees.
        give_back_freed_memory();
        let mut pinned = residency.ledger.clone();
        let managed = |member: &&mut Member| member.factory.is_some() && member.failure.is_none();
        for member in self.members.iter_mut().filter(managed) {
            if !member.pinned {
                continue;
            }
            let footprint = residency.footprint(member);
            if !pinned.fits(footprint) {
                let error = residency.does_not_fit(member, &pinned);
                let named = error.context(format_args!("pinned drafter `{}`", member.name));
                return Err(Error::invalid(named.to_string()));
            }
            pinned.charge(footprint);
        }
        let mut refused = Vec::new();
        for member in self.members.iter_mut().filter(managed) {
            if !member.pinned && !pinned.fits(residency.footprint(member)) {
                let error = residency.does_not_fit(member, &pinned);
                member.fail(&error);
                refused.push((member.memory.total(), member.name.clone(), error));
            }
        }
        let arms = || (0..self.members.len()).map(ArmId);
        let left: Vec<ArmId> = arms()
            .filter(|arm| {
                let member = &self.members[arm.0];
                member.factory.is_some() && member.failure.is_none()
            })
            .collect();
        if let Some((_, name, error)) = refused.into_iter().min_by_key(|(bytes, ..)| *bytes)
            && left.is_empty()
        {
            return Err(Error::invalid(format!(
                "no drafter fits: the smallest is `{name}`, and {error}"
            )));
        }
        let (pins, others): (Vec<ArmId>, Vec<ArmId>) =
            left.into_iter().partition(|arm| self.members[arm.0].pinned);
        for arm in pins.into_iter().chain(others) {
            self.load_here(arm)?;
        }
        Ok(())
    }

    /// Loads the drafter of `arm` on this thread, if it fits beside what is ready.
    fn load_here(&mut self, arm: ArmId) -> Result<()> {
        let member = &mut self.members[arm.0];
        let (Some(residency), Some(factory)) = (&mut self.residency, member.factory.clone()) else {
            return Ok(());
        };
        let footprint = residency.footprint(member);
        if !residency.ledger.fits(footprint) {
            return Ok(());
        }
        residency.ledger.charge(footprint);
        member.charged = footprint;
        let started = Instant::now();
        let opened = factory.open(None, &Stop::new(AtomicBool::new(false)));
        let loaded = opened.map(|opened| Loaded {
            opened,
            restored: None,
        });
        match self.arrive(arm, loaded, started.elapsed()) {
            Some(error) if error.kind() == ErrorKind::InvalidArgument => {
                Err(error.context(format_args!("drafter `{}`", self.members[arm.0].name)))
            }
            _ => {
                self.members[arm.0].owed = false;
                Ok(())
            }
        }
    }
}
