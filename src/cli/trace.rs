//! The trace file: a JSON line for every round.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use metasd::session::RoundRecord;
use metasd::{Error, Result};

/// A trace that is being written. A failure on the way does not disturb generation: it is kept
/// for the end, and nothing more is written.
#[derive(Debug)]
pub struct Trace {
    file: File,
    path: PathBuf,
    failure: Option<std::io::Error>,
}

impl Trace {
    /// Opens the file at `path`. What it holds stays until [`Self::begin`], for much can still go
    /// wrong before there is anything to write.
    ///
    /// # Errors
    /// When the file cannot be opened for writing.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|error| Error::io("cannot write the trace", path, error))?;
        Ok(Self {
            file,
            path: path.to_owned(),
            failure: None,
        })
    }

    /// Checks that the trace does not take the place of `file`, which is read.
    ///
    /// # Errors
    /// When the two are one file.
    pub fn check_apart(&self, file: &Path) -> Result<()> {
        let trace = self.path.canonicalize();
        let same = trace.is_ok_and(|trace| file.canonicalize().is_ok_and(|file| file == trace));
        if same {
            return Err(Error::invalid(format!(
                "--trace {} would replace a file that is in use; name another",
                self.path.display()
            )));
        }
        Ok(())
    }

    /// Begins the trace, in place of what the file held.
    pub fn begin(&mut self) {
        // Only a regular file has a length; a pipe or a device has none to lose.
        if self.file.metadata().is_ok_and(|file| file.is_file()) {
            self.failure = self.file.set_len(0).err();
        }
    }

    /// Writes a round.
    pub fn round(&mut self, record: &RoundRecord) {
        if self.failure.is_some() {
            return;
        }
        let written = serde_json::to_string(record)
            .map_err(std::io::Error::other)
            .and_then(|line| self.file.write_all(format!("{line}\n").as_bytes()));
        self.failure = written.err();
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// The first failure.
    pub fn finish(self) -> Result<()> {
        match self.failure {
            None => Ok(()),
            Some(error) => Err(Error::io("cannot write the trace", &self.path, error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(round: usize) -> RoundRecord {
        RoundRecord {
            round,
            drafter: None,
            drafted: 0,
            accepted: 0,
            committed: 1,
            bd: None,
            be: None,
            tv: Vec::new(),
            counterfactual: Default::default(),
            draft_us: 0,
            verify_us: 1,
            catchup_us: 0,
            swap_us: 0,
            counterfactual_us: 0,
        }
    }

    #[test]
    fn a_round_is_a_line() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), "an older and longer trace\n".repeat(20)).expect("writable");
        let mut trace = Trace::open(file.path()).expect("writable");
        trace.begin();
        trace.round(&record(1));
        trace.round(&record(2));
        trace.finish().expect("written");
        let text = std::fs::read_to_string(file.path()).expect("readable");
        let rounds: Vec<u64> = text
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
            .map(|line| line["round"].as_u64().expect("a number"))
            .collect();
        assert_eq!(rounds, [1, 2]);
    }

    #[test]
    fn a_file_that_is_read_is_not_replaced() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let other = tempfile::NamedTempFile::new().expect("a temporary file");
        let trace = Trace::open(file.path()).expect("writable");
        trace.check_apart(other.path()).expect("another file");
        let error = trace.check_apart(file.path()).expect_err("the same file");
        assert_eq!(error.exit_code(), 2);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported_at_the_end_alone() {
        let mut trace = Trace::open(Path::new("/dev/full")).expect("it can be opened");
        trace.round(&record(1));
        trace.round(&record(2));
        let error = trace.finish().expect_err("nothing fits");
        assert!(error.to_string().contains("/dev/full"), "{error}");
    }
}
