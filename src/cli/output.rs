//! Standard output while text streams to it.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use metasd::ArmId;

use super::paint::Paint;
use super::{interrupt, say};

/// Standard output; after the first failure nothing more is written, and generation is asked to
/// stop: nobody would see what follows.
#[derive(Debug, Default)]
pub struct Output {
    paint: Option<Paint>,
    failure: Option<io::Error>,
    /// Whether the last line has been begun.
    in_line: bool,
}

impl Output {
    /// Output in which text is painted by its drafter, if at all.
    pub fn new(paint: Option<Paint>) -> Self {
        Self {
            paint,
            ..Self::default()
        }
    }

    /// A piece of generated text.
    pub fn text(&mut self, text: &str, drafter: Option<ArmId>) {
        self.in_line = !text.ends_with('\n');
        match &self.paint {
            Some(paint) => {
                let painted = paint.text(text, drafter);
                self.write(&painted);
            }
            None => self.write(text),
        }
    }

    /// Ends the last line, if it has been begun.
    pub fn end_line(&mut self) {
        if std::mem::take(&mut self.in_line) {
            self.write("\n");
        }
    }

    /// A line of its own.
    pub fn line(&mut self, line: &str) {
        self.end_line();
        self.write(&format!("{line}\n"));
    }

    /// Whether what was written has not all arrived.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// `code`, unless output was lost. A reader that has gone away has simply seen enough.
    pub fn finish(self, code: ExitCode) -> ExitCode {
        match self.failure {
            None => code,
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Some(error) => {
                say(format_args!(
                    "error: cannot write to standard output: {error}"
                ));
                ExitCode::FAILURE
            }
        }
    }

    fn write(&mut self, text: &str) {
        if self.failure.is_some() {
            return;
        }
        let mut stdout = io::stdout().lock();
        let written = stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush());
        if let Err(error) = written {
            self.failure = Some(error);
            interrupt::flag().store(true, Ordering::Relaxed);
        }
    }
}
