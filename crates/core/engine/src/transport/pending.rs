//! Pending input and output: sockets with unread input, output to be written, and failed sends.
//!
//! The transport marks a slot here after every call of its wire, and empties the lists before its
//! worker waits. Output with a request is written as soon as the event that started the request is
//! handled, because its response time is running. All other output (acknowledgements, window
//! updates, settings, resets) is sent with it, or when the worker waits, so a connection has one
//! send per turn. Nearly every readable socket is also reported as writable; this marks the output
//! and writes nothing.
//!
//! A slot is in each list at most once, which its [`Listed`] records, so that marking it again
//! costs one comparison. A slot whose connection is closed stays listed, and is skipped in its
//! turn. The lists are emptied in the order in which slots were added: no connection can delay
//! another's output.

use crate::wire::Outgoing;
use drumfire_net::Slot;
use std::collections::VecDeque;

/// The output to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// The output of connections that have a request in it.
    Requests,
    /// The output of all connections.
    All,
}

/// The lists that contain a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    /// The lists of slots with output.
    output: ListedOutput,
    /// Whether the slot is in the list of sockets with unread input.
    unread: bool,
    /// Whether the slot is in the list of failed sends.
    failed: bool,
}

/// The lists of output that contain a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListedOutput {
    /// No list of output.
    Nowhere,
    /// The list of all slots with something to write.
    Dirty,
    /// Both the list of all slots and the list of slots with a request to write.
    Requesting,
}

impl Listed {
    pub(super) const NOWHERE: Self = Self {
        output: ListedOutput::Nowhere,
        unread: false,
        failed: false,
    };

    /// Takes the slot's output off the lists, to be written.
    #[inline]
    pub(super) const fn leave(&mut self, output: Output) {
        self.output = match output {
            Output::Requests => ListedOutput::Dirty,
            Output::All => ListedOutput::Nowhere,
        };
    }

    /// Takes the slot's input off the list, to be read.
    pub(super) const fn leave_unread(&mut self) {
        self.unread = false;
    }

    /// Takes the slot's failed send off the list.
    pub(super) const fn leave_failed(&mut self) {
        self.failed = false;
    }
}

/// A transport's slots with input or output to move before its worker waits.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Slots whose sockets may hold more than was received in one turn. They cause no further
    /// readiness event, so only this list has them.
    unread: VecDeque<Slot>,
    /// The length of `unread` at the beginning of the turn. Slots added meanwhile wait for the next
    /// turn, so that a turn ends however fast a peer sends.
    unread_before: usize,
    /// Slots on which a send failed: they are read again, then their exchanges fail.
    failed_sends: Vec<Slot>,
    /// Slots with something to write.
    dirty: VecDeque<Slot>,
    /// Slots whose output has a request.
    requesting: VecDeque<Slot>,
}

impl Pending {
    /// Begins a turn: slots that are left unread from now on belong to the next turn.
    #[inline]
    pub(crate) fn begin_turn(&mut self) {
        self.unread_before = self.unread.len();
    }

    /// Whether this turn has input to read that no readiness event reports.
    #[inline]
    pub(crate) const fn has_input(&self) -> bool {
        self.unread_before > 0 || !self.failed_sends.is_empty()
    }

    /// Leaves the rest of a socket's input for the next turn.
    #[cold]
    pub(super) fn leave_unread(&mut self, slot: Slot, listed: &mut Listed) {
        if !std::mem::replace(&mut listed.unread, true) {
            self.unread.push_back(slot);
        }
    }

    /// Takes the first slot that was left unread before this turn.
    pub(super) fn next_unread(&mut self) -> Option<Slot> {
        self.unread_before = self.unread_before.checked_sub(1)?;
        self.unread.pop_front()
    }

    /// Takes a slot on which a send failed.
    pub(super) fn next_failed(&mut self) -> Option<Slot> {
        self.failed_sends.pop()
    }

    /// Notes the output of a slot's wire.
    #[inline(always)]
    pub(super) fn note(&mut self, slot: Slot, listed: &mut Listed, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Nothing => {}
            Outgoing::Output => self.mark(slot, listed),
            Outgoing::Failed => self.note_failed(slot, listed),
        }
    }

    /// Notes the output of a slot's wire with a request in it.
    #[inline(always)]
    pub(super) fn note_request(&mut self, slot: Slot, listed: &mut Listed, outgoing: Outgoing) {
        self.note(slot, listed, outgoing);
        if outgoing == Outgoing::Output && listed.output != ListedOutput::Requesting {
            listed.output = ListedOutput::Requesting;
            self.requesting.push_back(slot);
        }
    }

    #[inline]
    fn mark(&mut self, slot: Slot, listed: &mut Listed) {
        if listed.output == ListedOutput::Nowhere {
            listed.output = ListedOutput::Dirty;
            self.dirty.push_back(slot);
        }
    }

    /// Notes that a send has failed.
    #[cold]
    pub(super) fn note_failed(&mut self, slot: Slot, listed: &mut Listed) {
        if !std::mem::replace(&mut listed.failed, true) {
            self.failed_sends.push(slot);
        }
    }

    /// Takes a slot with this kind of output.
    #[inline]
    pub(super) fn next_dirty(&mut self, output: Output) -> Option<Slot> {
        if output == Output::Requests {
            return self.requesting.pop_front();
        }
        // Requests are written with everything else.
        self.requesting.clear();
        self.dirty.pop_front()
    }

    /// Whether there is output of this kind.
    #[inline]
    pub(crate) fn has_output(&self, output: Output) -> bool {
        match output {
            Output::Requests => !self.requesting.is_empty(),
            Output::All => !self.dirty.is_empty(),
        }
    }

    /// Whether there is something to do before a wait.
    #[inline]
    pub(crate) fn is_pressing(&self) -> bool {
        !self.unread.is_empty() || !self.failed_sends.is_empty() || !self.dirty.is_empty()
    }
}
