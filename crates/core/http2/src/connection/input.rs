//! Splits input into frames: borrowed from the input if they are complete there, otherwise
//! assembled.
//!
//! The frames and the errors do not depend on how the input is split: a header is checked as soon
//! as it is complete, and the payload of any frame except DATA is collected until it is complete.
//! Never more than one frame of 16 KiB is stored. Payloads of DATA and of frames without a meaning
//! are not collected but passed on or skipped.
//!
//! The first frame shows whether the peer uses HTTP/2 at all: if it can't be the beginning of a
//! SETTINGS frame, up to [`sniff::TEXT_BYTES`] bytes are collected and identified, so that the user
//! sees which protocol answered.

use super::heads::Heads;
use crate::frame::{FrameHeader, HEADER_BYTES, PAYLOAD_BYTES_MAX, flag, kind};
use crate::{Error, ErrorCode, NotHttp2, sniff};

/// The buffer of a frame in pieces is returned to the system if it has grown beyond this.
const PARTIAL_BYTES: usize = 1024;

/// The unit that the next byte of the input belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
    /// The server's first frame, which must be SETTINGS. Only a GOAWAY may precede it.
    First,
    /// A frame's header, or the part of a frame that is read together with it.
    Frame,
    /// The payload of DATA, which is passed on as it arrives.
    Data {
        id: u32,
        /// Bytes of data to come, at least 1.
        remaining: u32,
        /// Bytes of padding after them.
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

/// The position in the server's bytes. While [`Reading`] is at a frame, [`Input::next_frame`] reads
/// frames; the unread part of a DATA frame is skipped by changing `reading`.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) reading: Reading,
    /// A partially received frame, including its header.
    partial: Vec<u8>,
    /// The bytes of the current frame, and of the frames that it continues, that are in no event yet.
    pub(super) frame_bytes: usize,
}

/// The part of a frame that is read at once: for DATA, at most the length of the padding.
pub(super) enum NextFrame<'a> {
    /// All input is consumed.
    Starved,
    /// A frame that the input contains completely.
    Whole(FrameHeader, &'a [u8]),
    /// A frame that was assembled, starting with its header. [`Input::reuse`] takes its bytes back.
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

    /// Counts the part of a frame that is read at once.
    #[inline]
    pub(super) fn count(&mut self, header: FrameHeader, payload: &[u8]) {
        if header.kind != kind::CONTINUATION {
            self.frame_bytes = 0;
        }
        self.frame_bytes += HEADER_BYTES + payload.len();
    }

    /// Whether the next byte begins a frame, which may be of any type.
    #[inline]
    pub(super) fn is_at_frame(&self) -> bool {
        matches!(self.reading, Reading::Frame) && self.partial.is_empty()
    }

    /// Reads the next frame from the input's start, and adds its length to `at`.
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

    /// The frame at the input's start, if the input contains all of it.
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

    /// Refuses a frame because of its header; otherwise returns the number of bytes of its payload
    /// that are needed to begin with it.
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

    /// Adds input to a frame that arrives in pieces.
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
                // After a GOAWAY that came first, SETTINGS are still expected.
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

    /// Whether the stream begins differently from a SETTINGS frame; its protocol has to be
    /// identified then.
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

    /// Takes back the bytes of an assembled frame, to use them for the next one.
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

/// The server's first frame must be SETTINGS (RFC 9113 section 3.4). A GOAWAY is allowed: a server
/// that shuts down may begin a connection with it, and its meaning is clear.
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
