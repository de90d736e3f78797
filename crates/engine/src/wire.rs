//! Wires: the protocol of a connection, and the one interface between every protocol and the
//! exchanges that it carries.
//!
//! A wire knows bytes, and exchanges by their ids. The transport calls it
//! when its socket is ready, when an exchange is put on it, and when its output is to be written.
//! It calls back through [`Handler`], in this order for each exchange:
//!
//! ```text
//!   begin ─► message or opening ─► Sent ─► (body ─► body_taken)* … written
//!         ─► received ─► Interim* ─► Head ─► Data* ─► End or Trailers     one of these, `whole`, or
//!                                                                         Failed, is the last
//! ```
//!
//! A handler never calls a wire: it answers with [`Then`], and puts further actions on a list that
//! the worker reads when the transport has returned.

mod carriage;
mod fields;
mod http1;
mod http2;
mod settings;

pub(crate) use carriage::{Cancelled, Carriage, Phase};
pub(crate) use fields::Fields;
pub(crate) use http1::{Fate, Http1, Terms};
pub(crate) use http2::{Flushed, Going, Heed, Http2, Listed, Opened, Reading, Silence};
pub(crate) use settings::Settings;

use crate::blame::Failure;
use crate::id::ExchangeId;
use crate::limits::{DISCARD_BYTES, RECEIVE_BYTES};
use crate::prepare::{Rendered, StreamHead};
use drumfire_http1 as h1;
use drumfire_measure::{Closing, Leniencies};
use drumfire_net::{Io, IoError, Received, Slot};
use drumfire_plan::RenderedFields;
use drumfire_units::Nanos;
use std::net::SocketAddr;

/// The phase of a connection, with its state.
#[derive(Debug)]
pub(crate) enum Wire {
    /// There is none.
    Empty,
    /// It is being opened.
    Dialing,
    /// The TLS handshake with a proxy is under way.
    SecuringProxy,
    /// A proxy has been asked to connect through; this reads its answer.
    Tunneling(Box<h1::Machine>),
    /// The TLS handshake is under way.
    Securing,
    /// It speaks HTTP/1.1.
    Http1(Http1),
    /// It speaks HTTP/2.
    Http2(Box<Http2>),
}

impl Wire {
    /// Whether it is being opened, and can't carry anything yet.
    pub(crate) const fn is_on_its_way(&self) -> bool {
        match self {
            Self::Dialing | Self::SecuringProxy | Self::Tunneling(_) | Self::Securing => true,
            Self::Empty | Self::Http1(_) | Self::Http2(_) => false,
        }
    }

    /// Requests sent on it.
    pub(crate) fn carried(&self) -> u64 {
        match self {
            Self::Empty
            | Self::Dialing
            | Self::SecuringProxy
            | Self::Tunneling(_)
            | Self::Securing => 0,
            Self::Http1(http1) => http1.carried(),
            Self::Http2(http2) => http2.carried(),
        }
    }
}

/// A driver and the slot in it that a wire is on.
pub(crate) struct Port<'a, I> {
    pub(crate) io: &'a mut I,
    pub(crate) slot: Slot,
}

impl<I: Io> Port<'_, I> {
    #[inline]
    pub(crate) fn now(&self) -> Nanos {
        self.io.now()
    }

    #[inline]
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<usize, IoError> {
        self.io.send(self.slot, bytes)
    }

    #[inline]
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> Result<Received, IoError> {
        self.io.receive(self.slot, buffer)
    }
}

/// The buffers with which all connections of a worker receive; one of each, for they take turns.
#[derive(Debug)]
pub(crate) struct Input {
    /// Received bytes.
    pub(crate) buffer: Vec<u8>,
    /// How many of them the last receive brought.
    pub(crate) filled: usize,
    /// Room for bytes that are thrown away unread; its memory is never touched where the driver
    /// can discard.
    pub(crate) scratch: Vec<u8>,
    /// The shared state of HTTP/1.1's machines.
    pub(crate) shared: h1::Shared,
}

impl Input {
    pub(crate) fn new() -> Self {
        Self {
            buffer: vec![0; RECEIVE_BYTES],
            filled: 0,
            scratch: vec![0; DISCARD_BYTES],
            shared: h1::Shared::new(h1::Limits::default()),
        }
    }
}

/// The part behind a response's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ahead {
    /// A body, which may be empty.
    Body,
    /// No body; [`Heard::End`] follows.
    NoBody,
    /// Nothing: the response is over.
    Nothing,
}

/// A connection's report on an exchange, the same for every protocol. Borrowed bytes do not outlive
/// the call.
pub(crate) enum Heard<'a> {
    /// An interim response.
    Interim,
    /// The final response's head.
    Head {
        status: u16,
        fields: Fields<'a>,
        ahead: Ahead,
    },
    /// Bytes of the body.
    Data { bytes: &'a [u8], end: bool },
    /// The trailers; the response is over.
    Trailers { fields: Fields<'a> },
    /// The response is over, and was forgiven this.
    End { leniencies: Leniencies },
    /// The exchange failed on the wire.
    Failed {
        failure: Failure,
        seen: Seen,
        resend: Resend,
    },
}

/// A response that came in one piece.
pub(crate) struct Whole<'a> {
    pub(crate) status: u16,
    pub(crate) fields: Fields<'a>,
    pub(crate) ahead: Ahead,
    pub(crate) body: &'a [u8],
    pub(crate) end: End<'a>,
}

/// The end of a response that came in one piece.
#[derive(Clone, Copy)]
pub(crate) enum End<'a> {
    /// A message of HTTP/1.1 is complete, and was forgiven this.
    Message(Leniencies),
    /// The stream ends with the body, which is not empty.
    Body,
    /// The stream ends with trailers behind a body, which is not empty.
    Trailers(Fields<'a>),
}

/// The wire's knowledge of an exchange that it can't finish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The response's status as far as it was read; 0 before that.
    pub(crate) status: u16,
    /// The mistakes of it that were forgiven.
    pub(crate) leniencies: Leniencies,
}

/// Whether a failed request may be sent once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resend {
    Never,
    /// If sending it twice does no more than sending it once: the server may have seen it.
    Idempotent,
    /// The server refused it unprocessed, for now.
    Refused,
    /// The server did not process it and never will; after this pause.
    After(Nanos),
}

/// A wire's next step after a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Goes on.
    GoOn,
    /// The exchange is over and its response was read to the end.
    Over {
        /// Whether the request is incomplete: the rest of it is not sent.
        cut: bool,
    },
    /// The exchange has failed: the rest of its response is discarded.
    GiveUp,
}

/// A wire's next step after it has handed bytes of a body to the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pump {
    /// Asks for more.
    Again,
    /// Waits for room, or for the exchange's own time.
    Wait,
    /// The exchange is given up.
    GiveUp,
}

/// How an exchange's stream is opened.
pub(crate) struct Opening<'a> {
    pub(crate) head: &'a StreamHead,
    /// Fields that belong to this exchange alone.
    pub(crate) extra: Option<Extra<'a>>,
    pub(crate) has_body: bool,
}

/// Fields of an exchange's own.
#[derive(Clone, Copy)]
pub(crate) struct Extra<'a> {
    pub(crate) path: Option<&'a str>,
    /// Takes the place of a field `host`.
    pub(crate) authority: Option<&'a str>,
    pub(crate) fields: &'a RenderedFields,
}

impl<'a> Extra<'a> {
    /// All of them, pseudo-fields first.
    pub(crate) fn iter(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let pseudo = [(":authority", self.authority), (":path", self.path)];
        let pseudo = pseudo
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        let has_authority = self.authority.is_some();
        let fields = self.fields.iter();
        let fields = fields.filter(move |(name, _)| !(has_authority && *name == "host"));
        pseudo
            .chain(fields)
            .map(|(name, value)| (name.as_bytes(), value.as_bytes()))
    }
}

/// The next bytes of a body.
pub(crate) struct Chunk<'a> {
    pub(crate) bytes: &'a [u8],
    /// Whether they are its last.
    pub(crate) end: bool,
}

/// A fact about a connection that the run's figures count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// It was opened.
    Connected {
        /// How long that took.
        time: Nanos,
        /// The peer's address, unless that is a path.
        address: Option<SocketAddr>,
    },
    /// Its TLS handshake is over.
    Secured {
        /// How long it took.
        time: Nanos,
        /// Whether it resumed an earlier session.
        is_resumed: bool,
    },
    /// An exchange waits, for the server allows no more streams than these.
    HeldBack(u32),
    /// It was closed.
    Closed(Life),
}

/// The life of a connection that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Life {
    /// Why it was closed.
    pub(crate) why: Closing,
    /// How long it was open.
    pub(crate) time: Nanos,
    /// Requests sent on it.
    pub(crate) carried: u64,
    /// The peer's address, unless that is a path.
    pub(crate) address: Option<SocketAddr>,
}

/// The callbacks of wires and the transport. Methods with a default are for handlers that measure,
/// or that use HTTP/1.1.
pub(crate) trait Handler {
    /// A connection has taken the exchange: makes what varies in its request. `unix_time` is asked
    /// for only where that needs the calendar clock.
    ///
    /// # Errors
    /// When the request can't be made. The exchange is over; the wire drops it.
    fn begin(
        &mut self,
        id: ExchangeId,
        connection: u32,
        now: Nanos,
        unix_time: impl FnOnce() -> u64,
    ) -> Result<(), GivenUp>;

    /// When its first byte was sent.
    fn sent_at(&self, _id: ExchangeId) -> Nanos {
        Nanos::ZERO
    }

    /// Its request as HTTP/1.1 sends it; `None` where it has none in that form.
    fn message(&self, _id: ExchangeId) -> Option<&Rendered> {
        None
    }

    /// Its request as HTTP/2 opens it; `None` where it has none in that form.
    fn opening(&self, id: ExchangeId) -> Option<Opening<'_>>;

    /// The next bytes of its body; `None` when there are none for now.
    fn body(&self, id: ExchangeId) -> Option<Chunk<'_>>;

    /// The protocol has taken this many of them.
    fn body_taken(&mut self, id: ExchangeId, taken: usize, now: Nanos) -> Pump;

    /// The server refuses the rest of its body; the response has the reason.
    fn body_refused(&mut self, id: ExchangeId);

    /// Bytes of it were written or queued; `whole` when the request is complete with them.
    fn written(&mut self, _id: ExchangeId, _bytes: usize, _whole: bool, _now: Nanos) {}

    /// Its first bytes are handed to the kernel now.
    fn sent(&mut self, _id: ExchangeId, _now: Nanos) {}

    /// Bytes of its response have come.
    fn received(&mut self, _id: ExchangeId, _bytes: usize, _now: Nanos) {}

    /// Whether the bytes of its response's body are looked at.
    fn reads_body(&self, _id: ExchangeId) -> bool {
        true
    }

    /// The connection reports on it.
    fn heard(&mut self, id: ExchangeId, heard: Heard<'_>, now: Nanos) -> Then;

    /// The whole response came in one piece: the same as its parts, one after the other.
    fn whole(&mut self, id: ExchangeId, whole: &Whole<'_>, now: Nanos) -> Then {
        let head = Heard::Head {
            status: whole.status,
            fields: whole.fields,
            ahead: whole.ahead,
        };
        let mut then = self.heard(id, head, now);
        if then == Then::GoOn && !whole.body.is_empty() {
            let data = Heard::Data {
                bytes: whole.body,
                end: matches!(whole.end, End::Body),
            };
            then = self.heard(id, data, now);
        }
        match (then, whole.end) {
            (Then::GoOn, End::Message(leniencies)) => {
                self.heard(id, Heard::End { leniencies }, now)
            }
            (Then::GoOn, End::Trailers(fields)) => self.heard(id, Heard::Trailers { fields }, now),
            (then, _) => then,
        }
    }

    /// It has a connection, or room on one, that it waited for until `now`.
    fn seated(&mut self, _id: ExchangeId, _now: Nanos) {}

    /// Counts a fact about a connection.
    fn note(&mut self, _note: Note) {}
}

/// The exchange is over before anything of it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GivenUp;
