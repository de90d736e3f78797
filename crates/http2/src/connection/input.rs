//! Input to frames: from the input where they stand there whole, put together where they don't.

use super::{Connection, Found};
use crate::frame::{FrameHeader, HEADER_BYTES, PAYLOAD_BYTES_MAX, flag, kind};
use crate::{Error, ErrorCode, NotHttp2, sniff};

/// The buffer of a frame in pieces is given back to the system when it has grown beyond this.
const PARTIAL_BYTES: usize = 1024;

/// The unit that the next byte of the input belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
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

impl Connection {
    /// Goes over the input until something is found; `None` when all is consumed.
    #[inline(never)]
    pub(super) fn advance(&mut self, input: &[u8], at: &mut usize) -> Result<Option<Found>, Error> {
        if self.failed {
            *at = input.len();
            return Ok(None);
        }
        loop {
            if self.due.any()
                && let Some(found) = self.due_event()
            {
                return Ok(Some(found));
            }
            let rest = &input[*at..];
            let found = match self.reading {
                Reading::Frame => {
                    let Some((header, payload)) = self.whole_frame(rest)? else {
                        if rest.is_empty() {
                            return Ok(None);
                        }
                        match self.collect(rest, at)? {
                            Collected::Starved => return Ok(None),
                            Collected::Whole(found) => {
                                if found.is_some() {
                                    return Ok(found);
                                }
                                continue;
                            }
                        }
                    };
                    *at += HEADER_BYTES + payload.len();
                    self.frame(header, payload)?
                }
                _ if rest.is_empty() => return Ok(None),
                Reading::Data { .. } => self.data(rest.len(), at),
                Reading::Skip(count) => {
                    let skipped = rest.len().min(count as usize);
                    *at += skipped;
                    self.reading = Reading::skip(count - skipped as u32);
                    None
                }
            };
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// The frame that stands whole at the input's start, as far as it is read as a whole.
    #[inline]
    fn whole_frame<'b>(&self, input: &'b [u8]) -> Result<Option<(FrameHeader, &'b [u8])>, Error> {
        if !self.partial.is_empty() || !self.peer.ready {
            return Ok(None);
        }
        let Some((header, rest)) = input.split_first_chunk() else {
            return Ok(None);
        };
        let header = FrameHeader::parse(header);
        let needed = self.admit(header)?;
        Ok(rest.get(..needed).map(|payload| (header, payload)))
    }

    /// Refuses a frame for its header; otherwise returns how much of its payload is needed to begin
    /// with it.
    #[inline]
    fn admit(&self, header: FrameHeader) -> Result<usize, Error> {
        if !self.peer.ready {
            first_frame(header)?;
        }
        if header.length > PAYLOAD_BYTES_MAX {
            return Err(Error::violation(
                ErrorCode::FRAME_SIZE_ERROR,
                "frame larger than allowed",
            ));
        }
        self.assembly.admit(header)?;
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
    fn collect(&mut self, mut rest: &[u8], at: &mut usize) -> Result<Collected, Error> {
        if !self.peer.ready && self.is_foreign(rest, at)? {
            return Ok(Collected::Starved);
        }
        let header = loop {
            let header = self.partial.first_chunk().map(FrameHeader::parse);
            let needed = match header {
                Some(header) => HEADER_BYTES + self.admit(header)?,
                None => HEADER_BYTES,
            };
            let missing = needed - self.partial.len();
            if let Some(header) = header
                && missing == 0
            {
                break header;
            }
            let (taken, after) = rest.split_at(missing.min(rest.len()));
            self.partial.extend_from_slice(taken);
            *at += taken.len();
            rest = after;
            if taken.len() < missing {
                return Ok(Collected::Starved);
            }
        };
        let mut partial = std::mem::take(&mut self.partial);
        let found = self.frame(header, &partial[HEADER_BYTES..])?;
        partial.clear();
        partial.shrink_to(PARTIAL_BYTES);
        self.partial = partial;
        Ok(Collected::Whole(found))
    }

    /// Whether the stream begins as no SETTINGS frame does; its protocol is then to be identified.
    fn is_foreign(&mut self, rest: &[u8], at: &mut usize) -> Result<bool, Error> {
        let first = self.partial.first().or_else(|| rest.first());
        if first.is_none_or(|&byte| byte == 0) {
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

    /// The verdict on an ambiguous beginning, once the stream has ended.
    pub(super) fn judge_end(&self) -> Option<Error> {
        let foreign = !self.peer.ready && self.partial.first().is_some_and(|&byte| byte != 0);
        foreign.then(|| Error::NotHttp2(sniff::judge_ended(&self.partial)))
    }
}

/// The result of adding to a frame.
enum Collected {
    /// All input is used up.
    Starved,
    /// The frame is whole, with its meaning.
    Whole(Option<Found>),
}

/// The server's first frame must be SETTINGS (RFC 9113 section 3.4).
fn first_frame(header: FrameHeader) -> Result<(), Error> {
    if header.kind > kind::CONTINUATION || header.length > PAYLOAD_BYTES_MAX {
        return Err(Error::NotHttp2(NotHttp2::Binary));
    }
    if header.kind != kind::SETTINGS || header.has(flag::ACK) {
        return Err(Error::protocol("the first frame is not SETTINGS"));
    }
    Ok(())
}
