//! Slots with something to do: input left unread, output to be written, a send that failed.
//!
//! Output that holds a request is written as soon as the event that started the request is over,
//! since its response time runs. All other output (acknowledgements, window updates, settings,
//! resets) leaves with it, or waits until the worker does: so a connection has one send in a turn.
//! Nearly every input of a socket is reported together with room to write, which therefore marks the
//! output and writes nothing.

use super::Connection;
use crate::wire::{Http1, Http2, Listed, Wire};
use drumfire_net::Slot;
use std::collections::VecDeque;

/// The output to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// That of connections with a request in it.
    Requests,
    /// That of all.
    All,
}

/// A transport's slots with something to do before its worker waits.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    /// Slots whose sockets may hold more than was received in one turn. Their edge has passed, so
    /// only this list knows of it.
    unread: Vec<Slot>,
    /// Slots on which a send failed: they are read once more, then their exchanges fail.
    failed_sends: Vec<Slot>,
    /// Slots with something to write.
    dirty: VecDeque<Slot>,
    /// Slots whose output holds a request.
    requesting: VecDeque<Slot>,
}

impl Agenda {
    /// Leaves the rest of a socket's input for the next turn.
    pub(super) fn leave_unread(&mut self, slot: Slot, connection: &mut Connection) {
        if !std::mem::replace(&mut connection.unread, true) {
            self.unread.push(slot);
        }
    }

    /// How many slots were not read to the end.
    #[inline]
    pub(crate) fn unread_count(&self) -> usize {
        self.unread.len()
    }

    /// Takes the first slot of those that were not read to the end.
    pub(super) fn next_unread(&mut self) -> Option<Slot> {
        (!self.unread.is_empty()).then(|| self.unread.remove(0))
    }

    /// Notes where a send of HTTP/1.1 has failed.
    #[inline]
    pub(super) fn note_send(&mut self, slot: Slot, http1: &Http1) {
        if http1.has_failed_send() {
            self.note_failed(slot);
        }
    }

    /// Notes that a send has failed.
    #[cold]
    pub(super) fn note_failed(&mut self, slot: Slot) {
        if !self.failed_sends.contains(&slot) {
            self.failed_sends.push(slot);
        }
    }

    /// Whether a send has failed on any slot.
    #[inline]
    pub(crate) fn has_failed(&self) -> bool {
        !self.failed_sends.is_empty()
    }

    /// Takes a slot on which a send failed.
    pub(super) fn next_failed(&mut self) -> Option<Slot> {
        self.failed_sends.pop()
    }

    /// Notes that a slot has something to write.
    #[inline]
    pub(super) fn mark(&mut self, slot: Slot, http2: &mut Http2) {
        if http2.listed == Listed::Nowhere {
            http2.listed = Listed::Dirty;
            self.dirty.push_back(slot);
        }
    }

    /// Notes that a slot has a request to write.
    #[inline]
    pub(super) fn mark_request(&mut self, slot: Slot, http2: &mut Http2) {
        self.mark(slot, http2);
        if http2.listed != Listed::Requesting {
            http2.listed = Listed::Requesting;
            self.requesting.push_back(slot);
        }
    }

    /// Notes it where its wire has.
    #[inline]
    pub(super) fn mark_output(&mut self, slot: Slot, http2: &mut Http2) {
        if http2.listed == Listed::Nowhere && http2.has_output() {
            self.mark(slot, http2);
        }
    }

    /// Takes a slot with such output.
    #[inline]
    pub(super) fn next_dirty(&mut self, output: Output) -> Option<Slot> {
        if output == Output::Requests {
            return self.requesting.pop_front();
        }
        // Requests are written with everything else.
        self.requesting.clear();
        self.dirty.pop_front()
    }

    /// Notes that a connection has left the list of those with such output.
    #[inline]
    pub(super) fn leave(connection: &mut Connection, output: Output) {
        if let Wire::Http2(http2) = &mut connection.wire {
            http2.listed = match output {
                Output::Requests => Listed::Dirty,
                Output::All => Listed::Nowhere,
            };
        }
    }

    /// Whether there is such output.
    #[inline]
    pub(crate) fn has_output(&self, output: Output) -> bool {
        match output {
            Output::Requests => !self.requesting.is_empty(),
            Output::All => !self.dirty.is_empty(),
        }
    }

    /// Whether there is something to do before any wait.
    #[inline]
    pub(crate) fn is_pressing(&self) -> bool {
        !self.unread.is_empty() || !self.failed_sends.is_empty() || !self.dirty.is_empty()
    }
}
