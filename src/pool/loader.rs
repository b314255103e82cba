//! The thread that brings drafters into memory and frees them, while the target goes on.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};

use super::factory::{DrafterFactory, Opened, Stop, Weights};
use crate::drafter::Drafter;
use crate::error::{Error, ErrorKind, Result};
use crate::llama::SavedState;
use crate::types::ArmId;

/// How long a pool that is dropped waits for a load to notice; llama.cpp looks up between tensors.
const PATIENCE: Duration = Duration::from_secs(2);

/// A drafter to bring into device memory.
pub(super) struct Load {
    pub arm: ArmId,
    pub factory: Arc<dyn DrafterFactory>,
    /// Its weights, where they are in host memory.
    pub weights: Option<Weights>,
    /// Its KV cache, where it was kept.
    pub state: Option<SavedState>,
}

/// A drafter to free.
pub(super) struct Release {
    pub arm: ArmId,
    pub drafter: Box<dyn Drafter>,
    pub keep_state: bool,
    pub weights: KeepWeights,
}

/// What becomes of the weights of a drafter that is freed.
pub(super) enum KeepWeights {
    /// They go too.
    No,
    /// They are in host memory already and stay.
    These(Weights),
    /// They are brought into host memory.
    Read(Arc<dyn DrafterFactory>),
}

enum Job {
    Load(Load),
    Release(Release),
}

/// What came of a job.
pub(super) enum Outcome {
    Loaded {
        arm: ArmId,
        result: Result<Loaded>,
        /// How long it took.
        time: Duration,
    },
    Released {
        arm: ArmId,
        state: Option<(SavedState, Duration)>,
        weights: Option<Weights>,
    },
}

/// A drafter that was brought into device memory.
pub(super) struct Loaded {
    pub opened: Opened,
    /// How many tokens its KV cache that was put back knows, and how long that took.
    pub restored: Option<(usize, Duration)>,
}

/// A thread that does one job after another, in the order in which they were given.
pub(super) struct Loader {
    jobs: Option<Sender<Job>>,
    outcomes: Receiver<Outcome>,
    /// Disconnected when the thread is about to end.
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
    stop: Stop,
}

impl Loader {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when the operating system gives no thread.
    pub(super) fn start() -> Result<Self> {
        let (jobs, todo) = unbounded();
        let (done, outcomes) = unbounded();
        let (alive, ended) = bounded(0);
        let stop = Stop::new(AtomicBool::new(false));
        let seen = stop.clone();
        let thread = thread::Builder::new()
            .name("metasd-loader".to_owned())
            .spawn(move || {
                let _alive: Sender<()> = alive;
                work(&todo, &done, &seen);
            })
            .map_err(|error| {
                Error::new(ErrorKind::Io, format!("no thread for loading: {error}"))
            })?;
        Ok(Self {
            jobs: Some(jobs),
            outcomes,
            ended,
            thread: Some(thread),
            stop,
        })
    }

    pub(super) fn load(&self, load: Load) {
        self.send(Job::Load(load));
    }

    pub(super) fn release(&self, release: Release) {
        self.send(Job::Release(release));
    }

    fn send(&self, job: Job) {
        // The thread ends only after `jobs` is gone, and catches what its jobs throw.
        let sent = self.jobs.as_ref().map(|jobs| jobs.send(job).is_ok());
        debug_assert_eq!(sent, Some(true));
    }

    /// What has been done since the last look.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = Outcome> + '_ {
        self.outcomes.try_iter()
    }

    /// Waits for the next outcome for up to `most`.
    pub(super) fn wait(&self, most: Duration) -> Option<Outcome> {
        self.outcomes.recv_timeout(most).ok()
    }

    /// Asks the thread to stop what it does as soon as it can, and gives it nothing more to do.
    pub(super) fn abandon(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.jobs = None;
    }

    /// Whether an abandoned thread has ended.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.ended.try_recv(), Err(error) if error.is_disconnected())
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        self.abandon();
        let ended = self.ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Disconnected);
        match self.thread.take() {
            Some(thread) if ended => {
                // Its jobs' panics were caught, so it ended well.
                let _ = thread.join();
            }
            Some(_) => log::warn!("a load does not end; its thread is left behind"),
            None => {}
        }
    }
}

fn work(todo: &Receiver<Job>, done: &Sender<Outcome>, stop: &Stop) {
    for job in todo {
        let outcome = match job {
            Job::Load(load) => {
                let started = Instant::now();
                let arm = load.arm;
                let result = guarded(|| do_load(load, stop));
                Outcome::Loaded {
                    arm,
                    result,
                    time: started.elapsed(),
                }
            }
            Job::Release(release) => {
                let arm = release.arm;
                let (state, weights) =
                    guarded(|| Ok(do_release(release, stop))).unwrap_or_else(|error| {
                        log::warn!("a drafter could not be freed in order: {error}");
                        (None, None)
                    });
                Outcome::Released {
                    arm,
                    state,
                    weights,
                }
            }
        };
        if done.send(outcome).is_err() {
            return;
        }
    }
}

/// Runs `body` and turns a panic into an error, so that one drafter does not take the rest along.
fn guarded<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        Err(Error::new(
            ErrorKind::Backend,
            format!("loading it panicked: {}", text_of(&*panic)),
        ))
    })
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("without a message")
}

fn do_load(load: Load, stop: &Stop) -> Result<Loaded> {
    if stop.load(Ordering::Relaxed) {
        return Err(Error::new(ErrorKind::Cancelled, "loading was stopped"));
    }
    let mut opened = load.factory.open(load.weights.as_ref(), stop)?;
    let restored = load.state.and_then(|state| {
        let started = Instant::now();
        match opened.drafter.restore(&state) {
            Ok(()) => {
                opened.moved += state.size();
                Some((state.len(), started.elapsed()))
            }
            Err(error) => {
                // It catches up instead.
                log::warn!("{error}");
                None
            }
        }
    });
    Ok(Loaded { opened, restored })
}

type Kept = (Option<(SavedState, Duration)>, Option<Weights>);

fn do_release(release: Release, stop: &Stop) -> Kept {
    let Release {
        mut drafter,
        keep_state,
        weights,
        ..
    } = release;
    let started = Instant::now();
    let state = match keep_state.then(|| drafter.save()) {
        Some(Ok(state)) => state.map(|state| (state, started.elapsed())),
        Some(Err(error)) => {
            log::warn!("{error}");
            None
        }
        None => None,
    };
    drop(drafter);
    let weights = match weights {
        KeepWeights::No => None,
        KeepWeights::These(weights) => Some(weights),
        KeepWeights::Read(factory) => match factory.read(stop) {
            Ok(weights) => Some(weights),
            Err(error) => {
                // It is read from disk when it is wanted again.
                log::warn!("{error}");
                None
            }
        },
    };
    (state, weights)
}
