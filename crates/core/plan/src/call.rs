//! gRPC calls: their method, their data, and their streams.

use crate::RequestData;
use drumfire_units::Nanos;
use std::fmt;
use std::sync::Arc;

/// The highest number of a status: UNAUTHENTICATED.
const GREATEST: u8 = 16;

/// A gRPC call that a request makes.
#[derive(Clone, Debug)]
pub struct Call {
    /// `package.Service`, as in the request's path.
    pub service: String,
    /// The method's name.
    pub method: String,
    /// The sides that send a stream.
    pub kind: CallKind,
    /// The messages that the call sends.
    pub data: Arc<dyn RequestData>,
    /// How messages are compressed.
    pub compression: MessageCompression,
    /// The deadline that the server gets (`grpc-timeout`), for the whole call including its
    /// streams.
    pub deadline: Option<Nanos>,
    /// The settings of its streams.
    pub streaming: Streaming,
    /// The maximum size of a received message after decompression, in bytes.
    pub receive_limit: u64,
    /// The maximum size of a sent message before compression, in bytes.
    pub send_limit: u64,
    /// The check of the replies' messages; `None` accepts any bytes.
    pub reply_check: Option<Arc<dyn ReplyCheck>>,
    /// The statuses with which the call is ok.
    pub expect: CallStatuses,
}

/// The statuses with which a call is ok.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallStatuses(u32);

impl CallStatuses {
    /// No status.
    pub const NONE: Self = Self(0);
    /// Only OK, the default.
    pub const OK: Self = Self(1);

    /// These statuses and the status with this number, 0 to 16.
    #[must_use]
    pub const fn with(self, status: u8) -> Self {
        if status > GREATEST {
            return self;
        }
        Self(self.0 | 1 << status)
    }

    /// Whether a call with this status number is ok.
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
    /// Whether the number of messages is unknown until the call ends: the client's stream ends
    /// after a time, or after a number of received messages.
    #[must_use]
    pub const fn has_open_end(&self) -> bool {
        let streaming = &self.streaming;
        self.kind.client_streams() && (streaming.duration.is_some() || streaming.receive.is_some())
    }
}

/// The sides of a call that send a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// One message in each direction.
    Unary,
    /// The client sends many messages, the server one.
    ClientStream,
    /// The client sends one message, the server many.
    ServerStream,
    /// Both sides send many messages.
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
    /// No compression; compressed replies are refused.
    #[default]
    Identity,
    /// gzip, in both directions.
    Gzip,
    /// zstd, in both directions.
    Zstd,
    /// Requests are not compressed; replies may be, with gzip.
    GzipReplies,
}

/// The settings of a call's streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streaming {
    /// The number of messages to send; the data is repeated or cut off to reach it. `None` sends as
    /// many as the data has.
    pub send: Option<u64>,
    /// The pause after each sent message except the last.
    pub interval: Nanos,
    /// Sending ends after this time; a stream that only the server sends is cancelled then.
    pub duration: Option<Nanos>,
    /// The call is cancelled after this number of received messages, which does not count as a
    /// failure.
    pub receive: Option<u64>,
}

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the server.
    Request,
    /// From the server.
    Reply,
}

/// A check of the messages in replies.
pub trait ReplyCheck: Send + Sync + fmt::Debug {
    /// Checks a message, decompressed and without its prefix. Must not allocate for a valid
    /// message.
    ///
    /// # Errors
    /// If the message is invalid; the call is then over.
    fn check(&self, message: &[u8]) -> Result<(), ReplyError>;

    /// A message in readable form, if possible. Only called for single messages.
    fn text(&self, _direction: Direction, _message: &[u8]) -> Option<String> {
        None
    }
}

/// The mistake in a reply's message, as text without any part of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyError(pub String);

impl fmt::Display for ReplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ReplyError {}
