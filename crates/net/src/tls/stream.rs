//! One TLS connection: records in and out over a non-blocking socket.
//!
//! Buffers belong to the driver and are shared by all its connections; a connection keeps bytes of
//! its own only while a record is cut in two or the kernel has no room.

use crate::{IoError, Progress, Received, TlsConfig, socket};
use rustix::fd::OwnedFd;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{RecvFlags, recv, send};
use rustls::client::UnbufferedClientConnection;
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncodeTlsData, EncryptError, UnbufferedStatus, WriteTraffic,
};
use std::sync::Arc;

/// How much text is encrypted in one go: four full records.
const SEND_CHUNK: usize = 64 * 1024;
/// Room for the records of one chunk: each may add up to 256 bytes (RFC 8446 section 5.2).
const SEND_ROOM: usize = SEND_CHUNK + 5 * 261;
/// How many encrypted bytes are received in one go; more than one full record.
const RECEIVE_ROOM: usize = 64 * 1024;

/// Buffers that all connections of a driver take turns to use.
#[derive(Debug)]
pub(crate) struct TlsIo {
    incoming: Box<[u8]>,
    outgoing: Box<[u8]>,
}

impl TlsIo {
    pub(crate) fn new() -> Self {
        Self {
            incoming: vec![0; RECEIVE_ROOM].into_boxed_slice(),
            outgoing: vec![0; SEND_ROOM].into_boxed_slice(),
        }
    }
}

/// What one connection remembers between calls.
pub(crate) struct TlsStream {
    connection: UnbufferedClientConnection,
    /// Received bytes that are not yet a whole record.
    partial: Vec<u8>,
    /// Encrypted bytes that the kernel had no room for.
    unsent: Vec<u8>,
    /// Text that nobody has asked for yet: it came with the end of the handshake, or its record
    /// has more than there was room for.
    early: Vec<u8>,
    phase: Phase,
}

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Handshake,
    Open,
    PeerClosed,
}

impl TlsStream {
    /// The client's side of a new connection.
    pub(crate) fn new(config: &TlsConfig) -> Result<Self, IoError> {
        let connection =
            UnbufferedClientConnection::new(Arc::clone(&config.client), config.name.clone())?;
        Ok(Self {
            connection,
            partial: Vec::new(),
            unsent: Vec::new(),
            early: Vec::new(),
            phase: Phase::Handshake,
        })
    }

    /// Whether the peer has agreed to this protocol.
    pub(crate) fn agreed(&self, protocol: &[u8]) -> bool {
        self.connection.alpn_protocol() == Some(protocol)
    }

    /// Goes on with the handshake as far as the socket lets it.
    pub(crate) fn handshake(&mut self, fd: &OwnedFd, io: &mut TlsIo) -> Result<Progress, IoError> {
        loop {
            let before = self.step(&mut [], &mut |_| {});
            self.flush(fd)?;
            before?;
            if self.phase != Phase::Handshake {
                return Ok(Progress::Done);
            }
            // A server that speaks first, as in HTTP/2, may do so in the packet that ends the
            // handshake.
            let mut early = std::mem::take(&mut self.early);
            let pull = self.pull(fd, io, RECEIVE_ROOM, &mut |text| {
                early.extend_from_slice(text);
            });
            self.early = early;
            match pull? {
                Pull::Nothing => return Ok(Progress::Pending),
                Pull::End => {
                    return Err(IoError::TlsProtocol(
                        "the peer closed the connection within the handshake".to_owned(),
                    ));
                }
                Pull::Some { .. } => {}
            }
            if self.phase != Phase::Handshake {
                self.flush(fd)?;
                return Ok(Progress::Done);
            }
        }
    }

    /// Sends text; fewer bytes than given means that the kernel has no room.
    pub(crate) fn send(
        &mut self,
        fd: &OwnedFd,
        io: &mut TlsIo,
        text: &[u8],
    ) -> Result<usize, IoError> {
        let mut taken = 0;
        while taken < text.len() {
            self.flush(fd)?;
            if !self.unsent.is_empty() {
                break;
            }
            let chunk = &text[taken..text.len().min(taken + SEND_CHUNK)];
            let length = self.encrypt(chunk, &mut io.outgoing)?;
            let out = &io.outgoing[..length];
            let sent = push(fd, out)?;
            self.unsent.extend_from_slice(&out[sent..]);
            taken += chunk.len();
        }
        Ok(taken)
    }

    /// Receives text into the buffer.
    pub(crate) fn receive(
        &mut self,
        fd: &OwnedFd,
        io: &mut TlsIo,
        buffer: &mut [u8],
    ) -> Result<Received, IoError> {
        let limit = buffer.len();
        let mut length = 0;
        self.receive_into(fd, io, limit, &mut |text| {
            buffer[length..length + text.len()].copy_from_slice(text);
            length += text.len();
        })
    }

    /// Receives text and throws it away.
    pub(crate) fn discard(
        &mut self,
        fd: &OwnedFd,
        io: &mut TlsIo,
        limit: usize,
    ) -> Result<Received, IoError> {
        self.receive_into(fd, io, limit, &mut |_| {})
    }

    /// Whether encrypted bytes wait for room in the kernel.
    pub(crate) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Sends what the kernel had no room for earlier.
    pub(crate) fn flush(&mut self, fd: &OwnedFd) -> Result<(), IoError> {
        if !self.unsent.is_empty() {
            let sent = push(fd, &self.unsent)?;
            self.unsent.drain(..sent);
            if self.unsent.is_empty() {
                self.unsent = Vec::new();
            }
        }
        Ok(())
    }

    /// Tells the peer that no more text follows, as far as the socket takes it at once.
    pub(crate) fn say_goodbye(&mut self, fd: &OwnedFd, io: &mut TlsIo) {
        if self.phase == Phase::Handshake || !self.unsent.is_empty() {
            return;
        }
        let UnbufferedStatus { state, .. } = self.connection.process_tls_records(&mut []);
        if let Ok(ConnectionState::WriteTraffic(mut traffic)) = state
            && let Ok(length) = traffic.queue_close_notify(&mut io.outgoing)
        {
            // The connection is given up either way.
            let _unheard = push(fd, &io.outgoing[..length]);
        }
    }

    /// Receives until there is text, nothing more for now, or the end.
    fn receive_into(
        &mut self,
        fd: &OwnedFd,
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
            let drained = false;
            return Ok(Received::Bytes { length, drained });
        }
        loop {
            if self.phase == Phase::PeerClosed {
                return Ok(Received::End);
            }
            let mut length = 0;
            let mut rest = Vec::new();
            let pull = self.pull(fd, io, limit, &mut |text| {
                let (fits, more) = text.split_at(text.len().min(limit - length));
                length += fits.len();
                sink(fits);
                rest.extend_from_slice(more);
            })?;
            self.early = rest;
            self.flush(fd)?;
            match pull {
                Pull::Some { drained } if length > 0 => {
                    let drained = drained && self.phase == Phase::Open && self.early.is_empty();
                    return Ok(Received::Bytes { length, drained });
                }
                Pull::Some { drained: false } => {}
                Pull::Some { drained: true } if self.phase == Phase::PeerClosed => {}
                Pull::Some { drained: true } | Pull::Nothing => return Ok(Received::Nothing),
                Pull::End => return Err(IoError::TlsNoCloseNotify),
            }
        }
    }

    /// One receive from the socket, and all whole records in it.
    fn pull(
        &mut self,
        fd: &OwnedFd,
        io: &mut TlsIo,
        limit: usize,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<Pull, IoError> {
        let held = self.partial.len();
        // A partial record may be as long as the limit; there must be room for its rest.
        let end = limit.max(held + 1024).min(io.incoming.len());
        let room = &mut io.incoming[..end];
        room[..held].copy_from_slice(&self.partial);
        let length = match retry_on_intr(|| recv(fd, &mut room[held..], RecvFlags::empty())) {
            Ok((0, _)) => return Ok(Pull::End),
            Ok((length, _)) => length,
            Err(Errno::AGAIN) => return Ok(Pull::Nothing),
            Err(error) => return Err(error.into()),
        };
        let drained = held + length < end;
        let filled = &mut io.incoming[..held + length];
        let used = self.step(filled, sink);
        let used = match used {
            Ok(used) => used,
            Err(error) => {
                // The alert that says why is already queued; the peer may hear it.
                let _unheard = self.flush(fd);
                return Err(error);
            }
        };
        self.partial.clear();
        if used < filled.len() {
            self.partial.extend_from_slice(&filled[used..]);
        } else if self.partial.capacity() > 0 {
            self.partial = Vec::new();
        }
        Ok(Pull::Some { drained })
    }

    /// Runs rustls over received bytes until it wants more; returns how many it has used up.
    fn step(&mut self, filled: &mut [u8], sink: &mut dyn FnMut(&[u8])) -> Result<usize, IoError> {
        let mut used = 0;
        loop {
            let UnbufferedStatus { mut discard, state } =
                self.connection.process_tls_records(&mut filled[used..]);
            let mut blocked = false;
            match state? {
                ConnectionState::EncodeTlsData(data) => encode(data, &mut self.unsent)?,
                ConnectionState::TransmitTlsData(data) => data.done(),
                ConnectionState::ReadTraffic(mut traffic) => {
                    while let Some(record) = traffic.next_record() {
                        let record = record?;
                        discard += record.discard;
                        sink(record.payload);
                    }
                }
                ConnectionState::BlockedHandshake => blocked = true,
                ConnectionState::WriteTraffic(_) => {
                    self.phase = Phase::Open;
                    blocked = true;
                }
                ConnectionState::PeerClosed | ConnectionState::Closed => {
                    self.phase = Phase::PeerClosed;
                    blocked = true;
                }
                _ => {
                    return Err(IoError::TlsProtocol(
                        "early data was not asked for".to_owned(),
                    ));
                }
            }
            used += discard;
            if blocked {
                return Ok(used);
            }
        }
    }

    /// Encrypts one chunk into `out`; returns the length of its records.
    fn encrypt(&mut self, chunk: &[u8], out: &mut [u8]) -> Result<usize, IoError> {
        loop {
            let UnbufferedStatus { state, .. } = self.connection.process_tls_records(&mut []);
            match state? {
                ConnectionState::WriteTraffic(traffic) => return seal(traffic, chunk, out),
                ConnectionState::EncodeTlsData(data) => encode(data, &mut self.unsent)?,
                ConnectionState::TransmitTlsData(data) => data.done(),
                _ => return Err(IoError::BrokenPipe),
            }
        }
    }
}

/// What one receive brought.
enum Pull {
    /// Bytes; `drained` when the kernel had no more.
    Some {
        drained: bool,
    },
    Nothing,
    End,
}

/// Appends one handshake message to what is to be sent.
fn encode<Data>(mut data: EncodeTlsData<'_, Data>, unsent: &mut Vec<u8>) -> Result<(), IoError> {
    let start = unsent.len();
    // A hello fits; a client certificate's chain may not, and then its length is told.
    unsent.resize(start + 2048, 0);
    let mut length = data.encode(&mut unsent[start..]);
    if let Err(EncodeError::InsufficientSize(size)) = length {
        unsent.resize(start + size.required_size, 0);
        length = data.encode(&mut unsent[start..]);
    }
    let length = length.map_err(|error| IoError::TlsProtocol(error.to_string()))?;
    unsent.truncate(start + length);
    Ok(())
}

/// Encrypts a chunk into a buffer that has room for its records.
fn seal<Data>(
    mut traffic: WriteTraffic<'_, Data>,
    chunk: &[u8],
    out: &mut [u8],
) -> Result<usize, IoError> {
    traffic.encrypt(chunk, out).map_err(|error| match error {
        EncryptError::InsufficientSize(_) => IoError::Other("a record outgrew its room".to_owned()),
        other => IoError::TlsProtocol(other.to_string()),
    })
}

/// Sends what there is room for.
fn push(fd: &OwnedFd, bytes: &[u8]) -> Result<usize, IoError> {
    match retry_on_intr(|| send(fd, bytes, socket::SEND)) {
        Ok(sent) => Ok(sent),
        Err(Errno::AGAIN) => Ok(0),
        Err(error) => Err(error.into()),
    }
}
