//! A conversation with a server before the run: one exchange on a [`Transport`] of one connection,
//! as the run's own calls are, without a sample.
//!
//! ```text
//!   converse ─► Line: transport, timers, driver ─► turn, until the call has ended
//!                      ▲                                  │
//!                      └── next ── Speaker ◄── on_message ┘
//! ```
//!
//! [`converse`] gives a [`Speaker`] one bidirectional stream. Each turn of the line encodes the
//! messages that the speaker has ready, sends what the stream takes, and passes the server's
//! messages to the speaker in order. The stream ends when the speaker is done, when the server ends
//! it, or at the limit. If a server answers only after the end of the request, the client's side
//! ends first. [`chooses_http2`] only opens the connection, to see which protocol the server
//! negotiates.
//!
//! A conversation uses the transport of the run, not a separate client, so that it reaches every
//! server that can be loaded: the same proxies, TLS, addresses and checks of HTTP/2. It blocks the
//! calling thread, at most for the limit. Three times bound it: the limit bounds the whole
//! conversation, including the opening of the connection; [`SETTINGS_LIMIT`] bounds the wait for a
//! peer that accepts a connection and sends nothing, as an HTTP/1 server does; [`PATIENCE`] ends
//! only the client's side of the stream.
//!
//! A server's message may have up to [`MESSAGE_BYTES`]. Messages are passed on one at a time, and
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

/// The id of the one exchange.
const EXCHANGE: ExchangeId = ExchangeId(0);
/// The share whose connection carries the exchange.
const SHARE: ShareId = ShareId(0);
/// The largest message of a reply: a server's whole schema.
const MESSAGE_BYTES: u32 = 32 * 1024 * 1024;
/// The time for an answer on an open stream, counted from the previous answer. Some servers answer
/// only after the end of the request, so the request ends after this time.
const PATIENCE: Nanos = Nanos::from_secs(1);
/// The time for the server's SETTINGS, which it sends first and without waiting for anything (RFC
/// 9113 section 3.4).
const SETTINGS_LIMIT: Nanos = Nanos::from_secs(3);

/// The client's side of the stream: its messages, and the receiver of the answers. Each turn calls
/// [`Self::next`] until it returns `None`, then [`Self::is_done`]; [`Self::on_message`] is called
/// in between, for each answer.
pub trait Speaker {
    /// The next message to send; `None` while the speaker waits for an answer, and at the end.
    fn next(&mut self) -> Option<Vec<u8>>;

    /// Whether there are no further messages, so that the stream may end.
    fn is_done(&self) -> bool;

    /// Whether the stream ends after its first message, for a server that does not answer earlier.
    fn sends_one(&self) -> bool {
        false
    }

    /// Receives a message of the server.
    ///
    /// # Errors
    /// A text, if the speaker cannot continue.
    fn on_message(&mut self, message: &[u8]) -> Result<(), String>;
}

/// The failure of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConversationError {
    /// The route to the server could not be prepared, so nothing was sent.
    Prepare(PrepareError),
    /// The connection or the stream failed; with a detail if there is one.
    Failed(Outcome, Option<Detail>),
    /// The call ended with a status other than OK; the text is the server's message, which may be
    /// empty.
    Status(Code, String),
    /// The speaker refused an answer.
    Speaker(String),
    /// The limit has passed.
    TimedOut,
    /// The server has accepted the connection, but has not sent HTTP/2's SETTINGS.
    Silent,
    /// The driver failed.
    Driver(Fault),
}

impl fmt::Display for ConversationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prepare(error) => error.fmt(f),
            Self::Failed(outcome, None) => f.write_str(outcome.words()),
            // The detail has the peer and the same verb.
            Self::Failed(outcome, Some(detail))
                if outcome.is_of_opening() && *outcome != Outcome::ConnectProxy =>
            {
                write!(f, "{detail}")
            }
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

/// Runs a conversation with the server of an inquiry, on one stream to `path`, until the server
/// ends the stream or the speaker is done. If the server waits for the request's end, the stream
/// ends before the speaker is done; its further messages need another conversation.
///
/// Blocks for the resolver and then for at most `limit`. The connection is always closed, even if
/// the call fails.
///
/// # Errors
/// If the route to the server, the call or the speaker fails.
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

/// Whether the target of a plan's first request chooses HTTP/2 when TLS offers it. `false` for a
/// target that is unreachable or reached by proxy; the run then reports the reason.
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

/// The head of the call. The metadata's names are in lower case, as HTTP/2 requires (RFC 9113
/// section 8.2.1).
fn head(pool: &Pool, path: &str, metadata: &[Header]) -> Result<StreamHead, String> {
    let request = &pool.requests[0];
    let authority = authority(request)?;
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

    /// Dials, and returns whether the connection negotiated HTTP/2: it is open, or waits for the
    /// server's SETTINGS.
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

    /// Runs turns until the call has ended. Each turn waits at most until the first of the
    /// applicable times, so the loop only runs if something may have changed.
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

    /// Waits once, at most until `until`, then handles ready sockets and due timers. Does not wait
    /// if the transport has bytes that it can read at once, for example decrypted bytes.
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

/// A speaker that sends nothing, to learn the connection's protocol.
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
    /// Further messages may follow.
    Open,
    /// The stream ends after the unsent bytes.
    Due,
    /// The stream has ended.
    Ended,
}

/// The call of a conversation: the transport's [`Handler`]. An event that decides the conversation
/// sets `ended`, which the line reads in its next turn.
struct Call<'a> {
    head: &'a StreamHead,
    speaker: &'a mut dyn Speaker,
    reply: Reply,
    decompressor: Decompressor,
    /// Messages that the stream has not accepted yet.
    unsent: Vec<u8>,
    ending: Ending,
    /// Whether a message has arrived since the last turn.
    is_answered: bool,
    /// The result of the conversation, after its end.
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

    /// Encodes the speaker's pending messages while the stream is open. Ends the stream after them
    /// if answers are not awaited (`patient` is false) or the speaker sends only one message.
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
        // The status contains the reason.
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
