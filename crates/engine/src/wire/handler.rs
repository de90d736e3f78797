//! The interface between every protocol and the exchanges that it carries.
//!
//! A wire calls back through [`Handler`], in this order for each exchange:
//!
//! ```text
//!   render_request ─► message or opening ─► sent ─► (body ─► body_taken)* … written ─► left?
//!         ─► received ─► Interim* ─► Head ─► Data* ─► End or Trailers     one of these, `whole`, or
//!                                                                         Failed, is the last
//! ```
//!
//! After the last event of an exchange the wire calls with its id no more, and the id may be given
//! to another exchange. A handler never calls a wire: it answers with [`Then`], and puts further
//! actions on a list that the worker reads when the transport has returned.
//!
//! Times are given with each call and are the driver's, read once per receive or send, so that
//! everything of one read has one time. The bytes of one response are counted by `received` before
//! its events.
//!
//! Within `on_event` and `whole` the handler may read and change its own state of that exchange
//! alone. It may be called for many exchanges in one read of one connection.

use super::fields::Fields;
use crate::blame::Failure;
use crate::id::ExchangeId;
use crate::prepare::{Rendered, StreamHead};
use drumfire_http2::Head;
use drumfire_measure::{AddressCounts, Closing, Connections, Leniencies};
use drumfire_plan::RenderedFields;
use drumfire_units::Nanos;
use std::net::SocketAddr;

/// The status by which a server refuses a head for its size (RFC 6585 section 5).
pub(crate) const FIELDS_TOO_LARGE: u16 = 431;

/// The part behind a response's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ahead {
    /// A body, which may be empty.
    Body,
    /// The response has no body; [`WireEvent::End`] follows.
    NoBody,
    /// Nothing follows: the response is over.
    Nothing,
}

/// A connection's report on an exchange, the same for every protocol. Borrowed bytes do not outlive
/// the call.
pub(crate) enum WireEvent<'a> {
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

impl WireEvent<'_> {
    /// The failure of an exchange of whose response nothing is known, and which is not sent again.
    pub(crate) fn failed(failure: Failure) -> Self {
        Self::Failed {
            failure,
            seen: Seen::default(),
            resend: Resend::Never,
        }
    }
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
    status: u16,
    /// The mistakes of it that were forgiven.
    pub(crate) leniencies: Leniencies,
}

impl Seen {
    /// What was read of a response: its status, 0 before that, and its forgiven mistakes.
    pub(crate) const fn new(status: u16, leniencies: Leniencies) -> Self {
        Self { status, leniencies }
    }

    /// The response's status, where it was read.
    pub(crate) const fn status(self) -> Option<u16> {
        match self.status {
            0 => None,
            status => Some(status),
        }
    }
}

/// The condition under which a failed request may be sent once more, as far as the wire knows it;
/// whether it is, the exchange decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resend {
    Never,
    /// It may be sent again if that does no more than sending it once: the server may have seen it.
    Idempotent,
    /// It may be sent again if that does no more than sending it once. The connection had been idle
    /// and ended without an answer, long after the request was sent: the server may have worked on
    /// it until then.
    Reused,
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

/// The opening of an exchange's stream.
pub(crate) struct Opening<'a> {
    /// The head that all exchanges of the request share.
    pub(crate) head: &'a StreamHead,
    /// Fields that belong to this exchange alone.
    pub(crate) extra: Option<Extra<'a>>,
    /// Whether a body follows.
    pub(super) has_body: bool,
}

impl<'a> Opening<'a> {
    /// A stream that is opened with a head and the fields that belong to this exchange alone, and
    /// ended at once where no body follows.
    #[inline]
    pub(crate) const fn new(
        head: &'a StreamHead,
        extra: Option<Extra<'a>>,
        has_body: bool,
    ) -> Self {
        Self {
            head,
            extra,
            has_body,
        }
    }

    /// The size of its fields, as SETTINGS_MAX_HEADER_LIST_SIZE counts it.
    #[inline]
    pub(crate) fn list_bytes(&self) -> u32 {
        let head = self.head.http2().list_bytes();
        match self.extra {
            None => head,
            Some(extra) => head.saturating_add(extra.list_bytes()),
        }
    }
}

/// Fields of one exchange, beside the head that all share.
#[derive(Clone, Copy)]
pub(crate) struct Extra<'a> {
    path: Option<&'a str>,
    authority: Option<&'a str>,
    fields: &'a RenderedFields,
}

impl<'a> Extra<'a> {
    /// Rendered fields, with a path and an authority of the exchange's own where it has them. The
    /// authority takes the place of a field `host`.
    pub(crate) const fn new(
        path: Option<&'a str>,
        authority: Option<&'a str>,
        fields: &'a RenderedFields,
    ) -> Self {
        Self {
            path,
            authority,
            fields,
        }
    }

    /// The size of all of them, as SETTINGS_MAX_HEADER_LIST_SIZE counts it.
    fn list_bytes(self) -> u32 {
        let sizes = self.iter();
        let sizes = sizes.map(|(name, value)| Head::field_bytes(name, value));
        sizes.fold(0, u32::saturating_add)
    }

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
    /// The bytes.
    pub(super) bytes: &'a [u8],
    /// Whether they are its last.
    pub(super) is_last: bool,
}

impl<'a> Chunk<'a> {
    /// Bytes of a body, its last ones or not.
    #[inline]
    pub(crate) const fn new(bytes: &'a [u8], is_last: bool) -> Self {
        Self { bytes, is_last }
    }
}

/// A fact about a connection that the run's figures count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// It was opened.
    Connected {
        /// The time from the dial to the open connection.
        time: Nanos,
        /// The peer's address, unless that is a path.
        address: Option<SocketAddr>,
    },
    /// Its TLS handshake is over.
    Secured {
        /// The time of the handshake.
        time: Nanos,
        /// Whether it resumed an earlier session.
        is_resumed: bool,
    },
    /// It failed, and is dialed again only after a pause.
    Paused,
    /// An exchange waits since the server allows no more streams than these.
    HeldBack(u32),
    /// It was closed.
    Closed(Life),
}

/// The life of a connection that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Life {
    why: Closing,
    time: Nanos,
    carried: u64,
    address: Option<SocketAddr>,
}

impl Life {
    /// The life of a connection to a peer, whose address is known unless that is a path, that was
    /// open for a time and carried this many requests behind the warm-up.
    pub(crate) const fn new(
        why: Closing,
        time: Nanos,
        carried: u64,
        address: Option<SocketAddr>,
    ) -> Self {
        Self {
            why,
            time,
            carried,
            address,
        }
    }

    /// Counts it in the figures of connections.
    pub(crate) fn record_in(self, connections: &mut Connections) {
        connections.record_closed(self.why, self.time, self.carried);
        if let Some(address) = self.address {
            let counts = AddressCounts::of(0, self.carried);
            connections.addresses.add(address, counts);
        }
    }
}

/// The callbacks of wires and the transport. Methods with a default are for handlers that measure,
/// or that use HTTP/1.1.
pub(crate) trait Handler {
    /// Makes the varying parts of the request of an exchange that a connection has taken.
    /// `unix_time` is asked for only where that needs the calendar clock.
    ///
    /// # Errors
    /// When the request can't be made. The exchange is over; the wire drops it.
    fn render_request(
        &mut self,
        id: ExchangeId,
        connection: u32,
        now: Nanos,
        unix_time: impl FnOnce() -> u64,
    ) -> Result<(), GivenUp>;

    /// The time at which its first byte was sent.
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

    /// Notes that the protocol has taken this many of them.
    fn body_taken(&mut self, id: ExchangeId, taken: usize, now: Nanos) -> Pump;

    /// Notes that the server refuses the rest of its body; the response has the reason.
    fn body_refused(&mut self, id: ExchangeId);

    /// Notes that bytes of it were written or queued; `whole` when the request is complete with
    /// them.
    fn written(&mut self, _id: ExchangeId, _bytes: usize, _whole: bool, _now: Nanos) {}

    /// Notes that its first bytes are handed to the kernel now.
    fn sent(&mut self, _id: ExchangeId, _now: Nanos) {}

    /// Notes when the bytes left that it was noted as sent with, by the kernel's stamp; before the
    /// bytes of its response.
    fn left(&mut self, _id: ExchangeId, _at: Nanos) {}

    /// Notes bytes of its response, before the events that they bring.
    fn received(&mut self, _id: ExchangeId, _bytes: usize, _now: Nanos) {}

    /// Whether the bytes of its response's body are wanted; a wire may discard them where they are
    /// not.
    fn reads_body(&self, _id: ExchangeId) -> bool {
        true
    }

    /// Takes a report of the connection on it.
    fn on_event(&mut self, id: ExchangeId, event: WireEvent<'_>, now: Nanos) -> Then;

    /// Notes that the response whose head is reported next has the status [`FIELDS_TOO_LARGE`];
    /// `sizes` are those of the request's head and of the server's limit, in words.
    fn head_refused(&mut self, _id: ExchangeId, _sizes: String) {}

    /// Takes a whole response that came in one piece: the same as its parts, one after the other.
    fn whole(&mut self, id: ExchangeId, whole: &Whole<'_>, now: Nanos) -> Then {
        let head = WireEvent::Head {
            status: whole.status,
            fields: whole.fields,
            ahead: whole.ahead,
        };
        let mut then = self.on_event(id, head, now);
        if then == Then::GoOn && !whole.body.is_empty() {
            let data = WireEvent::Data {
                bytes: whole.body,
                end: matches!(whole.end, End::Body),
            };
            then = self.on_event(id, data, now);
        }
        match (then, whole.end) {
            (Then::GoOn, End::Message(leniencies)) => {
                self.on_event(id, WireEvent::End { leniencies }, now)
            }
            (Then::GoOn, End::Trailers(fields)) => {
                self.on_event(id, WireEvent::Trailers { fields }, now)
            }
            (then, _) => then,
        }
    }

    /// Notes that it has a connection, or room on one, for which it waited until `now`.
    fn seated(&mut self, _id: ExchangeId, _now: Nanos) {}

    /// Counts a fact about a connection.
    fn note(&mut self, _note: Note) {}
}

/// The end of an exchange of which nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GivenUp;
