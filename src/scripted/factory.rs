//! A factory of scripted drafters, which takes its time and fails when it is told to.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{Script, ScriptedDrafter};
use crate::error::{Error, ErrorKind, Result};
use crate::llama::MemoryBreakdown;
use crate::pool::{DrafterFactory, Opened, Stop, Weights};

/// What goes wrong with a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadFault {
    /// There is no memory for it.
    OutOfMemory,
    /// The code that loads it panics.
    Panic,
}

/// Makes scripted drafters of a given size.
pub struct ScriptedFactory {
    script: Box<dyn Fn() -> Script + Send + Sync>,
    memory: MemoryBreakdown,
    /// What a drafter turns out to take, where that is not what was planned.
    actual: Option<MemoryBreakdown>,
    delay: Duration,
    heeds_stop: bool,
    fault: Option<(usize, LoadFault)>,
    loads: AtomicUsize,
    reads: AtomicUsize,
}

impl ScriptedFactory {
    /// Drafters that follow `script` and whose weights take `bytes`, all of them on the device.
    pub fn new(bytes: u64, script: impl Fn() -> Script + Send + Sync + 'static) -> Self {
        Self {
            script: Box::new(script),
            memory: MemoryBreakdown {
                model: bytes,
                on_device: bytes,
                ..MemoryBreakdown::default()
            },
            actual: None,
            delay: Duration::ZERO,
            heeds_stop: true,
            fault: None,
            loads: AtomicUsize::new(0),
            reads: AtomicUsize::new(0),
        }
    }

    /// Lets every load but the first take `delay`.
    #[must_use]
    pub fn taking(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Lets a load go on when it is asked to stop.
    #[must_use]
    pub fn stubborn(mut self) -> Self {
        self.heeds_stop = false;
        self
    }

    /// Lets every load after the first `loads` fail.
    #[must_use]
    pub fn failing_after(mut self, loads: usize, fault: LoadFault) -> Self {
        self.fault = Some((loads, fault));
        self
    }

    /// Lets the drafters take `bytes` in truth.
    #[must_use]
    pub fn turning_out(mut self, bytes: u64) -> Self {
        self.actual = Some(MemoryBreakdown {
            model: bytes,
            on_device: bytes,
            ..MemoryBreakdown::default()
        });
        self
    }

    /// How many drafters were asked for.
    pub fn loads(&self) -> usize {
        self.loads.load(Ordering::SeqCst)
    }

    /// How often the weights were brought into host memory alone.
    pub fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    fn take_time(&self, stop: &Stop) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < self.delay {
            if self.heeds_stop && stop.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Cancelled, "loading was stopped"));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

impl DrafterFactory for ScriptedFactory {
    fn plan(&self) -> Result<MemoryBreakdown> {
        Ok(self.memory)
    }

    fn read(&self, _stop: &Stop) -> Result<Weights> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        Ok(Arc::new(()))
    }

    fn open(&self, weights: Option<&Weights>, stop: &Stop) -> Result<Opened> {
        let before = self.loads.fetch_add(1, Ordering::SeqCst);
        match self.fault {
            Some((good, LoadFault::OutOfMemory)) if before >= good => {
                return Err(Error::new(
                    ErrorKind::OutOfMemory,
                    "the script has no memory left",
                ));
            }
            Some((good, LoadFault::Panic)) if before >= good => panic!("the script says so"),
            _ => {}
        }
        if before > 0 {
            self.take_time(stop)?;
        }
        let memory = self.actual.unwrap_or(self.memory);
        Ok(Opened {
            drafter: Box::new(ScriptedDrafter::new((self.script)()).occupying(memory)),
            weights: None,
            moved: if weights.is_some() { 0 } else { memory.model },
        })
    }
}
