//! Frames in the form in which a server writes and reads them (RFC 9113 section 4.1).

/// DATA.
pub(crate) const DATA: u8 = 0;
/// HEADERS.
pub(crate) const HEADERS: u8 = 1;
/// RST_STREAM.
pub(crate) const RST_STREAM: u8 = 3;
/// SETTINGS.
pub(crate) const SETTINGS: u8 = 4;
/// PING.
pub(crate) const PING: u8 = 6;
/// GOAWAY.
pub(crate) const GOAWAY: u8 = 7;
/// WINDOW_UPDATE.
pub(crate) const WINDOW_UPDATE: u8 = 8;
/// CONTINUATION.
pub(crate) const CONTINUATION: u8 = 9;

/// END_STREAM, and ACK of SETTINGS and PING.
pub(crate) const END_STREAM: u8 = 1;
/// END_HEADERS.
pub(crate) const END_HEADERS: u8 = 4;
/// The payload begins with a length of padding.
pub(crate) const PADDED: u8 = 8;
/// The payload has a priority.
pub(crate) const PRIORITY: u8 = 0x20;

/// REFUSED_STREAM.
pub(crate) const REFUSED_STREAM: u32 = 7;

/// The client's connection preface (section 3.4).
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The largest payload that is allowed without a setting.
pub(crate) const PAYLOAD_MAX: usize = 16_384;

const HEADER: usize = 9;

/// A whole frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: &'a [u8],
}

/// The frame at the start of `bytes`, and its length; `None` if it is incomplete.
pub(crate) fn read(bytes: &[u8]) -> Option<(Frame<'_>, usize)> {
    let head = bytes.get(..HEADER)?;
    let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
    let payload = bytes.get(HEADER..HEADER + length)?;
    let frame = Frame {
        kind: head[3],
        flags: head[4],
        stream: number(&head[5..]) & 0x7fff_ffff,
        payload,
    };
    Some((frame, HEADER + length))
}

/// The first four bytes as a number; 0 if there are fewer.
pub(crate) fn number(bytes: &[u8]) -> u32 {
    bytes
        .first_chunk()
        .map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

/// The content of a payload, without padding and priority.
pub(crate) fn content<'a>(frame: &Frame<'a>) -> &'a [u8] {
    let mut payload = frame.payload;
    if frame.flags & PADDED != 0 {
        let padding = usize::from(payload[0]);
        payload = &payload[1..payload.len() - padding];
    }
    if frame.kind == HEADERS && frame.flags & PRIORITY != 0 {
        payload = &payload[5..];
    }
    payload
}

/// Appends a frame.
pub(crate) fn write(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

/// Appends a field to a header block: a never-indexed literal without Huffman coding.
pub(crate) fn write_field(block: &mut Vec<u8>, name: &str, value: &str) {
    block.push(0);
    for text in [name, value] {
        write_length(block, text.len());
        block.extend_from_slice(text.as_bytes());
    }
}

/// An integer with a prefix of seven bits (RFC 7541 section 5.1).
fn write_length(block: &mut Vec<u8>, length: usize) {
    if length < 127 {
        return block.push(length as u8);
    }
    block.push(127);
    let mut rest = length - 127;
    while rest >= 128 {
        block.push((rest % 128) as u8 | 0x80);
        rest /= 128;
    }
    block.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_http2::hpack::Decoder;

    #[test]
    fn a_frame_is_read_as_it_was_written_once_it_is_whole() {
        let mut bytes = Vec::new();
        write(&mut bytes, DATA, END_STREAM, 7, b"hello");
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).is_none());
        }
        let (frame, length) = read(&bytes).expect("it is whole");
        assert_eq!(length, 14);
        assert_eq!(
            (frame.kind, frame.flags, frame.stream),
            (DATA, END_STREAM, 7)
        );
        assert_eq!(content(&frame), b"hello");
    }

    #[test]
    fn fields_of_any_length_are_read_back() {
        for length in [0, 1, 126, 127, 128, 255, 5000] {
            let mut block = Vec::new();
            write_field(&mut block, "name", &"x".repeat(length));
            let mut seen = 0;
            let decoded = Decoder::new(4096).decode(&block, |name, value| {
                assert_eq!(name, b"name");
                seen = value.len();
            });
            assert!(decoded.is_ok());
            assert_eq!(seen, length);
        }
    }
}
