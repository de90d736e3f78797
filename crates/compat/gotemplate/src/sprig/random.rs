//! Random values. The caller provides the bits, so that equal seeds give equal texts.

use super::arguments::{int, text};
use crate::call::Call;
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
    ("uuidv4", "", |call, _| call.random_uuid()),
];

const DIGITS: &[u8] = b"0123456789";
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ALPHANUMERIC: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PRINTABLE: &[u8] = b" !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";

fn letters(call: &mut Call<'_>, count: i64, set: &[u8]) -> Result<Value, Fault> {
    // sprig ignores the error of a negative count.
    let count = usize::try_from(count).unwrap_or(0);
    call.bytes(count)?;
    call.work(count)?;
    let mut out = String::with_capacity(count);
    for _ in 0..count {
        let at = call.random_below(set.len() as u64) as usize;
        out.push(char::from(set[at]));
    }
    Ok(out.into())
}

fn rand_int(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let (min, max) = (int(args, 0), int(args, 1));
    match u64::try_from(max.wrapping_sub(min)) {
        Ok(span) if span > 0 => {
            let number = min.wrapping_add_unsigned(call.random_below(span));
            Ok(Value::int(number))
        }
        _ => Err("invalid argument to Intn".into()),
    }
}

/// Random bytes in base64.
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
        let other = call.random_below(n as u64 + 1) as usize;
        letters.swap(n, other);
    }
    call.text(letters.into_iter().collect::<String>())
}
