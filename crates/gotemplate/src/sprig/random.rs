//! Random values. The caller gives the bits, so that the same seed gives the same text.

use super::arguments::{int, text};
use crate::env::Call;
use crate::fault::Fault;
use crate::function::Row;
use crate::value::Value;
use base64::Engine as _;

pub(super) const FUNCTIONS: &[Row] = &[
    ("randAlpha", "i", |call, args| {
        letters(call, int(args, 0), LETTERS)
    }),
    ("randAlphaNum", "i", |call, args| {
        letters(call, int(args, 0), ALPHANUMERIC)
    }),
    ("randAscii", "i", |call, args| {
        letters(call, int(args, 0), PRINTABLE)
    }),
    ("randBytes", "i", rand_bytes),
    ("randInt", "ii", rand_int),
    ("randNumeric", "i", |call, args| {
        letters(call, int(args, 0), DIGITS)
    }),
    ("shuffle", "s", shuffle),
    ("uuidv4", "", |call, _| uuid(call)),
];

const DIGITS: &[u8] = b"0123456789";
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ALPHANUMERIC: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PRINTABLE: &[u8] = b" !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";

/// A number below `end`, all of them equally likely.
///
/// The upper half of a product of 128 bits is the number; the few lower halves that would favour
/// some numbers are refused.
pub(crate) fn below(call: &mut Call<'_>, end: u64) -> u64 {
    let refused = end.wrapping_neg().checked_rem(end).unwrap_or(0);
    // A stream that only ever gives refused bits must not hold us for ever.
    for _ in 0..64 {
        let product = u128::from(call.env.random()) * u128::from(end);
        if product as u64 >= refused {
            return (product >> 64) as u64;
        }
    }
    0
}

fn letters(call: &mut Call<'_>, count: i64, set: &[u8]) -> Result<Value, Fault> {
    // A negative count is an error that sprig swallows.
    let count = usize::try_from(count).unwrap_or(0);
    call.bytes(count)?;
    call.work(count)?;
    let mut out = String::with_capacity(count);
    for _ in 0..count {
        let at = below(call, set.len() as u64) as usize;
        out.push(char::from(set[at]));
    }
    Ok(out.into())
}

fn rand_int(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let (min, max) = (int(args, 0), int(args, 1));
    match u64::try_from(max.wrapping_sub(min)) {
        Ok(span) if span > 0 => {
            let number = min.wrapping_add_unsigned(below(call, span));
            Ok(Value::int(number))
        }
        _ => Err("invalid argument to Intn".into()),
    }
}

/// Random bytes in base 64.
fn rand_bytes(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let Ok(count) = usize::try_from(int(args, 0)) else {
        return Err("runtime error: makeslice: len out of range".into());
    };
    call.bytes(count.saturating_mul(2))?;
    let mut bytes = Vec::with_capacity(count + 8);
    while bytes.len() < count {
        bytes.extend_from_slice(&call.env.random().to_le_bytes());
    }
    bytes.truncate(count);
    call.text(base64::engine::general_purpose::STANDARD.encode(bytes))
}

fn shuffle(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let mut letters: Vec<char> = text(args, 0).chars().collect();
    call.work(letters.len())?;
    for n in (1..letters.len()).rev() {
        let other = below(call, n as u64 + 1) as usize;
        letters.swap(n, other);
    }
    call.text(letters.into_iter().collect::<String>())
}

/// A random UUID (RFC 9562 section 5.4).
pub(crate) fn uuid(call: &mut Call<'_>) -> Result<Value, Fault> {
    let bits = u128::from(call.env.random()) << 64 | u128::from(call.env.random());
    let mut out = [0; 36];
    call.bytes(out.len())?;
    Ok(Value::from(uuid_text(bits, &mut out)))
}

/// Writes random bits as a UUID of version 4.
pub(crate) fn uuid_text(bits: u128, out: &mut [u8; 36]) -> &str {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let bits = bits & !(0xF << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let mut at = 0;
    for n in 0..32 {
        if matches!(n, 8 | 12 | 16 | 20) {
            out[at] = b'-';
            at += 1;
        }
        out[at] = HEX[(bits >> (124 - 4 * n)) as usize & 15];
        at += 1;
    }
    // Nothing but ASCII was written.
    std::str::from_utf8(out).unwrap_or_default()
}
