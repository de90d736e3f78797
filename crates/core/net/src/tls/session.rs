//! The rustls state of one connection: takes in received bytes, and returns text and records to
//! send.
//!
//! Only this file drives rustls, currently through its unbuffered interface; its callers move
//! bytes.
//!
//! While a handshake message is incomplete, rustls keeps offsets into the bytes that it was given
//! and has not released, and it decrypts records in place. So the held bytes are passed to it on
//! every call, whole and unchanged; with fewer of them it would read out of bounds.

use super::config::NoIdentity;
use crate::{IoError, TlsConfig};
use rustls::HandshakeKind;
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncodeTlsData, EncryptError, UnbufferedStatus, WriteTraffic,
};
use std::sync::Arc;

/// How much text is encrypted at a time: four full records.
pub(super) const CHUNK_BYTES: usize = 64 * 1024;
/// Room for the records of one chunk, each of which may add up to 256 bytes (RFC 8446 section
/// 5.2), and for one small record before them.
pub(super) const SEALED_BYTES: usize = CHUNK_BYTES + 5 * 261;
/// How many received bytes are held for one handshake message: twice the longest message that
/// rustls accepts, so that its records may be as short as 32 bytes.
pub(super) const HELD_BYTES: usize = 128 * 1024;

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Handshake,
    Open,
    /// The peer has sent close_notify.
    PeerClosed,
    /// Something was wrong; the connection can only be dropped.
    Failed,
}

/// The rustls state of one connection, and the bytes that it holds.
pub(super) struct Session {
    connection: UnbufferedClientConnection,
    /// Received bytes that are not used yet: half a record, or records of half a handshake message.
    held: Vec<u8>,
    /// Records that are still to be sent, oldest first.
    unsent: Vec<u8>,
    phase: Phase,
    /// Notes that servers ask for a certificate.
    asked: Arc<NoIdentity>,
}

impl Session {
    /// Creates the client's side of a new connection; its first records are among the unsent ones.
    pub(super) fn new(config: &mut TlsConfig) -> Result<Self, IoError> {
        let connection = UnbufferedClientConnection::new(config.next(), config.name.clone())?;
        let mut session = Self {
            connection,
            held: Vec::new(),
            unsent: Vec::new(),
            phase: Phase::Handshake,
            asked: Arc::clone(&config.asked),
        };
        session.run(&mut [], &mut |_| {})?;
        Ok(session)
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether the peer has agreed to this protocol.
    pub(super) fn agreed(&self, protocol: &[u8]) -> bool {
        self.connection.alpn_protocol() == Some(protocol)
    }

    /// Whether the handshake resumed an earlier session.
    pub(super) fn is_resumed(&self) -> bool {
        self.connection.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// Whether the target asks for a certificate although none can be shown.
    pub(super) fn lacks_certificate(&self) -> bool {
        self.asked.was_asked()
    }

    /// Bytes that were received before and must precede the ones received next.
    pub(super) fn held(&self) -> &[u8] {
        &self.held
    }

    /// Records that are still to be sent.
    pub(super) fn unsent(&self) -> &[u8] {
        &self.unsent
    }

    /// Takes in the held bytes with newly received ones after them, and passes their text to
    /// `sink`.
    pub(super) fn take_in(
        &mut self,
        received: &mut [u8],
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<(), IoError> {
        debug_assert!(received.starts_with(&self.held), "held bytes are lost");
        let used = self.run(received, sink)?;
        // Bytes after close_notify are ignored (RFC 8446 section 6.1).
        let rest = match self.phase {
            Phase::PeerClosed => &[],
            _ => &received[used..],
        };
        if rest.len() > HELD_BYTES {
            self.phase = Phase::Failed;
            return Err(IoError::TlsProtocol(format!(
                "a handshake message exceeds {HELD_BYTES} bytes of records"
            )));
        }
        self.held.clear();
        if !rest.is_empty() {
            self.held.extend_from_slice(rest);
        } else if self.held.capacity() > 0 {
            self.held = Vec::new();
        }
        Ok(())
    }

    /// Removes the oldest records, which have been sent.
    pub(super) fn forget_sent(&mut self, length: usize) {
        self.unsent.drain(..length);
        if self.unsent.is_empty() {
            self.unsent = Vec::new();
        }
    }

    /// Stores records to be sent later.
    pub(super) fn keep(&mut self, records: &[u8]) {
        self.unsent.extend_from_slice(records);
    }

    /// Encrypts at most [`CHUNK_BYTES`] of text into `room`, and returns the records' length. They
    /// must be sent after the unsent bytes.
    pub(super) fn seal(&mut self, text: &[u8], room: &mut [u8]) -> Result<usize, IoError> {
        let length = self.write(|mut traffic| traffic.encrypt(text, room))?;
        length.map_err(|error| match error {
            EncryptError::InsufficientSize(_) => {
                IoError::Other("a TLS record is larger than its buffer".to_owned())
            }
            EncryptError::EncryptExhausted => IoError::TlsProtocol(error.to_string()),
        })
    }

    /// Writes close_notify and returns its length; 0 if the session can't send one.
    pub(super) fn seal_close_notify(&mut self, room: &mut [u8]) -> usize {
        match self.write(|mut traffic| traffic.queue_close_notify(room)) {
            Ok(Ok(length)) => length,
            // The connection is closed either way.
            _ => 0,
        }
    }

    /// Writes records once rustls is ready for it, which it always is after it has run: it then
    /// waits for the peer or for us.
    fn write<T>(
        &mut self,
        with: impl FnOnce(WriteTraffic<'_, ClientConnectionData>) -> T,
    ) -> Result<T, IoError> {
        if matches!(self.phase, Phase::Handshake | Phase::Failed) {
            return Err(IoError::BrokenPipe);
        }
        let UnbufferedStatus { discard, state } =
            self.connection.process_tls_records(&mut self.held);
        let written = match state? {
            ConnectionState::WriteTraffic(traffic) => Ok(with(traffic)),
            _ => Err(IoError::BrokenPipe),
        };
        self.held.drain(..discard);
        written
    }

    /// Runs rustls on received bytes until it needs more; returns how many it has used.
    fn run(&mut self, bytes: &mut [u8], sink: &mut dyn FnMut(&[u8])) -> Result<usize, IoError> {
        if self.phase == Phase::Failed {
            return Err(IoError::BrokenPipe);
        }
        let mut used = 0;
        loop {
            let status = self.connection.process_tls_records(&mut bytes[used..]);
            let turn = turn(status, &mut self.unsent, sink);
            used += turn.discard;
            match turn.next {
                Ok(Next::Further) => {}
                Ok(Next::Blocked) => return Ok(used),
                Ok(Next::Ready) => {
                    if self.phase == Phase::Handshake {
                        self.phase = Phase::Open;
                    }
                    return Ok(used);
                }
                Ok(Next::Over) if self.connection.is_handshaking() => {
                    self.phase = Phase::Failed;
                    return Err(closed_in_handshake());
                }
                Ok(Next::Over) => {
                    self.phase = Phase::PeerClosed;
                    return Ok(used);
                }
                Err(error) => {
                    self.fail();
                    return Err(error);
                }
            }
        }
    }

    /// Fails the session, and appends the alert for the peer to the output.
    fn fail(&mut self) {
        self.phase = Phase::Failed;
        // As long as it has such records, rustls returns them and looks at no bytes.
        while self.connection.wants_write() {
            let status = self.connection.process_tls_records(&mut []);
            let Turn { next: Ok(_), .. } = turn(status, &mut self.unsent, &mut |_| {}) else {
                return;
            };
        }
    }
}

/// The result of one call of rustls.
struct Turn {
    /// How many bytes are used.
    discard: usize,
    next: Result<Next, IoError>,
}

/// rustls's next step after a call.
enum Next {
    /// To be called again.
    Further,
    /// More bytes from the peer.
    Blocked,
    /// More bytes from the peer, or text to encrypt.
    Ready,
    /// Nothing; the peer has sent close_notify.
    Over,
}

/// Does the step that rustls requests.
fn turn<Data>(
    status: UnbufferedStatus<'_, '_, Data>,
    unsent: &mut Vec<u8>,
    sink: &mut dyn FnMut(&[u8]),
) -> Turn {
    let UnbufferedStatus { mut discard, state } = status;
    let next = match state {
        Ok(ConnectionState::EncodeTlsData(data)) => encode(data, unsent).map(|()| Next::Further),
        // The record is among the unsent ones, and is sent before any other.
        Ok(ConnectionState::TransmitTlsData(data)) => {
            data.done();
            Ok(Next::Further)
        }
        Ok(ConnectionState::ReadTraffic(mut traffic)) => loop {
            match traffic.next_record() {
                Some(Ok(record)) => {
                    discard += record.discard;
                    sink(record.payload);
                }
                Some(Err(error)) => break Err(error.into()),
                None => break Ok(Next::Further),
            }
        },
        Ok(ConnectionState::BlockedHandshake) => Ok(Next::Blocked),
        Ok(ConnectionState::WriteTraffic(_)) => Ok(Next::Ready),
        Ok(ConnectionState::PeerClosed | ConnectionState::Closed) => Ok(Next::Over),
        // Early data, which only a server receives.
        Ok(_) => Err(IoError::TlsProtocol("unexpected early data".to_owned())),
        Err(error) => Err(error.into()),
    };
    Turn { discard, next }
}

/// The error of a peer that closed the connection before text could be sent.
pub(super) fn closed_in_handshake() -> IoError {
    IoError::TlsProtocol("the peer closed the connection during the handshake".to_owned())
}

/// Appends one handshake message to the output.
fn encode<Data>(mut data: EncodeTlsData<'_, Data>, unsent: &mut Vec<u8>) -> Result<(), IoError> {
    let start = unsent.len();
    // A hello fits; a client certificate's chain may not, and then the error contains its length.
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
