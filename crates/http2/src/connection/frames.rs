//! Frames without a body or a head: their rules (RFC 9113 section 6) and their effects.

use super::due::QUEUE_BYTES;
use super::{Connection, Found, Reading};
use crate::frame::{FrameHeader, flag, kind, number_31, number_32};
use crate::response::malformed;
use crate::streams::{BLOCKED, Closing, Lookup, REMOTE_ENDED};
use crate::{Error, ErrorCode, Limit, StreamError};

/// Bytes of a GOAWAY's debug data that are kept.
const DEBUG_BYTES: usize = 1024;

impl Connection {
    /// Obeys a frame that the header alone did not refuse.
    #[inline]
    pub(super) fn frame(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Found>, Error> {
        let found = match header.kind {
            kind::DATA => self.data_frame(header, payload)?,
            kind::HEADERS => self.headers_frame(header, payload)?,
            _ => self.other_frame(header, payload)?,
        };
        if self.output.replies() > self.settings.limits.output_bytes as usize {
            return Err(Error::Limit(Limit::Output));
        }
        Ok(found)
    }

    #[inline(never)]
    fn other_frame(&mut self, header: FrameHeader, payload: &[u8]) -> Result<Option<Found>, Error> {
        match header.kind {
            kind::PRIORITY => self.priority(header, payload),
            kind::RST_STREAM => self.rst_stream(header, payload),
            kind::SETTINGS => self.settings_frame(header, payload),
            kind::PUSH_PROMISE => Err(Error::protocol("PUSH_PROMISE, which we do not allow")),
            kind::PING => self.ping_frame(header, payload),
            kind::GOAWAY => self.goaway_frame(header, payload),
            kind::WINDOW_UPDATE => self.window_update(header, payload),
            kind::CONTINUATION => self.continuation(header, payload),
            _ => {
                // Section 5.5: unknown types are ignored.
                self.reading = Reading::skip(header.length);
                self.idle().map(|()| None)
            }
        }
    }

    /// Section 6.3. Priorities mean nothing any more, but for their form.
    fn priority(&mut self, header: FrameHeader, payload: &[u8]) -> Result<Option<Found>, Error> {
        if header.stream == 0 {
            return Err(Error::protocol("PRIORITY on stream 0"));
        }
        let error = if payload.len() != 5 {
            StreamError::Violation {
                code: ErrorCode::FRAME_SIZE_ERROR,
                what: "PRIORITY of a wrong size",
            }
        } else if number_31(payload) == header.stream {
            malformed("a stream that depends on itself")
        } else {
            return self.idle().map(|()| None);
        };
        match (self.streams.lookup(header.stream), error) {
            (Lookup::Open(index), error) => Ok(self.fail_stream(index, error)),
            (_, StreamError::Violation { code, what }) => Err(Error::violation(code, what)),
            _ => Ok(None),
        }
    }

    /// Section 6.4.
    fn rst_stream(&mut self, header: FrameHeader, payload: &[u8]) -> Result<Option<Found>, Error> {
        if header.stream == 0 {
            return Err(Error::protocol("RST_STREAM on stream 0"));
        }
        if payload.len() != 4 {
            return Err(Error::violation(
                ErrorCode::FRAME_SIZE_ERROR,
                "RST_STREAM of a wrong size",
            ));
        }
        match self.streams.lookup(header.stream) {
            Lookup::Idle => Err(Error::protocol("RST_STREAM on an idle stream")),
            Lookup::Open(index) => {
                let stream = *self.streams.get(index);
                self.streams.close(index, Closing::ResetByPeer);
                // Section 8.1: once the response is complete, a reset only ends our request.
                if stream.is(REMOTE_ENDED) {
                    return Ok(None);
                }
                let code = ErrorCode(number_32(payload));
                let error = StreamError::Reset { code };
                Ok(Some(self.failed_stream(stream.token, error)))
            }
            _ => self.idle().map(|()| None),
        }
    }

    /// Section 6.7.
    fn ping_frame(&mut self, header: FrameHeader, payload: &[u8]) -> Result<Option<Found>, Error> {
        if header.stream != 0 {
            return Err(Error::protocol("PING on a stream"));
        }
        let Ok(payload) = <[u8; 8]>::try_from(payload) else {
            return Err(Error::violation(
                ErrorCode::FRAME_SIZE_ERROR,
                "PING of a wrong size",
            ));
        };
        self.idle()?;
        if header.has(flag::ACK) {
            self.rare.pong = payload;
            return Ok(Some(Found::Pong));
        }
        self.output.reply(kind::PING, flag::ACK, 0, &payload);
        Ok(None)
    }

    /// Section 6.8.
    fn goaway_frame(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Found>, Error> {
        if header.stream != 0 {
            return Err(Error::protocol("GOAWAY on a stream"));
        }
        if payload.len() < 8 {
            return Err(Error::violation(
                ErrorCode::FRAME_SIZE_ERROR,
                "GOAWAY of a wrong size",
            ));
        }
        self.idle()?;
        let last = number_31(payload);
        if self.goaway.is_some_and(|before| last > before) {
            return Err(Error::protocol(
                "GOAWAY with a higher last stream than before",
            ));
        }
        self.goaway = Some(last);
        self.streams_refused();
        let debug = &payload[8..];
        self.rare.debug.clear();
        let debug = &debug[..debug.len().min(DEBUG_BYTES)];
        self.rare.debug.extend_from_slice(debug);
        let code = ErrorCode(number_32(&payload[4..]));
        Ok(Some(Found::GoAway { code }))
    }

    /// Section 6.9.
    fn window_update(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Found>, Error> {
        if payload.len() != 4 {
            return Err(Error::violation(
                ErrorCode::FRAME_SIZE_ERROR,
                "WINDOW_UPDATE of a wrong size",
            ));
        }
        self.idle()?;
        let increment = number_31(payload) as i32;
        if header.stream == 0 {
            return self.connection_window_update(increment).map(|()| None);
        }
        let index = match self.streams.lookup(header.stream) {
            Lookup::Open(index) => index,
            Lookup::Idle => return Err(Error::protocol("WINDOW_UPDATE on an idle stream")),
            _ => return Ok(None),
        };
        if increment == 0 {
            return Ok(self.fail_stream(index, malformed("WINDOW_UPDATE by 0")));
        }
        let stream = self.streams.get_mut(index);
        match stream.send_window.checked_add(increment) {
            Some(window) => stream.send_window = window,
            None => {
                let error = StreamError::Violation {
                    code: ErrorCode::FLOW_CONTROL_ERROR,
                    what: "WINDOW_UPDATE too large",
                };
                return Ok(self.fail_stream(index, error));
            }
        }
        let waits = stream.is(BLOCKED) && stream.send_window > 0 && self.send_window > 0;
        if !waits {
            return Ok(None);
        }
        if self.output.len() >= QUEUE_BYTES {
            self.queue_full();
            return Ok(None);
        }
        let token = stream.token;
        self.streams.unblock(index);
        Ok(Some(Found::Writable { token }))
    }

    fn connection_window_update(&mut self, increment: i32) -> Result<(), Error> {
        if increment == 0 {
            return Err(Error::protocol("WINDOW_UPDATE by 0"));
        }
        let window = self.send_window.checked_add(increment);
        self.send_window = window.ok_or(Error::violation(
            ErrorCode::FLOW_CONTROL_ERROR,
            "WINDOW_UPDATE too large",
        ))?;
        self.windows_grown();
        Ok(())
    }
}
