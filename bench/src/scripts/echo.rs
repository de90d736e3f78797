//! The server's side of a WebSocket that repeats messages (RFC 6455), with what it received.

use drumfire_websocket::Key;
use std::io::{Error, Read, Result, Write};

/// The longest message.
const MESSAGE_MAX: u64 = 16 << 20;

/// The answer to a handshake, given the value of `Sec-WebSocket-Key`.
///
/// # Errors
/// If the key is not that of 16 bytes in base64.
pub(super) fn answer(key: &str) -> Result<Vec<u8>> {
    let bytes = decode(key).ok_or_else(|| Error::other("no key of a WebSocket"))?;
    let accept = Key::new(bytes).accept();
    let mut answer = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
        .to_vec();
    answer.extend_from_slice(&accept);
    answer.extend_from_slice(b"\r\n\r\n");
    Ok(answer)
}

/// The 16 bytes of a key.
fn decode(key: &str) -> Option<[u8; 16]> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for letter in key.trim_end_matches('=').bytes() {
        bits = bits << 6 | u32::from(value(letter)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes.try_into().ok()
}

/// Repeats messages until the client closes. Each frame that is received is given to `record`.
///
/// # Errors
/// If the connection fails, or a frame is not as a client sends it.
pub(super) fn repeat(
    reader: &mut impl Read,
    writer: &mut impl Write,
    record: &mut dyn FnMut(&str, &[u8]),
) -> Result<()> {
    loop {
        let mut head = [0; 2];
        reader.read_exact(&mut head)?;
        let length = match head[1] & 0x7f {
            126 => {
                let mut bytes = [0; 2];
                reader.read_exact(&mut bytes)?;
                u64::from(u16::from_be_bytes(bytes))
            }
            127 => {
                let mut bytes = [0; 8];
                reader.read_exact(&mut bytes)?;
                u64::from_be_bytes(bytes)
            }
            short => u64::from(short),
        };
        if head[1] & 0x80 == 0 || length > MESSAGE_MAX {
            return Err(Error::other("a frame is not masked, or is too long"));
        }
        let mut mask = [0; 4];
        reader.read_exact(&mut mask)?;
        let mut payload = vec![0; usize::try_from(length).unwrap_or(0)];
        reader.read_exact(&mut payload)?;
        for (byte, mask) in payload.iter_mut().zip(mask.iter().cycle()) {
            *byte ^= mask;
        }
        let (name, opcode) = match head[0] & 0x0f {
            1 => ("text", 1),
            2 => ("binary", 2),
            8 => ("close", 8),
            9 => ("ping", 10),
            _ => return Err(Error::other("an unexpected frame")),
        };
        record(name, &payload);
        let mut frame = vec![0x80 | opcode];
        match payload.len() {
            short @ 0..126 => frame.push(short as u8),
            middle @ 126..65_536 => {
                frame.push(126);
                frame.extend_from_slice(&(middle as u16).to_be_bytes());
            }
            long => {
                frame.push(127);
                frame.extend_from_slice(&(long as u64).to_be_bytes());
            }
        }
        frame.extend_from_slice(&payload);
        writer.write_all(&frame)?;
        if opcode == 8 {
            return Ok(());
        }
    }
}
