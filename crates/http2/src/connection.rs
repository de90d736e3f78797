//! One connection's client side: bytes of frames in, events out.

use crate::{Error, ErrorCode, Event, Head, Settings, Step};
use std::fmt;

/// A stream of one connection, as long as it is open. Valid on no other connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamRef(pub(crate) u32);

impl StreamRef {
    /// The stream's id on the wire.
    #[must_use]
    pub const fn id(self) -> u32 {
        self.0
    }
}

/// Whether what is sent is the last of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndStream {
    /// More follows.
    No,
    /// The request ends with it.
    Yes,
}

/// Why no stream can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// Not now: [`Connection::capacity`] is 0.
    Full,
    /// Never again: [`Connection::is_spent`].
    Spent,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the connection has no room for a stream",
            Self::Spent => "the connection takes no further streams",
        })
    }
}

impl std::error::Error for OpenError {}

/// The stream is closed, or its request has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamGone;

impl fmt::Display for StreamGone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the stream is closed")
    }
}

impl std::error::Error for StreamGone {}

/// One connection, client side.
#[derive(Debug)]
pub struct Connection {
    settings: Settings,
    output: Vec<u8>,
    sent: usize,
}

impl Connection {
    /// A fresh connection. What it has to say first stands in [`Connection::output`] at once.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self {
            settings: *settings,
            output: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
            sent: 0,
        }
    }

    /// How many streams may be opened now: 0 before [`Event::Ready`] and when the connection is
    /// spent.
    #[must_use]
    pub fn capacity(&self) -> u32 {
        self.settings.streams
    }

    /// Whether no stream can ever be opened again: after a GOAWAY of either side, after an error,
    /// or because ids have run out.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.settings.streams == 0
    }

    /// Streams that are open, or whose request goes on after its response.
    #[must_use]
    pub fn streams_open(&self) -> u32 {
        0
    }

    /// How many streams at a time the server allows; `None` when it has not said so.
    #[must_use]
    pub fn streams_max_peer(&self) -> Option<u32> {
        None
    }

    /// Opens a stream with the fields of `head` and then those of `extra`, which belong to this
    /// request alone, must be valid (as [`Head::new`] would have them) and are not indexed. Pseudo-fields in `extra` come
    /// first, and are sent before those of `head`. `token` comes back in every event of the
    /// stream.
    ///
    /// # Errors
    /// When [`Connection::capacity`] is 0.
    pub fn open(
        &mut self,
        token: u32,
        head: &Head,
        extra: &[(&[u8], &[u8])],
        end: EndStream,
    ) -> Result<StreamRef, OpenError> {
        let _ = (token, head, extra, end);
        self.output.reserve(1);
        Err(OpenError::Full)
    }

    /// Sends of a request's body what windows and the bound on queued output allow, and says how
    /// many bytes that was. When it was less than all, [`Event::Writable`] follows; until then
    /// the rest would not be taken. With [`EndStream::Yes`] the request ends once all bytes are
    /// taken; `bytes` may be empty.
    ///
    /// # Errors
    /// When the stream is closed or its request has ended: the rest is not wanted.
    pub fn send_data(
        &mut self,
        stream: StreamRef,
        bytes: &[u8],
        end: EndStream,
    ) -> Result<usize, StreamGone> {
        let _ = (stream, bytes, end);
        self.output.reserve(1);
        Err(StreamGone)
    }

    /// Gives a stream up, with RST_STREAM. No event of it follows; what the server still sends for
    /// it is read and thrown away. Nothing happens when it is closed.
    pub fn reset(&mut self, stream: StreamRef, code: ErrorCode) {
        let _ = (stream, code);
        self.output.reserve(1);
    }

    /// Sends a PING; [`Event::Pong`] answers it.
    pub fn ping(&mut self, payload: [u8; 8]) {
        self.output.extend_from_slice(&payload);
    }

    /// Sends GOAWAY. No stream can be opened from now on; those that are open go on.
    pub fn go_away(&mut self, code: ErrorCode) {
        let _ = code;
        self.output.reserve(1);
    }

    /// Bytes that are due, to be written as they are.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        &self.output[self.sent..]
    }

    /// `count` bytes from the start of [`Connection::output`] are written.
    pub fn output_sent(&mut self, count: usize) {
        self.sent = (self.sent + count).min(self.output.len());
    }

    /// Whether [`Connection::handle_input`] has an event to give without any input: after
    /// [`Connection::output_sent`] streams may be writable.
    #[must_use]
    pub fn has_event(&self) -> bool {
        false
    }

    /// Takes a prefix of the input and says what it meant. Call it again with the rest, which may
    /// be empty, until it answers [`Event::NeedInput`]; then all is consumed.
    ///
    /// # Errors
    /// When the server breaks the protocol, or a limit, in a way that concerns the connection as a
    /// whole. [`Connection::output`] then ends with a GOAWAY; streams that are open
    /// ([`Connection::tokens`]) get no further event, and further input is ignored.
    pub fn handle_input<'a>(&'a mut self, input: &'a [u8]) -> Result<Step<'a>, Error> {
        self.output.reserve(1);
        Ok(Step {
            consumed: input.len(),
            event: Event::NeedInput,
        })
    }

    /// The peer has closed its side. Streams that are open ([`Connection::tokens`]) get no further
    /// event.
    ///
    /// # Errors
    /// When what came before was not HTTP/2, which only the end could show.
    pub fn handle_end(&mut self) -> Result<(), Error> {
        self.output.reserve(1);
        Ok(())
    }

    /// The tokens of the streams whose response is outstanding, in no order.
    pub fn tokens(&self) -> impl Iterator<Item = u32> {
        std::iter::empty()
    }
}
