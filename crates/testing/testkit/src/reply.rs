//! The reply of a simulated server on an HTTP/2 stream.

use crate::frame;
use crate::queue::Ending;
use drumfire_units::Nanos;
use std::sync::Arc;

/// A reply: frames and pauses, in order.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(crate) steps: Arc<[Step]>,
    /// The service time, which replaces the server's law; [`Nanos::MAX`] means never.
    pub(crate) time: Option<Nanos>,
}

/// One action of a server on a stream.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// HEADERS with this block.
    Head(Arc<[u8]>, Ends),
    /// DATA.
    Data(Arc<[u8]>, Ends),
    /// RST_STREAM.
    Reset(u32),
    /// A pause.
    Pause(Nanos),
    /// Continues from this step.
    Again(usize),
    /// Any frame.
    Frame(AnyFrame),
    /// The connection ends.
    End(Ending),
}

/// A scripted frame, valid or not.
#[derive(Clone, Debug)]
pub(crate) struct AnyFrame {
    /// Whether the frame is sent on stream 0 instead of the reply's stream.
    pub(crate) whole: bool,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) payload: Arc<[u8]>,
}

/// Whether a frame ends the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    No,
    Yes,
}

impl Reply {
    /// A reply without any frame.
    #[must_use]
    pub fn never() -> Self {
        Self::from_steps(&[]).after(Nanos::MAX)
    }

    /// An empty reply.
    #[must_use]
    pub fn nothing() -> Self {
        Self::from_steps(&[])
    }

    /// A 200 response with a short body.
    #[must_use]
    pub fn ok() -> Self {
        Self::status(200)
    }

    /// A response with a status and a short body.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::head(status, &[]).data(b"hello").ends()
    }

    /// The head of a response; add [`Reply::ends`] to end the stream.
    #[must_use]
    pub fn head(status: u16, fields: &[(&str, &str)]) -> Self {
        let status = status.to_string();
        let mut all = vec![(":status", &status[..])];
        all.extend(fields);
        Self::from_steps(&[Step::Head(block(&all), Ends::No)])
    }

    /// The head of a gRPC reply.
    #[must_use]
    pub fn call() -> Self {
        Self::head(200, &[("content-type", "application/grpc")])
    }

    /// A gRPC reply without messages: one HEADERS frame with a status.
    #[must_use]
    pub fn trailers_only(status: &str, message: &str) -> Self {
        let mut fields = vec![
            ("content-type", "application/grpc"),
            ("grpc-status", status),
        ];
        if !message.is_empty() {
            fields.push(("grpc-message", message));
        }
        Self::head(200, &fields).ends()
    }

    /// The reply to a unary call: one message, and OK.
    #[must_use]
    pub fn unary(message: &[u8]) -> Self {
        Self::call().message(message).trailers("0", "")
    }

    /// Adds bytes of a body.
    #[must_use]
    pub fn data(self, bytes: &[u8]) -> Self {
        self.then(Step::Data(bytes.into(), Ends::No))
    }

    /// Adds a gRPC message.
    #[must_use]
    pub fn message(self, message: &[u8]) -> Self {
        let length = (message.len() as u32).to_be_bytes();
        self.data(&[&[0][..], &length, message].concat())
    }

    /// Adds `count` gRPC messages, with a pause between them.
    #[must_use]
    pub fn messages(mut self, count: usize, message: &[u8], gap: Nanos) -> Self {
        for n in 0..count {
            if n > 0 {
                self = self.pause(gap);
            }
            self = self.message(message);
        }
        self
    }

    /// Adds a gRPC message that is repeated after each pause, forever.
    #[must_use]
    pub fn for_ever(self, message: &[u8], gap: Nanos) -> Self {
        let from = self.steps.len();
        self.message(message).pause(gap).then(Step::Again(from))
    }

    /// Adds the trailers of a gRPC reply, which end the stream.
    #[must_use]
    pub fn trailers(self, status: &str, message: &str) -> Self {
        let mut fields = vec![("grpc-status", status)];
        if !message.is_empty() {
            fields.push(("grpc-message", message));
        }
        self.fields(&fields)
    }

    /// Adds trailers, which end the stream.
    #[must_use]
    pub fn fields(self, fields: &[(&str, &str)]) -> Self {
        self.then(Step::Head(block(fields), Ends::Yes))
    }

    /// Ends the stream with the last frame.
    #[must_use]
    pub fn ends(self) -> Self {
        let mut steps = self.steps.to_vec();
        if let Some(Step::Head(_, ends) | Step::Data(_, ends)) = steps.last_mut() {
            *ends = Ends::Yes;
        }
        Self {
            steps: steps.into(),
            ..self
        }
    }

    /// Resets the stream.
    #[must_use]
    pub fn reset(self, code: u32) -> Self {
        self.then(Step::Reset(code))
    }

    /// A stream that is reset without a response.
    #[must_use]
    pub fn only_reset(code: u32) -> Self {
        Self::from_steps(&[Step::Reset(code)])
    }

    /// Resets the connection.
    #[must_use]
    pub fn breaks(self) -> Self {
        self.then(Step::End(Ending::Reset))
    }

    /// Closes the connection without further frames.
    #[must_use]
    pub fn closes(self) -> Self {
        self.then(Step::End(Ending::Finished))
    }

    /// Adds a frame of any kind on the reply's stream, valid or not (RFC 9113 section 4.1).
    #[must_use]
    pub fn frame(self, kind: u8, flags: u8, payload: &[u8]) -> Self {
        self.any_frame(false, kind, flags, payload)
    }

    /// Adds a frame of any kind on stream 0, valid or not.
    #[must_use]
    pub fn connection_frame(self, kind: u8, flags: u8, payload: &[u8]) -> Self {
        self.any_frame(true, kind, flags, payload)
    }

    fn any_frame(self, whole: bool, kind: u8, flags: u8, payload: &[u8]) -> Self {
        self.then(Step::Frame(AnyFrame {
            whole,
            kind,
            flags,
            payload: payload.into(),
        }))
    }

    /// Repeats the last step `count` times.
    #[must_use]
    pub fn times(self, count: usize) -> Self {
        let mut steps = self.steps.to_vec();
        if let Some(last) = steps.last().cloned() {
            let length = steps.len() - 1 + count;
            steps.resize(length, last);
        }
        Self {
            steps: steps.into(),
            ..self
        }
    }

    /// Adds a pause before the next step.
    #[must_use]
    pub fn pause(self, time: Nanos) -> Self {
        self.then(Step::Pause(time))
    }

    /// Sets the service time, which replaces the server's law.
    #[must_use]
    pub fn after(mut self, time: Nanos) -> Self {
        self.time = Some(time);
        self
    }

    fn from_steps(steps: &[Step]) -> Self {
        Self {
            steps: steps.into(),
            time: None,
        }
    }

    fn then(self, step: Step) -> Self {
        let mut steps = self.steps.to_vec();
        steps.push(step);
        Self {
            steps: steps.into(),
            ..self
        }
    }
}

fn block(fields: &[(&str, &str)]) -> Arc<[u8]> {
    let mut block = Vec::new();
    for (name, value) in fields {
        frame::write_field(&mut block, name, value);
    }
    block.into()
}
