//! One slot: a connection, and the exchange that it carries.

use crate::keep_alive::Hint;
use crate::limits::TRICKLE;
use crate::place::Link;
use crate::prepare::Route;
use crate::redirect::{Follow, Hop};
use drumfire_coding::Decoder;
use drumfire_http1::Machine;
use drumfire_measure::{Leniencies, Outcome, Sample};
use drumfire_units::Nanos;

/// What a slot's connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// There is none.
    Empty,
    /// It is being opened.
    Dialing,
    /// A proxy has been asked to connect through.
    Tunneling,
    /// The TLS handshake is under way.
    Securing,
    /// It is open and carries no exchange.
    Idle,
    /// It carries an exchange.
    Busy,
    /// It speaks HTTP/2 and waits for the server's first word.
    Greeting,
    /// It speaks HTTP/2 and carries any number of exchanges.
    Open,
}

/// Whether a slot has an exchange to carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duty {
    /// No: it is free, or its connection is opened in advance.
    None,
    /// Yes.
    Exchange,
}

/// A request under way and what is known of it so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    /// Which request of the list.
    pub(crate) request: u32,
    /// Its number within the run.
    pub(crate) number: u64,
    pub(crate) intended: Nanos,
    pub(crate) due: Nanos,
    /// When a connection took it; the start of its timeout.
    pub(crate) started: Nanos,
    /// [`Nanos::MAX`] until the first write.
    pub(crate) sent: Nanos,
    pub(crate) first_byte: Nanos,
    /// How many of the request's bytes are still to be written.
    pub(crate) unwritten: u32,
    /// Bytes written in all, redirects included.
    pub(crate) bytes_sent: u32,
    pub(crate) bytes_received: u64,
    /// Whether the body waits for `100 Continue`.
    pub(crate) awaits_continue: bool,
    /// Whether it was sent a second time on a new connection.
    pub(crate) retried: bool,
}

impl Exchange {
    /// One that has not begun.
    pub(crate) const NONE: Self = Self {
        request: 0,
        number: 0,
        intended: Nanos::ZERO,
        due: Nanos::ZERO,
        started: Nanos::ZERO,
        sent: Nanos::MAX,
        first_byte: Nanos::MAX,
        unwritten: 0,
        bytes_sent: 0,
        bytes_received: 0,
        awaits_continue: false,
        retried: false,
    };
}

impl Exchange {
    /// The first write is being handed to the kernel.
    #[inline]
    pub(crate) fn note_sent(&mut self, now: Nanos) {
        if self.sent == Nanos::MAX {
            self.sent = now;
        }
    }

    /// The record of it when it has ended, with a status or none (0).
    #[inline]
    pub(crate) fn sample(&self, end: Nanos, outcome: Outcome, status: u16, step: u16) -> Sample {
        Sample {
            intended: self.intended,
            due: self.due,
            // An attempt that wrote nothing counts from when it began.
            sent: if self.sent == Nanos::MAX {
                self.started.max(self.due)
            } else {
                self.sent
            },
            first_byte: self.first_byte,
            end,
            bytes_sent: self.bytes_sent,
            outcome,
            leniencies: Leniencies(0),
            bytes_received: self.bytes_received,
            status,
            step,
        }
    }

    /// What kept it from being over in time, when its response has this status; 0 before its head.
    pub(crate) fn lateness(&self, status: u16, now: Nanos) -> Outcome {
        if status == 0 {
            return if self.unwritten == 0 {
                Outcome::TimeoutHead
            } else {
                Outcome::TimeoutTotal
            };
        }
        // A body that trickles is late by itself; one that flows is only too long.
        let flow = u128::from(self.bytes_received) * 1_000_000_000;
        let span = (now - self.first_byte).0;
        if flow < u128::from(TRICKLE) * u128::from(span) {
            Outcome::TimeoutBody
        } else {
            Outcome::TimeoutTotal
        }
    }
}

/// A slot.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) state: State,
    pub(crate) duty: Duty,
    /// Failed attempts to open it, in a row.
    pub(crate) failures: u8,
    pub(crate) route: u16,
    /// Addresses tried in the current attempt to open it.
    pub(crate) tried: u16,
    /// Which of the route's addresses is next.
    pub(crate) choice: u32,
    /// Whether the peer has finished sending: what it sent is read to its end, which no further
    /// event will tell, and the connection carries no other request.
    pub(crate) peer_closed: bool,
    /// A send on it has failed; what the server has already said is still to be read.
    pub(crate) broken: bool,
    /// Its socket may hold more than was received in one turn.
    pub(crate) unread: bool,
    /// Requests sent on the current connection.
    pub(crate) carried: u64,
    /// What the server says of how long it keeps the connection.
    pub(crate) hint: Hint,
    pub(crate) machine: Machine,
    pub(crate) exchange: Exchange,
    /// When the slot became free.
    pub(crate) freed: Nanos,
    /// When the current phase of opening began.
    pub(crate) phase_start: Nanos,
    /// When something must have happened; [`Nanos::MAX`] when nothing must.
    pub(crate) deadline: Nanos,
    pub(crate) decoder: Option<Box<Decoder>>,
    pub(crate) follow: Option<Box<Follow<Hop>>>,
    /// Whose places it carries, where connections carry many exchanges.
    pub(crate) group: u32,
    pub(crate) link: Option<Box<Link>>,
}

const _: () = assert!(
    size_of::<Connection>() <= 256,
    "a slot is small: there may be a million"
);

impl Connection {
    /// The way that the current request takes, where a redirect led it off the slot's own.
    pub(crate) fn detour(&self) -> Option<&Route> {
        self.follow.as_ref()?.current.as_ref()?.detour.as_deref()
    }

    /// An empty slot for a route.
    pub(crate) fn new(route: u16, choice: u32) -> Self {
        Self {
            state: State::Empty,
            duty: Duty::None,
            failures: 0,
            route,
            tried: 0,
            choice,
            peer_closed: false,
            broken: false,
            unread: false,
            carried: 0,
            hint: Hint::NONE,
            machine: Machine::new(),
            exchange: Exchange::NONE,
            freed: Nanos::ZERO,
            phase_start: Nanos::ZERO,
            deadline: Nanos::MAX,
            decoder: None,
            follow: None,
            group: 0,
            link: None,
        }
    }
}
