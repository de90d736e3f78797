//! Frames that belong to neither direction of a connection: PRIORITY, RST_STREAM and PING (RFC 9113
//! section 6).
//!
//! Each frame is checked completely even if it has no effect, because a peer that gets the form
//! wrong has lost the framing. All of them count as idle frames, so that a flood of them ends the
//! connection, except resets of open streams, whose number is limited by the number of streams.

use super::found::Found;
use super::shared::Shared;
use crate::frame::{FrameHeader, flag, kind, number_31, number_32};
use crate::streams::{REMOTE_ENDED, StreamClosing, StreamLookup};
use crate::{Error, ErrorCode, StreamError};

/// Reads PRIORITY (section 6.3). Only its form is checked, because priorities are obsolete.
pub(super) fn priority(
    shared: &mut Shared,
    header: FrameHeader,
    payload: &[u8],
) -> Result<Option<Found>, Error> {
    if header.stream == 0 {
        return Err(Error::protocol("PRIORITY on stream 0"));
    }
    let error = if payload.len() != 5 {
        StreamError::Violation {
            code: ErrorCode::FRAME_SIZE_ERROR,
            what: "PRIORITY with a wrong size",
        }
    } else if number_31(payload) == header.stream {
        StreamError::malformed("a stream that depends on itself")
    } else {
        return shared.idle().map(|()| None);
    };
    match (shared.streams.lookup(header.stream), error) {
        (StreamLookup::Open(index), error) => Ok(shared.fail(index, error)),
        (_, StreamError::Violation { code, what }) => Err(Error::violation(code, what)),
        _ => Ok(None),
    }
}

/// Reads RST_STREAM (section 6.4).
pub(super) fn rst_stream(
    shared: &mut Shared,
    header: FrameHeader,
    payload: &[u8],
) -> Result<Option<Found>, Error> {
    if header.stream == 0 {
        return Err(Error::protocol("RST_STREAM on stream 0"));
    }
    if payload.len() != 4 {
        return Err(Error::violation(
            ErrorCode::FRAME_SIZE_ERROR,
            "RST_STREAM with a wrong size",
        ));
    }
    match shared.streams.lookup(header.stream) {
        StreamLookup::Idle => Err(Error::protocol("RST_STREAM on an idle stream")),
        StreamLookup::Open(index) => {
            let stream = *shared.streams.get(index);
            shared.streams.close(index, StreamClosing::ResetByPeer);
            // Section 8.1: once the response is complete, a reset only ends our request.
            if stream.is(REMOTE_ENDED) {
                return Ok(None);
            }
            let code = ErrorCode(number_32(payload));
            let error = StreamError::Reset { code };
            Ok(Some(shared.failed(stream.token, error)))
        }
        _ => shared.idle().map(|()| None),
    }
}

/// Reads PING (section 6.7), and answers a PING of the server.
pub(super) fn ping(
    shared: &mut Shared,
    header: FrameHeader,
    payload: &[u8],
) -> Result<Option<Found>, Error> {
    if header.stream != 0 {
        return Err(Error::protocol("PING on a stream"));
    }
    let Ok(payload) = <[u8; 8]>::try_from(payload) else {
        return Err(Error::violation(
            ErrorCode::FRAME_SIZE_ERROR,
            "PING with a wrong size",
        ));
    };
    shared.idle()?;
    if header.has(flag::ACK) {
        return Ok(Some(Found::Pong { payload }));
    }
    shared.output.reply(kind::PING, flag::ACK, 0, &payload);
    Ok(None)
}
