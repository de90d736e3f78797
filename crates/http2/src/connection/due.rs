//! Events that concern many streams, found one at a time.

use super::{Connection, Found};
use crate::streams::{BLOCKED, Closing, REMOTE_ENDED};

/// Which events may be due without further input.
#[derive(Debug, Default)]
pub(super) struct Due {
    /// Streams above the server's GOAWAY.
    unprocessed: bool,
    /// Streams that may send on.
    writable: bool,
    /// Whether a stream waits for the output to be written.
    queue_full: bool,
    /// Where the search for writable streams goes on.
    cursor: usize,
}

impl Due {
    #[inline]
    pub(super) const fn any(&self) -> bool {
        self.unprocessed || self.writable
    }
}

/// Bodies of requests are queued up to this many bytes of output.
pub(super) const QUEUE_BYTES: usize = 256 * 1024;

impl Connection {
    /// Streams above a GOAWAY are to be given back.
    pub(super) fn streams_refused(&mut self) {
        self.due.unprocessed = true;
    }

    /// A window that stopped several streams has grown.
    pub(super) fn windows_grown(&mut self) {
        self.due.writable |= self.streams.blocked() > 0;
    }

    /// A stream waits for the output to be written.
    pub(super) fn queue_full(&mut self) {
        self.due.queue_full = true;
    }

    /// Some output was written.
    #[inline]
    pub(super) fn queue_drained(&mut self) {
        if self.due.queue_full && self.output.len() <= QUEUE_BYTES / 2 {
            self.due.queue_full = false;
            self.windows_grown();
        }
    }

    /// The next event that is due.
    #[cold]
    pub(super) fn due_event(&mut self) -> Option<Found> {
        if self.due.unprocessed {
            if let Some(found) = self.unprocessed() {
                return Some(found);
            }
            self.due.unprocessed = false;
        }
        if self.due.writable {
            if let Some(found) = self.writable() {
                return Some(found);
            }
            self.due.writable = false;
        }
        None
    }

    /// Takes the next stream that the server will not process (RFC 9113 section 6.8).
    fn unprocessed(&mut self) -> Option<Found> {
        let last = self.goaway?;
        loop {
            let id = self
                .streams
                .iter()
                .map(|stream| stream.id)
                .find(|&id| id > last)?;
            let index = self.streams.find(id)?;
            let stream = *self.streams.get(index);
            self.streams.close(index, Closing::Reset);
            if !stream.is(REMOTE_ENDED) {
                return Some(Found::Unprocessed {
                    token: stream.token,
                });
            }
        }
    }

    /// The next stream that waits and can send on; each in its turn.
    fn writable(&mut self) -> Option<Found> {
        if self.streams.blocked() == 0 || self.send_window <= 0 {
            return None;
        }
        if self.output.len() >= QUEUE_BYTES {
            self.queue_full();
            return None;
        }
        let slots = self.streams.slots();
        for step in 0..slots {
            let index = (self.due.cursor + step) % slots;
            let stream = self.streams.get(index);
            if stream.is(BLOCKED) && stream.send_window > 0 {
                let token = stream.token;
                self.due.cursor = index + 1;
                self.streams.unblock(index);
                return Some(Found::Writable { token });
            }
        }
        None
    }
}
