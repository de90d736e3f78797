//! The frames of a log: each has a payload with its length, its kind and a checksum of all three.
//!
//! A log begins with [`MAGIC`]. A frame consists of the length of its payload in four bytes, its
//! kind in one byte, the CRC-32 of these five bytes and the payload in four bytes, and the payload.
//! Numbers are little-endian. A frame is either complete or ignored, so every prefix of a log is a
//! log.

use std::io::{self, Read};

/// The first bytes of a log; the last one is the version of its format.
pub(crate) const MAGIC: [u8; 8] = *b"drumlog\x01";

/// The maximum length of a payload in bytes: an interval of 10,000 steps needs a tenth of it.
pub const PAYLOAD_BYTES_MAX: u32 = 256 << 20;

/// The number of bytes before a payload.
const HEADER_BYTES: usize = 9;

/// The number of bytes of a payload that are read at a time, so that a false length does not
/// allocate more memory than the file's size.
const PIECE_BYTES: usize = 1 << 20;

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) payload: Vec<u8>,
}

/// The place at which a log ends prematurely: inside a frame, or before damaged bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Break {
    /// The number of valid bytes before the break.
    pub at: u64,
    /// The kind of break.
    pub kind: BreakKind,
}

/// How a log ends prematurely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakKind {
    /// The file ends inside a frame, as after a program was killed while it wrote.
    Torn,
    /// The bytes differ from the written ones.
    Damaged,
}

fn checksum(head: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(head);
    hasher.update(payload);
    hasher.finalize()
}

/// The length of a frame whose payload has this length, in bytes.
pub(crate) const fn bytes(payload_bytes: usize) -> u64 {
    (HEADER_BYTES + payload_bytes) as u64
}

/// The bytes of a frame; `None` if the payload is too long.
pub(crate) fn encode(kind: u8, payload: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(payload.len()).ok();
    let length = length.filter(|length| *length <= PAYLOAD_BYTES_MAX)?;
    let mut out = Vec::with_capacity(HEADER_BYTES + payload.len());
    out.extend_from_slice(&length.to_le_bytes());
    out.push(kind);
    let checksum = checksum(&out, payload);
    out.extend_from_slice(&checksum.to_le_bytes());
    out.extend_from_slice(payload);
    Some(out)
}

/// The valid frames of a log, from its beginning.
pub(crate) struct Frames<R> {
    input: R,
    /// The number of valid bytes that were read.
    whole: u64,
    end: Option<Break>,
    is_over: bool,
}

impl<R: Read> Frames<R> {
    /// The frames after [`MAGIC`], which must come first. `None` if the input is not a log.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub(crate) fn open(mut input: R) -> io::Result<Option<Self>> {
        let mut magic = [0; MAGIC.len()];
        let length = fill(&mut input, &mut magic)?;
        if magic[..length] != MAGIC[..length] {
            return Ok(None);
        }
        let mut frames = Self {
            input,
            whole: 0,
            end: None,
            is_over: false,
        };
        match length == MAGIC.len() {
            true => frames.whole = MAGIC.len() as u64,
            false => frames.stop(BreakKind::Torn),
        }
        Ok(Some(frames))
    }

    /// The frames after the first `whole` bytes of a log, which were read before; the input is at
    /// that position.
    pub(crate) const fn go_on(input: R, whole: u64) -> Self {
        Self {
            input,
            whole,
            end: None,
            is_over: false,
        }
    }

    /// The input, at any position after the read frames.
    pub(crate) fn into_input(self) -> R {
        self.input
    }

    /// The next valid frame; `None` at the end, or at a break.
    pub(crate) fn next(&mut self) -> io::Result<Option<Frame>> {
        if self.is_over {
            return Ok(None);
        }
        let mut header = [0; HEADER_BYTES];
        match fill(&mut self.input, &mut header)? {
            0 => {
                self.is_over = true;
                return Ok(None);
            }
            HEADER_BYTES => {}
            _ => {
                self.stop(BreakKind::Torn);
                return Ok(None);
            }
        }
        let (head, sum) = header.split_at(HEADER_BYTES - 4);
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        if length > PAYLOAD_BYTES_MAX {
            self.stop(BreakKind::Damaged);
            return Ok(None);
        }
        let Some(payload) = self.payload(length as usize)? else {
            self.stop(BreakKind::Torn);
            return Ok(None);
        };
        if checksum(head, &payload).to_le_bytes() != *sum {
            self.stop(BreakKind::Damaged);
            return Ok(None);
        }
        self.whole += (HEADER_BYTES + payload.len()) as u64;
        let kind = head[4];
        Ok(Some(Frame { kind, payload }))
    }

    /// A payload of this length, if the input has as many bytes.
    fn payload(&mut self, length: usize) -> io::Result<Option<Vec<u8>>> {
        let mut payload = Vec::new();
        while payload.len() < length {
            let start = payload.len();
            let piece = (length - start).min(PIECE_BYTES);
            payload.resize(start + piece, 0);
            if fill(&mut self.input, &mut payload[start..])? < piece {
                return Ok(None);
            }
        }
        Ok(Some(payload))
    }

    /// Ends the log before its last frame, whose content is invalid.
    pub(crate) fn refuse(&mut self, last: &Frame) {
        self.whole -= (HEADER_BYTES + last.payload.len()) as u64;
        self.stop(BreakKind::Damaged);
    }

    fn stop(&mut self, kind: BreakKind) {
        self.is_over = true;
        let at = self.whole;
        self.end = Some(Break { at, kind });
    }

    /// The break of the log, once there are no more frames.
    pub(crate) fn broken(&self) -> Option<Break> {
        self.end
    }

    /// The number of valid bytes so far.
    pub(crate) fn whole(&self) -> u64 {
        self.whole
    }
}

/// Reads until the buffer is full or the input ends. Returns the number of bytes.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of three frames, and the end of each prefix of complete frames.
    fn log() -> (Vec<u8>, Vec<usize>) {
        let mut log = MAGIC.to_vec();
        let mut ends = vec![log.len()];
        for (kind, payload) in [(1, &b"facts"[..]), (2, b""), (7, &[0; 300])] {
            log.extend(encode(kind, payload).unwrap());
            ends.push(log.len());
        }
        (log, ends)
    }

    fn read(bytes: &[u8]) -> (Vec<Frame>, Option<Break>) {
        let mut frames = Frames::open(bytes).unwrap().unwrap();
        let mut all = Vec::new();
        while let Some(frame) = frames.next().unwrap() {
            all.push(frame);
        }
        (all, frames.broken())
    }

    #[test]
    fn every_prefix_is_a_log() {
        let (log, ends) = log();
        let (all, broken) = read(&log);
        assert_eq!((all.len(), broken), (3, None));
        for end in 0..log.len() {
            let (some, broken) = read(&log[..end]);
            let whole = ends.iter().filter(|at| **at <= end).count();
            assert_eq!(some[..], all[..whole.saturating_sub(1)], "cut at {end}");
            let at = ends[..whole].last().copied().unwrap_or(0);
            let torn = Break {
                at: at as u64,
                kind: BreakKind::Torn,
            };
            assert_eq!(
                broken,
                (at != end || end == 0).then_some(torn),
                "cut at {end}"
            );
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let (log, ends) = log();
        let (all, _) = read(&log);
        for place in MAGIC.len()..log.len() {
            for bit in 0..8 {
                let mut flipped = log.clone();
                flipped[place] ^= 1 << bit;
                let (some, broken) = read(&flipped);
                let before = ends.iter().filter(|at| **at <= place).count() - 1;
                assert_eq!(some[..], all[..before], "bit {bit} of {place}");
                assert_eq!(
                    broken.unwrap().at,
                    ends[before] as u64,
                    "bit {bit} of {place}"
                );
            }
        }
    }

    #[test]
    fn zeros_of_a_file_that_was_longer_than_what_was_written_are_no_frames() {
        let (mut log, ends) = log();
        log.extend([0; 64]);
        let (all, broken) = read(&log);
        let at = *ends.last().unwrap() as u64;
        let kind = BreakKind::Damaged;
        assert_eq!((all.len(), broken), (3, Some(Break { at, kind })));
    }

    #[test]
    fn other_files_are_no_logs_and_a_false_length_takes_no_memory() {
        assert!(Frames::open(&b"#!/bin/sh"[..]).unwrap().is_none());
        assert!(Frames::open(&b"drumlog\x02"[..]).unwrap().is_none());
        let mut log = MAGIC.to_vec();
        log.extend(PAYLOAD_BYTES_MAX.to_le_bytes());
        log.extend([2, 0, 0, 0, 0, 9]);
        assert_eq!(read(&log).1.unwrap().kind, BreakKind::Torn);
        log[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(read(&log).1.unwrap().kind, BreakKind::Damaged);
    }
}
