//! Places for exchanges on connections that carry many at a time.

use crate::connection::Exchange;
use crate::redirect::{Follow, StreamHop};
use drumfire_coding::Decoder;
use drumfire_grpc::{Reply, ReplySettings};
use drumfire_http2::{Connection as Machine, StreamRef};
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// What a place is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It has no exchange.
    Free,
    /// Its exchange waits for a connection, or for room on it.
    Waiting,
    /// Its exchange waits for the address that a redirect leads to.
    Resolving,
    /// Its exchange rests before it is sent once more.
    Resting,
    /// Its exchange is on a stream.
    Open(StreamRef),
}

/// A place: room for one exchange at a time. Its index is the token of its stream.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) phase: Phase,
    /// Whose connection its exchanges take, and whose the current one takes by now: a redirect
    /// may have led it elsewhere.
    pub(crate) home: u32,
    pub(crate) group: u32,
    /// The slot that carries its stream.
    pub(crate) slot: u32,
    /// The response's status, of a call the one that the server gave; 0 before there is one.
    pub(crate) status: u16,
    pub(crate) interim: u16,
    /// Of a call's body that was encoded before the run: where the last message ends that is
    /// counted as sent. One that is sent again begins with what was.
    pub(crate) told: u32,
    pub(crate) exchange: Exchange,
    /// When its last exchange ended.
    pub(crate) freed: Nanos,
    /// When something must have happened; [`Nanos::MAX`] when nothing must.
    pub(crate) deadline: Nanos,
    pub(crate) reply: Reply,
    pub(crate) decoder: Option<Box<Decoder>>,
    pub(crate) follow: Option<Box<Follow<StreamHop>>>,
    /// What a call needs whose messages are made or looked at one by one.
    pub(crate) talk: Option<Box<Talk>>,
}

impl Place {
    pub(crate) fn new(group: u32) -> Self {
        Self {
            phase: Phase::Free,
            home: group,
            group,
            slot: group,
            status: 0,
            interim: 0,
            told: 0,
            exchange: Exchange::NONE,
            freed: Nanos::ZERO,
            deadline: Nanos::MAX,
            reply: Reply::new(&ReplySettings::default()),
            decoder: None,
            follow: None,
            talk: None,
        }
    }

    /// Whether its request may have more to say.
    #[inline]
    pub(crate) fn is_speaking(&self) -> bool {
        let talks = |talk: &Talk| !talk.said_all;
        self.exchange.unwritten > 0 || self.talk.as_deref().is_some_and(talks)
    }
}

/// A call whose messages are made as it goes, or looked at as they come. Kept by its place for the
/// next one.
#[derive(Debug, Default)]
pub(crate) struct Talk {
    /// Messages that are made and not yet handed to the stream.
    pub(crate) body: Vec<u8>,
    /// How much of them is handed over.
    pub(crate) taken: usize,
    /// Where in them the last message ends that is handed over whole.
    pub(crate) told: usize,
    /// How many messages are made.
    pub(crate) made: u64,
    /// How many are handed over whole.
    pub(crate) sent: u64,
    /// How many are counted as sent: those of a call that is sent again are counted once.
    pub(crate) counted: u64,
    /// How many the call sends in all, at most; [`Talk::UNKNOWN`] before it has begun.
    pub(crate) total: u64,
    /// When the last message came; the first write before any.
    pub(crate) heard: Nanos,
    /// When the call has said and heard enough; [`Nanos::MAX`] when its messages say so.
    pub(crate) until: Nanos,
    /// Whether the request has ended.
    pub(crate) said_all: bool,
}

impl Talk {
    /// The number of messages of a call that has not begun.
    pub(crate) const UNKNOWN: u64 = u64::MAX;
}

/// What a slot has whose connection carries many exchanges.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) machine: Machine,
    /// Places whose streams were opened and have not been written.
    pub(crate) unsent: Vec<u32>,
    /// Whether it stands in the list of those with something to write.
    pub(crate) dirty: bool,
    /// Whether another slot has taken its place: it carries what it has to the end.
    pub(crate) retiring: bool,
    /// Streams opened.
    pub(crate) carried: u64,
    /// Responses that have come.
    pub(crate) answered: u64,
    /// The code of the server's GOAWAY.
    pub(crate) going: Option<u32>,
    /// What it said with that.
    pub(crate) farewell: Option<Box<str>>,
    /// When its last bytes came.
    pub(crate) heard: Nanos,
    /// Whether it was asked for a sign of life since then.
    pub(crate) asked: bool,
}

impl Link {
    pub(crate) fn new(machine: Machine) -> Self {
        Self {
            machine,
            unsent: Vec::new(),
            dirty: false,
            retiring: false,
            carried: 0,
            answered: 0,
            going: None,
            farewell: None,
            heard: Nanos::ZERO,
            asked: false,
        }
    }
}

/// The places that one of the plan's connections has.
#[derive(Debug)]
pub(crate) struct Group {
    /// The slot that carries new exchanges now.
    pub(crate) slot: u32,
    /// Places whose exchange waits for the connection, or for room on it.
    pub(crate) waiting: VecDeque<u32>,
}
