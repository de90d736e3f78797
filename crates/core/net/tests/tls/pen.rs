//! Records of any kind and length, written with the keys of a real connection.

use crate::peer::Peer;
use rustls::crypto::cipher::{MessageEncrypter, OutboundChunks, OutboundPlainMessage};
use rustls::{
    ConnectionTrafficSecrets, ContentType, ProtocolVersion, ServerConnection, SupportedCipherSuite,
};
use std::io::Write;
use std::os::unix::net::UnixStream;

/// A server that has gone through its handshake, and whose further records are built by the test.
pub(crate) struct Pen {
    /// The socket to the client.
    pub(crate) socket: UnixStream,
    cipher: Box<dyn MessageEncrypter>,
    sequence: u64,
}

impl Pen {
    /// Takes over the keys; the server must have sent all of its output.
    pub(crate) fn new(peer: Peer) -> Self {
        let Peer { socket, tls, .. } = peer;
        let (cipher, sequence) = cipher(tls);
        Self {
            socket,
            cipher,
            sequence,
        }
    }

    /// Sends bytes unchanged.
    pub(crate) fn write_raw(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).expect("it is sent");
    }

    /// One record.
    pub(crate) fn record(&mut self, kind: ContentType, payload: &[u8]) -> Vec<u8> {
        let message = OutboundPlainMessage {
            typ: kind,
            version: ProtocolVersion::TLSv1_2,
            payload: OutboundChunks::Single(payload),
        };
        let sealed = self.cipher.encrypt(message, self.sequence);
        self.sequence += 1;
        sealed.expect("it is encrypted").encode()
    }
}

/// The encrypter of the server's records, and the number of the next one.
fn cipher(tls: ServerConnection) -> (Box<dyn MessageEncrypter>, u64) {
    let suite = tls.negotiated_cipher_suite().expect("a handshake");
    let secrets = tls.dangerous_extract_secrets().expect("a handshake");
    let (sequence, ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv }) = secrets.tx else {
        panic!("the server knows no other cipher");
    };
    let cipher = match suite {
        SupportedCipherSuite::Tls13(suite) => suite.aead_alg.encrypter(key, iv),
        SupportedCipherSuite::Tls12(suite) => suite.aead_alg.encrypter(key, iv.as_ref(), &[]),
    };
    (cipher, sequence)
}
