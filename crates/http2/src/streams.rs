//! The streams of a connection, in a slab that a stream's id points into.
//!
//! A stream's slot is its id modulo the number of slots, so that a frame finds its stream by one
//! comparison. Where the next id's slot is taken, the id is left out: ids need only grow (RFC 9113
//! section 5.1.1). The slab has half as many slots again as streams are open, so few are.
//!
//! A slot keeps the last stream that it had, for its way of closing: by that, a late frame is
//! ignored, or is an error (section 5.1). Where another stream has taken the slot since,
//! `reset_max` answers for all ids below it, in the peer's favour.
//!
//! A stream goes from `insert` to `close`. In between its two sides end in either order:
//! `LOCAL_ENDED` when the request's last byte was taken, `REMOTE_ENDED` when the response ended
//! first; it is closed with the second. Nothing is freed and nothing allocated but when the slab
//! grows.

use crate::frame::MAX_31;
use crate::response::Role;
use crate::{ErrorCode, StreamError};
use std::num::TryFromIntError;

/// A stream's place in the slab.
pub(crate) type Index = usize;

/// Slots that the slab begins with.
const SLOTS_MIN: usize = 4;
/// A body's length that is not known.
pub(crate) const UNKNOWN: u64 = u64::MAX;
/// The length of a body that the response must not have: its request was HEAD, or its status is 204
/// or 304 (RFC 9110 section 6.4.1).
const FORBIDDEN: u64 = u64::MAX - 1;

/// One stream, or the remains of the last one in its slot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stream {
    /// Its id; 0 in a slot that was never used.
    pub(crate) id: u32,
    pub(crate) token: u32,
    /// Bytes that we may send; negative after the server has made its windows smaller.
    pub(crate) send_window: i32,
    /// Bytes that the server may send.
    pub(crate) receive_window: i32,
    /// Bytes of the body to come, or [`UNKNOWN`].
    pub(crate) body_remaining: u64,
    /// Bytes of the body in all, where those to come are known.
    body_length: u64,
    /// Interim responses so far.
    pub(crate) interim: u32,
    flags: u8,
}

const _: () = assert!(
    size_of::<Stream>() <= 40,
    "a hundred streams take a page of memory"
);

/// The state of a stream, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flag(u8);

/// The slot is taken.
const OPEN: Flag = Flag(0x01);
/// Our request has ended.
pub(crate) const LOCAL_ENDED: Flag = Flag(0x02);
/// The response has ended, while our request goes on.
pub(crate) const REMOTE_ENDED: Flag = Flag(0x04);
/// The final head has come.
pub(crate) const HEAD_SEEN: Flag = Flag(0x08);
/// The response has no body: the request was HEAD.
pub(crate) const BODILESS: Flag = Flag(0x10);
/// Less of the body was taken than there is; the caller waits.
pub(crate) const BLOCKED: Flag = Flag(0x20);
/// Closed by our reset: further frames of the server are ignored.
const RESET: Flag = Flag(0x40);
/// Closed by the server's reset.
const RESET_BY_PEER: Flag = Flag(0x80);

impl Stream {
    #[inline]
    pub(crate) const fn is(&self, flag: Flag) -> bool {
        self.flags & flag.0 != 0
    }

    /// Whether the request has ended and nothing of a final response has come, which may have a
    /// body.
    #[inline]
    pub(crate) const fn awaits_head(&self) -> bool {
        self.flags == OPEN.0 | LOCAL_ENDED.0
    }

    #[inline]
    pub(crate) const fn set(&mut self, flag: Flag) {
        self.flags |= flag.0;
    }

    /// The role of the next header block.
    #[inline]
    pub(crate) const fn awaited(&self) -> Role {
        if self.is(HEAD_SEEN) {
            Role::Trailers
        } else {
            Role::Head
        }
    }

    /// Whether a response of this status has no content, regardless of its fields (RFC 9110 section
    /// 6.4.1).
    #[inline]
    pub(crate) const fn has_no_body(&self, status: u16) -> bool {
        self.is(BODILESS) || matches!(status, 204 | 304)
    }

    /// Sets the length of the body that the head declares, or [`UNKNOWN`].
    #[inline]
    pub(crate) const fn expect_body(&mut self, length: u64) {
        self.body_length = length;
        self.body_remaining = length;
    }

    /// Expects no body, whatever length the head declares.
    #[inline]
    pub(crate) const fn forbid_body(&mut self) {
        self.body_length = FORBIDDEN;
        self.body_remaining = 0;
    }

    /// The error of a response whose body is longer than its head allows.
    #[cold]
    const fn overlong(&self) -> StreamError {
        StreamError::malformed(match self.body_length {
            FORBIDDEN if self.is(BODILESS) => "a body in the response to HEAD",
            FORBIDDEN => "a body with a status that allows none",
            _ => "body longer than declared",
        })
    }

    /// The error of a response that ends while this many bytes of its body are to come.
    #[cold]
    const fn truncated(&self, remaining: u64) -> StreamError {
        StreamError::Truncated {
            received: self.body_length.saturating_sub(remaining),
            declared: self.body_length,
        }
    }

    /// Takes a frame of DATA of `frame` bytes, of which `length` are data, out of the window and
    /// out of the length that the head declares.
    #[inline]
    pub(crate) fn accept(&mut self, frame: u32, length: u32, end: bool) -> Result<(), StreamError> {
        if !self.is(HEAD_SEEN) {
            return Err(StreamError::malformed("DATA before HEADERS"));
        }
        if i64::from(frame) > i64::from(self.receive_window) {
            return Err(StreamError::Violation {
                code: ErrorCode::FLOW_CONTROL_ERROR,
                what: "more DATA than the stream's window",
            });
        }
        self.receive_window -= frame as i32;
        if self.body_remaining == UNKNOWN {
            return Ok(());
        }
        let Some(remaining) = self.body_remaining.checked_sub(u64::from(length)) else {
            return Err(self.overlong());
        };
        if end && remaining > 0 {
            return Err(self.truncated(remaining));
        }
        self.body_remaining = remaining;
        Ok(())
    }
}

/// The way in which a stream came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    /// Both sides have ended it.
    Ended,
    /// We have given it up.
    Reset,
    /// The server has.
    ResetByPeer,
}

/// The meaning of a stream id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// It was never opened (RFC 9113 section 5.1, "idle").
    Idle,
    Open(Index),
    /// We have reset it, or may have: frames may still come and mean nothing.
    Ignored,
    /// Both sides have ended it, or it was left out: no frame may come.
    Ended,
    /// The server has reset it: no frame may come.
    ResetByPeer,
}

/// All streams of a connection.
#[derive(Debug)]
pub(crate) struct Streams {
    /// As many as a power of two, or none.
    slots: Vec<Stream>,
    open: u32,
    /// The number of them that are [`BLOCKED`].
    blocked: u32,
    /// The id to try next; above 2³¹ − 1 when ids have run out.
    next_id: u32,
    /// The highest id that we have reset.
    reset_max: u32,
}

impl Streams {
    pub(crate) const fn new(first_id: u32) -> Self {
        Self {
            slots: Vec::new(),
            open: 0,
            blocked: 0,
            next_id: first_id | 1,
            reset_max: 0,
        }
    }

    #[inline]
    pub(crate) const fn open(&self) -> u32 {
        self.open
    }

    #[inline]
    pub(crate) const fn blocked(&self) -> u32 {
        self.blocked
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    pub(crate) fn get(&self, index: Index) -> &Stream {
        &self.slots[index]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: Index) -> &mut Stream {
        &mut self.slots[index]
    }

    /// The streams that are open.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Stream> {
        self.slots.iter().filter(|stream| stream.is(OPEN))
    }

    /// Widens the send window of each open stream by `change` bytes, or narrows it.
    ///
    /// # Errors
    /// When a window would pass 2³¹ − 1.
    pub(crate) fn widen(&mut self, change: i64) -> Result<(), TryFromIntError> {
        for stream in self.slots.iter_mut().filter(|stream| stream.is(OPEN)) {
            stream.send_window = i32::try_from(i64::from(stream.send_window) + change)?;
        }
        Ok(())
    }

    #[inline]
    const fn slot(&self, id: u32) -> Index {
        (id >> 1) as usize & self.slots.len().wrapping_sub(1)
    }

    /// The place of a stream that is open.
    #[inline]
    pub(crate) fn find(&self, id: u32) -> Option<Index> {
        let index = self.slot(id);
        let stream = self.slots.get(index)?;
        (stream.id == id && stream.is(OPEN)).then_some(index)
    }

    /// The meaning of an id in a frame of the server.
    #[inline]
    pub(crate) fn lookup(&self, id: u32) -> Lookup {
        match self.find(id) {
            Some(index) => Lookup::Open(index),
            None => self.lookup_closed(id),
        }
    }

    #[cold]
    fn lookup_closed(&self, id: u32) -> Lookup {
        // Even ids are the server's, which may open none.
        if id.is_multiple_of(2) || id >= self.next_id {
            return Lookup::Idle;
        }
        match self.slots.get(self.slot(id)) {
            Some(last) if last.id == id && last.is(RESET) => Lookup::Ignored,
            Some(last) if last.id == id && last.is(RESET_BY_PEER) => Lookup::ResetByPeer,
            Some(last) if last.id == id => Lookup::Ended,
            _ if id <= self.reset_max => Lookup::Ignored,
            _ => Lookup::Ended,
        }
    }

    /// The number of streams for which the remaining ids are good, at least 1 unless they have run
    /// out.
    #[inline]
    pub(crate) fn ids_left(&self) -> u32 {
        let left = (MAX_31 + 2).saturating_sub(self.next_id) / 2;
        if left as usize > 2 * self.slots.len() {
            left
        } else {
            self.last_ids_left(left)
        }
    }

    #[cold]
    fn last_ids_left(&self, left: u32) -> u32 {
        // Near the end those whose slots are taken do not count.
        (0..left.min(self.slots.len() as u32))
            .filter(|ahead| !self.slots[self.slot(self.next_id + 2 * ahead)].is(OPEN))
            .count() as u32
    }

    /// Opens a stream; `None` when ids have run out.
    #[inline]
    pub(crate) fn insert(&mut self, token: u32) -> Option<Index> {
        if (self.open as usize + 1) * 3 > self.slots.len() * 2 {
            self.grow();
        }
        let mut index = self.slot(self.next_id);
        while self.slots[index].is(OPEN) && self.next_id <= MAX_31 {
            self.next_id += 2;
            index = self.slot(self.next_id);
        }
        if self.next_id > MAX_31 {
            return None;
        }
        self.slots[index] = Stream {
            id: self.next_id,
            token,
            body_remaining: UNKNOWN,
            body_length: UNKNOWN,
            flags: OPEN.0,
            ..Stream::default()
        };
        self.next_id += 2;
        self.open += 1;
        Some(index)
    }

    /// Doubles the slab. Ids that differ modulo its size differ modulo twice that.
    #[cold]
    fn grow(&mut self) {
        let slots = (2 * self.slots.len()).max(SLOTS_MIN);
        let old = std::mem::replace(&mut self.slots, vec![Stream::default(); slots]);
        for stream in old.into_iter().filter(|stream| stream.id != 0) {
            let index = self.slot(stream.id);
            self.slots[index] = stream;
        }
    }

    /// Ends the response, if its length agrees with its Content-Length (RFC 9113 section 8.1.1).
    #[inline]
    pub(crate) fn end(&mut self, index: Index) -> Result<(), StreamError> {
        let stream = &self.slots[index];
        let remaining = stream.body_remaining;
        if remaining != 0 && remaining != UNKNOWN {
            return Err(stream.truncated(remaining));
        }
        self.end_complete(index);
        Ok(())
    }

    /// Ends the response, which has come with all of its body; the stream is closed if the request
    /// is over, too.
    #[inline]
    pub(crate) fn end_complete(&mut self, index: Index) {
        let stream = &mut self.slots[index];
        if stream.is(LOCAL_ENDED) {
            self.close(index, Closing::Ended);
        } else {
            stream.set(REMOTE_ENDED);
        }
    }

    /// Closes a stream that is open.
    #[inline]
    pub(crate) fn close(&mut self, index: Index, closing: Closing) {
        let stream = &mut self.slots[index];
        self.blocked -= u32::from(stream.is(BLOCKED));
        debug_assert!(stream.is(OPEN), "a stream is closed once");
        stream.flags = match closing {
            Closing::Ended => 0,
            Closing::Reset => RESET.0,
            Closing::ResetByPeer => RESET_BY_PEER.0,
        };
        if closing == Closing::Reset {
            self.reset_max = self.reset_max.max(stream.id);
        }
        self.open -= 1;
    }

    /// Notes that the caller waits until it can send on.
    pub(crate) fn block(&mut self, index: Index) {
        let stream = &mut self.slots[index];
        self.blocked += u32::from(!stream.is(BLOCKED));
        stream.set(BLOCKED);
    }

    /// Notes that the caller waits no longer.
    #[inline]
    pub(crate) fn unblock(&mut self, index: Index) {
        let stream = &mut self.slots[index];
        if stream.is(BLOCKED) {
            stream.flags &= !BLOCKED.0;
            self.blocked -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Closing, Lookup, Streams};
    use crate::frame::MAX_31;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn ids_follow_each_other_while_streams_end_in_order() {
        let mut streams = Streams::new(1);
        for expected in (1..2001).step_by(2) {
            let index = streams.insert(0).expect("ids");
            assert_eq!(streams.get(index).id, expected);
            streams.close(index, Closing::Ended);
        }
        assert_eq!(streams.slots(), super::SLOTS_MIN);
    }

    #[test]
    fn the_last_ids_are_used_and_no_more() {
        let mut streams = Streams::new(MAX_31 - 20);
        let mut opened = 0;
        while streams.ids_left() > 0 {
            let index = streams.insert(0).expect("promised");
            streams.close(index, Closing::Ended);
            opened += 1;
        }
        assert_eq!(opened, 11);
        assert_eq!(streams.insert(0), None);
        assert_eq!(streams.lookup(MAX_31), Lookup::Ended);
    }

    #[test]
    fn long_streams_take_few_ids_from_the_others() {
        let mut streams = Streams::new(1);
        for token in 0..100 {
            streams.insert(token).expect("ids");
        }
        for _ in 0..1000 {
            let index = streams.insert(0).expect("ids");
            streams.close(index, Closing::Ended);
        }
        assert!(streams.next_id < 2 * 3000 + 200, "{}", streams.next_id);
    }

    #[derive(Clone, Debug)]
    enum Do {
        Open,
        Close(prop::sample::Index, Closing),
    }

    fn step() -> impl Strategy<Value = Do> {
        let closing = prop_oneof![
            Just(Closing::Ended),
            Just(Closing::Reset),
            Just(Closing::ResetByPeer)
        ];
        prop_oneof![
            Just(Do::Open),
            (any::<prop::sample::Index>(), closing)
                .prop_map(|(index, closing)| Do::Close(index, closing)),
        ]
    }

    proptest! {
        /// Compared with a map from id to token.
        #[test]
        fn streams_are_found_by_their_ids(steps in prop::collection::vec(step(), 0..300)) {
            let (mut streams, mut model) = (Streams::new(1), BTreeMap::new());
            let mut closed = BTreeMap::new();
            for (token, step) in (0..).zip(steps) {
                match step {
                    Do::Open => {
                        let index = streams.insert(token).expect("ids");
                        model.insert(streams.get(index).id, token);
                    }
                    Do::Close(at, closing) if !model.is_empty() => {
                        let id = *at.get(&model.keys().copied().collect::<Vec<_>>());
                        model.remove(&id);
                        closed.insert(id, closing);
                        let index = streams.find(id).expect("open");
                        streams.close(index, closing);
                    }
                    Do::Close(..) => {}
                }
                prop_assert_eq!(streams.open() as usize, model.len());
                for (id, token) in &model {
                    let index = streams.find(*id).expect("open");
                    prop_assert_eq!(streams.get(index).token, *token);
                }
                for (id, closing) in &closed {
                    let lookup = streams.lookup(*id);
                    // Of a stream that we reset, nothing may ever be held against the server.
                    prop_assert!(*closing != Closing::Reset || lookup == Lookup::Ignored);
                    prop_assert!(!matches!(lookup, Lookup::Open(_) | Lookup::Idle));
                }
            }
        }
    }
}
