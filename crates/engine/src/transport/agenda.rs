//! Slots with something to do: input left unread, output to be written, a send that failed.

use super::Connection;
use crate::wire::{Http1, Http2};
use drumfire_net::Slot;

/// A transport's slots with something to do before its worker waits.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    /// Slots whose sockets may hold more than was received in one turn. Their edge has passed, so
    /// only this list knows of it.
    unread: Vec<Slot>,
    /// Slots on which a send failed: they are read once more, then their exchanges fail.
    failed_sends: Vec<Slot>,
    /// Slots with something to write.
    dirty: Vec<Slot>,
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
        if !std::mem::replace(&mut http2.dirty, true) {
            self.dirty.push(slot);
        }
    }

    /// Notes it where its wire has.
    #[inline]
    pub(super) fn mark_output(&mut self, slot: Slot, http2: &mut Http2) {
        if !http2.dirty && http2.has_output() {
            self.mark(slot, http2);
        }
    }

    /// The slots with something to write.
    #[inline]
    pub(super) fn dirty(&self) -> &[Slot] {
        &self.dirty
    }

    /// The first of them have been written.
    #[inline]
    pub(super) fn forget_dirty(&mut self, count: usize) {
        self.dirty.drain(..count);
    }

    /// Whether there is something to write.
    #[inline]
    pub(crate) fn has_output(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Whether there is something to do before any wait.
    #[inline]
    pub(crate) fn is_pressing(&self) -> bool {
        !self.unread.is_empty() || !self.failed_sends.is_empty() || !self.dirty.is_empty()
    }
}
