//! One gRPC stream before the run: what is asked of a server at start-up.
//!
//! It travels as the run's own calls do (addresses, TLS, sockets), and measures nothing.

use crate::blame::{During, call_verdict, http2_failure, io_failure, stream_failure};
use crate::prepare::{PrepareError, Resolver, Route, TargetForm, USER_AGENT, authority, routes_of};
use drumfire_grpc::{
    Code, Decompressor, Encoding, Keep, Replies, Reply, ReplySettings, Status, write_message,
};
use drumfire_http2::{Connection, EndStream, Event, Head, Indexing, Settings, StreamRef};
use drumfire_measure::Outcome;
use drumfire_net::{Fault, Io, IoError, Progress, Readiness, Received, Slot};
use drumfire_plan::{Header, Plan};
use drumfire_units::Nanos;
use std::fmt;

/// The one connection's place.
const SLOT: Slot = Slot(0);
/// The one stream's token.
const TOKEN: u32 = 0;
/// A message of a reply may be so large: a server's whole schema.
const MESSAGE_BYTES: u32 = 32 * 1024 * 1024;

/// What is said and heard on the stream.
pub trait Speaker {
    /// The next message to send; `None` when an answer is awaited or all is said.
    fn next(&mut self) -> Option<Vec<u8>>;

    /// Whether all is said, so that the stream may be ended.
    fn is_done(&self) -> bool;

    /// Takes a message of the server.
    ///
    /// # Errors
    /// In words, when it can't go on from there.
    fn hear(&mut self, message: &[u8]) -> Result<(), String>;
}

/// Why a conversation failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConversationError {
    /// Nothing could be sent at all.
    Prepare(PrepareError),
    /// The connection or the stream failed.
    Failed(Outcome, Option<String>),
    /// The call ended with a status that is not OK.
    Status(Code, String),
    /// What the server said makes no sense.
    Speaker(String),
    /// It took too long.
    TimedOut,
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
                write!(f, "the server answers {}", code.name())?;
                if message.is_empty() {
                    Ok(())
                } else {
                    write!(f, ": {message}")
                }
            }
            Self::Speaker(text) => f.write_str(text),
            Self::TimedOut => f.write_str("the server did not answer in time"),
            Self::Driver(fault) => write!(f, "the event loop can't go on: {fault}"),
        }
    }
}

impl std::error::Error for ConversationError {}

/// Speaks with the target of a plan's first request, on one stream to `path`, until the server
/// ends it or the speaker is done.
///
/// # Errors
/// When the way to the server, the call or the speaker fails.
pub fn converse<I: Io>(
    mut io: I,
    plan: &Plan,
    resolver: &Resolver,
    (path, metadata): (&str, &[Header]),
    limit: Nanos,
    speaker: &mut dyn Speaker,
) -> Result<(), ConversationError> {
    let (mut routes, tls) = routes_of(plan, resolver).map_err(ConversationError::Prepare)?;
    let route = routes.swap_remove(0);
    if route.form == TargetForm::Absolute || route.tunnel.is_some() {
        let text = "a server's schema can't be asked for through a proxy; name --proto files";
        return Err(ConversationError::Speaker(text.to_owned()));
    }
    for config in tls {
        io.add_tls(config);
    }
    let head = head(plan, path, metadata).map_err(ConversationError::Speaker)?;
    let mut conversation = Conversation::new(io, limit);
    conversation.connect(&route)?;
    let result = conversation.talk(&head, speaker);
    conversation.io.close(SLOT);
    result
}

/// Whether the target of a plan's first request chooses HTTP/2 when it is offered in TLS. A target
/// that can't be reached, or is behind a proxy, does not; what is wrong with it shows in the run.
pub fn chooses_http2<I: Io>(mut io: I, plan: &Plan, resolver: &Resolver, limit: Nanos) -> bool {
    let Ok((routes, tls)) = routes_of(plan, resolver) else {
        return false;
    };
    for config in tls {
        io.add_tls(config);
    }
    match routes.first() {
        Some(route) if route.tls.is_some() && route.tunnel.is_none() => {
            let mut conversation = Conversation::new(io, limit);
            let connected = conversation.connect(route);
            conversation.io.close(SLOT);
            connected.is_ok()
        }
        _ => false,
    }
}

fn head(plan: &Plan, path: &str, metadata: &[Header]) -> Result<Head, String> {
    let request = &plan.requests[0];
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
    Head::new(fields.map(|(name, value)| (name, value, Indexing::Without)))
        .map_err(|error| error.to_string())
}

/// Why an address was not reached.
enum Undialed {
    /// The address's own failure; another may do better.
    Io(IoError),
    /// Time was up, or the driver failed.
    Wait(ConversationError),
}

impl From<IoError> for Undialed {
    fn from(error: IoError) -> Self {
        Self::Io(error)
    }
}

/// One stream on one connection.
struct Conversation<I> {
    io: I,
    deadline: Nanos,
    ready: Vec<Readiness>,
    machine: Connection,
    reply: Reply,
    decompressor: Decompressor,
    stream: Option<StreamRef>,
    /// Messages that the stream has not taken yet.
    unsent: Vec<u8>,
    ended: Option<Status>,
}

impl<I: Io> Conversation<I> {
    /// Nothing is said yet; it may take so long in all.
    fn new(io: I, limit: Nanos) -> Self {
        Self {
            deadline: io.now() + limit,
            io,
            ready: Vec::new(),
            machine: Connection::new(&Settings::default()),
            reply: Reply::new(&ReplySettings {
                replies: Replies::Many,
                receive_limit: MESSAGE_BYTES,
                accepted: Encoding::Gzip,
                keep: Keep::Payload,
            }),
            decompressor: Decompressor::default(),
            stream: None,
            unsent: Vec::new(),
            ended: None,
        }
    }

    /// Opens the connection, at the first address that answers.
    fn connect(&mut self, route: &Route) -> Result<(), ConversationError> {
        let mut last = IoError::Unreachable;
        for choice in 0..route.width() {
            match self.dial(route, choice) {
                Ok(()) => return self.secure(route),
                Err(Undialed::Io(error)) => last = error,
                Err(Undialed::Wait(error)) => return Err(error),
            }
            self.io.close(SLOT);
        }
        Err(failed(io_failure(last, During::Connect)))
    }

    /// Tries one address.
    fn dial(&mut self, route: &Route, choice: usize) -> Result<(), Undialed> {
        let address = route.address(choice).map_err(|_| IoError::Unreachable)?;
        let mut progress = self.io.dial(SLOT, &address)?;
        while progress == Progress::Pending {
            self.wait().map_err(Undialed::Wait)?;
            if self.ready.iter().any(|ready| ready.writable) {
                progress = self.io.finish_dial(SLOT)?;
            }
        }
        Ok(())
    }

    fn secure(&mut self, route: &Route) -> Result<(), ConversationError> {
        let Some(config) = route.tls else {
            return Ok(());
        };
        let failed = |error| failed(io_failure(error, During::Tls));
        let mut progress = self.io.start_tls(SLOT, config).map_err(failed)?;
        while progress == Progress::Pending {
            self.wait()?;
            progress = self.io.handshake(SLOT).map_err(failed)?;
        }
        if self.io.agreed(SLOT, b"h2") {
            Ok(())
        } else {
            Err(ConversationError::Failed(Outcome::TlsAlpn, None))
        }
    }

    /// Waits for readiness; fails when time is up.
    fn wait(&mut self) -> Result<(), ConversationError> {
        let mut ready = std::mem::take(&mut self.ready);
        let waited = self.io.wait(self.deadline, &mut ready);
        self.ready = ready;
        waited.map_err(ConversationError::Driver)?;
        if self.ready.is_empty() && self.io.now() >= self.deadline {
            return Err(ConversationError::TimedOut);
        }
        Ok(())
    }

    fn talk(&mut self, head: &Head, speaker: &mut dyn Speaker) -> Result<(), ConversationError> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            if self.stream.is_none() && self.machine.capacity() > 0 {
                self.stream = self.machine.open(TOKEN, head, &[], EndStream::No).ok();
            }
            self.say(speaker)?;
            self.flush()?;
            if speaker.is_done() {
                return Ok(());
            }
            match self.io.receive(SLOT, &mut buffer) {
                Ok(Received::Bytes { length, .. }) => self.hear(&buffer[..length], speaker)?,
                Ok(Received::Nothing) => self.wait()?,
                Ok(Received::End) => {
                    let ended = self.machine.handle_end();
                    ended.map_err(|error| failed(http2_failure(&error)))?;
                    return Err(ConversationError::Failed(Outcome::Closed, None));
                }
                Err(error) => return Err(failed(io_failure(error, During::Send))),
            }
            if let Some(status) = self.ended.take() {
                return match status.is_ok() {
                    true => Ok(()),
                    false => {
                        let code = status.code;
                        let text = call_verdict(status).detail;
                        Err(ConversationError::Status(code, text.unwrap_or_default()))
                    }
                };
            }
        }
    }

    /// Sends what the speaker has to say, as far as the stream takes it.
    fn say(&mut self, speaker: &mut dyn Speaker) -> Result<(), ConversationError> {
        let Some(stream) = self.stream else {
            return Ok(());
        };
        while let Some(message) = speaker.next() {
            write_message(&mut self.unsent, &message)
                .map_err(|_| ConversationError::Speaker("a question is too long".to_owned()))?;
        }
        // A stream that is gone wants no more; its status says why.
        if !self.unsent.is_empty()
            && let Ok(taken) = self.machine.send_data(stream, &self.unsent, EndStream::No)
        {
            self.unsent.drain(..taken);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ConversationError> {
        while !self.machine.output().is_empty() {
            match self.io.send(SLOT, self.machine.output()) {
                Ok(0) => self.wait()?,
                Ok(sent) => self.machine.output_sent(sent),
                Err(error) => return Err(failed(io_failure(error, During::Send))),
            }
        }
        Ok(())
    }

    fn hear(
        &mut self,
        mut input: &[u8],
        speaker: &mut dyn Speaker,
    ) -> Result<(), ConversationError> {
        loop {
            let step = match self.machine.handle_input(input) {
                Ok(step) => step,
                Err(error) => return Err(failed(http2_failure(&error))),
            };
            input = &input[step.consumed..];
            match step.event {
                Event::NeedInput => return Ok(()),
                Event::Head {
                    status,
                    headers,
                    end,
                    ..
                } => {
                    if end {
                        self.ended = Some(self.reply.trailers_only(status, headers.iter()));
                    } else if let Err(violation) = self.reply.head(status, headers.iter()) {
                        self.ended = Some(violation.into());
                    }
                }
                Event::Data { bytes, end, .. } => {
                    let mut heard = Ok(());
                    let fed = self.reply.data(bytes, &mut self.decompressor, |message| {
                        if heard.is_ok() {
                            heard = speaker.hear(message.payload);
                        }
                    });
                    heard.map_err(ConversationError::Speaker)?;
                    match fed {
                        Err(violation) => self.ended = Some(violation.into()),
                        Ok(()) if end => self.ended = Some(self.reply.handle_end()),
                        Ok(()) => {}
                    }
                }
                Event::Trailers { headers, .. } => {
                    self.ended = Some(self.reply.trailers(headers.iter()));
                }
                Event::StreamFailed { error, .. } => return Err(failed(stream_failure(error))),
                Event::Unprocessed { .. } => {
                    return Err(ConversationError::Failed(Outcome::H2GoAway, None));
                }
                _ => {}
            }
        }
    }
}

fn failed(failure: crate::blame::Failure) -> ConversationError {
    ConversationError::Failed(failure.outcome, failure.detail)
}
