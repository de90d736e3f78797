//! One connection's outgoing side: messages and control frames to bytes.

use crate::deflate::{Deflater, Failed};
use crate::frame::{self, opcode};
use crate::offer::Agreed;
use crate::shared::Shared;
use crate::{CloseCode, Kind, Takeover, WindowBits};
use std::fmt;
use std::num::NonZeroUsize;

pub use crate::frame::frame_bytes;

/// A message to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing<'a> {
    /// A text or other bytes. The bytes of a text must be UTF-8, which only the caller can ensure.
    pub kind: Kind,
    /// The message.
    pub payload: &'a [u8],
    /// The maximum payload of a frame; `None` sends the message in one frame.
    pub fragment_bytes: Option<NonZeroUsize>,
}

impl<'a> Outgoing<'a> {
    /// A message in one frame.
    #[must_use]
    pub const fn new(kind: Kind, payload: &'a [u8]) -> Self {
        Self {
            kind,
            payload,
            fragment_bytes: None,
        }
    }
}

/// The payload of a control frame has more than 125 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the payload of a ping, pong or close has at most 125 bytes")
    }
}

impl std::error::Error for TooLong {}

/// Encodes the frames of one client, masked (RFC 6455 section 5.3).
///
/// A mask must be random and new for each frame. It protects intermediaries from chosen bytes, so a
/// client that sends only its own plan's bytes needs no cryptographic generator.
#[derive(Debug)]
pub struct Writer {
    /// The compressor of a connection that keeps its context, from the first message on.
    own: Option<Box<Deflater>>,
    compression: Option<Compression>,
    compress_min: u32,
}

const _: () = assert!(
    size_of::<Writer>() <= 16,
    "a worker may have many thousands"
);

#[derive(Clone, Copy, Debug)]
struct Compression {
    window_bits: WindowBits,
    takeover: Takeover,
}

impl Writer {
    /// A writer of the bytes after the handshake.
    #[must_use]
    pub fn new(agreed: &Agreed) -> Self {
        Self {
            own: None,
            compression: agreed.deflate.map(|deflate| Compression {
                window_bits: deflate.client_window_bits,
                takeover: deflate.client_takeover,
            }),
            compress_min: 0,
        }
    }

    /// Compresses only messages with at least `bytes` bytes; 0 by default. An empty message is never
    /// compressed.
    pub fn set_compress_min(&mut self, bytes: usize) {
        self.compress_min = u32::try_from(bytes).unwrap_or(u32::MAX);
    }

    /// Appends a message. `mask` returns the mask of each frame. The message is compressed if that
    /// was agreed on; its frames are then those of the compressed bytes.
    pub fn message(
        &mut self,
        out: &mut Vec<u8>,
        message: Outgoing<'_>,
        mask: &mut dyn FnMut() -> u32,
        shared: &mut Shared,
    ) {
        let first = match message.kind {
            Kind::Text => opcode::TEXT,
            Kind::Binary => opcode::BINARY,
        };
        if self.compress(message.payload, shared).is_ok() {
            let packed = Outgoing {
                payload: &shared.packed,
                ..message
            };
            write_frames(out, first | frame::RSV1, packed, mask);
            shared.shrink();
        } else {
            write_frames(out, first, message, mask);
        }
    }

    /// Compresses a message into `shared.packed`, unless it is to be sent as it is.
    fn compress(&mut self, payload: &[u8], shared: &mut Shared) -> Result<(), Failed> {
        let compression = self.compression.ok_or(Failed)?;
        if payload.is_empty() || payload.len() < self.compress_min as usize {
            return Err(Failed);
        }
        let bits = compression.window_bits;
        match compression.takeover {
            Takeover::No => {
                let (deflater, out) = shared.deflater(bits).ok_or(Failed)?;
                deflater.restart();
                deflater.message(payload, out)
            }
            Takeover::Yes => {
                if Deflater::window_index(bits).is_none() {
                    return Err(Failed);
                }
                let own = &mut self.own;
                let deflater = own.get_or_insert_with(|| Box::new(Deflater::new(bits)));
                let packed = deflater.message(payload, &mut shared.packed);
                // A new context is valid at any time.
                packed.inspect_err(|Failed| *own = None)
            }
        }
    }

    /// Appends a ping.
    ///
    /// # Errors
    /// [`TooLong`]; nothing is appended then.
    pub fn ping(out: &mut Vec<u8>, payload: &[u8], mask: u32) -> Result<(), TooLong> {
        write_control(out, opcode::PING, payload, mask)
    }

    /// Appends a pong, which answers a ping with the same payload.
    ///
    /// # Errors
    /// [`TooLong`]; nothing is appended then.
    pub fn pong(out: &mut Vec<u8>, payload: &[u8], mask: u32) -> Result<(), TooLong> {
        write_control(out, opcode::PONG, payload, mask)
    }

    /// Appends a close frame. Without a code, the frame is empty and the reason is not sent.
    ///
    /// # Errors
    /// [`TooLong`] if the reason has more than 123 bytes; nothing is appended then.
    pub fn close(
        out: &mut Vec<u8>,
        code: Option<CloseCode>,
        reason: &str,
        mask: u32,
    ) -> Result<(), TooLong> {
        let Some(code) = code else {
            return write_control(out, opcode::CLOSE, &[], mask);
        };
        let mut payload = [0; frame::CONTROL_BYTES];
        let (head, room) = payload.split_at_mut(size_of::<u16>());
        head.copy_from_slice(&code.0.to_be_bytes());
        let room = room.get_mut(..reason.len()).ok_or(TooLong)?;
        room.copy_from_slice(reason.as_bytes());
        let length = size_of::<u16>() + reason.len();
        write_control(out, opcode::CLOSE, &payload[..length], mask)
    }
}

fn write_control(out: &mut Vec<u8>, opcode: u8, payload: &[u8], mask: u32) -> Result<(), TooLong> {
    if payload.len() > frame::CONTROL_BYTES {
        return Err(TooLong);
    }
    frame::write(out, frame::FIN | opcode, payload, mask);
    Ok(())
}

/// Appends the frames of a message, whose first one has these bits (RFC 6455 section 5.4).
fn write_frames(
    out: &mut Vec<u8>,
    mut first: u8,
    message: Outgoing<'_>,
    mask: &mut dyn FnMut() -> u32,
) {
    let mut rest = message.payload;
    let max = message.fragment_bytes.map_or(usize::MAX, NonZeroUsize::get);
    while rest.len() > max {
        let (fragment, after) = rest.split_at(max);
        frame::write(out, first, fragment, mask());
        (first, rest) = (opcode::CONTINUATION, after);
    }
    frame::write(out, frame::FIN | first, rest, mask());
}
