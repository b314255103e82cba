//! Just enough of the GGUF format to make models that are wrong in one place.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// A model's header, and what its data is to hold instead of zeros.
pub struct Gguf {
    header: Vec<u8>,
    size: u64,
    tensors: Vec<Tensor>,
    data: Vec<(u64, Vec<u8>)>,
}

struct Tensor {
    name: String,
    /// Bytes from the beginning of the file.
    offset: u64,
    elements: u64,
}

impl Gguf {
    /// Reads the header of the model at `path`.
    pub fn read(path: &Path) -> Self {
        let bytes = fs::read(path).expect("readable");
        let mut reader = Reader {
            bytes: &bytes,
            at: 8,
        };
        let (tensor_count, value_count) = (reader.u64(), reader.u64());
        for _ in 0..value_count {
            reader.string();
            let kind = reader.u32();
            reader.skip_value(kind);
        }
        let mut tensors: Vec<Tensor> = (0..tensor_count)
            .map(|_| {
                let name = reader.string();
                let dimensions = reader.u32();
                let elements = (0..dimensions).map(|_| reader.u64()).product();
                reader.u32();
                let offset = reader.u64();
                Tensor {
                    name,
                    offset,
                    elements,
                }
            })
            .collect();
        let start = reader.at.next_multiple_of(32);
        for tensor in &mut tensors {
            tensor.offset += start as u64;
        }
        Self {
            size: bytes.len() as u64,
            header: bytes[..start].to_vec(),
            tensors,
            data: Vec::new(),
        }
    }

    /// Replaces the first occurrence of `old` in the header by `new`, which is as long.
    pub fn replace_once(&mut self, old: &str, new: &str) {
        assert_eq!(old.len(), new.len());
        let at = self
            .header
            .windows(old.len())
            .position(|bytes| bytes == old.as_bytes())
            .expect("it occurs");
        self.header[at..at + new.len()].copy_from_slice(new.as_bytes());
    }

    /// Replaces the 32-bit number stored under `key`, or the one at `index` of an array.
    #[allow(dead_code, reason = "not every test program changes numbers")]
    pub fn set_number(&mut self, key: &str, index: usize, number: u32) {
        let length = u64::try_from(key.len()).expect("it fits").to_le_bytes();
        let entry = [length.as_slice(), key.as_bytes()].concat();
        let at = self
            .header
            .windows(entry.len())
            .position(|bytes| bytes == entry)
            .expect("it occurs")
            + entry.len();
        // After the type of a number, and after that, the type and the number of the elements of
        // an array.
        let first = if self.header[at] == 9 {
            at + 16
        } else {
            at + 4
        };
        let value = first + 4 * index;
        self.header[value..value + 4].copy_from_slice(&number.to_le_bytes());
    }

    /// Gives a tensor the data `bytes`, from its beginning on.
    #[allow(dead_code, reason = "not every test program has tensors")]
    pub fn put(&mut self, name: &str, bytes: Vec<u8>) {
        let tensor = self.tensors.iter().find(|tensor| tensor.name == name);
        let tensor = tensor.expect("a tensor of that name");
        self.data.push((tensor.offset, bytes));
    }

    /// Keeps the data of every tensor as it is in the model at `path`, from which this was read.
    #[allow(dead_code, reason = "not every test program needs weights")]
    pub fn keep_data(&mut self, path: &Path) {
        let bytes = fs::read(path).expect("readable");
        let start = self.header.len();
        let data = (start as u64, bytes[start..].to_vec());
        self.data.insert(0, data);
    }

    /// Fills a tensor with `element`.
    pub fn fill(&mut self, name: &str, element: &[u8]) {
        let tensor = self.tensors.iter().find(|tensor| tensor.name == name);
        let tensor = tensor.expect("a tensor of that name");
        let elements = usize::try_from(tensor.elements).expect("it fits");
        self.data.push((tensor.offset, element.repeat(elements)));
    }

    /// Writes the model; weights that were not filled are zero and take no place on the disk.
    pub fn write(&self, path: &Path) {
        let mut file = File::create(path).expect("writable");
        file.write_all(&self.header).expect("writable");
        file.set_len(self.size).expect("writable");
        for (offset, bytes) in &self.data {
            file.seek(SeekFrom::Start(*offset)).expect("seekable");
            file.write_all(bytes).expect("writable");
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let bytes = self.bytes[self.at..self.at + N]
            .try_into()
            .expect("N bytes");
        self.at += N;
        bytes
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn string(&mut self) -> String {
        let length = usize::try_from(self.u64()).expect("it fits");
        let bytes = &self.bytes[self.at..self.at + length];
        self.at += length;
        String::from_utf8_lossy(bytes).into_owned()
    }

    fn skip_value(&mut self, kind: u32) {
        match kind {
            0 | 1 | 7 => self.at += 1,
            2 | 3 => self.at += 2,
            4..=6 => self.at += 4,
            8 => {
                self.string();
            }
            9 => {
                let kind = self.u32();
                for _ in 0..self.u64() {
                    self.skip_value(kind);
                }
            }
            10..=12 => self.at += 8,
            _ => panic!("unknown type {kind}"),
        }
    }
}
