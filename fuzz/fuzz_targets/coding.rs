//! Arbitrary bytes as coded bodies: no panic, no output beyond the limit, and the same result for
//! all cuts.
//!
//! The first byte of the input selects the codings, the second the cuts.

#![no_main]

use drumfire_coding::{Decoder, Error};
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 8] = [
    "gzip",
    "deflate",
    "br",
    "zstd",
    "gzip, gzip",
    "zstd, br",
    "deflate, gzip, deflate",
    "br, zstd",
];
const LIMIT: u64 = 1 << 16;

fn decode<'p>(names: &str, pieces: impl Iterator<Item = &'p [u8]>) -> Result<Vec<u8>, Error> {
    let mut decoder = Decoder::new(names.as_bytes(), LIMIT)?.expect("a coding");
    let mut body = Vec::new();
    for piece in pieces {
        let result = decoder.push(piece, &mut |bytes| body.extend_from_slice(bytes));
        assert!(body.len() as u64 <= LIMIT);
        result?;
    }
    assert_eq!(decoder.finish()?, body.len() as u64);
    Ok(body)
}

fuzz_target!(|data: &[u8]| {
    let [choice, size, coded @ ..] = data else {
        return;
    };
    let names = NAMES[usize::from(*choice) % NAMES.len()];
    let whole = decode(names, std::iter::once(coded));
    let cut = decode(names, coded.chunks(usize::from(*size) + 1));
    // The layer that fails first may depend on the cuts, but not whether one fails.
    assert_eq!(cut.ok(), whole.ok());
});
