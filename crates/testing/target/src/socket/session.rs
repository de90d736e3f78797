//! The conversation of one WebSocket.

use super::deflate::{Deflate, Unreadable};
use super::pipe::{Over, SocketBytes};
use crate::clock;
use crate::hub::Hub;
use crate::upgrade::{SocketFault, SocketPlan, Switch};
use bytes::{Buf as _, BytesMut};
use drumfire_units::Nanos;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::Cursor;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

/// The maximum length of a client's message.
const MESSAGE_MAX: usize = 64 << 20;
/// The number of delayed echoes after which the client has to wait.
const DELAYED_MAX: usize = 10_000;
/// The number of bytes that are sent at a time before further messages are made.
const OUT_MAX: usize = 1 << 20;
/// How long the server waits for the client's close frame.
const CLOSE_TIME: Nanos = Nanos::from_secs(1);

/// The end of a conversation.
enum End {
    /// The client has disconnected, or both sides have sent a close frame.
    Finish,
    Reset,
}

impl From<Over> for End {
    fn from(_: Over) -> Self {
        Self::Finish
    }
}

/// A client's violation, with the code of the close frame.
struct Refused(u16);

/// A message that a client sends in fragments.
struct Incoming {
    is_text: bool,
    is_packed: bool,
    bytes: Vec<u8>,
}

/// The state of a conversation.
struct Session {
    hub: Rc<Hub>,
    plan: SocketPlan,
    deflate: Option<Deflate>,
    /// Bytes of the client that are not yet read.
    input: BytesMut,
    /// Bytes to be sent.
    out: Vec<u8>,
    incoming: Option<Incoming>,
    /// Echoes to be sent later.
    delayed: VecDeque<(Nanos, Vec<u8>)>,
    /// The number of messages that were sent unasked, and the time of the next one.
    pushed: u32,
    push_due: Nanos,
    ping_due: Option<Nanos>,
    received: u32,
    /// Whether the server has sent a close frame, or a violation instead of it.
    has_ended: bool,
    /// Whether the client's close frame has come.
    is_closed: bool,
    close_due: Option<Nanos>,
}

/// Holds a conversation until its end. The handshake has been sent.
pub(crate) async fn serve(hub: Rc<Hub>, mut pipe: SocketBytes, plan: SocketPlan) {
    let mut session = Session::new(Rc::clone(&hub), plan);
    let end = loop {
        match session.turn(&mut pipe).await {
            Ok(()) => {}
            Err(end) => break end,
        }
    };
    match end {
        End::Finish => pipe.finish(&hub).await,
        End::Reset => pipe.reset().await,
    }
}

impl Session {
    fn new(hub: Rc<Hub>, mut plan: SocketPlan) -> Self {
        let now = clock::now();
        let first = plan.request.first.draw(&mut plan.random);
        let ping = plan.request.ping.map(|law| law.draw(&mut plan.random));
        Self {
            deflate: plan.handshake.deflate.clone().map(Deflate::new),
            input: BytesMut::new(),
            out: Vec::new(),
            incoming: None,
            delayed: VecDeque::new(),
            pushed: 0,
            push_due: now + first,
            ping_due: ping.map(|ping| now + ping),
            received: 0,
            has_ended: false,
            is_closed: false,
            close_due: None,
            hub,
            plan,
        }
    }

    /// Reads frames, sends everything that is due, and waits for more.
    async fn turn(&mut self, pipe: &mut SocketBytes) -> Result<(), End> {
        if let Err(Refused(code)) = self.read_frames() {
            self.hub.desk.own().tallies.refused.add(1);
            self.close(code);
            pipe.write(&self.out).await?;
            return Err(End::Finish);
        }
        let is_logged = self.send_due();
        let end = self.end_if_due();
        if !self.out.is_empty() {
            pipe.write(&self.out).await?;
            self.out.clear();
            // An idle connection needs no buffer.
            self.out.shrink_to(1_024);
            if is_logged {
                self.hub.desk.wrote_events();
            }
        }
        if let Some(end) = end {
            return Err(end);
        }
        self.wait(pipe).await
    }

    /// Waits for bytes, or for the next thing that is due.
    async fn wait(&mut self, pipe: &mut SocketBytes) -> Result<(), End> {
        let mut sleep = self.next_due().map(|due| self.hub.sleeps.until(due));
        let may_read = self.delayed.len() < DELAYED_MAX;
        let input = &mut self.input;
        poll_fn(|cx| {
            if may_read && let Poll::Ready(read) = pipe.poll_read(cx, input) {
                return Poll::Ready(read.map_err(End::from));
            }
            match &mut sleep {
                Some(sleep) => Pin::new(sleep).poll(cx).map(Ok),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// The time of the next thing that is due.
    fn next_due(&self) -> Option<Nanos> {
        if self.has_ended {
            return self.close_due;
        }
        let push = (self.pushed < self.plan.request.count).then_some(self.push_due);
        let echo = self.delayed.front().map(|(due, _)| *due);
        [push, echo, self.ping_due].into_iter().flatten().min()
    }

    /// Collects everything that is due in `out`; returns whether it contains a message that is sent
    /// unasked.
    fn send_due(&mut self) -> bool {
        if self.has_ended {
            return false;
        }
        let now = clock::now();
        while self.delayed.front().is_some_and(|(due, _)| *due <= now) {
            if let Some((_, frame)) = self.delayed.pop_front() {
                self.out.extend_from_slice(&frame);
            }
        }
        let before = self.pushed;
        let count = self.plan.request.count;
        while self.pushed < count && self.push_due <= now && self.out.len() < OUT_MAX {
            let message = format!(
                "{{\"n\":{},\"text\":\"{}\"}}",
                self.pushed, self.plan.filler
            );
            let frame = self.frame(true, message.as_bytes());
            self.out.extend_from_slice(&frame);
            self.pushed += 1;
            // The times are relative to the first message, so they never drift.
            self.push_due += self.plan.request.gap.draw(&mut self.plan.random);
        }
        if let (Some(due), Some(law)) = (self.ping_due, self.plan.request.ping)
            && due <= now
        {
            write_frame(&mut self.out, 0x80 | 0x9, b"ping");
            // At least a microsecond, so that a law of 0 does not spin.
            let gap = law.draw(&mut self.plan.random).max(Nanos::from_micros(1));
            self.ping_due = Some(now + gap);
        }
        self.pushed > before
    }

    /// Ends the conversation if everything has been sent and received.
    fn end_if_due(&mut self) -> Option<End> {
        if self.has_ended {
            let is_late = self.close_due.is_some_and(|due| due <= clock::now());
            return (self.is_closed || is_late).then_some(End::Finish);
        }
        let request = &self.plan.request;
        let is_over = self.pushed == request.count
            && self.received >= request.after
            && self.delayed.is_empty();
        let (fault, code) = (request.last_fault(), request.code);
        match (is_over, fault, code) {
            (true, Some(fault), _) => self.violate(fault),
            (true, None, Some(code)) => {
                self.close(code);
                None
            }
            _ => None,
        }
    }

    /// Commits a violation; returns the end of the conversation, if it is over.
    fn violate(&mut self, fault: SocketFault) -> Option<End> {
        self.hub.desk.own().tallies.faults.add(1);
        let wrong: &[u8] = match fault {
            SocketFault::Reset => return Some(End::Reset),
            SocketFault::Half => b"\x81\x10half of",
            SocketFault::Masked => b"\x81\x82\x01\x02\x03\x04ik",
            SocketFault::Opcode => b"\x83\x00",
            SocketFault::Reserved => b"\xa1\x00",
            SocketFault::Utf8 => b"\x81\x02\xc3\x28",
            SocketFault::Accept | SocketFault::Cut | SocketFault::Silent => b"",
        };
        self.out.extend_from_slice(wrong);
        self.end();
        matches!(fault, SocketFault::Half | SocketFault::Cut).then_some(End::Finish)
    }

    /// Sends a close frame; with 1005, a frame without a code.
    fn close(&mut self, code: u16) {
        let code = code.to_be_bytes();
        let payload = if code == 1005_u16.to_be_bytes() {
            &[][..]
        } else {
            &code
        };
        write_frame(&mut self.out, 0x80 | 0x8, payload);
        self.end();
    }

    /// Sends nothing from now on, and waits for the client's close frame.
    fn end(&mut self) {
        self.has_ended = true;
        self.close_due = Some(clock::now() + CLOSE_TIME);
    }

    /// Handles all complete frames of the client.
    fn read_frames(&mut self) -> Result<(), Refused> {
        loop {
            let mut cursor = Cursor::new(&self.input[..]);
            let header = FrameHeader::parse(&mut cursor).map_err(|_| Refused(1002))?;
            let Some((header, length)) = header else {
                return Ok(());
            };
            let start = cursor.position() as usize;
            let length = usize::try_from(length).map_err(|_| Refused(1009))?;
            if length > MESSAGE_MAX {
                return Err(Refused(1009));
            }
            if self.input.len() < start + length {
                return Ok(());
            }
            let key = header.mask.ok_or(Refused(1002))?;
            self.input.advance(start);
            let mut payload = self.input.split_to(length).to_vec();
            for (byte, key) in payload.iter_mut().zip(key.into_iter().cycle()) {
                *byte ^= key;
            }
            self.frame_received(&header, payload)?;
            if self.input.is_empty() {
                self.input = BytesMut::new();
            }
        }
    }

    fn frame_received(&mut self, header: &FrameHeader, payload: Vec<u8>) -> Result<(), Refused> {
        match header.opcode {
            OpCode::Control(_) if payload.len() > 125 || !header.is_final => Err(Refused(1002)),
            OpCode::Control(Control::Ping) => {
                if !self.has_ended {
                    write_frame(&mut self.out, 0x80 | 0xa, &payload);
                }
                Ok(())
            }
            OpCode::Control(Control::Close) => {
                self.close_received(&payload);
                Ok(())
            }
            OpCode::Control(_) => Ok(()),
            OpCode::Data(_) if self.is_closed => Err(Refused(1002)),
            OpCode::Data(kind) => self.data_received(header, kind, payload),
        }
    }

    /// Answers the client's close frame with its own code.
    fn close_received(&mut self, payload: &[u8]) {
        self.is_closed = true;
        if self.plan.request.fault == Some(SocketFault::Silent) {
            self.hub.desk.own().tallies.faults.add(1);
            // Nothing is sent, and the client has to end the connection.
            self.has_ended = true;
            self.is_closed = false;
            self.close_due = Some(clock::now() + Nanos::from_secs(3_600));
            return;
        }
        if !self.has_ended {
            write_frame(
                &mut self.out,
                0x80 | 0x8,
                payload.get(..2).unwrap_or_default(),
            );
            self.end();
        }
    }

    fn data_received(
        &mut self,
        header: &FrameHeader,
        kind: Data,
        payload: Vec<u8>,
    ) -> Result<(), Refused> {
        let is_packed = header.rsv1;
        let is_wrong = header.rsv2 || header.rsv3 || is_packed && self.deflate.is_none();
        match (kind, &mut self.incoming) {
            _ if is_wrong => return Err(Refused(1002)),
            (Data::Continue, Some(incoming)) if !is_packed => {
                incoming.bytes.extend_from_slice(&payload);
                if incoming.bytes.len() > MESSAGE_MAX {
                    return Err(Refused(1009));
                }
            }
            (Data::Text | Data::Binary, incoming @ None) => {
                *incoming = Some(Incoming {
                    is_text: kind == Data::Text,
                    is_packed,
                    bytes: payload,
                });
            }
            _ => return Err(Refused(1002)),
        }
        match self.incoming.take() {
            Some(incoming) if header.is_final => self.message_received(incoming),
            incoming => {
                self.incoming = incoming;
                Ok(())
            }
        }
    }

    fn message_received(&mut self, incoming: Incoming) -> Result<(), Refused> {
        let mut message = incoming.bytes;
        if let (true, Some(deflate)) = (incoming.is_packed, &mut self.deflate) {
            message = match deflate.unpack(&message, MESSAGE_MAX) {
                Ok(message) => message,
                Err(Unreadable::Invalid) => return Err(Refused(1007)),
                Err(Unreadable::TooLong) => return Err(Refused(1009)),
            };
        }
        if incoming.is_text && std::str::from_utf8(&message).is_err() {
            return Err(Refused(1007));
        }
        self.received = self.received.saturating_add(1);
        if self.has_ended || self.plan.request.echo == Switch::Off {
            return Ok(());
        }
        let frame = self.frame(incoming.is_text, &message);
        match self.plan.delay {
            None => self.out.extend_from_slice(&frame),
            Some(law) => {
                let due = clock::now() + law.draw(&mut self.plan.random);
                // Echoes keep the order of their messages.
                let last = self.delayed.back().map_or(Nanos::ZERO, |(due, _)| *due);
                self.delayed.push_back((due.max(last), frame));
            }
        }
        Ok(())
    }

    /// A message in one frame, compressed if that was agreed on.
    fn frame(&mut self, is_text: bool, message: &[u8]) -> Vec<u8> {
        let opcode = if is_text { 0x1 } else { 0x2 };
        let mut frame = Vec::with_capacity(message.len() + 10);
        match &mut self.deflate {
            Some(deflate) => write_frame(&mut frame, 0x80 | 0x40 | opcode, &deflate.pack(message)),
            None => write_frame(&mut frame, 0x80 | opcode, message),
        }
        frame
    }
}

/// Appends a frame with this first byte.
fn write_frame(out: &mut Vec<u8>, first: u8, payload: &[u8]) {
    let header = FrameHeader {
        is_final: first & 0x80 != 0,
        rsv1: first & 0x40 != 0,
        rsv2: false,
        rsv3: false,
        opcode: OpCode::from(first & 0x0f),
        mask: None,
    };
    // Writing to a Vec can't fail.
    let _ = header.format(payload.len() as u64, out);
    out.extend_from_slice(payload);
}
