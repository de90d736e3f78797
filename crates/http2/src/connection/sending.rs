//! Requests: opening streams and sending bodies.

use super::{Connection, due};
use crate::frame::{flag, kind};
use crate::streams::{BODILESS, Closing, Index, LOCAL_ENDED, REMOTE_ENDED};
use crate::{EndStream, Head, OpenError, StreamGone, StreamRef, hpack};

/// Largest payload of DATA that we send, even if the peer accepts more: other streams wait for it.
const PAYLOAD_BYTES: u32 = 64 * 1024;

impl Connection {
    /// Opens a stream with the fields of `head` and with those of `extra`, which belong to this
    /// request alone and are not indexed. They must be such as [`Head::new`] accepts;
    /// pseudo-fields come first among them, and are sent before those of `head`. `token` comes
    /// back in every event of the stream.
    ///
    /// A request with a body goes on with [`Connection::send_data`]. When its response is over
    /// first, the stream stays open until the request ends or is given up with
    /// [`Connection::reset`].
    ///
    /// # Errors
    /// When [`Connection::capacity`] is 0.
    #[inline]
    pub fn open(
        &mut self,
        token: u32,
        head: &Head,
        extra: &[(&[u8], &[u8])],
        end: EndStream,
    ) -> Result<StreamRef, OpenError> {
        if !self.has_room() {
            return Err(self.refusal());
        }
        let index = self.streams.insert(token).ok_or(OpenError::Spent)?;
        let stream = self.streams.get_mut(index);
        stream.send_window = self.peer.window as i32;
        stream.receive_window = self.settings.stream_window as i32;
        if end == EndStream::Yes {
            stream.set(LOCAL_ENDED);
        }
        if head.prepared.bodiless || extra.contains(&(b":method", b"HEAD")) {
            stream.set(BODILESS);
        }
        let id = stream.id;
        let encoder = &mut self.encoder;
        self.output
            .header_block(id, end, self.peer.payload_max, |out| {
                encoder.begin(out);
                let pseudo = |field: &&(&[u8], &[u8])| field.0.first() == Some(&b':');
                let count = extra.iter().take_while(pseudo).count();
                for (name, value) in &extra[..count] {
                    hpack::write_extra(out, name, value);
                }
                encoder.encode(head, out);
                for (name, value) in &extra[count..] {
                    hpack::write_extra(out, name, value);
                }
            });
        self.idle_frames = 0;
        Ok(StreamRef(id))
    }

    #[cold]
    fn refusal(&self) -> OpenError {
        if self.is_spent() {
            OpenError::Spent
        } else {
            OpenError::Full
        }
    }

    /// Sends of a request's body what windows and the bound on queued output allow, and returns the
    /// number of bytes. When it was less than all, [`crate::Event::Writable`] follows; until then
    /// the rest would not be taken. With [`EndStream::Yes`] the request ends once all bytes are
    /// taken; `bytes` may be empty.
    ///
    /// # Errors
    /// When the stream is closed or its request has ended: the rest is not wanted.
    pub fn send_data(
        &mut self,
        stream: StreamRef,
        bytes: &[u8],
        end: EndStream,
    ) -> Result<usize, StreamGone> {
        let index = self.streams.find(stream.0).ok_or(StreamGone)?;
        if self.failed || self.streams.get(index).is(LOCAL_ENDED) {
            return Err(StreamGone);
        }
        if bytes.is_empty() && end == EndStream::No {
            return Ok(0);
        }
        let mut taken = 0;
        loop {
            let rest = &bytes[taken..];
            let length = rest.len().min(self.room(index));
            let last = length == rest.len();
            if length == 0 && !rest.is_empty() {
                break;
            }
            let ends = last && end == EndStream::Yes;
            let flags = if ends { flag::END_STREAM } else { 0 };
            self.output
                .frame(kind::DATA, flags, stream.0, &rest[..length]);
            self.send_window -= length as i32;
            self.streams.get_mut(index).send_window -= length as i32;
            taken += length;
            self.idle_frames = 0;
            if last {
                self.finish_sending(index, end);
                return Ok(taken);
            }
        }
        self.streams.block(index);
        Ok(taken)
    }

    /// Bytes that one frame of DATA may hold now.
    fn room(&mut self, index: Index) -> usize {
        let queue = due::QUEUE_BYTES.saturating_sub(self.output.len());
        if queue == 0 {
            self.queue_full();
        }
        let window = self.send_window.min(self.streams.get(index).send_window);
        let payload = self.peer.payload_max.min(PAYLOAD_BYTES);
        queue.min(payload as usize).min(window.max(0) as usize)
    }

    /// All that was given is taken.
    fn finish_sending(&mut self, index: Index, end: EndStream) {
        self.streams.unblock(index);
        if end == EndStream::No {
            return;
        }
        let stream = self.streams.get_mut(index);
        stream.set(LOCAL_ENDED);
        if stream.is(REMOTE_ENDED) {
            self.streams.close(index, Closing::Ended);
        }
    }
}
