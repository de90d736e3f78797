//! DATA and the windows for it (RFC 9113 sections 5.2 and 6.1).
//!
//! Bytes count towards both windows when the header of their frame is read, including padding, and
//! may be returned to the windows from then on: the caller has no control over that and can't stop
//! a server. That suits a load generator, which reads as fast as bytes arrive; a caller that stores
//! bodies has to limit them itself. A window is returned when half of it is used, so that a
//! WINDOW_UPDATE is sent for each half window and not for each frame.

use super::found::Found;
use super::input::Reading;
use super::shared::Shared;
use crate::frame::{FrameHeader, flag};
use crate::streams::{HEAD_SEEN, Index, REMOTE_ENDED, StreamLookup, UNKNOWN};
use crate::{Error, ErrorCode, Settings};

/// The bodies of all responses: the connection's window for them.
///
/// [`ResponseBodies::data_frame`] checks a frame of DATA by its header and subtracts it from both
/// windows; [`ResponseBodies::data`] passes on its bytes as they arrive.
/// [`ResponseBodies::usual_data`] does both for a frame that the input contains completely, and
/// changes nothing if it returns `None`.
#[derive(Debug)]
pub(super) struct ResponseBodies {
    /// Bytes of DATA that the server may send.
    window: i32,
}

impl ResponseBodies {
    pub(super) const fn new(settings: &Settings) -> Self {
        Self {
            window: settings.connection_window as i32,
        }
    }

    /// Begins a frame of DATA, and sets the reading of the bytes that follow. If there is padding,
    /// `payload` contains its length.
    #[inline]
    pub(super) fn data_frame(
        &mut self,
        shared: &mut Shared,
        reading: &mut Reading,
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
        self.take_whole(shared, header.length)?;
        // Until a reason to read the bytes is found.
        *reading = Reading::skip(rest);
        let index = match shared.streams.lookup(header.stream) {
            StreamLookup::Open(index) => index,
            StreamLookup::Idle => return Err(Error::protocol("DATA on an idle stream")),
            lookup => {
                // DATA of a stream that was reset here may still arrive, and may be much.
                if lookup != StreamLookup::Ignored || length == 0 {
                    shared.closed(header.stream, lookup)?;
                }
                return Ok(None);
            }
        };
        let end = header.has(flag::END_STREAM);
        if shared.streams.get(index).is(REMOTE_ENDED) {
            shared.reset(index, ErrorCode::STREAM_CLOSED);
            return shared.idle().map(|()| None);
        }
        let stream = shared.streams.get_mut(index);
        if let Err(error) = stream.accept(header.length, length, end) {
            return Ok(shared.fail(index, error));
        }
        if !end {
            return_stream_window(shared, index);
        }
        if length == 0 {
            return empty_data(shared, index, end);
        }
        shared.progress();
        *reading = Reading::Data {
            id: header.stream,
            remaining: length,
            padding,
            end,
        };
        Ok(None)
    }

    /// Passes on received bytes of a DATA frame, at most `available`.
    #[inline]
    pub(super) fn data(
        shared: &mut Shared,
        reading: &mut Reading,
        available: usize,
        at: &mut usize,
    ) -> Option<Found> {
        let Reading::Data {
            id,
            remaining,
            padding,
            end,
        } = *reading
        else {
            return None;
        };
        let Some(index) = shared.streams.find(id) else {
            // The caller has reset the stream in the middle of the frame.
            *reading = Reading::skip(remaining + padding);
            return None;
        };
        let token = shared.streams.get(index).token;
        let length = remaining.min(available.min(u32::MAX as usize) as u32);
        *at += length as usize;
        let remaining = remaining - length;
        if remaining > 0 {
            *reading = Reading::Data {
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
        *reading = Reading::skip(padding);
        if end && let Err(error) = shared.streams.end_response(index) {
            // The frame's header was already compared with the declared length.
            return shared.fail(index, error);
        }
        Some(Found::Data { token, length, end })
    }

    /// Reads a valid DATA frame of a body that continues after it, if no window has to be returned.
    #[inline]
    pub(super) fn usual_data(
        &mut self,
        shared: &mut Shared,
        header: FrameHeader,
        end: bool,
    ) -> Option<Found> {
        let length = header.length as i32;
        let index = shared.streams.find(header.stream)?;
        let stream = shared.streams.get_mut(index);
        let low = self.is_low_after(length, stream.receive_window, &shared.settings);
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
        self.consume(length);
        stream.receive_window -= length;
        let token = stream.token;
        if end {
            shared.streams.end_complete(index);
        }
        Some(Found::Data {
            token,
            length: header.length,
            end,
        })
    }

    /// Whether `length` bytes of DATA would leave a window that has to be returned: the
    /// connection's, or the stream's of `stream_window` bytes.
    #[inline(always)]
    pub(super) const fn is_low_after(
        &self,
        length: i32,
        stream_window: i32,
        settings: &Settings,
    ) -> bool {
        self.window - length <= settings.connection_window as i32 / 2
            || stream_window - length <= settings.stream_window as i32 / 2
    }

    /// Subtracts `length` bytes from the connection's window, which stays large enough.
    #[inline(always)]
    pub(super) const fn consume(&mut self, length: i32) {
        self.window -= length;
    }

    /// Subtracts a frame from the connection's window, and returns the window when half of it is
    /// used. This happens for complete frames, when they begin.
    #[inline]
    fn take_whole(&mut self, shared: &mut Shared, length: u32) -> Result<(), Error> {
        self.window -= length as i32;
        if self.window < 0 {
            return Err(Error::violation(
                ErrorCode::FLOW_CONTROL_ERROR,
                "more DATA than the connection's window",
            ));
        }
        let full = shared.settings.connection_window as i32;
        if self.window <= full / 2 {
            let used = full - self.window;
            shared.output.window_update(0, used as u32);
            self.window = full;
        }
        Ok(())
    }
}

/// DATA without bytes may end a stream.
fn empty_data(shared: &mut Shared, index: Index, end: bool) -> Result<Option<Found>, Error> {
    if !end {
        return shared.idle().map(|()| None);
    }
    let token = shared.streams.get(index).token;
    Ok(match shared.streams.end_response(index) {
        Ok(()) => Some(Found::Data {
            token,
            length: 0,
            end,
        }),
        Err(error) => shared.fail(index, error),
    })
}

/// Returns a stream's window when half of it is used.
#[inline]
fn return_stream_window(shared: &mut Shared, index: Index) {
    let full = shared.settings.stream_window as i32;
    let stream = shared.streams.get_mut(index);
    let used = full - stream.receive_window;
    if used > 0 && stream.receive_window <= full / 2 {
        stream.receive_window = full;
        let id = stream.id;
        shared.output.window_update(id, used as u32);
    }
}
