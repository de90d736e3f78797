//! The messages that a call sends: those that its stream has taken whole, and those that it never
//! will.

use super::Exchange;
use crate::prepare::{CallRequest, message_count};
use drumfire_grpc::framed_length;

/// A call's messages on their way out. Fixed ones are prepared as one body; others are made as the
/// call goes, a portion at a time.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// Messages that are made and not yet taken; empty where all are fixed.
    pub(super) made_bytes: Vec<u8>,
    /// How much of the fixed body, or of `made_bytes`, is taken.
    pub(super) taken: usize,
    /// Where in these the last message ends that is taken whole.
    whole_to: usize,
    /// How many messages are made, fixed ones included.
    pub(super) made: u64,
    /// How many this attempt has sent whole.
    sent: u64,
    /// How many are counted as sent: those of a call that is sent again are counted once.
    counted: u64,
    /// How many the call sends in all, at most; [`Outbox::UNKNOWN`] before it has begun.
    pub(super) total: u64,
    /// Whether the request has ended.
    pub(super) ended: bool,
}

impl Outbox {
    /// The number of messages of a call that has not begun.
    const UNKNOWN: u64 = u64::MAX;

    /// A new exchange uses it.
    #[inline]
    pub(super) const fn begin_exchange(&mut self) {
        self.counted = 0;
        self.total = Self::UNKNOWN;
    }

    /// Its call is sent, for the first time or again; `total` messages in all, of which `made` are
    /// made.
    #[inline]
    pub(super) fn begin(&mut self, total: u64, made: u64) {
        self.made_bytes.clear();
        self.start_portion();
        self.made = made;
        self.sent = 0;
        self.total = total;
        self.ended = false;
    }

    /// The current portion is taken; the next one begins.
    #[inline]
    pub(super) fn next_portion(&mut self) {
        self.made_bytes.clear();
        self.start_portion();
    }

    #[inline]
    const fn start_portion(&mut self) {
        self.taken = 0;
        self.whole_to = 0;
    }

    /// The stream has taken `count` bytes more of the fixed body, or of the current portion where
    /// there is none. Returns how many messages were completed by them.
    #[inline]
    pub(super) fn take(&mut self, count: usize, fixed: Option<&[u8]>) -> u64 {
        self.taken += count;
        let length = fixed.map_or(self.made_bytes.len(), <[u8]>::len);
        if self.taken == length {
            self.sent = self.made;
        } else {
            self.take_part(fixed);
        }
        let went = self.sent.saturating_sub(self.counted);
        self.counted += went;
        went
    }

    #[cold]
    fn take_part(&mut self, fixed: Option<&[u8]>) {
        let body = fixed.unwrap_or(&self.made_bytes);
        let (count, whole_to) = whole_messages(body, self.whole_to, self.taken);
        self.sent += count;
        self.whole_to = whole_to;
    }
}

impl Exchange {
    /// How many messages a call that ends has still meant to send; none where their number is
    /// unknown until its end.
    #[inline]
    pub(super) fn messages_unsent(&self, call: &CallRequest, seed: u64) -> u64 {
        match &self.call {
            Some(state) if state.outbox.counted == state.outbox.total => 0,
            _ => self.messages_left(call, seed),
        }
    }

    #[cold]
    fn messages_left(&self, call: &CallRequest, seed: u64) -> u64 {
        if call.plan.has_open_end() {
            return 0;
        }
        let outbox = self.call.as_ref().map(|state| &state.outbox);
        let counted = outbox.map_or(0, |outbox| outbox.counted);
        let planned = match (outbox, call.fixed) {
            (Some(outbox), _) if outbox.total != Outbox::UNKNOWN => outbox.total,
            (_, Some(fixed)) => fixed,
            (_, None) => message_count(&call.plan, &self.context(0, 0, seed)),
        };
        planned.saturating_sub(counted)
    }
}

/// How many messages lie whole in `body` between `from`, where one begins, and `end`; and where
/// the last of them ends.
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
