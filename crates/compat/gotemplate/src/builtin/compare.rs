//! `eq`, `lt` and the other comparisons. Basic kinds compare with the same kind, integers with all
//! integers, and whole numbers from JSON with integers and floats.

use crate::call::Call;
use crate::fault::Fault;
use crate::format::{self, Verb};
use crate::sink::Sink;
use crate::value::Value;
use std::cmp::Ordering;
use std::rc::Rc;

/// The groups of kinds that are comparable with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bool,
    Float,
    Int,
    None,
    Str,
    Uint,
}

const fn kind(value: &Value) -> Kind {
    match value {
        Value::Bool(_) => Kind::Bool,
        Value::Float(_) | Value::Whole(_) => Kind::Float,
        Value::Int(kind, _) if kind.is_unsigned() => Kind::Uint,
        Value::Int(..) => Kind::Int,
        Value::Str(_) => Kind::Str,
        _ => Kind::None,
    }
}

pub(super) fn eq(_: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let [first, others @ ..] = args else {
        return Err("missing argument for comparison".into());
    };
    if others.is_empty() {
        return Err("missing argument for comparison".into());
    }
    for other in others {
        if equal(first, other)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn equal(a: &Value, b: &Value) -> Result<bool, Fault> {
    if let Some(order) = mixed_integers(a, b) {
        return Ok(order == Ordering::Equal);
    }
    if let (Some(a), Some(b)) = (float(a), float(b)) {
        return Ok(a == b);
    }
    if kind(a) != kind(b) {
        return match a.is_nil() || b.is_nil() {
            true => Ok(false),
            false => Err(incompatible(a, b)),
        };
    }
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Ok(a == b),
        (Value::Str(a), Value::Str(b)) => Ok(a == b),
        _ => equal_others(a, b),
    }
}

fn equal_others(a: &Value, b: &Value) -> Result<bool, Fault> {
    if a.is_nil() || b.is_nil() {
        let empty = |value: &Value| match value {
            Value::List(list) => list.is_nil(),
            other => other.is_nil(),
        };
        return Ok(empty(a) == empty(b));
    }
    if a.kind_name() != b.kind_name() {
        let (left, right) = (as_text(a), as_text(b));
        let (a, b) = (a.type_name(), b.type_name());
        return Err(format!("non-comparable types {left}: {a}, {b}: {right}").into());
    }
    match (a, b) {
        (Value::Time(a), Value::Time(b)) => Ok(a == b),
        (Value::Version(a), Value::Version(b)) => Ok(Rc::ptr_eq(a, b)),
        (Value::Object(a), Value::Object(b)) => Ok(Rc::ptr_eq(a, b)),
        _ => Err(format!("non-comparable type {}: {}", as_text(b), b.type_name()).into()),
    }
}

/// `%s` of a value.
fn as_text(value: &Value) -> String {
    let mut out = String::new();
    let by = Verb::from_letter('s');
    match format::verb(&mut Sink::new(&mut out, 1024), value, &by, 0) {
        Ok(()) => out,
        Err(_) => format!("a long {}", value.type_name()),
    }
}

fn mixed_integers(a: &Value, b: &Value) -> Option<Ordering> {
    let number = |value: &Value| match value {
        Value::Int(kind, bits) if kind.is_unsigned() => Some(i128::from(bits.cast_unsigned())),
        Value::Int(_, bits) | Value::Whole(bits) => Some(i128::from(*bits)),
        _ => None,
    };
    Some(number(a)?.cmp(&number(b)?))
}

/// The number of a `float64`; `None` for other types.
const fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Float(number) => Some(*number),
        Value::Whole(number) => Some(*number as f64),
        _ => None,
    }
}

fn incompatible(a: &Value, b: &Value) -> Fault {
    let (a, b) = (a.type_name(), b.type_name());
    format!("incompatible types for comparison: {a} and {b}").into()
}

fn less(a: &Value, b: &Value) -> Result<bool, Fault> {
    if kind(a) == Kind::None || kind(b) == Kind::None {
        return Err("invalid type for comparison".into());
    }
    if let Some(order) = mixed_integers(a, b) {
        return Ok(order == Ordering::Less);
    }
    if let (Some(a), Some(b)) = (float(a), float(b)) {
        return Ok(a < b);
    }
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => Ok(a < b),
        (Value::Bool(_), Value::Bool(_)) => Err("invalid type for comparison".into()),
        _ => Err(incompatible(a, b)),
    }
}

pub(super) fn ne(_: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    Ok(Value::Bool(!equal(&args[0], &args[1])?))
}

pub(super) fn lt(_: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    Ok(Value::Bool(less(&args[0], &args[1])?))
}

pub(super) fn le(_: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let holds = less(&args[0], &args[1])? || equal(&args[0], &args[1])?;
    Ok(Value::Bool(holds))
}

pub(super) fn gt(_: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let holds = less(&args[0], &args[1])? || equal(&args[0], &args[1])?;
    Ok(Value::Bool(!holds))
}

pub(super) fn ge(_: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    Ok(Value::Bool(!less(&args[0], &args[1])?))
}
