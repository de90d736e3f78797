//! The key of a handshake, which proves that the server speaks WebSocket.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};

/// What a server appends to the key before it hashes it (RFC 6455 section 1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The key of one connection (RFC 6455 section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key([u8; 24]);

impl Key {
    /// The key of 16 bytes, which must be random and new for each connection.
    #[must_use]
    pub fn new(random: [u8; 16]) -> Self {
        Self(encode(&random))
    }

    /// The value of `Sec-WebSocket-Key`. Its length is constant, so it can replace another key in
    /// prepared bytes.
    #[must_use]
    pub const fn text(&self) -> [u8; 24] {
        self.0
    }

    /// The value of `Sec-WebSocket-Accept` with which a server answers (RFC 6455 section 4.2.2).
    #[must_use]
    pub fn accept(&self) -> [u8; 28] {
        encode(
            &Sha1::new()
                .chain_update(self.0)
                .chain_update(GUID)
                .finalize(),
        )
    }
}

/// The base64 form of bytes, whose length is `N`.
fn encode<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut text = [0; N];
    let written = STANDARD.encode_slice(bytes, &mut text);
    debug_assert_eq!(written, Ok(N), "the length is known");
    text
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn the_key_of_the_rfc_has_the_answer_of_the_rfc() {
        let key = Key::new(*b"the sample nonce");
        assert_eq!(&key.text(), b"dGhlIHNhbXBsZSBub25jZQ==");
        assert_eq!(&key.accept(), b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
}
