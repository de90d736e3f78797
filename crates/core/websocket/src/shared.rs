//! State that the connections of one worker share: limits, spare buffers, compressors.

use crate::WindowBits;
use crate::deflate::Deflater;
use crate::inflate::Inflater;

/// How many buffers and decompressors are kept for later messages.
const SPARES: usize = 64;
/// A spare buffer that has grown beyond this is returned to the system.
const SPARE_BYTES: usize = 16 * 1024;
/// The buffer of the last message is returned to the system if it has grown beyond this.
const WHOLE_BYTES: usize = 1024 * 1024;
/// The size of the pieces in which messages are decompressed.
const PIECE_BYTES: usize = 16 * 1024;
/// How many decompressors are kept: 48 KiB each.
const INFLATERS: usize = 8;

/// Limits on a peer's bytes. Exceeding one ends the connection; nothing is truncated silently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one message, decompressed; 64 MiB by default. A server can make a worker decompress
    /// this much for each 1/1000 of it. If exceeded: [`crate::Violation::MessageTooLong`].
    pub message_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 64 * 1024 * 1024,
        }
    }
}

/// One worker's scratch space. Every [`crate::Reader`] and every [`crate::Writer`] of the worker
/// uses it.
#[derive(Debug, Default)]
pub struct Shared {
    pub(crate) limits: Limits,
    /// The last message that came in pieces, to which an event points.
    pub(crate) whole: Vec<u8>,
    /// The last control frame that came in pieces.
    pub(crate) control: Vec<u8>,
    /// The message that is sent, compressed.
    pub(crate) packed: Vec<u8>,
    /// The piece that is decompressed.
    piece: Vec<u8>,
    spares: Vec<Vec<u8>>,
    #[expect(
        clippy::vec_box,
        reason = "a reader holds one by its box, to stay small"
    )]
    inflaters: Vec<Box<Inflater>>,
    /// The compressors for messages without context, by their window.
    deflaters: [Option<Box<Deflater>>; Deflater::WINDOWS],
}

impl Shared {
    /// Creates scratch space with these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// The limits that it was created with.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Takes an empty buffer, reused if possible.
    pub(crate) fn take_buffer(&mut self) -> Vec<u8> {
        self.spares.pop().unwrap_or_default()
    }

    /// Returns a buffer whose bytes are no longer needed.
    pub(crate) fn give_back(&mut self, mut buffer: Vec<u8>) {
        if self.spares.len() < SPARES && (1..=SPARE_BYTES).contains(&buffer.capacity()) {
            buffer.clear();
            self.spares.push(buffer);
        }
    }

    /// Stores a complete message, and returns the memory of the previous one.
    pub(crate) fn store_whole(&mut self, message: Vec<u8>) {
        let previous = std::mem::replace(&mut self.whole, message);
        self.give_back(previous);
    }

    /// Frees the memory of the last message if it was large; it must be unused.
    pub(crate) fn shrink(&mut self) {
        for buffer in [&mut self.whole, &mut self.packed] {
            if buffer.capacity() > WHOLE_BYTES {
                *buffer = Vec::new();
            }
        }
    }

    /// Takes a decompressor, reused if possible.
    pub(crate) fn take_inflater(&mut self) -> Box<Inflater> {
        self.inflaters
            .pop()
            .unwrap_or_else(|| Box::new(Inflater::new()))
    }

    /// Returns a decompressor.
    pub(crate) fn give_back_inflater(&mut self, inflater: Box<Inflater>) {
        if self.inflaters.len() < INFLATERS {
            self.inflaters.push(inflater);
        }
    }

    /// The space for a piece that is decompressed.
    pub(crate) fn piece(&mut self) -> &mut [u8] {
        if self.piece.is_empty() {
            self.piece = vec![0; PIECE_BYTES];
        }
        &mut self.piece
    }

    /// The compressor for messages without context, and the space for its output; `None` if no
    /// compressor has such a small window.
    pub(crate) fn deflater(&mut self, bits: WindowBits) -> Option<(&mut Deflater, &mut Vec<u8>)> {
        let slot = &mut self.deflaters[Deflater::window_index(bits)?];
        let deflater = slot.get_or_insert_with(|| Box::new(Deflater::new(bits)));
        Some((deflater, &mut self.packed))
    }
}
