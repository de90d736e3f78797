//! The space into which an encoding decompresses, and its error.

/// The error of an encoding that can neither make nor read a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It is not valid in the encoding.
    Invalid,
    /// It would be longer than the limit.
    Limit,
}

/// The most space that is kept for the next message; what a large message took beyond it
/// is freed.
const SCRATCH_KEPT_BYTES: usize = 1024 * 1024;
/// The first size of the scratch space.
const SCRATCH_FIRST_BYTES: usize = 4096;

/// Space for one decompressed message. It grows as the message does, never ahead of it, so that a
/// short message that claims to be long costs no memory.
///
/// The decompressor calls `begin` with the limit, the encoding takes `room` and reports what it
/// wrote by `filled` until its stream ends, and the decompressor reads the `whole` message.
#[derive(Default)]
pub(crate) struct Scratch {
    bytes: Vec<u8>,
    filled: usize,
    /// One byte beyond the limit, by which a message is seen to exceed it.
    bound: usize,
}

impl Scratch {
    /// Empties the space for a message of at most `limit` bytes.
    pub(crate) fn begin(&mut self, limit: u32) {
        if self.bytes.len() > SCRATCH_KEPT_BYTES {
            self.bytes = Vec::new();
        }
        self.filled = 0;
        self.bound = (limit as usize).saturating_add(1);
    }

    /// Room for more, at least a byte.
    ///
    /// # Errors
    /// [`Failure::Limit`] when the message has reached the limit and goes on.
    pub(crate) fn room(&mut self) -> Result<&mut [u8], Failure> {
        if self.filled == self.bound {
            return Err(Failure::Limit);
        }
        if self.filled == self.bytes.len() {
            let length = (self.filled * 2).max(SCRATCH_FIRST_BYTES);
            self.bytes.resize(length, 0);
        }
        let end = self.bytes.len().min(self.bound);
        Ok(&mut self.bytes[self.filled..end])
    }

    /// Counts `count` bytes of the room as filled.
    pub(crate) fn filled(&mut self, count: usize) {
        self.filled += count;
    }

    /// The message.
    ///
    /// # Errors
    /// [`Failure::Limit`] when it is longer than the limit.
    pub(crate) fn whole(&self) -> Result<&[u8], Failure> {
        if self.filled == self.bound {
            return Err(Failure::Limit);
        }
        Ok(self.bytes())
    }

    /// The bytes that were filled so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// The size of the space that is held.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.len()
    }
}
