//! Ctrl-C: the first asks what is running to stop, the second ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

use super::INTERRUPTED;

static CANCEL: AtomicBool = AtomicBool::new(false);
/// Whether something runs that looks at `CANCEL`.
static BUSY: AtomicBool = AtomicBool::new(false);

/// Handles Ctrl-C from now on.
pub fn install() {
    let handled = ctrlc::set_handler(|| {
        let asked_before = CANCEL.swap(true, Ordering::Relaxed);
        if asked_before || !BUSY.load(Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
    if let Err(error) = handled {
        log::warn!("Ctrl-C will end the program at once: {error}");
    }
}

/// Set when what is running should stop.
pub fn flag() -> &'static AtomicBool {
    &CANCEL
}

/// Whether what is running should stop.
pub fn is_set() -> bool {
    CANCEL.load(Ordering::Relaxed)
}

/// While it lives Ctrl-C asks to stop; before and after it ends the program.
#[derive(Debug)]
pub struct Busy(());

impl Busy {
    /// Begins something that looks at [`flag`].
    pub fn new() -> Self {
        CANCEL.store(false, Ordering::Relaxed);
        BUSY.store(true, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        BUSY.store(false, Ordering::Relaxed);
    }
}
