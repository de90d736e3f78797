//! HEADERS and CONTINUATION: heads and trailers (RFC 9113 sections 6.2, 6.10 and 8.1).
//!
//! A block of a stream that no longer exists is decoded, too, and its fields are dropped: otherwise
//! the table would differ from the server's, and every later head would be wrong (RFC 9113 section
//! 4.3).

use super::found::{Found, FoundList};
use super::shared::Shared;
use crate::frame::{FrameHeader, flag, kind, number_31};
use crate::hpack::Decoder;
use crate::memory::Memory;
use crate::response::{Fields, Role, Verdict};
use crate::streams::{HEAD_SEEN, Index, REMOTE_ENDED, StreamLookup, UNKNOWN};
use crate::{Error, ErrorCode, Headers, LimitKind, Limits, StreamError};

/// The initial size of a decoder's table (RFC 9113 section 6.5.2), which never changes here.
const TABLE_BYTES: usize = 4096;
/// The buffer of a header block in pieces is returned to the system if it has grown beyond this.
const BLOCK_BYTES: usize = 4 * 1024;
/// The length of the priority in HEADERS.
const PRIORITY_BYTES: usize = 5;

/// The heads and trailers of all responses: the current block, the server's table, and the
/// remembered blocks.
///
/// Blocks are decoded in the order of arrival, even if their streams have failed, because each may
/// change the table. [`Heads::usual_block`] and [`Heads::recall_whole`] handle only remembered
/// blocks, and change nothing if they return `None`.
#[derive(Debug)]
pub(super) struct Heads {
    assembly: BlockAssembly,
    decoder: Decoder,
    memory: Memory,
    fields: Fields,
}

/// A header block that arrives in several frames.
#[derive(Debug, Default)]
struct BlockAssembly {
    /// The stream whose next frame must come; 0 outside of a block.
    stream: u32,
    end: bool,
    /// Whether its HEADERS makes the stream depend on itself, which is a stream error (section
    /// 5.3.1 of RFC 7540).
    dependent: bool,
    block: Vec<u8>,
}

/// A complete header block.
#[derive(Clone, Copy)]
struct Block<'a> {
    stream: u32,
    bytes: &'a [u8],
    end: bool,
    /// Whether HEADERS makes its stream depend on itself.
    dependent: bool,
}

impl Heads {
    pub(super) fn new() -> Self {
        Self {
            assembly: BlockAssembly::default(),
            decoder: Decoder::new(TABLE_BYTES),
            memory: Memory::default(),
            fields: Fields::new(),
        }
    }

    /// Whether a block has begun but not ended.
    #[inline]
    pub(super) const fn is_assembling(&self) -> bool {
        self.assembly.stream != 0
    }

    /// Within a header block no other frame may come (section 4.3).
    #[inline]
    pub(super) fn admit(&self, header: FrameHeader) -> Result<(), Error> {
        let stream = self.assembly.stream;
        if header.kind == kind::CONTINUATION {
            if stream == 0 {
                return Err(Error::protocol("CONTINUATION without HEADERS"));
            }
            if stream != header.stream {
                return Err(Error::protocol("CONTINUATION on another stream"));
            }
        } else if stream != 0 {
            return Err(Error::protocol("a frame within a header block"));
        }
        Ok(())
    }

    /// Frees the memory of an unfinished block.
    pub(super) fn abandon(&mut self) {
        self.assembly = BlockAssembly::default();
    }

    /// The fields that were found, which are valid until another block is read.
    #[inline]
    pub(super) fn headers(&self, list: FoundList) -> Headers<'_> {
        match list.place() {
            None => self.fields.headers(),
            Some(place) => Headers::new(self.memory.list(place)),
        }
    }

    /// Reads HEADERS: the complete block, or its beginning.
    #[inline]
    pub(super) fn headers_frame(
        &mut self,
        shared: &mut Shared,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Found>, Error> {
        if header.stream == 0 {
            return Err(Error::protocol("HEADERS on stream 0"));
        }
        let end = header.has(flag::END_STREAM);
        if !header.has(flag::PADDED | flag::PRIORITY) && header.has(flag::END_HEADERS) {
            let block = Block {
                stream: header.stream,
                bytes: payload,
                end,
                dependent: false,
            };
            return self.block(shared, block);
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
            let block = Block {
                stream: header.stream,
                bytes: block,
                end,
                dependent,
            };
            return self.block(shared, block);
        }
        self.assembly.stream = header.stream;
        self.assembly.end = end;
        self.assembly.dependent = dependent;
        self.assembly.block.extend_from_slice(block);
        Ok(None)
    }

    /// Reads CONTINUATION. The limit of a decoded head also limits the block so far, before
    /// anything is decoded.
    pub(super) fn continuation(
        &mut self,
        shared: &mut Shared,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Found>, Error> {
        if payload.is_empty() {
            shared.idle()?;
        }
        let length = self.assembly.block.len() + payload.len();
        if length > shared.settings.limits.head_bytes as usize {
            return Err(Error::Limit(LimitKind::Head));
        }
        self.assembly.block.extend_from_slice(payload);
        if !header.has(flag::END_HEADERS) {
            return Ok(None);
        }
        let mut block = std::mem::take(&mut self.assembly.block);
        let whole = Block {
            stream: header.stream,
            bytes: &block,
            end: self.assembly.end,
            dependent: self.assembly.dependent,
        };
        let found = self.block(shared, whole)?;
        block.clear();
        block.shrink_to(BLOCK_BYTES);
        self.assembly = BlockAssembly {
            block,
            ..BlockAssembly::default()
        };
        Ok(found)
    }

    /// Reads a complete header block. It must always be decoded, or the dynamic table would be
    /// lost.
    #[inline]
    fn block(&mut self, shared: &mut Shared, block: Block<'_>) -> Result<Option<Found>, Error> {
        let Block { bytes, end, .. } = block;
        let StreamLookup::Open(index) = shared.streams.lookup(block.stream) else {
            return self.unexpected_block(shared, block);
        };
        let role = shared.streams.get(index).awaited();
        let (verdict, list) = match self.recall(bytes, role) {
            Some((verdict, list)) => (Ok(verdict), list),
            None => {
                let limits = &shared.settings.limits;
                (self.decode(bytes, role, limits)?, FoundList::DECODED)
            }
        };
        shared.progress();
        if shared.streams.get(index).is(REMOTE_ENDED) {
            shared.reset(index, ErrorCode::STREAM_CLOSED);
            return Ok(None);
        }
        let found = match verdict {
            Ok(_) if block.dependent => {
                Err(StreamError::malformed("a stream that depends on itself"))
            }
            verdict => verdict.and_then(|verdict| go_on(shared, index, role, verdict, list, end)),
        };
        Ok(match found {
            Ok(found) => Some(found),
            Err(error) => shared.fail(index, error),
        })
    }

    /// A remembered head or remembered trailers, for a response that is outstanding.
    #[inline]
    pub(super) fn usual_block(
        &mut self,
        shared: &mut Shared,
        id: u32,
        block: &[u8],
        end: bool,
    ) -> Option<Found> {
        let index = shared.streams.find(id)?;
        let stream = shared.streams.get(index);
        if stream.is(REMOTE_ENDED) {
            return None;
        }
        let role = stream.awaited();
        let (verdict, list) = self.recall(block, role)?;
        let to_come = match role {
            Role::Head if matches!(verdict.status, 100..=199) => return None,
            Role::Head if stream.has_no_body(verdict.status) => 0,
            Role::Head => stream.declared_length(verdict.status, verdict.content_length),
            Role::Trailers if end => stream.body_remaining,
            Role::Trailers => return None,
        };
        if end && to_come != 0 && to_come != UNKNOWN {
            return None;
        }
        go_on(shared, index, role, verdict, list, end).ok()
    }

    /// The status and the fields of a remembered head of a final response, if the response may have
    /// a body of this length.
    #[inline(always)]
    pub(super) fn recall_whole(
        &mut self,
        block: &[u8],
        body_bytes: usize,
    ) -> Option<(u16, FoundList)> {
        let (verdict, list) = self.recall(block, Role::Head)?;
        let declared = verdict.content_length.unwrap_or(body_bytes as u64);
        let has_body = !matches!(verdict.status, 100..=199 | 204 | 304);
        (has_body && declared == body_bytes as u64).then_some((verdict.status, list))
    }

    /// The meaning of a remembered block.
    #[inline(always)]
    pub(super) fn recall(&mut self, block: &[u8], role: Role) -> Option<(Verdict, FoundList)> {
        let at = self.memory.recall(block, role, self.decoder.epoch())?;
        Some((self.memory.verdict(at), FoundList::remembered(at as u8)))
    }

    /// Handles a block on a stream that is not open.
    #[cold]
    fn unexpected_block(
        &mut self,
        shared: &mut Shared,
        block: Block<'_>,
    ) -> Result<Option<Found>, Error> {
        let lookup = shared.streams.lookup(block.stream);
        if lookup == StreamLookup::Idle {
            return Err(Error::protocol("HEADERS on an idle stream"));
        }
        let _ = self.decode(block.bytes, Role::Head, &shared.settings.limits)?;
        shared.closed(block.stream, lookup)?;
        Ok(None)
    }

    /// Decodes and checks a block that is not remembered, and remembers it if that is safe.
    #[inline(never)]
    fn decode(
        &mut self,
        block: &[u8],
        role: Role,
        limits: &Limits,
    ) -> Result<Result<Verdict, StreamError>, Error> {
        let fields = &mut self.fields;
        fields.start_block(role);
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
}

/// Continues with a header block that is valid by itself.
#[inline]
fn go_on(
    shared: &mut Shared,
    index: Index,
    role: Role,
    verdict: Verdict,
    list: FoundList,
    end: bool,
) -> Result<Found, StreamError> {
    match role {
        Role::Head => head(shared, index, verdict, list, end),
        Role::Trailers => trailers(shared, index, list, end),
    }
}

/// Handles a head, interim or final.
#[inline]
fn head(
    shared: &mut Shared,
    index: Index,
    verdict: Verdict,
    list: FoundList,
    end: bool,
) -> Result<Found, StreamError> {
    let Verdict {
        status,
        content_length,
    } = verdict;
    if matches!(status, 100..=199) {
        return interim(shared, index, status, end);
    }
    let stream = shared.streams.get_mut(index);
    stream.set(HEAD_SEEN);
    match stream.has_no_body(status) {
        true => stream.forbid_body(),
        false => stream.expect_body(stream.declared_length(status, content_length)),
    }
    let token = stream.token;
    if end {
        shared.streams.end_response(index)?;
    }
    Ok(Found::Head {
        token,
        status,
        list,
        end,
    })
}

/// Handles an interim response, whose number is limited.
#[cold]
fn interim(
    shared: &mut Shared,
    index: Index,
    status: u16,
    end: bool,
) -> Result<Found, StreamError> {
    if status == 101 {
        // RFC 9113 section 8.6.
        return Err(StreamError::malformed("status 101"));
    }
    if end {
        return Err(StreamError::malformed(
            "the stream ends with an interim response",
        ));
    }
    let stream = shared.streams.get_mut(index);
    if stream.interim >= shared.settings.limits.interim {
        return Err(StreamError::Limit(LimitKind::Interim));
    }
    stream.interim += 1;
    let token = stream.token;
    Ok(Found::Interim { token, status })
}

/// Handles trailers, which must end the stream.
fn trailers(
    shared: &mut Shared,
    index: Index,
    list: FoundList,
    end: bool,
) -> Result<Found, StreamError> {
    if !end {
        return Err(StreamError::malformed(
            "trailers that do not end the stream",
        ));
    }
    let token = shared.streams.get(index).token;
    shared.streams.end_response(index)?;
    Ok(Found::Trailers { token, list })
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
