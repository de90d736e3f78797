//! Compressions of messages: by name, with states that are used again and again.

use crate::framing::{self, FLAG_COMPRESSED, TooLong, begin_message, write_message};
use crate::gzip::{Deflater, Inflater};
use crate::zstandard::{Packer, Unpacker};
use std::fmt;

/// How messages are compressed (`grpc-encoding`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Not at all.
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

    /// The encoding with this name, exactly.
    #[must_use]
    pub fn of_name(name: &[u8]) -> Option<Self> {
        [Self::Identity, Self::Gzip, Self::Zstd]
            .into_iter()
            .find(|encoding| encoding.name().as_bytes() == name)
    }
}

/// Why a message does not come back, or can't be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It is not valid in the encoding.
    Invalid,
    /// It would be longer than the limit.
    Limit,
}

/// Compresses the messages of a worker, all in the same way.
#[derive(Debug)]
pub struct Compressor(Packing);

enum Packing {
    Identity,
    Gzip(Deflater),
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
    /// A compressor. Without the memory that zstd asks for, messages stay as they are, which is
    /// always allowed.
    #[must_use]
    pub fn new(encoding: Encoding) -> Self {
        Self(match encoding {
            Encoding::Identity => Packing::Identity,
            Encoding::Gzip => Packing::Gzip(Deflater::new()),
            Encoding::Zstd => {
                Packer::new().map_or(Packing::Identity, |packer| Packing::Zstd(Box::new(packer)))
            }
        })
    }

    /// Appends a message with its prefix. An empty one is not compressed, nor one on which the
    /// encoder fails; the prefix's flag is then 0.
    ///
    /// # Errors
    /// [`TooLong`], with nothing appended.
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

/// Decompresses the messages of a worker's calls. Its states are made when they are first needed.
#[derive(Default)]
pub struct Decompressor {
    gzip: Option<Inflater>,
    zstd: Option<Box<Unpacker>>,
    scratch: Scratch,
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decompressor")
            .field("scratch", &self.scratch.bytes.len())
            .finish_non_exhaustive()
    }
}

impl Decompressor {
    /// The message, which may be at most `limit` bytes long; it is valid until the next.
    pub(crate) fn decompress(
        &mut self,
        encoding: Encoding,
        coded: &[u8],
        limit: u32,
    ) -> Result<&[u8], Failure> {
        self.scratch.begin(limit);
        match encoding {
            Encoding::Identity => return Err(Failure::Invalid),
            Encoding::Gzip => self
                .gzip
                .get_or_insert_with(Inflater::new)
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

/// The scratch space that is kept for the next message; space beyond it, for one large message, is
/// freed.
const SCRATCH_KEPT_BYTES: usize = 1024 * 1024;
/// The first size of the scratch space.
const SCRATCH_FIRST_BYTES: usize = 4096;

/// Where a message is decompressed to. It grows as the message does, never ahead of it.
#[derive(Default)]
pub(crate) struct Scratch {
    bytes: Vec<u8>,
    filled: usize,
    /// One byte beyond the limit, by which a message is seen to exceed it.
    bound: usize,
}

impl Scratch {
    fn begin(&mut self, limit: u32) {
        if self.bytes.len() > SCRATCH_KEPT_BYTES {
            self.bytes = Vec::new();
        }
        self.filled = 0;
        self.bound = (limit as usize).saturating_add(1);
    }

    /// Room for more, at least a byte.
    pub(crate) fn room(&mut self) -> Result<&mut [u8], Failure> {
        if self.filled == self.bound {
            return Err(Failure::Limit);
        }
        if self.filled == self.bytes.len() {
            let length = (self.filled * 2).max(SCRATCH_FIRST_BYTES);
            self.bytes.resize(length, 0);
        }
        let end = self.bytes.len().min(self.bound);
        Ok(&mut self.bytes[self.filled..end])
    }

    /// This many bytes of the room are filled.
    pub(crate) fn filled(&mut self, count: usize) {
        self.filled += count;
    }

    /// All bytes that were filled.
    fn whole(&self) -> Result<&[u8], Failure> {
        if self.filled == self.bound {
            return Err(Failure::Limit);
        }
        Ok(self.bytes())
    }

    /// The bytes that were filled so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }
}
