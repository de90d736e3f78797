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
//!
//! The state of a connection is divided among these owners, one file each. The parts of
//! [`Connection`] get the shared state as an argument, and no part knows another one, except that
//! `input` asks `heads` which frame may come.
//!
//! ```text
//!   input      bytes to frames          heads      header blocks to heads and trailers
//!   sending    requests out             bodies     DATA in, and the window for it
//!   shutdown   GOAWAY and errors        shared     streams, output, the bound on idle frames
//! ```

mod bodies;
mod found;
mod frames;
mod heads;
mod input;
mod sending;
mod settings;
mod shared;
mod shutdown;
mod waiting;
mod whole;

pub use whole::Whole;

use crate::frame::{Frame, FrameHeader, HEADER_BYTES, MAX_31, flag, kind};
use crate::response::Role;
use crate::streams::{REMOTE_ENDED, StreamClosing};
use crate::{
    EndStream, Error, ErrorCode, Event, Head, LimitKind, OpenError, Settings, Step, StreamError,
    StreamGone, StreamRef,
};
use bodies::ResponseBodies;
use found::Found;
use heads::Heads;
use input::{Input, NextFrame, Reading};
use sending::SendingSide;
use shared::Shared;
use shutdown::Shutdown;

/// The client's connection preface (RFC 9113 section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// One connection, client side.
///
/// Write the bytes of [`Connection::output`], pass received bytes to [`Connection::handle_input`],
/// and open streams while [`Connection::capacity`] allows it. A connection is used once: create
/// another for the next.
///
/// The methods are of four kinds. Methods for requests (`open`, `send_data`, `reset`) and for the
/// connection (`ping`, `go_away`) append to the output, which `output_sent` shortens. Methods for
/// input consume a prefix of it: `whole` and the beginning of `handle_input` are shortcuts for
/// nearly every frame under load, and decide nothing by themselves; they leave any other input
/// untouched for the general path, and both paths have the same meaning. All other methods return
/// information and change nothing.
///
/// After an error, or a GOAWAY of either side, the connection is spent: no stream can be opened,
/// [`Connection::is_spent`] is true, and open streams continue only after a GOAWAY. An error is
/// returned once; all later input is ignored, and the queued GOAWAY is the last output.
///
/// The settings limit the memory: 40 bytes for a stream, a header block of `head_bytes` while it
/// arrives, the tables of HPACK (4 KiB each), replies of `output_bytes`, and 256 KiB of queued
/// bodies. Received bodies are never stored: an event borrows their bytes from the caller's input.
#[derive(Debug)]
pub struct Connection {
    shared: Shared,
    input: Input,
    sending: SendingSide,
    heads: Heads,
    bodies: ResponseBodies,
    shutdown: Shutdown,
}

impl Connection {
    /// Creates a connection. [`Connection::output`] contains its preface at once.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let settings = settings::sane(*settings);
        let mut shared = Shared::new(settings);
        shared.output.raw(PREFACE);
        settings::announce(&settings, &mut shared.output);
        Self {
            shared,
            input: Input::new(),
            sending: SendingSide::new(),
            heads: Heads::new(),
            bodies: ResponseBodies::new(&settings),
            shutdown: Shutdown::default(),
        }
    }

    /// The number of streams that can be opened now: 0 before [`Event::Ready`] and if the
    /// connection is spent.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> u32 {
        if !self.sending.is_ready() || self.shutdown.has_begun() {
            return 0;
        }
        let wanted = self.shared.settings.streams;
        let allowed = self
            .sending
            .streams_max()
            .map_or(wanted, |max| max.min(wanted));
        let free = allowed.saturating_sub(self.shared.streams.open());
        if free == 0 {
            0
        } else {
            free.min(self.shared.streams.ids_left())
        }
    }

    /// Whether a stream can be opened now.
    #[inline]
    #[must_use]
    pub fn has_room(&self) -> bool {
        let open = self.shared.streams.open();
        self.sending.is_ready()
            && open < self.shared.settings.streams
            && self.sending.streams_max().is_none_or(|max| open < max)
            && !self.is_spent()
    }

    /// Whether no stream can ever be opened again: after a GOAWAY of either side, after an error,
    /// or because no ids are left.
    #[inline]
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.shutdown.has_begun() || self.shared.streams.ids_left() == 0
    }

    /// The number of open streams, including the ones that still send after their response.
    #[inline]
    #[must_use]
    pub const fn streams_open(&self) -> u32 {
        self.shared.streams.open()
    }

    /// The server's SETTINGS_MAX_CONCURRENT_STREAMS; `None` before it has sent one.
    #[must_use]
    pub const fn streams_max_peer(&self) -> Option<u32> {
        self.sending.streams_max()
    }

    /// The server's SETTINGS_MAX_HEADER_LIST_SIZE; the largest number before it has sent one.
    /// Compare it with [`Head::list_bytes`] plus the request's additional fields. The setting is
    /// advisory (RFC 9113 section 6.5.2): a larger request may be answered or refused.
    #[inline]
    #[must_use]
    pub const fn header_list_max_peer(&self) -> u32 {
        self.sending.header_list_max()
    }

    /// Whether the server accepts a CONNECT with `:protocol`, such as `websocket` (RFC 8441 section
    /// 3). False before [`Event::Ready`]; a server announces it with its first SETTINGS.
    #[inline]
    #[must_use]
    pub const fn connects_by_protocol(&self) -> bool {
        self.sending.connects_by_protocol()
    }

    /// The tokens of the streams whose response is outstanding, in no particular order.
    pub fn tokens(&self) -> impl Iterator<Item = u32> {
        let outstanding = self
            .shared
            .streams
            .iter()
            .filter(|stream| !stream.is(REMOTE_ENDED));
        outstanding.map(|stream| stream.token)
    }

    /// Opens a stream with the fields of `head` and of `extra`, which belong to this request alone
    /// and are not indexed. [`Head::new`] must accept the fields of `extra`, too; pseudo-fields
    /// must be first among them, and are sent before the fields of `head`. Every event of the
    /// stream contains `token`.
    ///
    /// Send a request's body with [`Connection::send_data`]. If its response completes first, the
    /// stream stays open until the request ends or is given up with [`Connection::reset`].
    ///
    /// A `head` with `:protocol` opens a tunnel (RFC 8441 section 4): after a 2xx response, DATA of
    /// both directions belongs to that protocol, and either side ends it. `:protocol` must not be in
    /// `extra`.
    ///
    /// # Errors
    /// If [`Connection::capacity`] is 0, or if the server does not accept `:protocol`.
    #[inline]
    pub fn open(
        &mut self,
        token: u32,
        head: &Head,
        extra: &[(&[u8], &[u8])],
        end: EndStream,
    ) -> Result<StreamRef, OpenError> {
        if !self.has_room() {
            return Err(self.refusal());
        }
        if head.is_tunnel && !self.connects_by_protocol() {
            return Err(OpenError::NoConnectProtocol);
        }
        self.sending.open(&mut self.shared, token, head, extra, end)
    }

    #[cold]
    fn refusal(&self) -> OpenError {
        if self.is_spent() {
            OpenError::Spent
        } else {
            OpenError::Full
        }
    }

    /// Sends as much of a request's body as the windows and the limit of queued output allow, and
    /// returns the number of bytes. If that is less than all, [`crate::Event::Writable`] follows;
    /// until then no more would be accepted. With [`EndStream::Yes`] the request ends once all
    /// bytes are accepted; `bytes` may be empty.
    ///
    /// # Errors
    /// If the stream is closed or its request has ended: the rest is not needed.
    pub fn send_data(
        &mut self,
        stream: StreamRef,
        bytes: &[u8],
        end: EndStream,
    ) -> Result<usize, StreamGone> {
        if self.shutdown.has_failed() {
            return Err(StreamGone);
        }
        self.sending.send_data(&mut self.shared, stream, bytes, end)
    }

    /// Resets a stream, with RST_STREAM. No event of it follows; its later frames are read and
    /// discarded. Has no effect on a closed stream. A caller resets each stream at most once, so
    /// that a server can't make it queue resets.
    pub fn reset(&mut self, stream: StreamRef, code: ErrorCode) {
        if let Some(index) = self.shared.streams.find(stream.0)
            && !self.shutdown.has_failed()
        {
            // Not a reply: there are at most as many of these as opened streams.
            let code = code.0.to_be_bytes();
            self.shared
                .output
                .frame(kind::RST_STREAM, 0, stream.0, &code);
            self.shared.streams.close(index, StreamClosing::Reset);
        }
    }

    /// Sends a PING, which [`Event::Pong`] answers.
    pub fn ping(&mut self, payload: [u8; 8]) {
        if !self.shutdown.has_failed() {
            self.shared.output.frame(kind::PING, 0, 0, &payload);
        }
    }

    /// Sends GOAWAY. No stream can be opened afterwards; open streams continue.
    pub fn go_away(&mut self, code: ErrorCode) {
        if !self.shutdown.has_failed() {
            self.shutdown.leave(&mut self.shared.output, code, "");
        }
    }

    /// Bytes that are to be written unchanged.
    #[inline]
    #[must_use]
    pub fn output(&self) -> &[u8] {
        self.shared.output.pending()
    }

    /// Removes `count` bytes, which have been written, from the start of [`Connection::output`].
    /// Streams may be writable afterwards: see [`Connection::has_event`].
    #[inline]
    pub fn output_sent(&mut self, count: usize) {
        self.shared.output.sent(count);
        self.sending.output_sent(&self.shared);
    }

    /// Whether [`Connection::handle_input`] may return an event without any input.
    #[inline]
    #[must_use]
    pub const fn has_event(&self) -> bool {
        self.is_due() && !self.shutdown.has_failed()
    }

    /// Consumes a prefix of the input and returns its meaning. Call it again with the rest, which
    /// may be empty, until it returns [`Event::NeedInput`]; then all input is consumed.
    ///
    /// # Errors
    /// If the server violates the protocol, or a limit, in a way that affects the whole connection.
    /// [`Connection::output`] then ends with a GOAWAY; open streams ([`Connection::tokens`]) get no
    /// further event, and further input is ignored. With [`Limit::Head`] the stream to which the
    /// head belongs is not among them: it has failed separately, in the event before.
    #[inline]
    pub fn handle_input<'a>(&'a mut self, input: &'a [u8]) -> Result<Step<'a>, Error> {
        if let Some((found, consumed)) = self.usual(input) {
            return Ok(Step {
                consumed,
                frame_bytes: consumed,
                event: self.event(Some(found), &input[..consumed]),
            });
        }
        self.handle_any_input(input)
    }

    /// Handles input that has no shortcut.
    fn handle_any_input<'a>(&'a mut self, input: &'a [u8]) -> Result<Step<'a>, Error> {
        let mut consumed = 0;
        match self.advance(input, &mut consumed) {
            Ok(found) => Ok(Step {
                consumed,
                frame_bytes: found.map_or(0, |(_, bytes)| bytes),
                event: self.event(found.map(|(found, _)| found), &input[..consumed]),
            }),
            Err(error) => {
                self.fail(&error);
                Err(error)
            }
        }
    }

    /// Notes that the peer has closed its side. Open streams ([`Connection::tokens`]) get no
    /// further event.
    ///
    /// # Errors
    /// If the input so far was not HTTP/2, which only the end could show.
    pub fn handle_end(&mut self) -> Result<(), Error> {
        match self.input.judge_end() {
            Some(error) => {
                self.fail(&error);
                Err(error)
            }
            None => Ok(()),
        }
    }

    /// Reads a response in one step, if the input begins with a complete response and the request
    /// has ended. `None` means that the input and the connection are unchanged, and that the input
    /// is left for [`Connection::handle_input`], which would return the same in two or three
    /// events.
    // Called next to `handle_input`, in the same loop.
    #[inline(always)]
    pub fn whole<'a>(&'a mut self, input: &'a [u8]) -> Option<Whole<'a>> {
        let frames = whole::ResponseFrames::first(input)?;
        if !self.is_quiet() {
            return None;
        }
        let streams = &mut self.shared.streams;
        let index = streams.find(frames.stream)?;
        let stream = streams.get(index);
        let length = frames.body.len() as i32;
        let low = self
            .bodies
            .is_low_after(length, stream.receive_window, &self.shared.settings);
        if low || !stream.awaits_head() {
            return None;
        }
        let token = stream.token;
        let (status, list) = self.heads.recall_whole(frames.head, frames.body.len())?;
        let trailers = match frames.trailers {
            Some(block) => Some(self.heads.recall(block, Role::Trailers)?.1),
            None => None,
        };
        streams.close(index, StreamClosing::Ended);
        self.shared.progress();
        self.bodies.consume(length);
        Some(Whole {
            token,
            status,
            headers: self.heads.headers(list),
            body: frames.body,
            trailers: trailers.map(|list| self.heads.headers(list)),
            consumed: frames.consumed,
        })
    }

    /// The meaning and the length of the frame at the input's start, if the input contains the
    /// complete frame, the frame is a remembered header block or DATA without padding, and nothing
    /// else is in progress.
    ///
    /// Input that arrives byte by byte never takes this path, so every test that compares it with
    /// complete input compares the two paths.
    #[inline]
    fn usual(&mut self, input: &[u8]) -> Option<(Found, usize)> {
        let Frame {
            header, payload, ..
        } = Frame::first(input)?;
        if !self.is_quiet() {
            return None;
        }
        let (shared, id) = (&mut self.shared, header.stream);
        let end = header.has(flag::END_STREAM);
        let found = match (header.kind, header.flags & !flag::END_STREAM) {
            (kind::HEADERS, flag::END_HEADERS) => {
                self.heads.usual_block(shared, id, payload, end)?
            }
            (kind::DATA, 0) => self.bodies.usual_data(shared, header, end)?,
            _ => return None,
        };
        shared.progress();
        Some((found, HEADER_BYTES + payload.len()))
    }

    /// Whether the next byte begins a frame, any frame may come, and no event is due.
    #[inline]
    fn is_quiet(&self) -> bool {
        self.input.is_at_frame() && !self.heads.is_assembling() && !self.is_due()
    }

    /// Whether [`Connection::due_event`] may return an event.
    #[inline]
    const fn is_due(&self) -> bool {
        self.shutdown.is_due() || self.sending.is_due()
    }

    /// Advances through the input until something is found, with the bytes of its frames; `None` if all
    /// of it is consumed.
    #[inline(never)]
    fn advance(&mut self, input: &[u8], at: &mut usize) -> Result<Option<(Found, usize)>, Error> {
        loop {
            if self.has_event()
                && let Some(found) = self.due_event()?
            {
                return Ok(Some((found, 0)));
            }
            let rest = &input[*at..];
            let found = match self.input.reading {
                Reading::First | Reading::Frame => {
                    match self.input.next_frame(rest, at, &self.heads)? {
                        NextFrame::Starved => return Ok(None),
                        NextFrame::Whole(header, payload) => {
                            self.input.count(header, payload);
                            self.frame(header, payload)?
                        }
                        NextFrame::Collected(header, bytes) => {
                            self.input.count(header, &bytes[HEADER_BYTES..]);
                            let found = self.frame(header, &bytes[HEADER_BYTES..])?;
                            self.input.reuse(bytes);
                            found
                        }
                    }
                }
                _ if rest.is_empty() => return Ok(None),
                Reading::Data { .. } => {
                    let (before, reading) = (*at, &mut self.input.reading);
                    let found = ResponseBodies::data(&mut self.shared, reading, rest.len(), at);
                    self.input.frame_bytes += *at - before;
                    found
                }
                Reading::Skip(count) => {
                    let skipped = rest.len().min(count as usize);
                    *at += skipped;
                    self.input.reading = Reading::skip(count - skipped as u32);
                    None
                }
                Reading::Over => {
                    *at = input.len();
                    return Ok(None);
                }
            };
            if let Some(found) = found {
                return Ok(Some((found, std::mem::take(&mut self.input.frame_bytes))));
            }
        }
    }

    /// The next event of several streams, which are found one at a time; or the error that follows
    /// the event of the stream that caused it.
    #[cold]
    fn due_event(&mut self) -> Result<Option<Found>, Error> {
        self.shutdown.take_imminent()?;
        let refused = self.shutdown.next_unprocessed(&mut self.shared.streams);
        Ok(refused.or_else(|| self.sending.next_writable(&mut self.shared)))
    }

    /// Handles a frame whose header was accepted.
    #[inline]
    fn frame(&mut self, header: FrameHeader, payload: &[u8]) -> Result<Option<Found>, Error> {
        let shared = &mut self.shared;
        let found = match header.kind {
            kind::DATA => {
                let reading = &mut self.input.reading;
                self.bodies.data_frame(shared, reading, header, payload)?
            }
            kind::HEADERS => self.heads.headers_frame(shared, header, payload)?,
            _ => self.other_frame(header, payload)?,
        };
        self.shared.bound_replies()?;
        Ok(found)
    }

    #[inline(never)]
    fn other_frame(&mut self, header: FrameHeader, payload: &[u8]) -> Result<Option<Found>, Error> {
        let shared = &mut self.shared;
        match header.kind {
            kind::PRIORITY => frames::priority(shared, header, payload),
            kind::RST_STREAM => frames::rst_stream(shared, header, payload),
            kind::SETTINGS => self.sending.settings_frame(shared, header, payload),
            kind::PUSH_PROMISE => Err(Error::protocol("PUSH_PROMISE, which is disabled")),
            kind::PING => frames::ping(shared, header, payload),
            kind::GOAWAY => self.shutdown.goaway_frame(shared, header, payload),
            kind::WINDOW_UPDATE => self.sending.window_update(shared, header, payload),
            kind::CONTINUATION => match self.heads.continuation(shared, header, payload) {
                Err(Error::Limit(LimitKind::Head)) => self.pass_head_limit(header.stream),
                found => found,
            },
            _ => {
                // Section 5.5: unknown types are ignored.
                self.input.reading = Reading::skip(header.length);
                shared.idle().map(|()| None)
            }
        }
    }

    /// Ends the connection because of one stream's header block, which is too long to be decoded.
    /// That stream fails by the limit, in a separate event before the error; the other streams did
    /// nothing wrong but share its connection.
    #[cold]
    fn pass_head_limit(&mut self, stream: u32) -> Result<Option<Found>, Error> {
        let error = Error::Limit(LimitKind::Head);
        let limit = StreamError::Limit(LimitKind::Head);
        let index = self.shared.streams.find(stream);
        let failed = index.and_then(|index| self.shared.fail(index, limit));
        if failed.is_none() {
            return Err(error);
        }
        self.shutdown.fail_next(error);
        Ok(failed)
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
                headers: self.heads.headers(list),
                end,
            },
            Found::Data { token, length, end } => Event::Data {
                token,
                bytes: &consumed[consumed.len() - length as usize..],
                end,
            },
            Found::Trailers { token, list } => Event::Trailers {
                token,
                headers: self.heads.headers(list),
            },
            Found::Ready => Event::Ready,
            Found::Capacity => Event::Capacity,
            Found::Interim { token, status } => Event::Interim { token, status },
            Found::StreamFailed { token } => Event::StreamFailed {
                token,
                error: self.shared.failure(),
            },
            Found::Unprocessed { token } => Event::Unprocessed { token },
            Found::GoAway { code } => Event::GoAway {
                code,
                debug: self.shutdown.debug(),
            },
            Found::Writable { token } => Event::Writable { token },
            Found::Pong { payload } => Event::Pong { payload },
        }
    }

    /// Ends the connection with an error that the server caused.
    #[cold]
    fn fail(&mut self, error: &Error) {
        self.shutdown.fail(&mut self.shared.output, error);
        self.input.abandon();
        self.heads.abandon();
    }
}

const _: () = assert!(PREFACE.len() == 24 && MAX_31 == i32::MAX as u32);
const _: () = assert!(flag::ACK == flag::END_STREAM);
