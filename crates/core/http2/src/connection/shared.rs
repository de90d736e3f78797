//! The state that both directions of a connection use: its streams, and its output.

use super::found::Found;
use crate::output::Output;
use crate::streams::{Index, REMOTE_ENDED, StreamClosing, StreamLookup, Streams};
use crate::{Error, ErrorCode, LimitKind, Settings, StreamError};

/// The streams of a connection and its pending output, with the rules that need both.
///
/// [`Shared::fail`] resets a stream because of the server's mistake on it; [`Shared::closed`]
/// checks a frame on a closed stream. Each frame that advances a request calls
/// [`Shared::progress`], and each other frame [`Shared::idle`], so that a flood ends. Every frame
/// is followed by [`Shared::bound_replies`], because any frame may queue a reply.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) settings: Settings,
    pub(super) streams: Streams,
    pub(super) output: Output,
    /// Consecutive frames that made no progress.
    idle_frames: u32,
    /// The error of the stream that failed last.
    failure: StreamError,
}

impl Shared {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            settings,
            streams: Streams::new(settings.first_stream_id),
            output: Output::default(),
            idle_frames: 0,
            failure: StreamError::Reset {
                code: ErrorCode::NO_ERROR,
            },
        }
    }

    /// Resets an open stream because of a mistake of the server.
    pub(super) fn reset(&mut self, index: Index, code: ErrorCode) {
        let id = self.streams.get(index).id;
        self.output.rst_stream(id, code);
        self.streams.close(index, StreamClosing::Reset);
    }

    /// Resets a stream because of a mistake of the server. Returns the event for the caller, unless
    /// the response had already ended.
    #[cold]
    pub(super) fn fail(&mut self, index: Index, error: StreamError) -> Option<Found> {
        let stream = *self.streams.get(index);
        self.reset(index, error.code());
        (!stream.is(REMOTE_ENDED)).then(|| self.failed(stream.token, error))
    }

    /// The event of a stream that has failed.
    pub(super) const fn failed(&mut self, token: u32, error: StreamError) -> Found {
        self.failure = error;
        Found::StreamFailed { token }
    }

    /// The error of the latest [`Found::StreamFailed`].
    pub(super) const fn failure(&self) -> StreamError {
        self.failure
    }

    /// Checks HEADERS or DATA on a stream that is not open (section 5.1).
    pub(super) fn closed(&mut self, id: u32, lookup: StreamLookup) -> Result<(), Error> {
        match lookup {
            StreamLookup::Ended => {
                return Err(Error::violation(
                    ErrorCode::STREAM_CLOSED,
                    "a frame on a stream that has ended",
                ));
            }
            StreamLookup::ResetByPeer => self.output.rst_stream(id, ErrorCode::STREAM_CLOSED),
            _ => {}
        }
        self.idle()
    }

    /// Counts a frame that made no progress.
    pub(super) const fn idle(&mut self) -> Result<(), Error> {
        self.idle_frames += 1;
        if self.idle_frames > self.settings.limits.idle_frames {
            return Err(Error::Limit(LimitKind::Frames));
        }
        Ok(())
    }

    /// Notes progress of a request or a response.
    #[inline]
    pub(super) const fn progress(&mut self) {
        self.idle_frames = 0;
    }

    /// Refuses a server that makes us queue replies but does not read them: otherwise it would
    /// control our memory use.
    #[inline]
    pub(super) const fn bound_replies(&self) -> Result<(), Error> {
        if self.output.replies() > self.settings.limits.output_bytes as usize {
            return Err(Error::Limit(LimitKind::Output));
        }
        Ok(())
    }
}
