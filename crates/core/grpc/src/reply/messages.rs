//! The messages of a reply, extracted from DATA frames.

use super::{Replies, Reply};
use crate::Violation;
use crate::compression::{Decompressor, Encoding};
use crate::framing::{FLAG_COMPRESSED, FLAG_PLAIN, PREFIX_BYTES, read_prefix};
use crate::scratch::Failure;

/// A complete message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// The message, decompressed; empty with [`Keep::Length`].
    pub payload: &'a [u8],
    /// The decompressed length.
    pub length: u32,
    /// The length as sent, without the prefix.
    pub length_sent: u32,
}

/// The part of messages that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The lengths of messages: uncompressed bytes are counted and discarded, never stored.
    Length,
    /// The complete messages.
    Payload,
}

/// The part of a buffer for messages in pieces that is kept for the next call.
const PARTIAL_KEPT_BYTES: usize = 64 * 1024;

/// Frees the memory that one large message used.
pub(super) fn shrink(partial: &mut Vec<u8>) {
    if partial.capacity() > PARTIAL_KEPT_BYTES {
        *partial = Vec::new();
    }
}

impl Reply {
    /// Handles the next bytes of the stream, and passes on each message that they complete. An
    /// uncompressed message that `bytes` contains completely is passed on without copying.
    ///
    /// # Errors
    /// If a message violates the protocol or a limit; later calls return the same error. The stream
    /// must be reset.
    #[inline]
    pub fn data(
        &mut self,
        bytes: &[u8],
        decompressor: &mut Decompressor,
        mut sink: impl FnMut(Message<'_>),
    ) -> Result<(), Violation> {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = match self.plain(rest) {
                Some((payload, after)) => {
                    self.messages += 1;
                    sink(self.message(payload, payload));
                    after
                }
                None => self.piece(rest, decompressor, &mut sink)?,
            };
        }
        self.violation.map_or(Ok(()), Err)
    }

    /// The first uncompressed message and the bytes after it, if no other message is in progress
    /// and `bytes` contains the message completely.
    #[inline]
    fn plain<'b>(&self, bytes: &'b [u8]) -> Option<(&'b [u8], &'b [u8])> {
        let (prefix, rest) = bytes.split_first_chunk::<PREFIX_BYTES>()?;
        let (flag, length) = read_prefix(*prefix);
        let is_wanted = self.prefix_length == 0
            && flag == FLAG_PLAIN
            && length <= self.settings.receive_limit
            && (self.messages == 0 || self.settings.replies == Replies::Many)
            && self.violation.is_none();
        if is_wanted {
            rest.split_at_checked(length as usize)
        } else {
            None
        }
    }

    /// A message in the form that the settings require.
    #[inline]
    fn message<'b>(&self, payload: &'b [u8], sent: &[u8]) -> Message<'b> {
        // Both lengths were compared with a limit that is a u32.
        let length = |bytes: &[u8]| bytes.len() as u32;
        Message {
            payload: match self.settings.keep {
                Keep::Length => &[],
                Keep::Payload => payload,
            },
            length: length(payload),
            length_sent: length(sent),
        }
    }

    /// Takes as much of `bytes` as one message needs; returns the rest.
    #[cold]
    fn piece<'b>(
        &mut self,
        bytes: &'b [u8],
        decompressor: &mut Decompressor,
        sink: &mut dyn FnMut(Message<'_>),
    ) -> Result<&'b [u8], Violation> {
        if let Some(violation) = self.violation {
            return Err(violation);
        }
        let mut rest = bytes;
        if self.remaining == 0 {
            rest = self.prefix(rest);
            if usize::from(self.prefix_length) < PREFIX_BYTES {
                return Ok(rest);
            }
            self.check_prefix()
                .map_err(|violation| self.fail(violation))?;
        }
        let length = rest.len().min(self.remaining as usize);
        let (taken, after) = rest.split_at(length);
        self.remaining -= length as u32;
        if self.remaining > 0 {
            if self.is_kept() {
                self.partial.extend_from_slice(taken);
            }
            return Ok(after);
        }
        let completed = self.complete(taken, decompressor, sink);
        completed.map_err(|violation| self.fail(violation))?;
        Ok(after)
    }

    /// Completes the prefix as far as `bytes` suffices; returns the rest.
    fn prefix<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let missing = &mut self.prefix[usize::from(self.prefix_length)..];
        let (taken, rest) = bytes.split_at(missing.len().min(bytes.len()));
        missing[..taken.len()].copy_from_slice(taken);
        self.prefix_length += taken.len() as u8;
        rest
    }

    /// Checks, once the prefix is complete, whether its message may come. No memory is reserved for
    /// it yet, because its length is only a claim.
    fn check_prefix(&mut self) -> Result<(), Violation> {
        let (flag, length) = read_prefix(self.prefix);
        if self.settings.replies == Replies::One && self.messages > 0 {
            return Err(Violation::MessageSurplus);
        }
        match (flag, self.encoding) {
            (FLAG_PLAIN, _) | (FLAG_COMPRESSED, Some(Encoding::Gzip | Encoding::Zstd)) => {}
            (FLAG_COMPRESSED, _) => return Err(Violation::Compression),
            _ => return Err(Violation::Flag),
        }
        if length > self.settings.receive_limit {
            return Err(Violation::MessageTooLong);
        }
        self.remaining = length;
        Ok(())
    }

    /// Whether the current message is needed as a whole.
    fn is_kept(&self) -> bool {
        self.prefix[0] == FLAG_COMPRESSED || self.settings.keep == Keep::Payload
    }

    /// Completes a message with its last piece.
    fn complete(
        &mut self,
        last: &[u8],
        decompressor: &mut Decompressor,
        sink: &mut dyn FnMut(Message<'_>),
    ) -> Result<(), Violation> {
        let (flag, length) = read_prefix(self.prefix);
        let sent = if self.partial.is_empty() || !self.is_kept() {
            last
        } else {
            self.partial.extend_from_slice(last);
            &self.partial
        };
        if flag == FLAG_PLAIN {
            sink(Message {
                length,
                length_sent: length,
                ..self.message(sent, sent)
            });
        } else {
            let encoding = self.encoding.unwrap_or_default();
            let payload = decompressor
                .decompress(encoding, sent, self.settings.receive_limit)
                .map_err(|failure| match failure {
                    Failure::Invalid => Violation::Decompress,
                    Failure::Limit => Violation::MessageTooLong,
                })?;
            sink(self.message(payload, sent));
        }
        self.messages += 1;
        self.prefix_length = 0;
        self.partial.clear();
        shrink(&mut self.partial);
        Ok(())
    }
}
