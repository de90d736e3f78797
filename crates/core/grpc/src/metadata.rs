//! Custom metadata: names and values that may be sent, and base64 for names that end in `-bin`.

use std::fmt;

/// The ending of names whose values are binary.
const BINARY: &[u8] = b"-bin";
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Why metadata can't be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataError {
    /// A name contains other characters than lower-case letters, digits, `_`, `-` and `.`.
    Name,
    /// A name begins with `:`, or the protocol itself sends it.
    Reserved,
    /// A value contains bytes other than printable ASCII.
    Value,
    /// A `-bin` value is not base64.
    Base64,
}

impl fmt::Display for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "a key may contain only a-z, 0-9, `_`, `-` and `.`",
            Self::Reserved => "this key is reserved by gRPC",
            Self::Value => {
                "a value may contain only printable ASCII; for other bytes, use a key \
                 that ends in -bin"
            }
            Self::Base64 => "the value of a -bin key must be base64",
        })
    }
}

impl std::error::Error for MetadataError {}

/// Whether the name's values are binary, in base64 on the wire.
#[must_use]
pub fn is_binary(name: &[u8]) -> bool {
    name.ends_with(BINARY)
}

/// Checks an entry in the form in which it is sent: its name in lower case, the value of a `-bin`
/// name in base64.
///
/// # Errors
/// If it must not be sent.
pub fn check(name: &[u8], value: &[u8]) -> Result<(), MetadataError> {
    if name.starts_with(b":") || OWN.contains(&name) {
        return Err(MetadataError::Reserved);
    }
    let allowed = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.');
    if name.is_empty() || !name.iter().all(allowed) {
        return Err(MetadataError::Name);
    }
    if is_binary(name) {
        return if is_base64(value) {
            Ok(())
        } else {
            Err(MetadataError::Base64)
        };
    }
    if value.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        Ok(())
    } else {
        Err(MetadataError::Value)
    }
}

/// Names that the protocol itself sets.
const OWN: [&[u8]; 9] = [
    b"content-type",
    b"te",
    b"host",
    b"grpc-timeout",
    b"grpc-encoding",
    b"grpc-accept-encoding",
    b"grpc-status",
    b"grpc-message",
    b"grpc-message-type",
];

/// Whether a received field is valid: its value must be base64 if its name ends in `-bin`.
#[inline]
pub(crate) fn is_valid_received(name: &[u8], value: &[u8]) -> bool {
    !is_binary(name) || is_base64(value)
}

/// Base64 without padding, as the protocol sends it.
#[must_use]
pub fn encode_binary(value: &[u8]) -> String {
    let mut text = String::with_capacity(value.len().div_ceil(3) * 4);
    for group in value.chunks(3) {
        let bits = group
            .iter()
            .fold(0, |bits, &byte| bits << 8 | usize::from(byte))
            << (8 * (3 - group.len()));
        for digit in 0..=group.len() {
            text.push(ALPHABET[bits >> (18 - 6 * digit) & 63].into());
        }
    }
    text
}

/// Decodes base64, with or without padding. `None` if it is not base64. Does not split several
/// values joined by commas.
#[must_use]
pub fn decode_binary(text: &[u8]) -> Option<Vec<u8>> {
    let digits = unpadded(text)?;
    let mut value = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let mut bits = 0u32;
        for &digit in group {
            bits = bits << 6 | u32::from(digit_value(digit)?);
        }
        bits <<= 6 * (4 - group.len());
        let [_, bytes @ ..] = bits.to_be_bytes();
        value.extend_from_slice(&bytes[..group.len() - 1]);
    }
    Some(value)
}

/// Whether the text is base64 values, joined by commas.
fn is_base64(text: &[u8]) -> bool {
    text.split(|&byte| byte == b',').all(|part| {
        unpadded(part.trim_ascii())
            .is_some_and(|digits| digits.iter().all(|&digit| digit_value(digit).is_some()))
    })
}

/// The digits before the padding, which completes the last group if it is present.
fn unpadded(text: &[u8]) -> Option<&[u8]> {
    let digits = match text {
        [digits @ .., b'=', b'='] | [digits @ .., b'='] if text.len().is_multiple_of(4) => digits,
        _ => text,
    };
    (digits.len() % 4 != 1).then_some(digits)
}

fn digit_value(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{MetadataError, check, decode_binary, encode_binary};
    use proptest::prelude::*;

    #[test]
    fn what_may_be_sent() {
        for (name, value, expected) in [
            ("authorization", "Bearer abc", Ok(())),
            ("x_1.2-y", "", Ok(())),
            ("trace-bin", "AQI", Ok(())),
            ("trace-bin", "AQI=", Ok(())),
            ("trace-bin", "AQI,AQID", Ok(())),
            ("trace-bin", "A", Err(MetadataError::Base64)),
            ("trace-bin", "A===", Err(MetadataError::Base64)),
            ("trace-bin", "AQ=I", Err(MetadataError::Base64)),
            ("trace-bin", "not base64", Err(MetadataError::Base64)),
            ("", "a", Err(MetadataError::Name)),
            ("Upper", "a", Err(MetadataError::Name)),
            ("a b", "a", Err(MetadataError::Name)),
            ("Grpc-x", "a", Err(MetadataError::Name)),
            ("grpc-timeout", "1S", Err(MetadataError::Reserved)),
            ("grpc-trace-bin", "AAEC", Ok(())),
            (":path", "/", Err(MetadataError::Reserved)),
            ("te", "trailers", Err(MetadataError::Reserved)),
            ("x", "\u{e4}", Err(MetadataError::Value)),
            ("x", "a\r\nb", Err(MetadataError::Value)),
        ] {
            let found = check(name.as_bytes(), value.as_bytes());
            assert_eq!(found, expected, "{name}: {value}");
        }
    }

    #[test]
    fn known_values() {
        // RFC 4648 section 10.
        for (value, text) in [
            ("", ""),
            ("f", "Zg"),
            ("fo", "Zm8"),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg"),
            ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode_binary(value.as_bytes()), text);
            let padded = format!("{text:=<width$}", width = text.len().next_multiple_of(4));
            for text in [text, &padded] {
                assert_eq!(
                    decode_binary(text.as_bytes()).as_deref(),
                    Some(value.as_bytes()),
                    "{text}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn every_value_comes_back(value: Vec<u8>) {
            let text = encode_binary(&value);
            prop_assert_eq!(check(b"x-bin", text.as_bytes()), Ok(()));
            prop_assert_eq!(decode_binary(text.as_bytes()), Some(value));
        }

        #[test]
        fn what_passes_can_be_read(text in "[A-Z+/=]{0,9}") {
            let passes = check(b"x-bin", text.as_bytes()).is_ok();
            prop_assert_eq!(passes, decode_binary(text.as_bytes()).is_some());
        }
    }
}
