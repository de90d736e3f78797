//! Encoders that create bodies for the decoders.

use drumfire_coding::Coding;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use std::io::Write;

pub(crate) fn encode(coding: Coding, body: &[u8]) -> Vec<u8> {
    match coding {
        Coding::Br => br(body),
        Coding::Deflate => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
            encoder
                .write_all(body)
                .and_then(|()| encoder.finish())
                .expect("into memory")
        }
        Coding::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder
                .write_all(body)
                .and_then(|()| encoder.finish())
                .expect("into memory")
        }
        Coding::Zstd => zstd::encode_all(body, 3).expect("into memory"),
    }
}

fn br(body: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    let parameters = brotli::enc::BrotliEncoderParams {
        quality: 5,
        ..Default::default()
    };
    brotli::BrotliCompress(&mut &*body, &mut coded, &parameters).expect("into memory");
    coded
}

/// Deflate without the zlib wrapper.
pub(crate) fn deflate_bare(body: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder
        .write_all(body)
        .and_then(|()| encoder.finish())
        .expect("into memory")
}

/// `count` zeros, encoded without storing them.
pub(crate) fn gzip_of_zeros(count: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = [0; 1 << 16];
    for _ in 0..count / zeros.len() {
        encoder.write_all(&zeros).expect("into memory");
    }
    encoder.finish().expect("into memory")
}

/// A frame with a window of 2 to the power of `log` bytes (RFC 8878 section 3.1.1.1.2) and one
/// empty raw block.
pub(crate) fn zstd_of_window(log: u8) -> Vec<u8> {
    let window_descriptor = (log - 10) << 3;
    vec![0x28, 0xb5, 0x2f, 0xfd, 0, window_descriptor, 1, 0, 0]
}
