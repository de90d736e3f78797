//! The header of a frame (RFC 6455 section 5.2).
//!
//! ```text
//!   FIN RSV1 RSV2 RSV3 opcode(4) │ MASK length(7) │ length(16 or 64) │ masking key(32)
//! ```

/// The last frame of a message.
pub(crate) const FIN: u8 = 0x80;
/// A compressed message (RFC 7692 section 6).
pub(crate) const RSV1: u8 = 0x40;
/// The bits without a meaning.
pub(crate) const RSV2_RSV3: u8 = 0x30;
/// The bits of the opcode.
pub(crate) const OPCODE: u8 = 0x0f;
/// Opcodes from this one on belong to control frames (section 5.5).
pub(crate) const CONTROL: u8 = 0x08;
/// The payload is masked.
pub(crate) const MASK: u8 = 0x80;
/// The maximum payload of a control frame (section 5.5).
pub(crate) const CONTROL_BYTES: usize = 125;
/// The maximum length of a server's header, which has no masking key.
pub(crate) const SERVER_HEADER_BYTES: usize = 10;
/// The length of the masking key.
const KEY_BYTES: usize = 4;
/// The lengths in the second byte that announce more bytes of length.
const LENGTH_16: u8 = 126;
const LENGTH_64: u8 = 127;

/// The opcodes (section 11.8).
pub(crate) mod opcode {
    pub(crate) const CONTINUATION: u8 = 0;
    pub(crate) const TEXT: u8 = 1;
    pub(crate) const BINARY: u8 = 2;
    pub(crate) const CLOSE: u8 = 8;
    pub(crate) const PING: u8 = 9;
    pub(crate) const PONG: u8 = 10;
}

/// The length of a server's header with this second byte.
pub(crate) const fn header_bytes(second: u8) -> usize {
    match second & !MASK {
        LENGTH_16 => 4,
        LENGTH_64 => SERVER_HEADER_BYTES,
        _ => 2,
    }
}

/// The payload's length in a complete header of a server.
#[inline]
pub(crate) const fn payload_length(header: &[u8; SERVER_HEADER_BYTES]) -> u64 {
    let [_, second, a, b, c, d, e, f, g, h] = *header;
    match second & !MASK {
        LENGTH_16 => u16::from_be_bytes([a, b]) as u64,
        LENGTH_64 => u64::from_be_bytes([a, b, c, d, e, f, g, h]),
        length => length as u64,
    }
}

/// Whether a length has this second byte in the shortest form.
pub(crate) const fn is_shortest(second: u8, length: u64) -> bool {
    match second & !MASK {
        LENGTH_16 => length >= LENGTH_16 as u64,
        LENGTH_64 => length > u16::MAX as u64,
        _ => true,
    }
}

/// The length of a client's frame with `payload` bytes.
#[must_use]
pub const fn frame_bytes(payload: usize) -> usize {
    let header = if payload < LENGTH_16 as usize {
        2
    } else if payload <= u16::MAX as usize {
        4
    } else {
        SERVER_HEADER_BYTES
    };
    header + KEY_BYTES + payload
}

/// Appends a client's frame, masked with the bytes of `mask`.
#[inline]
pub(crate) fn write(out: &mut Vec<u8>, first: u8, payload: &[u8], mask: u32) {
    out.reserve(frame_bytes(payload.len()));
    let length = payload.len() as u64;
    if length < u64::from(LENGTH_16) {
        out.extend_from_slice(&[first, MASK | length as u8]);
    } else if let Ok(length) = u16::try_from(length) {
        out.extend_from_slice(&[first, MASK | LENGTH_16]);
        out.extend_from_slice(&length.to_be_bytes());
    } else {
        out.extend_from_slice(&[first, MASK | LENGTH_64]);
        out.extend_from_slice(&length.to_be_bytes());
    }
    let key = mask.to_ne_bytes();
    out.extend_from_slice(&key);
    let start = out.len();
    out.extend_from_slice(payload);
    apply_mask(&mut out[start..], key);
}

/// Masks or unmasks bytes (section 5.3), eight at a time; the compiler makes SIMD of it.
#[inline]
fn apply_mask(bytes: &mut [u8], key: [u8; KEY_BYTES]) {
    let [a, b, c, d] = key;
    let word = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let (words, rest) = bytes.as_chunks_mut::<8>();
    for bytes in words {
        *bytes = (u64::from_ne_bytes(*bytes) ^ word).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(key.into_iter().cycle()) {
        *byte ^= key;
    }
}

#[cfg(test)]
mod tests {
    use super::{
        SERVER_HEADER_BYTES, frame_bytes, header_bytes, is_shortest, payload_length, write,
    };
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_frame_has_the_shortest_header_and_unmasks_to_its_payload(
            payload in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..300),
                proptest::collection::vec(any::<u8>(), 65_500..65_600),
            ],
            mask: u32,
        ) {
            let mut out = b"before".to_vec();
            write(&mut out, 0x82, &payload, mask);
            let frame = &out[6..];
            prop_assert_eq!(frame.len(), frame_bytes(payload.len()));
            prop_assert_eq!(frame[1] & 0x80, 0x80);
            let size = header_bytes(frame[1]);
            let mut header = [0; SERVER_HEADER_BYTES];
            header[..size].copy_from_slice(&frame[..size]);
            prop_assert_eq!(payload_length(&header), payload.len() as u64);
            prop_assert!(is_shortest(header[1], payload.len() as u64));
            let (key, masked) = frame[size..].split_at(4);
            prop_assert_eq!(key, mask.to_ne_bytes());
            let plain: Vec<u8> = (0..).zip(masked).map(|(at, byte)| byte ^ key[at % 4]).collect();
            prop_assert_eq!(plain, payload);
        }
    }
}
