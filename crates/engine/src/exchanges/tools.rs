//! Memory and codecs that the exchanges of a worker use in turn, so that none of them allocates.
//!
//! Nothing in them outlives the verb that uses them: a compressor ends each message, and the memory
//! is cleared before it is lent.

use crate::prepare::Parts;
use drumfire_grpc::{Compressor, Decompressor, Encoding};

/// The shared tools of a worker's exchanges.
#[derive(Default)]
pub(super) struct Tools {
    /// The tools of calls.
    pub(super) codecs: Codecs,
    /// The varying parts of a request over HTTP/1.1, on their way into its bytes.
    pub(super) parts: Parts,
}

/// The codecs of calls' messages, and a message on its way into one of them.
#[derive(Default)]
pub(super) struct Codecs {
    /// The decompressor of all calls; each message begins anew, so that calls may take turns.
    pub(super) decompressor: Decompressor,
    /// One for each encoding, made when a message first needs it.
    compressors: [Option<Compressor>; 3],
    /// A message on its way into a compressor.
    message: Vec<u8>,
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tools").finish_non_exhaustive()
    }
}

impl Codecs {
    /// The compressor of an encoding, and empty memory for the message that it is given.
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
