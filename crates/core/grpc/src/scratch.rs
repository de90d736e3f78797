//! The space into which an encoding decompresses, and its error.

/// The error of an encoding that can neither create nor read a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The message is not valid in the encoding.
    Invalid,
    /// The message would be longer than the limit.
    Limit,
}

/// The maximum space that is kept for the next message; larger space that a message used is freed.
const SCRATCH_KEPT_BYTES: usize = 1024 * 1024;
/// The initial size of the scratch space.
const SCRATCH_FIRST_BYTES: usize = 4096;

/// Space for one decompressed message. It grows with the message, never ahead of it, so that a
/// short message that claims to be long costs no memory.
///
/// The decompressor calls `begin` with the limit, the encoding requests `room` and reports the
/// number of written bytes by `filled` until its stream ends, and the decompressor reads the
/// `whole` message.
#[derive(Default)]
pub(crate) struct Scratch {
    bytes: Vec<u8>,
    filled: usize,
    /// One byte more than the limit, to detect that a message exceeds it.
    bound: usize,
}

impl Scratch {
    /// Empties the space for a message of at most `limit` bytes.
    pub(crate) fn start_message(&mut self, limit: u32) {
        if self.bytes.len() > SCRATCH_KEPT_BYTES {
            self.bytes = Vec::new();
        }
        self.filled = 0;
        self.bound = (limit as usize).saturating_add(1);
    }

    /// Returns room for at least one more byte.
    ///
    /// # Errors
    /// [`Failure::Limit`] if the message has reached the limit and is not complete.
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

    /// The complete message.
    ///
    /// # Errors
    /// [`Failure::Limit`] if it is longer than the limit.
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

    /// The size of the allocated space.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.len()
    }
}
