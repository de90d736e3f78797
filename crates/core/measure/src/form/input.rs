//! The primitives of all forms: numbers, texts and byte strings, and the bytes that are left.
//!
//! Numbers are LEB128: seven bits a byte, the least significant first, the high bit set on all but
//! the last. A text is its length in bytes and its UTF-8.

use std::fmt;

/// The maximum number of values around another one, such as a metric within the metric of a pool.
/// Without it, a few kilobytes of hostile bytes would overflow the stack.
pub const NESTING_MAX: u32 = 8;

/// The reason why bytes cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormError {
    /// The bytes end within a value.
    Short,
    /// The encoder does not write such a value; the text describes it.
    Malformed(&'static str),
    /// Bytes follow the last value.
    Excess,
    /// The bytes have another version than this program's.
    Version(u64),
    /// The bytes are something else than a message of drumfire.
    Unknown,
    /// The checksum of a message differs.
    Altered,
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => f.write_str("unexpected end of data"),
            Self::Malformed(what) => write!(f, "malformed: {what}"),
            Self::Excess => f.write_str("extra bytes at the end"),
            Self::Version(version) => {
                let own = super::VERSION;
                write!(
                    f,
                    "unknown format version {version}; this program reads version {own}"
                )
            }
            Self::Unknown => f.write_str("a message of no known form"),
            Self::Altered => f.write_str("the message was altered on its way"),
        }
    }
}

impl std::error::Error for FormError {}

/// Appends a number.
pub fn push_number(out: &mut Vec<u8>, value: u64) {
    put_wide(out, u128::from(value));
}

/// Appends a number of up to 128 bits.
pub(crate) fn put_wide(out: &mut Vec<u8>, mut value: u128) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a number with its sign in zigzag form, as protobuf's `sint64`: small numbers of either
/// sign are short.
pub(crate) fn put_signed(out: &mut Vec<u8>, value: i64) {
    push_number(out, (value << 1 ^ value >> 63).cast_unsigned());
}

/// Appends a text.
pub fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

/// Appends a byte string.
pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// The bytes that are left to decode. A copy looks ahead without consuming.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    left: &'a [u8],
    nesting: u32,
}

impl<'a> Input<'a> {
    /// All of these bytes.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self {
            left: bytes,
            nesting: 0,
        }
    }

    /// The next number of up to 128 bits, in its one encoding.
    ///
    /// # Errors
    /// If the bytes end early or the number is longer than necessary.
    #[inline]
    pub(crate) fn wide(&mut self) -> Result<u128, FormError> {
        // Nearly all numbers of a histogram have one byte.
        if let [byte @ ..0x80, left @ ..] = self.left {
            self.left = left;
            return Ok(u128::from(*byte));
        }
        self.wide_of_many()
    }

    /// A number of several bytes, or the error at the end of the input.
    fn wide_of_many(&mut self) -> Result<u128, FormError> {
        let mut value = 0_u128;
        let mut shift = 0;
        loop {
            let [byte] = self.array()?;
            let bits = u128::from(byte & 0x7f);
            if shift + 7 > u128::BITS && bits >> (u128::BITS - shift) > 0 {
                return Err(FormError::Malformed("a number has more than 128 bits"));
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return if byte == 0 && shift > 0 {
                    Err(FormError::Malformed("a number is longer than necessary"))
                } else {
                    Ok(value)
                };
            }
            shift += 7;
            if shift >= u128::BITS {
                return Err(FormError::Malformed("a number has more than 128 bits"));
            }
        }
    }

    /// The next number.
    ///
    /// # Errors
    /// If the bytes end early, or the number has more than 64 bits or bytes than necessary.
    pub fn number(&mut self) -> Result<u64, FormError> {
        let wide = self.wide()?;
        u64::try_from(wide).map_err(|_| FormError::Malformed("a number has more than 64 bits"))
    }

    /// The next number with its sign, as [`put_signed`] wrote it.
    pub(crate) fn signed(&mut self) -> Result<i64, FormError> {
        let value = self.number()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// The next number, which counts items of at least one byte each.
    ///
    /// # Errors
    /// If there are fewer bytes than items, so that a false number makes no large allocation.
    pub fn length(&mut self) -> Result<usize, FormError> {
        let length = usize::try_from(self.number()?).map_err(|_| FormError::Short)?;
        match length <= self.left.len() {
            true => Ok(length),
            false => Err(FormError::Short),
        }
    }

    /// Reads the version, the first number of a value that travels alone.
    ///
    /// # Errors
    /// If the version is another one.
    pub fn version(&mut self, known: u64) -> Result<(), FormError> {
        match self.number()? {
            version if version == known => Ok(()),
            other => Err(FormError::Version(other)),
        }
    }

    /// All bytes that are left.
    #[must_use]
    pub const fn rest(self) -> &'a [u8] {
        self.left
    }

    /// The next byte string, which follows its length.
    ///
    /// # Errors
    /// If there are fewer bytes than its length.
    pub fn bytes(&mut self) -> Result<&'a [u8], FormError> {
        let length = self.length()?;
        let (bytes, rest) = self.left.split_at(length);
        self.left = rest;
        Ok(bytes)
    }

    /// The next text.
    ///
    /// # Errors
    /// As for [`Self::bytes`], or if the text is not UTF-8.
    pub fn text(&mut self) -> Result<&'a str, FormError> {
        let text = self.bytes()?;
        std::str::from_utf8(text).map_err(|_| FormError::Malformed("a text is not UTF-8"))
    }

    /// The next `N` bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], FormError> {
        let (array, rest) = self.left.split_first_chunk().ok_or(FormError::Short)?;
        self.left = rest;
        Ok(*array)
    }

    /// Reads a value within another of its type.
    pub(super) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, FormError>,
    ) -> Result<T, FormError> {
        if self.nesting == NESTING_MAX {
            return Err(FormError::Malformed("a value that is nested too deeply"));
        }
        self.nesting += 1;
        let value = read(self);
        self.nesting -= 1;
        value
    }

    /// Whether all bytes are read.
    pub(crate) const fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Checks that no bytes are left.
    ///
    /// # Errors
    /// If bytes are left.
    pub fn finish(self) -> Result<(), FormError> {
        match self.left.is_empty() {
            true => Ok(()),
            false => Err(FormError::Excess),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(bytes: &[u8]) -> Result<u128, FormError> {
        let mut input = Input::new(bytes);
        let value = input.wide()?;
        input.finish()?;
        Ok(value)
    }

    #[test]
    fn a_number_has_one_encoding() {
        for (value, bytes) in [
            (0_u128, &[0_u8][..]),
            (127, &[0x7f]),
            (128, &[0x80, 1]),
            (300, &[0xac, 2]),
        ] {
            let mut out = Vec::new();
            put_wide(&mut out, value);
            assert_eq!(out, bytes);
            assert_eq!(decoded(bytes), Ok(value));
        }
        let long = "a number is longer than necessary";
        assert_eq!(decoded(&[0x80, 0]), Err(FormError::Malformed(long)));
        assert_eq!(decoded(&[]), Err(FormError::Short));
        assert_eq!(decoded(&[0x80]), Err(FormError::Short));
        assert_eq!(decoded(&[1, 1]), Err(FormError::Excess));
        let wide = "a number has more than 128 bits";
        let mut most = [0xff; 19];
        most[18] = 3;
        assert_eq!(decoded(&most), Ok(u128::MAX));
        most[18] = 4;
        assert_eq!(decoded(&most), Err(FormError::Malformed(wide)));
        assert_eq!(decoded(&[0xff; 30]), Err(FormError::Malformed(wide)));
    }

    #[test]
    fn a_length_is_at_most_the_number_of_bytes_left() {
        assert_eq!(Input::new(&[3, 0, 0]).length(), Err(FormError::Short));
        assert_eq!(Input::new(&[2, 0, 0]).length(), Ok(2));
    }

    proptest! {
        #[test]
        fn every_number_comes_back(value in any::<u128>(), shift in 0_u32..128) {
            let mut out = Vec::new();
            put_wide(&mut out, value >> shift);
            prop_assert_eq!(decoded(&out), Ok(value >> shift));
        }

        #[test]
        fn what_decodes_encodes_to_the_same(
            bytes in prop::collection::vec(any::<u8>(), 0..20)
        ) {
            if let Ok(value) = decoded(&bytes) {
                let mut out = Vec::new();
                put_wide(&mut out, value);
                prop_assert_eq!(out, bytes);
            }
        }
    }
}
