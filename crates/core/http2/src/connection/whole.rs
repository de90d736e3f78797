//! A complete response in one receive: a head, its body in one frame, and trailers if any.
//!
//! Nearly every response with a small body, and each unary call, has this form. The frames are
//! found without a state, by their headers alone; the connection then checks that nothing else is
//! in progress and that both blocks are remembered, and changes its state only if all checks pass.

use crate::Headers;
use crate::frame::{Frame, flag, kind};

/// A response that was read in one step.
#[derive(Clone, Copy, Debug)]
pub struct Whole<'a> {
    /// The stream's token.
    pub token: u32,
    /// The status, which is final.
    pub status: u16,
    /// The fields of the head, without `:status`.
    pub headers: Headers<'a>,
    /// The body, which is not empty.
    pub body: &'a [u8],
    /// The trailers, if any.
    pub trailers: Option<Headers<'a>>,
    /// The number of bytes that it takes from the input's start.
    pub consumed: usize,
}

/// The frames of a response, at the input's start.
pub(super) struct ResponseFrames<'a> {
    /// The id of its stream.
    pub(super) stream: u32,
    /// The block of the head.
    pub(super) head: &'a [u8],
    /// The body, which is not empty.
    pub(super) body: &'a [u8],
    /// The block of the trailers, if any.
    pub(super) trailers: Option<&'a [u8]>,
    /// The number of bytes that the frames take.
    pub(super) consumed: usize,
}

impl<'a> ResponseFrames<'a> {
    /// The frames at the input's start, if they are a complete response: HEADERS, DATA without
    /// padding, and HEADERS again if DATA does not end the stream.
    #[inline(always)]
    pub(super) fn first(input: &'a [u8]) -> Option<Self> {
        let head = Frame::first(input)?;
        let data = Frame::first(head.rest)?;
        let stream = head.header.stream;
        let fits = head.is(kind::HEADERS, flag::END_HEADERS)
            && data.header.kind == kind::DATA
            && data.header.flags & !flag::END_STREAM == 0
            && data.header.stream == stream
            && !data.payload.is_empty();
        if !fits {
            return None;
        }
        let (trailers, rest) = if data.header.has(flag::END_STREAM) {
            (None, data.rest)
        } else {
            let trailers = Frame::first(data.rest)?;
            let is_end = trailers.header.stream == stream
                && trailers.is(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM);
            if !is_end {
                return None;
            }
            (Some(trailers.payload), trailers.rest)
        };
        Some(Self {
            stream,
            head: head.payload,
            body: data.payload,
            trailers,
            consumed: input.len() - rest.len(),
        })
    }
}
