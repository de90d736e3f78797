//! The end of a connection: GOAWAY of either side (RFC 9113 section 6.8), and errors.
//!
//! A server may send GOAWAY several times, with a last stream id that only decreases: a first one
//! with 2³¹ − 1 announces the end, and a later one excludes the streams that it has not seen. These
//! are returned as unprocessed, one event each, before any further input is read.

use super::found::Found;
use super::shared::Shared;
use crate::frame::{FrameHeader, kind, number_31, number_32};
use crate::output::Output;
use crate::streams::{REMOTE_ENDED, StreamClosing, Streams};
use crate::{Error, ErrorCode};

/// The number of bytes of a GOAWAY's debug data that are kept.
const DEBUG_BYTES: usize = 1024;

/// The state of a connection's end. [`Shutdown::next_unprocessed`] returns streams above the
/// server's GOAWAY one at a time.
#[derive(Debug, Default)]
pub(super) struct Shutdown {
    /// The last stream id of the server's GOAWAY.
    goaway: Option<u32>,
    /// The debug data of the last GOAWAY.
    debug: Vec<u8>,
    /// Whether streams above that id may still be open.
    unprocessed: bool,
    /// Whether we have sent GOAWAY.
    leaving: bool,
    /// The error that follows the event of the stream that caused it.
    imminent: Option<Error>,
    /// Whether an error was returned, after which nothing else happens.
    failed: bool,
}

impl Shutdown {
    /// Whether no stream may be opened any more.
    #[inline]
    pub(super) const fn has_begun(&self) -> bool {
        self.leaving || self.failed || self.imminent.is_some() || self.goaway.is_some()
    }

    #[inline]
    pub(super) const fn has_failed(&self) -> bool {
        self.failed
    }

    /// Whether [`Shutdown::next_unprocessed`] may return a stream, or [`Shutdown::take_imminent`]
    /// an error.
    #[inline]
    pub(super) const fn is_due(&self) -> bool {
        self.unprocessed || self.imminent.is_some()
    }

    /// Sets the error that follows the next event.
    #[cold]
    pub(super) fn fail_next(&mut self, error: Error) {
        self.imminent = Some(error);
    }

    /// Returns the error that follows an event, if one is set.
    ///
    /// # Errors
    /// The error that was set, once.
    pub(super) fn take_imminent(&mut self) -> Result<(), Error> {
        self.imminent.take().map_or(Ok(()), Err)
    }

    pub(super) fn debug(&self) -> &[u8] {
        &self.debug
    }

    /// Reads the server's GOAWAY.
    pub(super) fn goaway_frame(
        &mut self,
        shared: &mut Shared,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Found>, Error> {
        if header.stream != 0 {
            return Err(Error::protocol("GOAWAY on a stream"));
        }
        if payload.len() < 8 {
            return Err(Error::violation(
                ErrorCode::FRAME_SIZE_ERROR,
                "GOAWAY with a wrong size",
            ));
        }
        shared.idle()?;
        let last = number_31(payload);
        if self.goaway.is_some_and(|before| last > before) {
            return Err(Error::protocol(
                "GOAWAY with a higher last stream than before",
            ));
        }
        self.goaway = Some(last);
        self.unprocessed = true;
        let debug = &payload[8..];
        self.debug.clear();
        let debug = &debug[..debug.len().min(DEBUG_BYTES)];
        self.debug.extend_from_slice(debug);
        let code = ErrorCode(number_32(&payload[4..]));
        Ok(Some(Found::GoAway { code }))
    }

    /// Returns the next stream that the server will not process.
    #[cold]
    pub(super) fn next_unprocessed(&mut self, streams: &mut Streams) -> Option<Found> {
        if !self.unprocessed {
            return None;
        }
        let found = self.unprocessed(streams);
        self.unprocessed = found.is_some();
        found
    }

    fn unprocessed(&self, streams: &mut Streams) -> Option<Found> {
        let last = self.goaway?;
        loop {
            let id = streams
                .iter()
                .map(|stream| stream.id)
                .find(|&id| id > last)?;
            let index = streams.find(id)?;
            let stream = *streams.get(index);
            streams.close(index, StreamClosing::Reset);
            if !stream.is(REMOTE_ENDED) {
                return Some(Found::Unprocessed {
                    token: stream.token,
                });
            }
        }
    }

    /// Appends GOAWAY; no stream of the server was ever accepted, so the last id is 0.
    pub(super) fn leave(&mut self, output: &mut Output, code: ErrorCode, debug: &str) {
        let mut payload = [0; 8].to_vec();
        payload[4..].copy_from_slice(&code.0.to_be_bytes());
        payload.extend_from_slice(debug.as_bytes());
        output.frame(kind::GOAWAY, 0, 0, &payload);
        self.leaving = true;
    }

    /// Ends the connection with an error that the server caused.
    #[cold]
    pub(super) fn fail(&mut self, output: &mut Output, error: &Error) {
        let what = match error {
            Error::Violation { what, .. } => what,
            Error::Limit(limit) => limit.name(),
            Error::NotHttp2(_) => "not HTTP/2",
        };
        self.leave(output, error.code(), what);
        self.failed = true;
    }
}
