//! A response in one step: a head that is remembered, its body in one frame, and trailers that are
//! remembered where there are any, all of it in one receive.
//!
//! Like [`super::usual`] it decides nothing by itself: any other input is left untouched for the
//! general way, and both mean the same.

use super::{Connection, List};
use crate::Headers;
use crate::frame::{FrameHeader, PAYLOAD_BYTES_MAX, flag, kind};
use crate::response::Role;
use crate::streams::{Closing, Index};

/// A response that was read in one step.
#[derive(Clone, Copy, Debug)]
pub struct Whole<'a> {
    /// The stream's token.
    pub token: u32,
    /// The status, which is no interim one.
    pub status: u16,
    /// The fields of its head, without `:status`.
    pub headers: Headers<'a>,
    /// Its body, which is not empty.
    pub body: &'a [u8],
    /// The trailers, if there are any.
    pub trailers: Option<Headers<'a>>,
    /// How many bytes from the input's start it takes.
    pub consumed: usize,
}

/// A frame that stands whole in the input, and the input behind it.
struct Frame<'a> {
    header: FrameHeader,
    payload: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Frame<'a> {
    #[inline(always)]
    fn first(input: &'a [u8]) -> Option<Self> {
        let (header, rest) = input.split_first_chunk()?;
        let header = FrameHeader::parse(header);
        if header.length > PAYLOAD_BYTES_MAX {
            return None;
        }
        let (payload, rest) = rest.split_at_checked(header.length as usize)?;
        Some(Self {
            header,
            payload,
            rest,
        })
    }

    /// Whether it is a frame of this kind with just these flags.
    #[inline(always)]
    const fn is(&self, kind: u8, flags: u8) -> bool {
        self.header.kind == kind && self.header.flags == flags
    }
}

impl Connection {
    /// Reads a response in one step, where the input begins with all of it and the request has
    /// ended. `None` leaves any other input, and the connection, as they are, for
    /// [`Connection::handle_input`], which would return the same in two or three events.
    // Called beside `handle_input`, in the same loop.
    #[inline(always)]
    pub fn whole<'a>(&'a mut self, input: &'a [u8]) -> Option<Whole<'a>> {
        let head = Frame::first(input)?;
        let data = Frame::first(head.rest)?;
        let id = head.header.stream;
        let end = data.header.has(flag::END_STREAM);
        let fits = head.is(kind::HEADERS, flag::END_HEADERS)
            && data.header.kind == kind::DATA
            && data.header.flags & !flag::END_STREAM == 0
            && data.header.stream == id
            && !data.payload.is_empty();
        if !fits || !self.is_quiet() {
            return None;
        }
        let index = self.streams.find(id)?;
        let at = self.whole_head(index, &head, data.payload)?;
        let (trailers, rest) = if end {
            (None, data.rest)
        } else {
            let trailers = Frame::first(data.rest)?;
            let at = self.whole_trailers(id, &trailers)?;
            (Some(at), trailers.rest)
        };
        self.idle_frames = 0;
        self.receive_window -= data.payload.len() as i32;
        let token = self.streams.get(index).token;
        self.streams.close(index, Closing::Ended);
        Some(Whole {
            token,
            status: self.memory.verdict(at).status,
            headers: self.headers(List::Remembered(at as u8)),
            body: data.payload,
            trailers: trailers.map(|at| self.headers(List::Remembered(at as u8))),
            consumed: input.len() - rest.len(),
        })
    }

    /// Where the head is remembered, of a response that is to begin and whose whole body is this,
    /// while no window is to be given back.
    #[inline(always)]
    fn whole_head(&mut self, index: Index, head: &Frame<'_>, body: &[u8]) -> Option<usize> {
        let stream = self.streams.get(index);
        let length = body.len() as i32;
        let low = self.receive_window - length <= self.settings.connection_window as i32 / 2
            || stream.receive_window - length <= self.settings.stream_window as i32 / 2;
        if low || !stream.awaits_head() {
            return None;
        }
        let at = self
            .memory
            .recall(head.payload, Role::Head, self.decoder.epoch())?;
        let verdict = self.memory.verdict(at);
        let declared = verdict.content_length.unwrap_or(body.len() as u64);
        let has_body = !matches!(verdict.status, 100..=199 | 204 | 304);
        (has_body && declared == body.len() as u64).then_some(at)
    }

    /// Where trailers are remembered that end a stream.
    #[inline(always)]
    fn whole_trailers(&mut self, id: u32, frame: &Frame<'_>) -> Option<usize> {
        if frame.header.stream != id
            || !frame.is(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM)
        {
            return None;
        }
        let epoch = self.decoder.epoch();
        self.memory.recall(frame.payload, Role::Trailers, epoch)
    }
}
