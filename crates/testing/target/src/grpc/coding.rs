//! The compression of messages.

use super::status::Status;
use crate::grpc_code::GrpcCode;
use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::io::{Read, Write as _};

/// The maximum size of a received message, compressed and uncompressed.
pub(crate) const MESSAGE_MAX: usize = 64 << 20;
/// The encodings announced to a client that uses another one.
pub(crate) const ACCEPTED: &str = "identity,gzip,zstd";

/// A value of `grpc-encoding`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    #[default]
    Identity,
    Gzip,
    Zstd,
}

impl Encoding {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "identity" => Some(Self::Identity),
            "gzip" => Some(Self::Gzip),
            "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// Compresses a message.
    pub(crate) fn encode(self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Identity => message.to_vec(),
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                // Writing to a Vec can't fail.
                let _ = encoder.write_all(message);
                encoder.finish().unwrap_or_default()
            }
            // Compression can't fail either; level 0 is the default.
            Self::Zstd => zstd::bulk::compress(message, 0).unwrap_or_default(),
        }
    }

    /// Decompresses a message.
    pub(crate) fn decode(self, message: Bytes) -> Result<Bytes, Status> {
        match self {
            Self::Identity => Err(Status::new(
                GrpcCode::INTERNAL,
                "a compressed message without grpc-encoding",
            )),
            Self::Gzip => bounded(GzDecoder::new(&message[..])),
            Self::Zstd => match zstd::Decoder::with_buffer(&message[..]) {
                Ok(decoder) => bounded(decoder),
                Err(error) => Err(Status::new(GrpcCode::INTERNAL, error.to_string())),
            },
        }
    }
}

fn bounded(decoder: impl Read) -> Result<Bytes, Status> {
    let mut plain = Vec::new();
    let read = decoder.take(MESSAGE_MAX as u64 + 1).read_to_end(&mut plain);
    if let Err(error) = read {
        return Err(Status::new(GrpcCode::INTERNAL, error.to_string()));
    }
    if plain.len() > MESSAGE_MAX {
        return Err(too_large());
    }
    Ok(plain.into())
}

/// The status for a message larger than [`MESSAGE_MAX`].
pub(crate) fn too_large() -> Status {
    let message = format!("a message can have at most {MESSAGE_MAX} bytes");
    Status::new(GrpcCode::RESOURCE_EXHAUSTED, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed_comes_back() {
        for encoding in [Encoding::Gzip, Encoding::Zstd] {
            assert_eq!(Encoding::parse(encoding.name()), Some(encoding));
            for message in [&b""[..], b"x", &[7; 100_000]] {
                let encoded = encoding.encode(message);
                assert_eq!(encoding.decode(encoded.into()).unwrap(), message);
            }
            let cut = encoding.encode(&[7; 100_000]);
            let error = encoding.decode(cut[..cut.len() / 2].to_vec().into());
            assert_eq!(error.unwrap_err().code, GrpcCode::INTERNAL);
            assert!(encoding.decode(Bytes::from_static(b"nonsense")).is_err());
        }
        assert!(Encoding::Identity.decode(Bytes::new()).is_err());
        assert_eq!(Encoding::parse("br"), None);
    }
}
