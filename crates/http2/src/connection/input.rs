//! Input to frames: from the input where they stand there whole, put together where they don't.
//!
//! However the input is cut, the frames and the errors are the same: a header is judged as soon as
//! it is whole, and the payload of any frame but DATA is gathered until it is. No more than one
//! frame of 16 KiB is ever held back. Payloads of DATA and of frames without a meaning are not
//! gathered but passed on or skipped.
//!
//! The first frame tells whether the peer speaks HTTP/2 at all: a beginning that no SETTINGS frame
//! has is gathered up to [`sniff::TEXT_BYTES`] and identified, so that the user reads which
//! protocol answered.

use super::heads::Heads;
use crate::frame::{FrameHeader, HEADER_BYTES, PAYLOAD_BYTES_MAX, flag, kind};
use crate::{Error, ErrorCode, NotHttp2, sniff};

/// The buffer of a frame in pieces is given back to the system when it has grown beyond this.
const PARTIAL_BYTES: usize = 1024;

/// The unit that the next byte of the input belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
    /// The server's first frame, which must be SETTINGS. Only a GOAWAY may come before it.
    First,
    /// A frame's header, or with it the rest that is read as a whole.
    Frame,
    /// The payload of DATA, which is passed on as it comes.
    Data {
        id: u32,
        /// Bytes of data to come, at least 1.
        remaining: u32,
        /// Bytes of padding behind them.
        padding: u32,
        /// Whether the stream ends with the frame.
        end: bool,
    },
    /// This many bytes without a meaning, at least 1.
    Skip(u32),
    /// Nothing more: the connection has failed.
    Over,
}

impl Reading {
    /// Skips this many bytes.
    pub(super) const fn skip(count: u32) -> Self {
        if count == 0 {
            Self::Frame
        } else {
            Self::Skip(count)
        }
    }
}

/// The place in the server's bytes. While [`Reading`] is at a frame, [`Input::next_frame`] takes
/// frames; the unread part of a frame of DATA is passed over by changing `reading`.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) reading: Reading,
    /// A frame that has not arrived whole; its header at least.
    partial: Vec<u8>,
    /// The bytes of the current frame, and of those that it continues, that no event has brought.
    pub(super) frame_bytes: usize,
}

/// A frame as far as it is read as a whole: of DATA, no more than the padding's length.
pub(super) enum NextFrame<'a> {
    /// All input is used up.
    Starved,
    /// It stands in the input.
    Whole(FrameHeader, &'a [u8]),
    /// It was put together, from its header on. The bytes come back with [`Input::reuse`].
    Collected(FrameHeader, Vec<u8>),
}

impl Input {
    pub(super) const fn new() -> Self {
        Self {
            reading: Reading::First,
            partial: Vec::new(),
            frame_bytes: 0,
        }
    }

    /// Counts the part of a frame that is read as a whole.
    #[inline]
    pub(super) fn count(&mut self, header: FrameHeader, payload: &[u8]) {
        if header.kind != kind::CONTINUATION {
            self.frame_bytes = 0;
        }
        self.frame_bytes += HEADER_BYTES + payload.len();
    }

    /// Whether the next byte begins a frame, which any may be.
    #[inline]
    pub(super) fn is_at_frame(&self) -> bool {
        matches!(self.reading, Reading::Frame) && self.partial.is_empty()
    }

    /// Takes the next frame from the input's start, and adds its length to `at`.
    #[inline]
    pub(super) fn next_frame<'a>(
        &mut self,
        input: &'a [u8],
        at: &mut usize,
        heads: &Heads,
    ) -> Result<NextFrame<'a>, Error> {
        if let Some((header, payload)) = self.whole_frame(input, heads)? {
            *at += HEADER_BYTES + payload.len();
            return Ok(NextFrame::Whole(header, payload));
        }
        if input.is_empty() {
            return Ok(NextFrame::Starved);
        }
        self.collect(input, at, heads)
    }

    /// The frame that stands whole at the input's start.
    #[inline]
    fn whole_frame<'a>(
        &self,
        input: &'a [u8],
        heads: &Heads,
    ) -> Result<Option<(FrameHeader, &'a [u8])>, Error> {
        if !self.is_at_frame() {
            return Ok(None);
        }
        let Some((header, rest)) = input.split_first_chunk() else {
            return Ok(None);
        };
        let header = FrameHeader::parse(header);
        let needed = self.admit(header, heads)?;
        Ok(rest.get(..needed).map(|payload| (header, payload)))
    }

    /// Refuses a frame for its header; otherwise returns the number of bytes of its payload that
    /// are needed to begin with it.
    #[inline]
    fn admit(&self, header: FrameHeader, heads: &Heads) -> Result<usize, Error> {
        if matches!(self.reading, Reading::First) {
            first_frame(header)?;
        }
        if header.length > PAYLOAD_BYTES_MAX {
            return Err(Error::violation(
                ErrorCode::FRAME_SIZE_ERROR,
                "frame larger than allowed",
            ));
        }
        heads.admit(header)?;
        match header.kind {
            kind::DATA => {
                let padded = header.has(flag::PADDED);
                if padded && header.length == 0 {
                    return Err(Error::violation(
                        ErrorCode::FRAME_SIZE_ERROR,
                        "padded DATA without a length",
                    ));
                }
                Ok(usize::from(padded))
            }
            kind::HEADERS..=kind::CONTINUATION => Ok(header.length as usize),
            _ => Ok(0),
        }
    }

    /// Adds to a frame that arrives in pieces.
    #[cold]
    fn collect<'a>(
        &mut self,
        mut rest: &[u8],
        at: &mut usize,
        heads: &Heads,
    ) -> Result<NextFrame<'a>, Error> {
        if self.is_foreign(rest, at)? {
            return Ok(NextFrame::Starved);
        }
        loop {
            let header = self.partial.first_chunk().map(FrameHeader::parse);
            let needed = match header {
                Some(header) => HEADER_BYTES + self.admit(header, heads)?,
                None => HEADER_BYTES,
            };
            let missing = needed - self.partial.len();
            if let Some(header) = header
                && missing == 0
            {
                // SETTINGS are still awaited behind a GOAWAY that came first.
                if !matches!(self.reading, Reading::First) || header.kind != kind::GOAWAY {
                    self.reading = Reading::Frame;
                }
                let bytes = std::mem::take(&mut self.partial);
                return Ok(NextFrame::Collected(header, bytes));
            }
            let (taken, after) = rest.split_at(missing.min(rest.len()));
            self.partial.extend_from_slice(taken);
            *at += taken.len();
            rest = after;
            if taken.len() < missing {
                return Ok(NextFrame::Starved);
            }
        }
    }

    /// Whether the stream begins as no SETTINGS frame does; its protocol is then to be identified.
    fn is_foreign(&mut self, rest: &[u8], at: &mut usize) -> Result<bool, Error> {
        let first = self.partial.first().or_else(|| rest.first());
        if !matches!(self.reading, Reading::First) || first.is_none_or(|&byte| byte == 0) {
            return Ok(false);
        }
        let taken = rest.len().min(sniff::TEXT_BYTES - self.partial.len());
        self.partial.extend_from_slice(&rest[..taken]);
        *at += rest.len();
        match sniff::judge(&self.partial) {
            Some(foreign) => Err(Error::NotHttp2(foreign)),
            None => Ok(true),
        }
    }

    /// Takes the bytes of a frame back that was put together, to be used for the next.
    pub(super) fn reuse(&mut self, mut bytes: Vec<u8>) {
        bytes.clear();
        bytes.shrink_to(PARTIAL_BYTES);
        self.partial = bytes;
    }

    /// The verdict on an ambiguous beginning, once the stream has ended.
    pub(super) fn judge_end(&self) -> Option<Error> {
        let foreign = matches!(self.reading, Reading::First)
            && self.partial.first().is_some_and(|&byte| byte != 0);
        foreign.then(|| Error::NotHttp2(sniff::judge_ended(&self.partial)))
    }

    /// Ignores all further input.
    pub(super) fn abandon(&mut self) {
        self.reading = Reading::Over;
        self.partial = Vec::new();
    }
}

/// The server's first frame must be SETTINGS (RFC 9113 section 3.4). A GOAWAY is let pass: a server
/// that shuts down may greet a connection with it, whose meaning is plain.
fn first_frame(header: FrameHeader) -> Result<(), Error> {
    if header.kind > kind::CONTINUATION || header.length > PAYLOAD_BYTES_MAX {
        return Err(Error::NotHttp2(NotHttp2::Binary));
    }
    let is_settings = header.kind == kind::SETTINGS && !header.has(flag::ACK);
    if !is_settings && header.kind != kind::GOAWAY {
        return Err(Error::protocol("the first frame is not SETTINGS"));
    }
    Ok(())
}
