//! Compresses messages (RFC 7692 section 7.2.1).

use crate::WindowBits;
use flate2::{Compress, Compression, FlushCompress};

/// The end of a flushed message, which is not sent: the length of an empty block.
const TAIL: &[u8] = &[0x00, 0x00, 0xff, 0xff];
/// The smallest window of the compressor.
const BITS_MIN: u8 = 9;

/// A compressor, for all messages of one connection, or for single messages of any connection.
#[derive(Debug)]
pub(crate) struct Deflater {
    stream: Compress,
}

/// The compressor has failed; it must begin again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failed;

impl Deflater {
    /// The number of windows that a compressor can have.
    pub(crate) const WINDOWS: usize = (WindowBits::MAX.get() - BITS_MIN + 1) as usize;

    /// The index of a window, below [`Deflater::WINDOWS`]; `None` for a window that is too small.
    pub(crate) const fn window_index(bits: WindowBits) -> Option<usize> {
        match bits.get().checked_sub(BITS_MIN) {
            Some(index) => Some(index as usize),
            None => None,
        }
    }

    /// A compressor with a window of `bits`, which [`Deflater::window_index`] accepts. Its level is
    /// the fastest: a generator's time matters more than the last percent.
    pub(crate) fn new(bits: WindowBits) -> Self {
        let bits = bits.get().max(BITS_MIN);
        Self {
            stream: Compress::new_with_window_bits(Compression::fast(), false, bits),
        }
    }

    /// Forgets all earlier messages.
    pub(crate) fn restart(&mut self) {
        self.stream.reset();
    }

    /// Replaces `out` by the compressed message, which must not be empty.
    pub(crate) fn message(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Failed> {
        out.clear();
        let start = self.stream.total_in();
        loop {
            let read = self.stream.total_in() - start;
            let rest = usize::try_from(read)
                .ok()
                .and_then(|read| payload.get(read..))
                .ok_or(Failed)?;
            // Data that deflate can't compress grow by a few bytes per 16 KiB.
            out.reserve(rest.len() / 8 + 64);
            self.stream
                .compress_vec(rest, out, FlushCompress::Sync)
                .map_err(|_| Failed)?;
            let is_read = self.stream.total_in() - start == payload.len() as u64;
            if is_read && out.len() < out.capacity() {
                break;
            }
        }
        if !out.ends_with(TAIL) {
            return Err(Failed);
        }
        out.truncate(out.len() - TAIL.len());
        Ok(())
    }
}
