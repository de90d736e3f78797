//! The events to come, in order.

use crate::Answer;
use drumfire_units::Nanos;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// One connection: its slot, and which of the slot's connections it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wire {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The server has finished sending.
    Finished,
    /// The server resets it.
    Reset,
}

/// Something that happens.
#[derive(Debug)]
pub(crate) enum Event {
    /// An attempt to connect has been answered.
    Dialed(Wire),
    /// Bytes reach the server.
    Up(Wire, usize),
    /// The server has room for more.
    Room(Wire, usize),
    /// Bytes reach the client.
    Down(Wire, usize),
    /// The connection's end reaches the client.
    Ended(Wire, Ending),
    /// The server asks for a body.
    Continue(Wire),
    /// The server sends an answer's bytes from a place on.
    Send(Wire, Answer, usize),
    /// The server goes on with a stream's reply, from a step on.
    Step(Wire, u32, usize),
    /// The server sends the frames on a connection that its script has at this place.
    Announce(Wire, usize),
    /// The server ends the connection.
    End(Wire, Ending),
    /// The connection has been idle since it had carried this many requests.
    Idle(Wire, u64),
    /// A host dies.
    Death(usize),
    /// A host is back.
    Birth(usize),
    /// Something from the world's script.
    Hook(usize),
}

#[derive(Debug)]
struct Entry {
    at: Nanos,
    number: u64,
    event: Event,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

/// Events by time, and by their order of arrival where the time is the same.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Entry>,
    count: u64,
}

impl Queue {
    /// Adds an event.
    pub(crate) fn add(&mut self, at: Nanos, event: Event) {
        self.count += 1;
        self.heap.push(Entry {
            at,
            number: self.count,
            event,
        });
    }

    /// When the next event is; [`Nanos::MAX`] when there is none.
    pub(crate) fn next(&self) -> Nanos {
        self.heap.peek().map_or(Nanos::MAX, |entry| entry.at)
    }

    /// Takes the next event that is not after `until`.
    pub(crate) fn take(&mut self, until: Nanos) -> Option<(Nanos, Event)> {
        if self.next() > until {
            return None;
        }
        self.heap.pop().map(|entry| (entry.at, entry.event))
    }
}
