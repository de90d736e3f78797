//! HEADERS and CONTINUATION: heads and trailers (RFC 9113 sections 6.2, 6.10 and 8.1).

use super::{Connection, Found, List};
use crate::frame::{FrameHeader, flag, kind, number_31};
use crate::response::{Role, Verdict, malformed};
use crate::streams::{BODILESS, HEAD_SEEN, Index, Lookup, REMOTE_ENDED, Stream, UNKNOWN};
use crate::{Error, ErrorCode, Limit, StreamError};

/// The buffer of a header block in pieces is given back to the system when it has grown beyond
/// this.
const BLOCK_BYTES: usize = 4 * 1024;
/// Bytes of a priority in HEADERS.
const PRIORITY_BYTES: usize = 5;

/// A header block that arrives in several frames.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    /// The stream that must go on; 0 when there is none.
    stream: u32,
    end: bool,
    /// Whether HEADERS makes its stream depend on itself.
    dependent: bool,
    block: Vec<u8>,
}

impl Assembly {
    /// Whether no block is under way.
    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.stream == 0
    }

    /// Within a header block nothing else may come (section 4.3).
    #[inline]
    pub(super) fn admit(&self, header: FrameHeader) -> Result<(), Error> {
        if header.kind == kind::CONTINUATION {
            if self.stream == 0 {
                return Err(Error::protocol("CONTINUATION without HEADERS"));
            }
            if self.stream != header.stream {
                return Err(Error::protocol("CONTINUATION on another stream"));
            }
        } else if self.stream != 0 {
            return Err(Error::protocol("a frame within a header block"));
        }
        Ok(())
    }
}

impl Connection {
    #[inline]
    pub(super) fn headers_frame(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Found>, Error> {
        if header.stream == 0 {
            return Err(Error::protocol("HEADERS on stream 0"));
        }
        let end = header.has(flag::END_STREAM);
        if !header.has(flag::PADDED | flag::PRIORITY) && header.has(flag::END_HEADERS) {
            return self.header_block(header.stream, payload, end, false);
        }
        let mut block = unpadded(header, payload)?;
        let mut dependent = false;
        if header.has(flag::PRIORITY) {
            if block.len() < PRIORITY_BYTES {
                return Err(Error::violation(
                    ErrorCode::FRAME_SIZE_ERROR,
                    "HEADERS too short",
                ));
            }
            dependent = number_31(block) == header.stream;
            block = &block[PRIORITY_BYTES..];
        }
        if header.has(flag::END_HEADERS) {
            return self.header_block(header.stream, block, end, dependent);
        }
        self.assembly.stream = header.stream;
        self.assembly.end = end;
        self.assembly.dependent = dependent;
        self.assembly.block.extend_from_slice(block);
        Ok(None)
    }

    pub(super) fn continuation(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Found>, Error> {
        if payload.is_empty() {
            self.idle()?;
        }
        let length = self.assembly.block.len() + payload.len();
        if length > self.settings.limits.head_bytes as usize {
            return Err(Error::Limit(Limit::Head));
        }
        self.assembly.block.extend_from_slice(payload);
        if !header.has(flag::END_HEADERS) {
            return Ok(None);
        }
        let Assembly { end, dependent, .. } = self.assembly;
        let mut block = std::mem::take(&mut self.assembly.block);
        let found = self.header_block(header.stream, &block, end, dependent)?;
        block.clear();
        block.shrink_to(BLOCK_BYTES);
        self.assembly = Assembly {
            block,
            ..Assembly::default()
        };
        Ok(found)
    }

    /// Reads a whole header block. It must be decoded whatever becomes of it, or the dynamic table
    /// would be lost.
    #[inline]
    fn header_block(
        &mut self,
        id: u32,
        block: &[u8],
        end: bool,
        dependent: bool,
    ) -> Result<Option<Found>, Error> {
        let Lookup::Open(index) = self.streams.lookup(id) else {
            return self.unexpected_block(id, block);
        };
        let role = if self.streams.get(index).is(HEAD_SEEN) {
            Role::Trailers
        } else {
            Role::Head
        };
        let (verdict, list) = match self.memory.recall(block, role, self.decoder.epoch()) {
            Some(at) => (Ok(self.memory.verdict(at)), List::Remembered(at as u8)),
            None => (self.decode(block, role)?, List::Decoded),
        };
        self.idle_frames = 0;
        let stream = self.streams.get(index);
        if stream.is(REMOTE_ENDED) {
            self.reset_at(index, ErrorCode::STREAM_CLOSED);
            return Ok(None);
        }
        let found = match verdict {
            Err(error) => Err(error),
            Ok(_) if dependent => Err(malformed("a stream that depends on itself")),
            Ok(verdict) => self.answer(index, (role, verdict), list, end),
        };
        Ok(match found {
            Ok(found) => Some(found),
            Err(error) => self.fail_stream(index, error),
        })
    }

    /// Goes on from a header block that is right by itself.
    #[inline]
    pub(super) fn answer(
        &mut self,
        index: Index,
        (role, verdict): (Role, Verdict),
        list: List,
        end: bool,
    ) -> Result<Found, StreamError> {
        match role {
            Role::Head => self.head(index, verdict, list, end),
            Role::Trailers => self.trailers(index, list, end),
        }
    }

    /// A block on a stream that is not open.
    #[cold]
    fn unexpected_block(&mut self, id: u32, block: &[u8]) -> Result<Option<Found>, Error> {
        let lookup = self.streams.lookup(id);
        if lookup == Lookup::Idle {
            return Err(Error::protocol("HEADERS on an idle stream"));
        }
        let _ = self.decode(block, Role::Head)?;
        self.unexpected(id, lookup)?;
        Ok(None)
    }

    /// HEADERS or DATA on a stream that was closed (section 5.1).
    pub(super) fn unexpected(&mut self, id: u32, lookup: Lookup) -> Result<(), Error> {
        match lookup {
            Lookup::Ended => {
                return Err(Error::violation(
                    ErrorCode::STREAM_CLOSED,
                    "a frame on a stream that has ended",
                ));
            }
            Lookup::ResetByPeer => self.output.rst_stream(id, ErrorCode::STREAM_CLOSED),
            _ => {}
        }
        self.idle()
    }

    /// Decodes and judges a block that is not remembered, and remembers it if that is safe.
    #[inline(never)]
    fn decode(&mut self, block: &[u8], role: Role) -> Result<Result<Verdict, StreamError>, Error> {
        let (fields, limits) = (&mut self.fields, &self.settings.limits);
        fields.begin(role);
        let effect = self
            .decoder
            .decode(block, |name, value| fields.note(name, value, limits))
            .map_err(|error| Error::violation(ErrorCode::COMPRESSION_ERROR, error.0))?;
        let verdict = self.fields.verdict();
        if let Ok(verdict) = verdict {
            let source = (effect, self.decoder.epoch());
            self.memory
                .learn((block, self.fields.list()), role, source, verdict);
        }
        Ok(verdict)
    }

    /// Goes on from a head, interim or final.
    #[inline]
    fn head(
        &mut self,
        index: Index,
        verdict: Verdict,
        list: List,
        end: bool,
    ) -> Result<Found, StreamError> {
        let Verdict {
            status,
            content_length,
        } = verdict;
        if matches!(status, 100..=199) {
            return self.interim(index, status, end);
        }
        let stream = self.streams.get_mut(index);
        stream.set(HEAD_SEEN);
        stream.body_remaining = if bodiless(stream, status) {
            0
        } else {
            content_length.unwrap_or(UNKNOWN)
        };
        let token = stream.token;
        if end {
            self.ended(index)?;
        }
        Ok(Found::Head {
            token,
            status,
            list,
            end,
        })
    }

    #[cold]
    fn interim(&mut self, index: Index, status: u16, end: bool) -> Result<Found, StreamError> {
        if status == 101 {
            // RFC 9113 section 8.6.
            return Err(malformed("status 101"));
        }
        if end {
            return Err(malformed("the stream ends with an interim response"));
        }
        let stream = self.streams.get_mut(index);
        if stream.interim >= self.settings.limits.interim {
            return Err(StreamError::Limit(Limit::Interim));
        }
        stream.interim += 1;
        let token = stream.token;
        Ok(Found::Interim { token, status })
    }

    fn trailers(&mut self, index: Index, list: List, end: bool) -> Result<Found, StreamError> {
        if !end {
            return Err(malformed("trailers that do not end the stream"));
        }
        let token = self.streams.get(index).token;
        self.ended(index)?;
        Ok(Found::Trailers { token, list })
    }

    /// The response is over, if its length agrees with its Content-Length (section 8.1.1).
    #[inline]
    pub(super) fn ended(&mut self, index: Index) -> Result<(), StreamError> {
        let stream = self.streams.get(index);
        if stream.body_remaining != 0 && stream.body_remaining != UNKNOWN {
            return Err(StreamError::Truncated);
        }
        self.streams.end(index);
        Ok(())
    }
}

/// Whether a response has no content, regardless of its fields (RFC 9110 section 6.4.1).
#[inline]
pub(super) const fn bodiless(stream: &Stream, status: u16) -> bool {
    stream.is(BODILESS) || matches!(status, 204 | 304)
}

/// A payload without its padding (section 6.1).
fn unpadded(header: FrameHeader, payload: &[u8]) -> Result<&[u8], Error> {
    if !header.has(flag::PADDED) {
        return Ok(payload);
    }
    let Some((&padding, rest)) = payload.split_first() else {
        return Err(Error::violation(
            ErrorCode::FRAME_SIZE_ERROR,
            "padded HEADERS without a length",
        ));
    };
    let length = rest.len().checked_sub(usize::from(padding));
    Ok(&rest[..length.ok_or(Error::protocol("more padding than payload"))?])
}
