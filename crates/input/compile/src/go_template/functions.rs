//! Functions for random values, in addition to Go's and sprig's: ghz's `newUUID`, `randomString`
//! and `randomInt`.
//!
//! Their values come from the call's stream of random numbers. Lengths are charged to the
//! template's bounds before memory is allocated.

use drumfire_gotemplate::{Call, Fault, Functions, Value};

/// The letters of random strings.
const LETTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// The default bounds of the length of a random string.
const LENGTHS: (u64, u64) = (2, 16);

/// Adds the functions.
pub(super) fn add_functions(functions: Functions) -> Functions {
    functions
        .with("newUUID", "", |call, _| call.random_uuid())
        .with("randomString", "i", random_string)
        .with("randomInt", "ii", random_int)
}

/// An argument as an integer; 0 if it is missing or of another type.
fn int(args: &[Value], n: usize) -> i64 {
    match args.get(n) {
        Some(Value::Int(_, number)) => *number,
        _ => 0,
    }
}

/// `randomString 5`; the default is a random length from 2 to 16.
fn random_string(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let length = match usize::try_from(int(args, 0)) {
        Ok(length) if length > 0 => length,
        _ => {
            let (least, most) = LENGTHS;
            (least + call.random_below(most - least + 1)) as usize
        }
    };
    call.bytes(length)?;
    call.work(length)?;
    let mut text = String::with_capacity(length);
    for _ in 0..length {
        let at = call.random_below(LETTERS.len() as u64) as usize;
        text.push(char::from(LETTERS[at]));
    }
    Ok(text.into())
}

/// `randomInt 1 9`: a number from the first bound up to, but excluding, the second. Negative bounds
/// count as 0 and 1, and an empty range fails as Go's `Intn` does.
fn random_int(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let min = int(args, 0).max(0);
    let max = match int(args, 1) {
        max if max <= 0 => 1,
        max => max,
    };
    match u64::try_from(max - min) {
        Ok(span) if span > 0 => {
            let number = min.wrapping_add_unsigned(call.random_below(span));
            Ok(Value::int(number))
        }
        _ => Err("invalid argument to Intn".into()),
    }
}
