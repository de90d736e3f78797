//! The streams of a connection, in a slab that is indexed by a stream's id.
//!
//! A stream's slot is its id modulo the number of slots, so that a frame finds its stream by one
//! comparison. If the next id's slot is occupied, the id is skipped: ids only have to increase (RFC
//! 9113 section 5.1.1). The slab has half as many slots again as open streams, so few ids are
//! skipped.
//!
//! A slot stores how its last stream was closed: this determines whether a late frame is ignored,
//! or is an error (section 5.1). If another stream has occupied the slot since then, `reset_max`
//! decides for all ids below it, in the peer's favour.
//!
//! A stream exists from `insert` to `close`. In between its two sides end in either order:
//! `LOCAL_ENDED` when the request's last byte was accepted, `REMOTE_ENDED` when the response ended
//! first; the second of them closes the stream. Memory is freed or allocated only when the slab
//! grows.

use crate::frame::MAX_31;
use crate::response::Role;
use crate::{ErrorCode, StreamError};
use std::num::TryFromIntError;

/// A stream's index in the slab.
pub(crate) type Index = usize;

/// The initial number of slots of the slab.
const SLOTS_MIN: usize = 4;
/// An unknown length of a body.
pub(crate) const UNKNOWN: u64 = u64::MAX;
/// The length of a body that the response must not have: its request was HEAD, or its status is 204
/// or 304 (RFC 9110 section 6.4.1).
const FORBIDDEN: u64 = u64::MAX - 1;

/// One stream, or the remains of the last stream in its slot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stream {
    /// The stream's id; 0 in a slot that was never used.
    pub(crate) id: u32,
    pub(crate) token: u32,
    /// Bytes that we may send; negative after the server has made its windows smaller.
    pub(crate) send_window: i32,
    /// Bytes that the server may send.
    pub(crate) receive_window: i32,
    /// Bytes of the body that are still to come, or [`UNKNOWN`].
    pub(crate) body_remaining: u64,
    /// Total bytes of the body, if the remaining ones are known.
    body_length: u64,
    /// Interim responses so far.
    pub(crate) interim: u32,
    flags: u16,
}

const _: () = assert!(
    size_of::<Stream>() <= 40,
    "a hundred streams take a page of memory"
);

/// One flag of a stream's state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flag(u16);

/// The slot is occupied by an open stream.
const OPEN: Flag = Flag(0x01);
/// Our request has ended.
pub(crate) const LOCAL_ENDED: Flag = Flag(0x02);
/// The response has ended, but our request has not.
pub(crate) const REMOTE_ENDED: Flag = Flag(0x04);
/// The final head has come.
pub(crate) const HEAD_SEEN: Flag = Flag(0x08);
/// The response has no body: the request was HEAD.
pub(crate) const BODILESS: Flag = Flag(0x10);
/// Not all given bytes of the request's body were accepted; the caller waits.
pub(crate) const BLOCKED: Flag = Flag(0x20);
/// Closed by our reset: further frames of the server are ignored.
const RESET: Flag = Flag(0x40);
/// Closed by the server's reset.
const RESET_BY_PEER: Flag = Flag(0x80);
/// The request was a CONNECT: after a 2xx response the stream is a tunnel.
pub(crate) const TUNNEL: Flag = Flag(0x100);

impl Stream {
    #[inline]
    pub(crate) const fn is(&self, flag: Flag) -> bool {
        self.flags & flag.0 != 0
    }

    /// Whether the request has ended, no part of a final response has come, and that response may
    /// have a body.
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

    /// Whether a response with this status has no content, regardless of its fields (RFC 9110
    /// section 6.4.1).
    #[inline]
    pub(crate) const fn has_no_body(&self, status: u16) -> bool {
        self.is(BODILESS) || matches!(status, 204 | 304)
    }

    /// The length of the body of a response with this status, or [`UNKNOWN`]. In a 2xx response to
    /// CONNECT, a declared length has no meaning (RFC 9110 section 9.3.6).
    #[inline]
    pub(crate) const fn declared_length(&self, status: u16, content_length: Option<u64>) -> u64 {
        match content_length {
            Some(_) if self.is(TUNNEL) && matches!(status, 200..300) => UNKNOWN,
            Some(length) => length,
            None => UNKNOWN,
        }
    }

    /// Sets the length of the body that the head declares, or [`UNKNOWN`].
    #[inline]
    pub(crate) const fn expect_body(&mut self, length: u64) {
        self.body_length = length;
        self.body_remaining = length;
    }

    /// Forbids a body, regardless of the length that the head declares.
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

    /// The error of a response that ends while this many bytes of its body are still to come.
    #[cold]
    const fn truncated(&self, remaining: u64) -> StreamError {
        StreamError::Truncated {
            received: self.body_length.saturating_sub(remaining),
            declared: self.body_length,
        }
    }

    /// Subtracts a DATA frame of `frame` bytes, of which `length` are data, from the window and
    /// from the length that the head declares.
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

/// How a stream was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamClosing {
    /// Both sides have ended the stream.
    Ended,
    /// We have reset the stream.
    Reset,
    /// The server has reset the stream.
    ResetByPeer,
}

/// The meaning of a stream id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamLookup {
    /// The stream was never opened (RFC 9113 section 5.1, "idle").
    Idle,
    Open(Index),
    /// We have reset the stream, or may have: frames may still come and have no meaning.
    Ignored,
    /// Both sides have ended the stream, or the id was skipped: no frame may come.
    Ended,
    /// The server has reset the stream: no frame may come.
    ResetByPeer,
}

/// All streams of a connection.
#[derive(Debug)]
pub(crate) struct Streams {
    /// The slots; their number is a power of two, or 0.
    slots: Vec<Stream>,
    open: u32,
    /// How many of the streams are [`BLOCKED`].
    blocked: u32,
    /// The id to try next; above 2³¹ − 1 if no ids are left.
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

    /// The open streams.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Stream> {
        self.slots.iter().filter(|stream| stream.is(OPEN))
    }

    /// Increases the send window of each open stream by `change` bytes, which may be negative.
    ///
    /// # Errors
    /// If a window would exceed 2³¹ − 1.
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

    /// The index of an open stream.
    #[inline]
    pub(crate) fn find(&self, id: u32) -> Option<Index> {
        let index = self.slot(id);
        let stream = self.slots.get(index)?;
        (stream.id == id && stream.is(OPEN)).then_some(index)
    }

    /// The meaning of an id in a frame of the server.
    #[inline]
    pub(crate) fn lookup(&self, id: u32) -> StreamLookup {
        match self.find(id) {
            Some(index) => StreamLookup::Open(index),
            None => self.lookup_closed(id),
        }
    }

    #[cold]
    fn lookup_closed(&self, id: u32) -> StreamLookup {
        // Even ids belong to the server, which must not open streams.
        if id.is_multiple_of(2) || id >= self.next_id {
            return StreamLookup::Idle;
        }
        match self.slots.get(self.slot(id)) {
            Some(last) if last.id == id && last.is(RESET) => StreamLookup::Ignored,
            Some(last) if last.id == id && last.is(RESET_BY_PEER) => StreamLookup::ResetByPeer,
            Some(last) if last.id == id => StreamLookup::Ended,
            _ if id <= self.reset_max => StreamLookup::Ignored,
            _ => StreamLookup::Ended,
        }
    }

    /// For how many streams the remaining ids suffice, at least 1 unless no ids are left.
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
        // Near the end, ids whose slots are occupied do not count.
        (0..left.min(self.slots.len() as u32))
            .filter(|ahead| !self.slots[self.slot(self.next_id + 2 * ahead)].is(OPEN))
            .count() as u32
    }

    /// Opens a stream; `None` if no ids are left.
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

    /// Doubles the slab. Ids that differ modulo its size also differ modulo twice its size.
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
    pub(crate) fn end_response(&mut self, index: Index) -> Result<(), StreamError> {
        let stream = &self.slots[index];
        let remaining = stream.body_remaining;
        if remaining != 0 && remaining != UNKNOWN {
            return Err(stream.truncated(remaining));
        }
        self.end_complete(index);
        Ok(())
    }

    /// Ends the response, whose body is complete; closes the stream if the request has ended, too.
    #[inline]
    pub(crate) fn end_complete(&mut self, index: Index) {
        let stream = &mut self.slots[index];
        if stream.is(LOCAL_ENDED) {
            self.close(index, StreamClosing::Ended);
        } else {
            stream.set(REMOTE_ENDED);
        }
    }

    /// Closes an open stream.
    #[inline]
    pub(crate) fn close(&mut self, index: Index, closing: StreamClosing) {
        let stream = &mut self.slots[index];
        self.blocked -= u32::from(stream.is(BLOCKED));
        debug_assert!(stream.is(OPEN), "a stream is closed once");
        stream.flags = match closing {
            StreamClosing::Ended => 0,
            StreamClosing::Reset => RESET.0,
            StreamClosing::ResetByPeer => RESET_BY_PEER.0,
        };
        if closing == StreamClosing::Reset {
            self.reset_max = self.reset_max.max(stream.id);
        }
        self.open -= 1;
    }

    /// Notes that the caller waits until it can continue to send.
    pub(crate) fn block(&mut self, index: Index) {
        let stream = &mut self.slots[index];
        self.blocked += u32::from(!stream.is(BLOCKED));
        stream.set(BLOCKED);
    }

    /// Notes that the caller no longer waits.
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
    use super::{StreamClosing, StreamLookup, Streams};
    use crate::frame::MAX_31;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn ids_follow_each_other_while_streams_end_in_order() {
        let mut streams = Streams::new(1);
        for expected in (1..2001).step_by(2) {
            let index = streams.insert(0).expect("ids");
            assert_eq!(streams.get(index).id, expected);
            streams.close(index, StreamClosing::Ended);
        }
        assert_eq!(streams.slots(), super::SLOTS_MIN);
    }

    #[test]
    fn the_last_ids_are_used_and_no_more() {
        let mut streams = Streams::new(MAX_31 - 20);
        let mut opened = 0;
        while streams.ids_left() > 0 {
            let index = streams.insert(0).expect("promised");
            streams.close(index, StreamClosing::Ended);
            opened += 1;
        }
        assert_eq!(opened, 11);
        assert_eq!(streams.insert(0), None);
        assert_eq!(streams.lookup(MAX_31), StreamLookup::Ended);
    }

    #[test]
    fn long_streams_take_few_ids_from_the_others() {
        let mut streams = Streams::new(1);
        for token in 0..100 {
            streams.insert(token).expect("ids");
        }
        for _ in 0..1000 {
            let index = streams.insert(0).expect("ids");
            streams.close(index, StreamClosing::Ended);
        }
        assert!(streams.next_id < 2 * 3000 + 200, "{}", streams.next_id);
    }

    #[derive(Clone, Debug)]
    enum Do {
        Open,
        Close(prop::sample::Index, StreamClosing),
    }

    fn step() -> impl Strategy<Value = Do> {
        let closing = prop_oneof![
            Just(StreamClosing::Ended),
            Just(StreamClosing::Reset),
            Just(StreamClosing::ResetByPeer)
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
                    // No frame on a stream that we have reset may count as a mistake of the server.
                    prop_assert!(*closing != StreamClosing::Reset || lookup == StreamLookup::Ignored);
                    prop_assert!(!matches!(lookup, StreamLookup::Open(_) | StreamLookup::Idle));
                }
            }
        }
    }
}
