//! The pool: the drafters configured for one target.

mod compatibility;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use compatibility::{VocabularyFacts, check_vocabulary};

use crate::drafter::{
    Drafter, DrafterKind, ModelDrafter, ModelDrafterParams, NgramDrafter, NgramParams,
};
use crate::error::{Error, ErrorKind, Result};
use crate::llama::{MemoryBreakdown, Model, ModelParams};
use crate::types::ArmId;

/// A drafter as it is configured.
#[derive(Clone, Debug, PartialEq)]
pub struct DrafterSpec {
    /// Its name, unique in the pool.
    pub name: String,
    /// What it is made of.
    pub source: DrafterSource,
}

/// What a drafter is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum DrafterSource {
    /// A GGUF model with the target's vocabulary.
    Model {
        /// The file.
        path: PathBuf,
        /// Tokens of context; `None` for the target's.
        n_ctx: Option<usize>,
        /// Threads; `None` for the target's.
        threads: Option<usize>,
        /// Layers in device memory; `None` for all.
        gpu_layers: Option<u32>,
    },
    /// The text's own n-grams.
    Ngram(NgramParams),
}

impl DrafterSource {
    /// Its kind.
    pub fn kind(&self) -> DrafterKind {
        match self {
            Self::Model { .. } => DrafterKind::Model,
            Self::Ngram(_) => DrafterKind::Ngram,
        }
    }
}

/// What drafters take over from the target where their own configuration is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolDefaults {
    /// Tokens of context.
    pub n_ctx: usize,
    /// The most tokens in one decode.
    pub n_batch: usize,
    /// Threads.
    pub threads: usize,
}

/// A drafter in the pool.
pub struct Member {
    name: String,
    kind: DrafterKind,
    drafter: Option<Box<dyn Drafter>>,
    model: Option<Arc<Model>>,
    failure: Option<String>,
    loads: usize,
    load_time: Duration,
}

impl Member {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its kind.
    pub fn kind(&self) -> DrafterKind {
        self.kind
    }

    /// Its model, if it has one.
    pub fn model(&self) -> Option<&Arc<Model>> {
        self.model.as_ref()
    }

    /// Why it left the pool, if it did.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Times its weights were loaded.
    pub fn loads(&self) -> usize {
        self.loads
    }

    /// Time that loading and making its context took.
    pub fn load_time(&self) -> Duration {
        self.load_time
    }

    /// What it occupies; zero when it has left the pool.
    pub fn memory(&self) -> MemoryBreakdown {
        self.drafter
            .as_ref()
            .map(|drafter| drafter.memory())
            .unwrap_or_default()
    }
}

/// The drafters of one target, in the order of their configuration: a drafter's place is its arm.
#[derive(Default)]
pub struct Pool {
    members: Vec<Member>,
}

impl Pool {
    /// Loads all of `specs` for `target`.
    ///
    /// # Errors
    /// Those of [`Self::load`], for the first drafter that has one.
    pub fn open(specs: &[DrafterSpec], target: &Model, defaults: PoolDefaults) -> Result<Self> {
        let mut pool = Self::default();
        for spec in specs {
            pool.load(spec, target, defaults)?;
        }
        Ok(pool)
    }

    /// Loads a drafter for `target` as the next arm. One that speaks the target's language but of
    /// which no context can be made becomes a member that has left the pool (see
    /// [`Member::failure`]).
    ///
    /// # Errors
    /// With the drafter's name before the message: [`ErrorKind::Config`] for a name that is taken,
    /// [`ErrorKind::InvalidArgument`] for a parameter out of range, those of [`Model::load`], [`ErrorKind::VocabularyMismatch`] saying what differs. The pool
    /// is then as it was.
    pub fn load(
        &mut self,
        spec: &DrafterSpec,
        target: &Model,
        defaults: PoolDefaults,
    ) -> Result<()> {
        if self.members.iter().any(|member| member.name == spec.name) {
            return Err(Error::new(
                ErrorKind::Config,
                format!("two drafters are named `{}`; names must differ", spec.name),
            ));
        }
        let member = open_member(spec, target, defaults)
            .map_err(|error| error.context(format_args!("drafter `{}`", spec.name)))?;
        self.members.push(member);
        Ok(())
    }

    /// Adds a drafter that was made elsewhere.
    pub fn add(&mut self, name: impl Into<String>, drafter: Box<dyn Drafter>) {
        self.members.push(Member {
            name: name.into(),
            kind: drafter.kind(),
            drafter: Some(drafter),
            model: None,
            failure: None,
            loads: 0,
            load_time: Duration::ZERO,
        });
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

    /// The drafter of `arm`, if it is (still) usable.
    pub fn drafter(&mut self, arm: ArmId) -> Option<&mut (dyn Drafter + 'static)> {
        self.members.get_mut(arm.0)?.drafter.as_deref_mut()
    }

    /// The drafters that are (still) usable, with their arms.
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
            member.drafter = None;
            member.model = None;
            member.failure.get_or_insert_with(|| why.to_string());
        }
    }

    /// Has every drafter forget what lies after the first `len` tokens of the history. Returns
    /// the arms that could not and have therefore left the pool.
    pub fn rollback(&mut self, len: usize) -> Vec<(ArmId, Error)> {
        let mut failed = Vec::new();
        for (index, member) in self.members.iter_mut().enumerate() {
            if let Some(drafter) = &mut member.drafter
                && let Err(error) = drafter.rollback(len)
            {
                failed.push((ArmId(index), error));
            }
        }
        for (arm, error) in &failed {
            self.retire(*arm, error);
        }
        failed
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

fn open_member(spec: &DrafterSpec, target: &Model, defaults: PoolDefaults) -> Result<Member> {
    let started = Instant::now();
    let mut member = Member {
        name: spec.name.clone(),
        kind: spec.source.kind(),
        drafter: None,
        model: None,
        failure: None,
        loads: 0,
        load_time: Duration::ZERO,
    };
    match &spec.source {
        DrafterSource::Ngram(params) => {
            member.drafter = Some(Box::new(NgramDrafter::new(*params)?));
        }
        DrafterSource::Model {
            path,
            n_ctx,
            threads,
            gpu_layers,
        } => {
            let model = Model::load(
                path,
                &ModelParams {
                    gpu_layers: *gpu_layers,
                },
                None,
            )?;
            check_vocabulary(target, &*model)?;
            let params = ModelDrafterParams {
                n_ctx: n_ctx.unwrap_or(defaults.n_ctx),
                n_batch: defaults.n_batch,
                threads: threads.unwrap_or(defaults.threads),
            };
            match ModelDrafter::new(model.clone(), params) {
                Ok(drafter) => {
                    member.drafter = Some(Box::new(drafter));
                    member.model = Some(model);
                    member.loads = 1;
                }
                Err(error) if error.kind() == ErrorKind::InvalidArgument => return Err(error),
                Err(error) => member.failure = Some(error.to_string()),
            }
        }
    }
    member.load_time = started.elapsed();
    Ok(member)
}
