//! A conversation with a server before the run: one exchange on a [`Transport`] of one connection,
//! as the run's own calls are, without a sample.
//!
//! ```text
//!   converse ─► Line: transport, timers, driver ─► turn, until the call has ended
//!                      ▲                                  │
//!                      └── next ── Speaker ◄── on_message ┘
//! ```
//!
//! [`converse`] lends a [`Speaker`] one bidirectional stream: each turn of the line encodes the
//! messages that the speaker has ready, sends what the stream takes, and gives it those of the
//! server, in order. The stream ends when the speaker is done, when the server ends it, or at the
//! limit; where a server answers only after the end of the request, the client's side ends first.
//! [`chooses_http2`] only opens the connection, to see which protocol the server agrees on.
//!
//! It reuses the transport rather than a client of its own, so that a server that can be loaded can
//! also be asked: the same proxies, TLS, addresses and checks of HTTP/2. It blocks the calling
//! thread, for at most the limit; three times bound it. The limit is that of the whole, the
//! connection's opening included. [`SETTINGS_LIMIT`] ends the wait for a peer that accepts a
//! connection and says nothing, as one of HTTP/1 does. [`PATIENCE`] ends the client's side, not the
//! conversation.
//!
//! A server's messages may be up to [`MESSAGE_BYTES`] long each, and are given on one at a time:
//! the speaker bounds what it keeps of them.

use crate::blame::{Failure, call_verdict};
use crate::id::{ExchangeId, Shard, ShareId};
use crate::prepare::{PrepareError, Resolver, Route, StreamHead, TargetForm, USER_AGENT};
use crate::prepare::{Routes, authority, routes_of};
use crate::timers::Timers;
use crate::transport::{Context, Further, Lane, LinkState, Output, Transport};
use crate::wire::{Ahead, Chunk, GivenUp, Handler, Opening, Pump, WireEvent};
use crate::wire::{Settings, Then};
use drumfire_grpc::{
    Code, Decompressor, Encoding, Keep, Replies, Reply, ReplySettings, Status, write_message,
};
use drumfire_http2::{Head, Indexing};
use drumfire_measure::{Detail, Outcome};
use drumfire_net::{Fault, Io, Readiness, TlsConfig};
use drumfire_plan::{Header, Inquiry, Plan, Pool};
use drumfire_units::Nanos;
use std::fmt;

/// The one exchange.
const EXCHANGE: ExchangeId = ExchangeId(0);
/// The share whose connection carries it.
const SHARE: ShareId = ShareId(0);
/// The largest message of a reply: a server's whole schema.
const MESSAGE_BYTES: u32 = 32 * 1024 * 1024;
/// The time for an answer on an open stream, counted from the last one. Some servers answer only
/// when the request has ended: after this time it ends.
const PATIENCE: Nanos = Nanos::from_secs(1);
/// The time for the server's SETTINGS, which it sends first and without waiting for anything (RFC
/// 9113 section 3.4).
const SETTINGS_LIMIT: Nanos = Nanos::from_secs(3);

/// The client's side of the stream: its messages, and its reader of the answers. Each turn calls
/// [`Self::next`] until it gives none, then [`Self::is_done`]; [`Self::on_message`] comes in
/// between, for each answer.
pub trait Speaker {
    /// The next message to send; `None` while an answer is awaited, and at the end.
    fn next(&mut self) -> Option<Vec<u8>>;

    /// Whether there are no further messages, so that the stream may be ended.
    fn is_done(&self) -> bool;

    /// Whether the stream is ended behind its first message, for a server that answers no sooner.
    fn sends_one(&self) -> bool {
        false
    }

    /// Takes a message of the server.
    ///
    /// # Errors
    /// In words, when it can't go on from there.
    fn on_message(&mut self, message: &[u8]) -> Result<(), String>;
}

/// The failure of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConversationError {
    /// The way to the server could not be prepared, so that nothing was sent.
    Prepare(PrepareError),
    /// The connection or the stream failed, with a detail where there is one.
    Failed(Outcome, Option<Detail>),
    /// The call ended with a status that is not OK; the text is the server's own, possibly empty.
    Status(Code, String),
    /// The speaker refused an answer of the server.
    Speaker(String),
    /// The limit has passed.
    TimedOut,
    /// The server has accepted the connection, and has not sent HTTP/2's SETTINGS.
    Silent,
    /// The driver failed.
    Driver(Fault),
}

impl fmt::Display for ConversationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prepare(error) => error.fmt(f),
            Self::Failed(outcome, None) => f.write_str(outcome.words()),
            Self::Failed(outcome, Some(detail)) => write!(f, "{}: {detail}", outcome.words()),
            Self::Status(code, message) => {
                write!(f, "the server returned {}", code.name())?;
                if message.is_empty() {
                    Ok(())
                } else {
                    write!(f, ": {message}")
                }
            }
            Self::Speaker(text) => f.write_str(text),
            Self::TimedOut => f.write_str("the server did not answer in time"),
            Self::Silent => f.write_str(
                "it accepts connections but sends nothing; an HTTP/2 server starts with SETTINGS",
            ),
            Self::Driver(fault) => write!(f, "the event loop failed: {fault}"),
        }
    }
}

impl std::error::Error for ConversationError {}

/// Holds a conversation with the server of an inquiry, on one stream to `path`, until the server
/// ends it or the speaker is done. Where the server waits for the request's end, the stream ends
/// before the speaker is done; its further messages need another conversation.
///
/// It blocks for the resolver and then for at most `limit`. The connection is closed in any case,
/// also where the call fails.
///
/// # Errors
/// When the way to the server, the call or the speaker fails.
pub fn converse<I: Io>(
    io: I,
    inquiry: &Inquiry,
    resolver: &Resolver,
    (path, metadata): (&str, &[Header]),
    limit: Nanos,
    speaker: &mut dyn Speaker,
) -> Result<(), ConversationError> {
    let pool = inquiry.pool();
    let mut routes = routes_of(pool, resolver).map_err(ConversationError::Prepare)?;
    let route = routes.list.swap_remove(0);
    let tls = routes.tls;
    if route.form == TargetForm::Absolute {
        let text = "a schema cannot be fetched through a proxy without a tunnel; use --proto files";
        return Err(ConversationError::Speaker(text.to_owned()));
    }
    let head = head(pool, path, metadata).map_err(ConversationError::Speaker)?;
    let mut call = Call::new(&head, speaker);
    let mut line = Line::new(io, route, tls, pool, limit);
    let result = line.speak(&mut call);
    line.close(&mut call);
    result
}

/// Whether the target of a plan's first request chooses HTTP/2 when it is offered in TLS. A target
/// that can't be reached, or is behind a proxy, does not; the run then reports why.
pub fn chooses_http2<I: Io>(io: I, plan: &Plan, resolver: &Resolver, limit: Nanos) -> bool {
    let pool = plan.first();
    let Ok(Routes { mut list, tls, .. }) = routes_of(pool, resolver) else {
        return false;
    };
    if list.is_empty() || list[0].tls.is_none() || list[0].tunnel().is_some() {
        return false;
    }
    let Ok(head) = head(pool, "/", &[]) else {
        return false;
    };
    let mut nothing = Nothing;
    let mut line = Line::new(io, list.swap_remove(0), tls, pool, limit);
    let mut call = Call::new(&head, &mut nothing);
    let chosen = line.choose(&mut call);
    line.close(&mut call);
    chosen
}

/// The head of the call, with the metadata's names in lower case, as HTTP/2 requires them (RFC 9113
/// section 8.2.1).
fn head(pool: &Pool, path: &str, metadata: &[Header]) -> Result<StreamHead, String> {
    let request = &pool.requests[0];
    let authority = authority(request);
    let own: [(&[u8], &[u8]); 8] = [
        (b":method", b"POST"),
        (b":scheme", request.url.origin.scheme.as_str().as_bytes()),
        (b":authority", &authority),
        (b":path", path.as_bytes()),
        (b"te", b"trailers"),
        (b"content-type", b"application/grpc"),
        (b"user-agent", USER_AGENT.as_bytes()),
        (b"grpc-accept-encoding", Encoding::Gzip.name().as_bytes()),
    ];
    let given: Vec<(String, &[u8])> = metadata
        .iter()
        .map(|header| (header.name().to_ascii_lowercase(), header.value()))
        .collect();
    let given = given.iter().map(|(name, value)| (name.as_bytes(), *value));
    let fields = own.into_iter().chain(given);
    let head = Head::new(fields.map(|(name, value)| (name, value, Indexing::Without)));
    head.map(StreamHead::from)
        .map_err(|error| error.to_string())
}

/// A transport with one connection to a target, and the time by which the conversation ends.
struct Line<I> {
    io: I,
    transport: Transport,
    timers: Timers,
    ready: Vec<Readiness>,
    deadline: Nanos,
}

impl<I: Io> Line<I> {
    fn new(mut io: I, route: Route, tls: Vec<TlsConfig>, pool: &Pool, limit: Nanos) -> Self {
        for config in tls {
            io.add_tls(config);
        }
        let lanes = vec![Lane::new(route, Settings::of_conversation(pool))];
        let mut transport = Transport::new(lanes, Shard { index: 0, of: 1 }, 0);
        transport.connections.add_shares(1);
        Self {
            deadline: io.now() + limit,
            io,
            transport,
            timers: Timers::default(),
            ready: Vec::new(),
        }
    }

    /// Dials, and returns whether the connection negotiated HTTP/2: it is then open, or waits for
    /// the server's SETTINGS.
    fn choose(&mut self, call: &mut Call<'_>) -> bool {
        let now = self.io.now();
        let mut cx = Context {
            io: &mut self.io,
            handler: &mut *call,
            timers: &mut self.timers,
        };
        self.transport.dial(&mut cx, SHARE, now);
        while self.transport.connections.link_state(SHARE) == LinkState::Opening {
            if self.turn(call, self.deadline).is_err() {
                return false;
            }
        }
        let state = self.transport.connections.link_state(SHARE);
        matches!(state, LinkState::Silent | LinkState::Ready)
    }

    /// Closes the connection.
    fn close(&mut self, call: &mut Call<'_>) {
        self.transport.close_all(&mut Context {
            io: &mut self.io,
            handler: call,
            timers: &mut self.timers,
        });
    }

    /// Moves a call on, turn by turn, until it has ended. The wait of each turn ends at the first
    /// of the times that hold, so that the loop runs no more often than something can have changed.
    fn speak(&mut self, call: &mut Call<'_>) -> Result<(), ConversationError> {
        let now = self.io.now();
        let mut cx = Context {
            io: &mut self.io,
            handler: &mut *call,
            timers: &mut self.timers,
        };
        self.transport
            .submit(&mut cx, EXCHANGE, SHARE, Further::None, now);
        let settings_until = (now + SETTINGS_LIMIT).min(self.deadline);
        let mut patient_until = now + PATIENCE;
        loop {
            let now = self.io.now();
            let is_answered = std::mem::take(&mut call.is_answered);
            if is_answered {
                patient_until = now + PATIENCE;
            }
            call.collect(is_answered || now < patient_until)?;
            let mut cx = Context {
                io: &mut self.io,
                handler: &mut *call,
                timers: &mut self.timers,
            };
            self.transport.send_more(&mut cx, EXCHANGE, now);
            self.transport.flush(&mut cx, Output::All);
            if let Some(ended) = call.ended.take() {
                return ended;
            }
            if call.speaker.is_done() {
                return Ok(());
            }
            let is_silent = self.transport.connections.link_state(SHARE) == LinkState::Silent;
            if is_silent && now >= settings_until {
                return Err(ConversationError::Silent);
            }
            let mut until = self.deadline;
            if is_silent {
                until = until.min(settings_until);
            }
            if call.ending == Ending::Open {
                until = until.min(patient_until);
            }
            self.turn(call, until)?;
        }
    }

    /// Waits once, at most `until`, then handles ready sockets and due timers. Where the transport
    /// has bytes that it could read without waiting (decrypted already, for instance) it does not
    /// wait.
    fn turn<H: Handler>(&mut self, handler: &mut H, until: Nanos) -> Result<(), ConversationError> {
        let pressed = self.transport.pending.is_pressing();
        let until = if pressed { Nanos::ZERO } else { until };
        let until = until.min(self.timers.next());
        let mut ready = std::mem::take(&mut self.ready);
        let waited = self.io.wait(until, &mut ready);
        waited.map_err(ConversationError::Driver)?;
        let mut cx = Context {
            io: &mut self.io,
            handler,
            timers: &mut self.timers,
        };
        self.transport.turn(&mut cx, &ready);
        let now = self.io.now();
        let is_late = ready.is_empty() && now >= self.deadline;
        self.ready = ready;
        if is_late {
            return Err(ConversationError::TimedOut);
        }
        Ok(())
    }
}

/// Sends nothing: only the connection's protocol is of interest.
struct Nothing;

impl Speaker for Nothing {
    fn next(&mut self) -> Option<Vec<u8>> {
        None
    }

    fn is_done(&self) -> bool {
        true
    }

    fn on_message(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

/// The state of the client's side of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// There may be further messages.
    Open,
    /// The stream ends behind what is unsent.
    Due,
    /// It has ended.
    Ended,
}

/// The call of a conversation.
///
/// It is the transport's [`Handler`]. A report that decides the conversation is noted in `ended`,
/// which the line takes in its next turn.
struct Call<'a> {
    head: &'a StreamHead,
    speaker: &'a mut dyn Speaker,
    reply: Reply,
    decompressor: Decompressor,
    /// Messages that the stream has not taken yet.
    unsent: Vec<u8>,
    ending: Ending,
    /// Whether a message has come since the last turn.
    is_answered: bool,
    /// The result of the conversation, once it has ended.
    ended: Option<Result<(), ConversationError>>,
}

impl<'a> Call<'a> {
    fn new(head: &'a StreamHead, speaker: &'a mut dyn Speaker) -> Self {
        Self {
            head,
            speaker,
            reply: Reply::new(&ReplySettings {
                replies: Replies::Many,
                receive_limit: MESSAGE_BYTES,
                accepted: Encoding::Gzip,
                keep: Keep::Payload,
            }),
            decompressor: Decompressor::default(),
            unsent: Vec::new(),
            ending: Ending::Open,
            is_answered: false,
            ended: None,
        }
    }

    /// Encodes the speaker's pending messages, if the stream takes them, and ends it where an answer
    /// is no longer awaited on an open one.
    fn collect(&mut self, patient: bool) -> Result<(), ConversationError> {
        if self.ending != Ending::Open {
            return Ok(());
        }
        while let Some(message) = self.speaker.next() {
            write_message(&mut self.unsent, &message).map_err(|_| {
                ConversationError::Speaker("a reflection request is too long".to_owned())
            })?;
        }
        if !patient || self.speaker.sends_one() {
            self.ending = Ending::Due;
        }
        Ok(())
    }

    /// Ends the call with a status.
    fn end_call(&mut self, status: Status) -> Then {
        self.ended = Some(if status.is_ok() {
            Ok(())
        } else {
            let code = status.code;
            let text = call_verdict(status).detail;
            let text = text.map_or_else(String::new, |detail| detail.to_string());
            Err(ConversationError::Status(code, text))
        });
        Then::GiveUp
    }

    fn fail(&mut self, error: ConversationError) -> Then {
        self.ended = Some(Err(error));
        Then::GiveUp
    }

    /// Takes bytes of the server's messages.
    fn data(&mut self, bytes: &[u8], end: bool) -> Then {
        let mut taken = Ok(());
        let mut is_answered = false;
        let speaker = &mut *self.speaker;
        let fed = self.reply.data(bytes, &mut self.decompressor, |message| {
            if taken.is_ok() {
                taken = speaker.on_message(message.payload);
            }
            is_answered = true;
        });
        self.is_answered |= is_answered;
        match (taken, fed) {
            (Err(text), _) => self.fail(ConversationError::Speaker(text)),
            (Ok(()), Err(violation)) => self.end_call(violation.into()),
            (Ok(()), Ok(())) if end => {
                let status = self.reply.handle_end();
                self.end_call(status)
            }
            (Ok(()), Ok(())) => Then::GoOn,
        }
    }
}

impl Handler for Call<'_> {
    fn render_request(
        &mut self,
        _: ExchangeId,
        _: u32,
        _: Nanos,
        _: impl FnOnce() -> u64,
    ) -> Result<(), GivenUp> {
        Ok(())
    }

    fn opening(&self, _: ExchangeId) -> Option<Opening<'_>> {
        Some(Opening::new(self.head, None, true))
    }

    fn body(&self, _: ExchangeId) -> Option<Chunk<'_>> {
        let end = self.ending == Ending::Due;
        (end || !self.unsent.is_empty()).then_some(Chunk::new(&self.unsent, end))
    }

    fn body_taken(&mut self, _: ExchangeId, taken: usize, _: Nanos) -> Pump {
        self.unsent.drain(..taken);
        if self.ending == Ending::Due && self.unsent.is_empty() {
            self.ending = Ending::Ended;
        }
        Pump::Wait
    }

    fn body_refused(&mut self, _: ExchangeId) {
        // The status has the reason.
        self.unsent.clear();
        self.ending = Ending::Ended;
    }

    fn on_event(&mut self, _: ExchangeId, event: WireEvent<'_>, _: Nanos) -> Then {
        match event {
            WireEvent::Head {
                status,
                fields,
                ahead: Ahead::Nothing,
            } => {
                let status = self.reply.trailers_only(status, fields.bytes());
                self.end_call(status)
            }
            WireEvent::Head { status, fields, .. } => match self.reply.head(status, fields.bytes())
            {
                Ok(()) => Then::GoOn,
                Err(violation) => self.end_call(violation.into()),
            },
            WireEvent::Data { bytes, end } => self.data(bytes, end),
            WireEvent::Trailers { fields } => {
                let status = self.reply.trailers(fields.bytes());
                self.end_call(status)
            }
            WireEvent::Failed { failure, .. } => {
                let Failure { outcome, detail } = failure;
                self.fail(ConversationError::Failed(outcome, detail))
            }
            _ => Then::GoOn,
        }
    }
}
