//! The reply of one call: a head, messages, and a status at its end.
//!
//! ```text
//!   head() ──► data()… ──┬── trailers() ─────► Status
//!     │                  └── handle_end() ───► Status (trailers are missing)
//!     └ or trailers_only() ──────────────────► Status
//!   A Violation from head() or data() is the call's end: Status::from(violation).
//! ```

mod messages;

use crate::compression::Encoding;
use crate::status::{Status, StatusFields};
use crate::{PREFIX_BYTES, Violation};

pub use messages::{Keep, Message};

/// How many messages a reply contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replies {
    /// Exactly one, if the call succeeds: unary calls, and calls in which only the client streams.
    One,
    /// Any number: the server streams.
    Many,
}

/// The default maximum length of a message, as in most implementations.
const RECEIVE_LIMIT_BYTES: u32 = 4 * 1024 * 1024;

/// The rules for replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplySettings {
    /// How many messages are allowed.
    pub replies: Replies,
    /// The maximum length of a message in bytes, both as sent and decompressed; 4 MiB by default.
    pub receive_limit: u32,
    /// The compression that the request offers in `grpc-accept-encoding`.
    pub accepted: Encoding,
    /// Whether the messages are needed or only their lengths.
    pub keep: Keep,
}

impl Default for ReplySettings {
    fn default() -> Self {
        Self {
            replies: Replies::One,
            receive_limit: RECEIVE_LIMIT_BYTES,
            accepted: Encoding::Identity,
            keep: Keep::Payload,
        }
    }
}

/// The reply of one call so far. After its end it can be reused for another call
/// ([`Reply::start_call`]), and keeps its buffer.
#[derive(Debug)]
pub struct Reply {
    settings: ReplySettings,
    /// The encoding of compressed messages; `None` if it was not offered.
    encoding: Option<Encoding>,
    /// The head's HTTP status, to explain trailers without a status.
    http_status: u16,
    /// The violation by which the call has failed, if any.
    violation: Option<Violation>,
    prefix: [u8; PREFIX_BYTES],
    /// How many bytes of a prefix have arrived; its full length while a message arrives.
    prefix_length: u8,
    /// How many bytes of the message are still to come.
    remaining: u32,
    /// The received pieces of a message that is needed as a whole.
    partial: Vec<u8>,
    messages: u64,
}

const _: () = assert!(size_of::<Reply>() <= 96, "many thousands may be under way");

/// The fields of a head that matter to a reply.
struct HeadFields<'h> {
    content_type: &'h [u8],
    encoding: Option<&'h [u8]>,
    status: StatusFields<'h>,
}

impl<'h> HeadFields<'h> {
    #[inline]
    fn read<N: AsRef<[u8]>>(fields: impl IntoIterator<Item = (N, &'h [u8])>) -> Self {
        let mut head = Self {
            content_type: b"",
            encoding: None,
            status: StatusFields::default(),
        };
        for (name, value) in fields {
            match name.as_ref() {
                b"content-type" => head.content_type = value,
                b"grpc-encoding" => head.encoding = Some(value),
                name => head.status.read_field(name, value),
            }
        }
        head
    }
}

impl Reply {
    /// Creates a reply of which nothing has arrived yet.
    #[must_use]
    pub const fn new(settings: &ReplySettings) -> Self {
        Self {
            settings: *settings,
            encoding: Some(Encoding::Identity),
            http_status: 200,
            violation: None,
            prefix: [0; PREFIX_BYTES],
            prefix_length: 0,
            remaining: 0,
            partial: Vec::new(),
            messages: 0,
        }
    }

    /// Starts with another call.
    pub fn start_call(&mut self, settings: &ReplySettings) {
        let mut partial = std::mem::take(&mut self.partial);
        partial.clear();
        messages::shrink(&mut partial);
        *self = Self {
            partial,
            ..Self::new(settings)
        };
    }

    /// Handles the reply's head, which does not end the stream: its HTTP status and its fields
    /// except the pseudo-header. A grpc-status in it has no meaning.
    ///
    /// # Errors
    /// If no gRPC reply can follow; the stream must be reset.
    pub fn head<'h, N: AsRef<[u8]>>(
        &mut self,
        http_status: u16,
        fields: impl IntoIterator<Item = (N, &'h [u8])>,
    ) -> Result<(), Violation> {
        let head = HeadFields::read(fields);
        self.http_status = http_status;
        let checked = match check_content_type(head.content_type) {
            Err(Violation::ContentType) if http_status != 200 => {
                Err(Violation::HttpStatus(http_status))
            }
            Ok(()) if head.status.is_malformed() => Err(Violation::Metadata),
            checked => checked,
        };
        self.encoding = head.encoding.map_or(Some(Encoding::Identity), |name| {
            Encoding::of_name(name).filter(|&encoding| encoding == self.settings.accepted)
        });
        checked.map_err(|violation| self.fail(violation))
    }

    /// Handles a head that ends the stream, and is head and trailers in one ("Trailers-Only").
    pub fn trailers_only<'h, N: AsRef<[u8]>>(
        &mut self,
        http_status: u16,
        fields: impl IntoIterator<Item = (N, &'h [u8])>,
    ) -> Status {
        let head = HeadFields::read(fields);
        self.http_status = http_status;
        let is_failure = head.status.is_failure();
        match check_content_type(head.content_type) {
            // A proxy may report a failure on behalf of the server; only a server can report
            // success.
            Err(violation) if !is_failure => {
                let violation = match http_status {
                    200 => violation,
                    _ => Violation::HttpStatus(http_status),
                };
                self.fail(violation).into()
            }
            _ => self.conclude(&head.status),
        }
    }

    /// Handles the trailers, which end the stream; returns how the call ended. It is OK only if the
    /// server's status is, and if everything before it complied with the rules.
    pub fn trailers<'h, N: AsRef<[u8]>>(
        &mut self,
        fields: impl IntoIterator<Item = (N, &'h [u8])>,
    ) -> Status {
        let mut status = StatusFields::default();
        for (name, value) in fields {
            status.read_field(name.as_ref(), value);
        }
        self.conclude(&status)
    }

    /// Handles the end of a stream without trailers, which is never right.
    pub fn handle_end(&mut self) -> Status {
        let violation = if self.http_status == 200 {
            Violation::TrailersMissing
        } else {
            Violation::HttpStatus(self.http_status)
        };
        self.fail(violation).into()
    }

    /// How many complete messages have arrived.
    #[must_use]
    pub const fn messages(&self) -> u64 {
        self.messages
    }

    /// The end of the call, by its trailers.
    #[inline]
    fn conclude(&mut self, fields: &StatusFields<'_>) -> Status {
        if let Some(violation) = self.violation {
            return violation.into();
        }
        let status = fields.status();
        if !fields.is_present() && self.http_status != 200 {
            return self.fail(Violation::HttpStatus(self.http_status)).into();
        }
        if !status.is_ok() {
            return status;
        }
        let violation = if self.http_status != 200 {
            Violation::HttpStatus(self.http_status)
        } else if self.prefix_length > 0 {
            Violation::MessageIncomplete
        } else if self.settings.replies == Replies::One && self.messages == 0 {
            Violation::MessageMissing
        } else {
            return status;
        };
        self.fail(violation).into()
    }

    /// Ends the call: the first violation is kept.
    #[cold]
    fn fail(&mut self, violation: Violation) -> Violation {
        *self.violation.get_or_insert(violation)
    }
}

/// Checks for `application/grpc`, with or without `+proto`, and parameters ("Content-Type"). A
/// server may not choose another message format, and other types come from servers that do not use
/// gRPC.
#[inline]
fn check_content_type(value: &[u8]) -> Result<(), Violation> {
    const TYPE: &[u8] = b"application/grpc";
    if value == TYPE {
        return Ok(());
    }
    let Some((start, rest)) = value.split_at_checked(TYPE.len()) else {
        return Err(Violation::ContentType);
    };
    if !start.eq_ignore_ascii_case(TYPE) {
        return Err(Violation::ContentType);
    }
    let end = rest.iter().position(|&byte| byte == b';');
    match rest[..end.unwrap_or(rest.len())].trim_ascii_end() {
        [] => Ok(()),
        form if form.eq_ignore_ascii_case(b"+proto") => Ok(()),
        [b'+', ..] => Err(Violation::Subformat),
        _ => Err(Violation::ContentType),
    }
}
