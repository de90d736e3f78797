//! The messages that a call sends: those that its stream has taken whole, and those that it never
//! will.
//!
//! An exchange uses the outbox from [`Outbox::begin_exchange`] on, and each of its attempts from
//! [`Outbox::begin_attempt`] on. The call then makes messages while the outbox [`Outbox::wants`] some,
//! hands [`Outbox::next_bytes`] to its stream, and notes what that took with [`Outbox::note_taken`]. When
//! a portion [`Outbox::is_taken`], the request ends ([`Outbox::ends_now`]) or goes on with the next
//! portion. Of a call that is sent once more, messages are counted once.
//!
//! `counted <= sent <= made <= total` holds within an attempt that is the first; a second attempt
//! begins with `sent` 0, and counts nothing until it has gone further than the first. A message is
//! sent when its last byte was taken by the stream: not before, so that the report never has a
//! message that flow control still holds.

use drumfire_grpc::framed_length;

/// Messages are made until this many bytes of a call wait to be sent.
const AHEAD_BYTES: usize = 64 * 1024;

/// A call's messages on their way out. Fixed ones are prepared as one body; others are made as the
/// call goes, a portion at a time.
#[derive(Debug)]
pub(super) struct Outbox {
    /// Messages that are made and not yet taken; empty where all are fixed.
    portion: Vec<u8>,
    /// The length of the part of the fixed body, or of the portion, that is taken.
    taken: usize,
    /// The end, in these, of the last message that is taken whole.
    whole_to: usize,
    /// Messages that are made, fixed ones included.
    made: u64,
    /// Messages that this attempt has sent whole.
    sent: u64,
    /// Messages that are counted as sent.
    pub(super) counted: u64,
    /// The number of messages that the call sends at most; [`UNKNOWN`] before it has begun, `made`
    /// once it was stopped.
    total: u64,
    /// Whether the request has ended.
    ended: bool,
}

/// The number of messages of a call that has not begun.
const UNKNOWN: u64 = u64::MAX;

impl Default for Outbox {
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

impl Outbox {
    /// Begins another exchange.
    #[inline]
    pub(super) const fn begin_exchange(&mut self) {
        self.counted = 0;
        self.total = UNKNOWN;
    }

    /// Begins an attempt to send `total` messages, of which `made` are made.
    #[inline]
    pub(super) fn begin_attempt(&mut self, total: u64, made: u64) {
        self.next_portion();
        self.made = made;
        self.sent = 0;
        self.total = total;
        self.ended = false;
    }

    /// Drops the portion that is taken, so that the next one can be made.
    #[inline]
    pub(super) fn next_portion(&mut self) {
        self.portion.clear();
        self.taken = 0;
        self.whole_to = 0;
    }

    /// Whether a further message is to be made now.
    pub(super) const fn wants(&self) -> bool {
        self.made < self.total && self.portion.len() < AHEAD_BYTES
    }

    /// The index of the next message to be made, and the place for its encoded bytes.
    pub(super) const fn next_message(&mut self) -> (u64, &mut Vec<u8>) {
        (self.made, &mut self.portion)
    }

    /// Counts a message as made.
    pub(super) const fn note_made(&mut self) {
        self.made += 1;
    }

    /// The bytes that the stream is to take next, and whether the request ends with them; `None`
    /// after its end.
    #[inline]
    pub(super) fn next_bytes<'a>(&'a self, fixed: Option<&'a [u8]>) -> Option<(&'a [u8], bool)> {
        let body = fixed.unwrap_or(&self.portion);
        (!self.ended).then(|| (&body[self.taken..], self.made >= self.total))
    }

    /// Notes that the stream has taken `count` bytes more of the fixed body, or of the current
    /// portion where there is none. Gives the number of messages that were completed by them.
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
    /// prefixes (five bytes each, as gRPC frames them).
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

    /// Ends the request if all messages are made; `false` where further ones follow.
    #[inline]
    pub(super) const fn ends_now(&mut self) -> bool {
        self.ended = self.made >= self.total;
        self.ended
    }

    /// Sends no further message than those that are made.
    pub(super) const fn stop(&mut self) {
        self.total = self.made;
    }

    /// Ends the request at once: the server takes no more of it.
    pub(super) const fn refuse(&mut self) {
        self.ended = true;
    }

    /// Whether nothing waits to be taken, and the request goes on.
    pub(super) const fn is_idle(&self) -> bool {
        !self.ended && self.portion.is_empty()
    }

    /// The number of messages that the call sends at most; `None` before it has begun.
    #[inline]
    pub(super) const fn total(&self) -> Option<u64> {
        match self.total {
            UNKNOWN => None,
            total => Some(total),
        }
    }
}

/// The number of messages that lie whole in `body` between `from`, where one begins, and `end`; and
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
