//! Frames on the wire (RFC 9113 sections 4 and 6).
//!
//! Parsing a header does not check whether its frame may come: the parts of
//! [`Connection`](crate::Connection) that know the streams do that. Types, flags and settings are
//! numbers and not enums, because a peer may send any number, and unknown ones must be ignored.

/// The length of a frame's header.
pub(crate) const HEADER_BYTES: usize = 9;
/// The maximum payload that we accept, which every peer must accept at least (section 4.2).
pub(crate) const PAYLOAD_BYTES_MAX: u32 = 16_384;
/// The largest window, and the largest stream id (sections 6.9.1 and 5.1.1).
pub(crate) const MAX_31: u32 = 0x7fff_ffff;

pub(crate) mod kind {
    //! Types of frames (section 6). Others must be ignored (section 5.5).
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const PRIORITY: u8 = 2;
    pub(crate) const RST_STREAM: u8 = 3;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const PUSH_PROMISE: u8 = 5;
    pub(crate) const PING: u8 = 6;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const WINDOW_UPDATE: u8 = 8;
    pub(crate) const CONTINUATION: u8 = 9;
}

pub(crate) mod flag {
    //! Flags of frames; the type determines which of them apply.
    pub(crate) const ACK: u8 = 0x1;
    pub(crate) const END_STREAM: u8 = 0x1;
    pub(crate) const END_HEADERS: u8 = 0x4;
    pub(crate) const PADDED: u8 = 0x8;
    pub(crate) const PRIORITY: u8 = 0x20;
}

pub(crate) mod setting {
    //! Identifiers of settings (section 6.5.2, RFC 8441 section 3).
    pub(crate) const HEADER_TABLE_SIZE: u16 = 1;
    pub(crate) const ENABLE_PUSH: u16 = 2;
    pub(crate) const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;
    pub(crate) const MAX_FRAME_SIZE: u16 = 5;
    pub(crate) const MAX_HEADER_LIST_SIZE: u16 = 6;
    pub(crate) const ENABLE_CONNECT_PROTOCOL: u16 = 8;
}

/// A frame's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    /// The length of its payload, below 2²⁴.
    pub(crate) length: u32,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    /// The stream's id, without the reserved bit.
    pub(crate) stream: u32,
}

impl FrameHeader {
    #[inline]
    pub(crate) const fn parse(bytes: &[u8; HEADER_BYTES]) -> Self {
        let [a, b, c, kind, flags, w, x, y, z] = *bytes;
        Self {
            length: u32::from_be_bytes([0, a, b, c]),
            kind,
            flags,
            stream: u32::from_be_bytes([w, x, y, z]) & MAX_31,
        }
    }

    #[inline]
    pub(crate) const fn bytes(self) -> [u8; HEADER_BYTES] {
        let [_, a, b, c] = self.length.to_be_bytes();
        let [w, x, y, z] = self.stream.to_be_bytes();
        [a, b, c, self.kind, self.flags, w, x, y, z]
    }

    #[inline]
    pub(crate) const fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// A frame that the input contains completely, and the input after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) header: FrameHeader,
    pub(crate) payload: &'a [u8],
    pub(crate) rest: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The frame at the input's start; `None` if it is longer than the input, or than allowed.
    #[inline(always)]
    pub(crate) fn first(input: &'a [u8]) -> Option<Self> {
        let (header, rest) = input.split_first_chunk()?;
        let header = FrameHeader::parse(header);
        if header.length > PAYLOAD_BYTES_MAX {
            return None;
        }
        let (payload, rest) = rest.split_at_checked(header.length as usize)?;
        Some(Self {
            header,
            payload,
            rest,
        })
    }

    /// Whether the frame is of this kind with exactly these flags.
    #[inline(always)]
    pub(crate) const fn is(&self, kind: u8, flags: u8) -> bool {
        self.header.kind == kind && self.header.flags == flags
    }
}

/// The 32-bit number at the start of `bytes`, without its highest bit; 0 if `bytes` is shorter.
pub(crate) fn number_31(bytes: &[u8]) -> u32 {
    number_32(bytes) & MAX_31
}

/// The 32-bit number at the start of `bytes`; 0 if `bytes` is shorter.
pub(crate) fn number_32(bytes: &[u8]) -> u32 {
    bytes
        .first_chunk()
        .map_or(0, |four| u32::from_be_bytes(*four))
}

#[cfg(test)]
mod tests {
    use super::FrameHeader;

    #[test]
    fn headers_are_written_as_they_are_read() {
        let bytes = [1, 2, 3, 4, 5, 0x7f, 0xff, 0xff, 0xfe];
        let header = FrameHeader::parse(&bytes);
        assert_eq!((header.length, header.stream), (0x01_0203, 0x7fff_fffe));
        assert_eq!(header.bytes(), bytes);
        let reserved = [1, 2, 3, 4, 5, 0xff, 0xff, 0xff, 0xfe];
        assert_eq!(
            FrameHeader::parse(&reserved),
            header,
            "the reserved bit is ignored"
        );
    }
}
