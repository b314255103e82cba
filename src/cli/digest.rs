//! SHA-256 digests, in hexadecimal.

use std::fs::File;
use std::path::Path;

use metasd::{Error, Result};
use sha2::{Digest, Sha256};

/// The number of bytes of the file at `path`, and their digest.
///
/// # Errors
/// When it cannot be read.
pub fn of_file(path: &Path) -> Result<(u64, String)> {
    let mut hash = Sha256::new();
    let bytes = File::open(path)
        .and_then(|mut file| std::io::copy(&mut file, &mut hash))
        .map_err(|error| Error::io("cannot read", path, error))?;
    Ok((bytes, hex(&hash.finalize())))
}

/// The digest of `bytes`.
pub fn of_bytes(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_of_the_content() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), "abc").expect("writable");
        // FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of_file(file.path()).expect("readable"), (3, abc.to_owned()));
        assert_eq!(of_bytes("abc"), abc);
        of_file(Path::new("no such file")).expect_err("missing");
    }
}
