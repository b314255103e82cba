//! Numbers and checked frames, of which a recording consists.

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// Bytes of a frame's checksum.
const CHECKSUM: usize = 8;

/// Appends a frame of `payload`.
///
/// # Errors
/// When it has 4 GiB or more.
pub(super) fn push_frame(bytes: &mut Vec<u8>, payload: &[u8]) -> Result<()> {
    let length = u32::try_from(payload.len()).map_err(|_| {
        Error::invalid("a text of more than 4 GiB cannot be recorded; lower --predict")
    })?;
    bytes.extend(length.to_le_bytes());
    bytes.extend((!length).to_le_bytes());
    bytes.extend(payload);
    bytes.extend(checksum(length, payload));
    Ok(())
}

fn checksum(length: u32, payload: &[u8]) -> [u8; CHECKSUM] {
    let digest = Sha256::new()
        .chain_update(length.to_le_bytes())
        .chain_update(payload)
        .finalize();
    let mut first = [0; CHECKSUM];
    first.copy_from_slice(&digest[..CHECKSUM]);
    first
}

/// Appends `number` in LEB128: seven bits a byte, the lowest first, the top bit set but in the
/// last.
pub(super) fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The bytes that have not been read yet.
pub(super) struct Reader<'a> {
    pub bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*taken)
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let [byte] = self.array()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(super) fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// The payload of the next frame; `None` when the bytes end before it does. The error says
    /// how it is damaged.
    pub(super) fn frame(&mut self) -> std::result::Result<Option<&'a [u8]>, &'static str> {
        let mut rest = Reader { bytes: self.bytes };
        let (Some(length), Some(complement)) = (rest.array(), rest.array()) else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(length);
        if u32::from_le_bytes(complement) != !length {
            return Err("its two lengths do not match");
        }
        let (Some(payload), Some(sum)) = (rest.take(length as usize), rest.take(CHECKSUM)) else {
            return Ok(None);
        };
        if sum != checksum(length, payload) {
            return Err("the checksum does not match");
        }
        *self = rest;
        Ok(Some(payload))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_number_takes_a_byte_for_every_seven_bits_and_no_more_than_ten() {
        for (number, bytes) in [(0, 1), (127, 1), (128, 2), (u64::MAX, 10)] {
            let mut written = Vec::new();
            push_number(&mut written, number);
            assert_eq!(written.len(), bytes);
        }
        let too_large = [0xff; 10];
        assert_eq!(Reader { bytes: &too_large }.number(), None);
    }

    proptest! {
        #[test]
        fn numbers_round_trip(number: u64) {
            let mut bytes = Vec::new();
            push_number(&mut bytes, number);
            let mut reader = Reader { bytes: &bytes };
            prop_assert_eq!(reader.number(), Some(number));
            prop_assert!(reader.bytes.is_empty());
        }
    }
}
