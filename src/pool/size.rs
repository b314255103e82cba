//! Numbers of bytes as people write them.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};

use crate::error::{Error, Result};

/// The units, each 1024 times the one before.
const UNITS: [char; 4] = ['K', 'M', 'G', 'T'];

/// A number of bytes, written as `512M`, `1.5G` or plainly in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

impl FromStr for ByteSize {
    type Err = Error;

    /// Reads a number and an optional unit of `K`, `M`, `G` or `T` (1024 bytes, 1024², …), in
    /// either case and with or without `B` or `iB` after it.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = |what: &str| {
            Error::invalid(format!(
                "\"{}\" {what}; write a number of bytes or one with a unit, such as 512M or 2G",
                text.escape_debug()
            ))
        };
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
        let mut unit = unit.trim_start().chars();
        let factor = match unit.next().map(|c| c.to_ascii_uppercase()) {
            None => 1,
            Some('B') if unit.as_str().is_empty() => 1,
            Some(c) => {
                let place = UNITS.iter().position(|&known| known == c);
                let power = place.ok_or_else(|| wrong("is not a size"))? + 1;
                if !["", "b", "ib"].contains(&unit.as_str().to_ascii_lowercase().as_str()) {
                    return Err(wrong("is not a size"));
                }
                1u64 << (10 * power)
            }
        };
        // Whole numbers stay exact; a fraction is cut to a whole number of bytes.
        let bytes = match number.parse::<u64>() {
            Ok(whole) => whole.checked_mul(factor),
            Err(_) => match number.parse::<f64>() {
                Ok(part) if part * (factor as f64) < u64::MAX as f64 => {
                    Some((part * factor as f64) as u64)
                }
                Ok(_) => None,
                Err(_) => return Err(wrong("is not a size")),
            },
        };
        bytes
            .map(Self)
            .ok_or_else(|| wrong("is more than any memory"))
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let power = (1..=UNITS.len())
            .rev()
            .find(|power| self.0 >> (10 * power) > 0);
        match power {
            None => f.pad(&format!("{} B", self.0)),
            Some(power) => {
                let number = self.0 as f64 / (1u64 << (10 * power)) as f64;
                f.pad(&format!("{number:.1} {}iB", UNITS[power - 1]))
            }
        }
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Size;

        impl Visitor<'_> for Size {
            type Value = ByteSize;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"512M\" or \"2G\", or a number of bytes")
            }

            fn visit_u64<E: de::Error>(self, bytes: u64) -> std::result::Result<ByteSize, E> {
                Ok(ByteSize(bytes))
            }

            fn visit_i64<E: de::Error>(self, bytes: i64) -> std::result::Result<ByteSize, E> {
                u64::try_from(bytes)
                    .map(ByteSize)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(bytes), &self))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<ByteSize, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Size)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(text: &str) -> u64 {
        text.parse::<ByteSize>().expect(text).0
    }

    #[test]
    fn a_unit_is_a_power_of_1024_in_any_spelling() {
        for text in [
            "512M",
            "512m",
            "512MB",
            "512MiB",
            "512 M",
            "536870912",
            "536870912B",
        ] {
            assert_eq!(bytes(text), 512 << 20, "{text}");
        }
        assert_eq!(bytes("2G"), 2 << 30);
        assert_eq!(bytes("1.5k"), 1536);
        assert_eq!(bytes("1T"), 1 << 40);
        assert_eq!(bytes("0"), 0);
    }

    #[test]
    fn what_is_no_size_is_refused_with_what_would_be_one() {
        for text in [
            "", "M", "much", "-1", "1,5G", "2GG", "2Gbit", "1e9", "0x10", "1.2.3M", "2 X",
        ] {
            let error = text.parse::<ByteSize>().expect_err(text).to_string();
            assert!(error.contains("512M or 2G"), "{text}: {error}");
        }
        let error = "99999999999T".parse::<ByteSize>().expect_err("too much");
        assert!(
            error.to_string().contains("more than any memory"),
            "{error}"
        );
    }

    #[test]
    fn a_size_is_shown_in_the_largest_unit_that_it_fills() {
        let shown = |bytes: u64| ByteSize(bytes).to_string();
        assert_eq!(shown(0), "0 B");
        assert_eq!(shown(1023), "1023 B");
        assert_eq!(shown(1 << 20), "1.0 MiB");
        assert_eq!(shown(3 << 29), "1.5 GiB");
    }

    proptest! {
        #[test]
        fn whole_numbers_are_exact(number in 0u64..1 << 20, power in 0usize..=4) {
            let unit = ["", "K", "M", "G", "T"][power];
            prop_assert_eq!(bytes(&format!("{number}{unit}")), number << (10 * power));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,12}") {
            let _ = text.parse::<ByteSize>();
        }
    }
}
