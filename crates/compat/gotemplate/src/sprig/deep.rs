//! Comparison, copy and search of whole values with all their contents. The work is counted,
//! because a value may contain another value many times.

use crate::call::Call;
use crate::fault::Fault;
use crate::value::{List, Map, NESTING_MAX, Value};
use std::rc::Rc;

/// `reflect.DeepEqual`: whether types and contents are equal.
pub(super) fn equal(call: &mut Call<'_>, a: &Value, b: &Value) -> Result<bool, Fault> {
    equal_at(call, a, b, 0)
}

fn equal_at(call: &mut Call<'_>, a: &Value, b: &Value, depth: u32) -> Result<bool, Fault> {
    call.work(1)?;
    check_depth(depth)?;
    match (a, b) {
        (Value::Missing | Value::Nil, Value::Missing | Value::Nil) => Ok(true),
        (Value::Bool(a), Value::Bool(b)) => Ok(a == b),
        (Value::Int(kind, a), Value::Int(other, b)) => Ok(kind == other && a == b),
        (Value::Float(a), Value::Float(b)) => Ok(a == b),
        (Value::Str(a), Value::Str(b)) => Ok(a == b),
        (Value::List(a), Value::List(b)) => {
            let same_shape = a.element() == b.element()
                && a.is_nil() == b.is_nil()
                && a.items().len() == b.items().len();
            if !same_shape {
                return Ok(false);
            }
            for (a, b) in a.items().iter().zip(b.items()) {
                if !equal_at(call, a, b, depth + 1)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Map(a), Value::Map(b)) => {
            if a.entry() != b.entry() || a.len() != b.len() {
                return Ok(false);
            }
            for ((key, a), (other, b)) in a.borrow().iter().zip(b.borrow().iter()) {
                if key != other || !equal_at(call, a, b, depth + 1)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Time(a), Value::Time(b)) => Ok(a == b),
        (Value::Version(a), Value::Version(b)) => Ok(a == b),
        (Value::Object(a), Value::Object(b)) => Ok(Rc::ptr_eq(a, b)),
        _ => Ok(false),
    }
}

/// A copy that shares no dictionary with the original.
pub(super) fn copy(call: &mut Call<'_>, value: &Value) -> Result<Value, Fault> {
    copy_at(call, value, 0)
}

fn copy_at(call: &mut Call<'_>, value: &Value, depth: u32) -> Result<Value, Fault> {
    call.values(1)?;
    check_depth(depth)?;
    match value {
        Value::List(list) if list.is_nil() => Ok(value.clone()),
        Value::List(list) => {
            let mut items = Vec::new();
            for item in list.items() {
                items.push(copy_at(call, item, depth + 1)?);
            }
            Ok(Value::List(Rc::new(List::with_element(
                list.element(),
                items,
            ))))
        }
        Value::Map(map) => {
            let copy = match map.entry() {
                crate::value::Entry::Any => Map::of_any(),
                crate::value::Entry::Str => Map::of_strings(),
            };
            for (key, item) in map.borrow().iter() {
                copy.insert(Rc::clone(key), copy_at(call, item, depth + 1)?);
            }
            Ok(Value::Map(Rc::new(copy)))
        }
        other => Ok(other.clone()),
    }
}

/// Returns an error if `map` would contain itself, because such a value could not be printed.
pub(super) fn refuse_cycle(call: &mut Call<'_>, map: &Map, value: &Value) -> Result<(), Fault> {
    let mut pending = vec![value.clone()];
    while let Some(value) = pending.pop() {
        call.work(1)?;
        match &value {
            Value::List(list) => {
                call.work(list.items().len())?;
                let inner = list.items().iter().filter(|item| is_container(item));
                pending.extend(inner.cloned());
            }
            Value::Map(inner) if std::ptr::eq(&**inner, map) => {
                return Err("a dictionary can't contain itself".into());
            }
            Value::Map(inner) => {
                call.work(inner.len())?;
                let entries = inner.borrow();
                let inner = entries.values().filter(|item| is_container(item));
                pending.extend(inner.cloned());
            }
            _ => {}
        }
    }
    Ok(())
}

const fn is_container(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Map(_))
}

pub(super) fn check_depth(depth: u32) -> Result<(), Fault> {
    match depth > NESTING_MAX {
        true => Err("a value is nested too deeply".into()),
        false => Ok(()),
    }
}
