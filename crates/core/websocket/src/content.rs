//! The message that has begun: what is kept of it, and its length.

use crate::text::{Invalid, TextCheck};
use crate::{Kind, Violation};

/// The state of a message between two slices.
#[derive(Debug, Default)]
pub(crate) struct Content {
    /// The first bytes, at most `keep` of them. A control frame in several slices uses the end.
    pub(crate) kept: Vec<u8>,
    keep: usize,
    /// The length so far, decompressed.
    pub(crate) length: u64,
    /// The bytes on the wire, including those that are still to come in the current frame.
    pub(crate) length_sent: u64,
    pub(crate) frames: u32,
    /// `None` if no message has begun.
    pub(crate) kind: Option<Kind>,
    text: TextCheck,
}

impl Content {
    /// Begins a message, of which the first `keep` bytes are kept. The memory of `kept` is reused.
    pub(crate) fn begin(&mut self, kind: Kind, keep: usize) {
        let kept = std::mem::take(&mut self.kept);
        *self = Self {
            kept,
            keep,
            kind: Some(kind),
            ..Self::default()
        };
    }

    /// Adds a piece of the message, decompressed. `limit` bounds its length.
    #[inline]
    pub(crate) fn push(&mut self, piece: &[u8], limit: u64) -> Result<(), Violation> {
        self.length += piece.len() as u64;
        if self.length > limit {
            return Err(Violation::MessageTooLong);
        }
        if self.kind == Some(Kind::Text) {
            self.text.push(piece).map_err(|Invalid| Violation::Text)?;
        }
        let room = self.keep.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&piece[..room.min(piece.len())]);
        Ok(())
    }

    /// Ends the message, and returns its kind.
    pub(crate) fn end(&mut self) -> Result<Kind, Violation> {
        match self.kind.take() {
            Some(Kind::Text) if !self.text.is_complete() => Err(Violation::Text),
            Some(kind) => Ok(kind),
            None => Err(Violation::Continuation),
        }
    }
}
