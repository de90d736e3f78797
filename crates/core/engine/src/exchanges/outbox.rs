//! The messages that a call sends: their bytes, and the counts of messages made and sent.
//!
//! An exchange uses the outbox from [`CallOutbox::begin_exchange`] on, and each of its attempts
//! from [`CallOutbox::begin_attempt`] on. The call makes messages while the outbox
//! [`CallOutbox::wants`] some, passes [`CallOutbox::next_bytes`] to its stream, and notes the bytes
//! that the stream took with [`CallOutbox::note_taken`]. When a portion [`CallOutbox::is_taken`],
//! the request ends ([`CallOutbox::ends_now`]) or continues with the next portion. If a call is
//! sent again, each message is counted once.
//!
//! In the first attempt, `counted <= sent <= made <= total` always holds. A second attempt begins
//! with `sent` 0, and counts nothing until it has sent more than the first. A message is sent when
//! the stream has taken its last byte, not before, so that the report never counts a message that
//! flow control still holds.

use drumfire_grpc::framed_length;

/// Messages are made until this many bytes of a call wait to be sent.
const AHEAD_BYTES: usize = 64 * 1024;

/// A call's messages on their way out. Fixed messages are prepared as one body; others are made
/// during the call, one portion at a time.
#[derive(Debug)]
pub(super) struct CallOutbox {
    /// Messages that are made and not yet taken; empty if all are fixed.
    portion: Vec<u8>,
    /// The number of bytes taken of the fixed body, or of the portion.
    taken: usize,
    /// The offset in these bytes after the last message that is taken completely.
    whole_to: usize,
    /// The number of messages made, including fixed ones.
    made: u64,
    /// The number of messages that this attempt has sent completely.
    sent: u64,
    /// The number of messages counted as sent.
    pub(super) counted: u64,
    /// The maximum number of messages that the call sends; [`UNKNOWN`] before the call has begun,
    /// `made` after it was stopped.
    total: u64,
    /// Whether the request has ended.
    ended: bool,
}

/// The value of `total` before a call has begun.
const UNKNOWN: u64 = u64::MAX;

impl Default for CallOutbox {
    fn default() -> Self {
        Self {
            portion: Vec::new(),
            taken: 0,
            whole_to: 0,
            made: 0,
            sent: 0,
            counted: 0,
            total: UNKNOWN,
            ended: false,
        }
    }
}

impl CallOutbox {
    /// Begins another exchange.
    #[inline]
    pub(super) const fn begin_exchange(&mut self) {
        self.counted = 0;
        self.total = UNKNOWN;
    }

    /// Begins an attempt to send `total` messages, of which `made` exist already.
    #[inline]
    pub(super) fn begin_attempt(&mut self, total: u64, made: u64) {
        self.next_portion();
        self.made = made;
        self.sent = 0;
        self.total = total;
        self.ended = false;
    }

    /// Drops the portion, which is taken, so that the next one can be made.
    #[inline]
    pub(super) fn next_portion(&mut self) {
        self.portion.clear();
        self.taken = 0;
        self.whole_to = 0;
    }

    /// Whether to make a further message now.
    pub(super) const fn wants(&self) -> bool {
        self.made < self.total && self.portion.len() < AHEAD_BYTES
    }

    /// The index of the next message to make, and the buffer for its encoded bytes.
    pub(super) const fn next_message(&mut self) -> (u64, &mut Vec<u8>) {
        (self.made, &mut self.portion)
    }

    /// Counts a message as made.
    pub(super) const fn note_made(&mut self) {
        self.made += 1;
    }

    /// The next bytes for the stream, and whether the request ends with them; `None` after its end.
    #[inline]
    pub(super) fn next_bytes<'a>(&'a self, fixed: Option<&'a [u8]>) -> Option<(&'a [u8], bool)> {
        let body = fixed.unwrap_or(&self.portion);
        (!self.ended).then(|| (&body[self.taken..], self.made >= self.total))
    }

    /// Notes that the stream has taken `count` more bytes of the fixed body, or, without one, of
    /// the current portion. Returns the number of messages that they complete.
    #[inline]
    pub(super) fn note_taken(&mut self, count: usize, fixed: Option<&[u8]>) -> u64 {
        self.taken += count;
        if self.is_taken(fixed) {
            self.sent = self.made;
        } else {
            self.take_part(fixed);
        }
        let went = self.sent.saturating_sub(self.counted);
        self.counted += went;
        went
    }

    /// Counts the messages that are complete within a part of the bytes, by the lengths in their
    /// prefixes (five bytes each in gRPC's framing).
    #[cold]
    fn take_part(&mut self, fixed: Option<&[u8]>) {
        let body = fixed.unwrap_or(&self.portion);
        let (count, whole_to) = whole_messages(body, self.whole_to, self.taken);
        self.sent += count;
        self.whole_to = whole_to;
    }

    /// Whether the stream has taken the whole fixed body, or the whole portion.
    #[inline]
    pub(super) fn is_taken(&self, fixed: Option<&[u8]>) -> bool {
        self.taken >= fixed.map_or(self.portion.len(), <[u8]>::len)
    }

    /// Ends the request if all messages are made; returns `false` if further messages follow.
    #[inline]
    pub(super) const fn ends_now(&mut self) -> bool {
        self.ended = self.made >= self.total;
        self.ended
    }

    /// Sends no messages beyond those already made.
    pub(super) const fn stop(&mut self) {
        self.total = self.made;
    }

    /// Ends the request at once, because the server takes no more of it.
    pub(super) const fn refuse(&mut self) {
        self.ended = true;
    }

    /// Whether the request is open and no bytes wait to be taken.
    pub(super) const fn is_idle(&self) -> bool {
        !self.ended && self.portion.is_empty()
    }

    /// The maximum number of messages that the call sends; `None` before the call has begun.
    #[inline]
    pub(super) const fn total(&self) -> Option<u64> {
        match self.total {
            UNKNOWN => None,
            total => Some(total),
        }
    }
}

/// The number of complete messages in `body` between `from`, the start of a message, and `end`; and
/// the end of the last of them.
fn whole_messages(body: &[u8], from: usize, end: usize) -> (u64, usize) {
    let (mut count, mut at) = (0, from);
    while let Some(length) = body.get(at..).and_then(framed_length)
        && at + length <= end
    {
        at += length;
        count += 1;
    }
    (count, at)
}
