//! Compression of messages: encodings by name, with reusable states.

use crate::framing::{self, FLAG_COMPRESSED, TooLong, begin_message, write_message};
use crate::gzip::{GzipDeflater, GzipInflater};
use crate::scratch::{Failure, Scratch};
use crate::zstandard::{Packer, Unpacker};
use std::fmt;

/// The compression of messages (`grpc-encoding`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// No compression.
    #[default]
    Identity,
    /// gzip (RFC 1952).
    Gzip,
    /// Zstandard (RFC 8878).
    Zstd,
}

impl Encoding {
    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// The encoding with exactly this name.
    #[must_use]
    pub fn of_name(name: &[u8]) -> Option<Self> {
        [Self::Identity, Self::Gzip, Self::Zstd]
            .into_iter()
            .find(|encoding| encoding.name().as_bytes() == name)
    }
}

/// Compresses all messages of a worker in one encoding.
#[derive(Debug)]
pub struct Compressor(Packing);

enum Packing {
    Identity,
    Gzip(GzipDeflater),
    Zstd(Box<Packer>),
}

impl fmt::Debug for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Identity => "Identity",
            Self::Gzip(_) => "Gzip",
            Self::Zstd(_) => "Zstd",
        })
    }
}

impl Compressor {
    /// Creates a compressor. If the memory that zstd needs is not available, messages stay
    /// uncompressed, which is always allowed.
    #[must_use]
    pub fn new(encoding: Encoding) -> Self {
        Self(match encoding {
            Encoding::Identity => Packing::Identity,
            Encoding::Gzip => Packing::Gzip(GzipDeflater::new()),
            Encoding::Zstd => {
                Packer::new().map_or(Packing::Identity, |packer| Packing::Zstd(Box::new(packer)))
            }
        })
    }

    /// Appends a message with its prefix. An empty message, or one on which the encoder fails, is
    /// not compressed; the prefix's flag is then 0.
    ///
    /// # Errors
    /// [`TooLong`]; nothing is appended then.
    pub fn write_message(&mut self, out: &mut Vec<u8>, payload: &[u8]) -> Result<(), TooLong> {
        let start = begin_message(out);
        let packed = match &mut self.0 {
            _ if payload.is_empty() => Err(Failure::Invalid),
            Packing::Identity => Err(Failure::Invalid),
            Packing::Gzip(deflater) => deflater.append(payload, out),
            Packing::Zstd(packer) => packer.append(payload, out),
        };
        if packed.is_ok() {
            return framing::finish(out, start, FLAG_COMPRESSED);
        }
        out.truncate(start);
        write_message(out, payload)
    }
}

/// Decompresses the messages of a worker's calls. Its states are created when they are first
/// needed.
#[derive(Default)]
pub struct Decompressor {
    gzip: Option<GzipInflater>,
    zstd: Option<Box<Unpacker>>,
    scratch: Scratch,
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decompressor")
            .field("scratch", &self.scratch.capacity())
            .finish_non_exhaustive()
    }
}

impl Decompressor {
    /// Decompresses the message, which may be at most `limit` bytes long; the result is valid until
    /// the next call.
    pub(crate) fn decompress(
        &mut self,
        encoding: Encoding,
        coded: &[u8],
        limit: u32,
    ) -> Result<&[u8], Failure> {
        self.scratch.start_message(limit);
        match encoding {
            Encoding::Identity => return Err(Failure::Invalid),
            Encoding::Gzip => self
                .gzip
                .get_or_insert_with(GzipInflater::new)
                .decompress(coded, &mut self.scratch)?,
            Encoding::Zstd => {
                if self.zstd.is_none() {
                    self.zstd = Some(Box::new(Unpacker::new()?));
                }
                let unpacker = self.zstd.as_mut().ok_or(Failure::Invalid)?;
                unpacker.decompress(coded, &mut self.scratch)?;
            }
        }
        self.scratch.whole()
    }
}
