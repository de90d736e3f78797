//! Base64 and base32.

use super::arguments::text;
use crate::call::Call;
use crate::fault::Fault;
use crate::function::Row;
use crate::raw_bytes;
use crate::value::Value;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

pub(super) const FUNCTIONS: &[Row] = &[
    ("b32dec", "s", |call, args| {
        let decoded = base32_bytes(text(args, 0));
        call.text(match decoded {
            Ok(bytes) => raw_bytes::to_text(&bytes),
            Err(at) => format!("illegal base32 data at input byte {at}"),
        })
    }),
    ("b32enc", "s", |call, args| {
        call.text(base32(&raw_bytes::of_text(text(args, 0))))
    }),
    ("b64dec", "s", b64dec),
    ("b64enc", "s", |call, args| {
        call.text(STANDARD.encode(raw_bytes::of_text(text(args, 0))))
    }),
];

/// Decodes base64. Line feeds are skipped; on an error the result is the error text, as in sprig.
fn b64dec(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let given = text(args, 0);
    let coded: String = given
        .chars()
        .filter(|c| !matches!(c, '\r' | '\n'))
        .collect();
    let Ok(bytes) = STANDARD.decode(&coded) else {
        let at = base64_error(&coded);
        return call.text(format!("illegal base64 data at input byte {at}"));
    };
    call.text(raw_bytes::to_text(&bytes))
}

/// The position of an error in Go's decoder.
fn base64_error(coded: &str) -> usize {
    let bytes = coded.as_bytes();
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let Some(at) = bytes.iter().position(|byte| !is_digit(byte)) else {
        return bytes.len() - bytes.len() % 4;
    };
    if bytes[at] != b'=' || at % 4 < 2 {
        return at;
    }
    match (at % 4, bytes.get(at + 1)) {
        (2, None) => bytes.len(),
        (2, Some(b'=')) => at + 2,
        (2, Some(_)) => at,
        _ => at + 1,
    }
}

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Encodes base32 (RFC 4648 section 6) with padding.
fn base32(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(5) * 8);
    for group in bytes.chunks(5) {
        let mut bits = [0u8; 8];
        bits[3..3 + group.len()].copy_from_slice(group);
        let bits = u64::from_be_bytes(bits);
        let digits = (group.len() * 8).div_ceil(5);
        for n in 0..8 {
            let digit = (bits >> (35 - 5 * n)) & 31;
            out.push(match n < digits {
                true => char::from(BASE32[digit as usize]),
                false => '=',
            });
        }
    }
    out
}

/// Decodes base32; the error is the position of the first invalid byte.
fn base32_bytes(given: &str) -> Result<Vec<u8>, usize> {
    let coded: Vec<u8> = given
        .bytes()
        .filter(|byte| !matches!(byte, b'\r' | b'\n'))
        .collect();
    let digits = coded
        .iter()
        .position(|byte| *byte == b'=')
        .unwrap_or(coded.len());
    let padding = &coded[digits..];
    let mut out = Vec::with_capacity(digits * 5 / 8);
    let (mut bits, mut count) = (0u32, 0);
    for (at, byte) in coded[..digits].iter().enumerate() {
        let digit = BASE32.iter().position(|known| known == byte).ok_or(at)?;
        bits = (bits << 5 | digit as u32) & 0xFFF;
        count += 5;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    let complete = coded.len().is_multiple_of(8)
        && padding.iter().all(|byte| *byte == b'=')
        && matches!(padding.len(), 0 | 1 | 3 | 4 | 6);
    if complete { Ok(out) } else { Err(coded.len()) }
}
