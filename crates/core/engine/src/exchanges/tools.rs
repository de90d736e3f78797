//! Memory and codecs that the exchanges of a worker share, so that no exchange allocates.
//!
//! Nothing in them outlives the verb that uses them: a compressor ends each message, and the memory
//! is cleared before it is lent.

use crate::prepare::Parts;
use drumfire_grpc::{Compressor, Decompressor, Encoding};

/// The shared tools of a worker's exchanges.
#[derive(Default)]
pub(super) struct Tools {
    /// The tools for calls.
    pub(super) codecs: Codecs,
    /// The varying parts of an HTTP/1.1 request, before they are copied into its bytes.
    pub(super) parts: Parts,
}

/// The codecs for calls' messages, and a buffer for a message to be compressed.
#[derive(Default)]
pub(super) struct Codecs {
    /// The decompressor of all calls. Each message starts a new stream, so calls can alternate.
    pub(super) decompressor: Decompressor,
    /// One compressor for each encoding, made when a message first needs it.
    compressors: [Option<Compressor>; 3],
    /// A message before its compression.
    message: Vec<u8>,
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tools").finish_non_exhaustive()
    }
}

impl Codecs {
    /// The compressor of an encoding, and an empty buffer for its message.
    pub(super) fn compressor(&mut self, encoding: Encoding) -> (&mut Compressor, &mut Vec<u8>) {
        let index = match encoding {
            Encoding::Identity => 0,
            Encoding::Gzip => 1,
            Encoding::Zstd => 2,
        };
        self.message.clear();
        let compressor = &mut self.compressors[index];
        (
            compressor.get_or_insert_with(|| Compressor::new(encoding)),
            &mut self.message,
        )
    }
}
