//! A recording on the disk, which grows text by text.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::{Header, Record, Text, format};
use crate::error::{Error, ErrorKind, Result};

impl Record {
    /// Reads the recording at `path`.
    ///
    /// # Errors
    /// When the file cannot be read; [`ErrorKind::InvalidRecord`] saying what is wrong with it:
    /// foreign, of another version, damaged, or not complete.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes =
            read(path).map_err(|error| Error::io("cannot read the recording", path, error))?;
        format::decode(&bytes).map_err(|error| error.context(path.display()))
    }
}

/// The bytes of the file at `path`; of one that does not begin as a recording no more than that,
/// for it may be a model, or a device that has no end.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    let beginning = format::MAGIC.len() as u64;
    (&mut file).take(beginning).read_to_end(&mut bytes)?;
    if bytes == format::MAGIC {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// A recording that is being written. Every text is whole on the disk before the next one begins,
/// so that whatever interrupts it costs the present text alone.
#[derive(Debug)]
pub struct RecordWriter {
    file: File,
    path: PathBuf,
    header: Header,
    finished: usize,
}

impl RecordWriter {
    /// Begins the recording at `path`, or goes on with the one that is there after its last whole
    /// text.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] naming what differs when there is a recording of something
    /// else, [`ErrorKind::InvalidRecord`] when the file is damaged or no recording; it is then as
    /// it was. Otherwise when it cannot be read or written.
    pub fn open(path: &Path, header: &Header) -> Result<Self> {
        let io = |error| Error::io("cannot write the recording", path, error);
        let beginning = format::encode_header(header)?;
        let there = match read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Error::io("cannot read the recording", path, error)),
        };
        // Interrupted before anything was recorded.
        let is_new = beginning.starts_with(&there);
        let (keep, finished) = if is_new {
            (0, 0)
        } else {
            let decoded = format::decode_whole_texts(&there)
                .map_err(|error| error.context(path.display()))?;
            check_same(header, &decoded.record.header)
                .map_err(|error| error.context(path.display()))?;
            (decoded.whole, decoded.record.texts.len())
        };
        let mut file = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(io)?;
        file.set_len(keep as u64).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        let mut writer = Self {
            file,
            path: path.to_owned(),
            header: header.clone(),
            finished,
        };
        if is_new {
            writer.write(&beginning)?;
        }
        Ok(writer)
    }

    /// Texts that the recording holds: those of the first prompts.
    pub fn finished(&self) -> usize {
        self.finished
    }

    /// Appends the next prompt's text.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] when the recording has all of its texts already,
    /// [`ErrorKind::InvalidRecord`] for a text that does not go with the header; otherwise when it
    /// cannot be written.
    pub fn append(&mut self, text: &Text) -> Result<()> {
        if self.finished >= self.header.prompts {
            return Err(Error::invalid(format!(
                "the recording has all of its {} texts",
                self.header.prompts
            )));
        }
        let bytes = format::encode_text(&self.header, text)?;
        self.write(&bytes)?;
        self.finished += 1;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file
            .write_all(bytes)
            .and_then(|()| self.file.sync_data())
            .map_err(|error| Error::io("cannot write the recording", &self.path, error))
    }
}

/// Checks that a recording of `found` may be gone on with as one of `wanted`.
fn check_same(wanted: &Header, found: &Header) -> Result<()> {
    if wanted == found {
        return Ok(());
    }
    let fields = |header: &Header| match serde_json::to_value(header) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (wanted, found) = (fields(wanted), fields(found));
    let differing = wanted
        .iter()
        .find(|(name, value)| found.get(*name) != Some(value));
    let what = differing.map_or_else(String::new, |(name, value)| {
        let there = found.get(name).cloned().unwrap_or_default();
        format!(": {name} is {there} there and would be {value}")
    });
    Err(Error::new(
        ErrorKind::InvalidArgument,
        format!(
            "it is a recording of something else{what}; name another file, or give the options it \
             was made with"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::record::{Attempt, header};
    use crate::types::TokenId;

    fn text(token: i32) -> Text {
        Text {
            category: 0,
            prompt_tokens: 4,
            tokens: vec![TokenId(token); 2],
            verify_us: vec![7; 2],
            attempts: vec![Attempt::default(); 2],
        }
    }

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary folder")
    }

    #[test]
    fn an_interrupted_recording_goes_on_after_its_last_whole_text() {
        let folder = folder();
        let path = folder.path().join("a.msdrec");
        let header = header(&["a"], &["x"], 3);
        let mut writer = RecordWriter::open(&path, &header).expect("a new file");
        writer.append(&text(1)).expect("written");
        let one = fs::metadata(&path).expect("there").len();
        writer.append(&text(2)).expect("written");
        drop(writer);
        // In the middle of the second text.
        let file = File::options().write(true).open(&path).expect("writable");
        file.set_len(one + 9).expect("shortened");
        let error = Record::read(&path).expect_err("not complete");
        assert!(
            error
                .to_string()
                .contains("a.msdrec: it ends inside text 2"),
            "{error}"
        );

        let mut writer = RecordWriter::open(&path, &header).expect("it goes on");
        assert_eq!(writer.finished(), 1);
        writer.append(&text(5)).expect("written");
        writer.append(&text(6)).expect("written");
        assert!(writer.append(&text(7)).is_err(), "a fourth of three");
        let record = Record::read(&path).expect("complete");
        assert_eq!(record.header, header);
        assert_eq!(record.texts, [text(1), text(5), text(6)]);
        assert_eq!(
            RecordWriter::open(&path, &header).expect("open").finished(),
            3
        );
    }

    #[test]
    fn a_header_that_was_cut_off_is_written_anew() {
        let folder = folder();
        let path = folder.path().join("a.msdrec");
        let header = header(&["a"], &["x"], 1);
        RecordWriter::open(&path, &header).expect("a new file");
        let whole = fs::read(&path).expect("readable");
        fs::write(&path, &whole[..20]).expect("writable");
        let mut writer = RecordWriter::open(&path, &header).expect("it begins anew");
        writer.append(&text(1)).expect("written");
        assert_eq!(Record::read(&path).expect("complete").texts, [text(1)]);
    }

    #[test]
    fn a_recording_of_something_else_and_a_foreign_file_are_left_as_they_are() {
        let folder = folder();
        let path = folder.path().join("a.msdrec");
        RecordWriter::open(&path, &header(&["a"], &["x"], 1)).expect("a new file");
        let before = fs::read(&path).expect("readable");
        let mut other = header(&["a"], &["x"], 1);
        other.n_predict = 99;
        let error = RecordWriter::open(&path, &other).expect_err("something else");
        assert_eq!(error.exit_code(), 2);
        let text = error.to_string();
        assert!(
            text.contains("n_predict is 8 there and would be 99"),
            "{text}"
        );
        assert_eq!(fs::read(&path).expect("readable"), before);

        let foreign = folder.path().join("notes.txt");
        fs::write(&foreign, "precious").expect("writable");
        let error = RecordWriter::open(&foreign, &other).expect_err("foreign");
        assert_eq!(error.kind(), ErrorKind::InvalidRecord);
        assert_eq!(fs::read(&foreign).expect("readable"), b"precious");
        let missing = Record::read(&folder.path().join("none")).expect_err("missing");
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_without_an_end_is_no_recording() {
        let path = Path::new("/dev/zero");
        let error = Record::read(path).expect_err("zeros");
        assert!(error.to_string().contains("it is no recording"), "{error}");
        let header = header(&["a"], &["x"], 1);
        let error = RecordWriter::open(path, &header).expect_err("zeros");
        assert!(error.to_string().contains("it is no recording"), "{error}");
    }
}
