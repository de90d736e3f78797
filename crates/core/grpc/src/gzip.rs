//! gzip (RFC 1952) for complete messages.

use crate::scratch::{Failure, Scratch};
use flate2::{Compress, Compression, Crc, Decompress, FlushCompress, FlushDecompress, Status};

/// No name, no time, any system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// The length of the checksum and of the length modulo 2^32.
const TRAILER_BYTES: usize = 8;

/// Creates gzip members with a reusable state.
#[derive(Debug)]
pub(crate) struct GzipDeflater {
    stream: Compress,
}

impl GzipDeflater {
    pub(crate) fn new() -> Self {
        Self {
            stream: Compress::new(Compression::default(), false),
        }
    }

    /// Appends the message as one member.
    pub(crate) fn append(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        self.stream.reset();
        out.extend_from_slice(&HEADER);
        loop {
            // Data that deflate can't compress grow by a few bytes per 16 KiB.
            out.reserve(payload.len() / 8 + 64);
            let read = read_so_far(self.stream.total_in())?;
            let status = self
                .stream
                .compress_vec(&payload[read..], out, FlushCompress::Finish);
            match status {
                Ok(Status::StreamEnd) => break,
                Ok(_) => {}
                Err(_) => return Err(Failure::Invalid),
            }
        }
        let mut crc = Crc::new();
        crc.update(payload);
        out.extend_from_slice(&crc.sum().to_le_bytes());
        out.extend_from_slice(&crc.amount().to_le_bytes());
        Ok(())
    }
}

/// Decompresses gzip with a reusable state.
#[derive(Debug)]
pub(crate) struct GzipInflater {
    stream: Decompress,
}

impl GzipInflater {
    pub(crate) fn new() -> Self {
        Self {
            stream: Decompress::new(false),
        }
    }

    /// Decompresses one or more members.
    pub(crate) fn decompress(
        &mut self,
        mut coded: &[u8],
        out: &mut Scratch,
    ) -> Result<(), Failure> {
        loop {
            let body = coded.get(header_bytes(coded)?..).ok_or(Failure::Invalid)?;
            let start = out.bytes().len();
            let rest = &body[self.member(body, out)?..];
            let (trailer, rest) = rest
                .split_first_chunk::<TRAILER_BYTES>()
                .ok_or(Failure::Invalid)?;
            let mut crc = Crc::new();
            crc.update(&out.bytes()[start..]);
            if u64::from_le_bytes(*trailer) != u64::from(crc.amount()) << 32 | u64::from(crc.sum())
            {
                return Err(Failure::Invalid);
            }
            if rest.is_empty() {
                return Ok(());
            }
            coded = rest;
        }
    }

    /// Decompresses one member's body; returns its length.
    fn member(&mut self, body: &[u8], out: &mut Scratch) -> Result<usize, Failure> {
        self.stream.reset(false);
        loop {
            let read = read_so_far(self.stream.total_in())?;
            let written = self.stream.total_out();
            let status = self
                .stream
                .decompress(&body[read..], out.room()?, FlushDecompress::None)
                .map_err(|_| Failure::Invalid)?;
            let made = read_so_far(self.stream.total_out() - written)?;
            out.filled(made);
            let read_now = read_so_far(self.stream.total_in())?;
            if status == Status::StreamEnd {
                return Ok(read_now);
            }
            if made == 0 && read_now == read {
                return Err(Failure::Invalid);
            }
        }
    }
}

fn read_so_far(count: u64) -> Result<usize, Failure> {
    usize::try_from(count).map_err(|_| Failure::Invalid)
}

/// The length of a member's header (RFC 1952 section 2.3).
fn header_bytes(coded: &[u8]) -> Result<usize, Failure> {
    const FLAG_CRC: u8 = 2;
    const FLAG_EXTRA: u8 = 4;
    const FLAG_NAME: u8 = 8;
    const FLAG_COMMENT: u8 = 16;
    const FLAGS_RESERVED: u8 = 0xe0;
    let [0x1f, 0x8b, 8, flags, _, _, _, _, _, _, fields @ ..] = coded else {
        return Err(Failure::Invalid);
    };
    if flags & FLAGS_RESERVED != 0 {
        return Err(Failure::Invalid);
    }
    let mut rest = fields;
    if flags & FLAG_EXTRA != 0 {
        let (length, after) = rest.split_first_chunk().ok_or(Failure::Invalid)?;
        let length = usize::from(u16::from_le_bytes(*length));
        rest = after.get(length..).ok_or(Failure::Invalid)?;
    }
    for flag in [FLAG_NAME, FLAG_COMMENT] {
        if flags & flag != 0 {
            let end = rest.iter().position(|&byte| byte == 0);
            rest = &rest[end.ok_or(Failure::Invalid)? + 1..];
        }
    }
    if flags & FLAG_CRC != 0 {
        let so_far = coded.len() - rest.len();
        let (sum, after) = rest.split_first_chunk().ok_or(Failure::Invalid)?;
        let mut crc = Crc::new();
        crc.update(&coded[..so_far]);
        if u32::from(u16::from_le_bytes(*sum)) != crc.sum() & 0xffff {
            return Err(Failure::Invalid);
        }
        rest = after;
    }
    Ok(coded.len() - rest.len())
}
