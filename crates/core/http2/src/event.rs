//! The events that a connection finds in a server's bytes.

use crate::{ErrorCode, Headers, StreamError};

/// The result of one step through the input.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The number of bytes from the input's start that are consumed.
    pub consumed: usize,
    /// The bytes of the frames that carried the event of a stream, however the input was cut. Frames of
    /// the connection and padding do not count.
    pub frame_bytes: usize,
    /// What these bytes mean.
    pub event: Event<'a>,
}

/// What a server's bytes mean. A `token` is the one that the stream was opened with.
///
/// A stream's response ends with an event that has `end`, with [`Event::Trailers`],
/// [`Event::StreamFailed`] or [`Event::Unprocessed`]: exactly one of these, unless the caller
/// resets the stream or the connection ends before.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Nothing until more input arrives; all of the current input is consumed.
    NeedInput,
    /// The server's first SETTINGS have arrived: streams can be opened from now on.
    Ready,
    /// The server has changed the number of streams that it allows; see
    /// [`crate::Connection::capacity`].
    Capacity,
    /// An interim response, from 100 to 199 except 101.
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
        /// The status as sent. If it is below 100 or above 599, it is invalid, and the exchange has
        /// failed (RFC 9110 section 15); the response is still read.
        status: u16,
        /// The fields, without `:status`.
        headers: Headers<'a>,
        /// Whether the response has ended.
        end: bool,
    },
    /// Bytes of the body, as they arrive; empty only if `end`.
    Data {
        /// The stream's token.
        token: u32,
        /// The bytes, without padding.
        bytes: &'a [u8],
        /// Whether the response has ended.
        end: bool,
    },
    /// The trailers, which end the response.
    Trailers {
        /// The stream's token.
        token: u32,
        /// The fields.
        headers: Headers<'a>,
    },
    /// The stream has failed and no longer exists.
    StreamFailed {
        /// The stream's token.
        token: u32,
        /// The reason.
        error: StreamError,
    },
    /// The server has not processed the request, and never will (RFC 9113 section 6.8): it is safe
    /// to send it again elsewhere. The stream no longer exists. Follows [`Event::GoAway`].
    Unprocessed {
        /// The stream's token.
        token: u32,
    },
    /// The server accepts no further streams on this connection; the accepted ones continue.
    GoAway {
        /// The reason.
        code: ErrorCode,
        /// The debug data, truncated to 1 KiB. Not safe for a terminal.
        debug: &'a [u8],
    },
    /// A stream whose [`crate::Connection::send_data`] accepted less than it was given can accept
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
