//! Our own binary form of measurements: lossless, and bounded against hostile bytes.
//!
//! Here are the numbers, texts and lists of which all forms consist, and the forms of what a plan
//! has. A type of this crate has its form in a file `form` beneath its own, which writes with `put`
//! and its kin and reads from an [`Input`]; what it reads ends with [`Input::end`]. Each form that
//! travels alone begins with a version of its own.
//!
//! Numbers are LEB128: seven bits a byte, the least first, the high bit set on all but the last. A
//! text is its length in bytes and its UTF-8. Counts by kind carry the stable names of the kinds,
//! so that a list may grow without a new version. Each value has exactly one encoding, so that what
//! decodes encodes to the same bytes, and memory is taken in proportion to the bytes.
//!
//! Bytes may come from a file that was cut off or changed, or from another machine. A decoder that
//! keeps these rules needs no other check: read a count of things by [`Input::length`] or
//! [`Input::several`], which bound it by the bytes that are left; compare each number with the
//! greatest that its field can have; and refuse what the encoder would not have written (an order,
//! a zero, a name) with [`CodecError::Malformed`]. Then no bytes make a decoder panic, take memory
//! beyond a multiple of their length, or give a value that recording could not have made.

pub(crate) mod stages;
pub(crate) mod stop_reason;
pub(crate) mod threshold;

use crate::Outcome;
use std::fmt;

/// The reason for which bytes can't be decoded. Bytes of a stored run come from a disk and from
/// other programs: any bytes give a value or one of these, and none a panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodecError {
    /// They end within a value.
    Short,
    /// A value that the encoder does not write; the text names its place.
    Malformed(&'static str),
    /// They go on behind the last value.
    Excess,
    /// They were written by a later version of this program.
    Version(u64),
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => f.write_str("unexpected end of data"),
            Self::Malformed(what) => write!(f, "malformed: {what}"),
            Self::Excess => f.write_str("extra bytes at the end"),
            Self::Version(version) => {
                write!(f, "unknown format version {version}")
            }
        }
    }
}

impl std::error::Error for CodecError {}

/// Appends a number.
pub(crate) fn put(out: &mut Vec<u8>, value: u64) {
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

/// Appends a number with its sign in zigzag form, as protobuf's `sint64`: small ones of either sign
/// are short.
pub(crate) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, (value << 1 ^ value >> 63).cast_unsigned());
}

/// Appends a text.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Appends a number that may be missing: whether it is there, and the number.
pub(crate) fn put_optional(out: &mut Vec<u8>, value: Option<u64>) {
    put(out, value.is_some().into());
    if let Some(value) = value {
        put(out, value);
    }
}

/// Appends the counts above 0 with their names, in the order in which they come. [`Input::named`]
/// expects the same order.
pub(crate) fn put_named(out: &mut Vec<u8>, counts: impl Iterator<Item = (&'static str, u64)>) {
    let used: Vec<_> = counts.filter(|(_, count)| *count > 0).collect();
    put(out, used.len() as u64);
    for (name, count) in used {
        put_text(out, name);
        put(out, count);
    }
}

/// The bytes that are left to decode. A copy looks ahead without consuming.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    left: &'a [u8],
}

impl<'a> Input<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes }
    }

    /// The next byte.
    fn byte(&mut self) -> Result<u8, CodecError> {
        let (first, rest) = self.left.split_first().ok_or(CodecError::Short)?;
        self.left = rest;
        Ok(*first)
    }

    /// The next number of up to 128 bits, in its one encoding.
    #[inline]
    pub(crate) fn wide(&mut self) -> Result<u128, CodecError> {
        // Nearly all numbers of a histogram are of one byte.
        if let [byte @ ..0x80, left @ ..] = self.left {
            self.left = left;
            return Ok(u128::from(*byte));
        }
        self.wide_of_many()
    }

    /// A number of several bytes, or none where the input has ended.
    fn wide_of_many(&mut self) -> Result<u128, CodecError> {
        let mut value = 0_u128;
        let mut shift = 0;
        loop {
            let byte = self.byte()?;
            let bits = u128::from(byte & 0x7f);
            if shift + 7 > u128::BITS && bits >> (u128::BITS - shift) > 0 {
                return Err(CodecError::Malformed("a number has more than 128 bits"));
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return if byte == 0 && shift > 0 {
                    Err(CodecError::Malformed("a number is longer than necessary"))
                } else {
                    Ok(value)
                };
            }
            shift += 7;
            if shift >= u128::BITS {
                return Err(CodecError::Malformed("a number has more than 128 bits"));
            }
        }
    }

    /// The next number.
    pub(crate) fn number(&mut self) -> Result<u64, CodecError> {
        let wide = self.wide()?;
        u64::try_from(wide).map_err(|_| CodecError::Malformed("a number has more than 64 bits"))
    }

    /// The next number with its sign, as [`put_signed`] wrote it.
    pub(crate) fn signed(&mut self) -> Result<i64, CodecError> {
        let value = self.number()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// The next number, which counts things of at least one byte each. It can't exceed the number
    /// of bytes that are left, so that a false one makes no large allocation.
    pub(crate) fn length(&mut self) -> Result<usize, CodecError> {
        let length = usize::try_from(self.number()?).map_err(|_| CodecError::Short)?;
        if length > self.left.len() {
            return Err(CodecError::Short);
        }
        Ok(length)
    }

    /// Reads the version, the first number of a form, which must be this one.
    pub(crate) fn version(&mut self, known: u64) -> Result<(), CodecError> {
        match self.number()? {
            version if version == known => Ok(()),
            other => Err(CodecError::Version(other)),
        }
    }

    /// The next number, of up to 32 bits.
    pub(crate) fn small(&mut self) -> Result<u32, CodecError> {
        let number = self.number()?;
        u32::try_from(number).map_err(|_| CodecError::Malformed("a number has more than 32 bits"))
    }

    /// The next number, of up to 16 bits.
    pub(crate) fn short(&mut self) -> Result<u16, CodecError> {
        let number = self.number()?;
        u16::try_from(number).map_err(|_| CodecError::Malformed("a number has more than 16 bits"))
    }

    /// Everything that is left, which has a form with a version of its own.
    pub(crate) const fn rest(self) -> &'a [u8] {
        self.left
    }

    /// The next byte string, behind its length.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], CodecError> {
        let length = self.length()?;
        let (bytes, rest) = self.left.split_at(length);
        self.left = rest;
        Ok(bytes)
    }

    /// The next text.
    pub(crate) fn text(&mut self) -> Result<&'a str, CodecError> {
        let text = self.bytes()?;
        std::str::from_utf8(text).map_err(|_| CodecError::Malformed("a text is not UTF-8"))
    }

    /// The next number, which is 1 for yes and 0 for no.
    pub(crate) fn flag(&mut self) -> Result<bool, CodecError> {
        match self.number()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(CodecError::Malformed("a flag is neither 0 nor 1")),
        }
    }

    /// The next number that may be missing, as [`put_optional`] wrote it.
    pub(crate) fn optional(&mut self) -> Result<Option<u64>, CodecError> {
        self.flag()?.then(|| self.number()).transpose()
    }

    /// The next outcome, by its name.
    pub(crate) fn outcome(&mut self) -> Result<Outcome, CodecError> {
        let name = self.text()?;
        let outcome = Outcome::ALL.iter().find(|outcome| outcome.name() == name);
        outcome
            .copied()
            .ok_or(CodecError::Malformed("an unknown outcome"))
    }

    /// A list: how many there are, and each of them.
    pub(crate) fn several<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Result<T, CodecError>,
    ) -> Result<Vec<T>, CodecError> {
        let mut all = Vec::new();
        for _ in 0..self.length()? {
            all.push(one(self)?);
        }
        Ok(all)
    }

    /// Reads the counts that [`put_named`] wrote, and calls `take` with the index of each name
    /// within `names` and its count.
    ///
    /// Names must come in the order of `names`, each once and with a count above 0; an unknown name
    /// is malformed, since a count without its kind would be lost.
    pub(crate) fn named(
        &mut self,
        names: impl Iterator<Item = &'static str> + Clone,
        mut take: impl FnMut(usize, u64),
    ) -> Result<(), CodecError> {
        let mut next = 0;
        for _ in 0..self.length()? {
            let name = self.text()?;
            let place = names.clone().position(|known| known == name);
            let place = place.ok_or(CodecError::Malformed("a count has an unknown name"))?;
            let count = self.number()?;
            if place < next || count == 0 {
                return Err(CodecError::Malformed("counts by name are out of order"));
            }
            next = place + 1;
            take(place, count);
        }
        Ok(())
    }

    /// Checks that no bytes are left. A form that is read without this accepts bytes behind its
    /// end.
    pub(crate) fn end(self) -> Result<(), CodecError> {
        if self.left.is_empty() {
            Ok(())
        } else {
            Err(CodecError::Excess)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(bytes: &[u8]) -> Result<u128, CodecError> {
        let mut input = Input::new(bytes);
        let value = input.wide()?;
        input.end()?;
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
        assert_eq!(decoded(&[0x80, 0]), Err(CodecError::Malformed(long)));
        assert_eq!(decoded(&[]), Err(CodecError::Short));
        assert_eq!(decoded(&[0x80]), Err(CodecError::Short));
        assert_eq!(decoded(&[1, 1]), Err(CodecError::Excess));
        let wide = "a number has more than 128 bits";
        let mut most = [0xff; 19];
        most[18] = 3;
        assert_eq!(decoded(&most), Ok(u128::MAX));
        most[18] = 4;
        assert_eq!(decoded(&most), Err(CodecError::Malformed(wide)));
        assert_eq!(decoded(&[0xff; 30]), Err(CodecError::Malformed(wide)));
    }

    #[test]
    fn a_length_is_no_longer_than_what_is_left() {
        assert_eq!(Input::new(&[3, 0, 0]).length(), Err(CodecError::Short));
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
