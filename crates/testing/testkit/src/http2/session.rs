//! The server's end of one HTTP/2 connection.

use super::{Farewell, Hello, Http2Behaviour, LastId, RepliesAt};
use crate::frame::{self, Frame};
use crate::{Log, Reply};
use drumfire_http2::hpack::Decoder;
use drumfire_units::Nanos;
use std::fmt::Write as _;

const DEFAULT_WINDOW: i64 = 65_535;
const CANCEL: u32 = 8;

/// The state of a connection at the server.
#[derive(Debug)]
pub(crate) struct Session {
    /// The number of the connection, from 0.
    number: u64,
    prefaced: bool,
    decoder: Decoder,
    /// A header block, its stream, and its flags.
    block: (Vec<u8>, u32, u8),
    pub(crate) streams: Vec<Stream>,
    /// Memory of ended streams, for reuse.
    spare: Vec<Stream>,
    /// The client's last stream.
    pub(crate) last: u32,
    /// The number of opened streams.
    pub(crate) opened: u64,
    /// The number of bytes that may be sent on the connection, and on a new stream.
    window: i64,
    initial_window: i64,
    /// The client's window on a new stream.
    granted: i64,
    /// Received bytes for which no window was returned yet.
    owed: u32,
    /// The allowed streams: as last announced, and as acknowledged by the client.
    allowed: (u32, u32),
    /// The number of the script's GOAWAY frames sent so far.
    gone: usize,
    /// The debug data of a GOAWAY.
    reason: &'static str,
    /// The last stream that is served.
    pub(crate) going: Option<u32>,
    pub(crate) farewell: Farewell,
    /// Bytes to send.
    pub(crate) out: Vec<u8>,
    /// Streams whose request is ready for a reply.
    pub(crate) ready: Vec<u32>,
    /// Whether the connection has just begun.
    pub(crate) begun: bool,
}

/// One stream of the connection.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) id: u32,
    /// The request's head as text, in the form of HTTP/1.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// The number of bytes of the body that were counted as messages.
    counted: usize,
    is_call: bool,
    /// Received bytes for which no window was returned yet.
    owed: u32,
    /// The number of bytes that may be sent, and that may be received.
    window: i64,
    granted: i64,
    /// Whether the request has ended, and whether the reply has.
    pub(crate) received_all: bool,
    pub(crate) said_all: bool,
    pub(crate) reply: Option<Reply>,
}

impl Stream {
    const fn new() -> Self {
        Self {
            id: 0,
            head: String::new(),
            body: Vec::new(),
            counted: 0,
            is_call: false,
            owed: 0,
            window: 0,
            granted: 0,
            received_all: false,
            said_all: false,
            reply: None,
        }
    }

    /// Counts the complete messages of a call.
    fn count_messages(&mut self, ledger: &mut SessionLedger<'_>) {
        while self.is_call
            && let Some(head) = self.body.get(self.counted + 1..self.counted + 5)
        {
            let whole = self.counted + 5 + frame::number(head) as usize;
            if self.body.len() < whole {
                return;
            }
            self.counted = whole;
            ledger.log.messages += 1;
            if ledger.keeps {
                ledger.log.messages_at.push(ledger.at);
            }
        }
    }
}

/// Records a session's observations.
pub(crate) struct SessionLedger<'a> {
    pub(crate) log: &'a mut Log,
    /// The time, from the start of the run.
    pub(crate) at: Nanos,
    /// Whether every message is recorded.
    pub(crate) keeps: bool,
}

impl Session {
    pub(crate) fn new(number: u64) -> Self {
        Self {
            number,
            prefaced: false,
            decoder: Decoder::new(4096),
            block: (Vec::new(), 0, 0),
            streams: Vec::new(),
            spare: Vec::new(),
            last: 0,
            opened: 0,
            window: DEFAULT_WINDOW,
            initial_window: DEFAULT_WINDOW,
            granted: DEFAULT_WINDOW,
            owed: 0,
            gone: 0,
            reason: "",
            allowed: (u32::MAX, u32::MAX),
            going: None,
            farewell: Farewell::Stays,
            out: Vec::new(),
            ready: Vec::new(),
            begun: false,
        }
    }

    /// Processes received bytes; returns the number of bytes used.
    pub(crate) fn receive(
        &mut self,
        bytes: &[u8],
        script: &Http2Behaviour,
        ledger: &mut SessionLedger<'_>,
    ) -> usize {
        let mut used = 0;
        if !self.prefaced {
            if !bytes.starts_with(frame::PREFACE) {
                return 0;
            }
            (self.prefaced, self.begun) = (true, true);
            self.reason = script.reason;
            used = frame::PREFACE.len();
            if script.hello == Hello::Settings {
                self.send_settings(&script.settings);
                self.go_if_due(script);
            }
        }
        while let Some((frame, length)) = frame::read(&bytes[used..]) {
            used += length;
            if script.hello == Hello::Settings {
                self.handle_frame(&frame, script, ledger);
            }
        }
        self.give_back();
        used
    }

    /// Sends SETTINGS.
    pub(crate) fn send_settings(&mut self, settings: &[(u16, u32)]) {
        let mut payload = Vec::new();
        for (name, value) in settings {
            payload.extend_from_slice(&name.to_be_bytes());
            payload.extend_from_slice(&value.to_be_bytes());
            match *name {
                super::MAX_CONCURRENT_STREAMS => self.allowed.0 = *value,
                super::INITIAL_WINDOW_SIZE => {
                    let more = i64::from(*value) - self.granted;
                    self.granted = i64::from(*value);
                    for stream in &mut self.streams {
                        stream.granted += more;
                    }
                }
                _ => {}
            }
        }
        frame::write(&mut self.out, frame::SETTINGS, 0, 0, &payload);
    }

    fn handle_frame(
        &mut self,
        frame: &Frame<'_>,
        script: &Http2Behaviour,
        ledger: &mut SessionLedger<'_>,
    ) {
        let ends = frame.flags & frame::END_STREAM != 0;
        match frame.kind {
            frame::SETTINGS if ends => self.allowed.1 = self.allowed.0,
            frame::SETTINGS => self.take_settings(frame.payload),
            frame::PING if !ends => {
                ledger.log.pings += 1;
                if script.pongs {
                    frame::write(&mut self.out, frame::PING, 1, 0, frame.payload);
                }
            }
            frame::WINDOW_UPDATE => {
                let more = i64::from(frame::number(frame.payload));
                match self.stream(frame.stream) {
                    Some(stream) => stream.window += more,
                    None if frame.stream == 0 => self.window += more,
                    None => {}
                }
            }
            frame::HEADERS => {
                self.block.0.clear();
                self.block.0.extend_from_slice(frame::content(frame));
                (self.block.1, self.block.2) = (frame.stream, frame.flags);
            }
            frame::CONTINUATION => {
                self.block.0.extend_from_slice(frame.payload);
                self.block.2 |= frame.flags;
            }
            frame::DATA => self.take_data(frame, script, ledger),
            frame::RST_STREAM => {
                ledger.log.resets += 1;
                if frame::number(frame.payload) == CANCEL {
                    ledger.log.cancelled += 1;
                    if ledger.keeps {
                        ledger.log.cancelled_at.push(ledger.at);
                    }
                }
                self.forget(frame.stream);
            }
            frame::GOAWAY if script.hasty => {
                self.go_away(LastId::Of(0), 0, Farewell::WhenDone);
            }
            _ => {}
        }
        let is_head = matches!(frame.kind, frame::HEADERS | frame::CONTINUATION);
        if is_head && self.block.2 & frame::END_HEADERS != 0 {
            self.take_head(script, ledger);
        }
    }

    fn take_settings(&mut self, payload: &[u8]) {
        for setting in payload.as_chunks::<6>().0 {
            if u16::from_be_bytes([setting[0], setting[1]]) == super::INITIAL_WINDOW_SIZE {
                let window = i64::from(frame::number(&setting[2..]));
                let more = window - self.initial_window;
                self.initial_window = window;
                for stream in &mut self.streams {
                    stream.window += more;
                }
            }
        }
        frame::write(&mut self.out, frame::SETTINGS, 1, 0, &[]);
    }

    /// Processes a complete head of a request.
    fn take_head(&mut self, script: &Http2Behaviour, ledger: &mut SessionLedger<'_>) {
        let log = &mut *ledger.log;
        let mut stream = self.spare.pop().unwrap_or(const { Stream::new() });
        let (block, id, flags) = &self.block;
        let mut head = std::mem::take(&mut stream.head);
        head.clear();
        let decoded = self.decoder.decode(block, |name, value| {
            // Writing to a String can't fail.
            let _written = match name {
                // Pseudo-header fields may come in any order.
                b":method" => {
                    head.insert(0, ' ');
                    head.insert_str(0, text(value));
                    Ok(())
                }
                b":path" => write!(head, "{} HTTP/2\r\n", text(value)),
                b":scheme" | b":authority" => Ok(()),
                _ => write!(head, "{}: {}\r\n", text(name), text(value)),
            };
        });
        assert!(decoded.is_ok(), "the client's header block: {decoded:?}");
        self.last = *id;
        self.opened += 1;
        if ledger.keeps {
            log.heads.push(head.clone());
        }
        stream.is_call = head.contains("content-type: application/grpc");
        stream.head = head;
        stream.body.clear();
        stream.id = *id;
        (stream.counted, stream.owed) = (0, 0);
        (stream.reply, stream.said_all) = (None, false);
        (stream.window, stream.granted) = (self.initial_window, self.granted);
        stream.received_all = flags & frame::END_STREAM != 0;
        if self.going.is_some_and(|last| *id > last) {
            log.unserved += 1;
            return self.spare.push(stream);
        }
        if stream.received_all || script.replies_at == RepliesAt::Head {
            self.ready.push(*id);
        }
        self.streams.push(stream);
        log.streams_most = log.streams_most.max(self.streams.len() as u64);
        log.over_allowed += u64::from(self.streams.len() > self.allowed.1 as usize);
        self.go_if_due(script);
    }

    fn take_data(
        &mut self,
        frame: &Frame<'_>,
        script: &Http2Behaviour,
        ledger: &mut SessionLedger<'_>,
    ) {
        let length = frame.payload.len() as u32;
        self.owed += length;
        let ends = frame.flags & frame::END_STREAM != 0;
        let at_end = script.replies_at == RepliesAt::End;
        let Some(stream) = self.stream(frame.stream) else {
            return;
        };
        stream.granted -= i64::from(length);
        stream.owed += length;
        ledger.log.over_granted += u64::from(length > 0 && stream.granted < 0);
        stream.body.extend_from_slice(frame::content(frame));
        stream.received_all |= ends;
        stream.count_messages(ledger);
        if ends && at_end {
            self.ready.push(frame.stream);
        } else if ends {
            self.forget_if_done(frame.stream);
        }
    }

    /// Returns the window that bodies have used.
    fn give_back(&mut self) {
        if self.owed > 0 {
            let more = std::mem::take(&mut self.owed).to_be_bytes();
            frame::write(&mut self.out, frame::WINDOW_UPDATE, 0, 0, &more);
        }
        for stream in &mut self.streams {
            let owed = std::mem::take(&mut stream.owed);
            if owed > 0 && !stream.received_all {
                stream.granted += i64::from(owed);
                let more = owed.to_be_bytes();
                frame::write(&mut self.out, frame::WINDOW_UPDATE, 0, stream.id, &more);
            }
        }
    }

    pub(crate) fn stream(&mut self, id: u32) -> Option<&mut Stream> {
        self.streams.iter_mut().find(|stream| stream.id == id)
    }

    /// Removes an ended stream.
    pub(crate) fn forget(&mut self, id: u32) {
        if let Some(at) = self.streams.iter().position(|stream| stream.id == id) {
            let stream = self.streams.swap_remove(at);
            self.spare.push(stream);
        }
    }

    /// Resets a stream.
    pub(crate) fn reset(&mut self, id: u32, code: u32) {
        frame::write(&mut self.out, frame::RST_STREAM, 0, id, &code.to_be_bytes());
        self.forget(id);
    }

    fn forget_if_done(&mut self, id: u32) {
        let done = |stream: &mut Stream| stream.received_all && stream.said_all;
        if self.stream(id).is_some_and(done) {
            self.forget(id);
        }
    }

    /// Sends a frame of a stream.
    pub(crate) fn send_frame(&mut self, kind: u8, id: u32, payload: &[u8], ends: bool) {
        let end = if ends { frame::END_STREAM } else { 0 };
        if kind == frame::HEADERS {
            let flags = end | frame::END_HEADERS;
            frame::write(&mut self.out, kind, flags, id, payload);
        } else {
            self.send_data(id, payload, end);
        }
        if ends && let Some(stream) = self.stream(id) {
            stream.said_all = true;
            self.forget_if_done(id);
        }
    }

    fn send_data(&mut self, id: u32, payload: &[u8], end: u8) {
        let length = payload.len() as i64;
        self.window -= length;
        let Some(stream) = self.streams.iter_mut().find(|stream| stream.id == id) else {
            return;
        };
        stream.window -= length;
        assert!(
            self.window >= 0 && stream.window >= 0,
            "the client leaves no room: {} and {}",
            self.window,
            stream.window
        );
        let mut rest = payload;
        while rest.len() > frame::PAYLOAD_MAX {
            let (part, more) = rest.split_at(frame::PAYLOAD_MAX);
            frame::write(&mut self.out, frame::DATA, 0, id, part);
            rest = more;
        }
        frame::write(&mut self.out, frame::DATA, end, id, rest);
    }

    /// Sends the due GOAWAY frames.
    fn go_if_due(&mut self, script: &Http2Behaviour) {
        while let Some(going) = script.going.get(self.gone) {
            let concerns = going.on.contains(&self.number);
            if concerns && self.opened < going.streams {
                return;
            }
            self.gone += 1;
            if concerns {
                self.go_away(going.last, going.code, going.farewell);
            }
        }
    }

    /// Sends GOAWAY; streams after `last` are ignored.
    pub(crate) fn go_away(&mut self, last: LastId, code: u32, farewell: Farewell) {
        let last = match last {
            LastId::Of(id) => id,
            LastId::Come => self.last,
            LastId::Max => 0x7fff_ffff,
        };
        self.farewell = farewell;
        let mut payload = last.to_be_bytes().to_vec();
        payload.extend_from_slice(&code.to_be_bytes());
        payload.extend_from_slice(self.reason.as_bytes());
        frame::write(&mut self.out, frame::GOAWAY, 0, 0, &payload);
        self.going = Some(last);
        self.ready.retain(|id| *id <= last);
        while let Some(at) = self.streams.iter().position(|stream| stream.id > last) {
            let stream = self.streams.swap_remove(at);
            self.spare.push(stream);
        }
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}
