//! What users wait for.

use crate::errand::{Errand, Outcome};
use crate::talk::{Event, SocketAct, SocketErrand};
use drumfire_units::Nanos;

/// A call of a script that takes time.
#[derive(Debug)]
pub(crate) enum Ask {
    /// Requests, which run at the same time.
    Http(Vec<Errand>),
    /// A pause.
    Sleep(Nanos),
    /// Requests whose results become an event. Answered at once.
    Start(Vec<Errand>),
    /// A WebSocket, whose handshake becomes an event. Answered at once.
    Open(Box<SocketErrand>),
    /// An act on a WebSocket, given by its number. Answered at once.
    Socket(u32, SocketAct),
    /// The next events, of any number or of one, at most for a time.
    Next {
        wait: Option<Nanos>,
        only: Option<u32>,
    },
    /// The end of the run, with a reason. The user is not continued.
    Abort(String),
}

/// The answer to an [`Ask`].
#[derive(Debug)]
pub(crate) enum Answer {
    /// The results of the requests, in their order.
    Http(Vec<Outcome>),
    /// The pause is over, or the act is done.
    Woken,
    /// The number of what was begun.
    Number(u32),
    /// What has happened.
    Events(Vec<Event>),
}
