//! Conversions between strings and numbers. They never fail: an invalid text is zero.

use super::arguments::text;
use crate::call::Call;
use crate::fault::Fault;
use crate::format;
use crate::function::Row;
use crate::number;
use crate::value::{Element, IntKind, List, Value};
use std::rc::Rc;

pub(super) const FUNCTIONS: &[Row] = &[
    ("atoi", "s", |_, args| {
        Ok(Value::int(decimal(text(args, 0))))
    }),
    ("float64", "a", |_, args| {
        Ok(Value::Float(to_float(&args[0])))
    }),
    ("int", "a", |_, args| Ok(Value::int(to_int(&args[0])))),
    ("int64", "a", |_, args| Ok(Value::int64(to_int(&args[0])))),
    ("toDecimal", "a", to_decimal),
    ("toString", "a", |call, args| {
        Ok(Value::Str(string_of(call, &args[0])?))
    }),
    ("toStrings", "a", |call, args| {
        let strings = strings_of(call, &args[0])?;
        Ok(Value::strings(strings))
    }),
];

/// `strconv.Atoi`; zero on errors, except that a number out of range is the largest or smallest
/// one, as Go returns it with its error.
fn decimal(text: &str) -> i64 {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    let largest = if text.starts_with('-') {
        i64::MIN
    } else {
        i64::MAX
    };
    text.parse().unwrap_or(largest)
}

/// A value as an integer, with sprig's conversion.
pub(super) fn to_int(value: &Value) -> i64 {
    match value {
        Value::Bool(value) => i64::from(*value),
        Value::Int(IntKind::Duration, _) => 0,
        Value::Int(_, bits) => *bits,
        Value::Float(number) => float_to_int(*number),
        Value::Str(text) => number::int(without_zero_decimals(text)).unwrap_or(0),
        _ => 0,
    }
}

/// Converts a float as Go does on x86: a number out of range becomes the smallest integer.
fn float_to_int(float: f64) -> i64 {
    let fits = (-number::TWO_TO_63..number::TWO_TO_63).contains(&float);
    if fits { float as i64 } else { i64::MIN }
}

/// `12.00` to `12`.
fn without_zero_decimals(text: &str) -> &str {
    let cut = text.trim_end_matches('0');
    match cut.strip_suffix('.') {
        Some(whole) if cut.len() < text.len() => whole,
        _ => text,
    }
}

/// A value as a float, with sprig's conversion.
pub(super) fn to_float(value: &Value) -> f64 {
    match value {
        Value::Bool(value) => f64::from(u8::from(*value)),
        Value::Int(IntKind::Duration, _) => 0.0,
        Value::Int(IntKind::Uint64, bits) => bits.cast_unsigned() as f64,
        Value::Int(_, bits) => *bits as f64,
        Value::Float(number) => *number,
        Value::Str(text) => number::float(text).unwrap_or(0.0),
        _ => 0.0,
    }
}

/// Parses digits as octal.
fn to_decimal(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let text = string_of(call, &args[0])?;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(&text);
    let number = match digits.bytes().all(|byte| byte.is_ascii_digit()) {
        true => i64::from_str_radix(&text, 8).unwrap_or(0),
        false => 0,
    };
    Ok(Value::int64(number))
}

/// A value as a string: strings unchanged, anything else as `%v` prints it.
pub(super) fn string_of(call: &mut Call<'_>, value: &Value) -> Result<Rc<str>, Fault> {
    if let Value::Str(text) = value {
        return Ok(Rc::clone(text));
    }
    match call.write(|sink| format::plain(sink, value))? {
        Value::Str(text) => Ok(text),
        _ => Ok("".into()),
    }
}

/// The items of a list as strings, without nils; a single value is a list of one.
pub(super) fn strings_of(call: &mut Call<'_>, value: &Value) -> Result<Vec<Rc<str>>, Fault> {
    let Value::List(list) = value else {
        if value.is_nil() {
            return Ok(Vec::new());
        }
        return Ok(vec![string_of(call, value)?]);
    };
    call.values(list.items().len())?;
    let mut strings = Vec::with_capacity(list.items().len());
    for item in list.items().iter().filter(|item| !item.is_nil()) {
        strings.push(string_of(call, item)?);
    }
    Ok(strings)
}

/// A `[]int`.
pub(super) fn ints(numbers: impl Iterator<Item = i64>) -> Value {
    let items = numbers.map(Value::int).collect();
    Value::List(Rc::new(List::with_element(Element::Int, items)))
}
