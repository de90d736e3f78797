//! Checksums and digests, in hexadecimal; Adler-32 in decimal.

use super::arguments::text;
use crate::function::Row;
use crate::raw_bytes;
use sha1::Digest as _;
use std::fmt::Write as _;

pub(super) const FUNCTIONS: &[Row] = &[
    ("adler32sum", "s", |call, args| {
        call.work(text(args, 0).len() / 16)?;
        call.text(adler32(&raw_bytes::of_text(text(args, 0))).to_string())
    }),
    ("sha1sum", "s", |call, args| {
        call.work(text(args, 0).len() / 16)?;
        call.text(hex(&sha1::Sha1::digest(raw_bytes::of_text(text(args, 0)))))
    }),
    ("sha256sum", "s", |call, args| {
        call.work(text(args, 0).len() / 16)?;
        call.text(hex(&sha2::Sha256::digest(raw_bytes::of_text(text(
            args, 0,
        )))))
    }),
    ("sha512sum", "s", |call, args| {
        call.work(text(args, 0).len() / 16)?;
        call.text(hex(&sha2::Sha512::digest(raw_bytes::of_text(text(
            args, 0,
        )))))
    }),
];

/// Adler-32 (RFC 1950 section 8.2).
fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut a, mut b) = (1u32, 0u32);
    // The sums cannot overflow within this number of bytes.
    for part in bytes.chunks(5_552) {
        for byte in part {
            a += u32::from(*byte);
            b += a;
        }
        a %= MODULUS;
        b %= MODULUS;
    }
    b << 16 | a
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
            // Writing to a string cannot fail.
            let _ = write!(out, "{byte:02x}");
            out
        })
}
