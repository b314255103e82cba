//! A drafter in a pool, wherever it is.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::budget::Footprint;
use super::cost::SwitchCost;
use super::factory::{DrafterFactory, Weights};
use crate::drafter::{Drafter, DrafterKind};
use crate::error::Error;
use crate::llama::{MemoryBreakdown, SavedState};

/// Where a drafter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// On disk alone.
    Disk,
    /// Its weights are in host memory; to draft it needs a context, and device memory where that
    /// is another.
    Host,
    /// On its way to the device.
    Loading,
    /// Ready to draft.
    Device,
    /// It has left the pool.
    Out,
}

impl Place {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Host => "host",
            Self::Loading => "loading",
            Self::Device => "device",
            Self::Out => "out",
        }
    }
}

/// What moving a drafter has come to since the pool was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ResidencyStatistics {
    /// Times its weights were loaded.
    pub loads: usize,
    /// Times they were evicted.
    pub evictions: usize,
    /// Bytes read or copied for its loads.
    pub bytes_moved: u64,
    /// Milliseconds that its loads took: reading, first touch, making the context.
    pub load_ms: f64,
    /// Milliseconds of decoding committed tokens that it had not seen.
    pub catchup_ms: f64,
    /// The part of `load_ms` during which the generation went on.
    pub hidden_swap_ms: f64,
    /// Milliseconds that the generation waited for it.
    pub exposed_swap_ms: f64,
}

/// A drafter in the pool.
pub struct Member {
    pub(super) name: String,
    pub(super) kind: DrafterKind,
    pub(super) path: Option<PathBuf>,
    pub(super) drafter: Option<Box<dyn Drafter>>,
    pub(super) failure: Option<String>,
    pub(super) pinned: bool,
    /// What can bring it back; without it a drafter is never evicted.
    pub(super) factory: Option<Arc<dyn DrafterFactory>>,
    /// What it takes when it is ready: planned, and once it was loaded as it is.
    pub(super) memory: MemoryBreakdown,
    /// What it is entered with in the ledger.
    pub(super) charged: Footprint,
    pub(super) move_in: Option<MoveIn>,
    /// Its weights in host memory, charged with so many bytes unless a ready drafter uses them.
    pub(super) weights: Option<(Weights, u64)>,
    /// Its KV cache, since it was evicted.
    pub(super) state: Option<SavedState>,
    /// Its release has been handed to the loader and not come back; so many bytes of host memory
    /// are set aside for what may be kept of it.
    pub(super) releasing: Option<u64>,
    /// How many tokens of the history are still those that it may know.
    pub(super) valid: usize,
    /// When it drafted last, in rounds of the pool.
    pub(super) used: u64,
    /// It was loaded for a round that others drafted in its place.
    pub(super) owed: bool,
    pub(super) cost: SwitchCost,
    pub(super) statistics: ResidencyStatistics,
}

/// A load under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct MoveIn {
    pub since: Instant,
    /// How long the generation has waited for it.
    pub exposed: Duration,
}

impl Member {
    pub(super) fn new(name: impl Into<String>, kind: DrafterKind) -> Self {
        Self {
            name: name.into(),
            kind,
            path: None,
            drafter: None,
            failure: None,
            pinned: false,
            factory: None,
            memory: MemoryBreakdown::default(),
            charged: Footprint::default(),
            move_in: None,
            weights: None,
            state: None,
            releasing: None,
            valid: usize::MAX,
            used: 0,
            owed: false,
            cost: SwitchCost::default(),
            statistics: ResidencyStatistics::default(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its kind.
    pub fn kind(&self) -> DrafterKind {
        self.kind
    }

    /// Its file, if it has one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Why it left the pool, if it did.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Where it is.
    pub fn place(&self) -> Place {
        if self.failure.is_some() {
            Place::Out
        } else if self.drafter.is_some() {
            Place::Device
        } else if self.move_in.is_some() {
            Place::Loading
        } else if self.weights.is_some() {
            Place::Host
        } else {
            Place::Disk
        }
    }

    /// Whether it is never evicted.
    pub fn is_pinned(&self) -> bool {
        self.pinned
    }

    /// Times its weights were loaded.
    pub fn loads(&self) -> usize {
        self.statistics.loads
    }

    /// What moving it has come to.
    pub fn statistics(&self) -> ResidencyStatistics {
        ResidencyStatistics {
            catchup_ms: self.cost.catch_up_time().as_secs_f64() * 1e3,
            ..self.statistics
        }
    }

    /// The mean time of its loads; `None` when there was none.
    pub fn load_time(&self) -> Option<Duration> {
        self.cost.load()
    }

    /// The time in which it catches up with `tokens` tokens; `None` when that was never measured.
    pub fn catch_up_time(&self, tokens: usize) -> Option<Duration> {
        self.cost.catch_up(tokens)
    }

    /// What it occupies when it is ready, as llama.cpp accounts for it; nothing when it has left
    /// the pool.
    pub fn memory(&self) -> MemoryBreakdown {
        match self.failure {
            None => self.memory,
            Some(_) => MemoryBreakdown::default(),
        }
    }

    /// Notes that its drafter is ready after a load of `time`, in which `moved` bytes were read or
    /// copied.
    pub(super) fn arrive(&mut self, drafter: Box<dyn Drafter>, time: Duration, moved: u64) {
        self.memory = drafter.memory();
        self.drafter = Some(drafter);
        self.cost.add_load(time);
        self.statistics.loads += 1;
        self.statistics.bytes_moved += moved;
        self.statistics.load_ms += time.as_secs_f64() * 1e3;
    }

    /// Whether it could be evicted now.
    pub(super) fn can_go(&self) -> bool {
        self.drafter.is_some() && self.factory.is_some() && !self.pinned
    }

    /// Notes that it left the pool; what was there first stays.
    pub(super) fn fail(&mut self, why: &Error) {
        self.failure.get_or_insert_with(|| why.to_string());
    }
}
