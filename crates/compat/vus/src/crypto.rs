//! Digests and encodings of `k6/crypto` and `k6/encoding`.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use hmac::{Hmac, KeyInit as _, Mac as _};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
use std::io::{self, Write as _};

/// The digest of bytes, or with a key their HMAC; `None` for an unknown algorithm.
pub(crate) fn digest(algorithm: &str, bytes: &[u8], key: Option<&[u8]>) -> Option<Vec<u8>> {
    macro_rules! of {
        ($hash:ty) => {
            match key {
                None => <$hash>::digest(bytes).to_vec(),
                Some(key) => {
                    let mut mac = <Hmac<$hash>>::new_from_slice(key).ok()?;
                    mac.update(bytes);
                    mac.finalize().into_bytes().to_vec()
                }
            }
        };
    }
    Some(match algorithm {
        "md5" => of!(Md5),
        "sha1" => of!(Sha1),
        "sha256" => of!(Sha256),
        "sha384" => of!(Sha384),
        "sha512" => of!(Sha512),
        "sha512_224" => of!(Sha512_224),
        "sha512_256" => of!(Sha512_256),
        _ => return None,
    })
}

/// The bytes compressed with gzip, or with deflate in the form of zlib (RFC 9110 section 8.4.1).
///
/// # Errors
///
/// That of the compressor.
pub(crate) fn compress(coding: &str, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let level = Compression::default();
    match coding {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(bytes)?;
            encoder.finish()
        }
        _ => {
            let mut encoder = ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(bytes)?;
            encoder.finish()
        }
    }
}

/// The bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes in Base64; `None` for an unknown alphabet.
pub(crate) fn encode(bytes: &[u8], alphabet: &str) -> Option<String> {
    Some(match alphabet {
        "std" => STANDARD.encode(bytes),
        "rawstd" => STANDARD_NO_PAD.encode(bytes),
        "url" => URL_SAFE.encode(bytes),
        "rawurl" => URL_SAFE_NO_PAD.encode(bytes),
        _ => return None,
    })
}

/// The bytes of a text in Base64.
///
/// # Errors
///
/// What is wrong with the text or the alphabet.
pub(crate) fn decode(text: &str, alphabet: &str) -> Result<Vec<u8>, String> {
    let decoded = match alphabet {
        "std" => STANDARD.decode(text),
        "rawstd" => STANDARD_NO_PAD.decode(text),
        "url" => URL_SAFE.decode(text),
        "rawurl" => URL_SAFE_NO_PAD.decode(text),
        _ => return Err(unknown(alphabet)),
    };
    decoded.map_err(|error| format!("illegal base64 data: {error}"))
}

/// The message for an unknown alphabet.
pub(crate) fn unknown(alphabet: &str) -> String {
    format!("unknown base64 encoding `{alphabet}`; use std, rawstd, url or rawurl")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 1321 A.5, RFC 3174 7.3, FIPS 180-4's examples, RFC 4231 4.3.
    #[test]
    fn published_digests() {
        let of = |algorithm, bytes: &[u8], key| hex(&digest(algorithm, bytes, key).unwrap());
        for (algorithm, expected) in [
            ("md5", "900150983cd24fb0d6963f7d28e17f72"),
            ("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                "sha256",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
        ] {
            assert_eq!(of(algorithm, b"abc", None), expected, "{algorithm}");
        }
        assert_eq!(
            of("sha256", b"what do ya want for nothing?", Some(b"Jefe")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert!(digest("crc", b"", None).is_none());
        assert_eq!(decode("YQ", "rawstd"), Ok(b"a".to_vec()));
        assert!(decode("YQ", "std").is_err() && decode("YQ", "other").is_err());
    }
}
