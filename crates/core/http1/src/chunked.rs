//! The chunked transfer coding (RFC 9112 section 7.1), byte by byte where it frames and slice by
//! slice where it carries data.
//!
//! ```text
//!      hex digit                             CR        LF, size > 0
//!       ┌──┐     ┌────────────────────────────────┐  ┌──────────────► Data ─► DataCr ─► DataLf ─► Size
//!     ┌─┴──▼─┐   │ SP, HTAB   ┌───────────┐  CR  ┌▼──┴────┐
//!  ──►│ Size ├───┼───────────►│ SizeSpace ├─────►│ SizeLf │ LF, size 0
//!     └──────┘   │            └─────┬─────┘      └▲──┬────┘
//!                │ ;              ; │         CR  │  └──► TrailerStart ─► TrailerName ─► TrailerValue
//!                │            ┌─────▼─────┐       │          ▲    │ CR                        │ CR
//!                └───────────►│ Extension ├───────┘          │    ▼                           ▼
//!                             └───────────┘                  │  EndLf ─► done     TrailerLf ──┤
//!                                                            └────────────────────────────────┘
//! ```

use crate::scan::{is_text, is_token};
use crate::{Error, Limits, Notice, Notices};

/// The number of digits that any size needs; leading zeros before them are padding and count as
/// extension bytes.
const SIZE_DIGITS: u8 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Size,
    SizeSpace,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerLf,
    EndLf,
}

/// A decoder for one chunked body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunked {
    /// The size as far as it is read; within data, the number of bytes still to come.
    size: u64,
    extension_bytes: u32,
    trailer_bytes: u32,
    trailer_count: u32,
    digits: u8,
    phase: Phase,
}

/// The result of one step through the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// All input was framing.
    More,
    /// This many bytes of data, which end at the end of the consumed input.
    Data(usize),
    /// The body and its trailers are complete.
    Done,
}

impl Chunked {
    pub(crate) fn new() -> Self {
        Self {
            size: 0,
            extension_bytes: 0,
            trailer_bytes: 0,
            trailer_count: 0,
            digits: 0,
            phase: Phase::Size,
        }
    }

    /// Advances through the input to the next data, the body's end or the input's end. Returns how
    /// many bytes it consumed. Allows at most `allowed` bytes of data.
    pub(crate) fn advance(
        &mut self,
        input: &[u8],
        allowed: u64,
        limits: &Limits,
        notices: &mut Notices,
    ) -> Result<(usize, Piece), Error> {
        let mut at = 0;
        while let Some(&byte) = input.get(at) {
            if self.phase == Phase::Data {
                if allowed == 0 {
                    return Err(Error::LimitBody);
                }
                let length = clip(self.size.min(allowed), input.len() - at);
                self.size -= length as u64;
                if self.size == 0 {
                    self.phase = Phase::DataCr;
                }
                return Ok((at + length, Piece::Data(length)));
            }
            at += 1;
            if self.step(byte, limits, notices)? {
                return Ok((at, Piece::Done));
            }
        }
        Ok((at, Piece::More))
    }

    /// Handles one byte of framing; returns whether it was the last of the body.
    fn step(&mut self, byte: u8, limits: &Limits, notices: &mut Notices) -> Result<bool, Error> {
        match self.phase {
            Phase::Size | Phase::SizeSpace | Phase::Extension => {
                self.size_line(byte, limits, notices)?
            }
            Phase::SizeLf => {
                expect(byte, b'\n', Error::Chunk)?;
                self.phase = if self.size == 0 {
                    Phase::TrailerStart
                } else {
                    Phase::Data
                };
            }
            Phase::Data => debug_assert!(false, "data is not framing"),
            Phase::DataCr => {
                expect(byte, b'\r', Error::Chunk)?;
                self.phase = Phase::DataLf;
            }
            Phase::DataLf => {
                expect(byte, b'\n', Error::Chunk)?;
                (self.phase, self.digits) = (Phase::Size, 0);
            }
            _ => return self.trailer(byte, limits, notices),
        }
        Ok(false)
    }

    fn size_line(&mut self, byte: u8, limits: &Limits, notices: &mut Notices) -> Result<(), Error> {
        match (self.phase, byte) {
            (Phase::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                return self.digit(byte, limits);
            }
            (Phase::Size, _) if self.digits == 0 => return Err(Error::Chunk),
            (_, b'\r') => self.phase = Phase::SizeLf,
            (Phase::Size | Phase::SizeSpace, b' ' | b'\t') => {
                notices.insert(Notice::ChunkSpace);
                self.phase = Phase::SizeSpace;
                return self.count_extension(limits);
            }
            (Phase::Size | Phase::SizeSpace, b';') => {
                self.phase = Phase::Extension;
                return self.count_extension(limits);
            }
            (Phase::Extension, _) if is_text(byte) => return self.count_extension(limits),
            _ => return Err(Error::Chunk),
        }
        Ok(())
    }

    /// RFC 9112 section 7.1: recipients must expect sizes that do not fit.
    fn digit(&mut self, byte: u8, limits: &Limits) -> Result<(), Error> {
        if self.digits == 0 {
            self.size = 0;
        }
        if self.size >> 60 != 0 {
            return Err(Error::Chunk);
        }
        let digit = char::from(byte).to_digit(16).ok_or(Error::Chunk)?;
        self.size = self.size << 4 | u64::from(digit);
        if self.digits == SIZE_DIGITS {
            return self.count_extension(limits);
        }
        self.digits += 1;
        Ok(())
    }

    fn count_extension(&mut self, limits: &Limits) -> Result<(), Error> {
        self.extension_bytes += 1;
        if self.extension_bytes > limits.chunk_extension_bytes {
            return Err(Error::LimitChunkExtension);
        }
        Ok(())
    }

    /// Trailer fields are checked and dropped: they must not be merged into the head unless their
    /// definition allows it (RFC 9110 section 6.5). Returns whether the byte was the last of the
    /// trailer section.
    fn trailer(&mut self, byte: u8, limits: &Limits, notices: &mut Notices) -> Result<bool, Error> {
        self.trailer_bytes += 1;
        if self.trailer_bytes > limits.head_bytes {
            return Err(Error::LimitHead);
        }
        self.phase = match (self.phase, byte) {
            (Phase::TrailerStart, b'\r') => Phase::EndLf,
            (Phase::TrailerStart, b' ' | b'\t') if self.trailer_count > 0 => {
                notices.insert(Notice::ObsFold);
                Phase::TrailerValue
            }
            (Phase::TrailerStart, _) if is_token(byte) => {
                self.trailer_count += 1;
                if self.trailer_count > limits.header_count {
                    return Err(Error::LimitHeaderCount);
                }
                Phase::TrailerName
            }
            (Phase::TrailerName, b':') => Phase::TrailerValue,
            (Phase::TrailerName, _) if is_token(byte) => Phase::TrailerName,
            (Phase::TrailerValue, b'\r') => Phase::TrailerLf,
            (Phase::TrailerValue, _) if is_text(byte) => Phase::TrailerValue,
            (Phase::TrailerLf, b'\n') => Phase::TrailerStart,
            (Phase::EndLf, b'\n') => return Ok(true),
            _ => return Err(Error::Trailer),
        };
        Ok(false)
    }
}

fn expect(byte: u8, expected: u8, error: Error) -> Result<(), Error> {
    if byte == expected { Ok(()) } else { Err(error) }
}

/// The smaller of a count that may not fit into memory and a length that does.
pub(crate) fn clip(count: u64, length: usize) -> usize {
    usize::try_from(count).map_or(length, |count| count.min(length))
}
