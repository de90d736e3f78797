//! permessage-deflate, server side (RFC 7692).

use crate::upgrade::DeflateTerms;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// The end of a message, which is not sent.
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// The compression of one conversation. Its states take 430 kB, from the first message on.
pub(super) struct Deflate {
    terms: DeflateTerms,
    packer: Option<Compress>,
    unpacker: Option<Decompress>,
}

/// The message can't be decompressed, or is too long.
#[derive(Debug)]
pub(super) enum Unreadable {
    Invalid,
    TooLong,
}

impl Deflate {
    pub(super) const fn new(terms: DeflateTerms) -> Self {
        Self {
            terms,
            packer: None,
            unpacker: None,
        }
    }

    /// Compresses a message.
    pub(super) fn pack(&mut self, message: &[u8]) -> Vec<u8> {
        if message.is_empty() {
            return vec![0];
        }
        let bits = self.terms.server_bits.unwrap_or(15);
        let packer = self.packer.get_or_insert_with(|| {
            Compress::new_with_window_bits(Compression::fast(), false, bits)
        });
        if self.terms.server_no_takeover {
            packer.reset();
        }
        let (start, mut out) = (packer.total_in(), Vec::new());
        loop {
            let read = (packer.total_in() - start) as usize;
            out.reserve(message.len() / 4 + 64);
            // Deflate has no invalid input.
            let _ = packer.compress_vec(&message[read..], &mut out, FlushCompress::Sync);
            let is_read = packer.total_in() - start == message.len() as u64;
            if is_read && out.len() < out.capacity() {
                break;
            }
        }
        out.truncate(out.len().saturating_sub(TAIL.len()));
        out
    }

    /// Decompresses a message of at most `limit` bytes.
    pub(super) fn unpack(&mut self, message: &[u8], limit: usize) -> Result<Vec<u8>, Unreadable> {
        let unpacker = self.unpacker.get_or_insert_with(|| Decompress::new(false));
        if self.terms.client_no_takeover {
            unpacker.reset(false);
        }
        let mut out = Vec::new();
        for part in [message, &TAIL] {
            let start = unpacker.total_in();
            loop {
                let read = (unpacker.total_in() - start) as usize;
                out.reserve(4096);
                let done = unpacker.decompress_vec(&part[read..], &mut out, FlushDecompress::Sync);
                let status = done.map_err(|_| Unreadable::Invalid)?;
                if out.len() > limit {
                    return Err(Unreadable::TooLong);
                }
                if status == Status::StreamEnd {
                    // A final block (section 7.2.3.5); the next message begins again.
                    unpacker.reset(false);
                    return Ok(out);
                }
                let is_read = unpacker.total_in() - start == part.len() as u64;
                if is_read && out.len() < out.capacity() {
                    break;
                }
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_with_and_without_context() {
        for offer in [
            "permessage-deflate",
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
            "permessage-deflate; server_max_window_bits=9",
        ] {
            let terms = DeflateTerms::of_offer(offer.as_bytes()).unwrap();
            let (mut sender, mut receiver) = (Deflate::new(terms.clone()), Deflate::new(terms));
            let long = b"the same again, ".repeat(10_000);
            for message in [&b"hello"[..], b"hello", b"", &long, b"x"] {
                let packed = sender.pack(message);
                assert_eq!(receiver.unpack(&packed, 1 << 20).unwrap(), message);
            }
            let packed = sender.pack(&long);
            let unpacked = receiver.unpack(&packed, 1_000);
            assert!(matches!(unpacked, Err(Unreadable::TooLong)));
        }
        let mut receiver = Deflate::new(DeflateTerms::default());
        assert!(matches!(
            receiver.unpack(&[7], 10),
            Err(Unreadable::Invalid)
        ));
    }
}
