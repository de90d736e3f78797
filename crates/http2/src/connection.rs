//! One connection's client side: bytes of frames in, events out.
//!
//! ```text
//!               ┌──────────────────────────────────────────────────────┐
//!               ▼        DATA            ┌───────┐      padding    ┌───┴──┐
//!   bytes ──► Frame ────────────────────►│ Data  ├────────────────►│ Skip │
//!               │  ▲                     └───────┘                 └──────┘
//!               │  └── every other frame, whole: from the input, or put together
//!               └───── DATA of streams that were reset, frames of unknown types ──► Skip
//! ```

mod data;
mod due;
mod frames;
mod heads;
mod input;
mod sending;
mod settings;
mod usual;
mod whole;

pub use whole::Whole;

use crate::frame::{MAX_31, flag, kind};
use crate::hpack::{Decoder, Encoder};
use crate::memory::Memory;
use crate::output::Output;
use crate::response::Fields;
use crate::streams::{Closing, Index, REMOTE_ENDED, Streams};
use crate::{Error, ErrorCode, Event, Headers, Limit, Settings, Step, StreamError, StreamRef};
use due::Due;
use heads::Assembly;
use input::Reading;
use settings::Peer;

/// The initial size of a decoder's table (RFC 9113 section 6.5.2); ours stays there.
const TABLE_BYTES: usize = 4096;
/// The client's connection preface (RFC 9113 section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// One connection, client side.
///
/// Write what [`Connection::output`] holds, pass what arrives to [`Connection::handle_input`], and
/// open streams while [`Connection::capacity`] allows. A connection is used once: make another
/// for the next.
#[derive(Debug)]
pub struct Connection {
    settings: Settings,
    output: Output,
    streams: Streams,
    reading: Reading,
    /// A frame that has not arrived whole; its header at least.
    partial: Vec<u8>,
    /// A header block that has not.
    assembly: Assembly,
    encoder: Encoder,
    decoder: Decoder,
    memory: Memory,
    fields: Fields,
    peer: Peer,
    /// Bytes of DATA that we may send.
    send_window: i32,
    /// Bytes of DATA that the server may send.
    receive_window: i32,
    /// Frames in a row that brought nothing.
    idle_frames: u32,
    due: Due,
    /// The last id of the server's GOAWAY.
    goaway: Option<u32>,
    rare: Rare,
    /// Whether we have sent GOAWAY.
    leaving: bool,
    /// Whether an error was given: all is over.
    failed: bool,
}

/// A parsed frame, before it becomes an event that borrows the input. Small, because every request
/// passes through it twice; rare variants are kept in [`Rare`].
#[derive(Clone, Copy, Debug)]
enum Found {
    Ready,
    Capacity,
    Interim {
        token: u32,
        status: u16,
    },
    Head {
        token: u32,
        status: u16,
        list: List,
        end: bool,
    },
    /// Bytes of the input, of this length, which end where the input is consumed to.
    Data {
        token: u32,
        length: u32,
        end: bool,
    },
    Trailers {
        token: u32,
        list: List,
    },
    /// With [`Rare::error`].
    StreamFailed {
        token: u32,
    },
    Unprocessed {
        token: u32,
    },
    /// With [`Rare::debug`].
    GoAway {
        code: ErrorCode,
    },
    Writable {
        token: u32,
    },
    /// With [`Rare::pong`].
    Pong,
}

const _: () = assert!(size_of::<Option<Found>>() <= 16, "it fits two registers");

/// Where a block's fields stand.
#[derive(Clone, Copy, Debug)]
enum List {
    Decoded,
    Remembered(u8),
}

/// The content of the last rare event.
#[derive(Debug)]
struct Rare {
    error: StreamError,
    pong: [u8; 8],
    /// The debug data of a GOAWAY.
    debug: Vec<u8>,
}

impl Default for Rare {
    fn default() -> Self {
        Self {
            error: StreamError::Truncated,
            pong: [0; 8],
            debug: Vec::new(),
        }
    }
}

impl Connection {
    /// A new connection. [`Connection::output`] holds its preface at once.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let settings = settings::sane(*settings);
        let mut connection = Self {
            settings,
            output: Output::default(),
            streams: Streams::new(settings.first_stream_id),
            reading: Reading::Frame,
            partial: Vec::new(),
            assembly: Assembly::default(),
            encoder: Encoder::new(),
            decoder: Decoder::new(TABLE_BYTES),
            memory: Memory::default(),
            fields: Fields::new(),
            peer: Peer::default(),
            send_window: settings::WINDOW_DEFAULT as i32,
            receive_window: settings.connection_window as i32,
            idle_frames: 0,
            due: Due::default(),
            goaway: None,
            rare: Rare::default(),
            leaving: false,
            failed: false,
        };
        connection.output.raw(PREFACE);
        connection.send_settings();
        connection
    }

    /// How many streams may be opened now: 0 before [`Event::Ready`] and when the connection is
    /// spent.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> u32 {
        if !self.peer.ready || self.leaving || self.failed || self.goaway.is_some() {
            return 0;
        }
        let wanted = self.settings.streams;
        let allowed = self.peer.streams_max.map_or(wanted, |max| max.min(wanted));
        let free = allowed.saturating_sub(self.streams.open());
        if free == 0 {
            0
        } else {
            free.min(self.streams.ids_left())
        }
    }

    /// Whether a stream may be opened now.
    #[inline]
    #[must_use]
    pub fn has_room(&self) -> bool {
        let open = self.streams.open();
        self.peer.ready
            && open < self.settings.streams
            && self.peer.streams_max.is_none_or(|max| open < max)
            && !self.is_spent()
    }

    /// Whether no stream can ever be opened again: after a GOAWAY of either side, after an error,
    /// or because ids have run out.
    #[inline]
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.leaving || self.failed || self.goaway.is_some() || self.streams.ids_left() == 0
    }

    /// The number of open streams, including those that still send after their response.
    #[inline]
    #[must_use]
    pub const fn streams_open(&self) -> u32 {
        self.streams.open()
    }

    /// SETTINGS_MAX_CONCURRENT_STREAMS of the server; `None` before it has sent one.
    #[must_use]
    pub const fn streams_max_peer(&self) -> Option<u32> {
        self.peer.streams_max
    }

    /// The tokens of the streams whose response is outstanding, in no order.
    pub fn tokens(&self) -> impl Iterator<Item = u32> {
        let outstanding = self
            .streams
            .iter()
            .filter(|stream| !stream.is(REMOTE_ENDED));
        outstanding.map(|stream| stream.token)
    }

    /// Resets a stream, with RST_STREAM. No event of it follows; later frames of it are read and
    /// discarded. Has no effect on a closed stream.
    pub fn reset(&mut self, stream: StreamRef, code: ErrorCode) {
        if let Some(index) = self.streams.find(stream.0)
            && !self.failed
        {
            // Not a reply: there are no more of these than streams were opened.
            let code = code.0.to_be_bytes();
            self.output.frame(kind::RST_STREAM, 0, stream.0, &code);
            self.streams.close(index, Closing::Reset);
        }
    }

    /// Sends a PING; [`Event::Pong`] answers it.
    pub fn ping(&mut self, payload: [u8; 8]) {
        if !self.failed {
            self.output.frame(kind::PING, 0, 0, &payload);
        }
    }

    /// Sends GOAWAY. No stream can be opened from now on; those that are open go on.
    pub fn go_away(&mut self, code: ErrorCode) {
        if !self.failed {
            self.send_go_away(code, "");
        }
    }

    /// Bytes that are due, to be written as they are.
    #[inline]
    #[must_use]
    pub fn output(&self) -> &[u8] {
        self.output.pending()
    }

    /// `count` bytes from the start of [`Connection::output`] are written. Streams may be writable
    /// after it: see [`Connection::has_event`].
    #[inline]
    pub fn output_sent(&mut self, count: usize) {
        self.output.sent(count);
        self.queue_drained();
    }

    /// Whether [`Connection::handle_input`] may have an event to give without any input.
    #[inline]
    #[must_use]
    pub const fn has_event(&self) -> bool {
        self.due.any() && !self.failed
    }

    /// Consumes a prefix of the input and returns its meaning. Call it again with the rest, which
    /// may be empty, until it answers [`Event::NeedInput`]; then all is consumed.
    ///
    /// # Errors
    /// When the server breaks the protocol, or a limit, in a way that concerns the connection as a
    /// whole. [`Connection::output`] then ends with a GOAWAY; streams that are open
    /// ([`Connection::tokens`]) get no further event, and further input is ignored.
    #[inline]
    pub fn handle_input<'a>(&'a mut self, input: &'a [u8]) -> Result<Step<'a>, Error> {
        if let Some((found, consumed)) = self.usual(input) {
            return Ok(Step {
                consumed,
                event: self.event(Some(found), &input[..consumed]),
            });
        }
        self.handle_any_input(input)
    }

    /// The same for input that is not as usual.
    fn handle_any_input<'a>(&'a mut self, input: &'a [u8]) -> Result<Step<'a>, Error> {
        let mut consumed = 0;
        match self.advance(input, &mut consumed) {
            Ok(found) => Ok(Step {
                consumed,
                event: self.event(found, &input[..consumed]),
            }),
            Err(error) => {
                self.fail(&error);
                Err(error)
            }
        }
    }

    /// The peer has closed its side. Streams that are open ([`Connection::tokens`]) get no further
    /// event.
    ///
    /// # Errors
    /// When the input so far was not HTTP/2, which only the end could show.
    pub fn handle_end(&mut self) -> Result<(), Error> {
        match self.judge_end() {
            Some(error) if !self.failed => {
                self.fail(&error);
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Turns a parsed frame into an event.
    #[inline]
    fn event<'a>(&'a self, found: Option<Found>, consumed: &'a [u8]) -> Event<'a> {
        let Some(found) = found else {
            return Event::NeedInput;
        };
        match found {
            Found::Head {
                token,
                status,
                list,
                end,
            } => Event::Head {
                token,
                status,
                headers: self.headers(list),
                end,
            },
            Found::Data { token, length, end } => Event::Data {
                token,
                bytes: &consumed[consumed.len() - length as usize..],
                end,
            },
            Found::Trailers { token, list } => Event::Trailers {
                token,
                headers: self.headers(list),
            },
            Found::Ready => Event::Ready,
            Found::Capacity => Event::Capacity,
            Found::Interim { token, status } => Event::Interim { token, status },
            Found::StreamFailed { token } => Event::StreamFailed {
                token,
                error: self.rare.error,
            },
            Found::Unprocessed { token } => Event::Unprocessed { token },
            Found::GoAway { code } => Event::GoAway {
                code,
                debug: &self.rare.debug,
            },
            Found::Writable { token } => Event::Writable { token },
            Found::Pong => Event::Pong {
                payload: self.rare.pong,
            },
        }
    }

    #[inline]
    fn headers(&self, list: List) -> Headers<'_> {
        match list {
            List::Decoded => self.fields.headers(),
            List::Remembered(index) => Headers::new(self.memory.list(usize::from(index))),
        }
    }

    /// Ends everything with an error of the server's making.
    #[cold]
    fn fail(&mut self, error: &Error) {
        let what = match error {
            Error::Violation { what, .. } => what,
            Error::Limit(limit) => limit.name(),
            Error::NotHttp2(_) => "not HTTP/2",
        };
        self.send_go_away(error.code(), what);
        self.failed = true;
        self.partial = Vec::new();
        self.assembly = Assembly::default();
    }

    /// Appends GOAWAY; no stream of the server's was ever accepted, so the last one is 0.
    fn send_go_away(&mut self, code: ErrorCode, debug: &str) {
        let mut payload = [0; 8].to_vec();
        payload[4..].copy_from_slice(&code.0.to_be_bytes());
        payload.extend_from_slice(debug.as_bytes());
        self.output.frame(kind::GOAWAY, 0, 0, &payload);
        self.leaving = true;
    }

    /// Resets an open stream because of a mistake of the server.
    fn reset_at(&mut self, index: Index, code: ErrorCode) {
        let id = self.streams.get(index).id;
        self.output.rst_stream(id, code);
        self.streams.close(index, Closing::Reset);
    }

    /// Resets a stream because of a mistake of the server. Returns the event for the caller, unless
    /// the response was over already.
    #[cold]
    fn fail_stream(&mut self, index: Index, error: StreamError) -> Option<Found> {
        let stream = *self.streams.get(index);
        self.reset_at(index, error.code());
        (!stream.is(REMOTE_ENDED)).then(|| self.failed_stream(stream.token, error))
    }

    /// A stream has failed.
    fn failed_stream(&mut self, token: u32, error: StreamError) -> Found {
        self.rare.error = error;
        Found::StreamFailed { token }
    }

    /// Counts a frame that brought nothing.
    fn idle(&mut self) -> Result<(), Error> {
        self.idle_frames += 1;
        if self.idle_frames > self.settings.limits.idle_frames {
            return Err(Error::Limit(Limit::Frames));
        }
        Ok(())
    }
}

const _: () = assert!(PREFACE.len() == 24 && MAX_31 == i32::MAX as u32);
const _: () = assert!(flag::ACK == flag::END_STREAM);
