//! One TLS connection: sends and receives records over a non-blocking socket, or within another TLS
//! connection.
//!
//! Buffers belong to the driver and are shared by all its connections; a connection itself stores
//! bytes only while a record is incomplete or the kernel has no room.

use super::session::{CHUNK_BYTES, HELD_BYTES, Phase, SEALED_BYTES, Session, closed_in_handshake};
use crate::{IoError, Progress, Received, TlsConfig};
use drumfire_units::Nanos;

/// How many encrypted bytes are received at a time; more than one full record.
const RECEIVE_BYTES: usize = 64 * 1024;

/// The connection that records are sent over.
pub(crate) trait Carrier {
    /// Sends as much as there is room for.
    fn send(&mut self, bytes: &[u8]) -> Result<usize, IoError>;

    /// Receives into the buffer.
    fn receive(&mut self, buffer: &mut [u8]) -> Result<Received, IoError>;

    /// Whether the peer's end or an error follows the last bytes. No later event reports it, so a
    /// receive that drains the bytes is followed by another one.
    fn is_ending(&self) -> bool;
}

/// A TLS connection that carries the records of another one.
pub(crate) struct Within<'a> {
    pub(crate) stream: &'a mut TlsStream,
    pub(crate) carrier: &'a mut dyn Carrier,
    pub(crate) io: &'a mut TlsIo,
}

impl Carrier for Within<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<usize, IoError> {
        self.stream.send(self.carrier, self.io, bytes)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Received, IoError> {
        self.stream.receive(self.carrier, self.io, buffer)
    }

    fn is_ending(&self) -> bool {
        self.carrier.is_ending()
    }
}

/// Buffers that all connections of a driver use in turn.
#[derive(Debug)]
pub(crate) struct TlsIo {
    incoming: Box<[u8]>,
    outgoing: Box<[u8]>,
}

impl TlsIo {
    pub(crate) fn new() -> Self {
        Self {
            incoming: vec![0; HELD_BYTES + RECEIVE_BYTES].into_boxed_slice(),
            outgoing: vec![0; SEALED_BYTES].into_boxed_slice(),
        }
    }
}

/// One connection.
pub(crate) struct TlsStream {
    session: Session,
    /// Decrypted text that the caller has not received yet: it came with the end of the handshake,
    /// or its record is longer than the caller's buffer.
    early: Vec<u8>,
    /// When the last bytes of the socket arrived, by the kernel's time stamp: a record is complete
    /// with its last byte, which is among them.
    arrived: Option<Nanos>,
}

impl TlsStream {
    /// Creates the client's side of a new connection.
    pub(crate) fn new(config: &mut TlsConfig) -> Result<Self, IoError> {
        Ok(Self {
            session: Session::new(config)?,
            early: Vec::new(),
            arrived: None,
        })
    }

    /// Whether the peer has agreed to this protocol.
    pub(crate) fn agreed(&self, protocol: &[u8]) -> bool {
        self.session.agreed(protocol)
    }

    /// Whether the handshake resumed an earlier session.
    pub(crate) fn is_resumed(&self) -> bool {
        self.session.is_resumed()
    }

    /// Whether the peer asked for a certificate although none could be shown.
    pub(crate) fn lacks_certificate(&self) -> bool {
        self.session.lacks_certificate()
    }

    /// Continues the handshake as far as the socket allows.
    pub(crate) fn handshake(
        &mut self,
        carrier: &mut dyn Carrier,
        io: &mut TlsIo,
    ) -> Result<Progress, IoError> {
        loop {
            self.flush(carrier)?;
            match self.session.phase() {
                Phase::Handshake => {}
                Phase::Open | Phase::PeerClosed => return Ok(Progress::Done),
                Phase::Failed => return Err(IoError::BrokenPipe),
            }
            // A server that speaks first, as in HTTP/2, may do so in the packet that ends the
            // handshake.
            let mut early = std::mem::take(&mut self.early);
            let pull = self.pull(carrier, io, RECEIVE_BYTES, &mut |text| {
                early.extend_from_slice(text);
            });
            self.early = early;
            match pull? {
                Pull::Nothing => return Ok(Progress::Pending),
                Pull::End => return Err(closed_in_handshake()),
                Pull::Some { .. } => {}
            }
        }
    }

    /// Sends text; a result below its length means that the kernel has no room.
    pub(crate) fn send(
        &mut self,
        carrier: &mut dyn Carrier,
        io: &mut TlsIo,
        text: &[u8],
    ) -> Result<usize, IoError> {
        let mut taken = 0;
        while taken < text.len() {
            self.flush(carrier)?;
            if self.has_unsent() {
                break;
            }
            let chunk = &text[taken..text.len().min(taken + CHUNK_BYTES)];
            let length = self.session.seal(chunk, &mut io.outgoing)?;
            let out = &io.outgoing[..length];
            let sent = carrier.send(out)?;
            self.session.keep(&out[sent..]);
            taken += chunk.len();
        }
        Ok(taken)
    }

    /// Receives text into the buffer.
    pub(crate) fn receive(
        &mut self,
        carrier: &mut dyn Carrier,
        io: &mut TlsIo,
        buffer: &mut [u8],
    ) -> Result<Received, IoError> {
        let limit = buffer.len();
        let mut length = 0;
        self.receive_into(carrier, io, limit, &mut |text| {
            buffer[length..length + text.len()].copy_from_slice(text);
            length += text.len();
        })
    }

    /// Receives text and discards it.
    pub(crate) fn discard(
        &mut self,
        carrier: &mut dyn Carrier,
        io: &mut TlsIo,
        limit: usize,
    ) -> Result<Received, IoError> {
        self.receive_into(carrier, io, limit, &mut |_| {})
    }

    /// Whether encrypted bytes wait for room in the kernel.
    pub(crate) fn has_unsent(&self) -> bool {
        !self.session.unsent().is_empty()
    }

    /// Sends the bytes that the kernel had no room for earlier.
    pub(crate) fn flush(&mut self, carrier: &mut dyn Carrier) -> Result<(), IoError> {
        if self.has_unsent() {
            let sent = carrier.send(self.session.unsent())?;
            self.session.forget_sent(sent);
        }
        Ok(())
    }

    /// Sends close_notify, as far as the socket accepts it at once.
    pub(crate) fn send_close_notify(&mut self, carrier: &mut dyn Carrier, io: &mut TlsIo) {
        if self.has_unsent() {
            return;
        }
        let length = self.session.seal_close_notify(&mut io.outgoing);
        if length > 0 {
            // The connection is closed either way.
            let _unsent = carrier.send(&io.outgoing[..length]);
        }
    }

    /// Receives until text, the end, or nothing more for now.
    fn receive_into(
        &mut self,
        carrier: &mut dyn Carrier,
        io: &mut TlsIo,
        limit: usize,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<Received, IoError> {
        if !self.early.is_empty() {
            let length = self.early.len().min(limit);
            sink(&self.early[..length]);
            self.early.drain(..length);
            if self.early.is_empty() {
                self.early = Vec::new();
            }
            return Ok(Received::Bytes {
                length,
                drained: false,
                arrived: self.arrived,
            });
        }
        loop {
            if self.session.phase() == Phase::PeerClosed {
                return Ok(Received::End);
            }
            let mut length = 0;
            let mut rest = Vec::new();
            let pull = self.pull(carrier, io, limit, &mut |text| {
                let (fits, more) = text.split_at(text.len().min(limit - length));
                length += fits.len();
                sink(fits);
                rest.extend_from_slice(more);
            })?;
            self.early = rest;
            self.flush(carrier)?;
            match pull {
                Pull::Some { drained } if length > 0 => {
                    let drained =
                        drained && self.session.phase() == Phase::Open && self.early.is_empty();
                    return Ok(Received::Bytes {
                        length,
                        drained,
                        arrived: self.arrived,
                    });
                }
                Pull::Some { drained: false } => {}
                Pull::Some { drained: true } if self.session.phase() == Phase::PeerClosed => {}
                // Only TLS's own messages came, such as session tickets.
                Pull::Some { drained: true } if carrier.is_ending() => {}
                Pull::Some { drained: true } | Pull::Nothing => return Ok(Received::Nothing),
                Pull::End if self.session.held().is_empty() => {
                    return Err(IoError::TlsNoCloseNotify);
                }
                Pull::End => return Err(IoError::TlsCut),
            }
        }
    }

    /// Receives once from the socket, and takes in all complete records.
    fn pull(
        &mut self,
        carrier: &mut dyn Carrier,
        io: &mut TlsIo,
        limit: usize,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<Pull, IoError> {
        let held = self.session.held().len();
        // Held bytes may be as long as the limit; the rest needs room.
        let end = limit.max(held + 1024).min(io.incoming.len());
        let room = &mut io.incoming[..end];
        room[..held].copy_from_slice(self.session.held());
        let (length, drained) = match carrier.receive(&mut room[held..])? {
            Received::Bytes {
                length,
                drained,
                arrived,
            } => {
                self.arrived = arrived;
                (length, drained)
            }
            Received::Nothing => return Ok(Pull::Nothing),
            Received::End => return Ok(Pull::End),
        };
        if let Err(error) = self.session.take_in(&mut room[..held + length], sink) {
            // The output ends with the alert, which the peer may still receive.
            let _unheard = self.flush(carrier);
            return Err(error);
        }
        Ok(Pull::Some { drained })
    }
}

/// The result of one receive.
enum Pull {
    /// Bytes; `drained` if the kernel had no more.
    Some {
        drained: bool,
    },
    Nothing,
    End,
}
