//! Uploads that wait for a window, or for room in the output.
//!
//! Each event names one stream, and its caller sends before the next is searched for, because
//! sending may use up the window for the others. The search begins after the stream that was found
//! last, so that every stream gets its turn. It costs at most one pass over the slab, and only
//! after a window has grown or half of the queue has been written.

use super::found::Found;
use crate::output::Output;
use crate::streams::{BLOCKED, Streams};

/// Request bodies are queued up to this many bytes of output.
pub(super) const QUEUE_BYTES: usize = 256 * 1024;

/// The streams with the flag [`BLOCKED`] that may continue, found one at a time and in turn.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Whether some streams may continue to send.
    due: bool,
    /// Whether a stream waits for the output to be written.
    queue_full: bool,
    /// The slot at which the search for them continues.
    cursor: usize,
}

impl Waiting {
    /// Whether [`Waiting::next`] may return a stream.
    #[inline]
    pub(super) const fn is_due(&self) -> bool {
        self.due
    }

    /// Notes that a window that stopped several streams has grown.
    pub(super) const fn windows_grown(&mut self, streams: &Streams) {
        self.due |= streams.blocked() > 0;
    }

    /// Notes that a stream waits for the output to be written.
    pub(super) const fn queue_full(&mut self) {
        self.queue_full = true;
    }

    /// Notes that some output was written.
    #[inline]
    pub(super) const fn output_sent(&mut self, output: &Output, streams: &Streams) {
        if self.queue_full && output.len() <= QUEUE_BYTES / 2 {
            self.queue_full = false;
            self.windows_grown(streams);
        }
    }

    /// The next waiting stream that can continue to send, if the connection's window is `window`
    /// bytes.
    #[cold]
    pub(super) fn next(
        &mut self,
        streams: &mut Streams,
        output: &Output,
        window: i32,
    ) -> Option<Found> {
        if !self.due {
            return None;
        }
        let found = self.search(streams, output, window);
        self.due = found.is_some();
        found
    }

    fn search(&mut self, streams: &mut Streams, output: &Output, window: i32) -> Option<Found> {
        if streams.blocked() == 0 || window <= 0 {
            return None;
        }
        if output.len() >= QUEUE_BYTES {
            self.queue_full();
            return None;
        }
        let slots = streams.slots();
        for step in 0..slots {
            let index = (self.cursor + step) % slots;
            let stream = streams.get(index);
            if stream.is(BLOCKED) && stream.send_window > 0 {
                let token = stream.token;
                self.cursor = index + 1;
                streams.unblock(index);
                return Some(Found::Writable { token });
            }
        }
        None
    }
}
