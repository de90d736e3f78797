//! Requests: opening streams and sending bodies, within the server's limits.
//!
//! Four limits apply to bodies: the stream's window, the connection's window, the server's maximum
//! payload, and a queue of 256 KiB, which prevents fast callers from filling the memory with
//! unwritten bytes. If not all of a caller's bytes were accepted, it waits for
//! [`Event::Writable`](crate::Event::Writable), and does not try earlier.

use super::found::Found;
use super::settings::{OVERFLOW, Peer, SETTING_BYTES, WINDOW_DEFAULT};
use super::shared::Shared;
use super::waiting::{QUEUE_BYTES, Waiting};
use crate::frame::{FrameHeader, flag, kind, number_31, number_32, setting};
use crate::hpack::{self, Encoder};
use crate::streams::{
    BLOCKED, BODILESS, Index, LOCAL_ENDED, REMOTE_ENDED, StreamClosing, StreamLookup, TUNNEL,
};
use crate::{EndStream, Error, ErrorCode, Head, OpenError, StreamError, StreamGone, StreamRef};

/// The maximum payload of DATA that we send, even if the peer accepts more, because other streams
/// wait for it.
const PAYLOAD_BYTES: u32 = 64 * 1024;

/// The sending side: the server's limits, the state of its table, and the connection's window.
///
/// Opens streams once [`SendingSide::is_ready`]. A stream whose upload stops at a window or at the
/// queue's limit is marked in the slab; frames that enlarge a window, and written output, make
/// [`SendingSide::next_writable`] find it.
#[derive(Debug)]
pub(super) struct SendingSide {
    encoder: Encoder,
    peer: Peer,
    /// Bytes of DATA that we may send.
    window: i32,
    waiting: Waiting,
}

impl SendingSide {
    pub(super) fn new() -> Self {
        Self {
            encoder: Encoder::new(),
            peer: Peer::default(),
            window: WINDOW_DEFAULT as i32,
            waiting: Waiting::default(),
        }
    }

    /// Whether the server's first SETTINGS have arrived.
    #[inline]
    pub(super) const fn is_ready(&self) -> bool {
        self.peer.ready
    }

    /// The server's SETTINGS_MAX_CONCURRENT_STREAMS; `None` before it has sent one.
    #[inline]
    pub(super) const fn streams_max(&self) -> Option<u32> {
        self.peer.streams_max
    }

    /// The server's SETTINGS_MAX_HEADER_LIST_SIZE; the largest number before it has sent one.
    #[inline]
    pub(super) const fn header_list_max(&self) -> u32 {
        self.peer.header_list_max
    }

    /// Whether the server has announced SETTINGS_ENABLE_CONNECT_PROTOCOL.
    #[inline]
    pub(super) const fn connects_by_protocol(&self) -> bool {
        self.peer.connects_by_protocol
    }

    /// Whether [`SendingSide::next_writable`] may return a stream.
    #[inline]
    pub(super) const fn is_due(&self) -> bool {
        self.waiting.is_due()
    }

    /// Opens a stream; there must be room for it.
    #[inline]
    pub(super) fn open(
        &mut self,
        shared: &mut Shared,
        token: u32,
        head: &Head,
        extra: &[(&[u8], &[u8])],
        end: EndStream,
    ) -> Result<StreamRef, OpenError> {
        let index = shared.streams.insert(token).ok_or(OpenError::Spent)?;
        let stream = shared.streams.get_mut(index);
        stream.send_window = self.peer.window as i32;
        stream.receive_window = shared.settings.stream_window as i32;
        if end == EndStream::Yes {
            stream.set(LOCAL_ENDED);
        }
        if head.bodiless || extra.contains(&(b":method", b"HEAD")) {
            stream.set(BODILESS);
        }
        if head.is_tunnel {
            stream.set(TUNNEL);
        }
        let id = stream.id;
        let encoder = &mut self.encoder;
        shared
            .output
            .header_block(id, end, self.peer.payload_max, |out| {
                encoder.start_block(out);
                let pseudo = |field: &&(&[u8], &[u8])| field.0.first() == Some(&b':');
                let count = extra.iter().take_while(pseudo).count();
                for (name, value) in &extra[..count] {
                    hpack::write_extra(out, name, value);
                }
                encoder.encode(head.prepared(), out);
                for (name, value) in &extra[count..] {
                    hpack::write_extra(out, name, value);
                }
            });
        shared.progress();
        Ok(StreamRef(id))
    }

    /// Sends as much of a request's body as the windows and the limit of queued output allow, and
    /// returns the number of bytes.
    pub(super) fn send_data(
        &mut self,
        shared: &mut Shared,
        stream: StreamRef,
        bytes: &[u8],
        end: EndStream,
    ) -> Result<usize, StreamGone> {
        let index = shared.streams.find(stream.0).ok_or(StreamGone)?;
        if shared.streams.get(index).is(LOCAL_ENDED) {
            return Err(StreamGone);
        }
        if bytes.is_empty() && end == EndStream::No {
            return Ok(0);
        }
        let mut taken = 0;
        loop {
            let rest = &bytes[taken..];
            let length = rest.len().min(self.room(shared, index));
            let last = length == rest.len();
            if length == 0 && !rest.is_empty() {
                break;
            }
            let ends = last && end == EndStream::Yes;
            let flags = if ends { flag::END_STREAM } else { 0 };
            shared
                .output
                .frame(kind::DATA, flags, stream.0, &rest[..length]);
            self.window -= length as i32;
            shared.streams.get_mut(index).send_window -= length as i32;
            taken += length;
            shared.progress();
            if last {
                finish(shared, index, end);
                return Ok(taken);
            }
        }
        shared.streams.block(index);
        Ok(taken)
    }

    /// The number of bytes that one DATA frame can contain now.
    fn room(&mut self, shared: &Shared, index: Index) -> usize {
        let queue = QUEUE_BYTES.saturating_sub(shared.output.len());
        if queue == 0 {
            self.waiting.queue_full();
        }
        let window = self.window.min(shared.streams.get(index).send_window);
        let payload = self.peer.payload_max.min(PAYLOAD_BYTES);
        queue.min(payload as usize).min(window.max(0) as usize)
    }

    /// Notes that some output was written.
    #[inline]
    pub(super) const fn output_sent(&mut self, shared: &Shared) {
        self.waiting.output_sent(&shared.output, &shared.streams);
    }

    /// The next waiting stream that can continue to send.
    pub(super) fn next_writable(&mut self, shared: &mut Shared) -> Option<Found> {
        self.waiting
            .next(&mut shared.streams, &shared.output, self.window)
    }

    /// Reads the server's SETTINGS, or its acknowledgement of ours (section 6.5).
    pub(super) fn settings_frame(
        &mut self,
        shared: &mut Shared,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Found>, Error> {
        if header.stream != 0 {
            return Err(Error::protocol("SETTINGS on a stream"));
        }
        let ack = header.has(flag::ACK);
        if !payload.len().is_multiple_of(SETTING_BYTES) || ack && !payload.is_empty() {
            return Err(Error::violation(
                ErrorCode::FRAME_SIZE_ERROR,
                "SETTINGS with a wrong size",
            ));
        }
        shared.idle()?;
        if ack {
            return Ok(None);
        }
        let streams_max = self.peer.streams_max;
        for entry in payload.as_chunks::<SETTING_BYTES>().0 {
            let identifier = u16::from_be_bytes([entry[0], entry[1]]);
            self.setting(shared, identifier, number_32(&entry[2..]))?;
        }
        shared.output.reply(kind::SETTINGS, flag::ACK, 0, &[]);
        if !self.peer.ready {
            self.peer.ready = true;
            return Ok(Some(Found::Ready));
        }
        Ok((streams_max != self.peer.streams_max).then_some(Found::Capacity))
    }

    /// Applies one setting. A smaller window may leave streams with a negative one (section 6.9.2):
    /// they send nothing until updates have filled it.
    fn setting(&mut self, shared: &mut Shared, identifier: u16, value: u32) -> Result<(), Error> {
        match identifier {
            setting::HEADER_TABLE_SIZE => self.encoder.resize(value),
            setting::INITIAL_WINDOW_SIZE => {
                let change = self.peer.set_window(value)?;
                shared.streams.widen(change).map_err(|_| OVERFLOW)?;
                self.waiting.windows_grown(&shared.streams);
            }
            _ => self.peer.set(identifier, value)?,
        }
        Ok(())
    }

    /// Reads WINDOW_UPDATE (section 6.9).
    pub(super) fn window_update(
        &mut self,
        shared: &mut Shared,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Found>, Error> {
        if payload.len() != 4 {
            return Err(Error::violation(
                ErrorCode::FRAME_SIZE_ERROR,
                "WINDOW_UPDATE with a wrong size",
            ));
        }
        shared.idle()?;
        let increment = number_31(payload) as i32;
        if header.stream == 0 {
            return self.widen(shared, increment).map(|()| None);
        }
        let index = match shared.streams.lookup(header.stream) {
            StreamLookup::Open(index) => index,
            StreamLookup::Idle => return Err(Error::protocol("WINDOW_UPDATE on an idle stream")),
            _ => return Ok(None),
        };
        if increment == 0 {
            return Ok(shared.fail(index, StreamError::malformed("WINDOW_UPDATE by 0")));
        }
        let stream = shared.streams.get_mut(index);
        match stream.send_window.checked_add(increment) {
            Some(window) => stream.send_window = window,
            None => {
                let error = StreamError::Violation {
                    code: ErrorCode::FLOW_CONTROL_ERROR,
                    what: "WINDOW_UPDATE too large",
                };
                return Ok(shared.fail(index, error));
            }
        }
        let waits = stream.is(BLOCKED) && stream.send_window > 0 && self.window > 0;
        if !waits {
            return Ok(None);
        }
        if shared.output.len() >= QUEUE_BYTES {
            self.waiting.queue_full();
            return Ok(None);
        }
        let token = stream.token;
        shared.streams.unblock(index);
        Ok(Some(Found::Writable { token }))
    }

    /// Enlarges the connection's window.
    fn widen(&mut self, shared: &Shared, increment: i32) -> Result<(), Error> {
        if increment == 0 {
            return Err(Error::protocol("WINDOW_UPDATE by 0"));
        }
        let window = self.window.checked_add(increment);
        self.window = window.ok_or(Error::violation(
            ErrorCode::FLOW_CONTROL_ERROR,
            "WINDOW_UPDATE too large",
        ))?;
        self.waiting.windows_grown(&shared.streams);
        Ok(())
    }
}

/// Ends the request if all given bytes are accepted and nothing follows.
fn finish(shared: &mut Shared, index: Index, end: EndStream) {
    shared.streams.unblock(index);
    if end == EndStream::No {
        return;
    }
    let stream = shared.streams.get_mut(index);
    stream.set(LOCAL_ENDED);
    if stream.is(REMOTE_ENDED) {
        shared.streams.close(index, StreamClosing::Ended);
    }
}
