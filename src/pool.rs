//! The pool: the drafters configured for one target, and where each of them is.
//!
//! Without limits ([`ResidencyParams`]) every drafter is ready from the start and stays so. With
//! them the pool swaps: a drafter is on disk, in host memory or on the device, and a thread of the
//! pool moves it while the target goes on.

mod arrival;
mod budget;
mod compatibility;
mod cost;
mod eviction;
mod factory;
mod head_factory;
mod loader;
mod member;
mod residency;
mod size;
mod source;
mod swapping;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

pub use budget::{DEFAULT_LOAD_TIMEOUT, ResidencyParams, ResidencyReport, SwapMode};
pub use compatibility::{VocabularyFacts, check_vocabulary};
pub use factory::{DrafterFactory, Opened, Stop, Weights};
pub use member::{Member, Place, ResidencyStatistics};
pub use size::ByteSize;
pub use source::{DrafterSource, DrafterSpec, LoadContext, PoolDefaults};

use crate::drafter::{Drafter, DrafterKind, ModelDrafter, NgramDrafter};
use crate::error::{Error, ErrorKind, Result};
use crate::llama::Model;
use crate::types::ArmId;
use head_factory::HeadFactory;
use residency::Residency;

/// The drafters of one target, in the order of their configuration: a drafter's place is its arm.
#[derive(Default)]
pub struct Pool {
    members: Vec<Member>,
    /// Where they are, if there are limits.
    residency: Option<Residency>,
}

impl Pool {
    /// Loads all of `specs`.
    ///
    /// # Errors
    /// Those of [`Self::load`], for the first drafter that has one.
    pub fn open(specs: &[DrafterSpec], context: &LoadContext) -> Result<Self> {
        Self::open_within(specs, context, ResidencyParams::default())
    }

    /// Loads as many of `specs` as `limits` allow; the others come when they are asked for.
    ///
    /// # Errors
    /// Those of [`Self::within`], of [`Self::load`] for the first drafter that has one, and of
    /// [`Self::fill`].
    pub fn open_within(
        specs: &[DrafterSpec],
        context: &LoadContext,
        limits: ResidencyParams,
    ) -> Result<Self> {
        let mut pool = Self::within(limits)?;
        for spec in specs {
            pool.load(spec, context)?;
        }
        pool.fill()?;
        Ok(pool)
    }

    /// An empty pool whose drafters keep within `limits`.
    ///
    /// # Errors
    /// Those of [`ResidencyParams::validate`].
    pub fn within(limits: ResidencyParams) -> Result<Self> {
        limits.validate()?;
        Ok(Self {
            members: Vec::new(),
            residency: limits.is_limited().then(|| Residency::new(limits)),
        })
    }

    /// Takes in a drafter as the next arm. Without limits it is loaded, with them only looked at.
    /// One that speaks the target's language but of which no context can be made becomes a member
    /// that has left the pool (see [`Member::failure`]).
    ///
    /// # Errors
    /// With the drafter's name before the message: [`ErrorKind::Config`] for a name that is taken,
    /// [`ErrorKind::InvalidArgument`] for a parameter out of range, those of [`Model::load`],
    /// [`ErrorKind::VocabularyMismatch`] saying what differs. The pool is then as it was.
    pub fn load(&mut self, spec: &DrafterSpec, context: &LoadContext) -> Result<()> {
        self.check_name(&spec.name)?;
        let named = |error: Error| error.context(format_args!("drafter `{}`", spec.name));
        let source = spec.source.clone().recognised();
        let mut member = Member::new(&spec.name, source.kind());
        member.path = source.path().map(ToOwned::to_owned);
        match (&self.residency, context.factory(&source)) {
            (Some(residency), Some(factory)) => {
                residency.look_at(&mut member, factory).map_err(named)?;
            }
            _ => open_member(&mut member, &source, context).map_err(named)?,
        }
        self.members.push(member);
        Ok(())
    }

    /// Takes in what `factory` makes as the next arm, as [`Self::load`] does. Without limits it is
    /// made at once.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] for a name that is taken; those of the factory.
    pub fn add_factory(
        &mut self,
        name: impl Into<String>,
        kind: DrafterKind,
        factory: Arc<dyn DrafterFactory>,
    ) -> Result<()> {
        let mut member = Member::new(name, kind);
        self.check_name(&member.name)?;
        match &self.residency {
            Some(residency) => residency.look_at(&mut member, factory)?,
            None => {
                factory.plan()?;
                let started = Instant::now();
                let opened = factory.open(None, &Stop::new(AtomicBool::new(false)))?;
                member.arrive(opened.drafter, started.elapsed(), opened.moved);
            }
        }
        self.members.push(member);
        Ok(())
    }

    /// Adds a drafter that was made elsewhere. It is never evicted.
    pub fn add(&mut self, name: impl Into<String>, drafter: Box<dyn Drafter>) {
        let mut member = Member::new(name, drafter.kind());
        member.memory = drafter.memory();
        member.drafter = Some(drafter);
        if let Some(residency) = &mut self.residency {
            residency.enter(&mut member);
        }
        self.members.push(member);
    }

    fn check_name(&self, name: &str) -> Result<()> {
        if self.members.iter().all(|member| member.name != name) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Config,
            format!("two drafters are named `{name}`; names must differ"),
        ))
    }

    /// The members in the order of their arms, those that left included.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The members' names in the order of their arms.
    pub fn names(&self) -> Vec<String> {
        self.members
            .iter()
            .map(|member| member.name.clone())
            .collect()
    }

    /// The drafter of `arm`, if it is ready.
    pub fn drafter(&mut self, arm: ArmId) -> Option<&mut (dyn Drafter + 'static)> {
        self.members.get_mut(arm.0)?.drafter.as_deref_mut()
    }

    /// The drafters that are ready, with their arms.
    pub fn drafters(&mut self) -> impl Iterator<Item = (ArmId, &mut dyn Drafter)> {
        let members = self.members.iter_mut().enumerate();
        members.filter_map(|(arm, member)| {
            let drafter = member.drafter.as_deref_mut()?;
            Some((ArmId(arm), drafter as &mut dyn Drafter))
        })
    }

    /// Takes a drafter out of the pool and frees what it holds; `why` is kept for reports.
    pub fn retire(&mut self, arm: ArmId, why: &Error) {
        if let Some(member) = self.members.get_mut(arm.0) {
            if let Some(residency) = &mut self.residency {
                residency.leave(member);
            }
            member.drafter = None;
            member.fail(why);
        }
    }

    /// Has every drafter forget what lies after the first `len` tokens of the history. Returns
    /// the arms that could not and have therefore left the pool.
    pub fn rollback(&mut self, len: usize) -> Vec<(ArmId, Error)> {
        let mut failed = Vec::new();
        for (index, member) in self.members.iter_mut().enumerate() {
            match &mut member.drafter {
                Some(drafter) => {
                    if let Err(error) = drafter.rollback(len) {
                        failed.push((ArmId(index), error));
                    }
                }
                None => member.valid = member.valid.min(len),
            }
        }
        for (arm, error) in &failed {
            self.retire(*arm, error);
        }
        failed
    }

    /// Notes that the drafter of `arm` caught up with `tokens` tokens in `time`.
    pub fn caught_up(&mut self, arm: ArmId, tokens: usize, time: Duration) {
        if let Some(member) = self.members.get_mut(arm.0).filter(|_| tokens > 0) {
            member.cost.add_catch_up(tokens, time);
        }
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// Makes the drafter of `member` as it is without limits: with all that is in its file.
fn open_member(member: &mut Member, source: &DrafterSource, context: &LoadContext) -> Result<()> {
    let started = Instant::now();
    match source {
        DrafterSource::Ngram(params) => {
            member.drafter = Some(Box::new(NgramDrafter::new(*params)?));
        }
        DrafterSource::Model {
            path,
            n_ctx,
            threads,
            gpu_layers,
        } => {
            let model = Model::load(path, &context.model_params(*gpu_layers), None)?;
            check_vocabulary(&*context.target, &*model)?;
            let drafter = ModelDrafter::new(model, context.drafter_params(*n_ctx, *threads));
            arrive(member, drafter, started)?;
        }
        DrafterSource::Eagle3 {
            path,
            n_ctx,
            threads,
            gpu_layers,
        } => {
            let origin = context.origin(path, *n_ctx, *threads, *gpu_layers);
            arrive(member, HeadFactory::new(origin).open_whole()?, started)?;
        }
    }
    Ok(())
}

/// Has `member` be what came of making its drafter. Only what is wrong with a parameter is an error.
fn arrive<D: Drafter + 'static>(
    member: &mut Member,
    made: Result<D>,
    started: Instant,
) -> Result<()> {
    match made {
        Ok(drafter) => {
            let moved = drafter.memory().model;
            member.arrive(Box::new(drafter), started.elapsed(), moved);
        }
        Err(error) if error.kind() == ErrorKind::InvalidArgument => return Err(error),
        Err(error) => member.fail(&error),
    }
    Ok(())
}
