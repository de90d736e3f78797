//! The shortest way for what nearly every frame under load is: a header block that is remembered,
//! or DATA without padding, whole in the input, with nothing else going on.
//!
//! It decides nothing by itself: any other input is left to the general way, untouched, and both
//! mean the same. Input that comes byte by byte never passes here, so every test that compares it
//! with input that comes whole compares the two ways.

use super::heads::bodiless;
use super::{Connection, Found, List, Reading};
use crate::frame::{FrameHeader, HEADER_BYTES, PAYLOAD_BYTES_MAX, flag, kind};
use crate::response::Role;
use crate::streams::{HEAD_SEEN, REMOTE_ENDED, UNKNOWN};

impl Connection {
    /// The meaning of the frame at the input's start, and its length, if it has the usual form.
    #[inline]
    pub(super) fn usual(&mut self, input: &[u8]) -> Option<(Found, usize)> {
        let (header, rest) = input.split_first_chunk()?;
        let header = FrameHeader::parse(header);
        if header.length > PAYLOAD_BYTES_MAX || !self.is_quiet() {
            return None;
        }
        let payload = rest.get(..header.length as usize)?;
        let end = header.has(flag::END_STREAM);
        let found = match (header.kind, header.flags & !flag::END_STREAM) {
            (kind::HEADERS, flag::END_HEADERS) => self.usual_block(header.stream, payload, end)?,
            (kind::DATA, 0) => self.usual_data(header, end)?,
            _ => return None,
        };
        self.idle_frames = 0;
        Some((found, HEADER_BYTES + payload.len()))
    }

    /// Whether the next byte begins a frame, any frame may come, and nothing else is due.
    #[inline]
    pub(super) fn is_quiet(&self) -> bool {
        matches!(self.reading, Reading::Frame)
            && self.partial.is_empty()
            && self.peer.ready
            && self.assembly.is_empty()
            && !self.due.any()
            && !self.failed
    }

    /// A head or trailers that are remembered, for a response that is outstanding.
    #[inline]
    fn usual_block(&mut self, id: u32, block: &[u8], end: bool) -> Option<Found> {
        let index = self.streams.find(id)?;
        let stream = self.streams.get(index);
        if stream.is(REMOTE_ENDED) {
            return None;
        }
        let role = if stream.is(HEAD_SEEN) {
            Role::Trailers
        } else {
            Role::Head
        };
        let at = self.memory.recall(block, role, self.decoder.epoch())?;
        let verdict = self.memory.verdict(at);
        let to_come = match role {
            Role::Head if matches!(verdict.status, 100..=199) => return None,
            Role::Head if bodiless(stream, verdict.status) => 0,
            Role::Head => verdict.content_length.unwrap_or(UNKNOWN),
            Role::Trailers if end => stream.body_remaining,
            Role::Trailers => return None,
        };
        if end && to_come != 0 && to_come != UNKNOWN {
            return None;
        }
        let list = List::Remembered(at as u8);
        self.answer(index, (role, verdict), list, end).ok()
    }

    /// DATA of a body that goes on as it should, while no window is to be given back.
    #[inline]
    fn usual_data(&mut self, header: FrameHeader, end: bool) -> Option<Found> {
        let length = header.length as i32;
        let index = self.streams.find(header.stream)?;
        let stream = self.streams.get_mut(index);
        let connection_window = self.receive_window - length;
        let stream_window = stream.receive_window - length;
        let low = connection_window <= self.settings.connection_window as i32 / 2
            || stream_window <= self.settings.stream_window as i32 / 2;
        if low || length == 0 || !stream.is(HEAD_SEEN) || stream.is(REMOTE_ENDED) {
            return None;
        }
        if stream.body_remaining != UNKNOWN {
            let remaining = stream
                .body_remaining
                .checked_sub(u64::from(header.length))?;
            if end && remaining > 0 {
                return None;
            }
            stream.body_remaining = remaining;
        }
        self.receive_window = connection_window;
        stream.receive_window = stream_window;
        let token = stream.token;
        if end {
            self.streams.end(index);
        }
        Some(Found::Data {
            token,
            length: header.length,
            end,
        })
    }
}
