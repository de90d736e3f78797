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
//! After the last event of an exchange the wire makes no further calls with its id, which may be
//! reused. A handler never calls a wire: it returns [`Then`], and puts further actions on a list
//! that the worker reads after the transport has returned.
//!
//! Each call has a time from the driver, read once per receive or send, so that all events of one
//! read have the same time. `received` counts the bytes of a response before its events.
//!
//! Within `on_event` and `whole` the handler may read and change only its own state of that
//! exchange. It may be called for many exchanges in one read of one connection.

use super::fields::Fields;
use crate::blame::Failure;
use crate::id::ExchangeId;
use crate::prepare::{Rendered, SocketRequest, StreamHead};
use drumfire_http2::Head;
use drumfire_measure::{AddressCounts, Closing, Connections, Leniencies};
use drumfire_plan::RenderedFields;
use drumfire_units::Nanos;
use std::net::SocketAddr;

/// The status with which a server refuses a head because of its size (RFC 6585 section 5).
pub(crate) const FIELDS_TOO_LARGE: u16 = 431;

/// The part that follows a response's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ahead {
    /// A body, which may be empty.
    Body,
    /// The response has no body; [`WireEvent::End`] follows.
    NoBody,
    /// Nothing follows: the response is over.
    Nothing,
}

/// A connection's event for an exchange, common to all protocols. Borrowed bytes do not outlive the
/// call.
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
    /// A complete message of a WebSocket.
    Message(SocketMessage<'a>),
    /// The trailers; the response is over.
    Trailers { fields: Fields<'a> },
    /// The response is over, with these accepted violations.
    End { leniencies: Leniencies },
    /// The exchange failed on the wire.
    Failed {
        failure: Failure,
        seen: Seen,
        resend: Resend,
    },
}

impl WireEvent<'_> {
    /// The failure of an exchange without a known response, which is not sent again.
    pub(crate) fn failed(failure: Failure) -> Self {
        Self::Failed {
            failure,
            seen: Seen::default(),
            resend: Resend::Never,
        }
    }
}

/// A message that a WebSocket has received.
#[derive(Clone, Copy)]
pub(crate) struct SocketMessage<'a> {
    /// Whether the message is a text or bytes.
    pub(crate) kind: drumfire_websocket::Kind,
    /// The message, or as much of its beginning as the pool needs.
    pub(crate) payload: &'a [u8],
    /// The length of the whole message.
    pub(crate) length: u64,
    /// The violations that were accepted since the last message.
    pub(crate) leniencies: Leniencies,
}

/// What the server does on a WebSocket beside messages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SocketNote<'a> {
    /// A ping, which the wire answers.
    Ping,
    /// A pong.
    Pong,
    /// A close frame, with its code and its reason.
    Close(Option<u16>, &'a str),
}

/// What an exchange does on a WebSocket.
pub(crate) struct SocketTask<'a> {
    pub(crate) request: &'a SocketRequest,
    /// The message to send; empty without one.
    pub(crate) message: &'a [u8],
    /// The step in whose figures messages count that no exchange awaits.
    pub(crate) step: u16,
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
    /// The HTTP/1.1 message is complete, with these accepted violations.
    Message(Leniencies),
    /// The stream ends with the body, which is not empty.
    Body,
    /// The stream ends with trailers after a body, which is not empty.
    Trailers(Fields<'a>),
}

/// What the wire knows of an exchange that it cannot finish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    status: u16,
    /// The accepted violations of the response.
    pub(crate) leniencies: Leniencies,
}

impl Seen {
    /// The status that was read, or 0, and the accepted violations.
    pub(crate) const fn new(status: u16, leniencies: Leniencies) -> Self {
        Self { status, leniencies }
    }

    /// The response's status, if it was read.
    pub(crate) const fn status(self) -> Option<u16> {
        match self.status {
            0 => None,
            status => Some(status),
        }
    }
}

/// Whether the wire allows a failed request to be sent again. The exchange decides whether it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resend {
    Never,
    /// Allowed if sending the request twice has the same effect as sending it once: the server may
    /// have received it.
    Idempotent,
    /// Allowed if sending the request twice has the same effect as sending it once. The connection
    /// had been idle and ended without an answer, long after the request was sent: the server may
    /// have processed it until then.
    Reused,
    /// Allowed: the server refused the request unprocessed, for now.
    Refused,
    /// Allowed after this pause: the server did not process the request and never will.
    After(Nanos),
}

/// A wire's next step after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Continue.
    GoOn,
    /// The exchange is over and its response was read to the end.
    Over {
        /// Whether the request is incomplete; the rest of it is not sent.
        cut: bool,
    },
    /// The exchange has failed: the rest of its response is discarded.
    GiveUp,
}

/// A wire's next step after it has passed bytes of a body to the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pump {
    /// Request more bytes.
    Again,
    /// Wait for room, or for the exchange's own timer.
    Wait,
    /// Give the exchange up.
    GiveUp,
}

/// The opening of an exchange's stream.
pub(crate) struct Opening<'a> {
    /// The head that all exchanges of the request share.
    pub(crate) head: &'a StreamHead,
    /// Fields of this exchange only.
    pub(crate) extra: Option<Extra<'a>>,
    /// Whether a body follows.
    pub(super) has_body: bool,
}

impl<'a> Opening<'a> {
    /// The opening of a stream with a head and the fields of this exchange. The stream ends at once
    /// if no body follows.
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

    /// The size of all fields, as counted for SETTINGS_MAX_HEADER_LIST_SIZE.
    #[inline]
    pub(crate) fn list_bytes(&self) -> u32 {
        let head = self.head.http2().list_bytes();
        match self.extra {
            None => head,
            Some(extra) => head.saturating_add(extra.list_bytes()),
        }
    }
}

/// Fields of one exchange, in addition to the shared head.
#[derive(Clone, Copy)]
pub(crate) struct Extra<'a> {
    path: Option<&'a str>,
    authority: Option<&'a str>,
    fields: &'a RenderedFields,
}

impl<'a> Extra<'a> {
    /// Rendered fields, with the exchange's own path and authority, if any. The authority replaces
    /// a field `host`.
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

    /// The size of all these fields, as counted for SETTINGS_MAX_HEADER_LIST_SIZE.
    fn list_bytes(self) -> u32 {
        let sizes = self.iter();
        let sizes = sizes.map(|(name, value)| Head::field_bytes(name, value));
        sizes.fold(0, u32::saturating_add)
    }

    /// All these fields, pseudo-fields first.
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
    /// Whether these are the last bytes.
    pub(super) is_last: bool,
}

impl<'a> Chunk<'a> {
    /// Bytes of a body; `is_last`: whether they are the last ones.
    #[inline]
    pub(crate) const fn new(bytes: &'a [u8], is_last: bool) -> Self {
        Self { bytes, is_last }
    }
}

/// A fact about a connection that the run's figures count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionNote {
    /// The connection was opened.
    Connected {
        /// The time from the dial to the open connection.
        time: Nanos,
        /// The peer's address, unless it is a path.
        address: Option<SocketAddr>,
    },
    /// The TLS handshake is complete.
    Secured {
        /// The time of the handshake.
        time: Nanos,
        /// Whether the handshake resumed an earlier session.
        is_resumed: bool,
    },
    /// The connection failed, and is dialed again only after a pause.
    Paused,
    /// An exchange waits because the server allows only this many streams.
    HeldBack(u32),
    /// The connection was closed.
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
    /// The life of a connection that was open for `time` and carried this many requests after the
    /// warm-up. The peer's address is known unless it is a path.
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

    /// Counts this life in the figures of connections.
    pub(crate) fn record_in(self, connections: &mut Connections) {
        connections.record_closed(self.why, self.time, self.carried);
        if let Some(address) = self.address {
            let counts = AddressCounts::new(0, self.carried);
            connections.addresses.add(address, counts);
        }
    }
}

/// The callbacks of wires and the transport. Methods with a default are for handlers that measure,
/// or that use HTTP/1.1.
pub(crate) trait Handler {
    /// Renders the varying parts of the request of an exchange that a connection has taken.
    /// `unix_time` is called only if rendering needs the calendar clock.
    ///
    /// # Errors
    /// If the request cannot be rendered. The exchange is over; the wire drops it.
    fn render_request(
        &mut self,
        id: ExchangeId,
        connection: u32,
        now: Nanos,
        unix_time: impl FnOnce() -> u64,
    ) -> Result<(), GivenUp>;

    /// The time at which the exchange's first byte was sent.
    fn sent_at(&self, _id: ExchangeId) -> Nanos {
        Nanos::ZERO
    }

    /// The exchange's request in the form of HTTP/1.1; `None` if it has another form.
    fn message(&self, _id: ExchangeId) -> Option<&Rendered> {
        None
    }

    /// What the exchange does on a WebSocket; `None` if its request is of another kind.
    fn socket(&self, _id: ExchangeId) -> Option<SocketTask<'_>> {
        None
    }

    /// Counts a message that no exchange of a WebSocket awaited, for the step of the last one.
    /// `before` is the time of the previous message, or of the handshake.
    fn unasked(&mut self, _step: u16, _before: Nanos, _now: Nanos) {}

    /// Notes what the server of a WebSocket does beside messages, while the exchange is on it.
    fn noted(&mut self, _id: ExchangeId, _note: SocketNote<'_>, _now: Nanos) {}

    /// The opening of the exchange's HTTP/2 stream; `None` if the request has another form.
    fn opening(&self, id: ExchangeId) -> Option<Opening<'_>>;

    /// The next bytes of the exchange's body; `None` if no bytes are ready.
    fn body(&self, id: ExchangeId) -> Option<Chunk<'_>>;

    /// Notes that the protocol has taken this many bytes of the body.
    fn body_taken(&mut self, id: ExchangeId, taken: usize, now: Nanos) -> Pump;

    /// Notes that the server refuses the rest of the body; the response contains the reason.
    fn body_refused(&mut self, id: ExchangeId);

    /// Notes that bytes of the request were written or queued; `whole`: whether they complete the
    /// request.
    fn written(&mut self, _id: ExchangeId, _bytes: usize, _whole: bool, _now: Nanos) {}

    /// Notes that the first bytes of the request are passed to the kernel now.
    fn sent(&mut self, _id: ExchangeId, _now: Nanos) {}

    /// Notes the kernel's time stamp of the departure of the bytes for which `sent` was called.
    /// Called before the bytes of the response.
    fn left(&mut self, _id: ExchangeId, _at: Nanos) {}

    /// Notes bytes of the response, before the events in them.
    fn received(&mut self, _id: ExchangeId, _bytes: usize, _now: Nanos) {}

    /// Whether the bytes of the response's body are needed; if not, a wire may discard them.
    fn reads_body(&self, _id: ExchangeId) -> bool {
        true
    }

    /// Receives an event of the exchange.
    fn on_event(&mut self, id: ExchangeId, event: WireEvent<'_>, now: Nanos) -> Then;

    /// Notes that the next head has the status [`FIELDS_TOO_LARGE`]. `sizes` is a text with the
    /// sizes of the request's head and of the server's limit.
    fn head_refused(&mut self, _id: ExchangeId, _sizes: String) {}

    /// Receives a complete response that came in one piece; equivalent to its parts in order.
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

    /// Notes that the exchange has a connection, or room on one, for which it waited until `now`.
    fn seated(&mut self, _id: ExchangeId, _now: Nanos) {}

    /// Counts a fact about a connection.
    fn note(&mut self, _note: ConnectionNote) {}
}

/// The end of an exchange of which nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GivenUp;
