//! The last bytes of a server's messages, to which later compressed messages may refer (RFC 7692
//! section 7.1.1).
//!
//! A decompressor with its own window takes 48 KiB from the first message on. A window that grows
//! with the messages takes nothing while a connection is idle from the start, and lets all
//! connections of a worker share their decompressors.

use crate::WindowBits;

/// How far the bytes may exceed the window, so that not every message moves them.
const SLACK_BYTES: usize = 4096;

/// The end of the decompressed messages of one connection.
#[derive(Debug)]
pub(crate) struct Window {
    bytes: Vec<u8>,
    max: usize,
}

impl Window {
    /// An empty window of 2 to the power of `bits` bytes.
    pub(crate) const fn new(bits: WindowBits) -> Self {
        Self {
            bytes: Vec::new(),
            max: 1 << bits.get(),
        }
    }

    /// The last bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.bytes.len().saturating_sub(self.max)..]
    }

    /// Adds decompressed bytes.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        let piece = &piece[piece.len().saturating_sub(self.max)..];
        let length = self.bytes.len() + piece.len();
        if length > self.max + SLACK_BYTES {
            self.bytes.drain(..length - self.max);
        }
        let length = self.bytes.len() + piece.len();
        if length > self.bytes.capacity() {
            let room = (length * 2).min(self.max + SLACK_BYTES);
            self.bytes.reserve_exact(room - self.bytes.len());
        }
        self.bytes.extend_from_slice(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::{SLACK_BYTES, Window};
    use crate::WindowBits;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_window_is_the_end_of_all_bytes(
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..3000), 0..20),
        ) {
            let bits = WindowBits::new(9).expect("in range");
            let mut window = Window::new(bits);
            let mut all = Vec::new();
            for piece in &pieces {
                window.push(piece);
                all.extend_from_slice(piece);
                prop_assert_eq!(window.bytes(), &all[all.len().saturating_sub(512)..]);
                prop_assert!(window.bytes.capacity() <= 512 + SLACK_BYTES);
            }
        }
    }
}
