//! The future events, in order.

use crate::Answer;
use drumfire_units::Nanos;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// One connection: its slot, and its generation in the slot.
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

/// A future event.
#[derive(Debug)]
pub(crate) enum Event {
    /// The answer to an attempt to connect.
    Dialed(Wire),
    /// Bytes reach the server.
    Up(Wire, usize),
    /// The server has room for more bytes.
    Room(Wire, usize),
    /// Bytes reach the client.
    Down(Wire, usize),
    /// The end of the connection reaches the client.
    Ended(Wire, Ending),
    /// The server sends 100 (Continue).
    Continue(Wire),
    /// The server sends an answer's bytes from a position on.
    Send(Wire, Answer, usize),
    /// The server continues a stream's reply from a step on.
    Step(Wire, u32, usize),
    /// The server sends the frames of its script with this index on a connection.
    Announce(Wire, usize),
    /// The server ends the connection.
    End(Wire, Ending),
    /// The connection has been idle since it carried this many requests.
    Idle(Wire, u64),
    /// A host dies.
    Death(usize),
    /// A host is restarted.
    Birth(usize),
    /// An action of the world's script.
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

/// Events ordered by time, and by insertion if the times are equal.
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

    /// The time of the next event; [`Nanos::MAX`] for an empty queue.
    pub(crate) fn next(&self) -> Nanos {
        self.heap.peek().map_or(Nanos::MAX, |entry| entry.at)
    }

    /// Takes the next event, if it is not later than `until`.
    pub(crate) fn pop_until(&mut self, until: Nanos) -> Option<(Nanos, Event)> {
        if self.next() > until {
            return None;
        }
        self.heap.pop().map(|entry| (entry.at, entry.event))
    }
}
