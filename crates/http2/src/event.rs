//! The events in a server's bytes.

use crate::{ErrorCode, Headers, StreamError};

/// The result of a step over the input.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The number of bytes from the input's start that are done with.
    pub consumed: usize,
    /// The bytes of the frames that brought the event of a stream, wherever the input was cut.
    /// Frames of the connection and padding do not count.
    pub frame_bytes: usize,
    /// The meaning of the consumed bytes.
    pub event: Event<'a>,
}

/// The meaning of a server's bytes. A `token` is the one that the stream was opened with.
///
/// A stream's response is over with an event that has `end`, with [`Event::Trailers`],
/// [`Event::StreamFailed`] or [`Event::Unprocessed`]: one of these, once, unless the caller resets
/// the stream or the connection ends before.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Nothing more before further input; all of this one is consumed.
    NeedInput,
    /// The server's first SETTINGS have come: streams may be opened from now on.
    Ready,
    /// The server has changed the number of streams that it allows; see
    /// [`crate::Connection::capacity`].
    Capacity,
    /// An interim response, from 100 to 199 without 101.
    Interim {
        /// The stream's token.
        token: u32,
        /// The status.
        status: u16,
    },
    /// The final response's head.
    Head {
        /// The stream's token.
        token: u32,
        /// The status as sent. Below 100 or above 599 it is invalid, and the exchange failed
        /// (RFC 9110 section 15); the response is read all the same.
        status: u16,
        /// The fields, without `:status`.
        headers: Headers<'a>,
        /// Whether the response is over.
        end: bool,
    },
    /// Bytes of the body, as they arrive; empty only when `end`.
    Data {
        /// The stream's token.
        token: u32,
        /// The bytes, without padding.
        bytes: &'a [u8],
        /// Whether the response is over.
        end: bool,
    },
    /// The trailers; the response is over.
    Trailers {
        /// The stream's token.
        token: u32,
        /// The fields.
        headers: Headers<'a>,
    },
    /// The stream has failed and is gone.
    StreamFailed {
        /// The stream's token.
        token: u32,
        /// The reason.
        error: StreamError,
    },
    /// The server has not processed the request, and never will (RFC 9113 section 6.8): it is safe
    /// to send it again elsewhere. The stream is gone. Follows [`Event::GoAway`].
    Unprocessed {
        /// The stream's token.
        token: u32,
    },
    /// The server takes no further streams on this connection; those that it has accepted go on.
    GoAway {
        /// The reason.
        code: ErrorCode,
        /// The debug data, cut to 1 KiB. Not fit for a terminal.
        debug: &'a [u8],
    },
    /// A stream of which [`crate::Connection::send_data`] took less than it was given can take
    /// more.
    Writable {
        /// The stream's token.
        token: u32,
    },
    /// The server has answered a ping.
    Pong {
        /// The data of the ping.
        payload: [u8; 8],
    },
}
