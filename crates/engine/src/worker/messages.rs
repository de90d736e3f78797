//! The messages that calls send, counted: those that went out whole, and those that never did.

use super::Worker;
use crate::place::{Place, Talk};
use crate::prepare::{Request, message_count};
use drumfire_grpc::framed_length;
use drumfire_net::Io;

impl<I: Io> Worker<I> {
    /// So many messages of a place's call have gone. As with all else, the warm-up's are left out.
    #[inline]
    pub(super) fn count_messages_sent(&mut self, index: u32, count: u64) {
        if count > 0 && self.places[index as usize].exchange.intended >= self.measure_from {
            self.recorder.interval().messages.sent += count;
        }
    }

    /// A place's call ends: what it had still meant to send will never be.
    #[inline]
    pub(super) fn count_messages_unsent(&mut self, index: u32) {
        let place = &self.places[index as usize];
        let request = &self.prepared.requests[place.exchange.request as usize];
        let Some(stream) = request.stream.as_deref() else {
            return;
        };
        let Some(call) = &stream.call else {
            return;
        };
        let all_sent = match call.fixed {
            Some(_) => place.told as usize == stream.body.len(),
            None => {
                let talk = place.talk.as_deref();
                talk.is_some_and(|talk| talk.counted == talk.total)
            }
        };
        if !all_sent && place.exchange.intended >= self.measure_from {
            let unsent = self.messages_left(index);
            self.recorder.interval().messages.record_unsent(unsent);
        }
    }

    /// How many messages a place's call has left. None where nobody knows how many it would have
    /// sent.
    #[cold]
    fn messages_left(&self, index: u32) -> u64 {
        let place = &self.places[index as usize];
        let request = &self.prepared.requests[place.exchange.request as usize];
        let Some(stream) = request.stream.as_deref() else {
            return 0;
        };
        let Some(call) = &stream.call else {
            return 0;
        };
        if call.plan.has_open_end() {
            return 0;
        }
        if call.fixed.is_some() {
            return whole_messages(&stream.body, place.told as usize, stream.body.len()).0;
        }
        let talk = place.talk.as_deref();
        let counted = talk.map_or(0, |talk| talk.counted);
        let planned = match talk {
            Some(talk) if talk.total != Talk::UNKNOWN => talk.total,
            _ => message_count(&call.plan, &self.context(index)),
        };
        planned.saturating_sub(counted)
    }
}

impl Place {
    /// The stream has taken some of a body that was encoded before the run: how many messages of
    /// it have gone whole that had not before.
    #[inline]
    pub(super) fn note_body_sent(&mut self, request: &Request) -> u64 {
        let Some(stream) = request.stream.as_deref() else {
            return 0;
        };
        let Some(messages) = stream.call.as_ref().and_then(|call| call.fixed) else {
            return 0;
        };
        if self.told == 0 && self.exchange.unwritten == 0 {
            self.told = stream.body.len() as u32;
            return messages;
        }
        self.note_part_sent(&stream.body)
    }

    #[cold]
    fn note_part_sent(&mut self, body: &[u8]) -> u64 {
        let taken = body.len() - self.exchange.unwritten as usize;
        let (count, told) = whole_messages(body, self.told as usize, taken);
        self.told = told as u32;
        count
    }
}

impl Talk {
    /// The stream has taken some of what is made: how many messages have gone whole that are not
    /// counted yet.
    pub(super) fn note_sent(&mut self) -> u64 {
        if self.taken == self.body.len() {
            self.sent = self.made;
        } else {
            let (count, told) = whole_messages(&self.body, self.told, self.taken);
            self.sent += count;
            self.told = told;
        }
        let went = self.sent.saturating_sub(self.counted);
        self.counted += went;
        went
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
