//! Output in order: frames of requests, and replies to the server.
//!
//! One buffer in the order in which frames were created, because HPACK depends on that order. Bytes
//! are appended at its end and removed at its start; the buffer is cleared when all bytes are
//! written, which under load is after each write.

use crate::ErrorCode;
use crate::frame::{FrameHeader, HEADER_BYTES, flag, kind};
use crate::stream::EndStream;

/// When the written bytes at the buffer's start are this many, they are removed.
const COMPACT_BYTES: usize = 64 * 1024;

/// Bytes to be written. Replies, which the server can make us queue, are counted so that they can
/// be limited.
#[derive(Debug, Default)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    sent: usize,
    replies: QueuedReplies,
}

/// An upper bound on the number of queued bytes of replies, without a mark for each reply. All
/// replies that were queued before a mark are written when the mark is written; then the replies
/// since become the old ones. The bound is too high by at most the replies of one such period.
#[derive(Debug, Default)]
struct QueuedReplies {
    old: usize,
    new: usize,
    /// Bytes in the queue before the mark.
    mark: usize,
}

impl Output {
    #[inline]
    pub(crate) fn pending(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// The number of bytes of replies that may be queued; never less than the actual number.
    #[inline]
    pub(crate) const fn replies(&self) -> usize {
        self.replies.old + self.replies.new
    }

    /// Removes `count` pending bytes, which have been written.
    #[inline]
    pub(crate) fn sent(&mut self, count: usize) {
        debug_assert!(count <= self.len(), "more was written than there is");
        let count = count.min(self.len());
        self.sent += count;
        if self.sent == self.bytes.len() {
            self.bytes.clear();
            self.sent = 0;
            self.replies = QueuedReplies::default();
        } else {
            self.sent_partly(count);
        }
    }

    #[cold]
    fn sent_partly(&mut self, count: usize) {
        if self.sent >= COMPACT_BYTES && self.sent >= self.len() {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        self.replies.mark = self.replies.mark.saturating_sub(count);
        if self.replies.mark == 0 {
            self.replies = QueuedReplies {
                old: self.replies.new,
                new: 0,
                mark: self.len(),
            };
        }
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends a frame that answers the server.
    pub(crate) fn reply(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.replies.new += HEADER_BYTES + payload.len();
        self.frame(kind, flags, stream, payload);
    }

    pub(crate) fn window_update(&mut self, stream: u32, increment: u32) {
        self.reply(kind::WINDOW_UPDATE, 0, stream, &increment.to_be_bytes());
    }

    pub(crate) fn rst_stream(&mut self, stream: u32, code: ErrorCode) {
        self.reply(kind::RST_STREAM, 0, stream, &code.0.to_be_bytes());
    }

    /// Appends a frame.
    #[inline]
    pub(crate) fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = payload.len() as u32;
        let header = FrameHeader {
            length,
            kind,
            flags,
            stream,
        };
        self.bytes.extend_from_slice(&header.bytes());
        self.bytes.extend_from_slice(payload);
    }

    /// Appends a header block, which `write` appends to the given bytes, as HEADERS and, if it is
    /// longer than `payload_max`, CONTINUATION.
    #[inline]
    pub(crate) fn header_block(
        &mut self,
        stream: u32,
        end: EndStream,
        payload_max: u32,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; HEADER_BYTES]);
        write(&mut self.bytes);
        let length = (self.bytes.len() - start - HEADER_BYTES) as u32;
        let end_stream = match end {
            EndStream::No => 0,
            EndStream::Yes => flag::END_STREAM,
        };
        let whole = length <= payload_max;
        let header = FrameHeader {
            length: length.min(payload_max),
            kind: kind::HEADERS,
            flags: end_stream | if whole { flag::END_HEADERS } else { 0 },
            stream,
        };
        self.bytes[start..start + HEADER_BYTES].copy_from_slice(&header.bytes());
        if !whole {
            self.split(
                start + HEADER_BYTES + payload_max as usize,
                stream,
                payload_max,
            );
        }
    }

    /// Moves the bytes from `start` on into further frames (section 6.10).
    #[cold]
    fn split(&mut self, start: usize, stream: u32, payload_max: u32) {
        let rest = self.bytes.split_off(start);
        let mut chunks = rest.chunks(payload_max as usize).peekable();
        while let Some(chunk) = chunks.next() {
            let last = chunks.peek().is_none();
            let flags = if last { flag::END_HEADERS } else { 0 };
            self.frame(kind::CONTINUATION, flags, stream, chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{COMPACT_BYTES, Output};
    use crate::EndStream;
    use crate::frame::kind;

    #[test]
    fn bytes_leave_in_order_whatever_is_written_at_a_time() {
        let (mut output, mut seen, mut all) = (Output::default(), Vec::new(), Vec::new());
        for round in 0..200_000_u32 {
            output.raw(&round.to_be_bytes());
            all.extend_from_slice(&round.to_be_bytes());
            let count = (round as usize % 9).min(output.len());
            seen.extend_from_slice(&output.pending()[..count]);
            output.sent(count);
            assert!(output.bytes.len() <= 2 * COMPACT_BYTES.max(output.len()) + 4);
        }
        seen.extend_from_slice(output.pending());
        assert!(seen == all);
    }

    #[test]
    fn queued_replies_are_never_counted_too_low_and_are_forgotten() {
        let mut output = Output::default();
        for _ in 0..10 {
            output.reply(kind::PING, 1, 0, &[0; 8]);
        }
        assert_eq!(output.replies(), 170);
        output.sent(100);
        assert!(output.replies() >= 70);
        output.raw(&[0; 1000]);
        output.sent(570);
        assert_eq!(output.replies(), 0, "the mark was passed");
        output.reply(kind::PING, 1, 0, &[0; 8]);
        output.sent(output.len());
        assert_eq!(output.replies(), 0);
    }

    #[test]
    fn long_header_blocks_are_split() {
        let mut output = Output::default();
        output.header_block(1, EndStream::Yes, 10, |bytes| {
            bytes.extend_from_slice(&[7; 25])
        });
        let mut expected = vec![0, 0, 10, 1, 1, 0, 0, 0, 1];
        expected.extend_from_slice(&[7; 10]);
        expected.extend_from_slice(&[0, 0, 10, 9, 0, 0, 0, 0, 1]);
        expected.extend_from_slice(&[7; 10]);
        expected.extend_from_slice(&[0, 0, 5, 9, 4, 0, 0, 0, 1]);
        expected.extend_from_slice(&[7; 5]);
        assert_eq!(output.pending(), expected);
    }
}
