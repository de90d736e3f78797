//! A reader of complete bytes, as simple as the RFC's text; without compression.

use crate::seen::{LIMIT, Seen};
use drumfire_websocket::{CloseCode, Kind, Violation};

/// A message in fragments: its kind, its bytes, its frames.
type Fragments = Option<(Kind, Vec<u8>, u32)>;

/// What the next bytes are.
enum Next {
    Event(Seen),
    Fragment,
    /// A frame that is not complete.
    Nothing,
}

/// Everything in these bytes, which may end within a frame.
pub(crate) fn read(mut bytes: &[u8], keep: usize) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut fragments: Fragments = None;
    while !bytes.is_empty() {
        match next(&mut bytes, &mut fragments, keep) {
            Ok(Next::Nothing) => break,
            Ok(Next::Fragment) => {}
            Ok(Next::Event(event)) => {
                let is_last = matches!(event, Seen::Close(..));
                seen.push(event);
                if is_last {
                    break;
                }
            }
            Err(violation) => {
                seen.push(Seen::Violation(violation));
                break;
            }
        }
    }
    seen
}

/// A frame: its first byte, and the length that it declares.
struct Frame<'a> {
    first: u8,
    length: u64,
    /// The part of the payload that is there.
    payload: &'a [u8],
}

impl Frame<'_> {
    fn opcode(&self) -> u8 {
        self.first & 0x0f
    }

    fn is_final(&self) -> bool {
        self.first & 0x80 != 0
    }

    fn is_whole(&self) -> bool {
        self.payload.len() as u64 == self.length
    }
}

/// The first frame of the bytes, which are shortened; `None` if its header is not complete.
fn frame<'a>(bytes: &mut &'a [u8], is_within: bool) -> Result<Option<Frame<'a>>, Violation> {
    let first = bytes[0];
    let opcode = first & 0x0f;
    if first & 0x30 != 0 {
        return Err(Violation::ReservedBit);
    }
    if matches!(opcode, 3..=7 | 11..=15) {
        return Err(Violation::Opcode(opcode));
    }
    if first & 0x40 != 0 {
        return Err(Violation::ReservedBit);
    }
    if opcode >= 8 && first & 0x80 == 0 {
        return Err(Violation::ControlFragmented);
    }
    if opcode == 0 && !is_within {
        return Err(Violation::Continuation);
    }
    if (1..8).contains(&opcode) && is_within {
        return Err(Violation::Interrupted);
    }
    let Some(&second) = bytes.get(1) else {
        return Ok(None);
    };
    if second >= 0x80 {
        return Err(Violation::Masked);
    }
    if opcode >= 8 && second > 125 {
        return Err(Violation::ControlTooLong);
    }
    let extended = match second {
        126 => 2,
        127 => 8,
        _ => 0,
    };
    let Some(field) = bytes.get(2..2 + extended) else {
        return Ok(None);
    };
    let length = match extended {
        0 => u64::from(second),
        _ => field
            .iter()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
    };
    if length >= 1 << 63 {
        return Err(Violation::Length);
    }
    let rest = &bytes[2 + extended..];
    let (payload, rest) = rest.split_at(length.min(rest.len() as u64) as usize);
    *bytes = rest;
    Ok(Some(Frame {
        first,
        length,
        payload,
    }))
}

/// The next event; [`Next::Fragment`] for a frame that ends no message.
fn next(bytes: &mut &[u8], fragments: &mut Fragments, keep: usize) -> Result<Next, Violation> {
    let Some(frame) = frame(bytes, fragments.is_some())? else {
        return Ok(Next::Nothing);
    };
    if frame.opcode() >= 8 {
        return match frame.is_whole() {
            true => control(frame.opcode(), frame.payload).map(Next::Event),
            false => Ok(Next::Nothing),
        };
    }
    let (kind, mut message, frames) = fragments.take().unwrap_or_else(|| {
        let kind = match frame.opcode() {
            1 => Kind::Text,
            _ => Kind::Binary,
        };
        (kind, Vec::new(), 0)
    });
    if message.len() as u64 + frame.length > LIMIT {
        return Err(Violation::MessageTooLong);
    }
    message.extend_from_slice(frame.payload);
    if kind == Kind::Text {
        match std::str::from_utf8(&message) {
            Err(error) if error.error_len().is_some() => return Err(Violation::Text),
            Err(_) if frame.is_whole() && frame.is_final() => return Err(Violation::Text),
            _ => {}
        }
    }
    if !frame.is_whole() {
        return Ok(Next::Nothing);
    }
    if !frame.is_final() {
        *fragments = Some((kind, message, frames + 1));
        return Ok(Next::Fragment);
    }
    let length = message.len() as u64;
    message.truncate(keep);
    let message = Seen::Message(kind, message, length, length, frames + 1);
    Ok(Next::Event(message))
}

fn control(opcode: u8, payload: &[u8]) -> Result<Seen, Violation> {
    match (opcode, payload) {
        (9, _) => Ok(Seen::Ping(payload.to_vec())),
        (10, _) => Ok(Seen::Pong(payload.to_vec())),
        (_, []) => Ok(Seen::Close(None, String::new())),
        (_, [_]) => Err(Violation::CloseLength),
        (_, [high, low, reason @ ..]) => {
            let code = u16::from_be_bytes([*high, *low]);
            if !CloseCode(code).may_be_sent() {
                return Err(Violation::CloseCode(code));
            }
            let reason = String::from_utf8(reason.to_vec()).map_err(|_| Violation::CloseReason)?;
            Ok(Seen::Close(Some(code), reason))
        }
    }
}
