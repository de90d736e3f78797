//! Sizes in bytes.

use crate::rounded::three_digits;
use std::fmt;
use std::str::FromStr;

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(pub u64);

/// The error of a text that is not a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseByteSizeError {
    text: String,
    /// Whether it is a size that is beyond 2^64 bytes.
    is_beyond: bool,
}

impl fmt::Display for ParseByteSizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.escape_debug();
        match self.is_beyond {
            true => write!(f, "`{text}` is too large; write at most 16777215TiB"),
            false => write!(
                f,
                "`{text}` is not a size; write bytes such as 512, 10kB, 64KiB, 1MB or 2GiB"
            ),
        }
    }
}

impl std::error::Error for ParseByteSizeError {}

/// Units by suffix.
const UNITS: [(&str, u64); 10] = [
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

impl FromStr for ByteSize {
    type Err = ParseByteSizeError;

    /// Parses `512`, `10kB`, `64KiB`, `1MB`, `2GiB`.
    ///
    /// # Errors
    /// If the number is not whole, the unit is unknown, or the size exceeds 2^64.
    fn from_str(text: &str) -> Result<Self, ParseByteSizeError> {
        let wrong = |is_beyond| ParseByteSizeError {
            text: text.chars().take(64).collect(),
            is_beyond,
        };
        let fail = || wrong(false);
        let split = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let (number, suffix) = text.split_at(split);
        let scale = match suffix {
            "" => 1,
            suffix => {
                UNITS
                    .iter()
                    .find(|(name, _)| *name == suffix)
                    .ok_or_else(fail)?
                    .1
            }
        };
        if number.is_empty() {
            return Err(fail());
        }
        let number = number.parse::<u64>().map_err(|_| wrong(true))?;
        let bytes = number.checked_mul(scale).ok_or_else(|| wrong(true))?;
        Ok(Self(bytes))
    }
}

impl fmt::Display for ByteSize {
    /// Prints a size for readers, with three significant digits: `52.4 MB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0 as f64;
        match self.0 {
            0..1_000 => write!(f, "{} B", self.0),
            1_000..1_000_000 => write!(f, "{} kB", three_digits(value / 1e3)),
            1_000_000..1_000_000_000 => write!(f, "{} MB", three_digits(value / 1e6)),
            1_000_000_000..1_000_000_000_000 => write!(f, "{} GB", three_digits(value / 1e9)),
            _ => write!(f, "{} TB", three_digits(value / 1e12)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_prints() {
        assert_eq!("10kB".parse(), Ok(ByteSize(10_000)));
        assert_eq!("64KiB".parse(), Ok(ByteSize(65_536)));
        assert_eq!("3TB".parse(), Ok(ByteSize(3_000_000_000_000)));
        assert_eq!("1TiB".parse(), Ok(ByteSize(1 << 40)));
        assert_eq!(ByteSize(52_400_000).to_string(), "52.4 MB");
        assert_eq!(ByteSize(1_230_000_000_000).to_string(), "1.23 TB");
        assert!("ten".parse::<ByteSize>().is_err());
        for beyond in ["99999999999GiB", "99999999999999999999", "16777216TiB"] {
            let error = beyond.parse::<ByteSize>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("`{beyond}` is too large")),
                "{error}"
            );
        }
        assert_eq!("16777215TiB".parse(), Ok(ByteSize(16_777_215 << 40)));
        let error = "kB".parse::<ByteSize>().unwrap_err().to_string();
        assert!(error.starts_with("`kB` is not a size"), "{error}");
    }
}
