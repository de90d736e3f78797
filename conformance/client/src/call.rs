//! One call on a separate connection: a loop around the machines of `http2` and `grpc`.

use crate::message::{AnyResponse, ClientResponseResult};
use crate::result::{conclude, failed, metadata};
use crate::script::Step;
use crate::transport::{PATIENCE, ReadOutcome, Transport};
use drumfire_grpc::{Code, Decompressor, Message, Replies, Reply, ReplySettings, Status};
use drumfire_http2::{
    Connection, EndStream, ErrorCode, Event, Head, Settings, StreamError, StreamRef,
};
use prost::Message as _;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A running call.
pub(crate) struct Call {
    transport: Transport,
    connection: Connection,
    stream: StreamRef,
    replies: Replies,
    answer: Answer,
    /// The time until which the next step waits.
    pause: Option<Instant>,
    /// Bytes that exceeded the window, and whether they are the last.
    unsent: Vec<u8>,
    end: EndStream,
    /// The number of messages passed to the connection.
    sent: usize,
}

/// The response so far.
struct Answer {
    deadline: Option<Instant>,
    reply: Reply,
    decompressor: Decompressor,
    result: ClientResponseResult,
    /// The end of the call.
    status: Option<Status>,
}

impl Call {
    /// Opens the stream and starts the deadline.
    pub(crate) fn open(
        mut transport: Transport,
        head: &Head,
        settings: &ReplySettings,
        timeout: Option<Duration>,
    ) -> Result<Self, String> {
        let mut connection = Connection::new(&Settings::default());
        let since = Instant::now();
        while connection.capacity() == 0 {
            flush(&mut connection, &mut transport)?;
            match transport
                .read(PATIENCE)
                .map_err(|error| error.to_string())?
            {
                ReadOutcome::Bytes(bytes) => drain(&mut connection, bytes, &mut |_| ())?,
                ReadOutcome::End => return Err("the server closed the connection".to_owned()),
                ReadOutcome::Nothing => {}
            }
            if since.elapsed() > PATIENCE {
                return Err("the server sends no SETTINGS".to_owned());
            }
        }
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        let stream = connection
            .open(0, head, &[], EndStream::No)
            .map_err(|error| error.to_string())?;
        Ok(Self {
            transport,
            connection,
            stream,
            replies: settings.replies,
            answer: Answer {
                deadline,
                reply: Reply::new(settings),
                decompressor: Decompressor::default(),
                result: ClientResponseResult::default(),
                status: None,
            },
            pause: None,
            unsent: Vec::new(),
            end: EndStream::No,
            sent: 0,
        })
    }

    /// Executes the steps, and returns the result of the call.
    pub(crate) fn run(
        mut self,
        mut steps: VecDeque<Step>,
        messages: Vec<Vec<u8>>,
        cancel_after: Option<u32>,
    ) -> ClientResponseResult {
        let since = Instant::now();
        loop {
            let received = self.answer.reply.messages();
            if cancel_after.is_some_and(|count| u64::from(count) <= received) {
                self.end_with(Code::CANCELLED, "cancelled");
            }
            self.check_deadline(since);
            while self.answer.status.is_none() && self.take_step(&mut steps, &messages) {}
            if let Some(status) = self.answer.status.take() {
                return self.conclude(&status, messages.len());
            }
            self.exchange();
        }
    }

    /// Ends the call after its deadline, or if it takes far too long.
    fn check_deadline(&mut self, since: Instant) {
        if is_past(self.answer.deadline) {
            self.end_with(Code::DEADLINE_EXCEEDED, "deadline exceeded");
        } else if since.elapsed() > PATIENCE * 3 {
            self.end_with(Code::INTERNAL, "the call does not end");
        }
    }

    /// Ends the call on the client's side, unless it has ended.
    fn end_with(&mut self, code: Code, words: &str) {
        self.answer
            .status
            .get_or_insert_with(|| failed(code, words));
    }

    /// Executes the next step, if it is due.
    fn take_step(&mut self, steps: &mut VecDeque<Step>, messages: &[Vec<u8>]) -> bool {
        if !self.unsent.is_empty() || self.pause.is_some_and(|until| until > Instant::now()) {
            return false;
        }
        let Some(&step) = steps.front() else {
            return false;
        };
        match step {
            Step::Pause(pause) if self.pause.is_none() => {
                self.pause = Some(Instant::now() + pause);
                return true;
            }
            Step::Pause(_) => self.pause = None,
            Step::Await(count) if self.answer.reply.messages() < count => return false,
            Step::Await(_) => {}
            Step::Cancel => self.end_with(Code::CANCELLED, "cancelled"),
            Step::Close => self.send(Vec::new(), EndStream::Yes),
            Step::Send(index) => {
                self.sent = index + 1;
                // The last message is sent with the end of the stream, which a unary call requires
                // for its only message.
                let is_last = steps.get(1) == Some(&Step::Close);
                if is_last {
                    steps.pop_front();
                }
                let end = if is_last {
                    EndStream::Yes
                } else {
                    EndStream::No
                };
                self.send(messages[index].clone(), end);
            }
        }
        steps.pop_front();
        true
    }

    /// Sends as much as the windows allow.
    fn send(&mut self, mut bytes: Vec<u8>, end: EndStream) {
        match self.connection.send_data(self.stream, &bytes, end) {
            Ok(count) => {
                bytes.drain(..count);
                self.unsent = bytes;
                self.end = end;
            }
            // The end of the stream contains the reason.
            Err(_) => self.unsent.clear(),
        }
    }

    /// Writes pending output and reads input.
    fn exchange(&mut self) {
        // A server that has closed the connection may have sent the reason, which is read next.
        let _ = flush(&mut self.connection, &mut self.transport);
        let now = Instant::now();
        let until = [self.answer.deadline, self.pause]
            .into_iter()
            .flatten()
            .min();
        let wait = until.map_or(PATIENCE, |until| until.saturating_duration_since(now));
        let Self {
            transport,
            connection,
            answer,
            ..
        } = self;
        let mut is_writable = false;
        match transport.read(wait) {
            Ok(ReadOutcome::Nothing) => {}
            Ok(ReadOutcome::Bytes(bytes)) => {
                let drained = drain(connection, bytes, &mut |event| {
                    is_writable |= matches!(event, Event::Writable { .. });
                    answer.handle_event(event);
                });
                if let Err(error) = drained {
                    answer.fail(Code::INTERNAL, &error);
                }
            }
            Ok(ReadOutcome::End) => {
                answer.fail(Code::UNAVAILABLE, "the server closed the connection")
            }
            Err(error) => answer.fail(Code::UNAVAILABLE, &error.to_string()),
        }
        if is_writable && !self.unsent.is_empty() {
            let unsent = std::mem::take(&mut self.unsent);
            self.send(unsent, self.end);
        }
    }

    /// Closes the connection, and returns the result of the call.
    fn conclude(mut self, status: &Status, messages: usize) -> ClientResponseResult {
        self.connection.reset(self.stream, ErrorCode::CANCEL);
        self.connection.go_away(ErrorCode::NO_ERROR);
        // The call has ended; an error while closing does not matter.
        let _ = flush(&mut self.connection, &mut self.transport);
        let mut result = self.answer.result;
        if !status.is_ok() && self.replies == Replies::One {
            result.payloads.clear();
        }
        conclude(result, status, messages - self.sent)
    }
}

impl Answer {
    /// Handles an event of the call's stream.
    fn handle_event(&mut self, event: Event<'_>) {
        if self.status.is_some() {
            return;
        }
        match event {
            Event::Head {
                status,
                headers,
                end: false,
                ..
            } => {
                self.result.response_headers = metadata(headers);
                if let Err(violation) = self.reply.head(status, headers.bytes()) {
                    self.status = Some(violation.into());
                }
            }
            Event::Head {
                status,
                headers,
                end: true,
                ..
            } => {
                self.result.response_trailers = metadata(headers);
                self.status = Some(self.reply.trailers_only(status, headers.bytes()));
            }
            Event::Data { bytes, end, .. } => self.data(bytes, end),
            Event::Trailers { headers, .. } => {
                self.result.response_trailers = metadata(headers);
                self.status = Some(self.reply.trailers(headers.bytes()));
            }
            Event::StreamFailed { error, .. } => {
                let code = match error {
                    StreamError::Reset { code } => Code::of_http2(code.0),
                    _ => Code::INTERNAL,
                };
                let code = if is_past(self.deadline) {
                    code.after_deadline()
                } else {
                    code
                };
                self.fail(code, &error.to_string());
            }
            Event::Unprocessed { .. } => self.fail(Code::UNAVAILABLE, "not processed"),
            _ => {}
        }
    }

    /// Handles message bytes.
    fn data(&mut self, bytes: &[u8], end: bool) {
        let mut is_decoded = true;
        let payloads = &mut self.result.payloads;
        let take = |message: Message<'_>| match AnyResponse::decode(message.payload) {
            Ok(response) => payloads.push(response.payload.unwrap_or_default()),
            Err(_) => is_decoded = false,
        };
        let taken = self.reply.data(bytes, &mut self.decompressor, take);
        if !is_decoded {
            self.fail(Code::INTERNAL, "a message that can't be decoded");
        } else if let Err(violation) = taken {
            self.status = Some(violation.into());
        } else if end {
            self.status = Some(self.reply.handle_end());
        }
    }

    /// Ends the call on the client's side, unless it has ended.
    fn fail(&mut self, code: Code, words: &str) {
        self.status.get_or_insert_with(|| failed(code, words));
    }
}

/// Whether a deadline is set and has passed.
fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| deadline <= Instant::now())
}

/// Writes pending output.
fn flush(connection: &mut Connection, transport: &mut Transport) -> Result<(), String> {
    while !connection.output().is_empty() {
        let count = connection.output().len();
        let written = transport.write(connection.output());
        written.map_err(|error| format!("failed to write: {error}"))?;
        connection.output_sent(count);
    }
    Ok(())
}

/// Passes the input to the connection, and its events to the call.
fn drain(
    connection: &mut Connection,
    mut input: &[u8],
    sink: &mut dyn FnMut(Event<'_>),
) -> Result<(), String> {
    loop {
        let step = connection
            .handle_input(input)
            .map_err(|error| error.to_string())?;
        input = &input[step.consumed..];
        if matches!(step.event, Event::NeedInput) {
            return Ok(());
        }
        sink(step.event);
    }
}
