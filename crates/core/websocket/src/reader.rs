//! One connection's incoming side: bytes of frames in, events out.
//!
//! ```text
//!                  header of a data frame ┌──────┐ last byte of its last frame
//!               ┌────────────────────────►│ Data ├──► Event::Message
//!   bytes ──► Header                      └──┬───┘
//!               │ ▲────────────────────────────┘ last byte of another frame
//!               │        of a control frame ┌─────────┐
//!               └──────────────────────────►│ Control ├──► Event::Ping, Event::Pong: Header
//!                                           └─────────┘ └─► Event::Close: Closed
//! ```

use crate::content::Content;
use crate::frame::{self, SERVER_HEADER_BYTES, opcode};
use crate::inflate::{self, Inflater, Tail};
use crate::offer::Agreed;
use crate::shared::Shared;
use crate::window::Window;
use crate::{CloseCode, Kind, Notice, Notices, Takeover, Violation};

/// The result of one step through the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<'a> {
    /// How many bytes from the input's start are consumed.
    pub consumed: usize,
    /// What these bytes mean.
    pub event: Event<'a>,
}

/// The events that a reader finds in the bytes of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// Nothing until more input arrives; all of the current input is consumed.
    NeedInput,
    /// A complete message.
    Message(Message<'a>),
    /// A ping with at most 125 bytes, to be answered by a pong with the same bytes (RFC 6455 section
    /// 5.5.2). It may come between the frames of a message.
    Ping(&'a [u8]),
    /// A pong with at most 125 bytes, which may be unsolicited (RFC 6455 section 5.5.3).
    Pong(&'a [u8]),
    /// The close frame, after which the server sends nothing.
    Close(Close<'a>),
}

/// A complete message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// A text or other bytes.
    pub kind: Kind,
    /// The first bytes of the message, decompressed: as many as the reader keeps. A text is valid
    /// UTF-8 as a whole; its first bytes may end within a character.
    pub payload: &'a [u8],
    /// The length of the message in bytes, decompressed.
    pub length: u64,
    /// The length as sent, without the headers of frames.
    pub length_sent: u64,
    /// The number of frames, at least 1.
    pub frames: u32,
}

/// A server's close frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Close<'a> {
    /// The code; `None` if the frame has none, which is called 1005 (RFC 6455 section 7.1.5).
    pub code: Option<CloseCode>,
    /// The reason; often empty. Not safe for a terminal.
    pub reason: &'a str,
}

/// A message that has begun and is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// A text or other bytes.
    pub kind: Kind,
    /// The received bytes of the message, without the headers of frames.
    pub received: u64,
}

/// Reads the frames of one server, cut anywhere.
///
/// The events are the same for every way of cutting, and so is the first violation. A text is
/// checked as its bytes arrive.
///
/// A reader has memory for the bytes of a message that it keeps while the message is incomplete, and
/// for the decompressor of a compressed one (48 KiB). If the server keeps its context from message
/// to message, the reader also has a copy of the last bytes, at most the window that was agreed and
/// 4 KiB more.
#[derive(Debug)]
pub struct Reader {
    content: Content,
    /// How much is kept of the next message.
    keep: usize,
    /// The bytes of the frame that are still to come.
    remaining: u64,
    messages: u64,
    /// The decompressor of the message, if it is compressed.
    inflater: Option<Box<Inflater>>,
    /// The bytes to which a compressed message may refer, if the server keeps its context.
    window: Option<Box<Window>>,
    header: [u8; SERVER_HEADER_BYTES],
    header_length: u8,
    state: State,
    notices: Notices,
    /// Whether messages may be compressed.
    is_compressed: bool,
    failed: Option<Violation>,
}

const _: () = assert!(
    size_of::<Reader>() <= 144,
    "a worker may have many thousands"
);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Between frames, or in a header.
    Header,
    Data,
    Control,
    /// After the close frame.
    Closed,
}

/// What was found; the events borrow from [`Shared`].
enum Found {
    Message(Kind),
    /// A control frame with this opcode.
    Control(u8),
}

impl Reader {
    /// A reader of the bytes after the handshake. The first `keep` bytes of each message are kept.
    #[must_use]
    pub fn new(agreed: &Agreed, keep: usize) -> Self {
        let window = agreed
            .deflate
            .filter(|deflate| deflate.server_takeover == Takeover::Yes)
            .map(|deflate| Box::new(Window::new(deflate.server_window_bits)));
        Self {
            content: Content::default(),
            keep,
            remaining: 0,
            messages: 0,
            inflater: None,
            window,
            header: [0; SERVER_HEADER_BYTES],
            header_length: 0,
            state: State::Header,
            notices: Notices::default(),
            is_compressed: agreed.deflate.is_some(),
            failed: None,
        }
    }

    /// Keeps the first `keep` bytes of each message that begins from now on.
    pub const fn set_keep(&mut self, keep: usize) {
        self.keep = keep;
    }

    /// The message that has begun and is not complete.
    #[must_use]
    pub fn under_way(&self) -> Option<UnderWay> {
        let missing = match self.state {
            State::Data => self.remaining,
            _ => 0,
        };
        self.content.kind.map(|kind| UnderWay {
            kind,
            received: self.content.length_sent - missing,
        })
    }

    /// The number of complete messages.
    #[inline]
    #[must_use]
    pub const fn messages(&self) -> u64 {
        self.messages
    }

    /// Takes the mistakes that were tolerated since the last call.
    #[inline]
    pub fn take_notices(&mut self) -> Notices {
        std::mem::take(&mut self.notices)
    }

    /// Consumes a prefix of the input and returns its meaning. Call it again with the rest until it
    /// returns [`Event::NeedInput`]; then all input is consumed. A caller may keep the rest for
    /// later. After [`Event::Close`], input is discarded with a notice.
    ///
    /// # Errors
    /// If the server violates the protocol or a limit; later calls return the same error. Messages
    /// before the violation have been returned.
    #[inline]
    pub fn handle_input<'a>(
        &mut self,
        input: &'a [u8],
        shared: &'a mut Shared,
    ) -> Result<Step<'a>, Violation> {
        if let Some((message, consumed)) = self.usual(input, shared.limits.message_bytes) {
            self.messages += 1;
            return Ok(Step {
                consumed,
                event: Event::Message(message),
            });
        }
        self.handle_any_input(input, shared)
    }

    /// An uncompressed message in one frame that the input contains completely, with the bytes of
    /// the frame. All other input is left for the general path.
    #[inline]
    fn usual<'a>(&self, input: &'a [u8], limit: u64) -> Option<(Message<'a>, usize)> {
        const TEXT: u8 = frame::FIN | opcode::TEXT;
        const BINARY: u8 = frame::FIN | opcode::BINARY;
        let is_between = self.state == State::Header && self.header_length == 0;
        if !is_between || self.content.kind.is_some() || self.failed.is_some() {
            return None;
        }
        let (&[first, second], rest) = input.split_first_chunk()?;
        let (length, rest) = match second {
            0..=125 => (u64::from(second), rest),
            126 => {
                let (length, rest) = rest.split_first_chunk()?;
                (u64::from(u16::from_be_bytes(*length)), rest)
            }
            127 => {
                let (length, rest) = rest.split_first_chunk()?;
                (u64::from_be_bytes(*length), rest)
            }
            _ => return None,
        };
        if length > limit || !frame::is_shortest(second, length) {
            return None;
        }
        let payload = rest.get(..usize::try_from(length).ok()?)?;
        let kind = match first {
            TEXT if std::str::from_utf8(payload).is_ok() => Kind::Text,
            BINARY => Kind::Binary,
            _ => return None,
        };
        let message = Message {
            kind,
            payload: &payload[..payload.len().min(self.keep)],
            length,
            length_sent: length,
            frames: 1,
        };
        Some((message, input.len() - rest.len() + payload.len()))
    }

    /// Handles input that is not the usual.
    fn handle_any_input<'a>(
        &mut self,
        input: &'a [u8],
        shared: &'a mut Shared,
    ) -> Result<Step<'a>, Violation> {
        if let Some(violation) = self.failed {
            return Err(violation);
        }
        let mut rest = input;
        let found = self.advance(&mut rest, shared);
        let found = found.map_err(|violation| self.fail(violation))?;
        let event = match found {
            None => Event::NeedInput,
            Some(Found::Message(kind)) => Event::Message(Message {
                kind,
                payload: &shared.whole,
                length: self.content.length,
                length_sent: self.content.length_sent,
                frames: self.content.frames,
            }),
            Some(Found::Control(opcode::PING)) => Event::Ping(&shared.control),
            Some(Found::Control(opcode::PONG)) => Event::Pong(&shared.control),
            Some(Found::Control(_)) => {
                let close = read_close(&shared.control);
                Event::Close(close.map_err(|violation| self.fail(violation))?)
            }
        };
        Ok(Step {
            consumed: input.len() - rest.len(),
            event,
        })
    }

    /// Advances through the input until something is found; `None` if all of it is consumed.
    fn advance(
        &mut self,
        rest: &mut &[u8],
        shared: &mut Shared,
    ) -> Result<Option<Found>, Violation> {
        loop {
            let is_waiting = self.state == State::Header || self.remaining > 0;
            if rest.is_empty() && is_waiting {
                return Ok(None);
            }
            match self.state {
                State::Header => self.header(rest, shared)?,
                State::Data => {
                    self.data(rest, shared)?;
                    if self.remaining == 0 && self.end_frame(shared)? {
                        return Ok(self.end_message(shared)?.map(Found::Message));
                    }
                }
                State::Control => {
                    if let Some(opcode) = self.control(rest, shared) {
                        return Ok(Some(Found::Control(opcode)));
                    }
                }
                State::Closed => {
                    if !rest.is_empty() {
                        self.notices.insert(Notice::Excess);
                    }
                    *rest = &[];
                    return Ok(None);
                }
            }
        }
    }

    /// Reads a header as far as the input suffices, and begins its frame once it is complete.
    fn header(&mut self, rest: &mut &[u8], shared: &mut Shared) -> Result<(), Violation> {
        while let Some((&byte, after)) = rest.split_first() {
            *rest = after;
            self.header[usize::from(self.header_length)] = byte;
            self.header_length += 1;
            match usize::from(self.header_length) {
                1 => self.check_first(byte)?,
                2 => self.check_second(byte)?,
                _ => {}
            }
            let is_complete = self.header_length > 1
                && usize::from(self.header_length) == frame::header_bytes(self.header[1]);
            if is_complete {
                self.header_length = 0;
                return self.begin_frame(shared);
            }
        }
        Ok(())
    }

    /// Checks the bits and the opcode.
    fn check_first(&self, first: u8) -> Result<(), Violation> {
        let opcode = first & frame::OPCODE;
        let is_control = opcode & frame::CONTROL != 0;
        if first & frame::RSV2_RSV3 != 0 {
            return Err(Violation::ReservedBit);
        }
        match opcode {
            opcode::CONTINUATION..=opcode::BINARY | opcode::CLOSE..=opcode::PONG => {}
            reserved => return Err(Violation::Opcode(reserved)),
        }
        if first & frame::RSV1 != 0 {
            if !self.is_compressed {
                return Err(Violation::ReservedBit);
            }
            if is_control || opcode == opcode::CONTINUATION {
                return Err(Violation::CompressedBit);
            }
        }
        match (is_control, opcode, self.content.kind) {
            (true, ..) if first & frame::FIN == 0 => Err(Violation::ControlFragmented),
            (true, ..) => Ok(()),
            (false, opcode::CONTINUATION, None) => Err(Violation::Continuation),
            (false, opcode::TEXT | opcode::BINARY, Some(_)) => Err(Violation::Interrupted),
            _ => Ok(()),
        }
    }

    /// Checks the mask, and the length of a control frame.
    const fn check_second(&self, second: u8) -> Result<(), Violation> {
        if second & frame::MASK != 0 {
            return Err(Violation::Masked);
        }
        let is_control = self.header[0] & frame::CONTROL != 0;
        if is_control && second as usize > frame::CONTROL_BYTES {
            return Err(Violation::ControlTooLong);
        }
        Ok(())
    }

    /// Begins the frame whose header is complete. No memory is reserved for its payload, because the
    /// length is only a claim.
    fn begin_frame(&mut self, shared: &mut Shared) -> Result<(), Violation> {
        let [first, second, ..] = self.header;
        let length = frame::payload_length(&self.header);
        if length > i64::MAX as u64 {
            return Err(Violation::Length);
        }
        if !frame::is_shortest(second, length) {
            self.notices.insert(Notice::LongLength);
        }
        self.remaining = length;
        if first & frame::CONTROL != 0 {
            self.state = State::Control;
            return Ok(());
        }
        self.state = State::Data;
        match first & frame::OPCODE {
            opcode::TEXT => self.begin_message(Kind::Text, shared)?,
            opcode::BINARY => self.begin_message(Kind::Binary, shared)?,
            _ => {}
        }
        self.content.frames = self.content.frames.saturating_add(1);
        let sent = self.content.length_sent.saturating_add(length);
        self.content.length_sent = sent;
        let is_plain = self.inflater.is_none();
        match is_plain && sent > shared.limits.message_bytes {
            true => Err(Violation::MessageTooLong),
            false => Ok(()),
        }
    }

    fn begin_message(&mut self, kind: Kind, shared: &mut Shared) -> Result<(), Violation> {
        self.content.begin(kind, self.keep);
        if self.header[0] & frame::RSV1 == 0 {
            return Ok(());
        }
        let mut inflater = shared.take_inflater();
        let window = self.window.as_deref().map_or(&[][..], Window::bytes);
        inflater
            .begin(window)
            .map_err(|inflate::Invalid| Violation::Decompress)?;
        self.inflater = Some(inflater);
        Ok(())
    }

    /// Reads bytes of a data frame.
    fn data(&mut self, rest: &mut &[u8], shared: &mut Shared) -> Result<(), Violation> {
        let taken = self.take(rest);
        if taken.is_empty() {
            return Ok(());
        }
        if self.content.kept.capacity() == 0 {
            self.content.kept = shared.take_buffer();
        }
        match self.inflater {
            None => self.content.push(taken, shared.limits.message_bytes),
            Some(_) => self.decompress(taken, shared),
        }
    }

    /// The bytes of the input that belong to the current frame.
    fn take<'a>(&mut self, rest: &mut &'a [u8]) -> &'a [u8] {
        let length = usize::try_from(self.remaining).unwrap_or(usize::MAX);
        let (taken, after) = rest.split_at(length.min(rest.len()));
        *rest = after;
        self.remaining -= taken.len() as u64;
        taken
    }

    /// Decompresses bytes of the message, piece by piece.
    fn decompress(&mut self, mut bytes: &[u8], shared: &mut Shared) -> Result<(), Violation> {
        let limit = shared.limits.message_bytes;
        let Some(inflater) = &mut self.inflater else {
            return Err(Violation::Decompress);
        };
        let piece = shared.piece();
        loop {
            let step = inflater.step(bytes, piece);
            bytes = &bytes[step.read..];
            let output = &piece[..step.written];
            self.content.push(output, limit)?;
            if let Some(window) = &mut self.window {
                window.push(output);
            }
            if step.is_invalid {
                return Err(Violation::Decompress);
            }
            if bytes.is_empty() && step.written < piece.len() {
                return Ok(());
            }
        }
    }

    /// Ends a data frame; returns whether it was the last one of its message.
    fn end_frame(&mut self, shared: &mut Shared) -> Result<bool, Violation> {
        self.state = State::Header;
        if self.header[0] & frame::FIN == 0 {
            return Ok(false);
        }
        if let Some(mut inflater) = self.inflater.take() {
            match inflater.finish() {
                Ok(Tail::EmptyBlock) => {}
                Ok(Tail::FinalBlock) => self.notices.insert(Notice::FinalBlock),
                Err(inflate::Invalid) => return Err(Violation::Decompress),
            }
            shared.give_back_inflater(inflater);
        }
        Ok(true)
    }

    /// Ends the message, and passes its memory on.
    fn end_message(&mut self, shared: &mut Shared) -> Result<Option<Kind>, Violation> {
        let kind = self.content.end()?;
        shared.store_whole(std::mem::take(&mut self.content.kept));
        self.messages += 1;
        Ok(Some(kind))
    }

    /// Reads bytes of a control frame; returns its opcode once it is complete.
    fn control(&mut self, rest: &mut &[u8], shared: &mut Shared) -> Option<u8> {
        let taken = self.take(rest);
        let content = &mut self.content;
        if self.remaining > 0 {
            if content.kept.capacity() == 0 {
                content.kept = shared.take_buffer();
            }
            content.kept.extend_from_slice(taken);
            return None;
        }
        let before = usize::from(self.header[1]) - taken.len();
        let start = content.kept.len() - before;
        shared.control.clear();
        shared.control.extend_from_slice(&content.kept[start..]);
        shared.control.extend_from_slice(taken);
        content.kept.truncate(start);
        if content.kept.is_empty() {
            shared.give_back(std::mem::take(&mut content.kept));
        }
        let opcode = self.header[0] & frame::OPCODE;
        self.state = match opcode {
            opcode::CLOSE => State::Closed,
            _ => State::Header,
        };
        Some(opcode)
    }

    /// Ends the connection, and frees the memory.
    #[cold]
    fn fail(&mut self, violation: Violation) -> Violation {
        self.content = Content::default();
        (self.inflater, self.window) = (None, None);
        *self.failed.get_or_insert(violation)
    }
}

/// Reads the payload of a close frame (RFC 6455 section 5.5.1).
fn read_close(payload: &[u8]) -> Result<Close<'_>, Violation> {
    let Some((code, reason)) = payload.split_first_chunk() else {
        return match payload {
            [] => Ok(Close {
                code: None,
                reason: "",
            }),
            _ => Err(Violation::CloseLength),
        };
    };
    let code = CloseCode(u16::from_be_bytes(*code));
    if !code.may_be_sent() {
        return Err(Violation::CloseCode(code.0));
    }
    let reason = std::str::from_utf8(reason).map_err(|_| Violation::CloseReason)?;
    Ok(Close {
        code: Some(code),
        reason,
    })
}
