//! Digests of a body, in hexadecimal.

use crate::pick::push;
use sha2::Digest as _;

/// The algorithm of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// FNV-1a of 64 bits.
    Fnv1a64,
    /// XXH3 of 64 bits, without a seed.
    Xxh3,
    /// SHA-256.
    Sha256,
}

impl Algorithm {
    /// Appends the digest of the bytes.
    pub(crate) fn write(self, bytes: &[u8], out: &mut String) {
        match self {
            Self::Fnv1a64 => push(out, format_args!("{:016x}", fnv1a64(bytes))),
            Self::Xxh3 => {
                let digest = twox_hash::XxHash3_64::oneshot(bytes);
                push(out, format_args!("{digest:016x}"));
            }
            Self::Sha256 => {
                for byte in sha2::Sha256::digest(bytes) {
                    push(out, format_args!("{byte:02x}"));
                }
            }
        }
    }
}

/// digest = (digest ^ byte) * prime, for each byte.
fn fnv1a64(bytes: &[u8]) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let step = |digest: u64, byte: &u8| (digest ^ u64::from(*byte)).wrapping_mul(PRIME);
    bytes.iter().fold(BASIS, step)
}

#[cfg(test)]
mod tests {
    use super::Algorithm;

    #[test]
    fn published_digests() {
        for (algorithm, text, expected) in [
            (Algorithm::Fnv1a64, "", "cbf29ce484222325"),
            (Algorithm::Fnv1a64, "a", "af63dc4c8601ec8c"),
            (Algorithm::Fnv1a64, "foobar", "85944171f73967e8"),
            (Algorithm::Xxh3, "", "2d06800538d394c2"),
            (
                Algorithm::Sha256,
                "abc",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
        ] {
            let mut out = String::new();
            algorithm.write(text.as_bytes(), &mut out);
            assert_eq!(out, expected, "{algorithm:?} of {text:?}");
        }
    }
}
