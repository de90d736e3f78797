//! Frames to read, and what a reader finds in them. The fuzz targets use this file, too.

use drumfire_websocket::{
    Agreed, Deflate, Event, Kind, Limits, Notices, Reader, Shared, Takeover, Violation, WindowBits,
};

/// An event, or the end of reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// A message: kind, kept bytes, length, length as sent, frames.
    Message(Kind, Vec<u8>, u64, u64, u32),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<u16>, String),
    Violation(Violation),
}

/// The limit of messages in these tests.
pub(crate) const LIMIT: u64 = 1 << 20;

/// A frame of a server.
pub(crate) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        length @ 0..=125 => bytes.push(length as u8),
        length @ 126..=0xffff => {
            bytes.push(126);
            bytes.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            bytes.push(127);
            bytes.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    bytes.extend_from_slice(payload);
    bytes
}

/// A compression in which both sides keep their context, with the largest windows.
pub(crate) const DEFLATE: Agreed = Agreed {
    protocol: None,
    deflate: Some(Deflate {
        server_takeover: Takeover::Yes,
        client_takeover: Takeover::Yes,
        server_window_bits: WindowBits::MAX,
        client_window_bits: WindowBits::MAX,
    }),
};

/// Everything that a new reader finds in these pieces, and its notices. The first `keep` bytes of
/// each message are kept.
pub(crate) fn read<'a>(
    agreed: &Agreed,
    keep: usize,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Seen>, Notices) {
    let mut reader = Reader::new(agreed, keep);
    let mut shared = Shared::new(Limits {
        message_bytes: LIMIT,
    });
    let mut seen = Vec::new();
    for piece in pieces {
        if let Err(violation) = feed(&mut reader, &mut shared, piece, &mut seen) {
            let again = reader.handle_input(piece, &mut shared);
            assert_eq!(again.err(), Some(violation), "the first violation stays");
            seen.push(Seen::Violation(violation));
            break;
        }
    }
    (seen, reader.take_notices())
}

/// Passes a piece to a reader, and records the events.
pub(crate) fn feed(
    reader: &mut Reader,
    shared: &mut Shared,
    mut input: &[u8],
    seen: &mut Vec<Seen>,
) -> Result<(), Violation> {
    loop {
        let before = reader.messages();
        let step = reader.handle_input(input, shared)?;
        input = &input[step.consumed..];
        let event = match step.event {
            Event::NeedInput => {
                assert!(input.is_empty(), "all is consumed");
                return Ok(());
            }
            Event::Message(message) => Seen::Message(
                message.kind,
                message.payload.to_vec(),
                message.length,
                message.length_sent,
                message.frames,
            ),
            Event::Ping(payload) => Seen::Ping(payload.to_vec()),
            Event::Pong(payload) => Seen::Pong(payload.to_vec()),
            Event::Close(close) => {
                Seen::Close(close.code.map(|code| code.0), close.reason.to_owned())
            }
        };
        let is_message = matches!(event, Seen::Message(..));
        assert_eq!(reader.messages(), before + u64::from(is_message));
        seen.push(event);
    }
}
