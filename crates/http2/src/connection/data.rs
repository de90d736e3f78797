//! DATA and the windows for it (RFC 9113 sections 5.2 and 6.1).

use super::{Connection, Found, Reading};
use crate::frame::{FrameHeader, flag};
use crate::response::malformed;
use crate::streams::{HEAD_SEEN, Index, Lookup, REMOTE_ENDED, Stream, UNKNOWN};
use crate::{Error, ErrorCode, StreamError};

impl Connection {
    /// Begins with DATA, of which `payload` holds the padding's length if there is padding.
    #[inline]
    pub(super) fn data_frame(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Found>, Error> {
        if header.stream == 0 {
            return Err(Error::protocol("DATA on stream 0"));
        }
        let padding = payload.first().map_or(0, |&padding| u32::from(padding));
        let rest = header.length - payload.len() as u32;
        let Some(length) = rest.checked_sub(padding) else {
            return Err(Error::protocol("more padding than payload"));
        };
        self.take_connection_window(header.length)?;
        // Until something is found that is worth more.
        self.reading = Reading::skip(rest);
        let index = match self.streams.lookup(header.stream) {
            Lookup::Open(index) => index,
            Lookup::Idle => return Err(Error::protocol("DATA on an idle stream")),
            lookup => {
                // DATA of a stream that we have reset was on its way, and may be much.
                if lookup != Lookup::Ignored || length == 0 {
                    self.unexpected(header.stream, lookup)?;
                }
                return Ok(None);
            }
        };
        let end = header.has(flag::END_STREAM);
        if self.streams.get(index).is(REMOTE_ENDED) {
            self.reset_at(index, ErrorCode::STREAM_CLOSED);
            return self.idle().map(|()| None);
        }
        let stream = self.streams.get_mut(index);
        if let Err(error) = accept(stream, header.length, length, end) {
            return Ok(self.fail_stream(index, error));
        }
        if !end {
            self.return_stream_window(index);
        }
        if length == 0 {
            return self.empty_data(index, end);
        }
        self.idle_frames = 0;
        self.reading = Reading::Data {
            id: header.stream,
            remaining: length,
            padding,
            end,
        };
        Ok(None)
    }

    /// DATA without data may end a stream.
    fn empty_data(&mut self, index: Index, end: bool) -> Result<Option<Found>, Error> {
        if !end {
            return self.idle().map(|()| None);
        }
        let token = self.streams.get(index).token;
        Ok(match self.ended(index) {
            Ok(()) => Some(Found::Data {
                token,
                length: 0,
                end,
            }),
            Err(error) => self.fail_stream(index, error),
        })
    }

    /// Passes on received bytes of a DATA frame: `available` at most.
    #[inline]
    pub(super) fn data(&mut self, available: usize, at: &mut usize) -> Option<Found> {
        let Reading::Data {
            id,
            remaining,
            padding,
            end,
        } = self.reading
        else {
            return None;
        };
        let Some(index) = self.streams.find(id) else {
            // The caller has reset the stream in the middle of the frame.
            self.reading = Reading::skip(remaining + padding);
            return None;
        };
        let token = self.streams.get(index).token;
        let length = remaining.min(available.min(u32::MAX as usize) as u32);
        *at += length as usize;
        let remaining = remaining - length;
        if remaining > 0 {
            self.reading = Reading::Data {
                id,
                remaining,
                padding,
                end,
            };
            return Some(Found::Data {
                token,
                length,
                end: false,
            });
        }
        self.reading = Reading::skip(padding);
        if end && let Err(error) = self.ended(index) {
            // The frame's header was compared with the declared length already.
            return self.fail_stream(index, error);
        }
        Some(Found::Data { token, length, end })
    }

    /// Takes a frame out of the connection's window, and gives the window back when half of it is
    /// used. That is done for whole frames, when they begin.
    #[inline]
    fn take_connection_window(&mut self, length: u32) -> Result<(), Error> {
        self.receive_window -= length as i32;
        if self.receive_window < 0 {
            return Err(Error::violation(
                ErrorCode::FLOW_CONTROL_ERROR,
                "more DATA than the connection's window",
            ));
        }
        let full = self.settings.connection_window as i32;
        if self.receive_window <= full / 2 {
            let used = full - self.receive_window;
            self.output.window_update(0, used as u32);
            self.receive_window = full;
        }
        Ok(())
    }

    /// Gives a stream's window back when half of it is used.
    #[inline]
    fn return_stream_window(&mut self, index: Index) {
        let full = self.settings.stream_window as i32;
        let stream = self.streams.get_mut(index);
        let used = full - stream.receive_window;
        if used > 0 && stream.receive_window <= full / 2 {
            stream.receive_window = full;
            let id = stream.id;
            self.output.window_update(id, used as u32);
        }
    }
}

/// Takes a frame of `frame` bytes, of which `length` are data, out of a stream's window and out of
/// the length that its head declares.
#[inline]
fn accept(stream: &mut Stream, frame: u32, length: u32, end: bool) -> Result<(), StreamError> {
    if !stream.is(HEAD_SEEN) {
        return Err(malformed("DATA before HEADERS"));
    }
    if i64::from(frame) > i64::from(stream.receive_window) {
        return Err(StreamError::Violation {
            code: ErrorCode::FLOW_CONTROL_ERROR,
            what: "more DATA than the stream's window",
        });
    }
    stream.receive_window -= frame as i32;
    if stream.body_remaining == UNKNOWN {
        return Ok(());
    }
    let Some(remaining) = stream.body_remaining.checked_sub(u64::from(length)) else {
        return Err(malformed("a longer body than declared"));
    };
    if end && remaining > 0 {
        return Err(StreamError::Truncated);
    }
    stream.body_remaining = remaining;
    Ok(())
}
