//! gRPC calls: which, with what data, and how their streams go.

use crate::RequestData;
use drumfire_units::Nanos;
use std::fmt;
use std::sync::Arc;

/// The greatest number of a status, UNAUTHENTICATED.
const GREATEST: u8 = 16;

/// A gRPC call that a request makes.
#[derive(Clone, Debug)]
pub struct Call {
    /// `package.Service`, as the request's path has it.
    pub service: String,
    /// The method's own name.
    pub method: String,
    /// Which sides send a stream.
    pub kind: CallKind,
    /// The messages that it sends.
    pub data: Arc<dyn RequestData>,
    /// How its messages are compressed.
    pub compression: MessageCompression,
    /// How long the server is given (`grpc-timeout`); the whole call, streams included.
    pub deadline: Option<Nanos>,
    /// How its streams go.
    pub streaming: Streaming,
    /// The largest message that is accepted, decompressed, in bytes.
    pub receive_limit: u64,
    /// The largest message that is sent, before compression, in bytes.
    pub send_limit: u64,
    /// The check of its replies' messages; any bytes will do when `None`.
    pub reply_check: Option<Arc<dyn ReplyCheck>>,
    /// The statuses with which it may end.
    pub expect: CallStatuses,
}

/// The statuses with which a call is ok.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallStatuses(u32);

impl CallStatuses {
    /// None of them.
    pub const NONE: Self = Self(0);
    /// OK alone, the default.
    pub const OK: Self = Self(1);

    /// The same with the status of this number, 0 to 16, added to it.
    #[must_use]
    pub const fn with(self, status: u8) -> Self {
        if status > GREATEST {
            return self;
        }
        Self(self.0 | 1 << status)
    }

    /// Whether a call with the status of this number is ok.
    #[inline]
    #[must_use]
    pub const fn accepts(self, status: u8) -> bool {
        status <= GREATEST && self.0 >> status & 1 == 1
    }
}

impl Default for CallStatuses {
    fn default() -> Self {
        Self::OK
    }
}

impl Call {
    /// Whether the number of messages is unknown until the call ends: a client's stream that ends
    /// after a time, or after a number of received messages.
    #[must_use]
    pub const fn has_open_end(&self) -> bool {
        let streaming = &self.streaming;
        self.kind.client_streams() && (streaming.duration.is_some() || streaming.receive.is_some())
    }
}

/// Which sides of a call send a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// One message each way.
    Unary,
    /// The client sends many, the server one.
    ClientStream,
    /// The client sends one, the server many.
    ServerStream,
    /// Both send many.
    Bidirectional,
}

impl CallKind {
    /// Whether the client sends a stream.
    #[must_use]
    pub const fn client_streams(self) -> bool {
        matches!(self, Self::ClientStream | Self::Bidirectional)
    }

    /// Whether the server sends a stream.
    #[must_use]
    pub const fn server_streams(self) -> bool {
        matches!(self, Self::ServerStream | Self::Bidirectional)
    }
}

/// How messages are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageCompression {
    /// Not at all; compressed replies are refused.
    #[default]
    Identity,
    /// gzip, in both directions.
    Gzip,
    /// zstd, in both directions.
    Zstd,
    /// Requests are not compressed; replies may be, with gzip.
    GzipReplies,
}

/// How a call's streams go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streaming {
    /// How many messages are sent; the data is gone through again or cut off to make up this
    /// number. As many as the data has when `None`.
    pub send: Option<u64>,
    /// The pause after each message that is sent but the last.
    pub interval: Nanos,
    /// Sending ends after this span; a stream that only the server sends is cancelled then.
    pub duration: Option<Nanos>,
    /// The call is cancelled after this number of received messages, which is no failure.
    pub receive: Option<u64>,
}

/// The way that a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the server.
    Request,
    /// From the server.
    Reply,
}

/// The check of replies' messages.
pub trait ReplyCheck: Send + Sync + fmt::Debug {
    /// Checks a message, decompressed and without its prefix. Where it is as it must be, nothing
    /// is allocated.
    ///
    /// # Errors
    /// When the message is invalid; the call is then over.
    fn check(&self, message: &[u8]) -> Result<(), ReplyError>;

    /// A message as a person reads it, where it can be had. Called for single messages only.
    fn text(&self, _direction: Direction, _message: &[u8]) -> Option<String> {
        None
    }
}

/// The mistake in a reply's message, in words. They hold nothing of the message itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyError(pub String);

impl fmt::Display for ReplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ReplyError {}
