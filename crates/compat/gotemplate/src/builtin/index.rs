//! `index`, `slice` and `len`.

use crate::call::Call;
use crate::fault::Fault;
use crate::raw_bytes;
use crate::value::{Entry, IntKind, List, Value};
use std::rc::Rc;

pub(super) fn index(_: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let [item, indexes @ ..] = args else {
        return Err("index of untyped nil".into());
    };
    if item.is_nil() {
        return Err("index of untyped nil".into());
    }
    let mut item = item.clone();
    for index in indexes {
        item = match &item {
            Value::List(list) => {
                let at = position(index, list.items().len())?;
                list.items()
                    .get(at)
                    .cloned()
                    .ok_or("reflect: slice index out of range")?
            }
            Value::Str(text) => {
                let bytes = raw_bytes::of_text(text);
                let at = position(index, bytes.len())?;
                let byte = bytes.get(at).ok_or("reflect: string index out of range")?;
                Value::Int(IntKind::Uint8, i64::from(*byte))
            }
            Value::Map(map) => {
                let key = match index {
                    Value::Str(key) => key,
                    nil if nil.is_nil() => {
                        return Err("value is nil; should be of type string".into());
                    }
                    other => {
                        let name = other.type_name();
                        return Err(format!("value has type {name}; should be string").into());
                    }
                };
                map.value(key).unwrap_or_else(|| match map.entry() {
                    Entry::Any => Value::Nil,
                    Entry::Str => "".into(),
                })
            }
            Value::Missing | Value::Nil => return Err("index of nil pointer".into()),
            other => return Err(format!("can't index item of type {}", other.type_name()).into()),
        };
    }
    Ok(item)
}

fn position(index: &Value, length: usize) -> Result<usize, Fault> {
    let number = match index {
        Value::Int(_, bits) | Value::Whole(bits) => *bits,
        nil if nil.is_nil() => return Err("cannot index slice/array with nil".into()),
        other => {
            let name = other.type_name();
            return Err(format!("cannot index slice/array with type {name}").into());
        }
    };
    match usize::try_from(number) {
        Ok(at) if at <= length => Ok(at),
        _ => Err(format!("index out of range: {number}").into()),
    }
}

pub(super) fn slice(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let [item, indexes @ ..] = args else {
        return Err("slice of untyped nil".into());
    };
    if item.is_nil() {
        return Err("slice of untyped nil".into());
    }
    if indexes.len() > 3 {
        return Err(format!("too many slice indexes: {}", indexes.len()).into());
    }
    let length = match item {
        Value::Str(_) if indexes.len() == 3 => return Err("cannot 3-index slice a string".into()),
        Value::Str(text) => raw_bytes::of_text(text).len(),
        Value::List(list) => list.items().len(),
        other => return Err(format!("can't slice item of type {}", other.type_name()).into()),
    };
    let mut bounds = [0, length, length];
    for (bound, index) in bounds.iter_mut().zip(indexes) {
        *bound = position(index, length)?;
    }
    let [from, to, most] = bounds;
    if from > to {
        return Err(format!("invalid slice index: {from} > {to}").into());
    }
    if to > most {
        return Err(format!("invalid slice index: {to} > {most}").into());
    }
    match item {
        Value::Str(text) => {
            let bytes = raw_bytes::of_text(text);
            call.text(raw_bytes::to_text(&bytes[from..to]))
        }
        Value::List(list) => {
            call.values(to - from)?;
            let items = list.items()[from..to].to_vec();
            Ok(Value::List(Rc::new(List::with_element(
                list.element(),
                items,
            ))))
        }
        _ => Ok(Value::Nil),
    }
}

pub(super) fn len(_: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let length = match &args[0] {
        Value::List(list) => list.items().len(),
        Value::Map(map) => map.len(),
        Value::Str(text) => raw_bytes::of_text(text).len(),
        Value::Missing => {
            return Err("reflect: call of reflect.Value.Type on zero Value".into());
        }
        Value::Nil => return Err("len of nil pointer".into()),
        other => return Err(format!("len of type {}", other.type_name()).into()),
    };
    Ok(Value::int(length as i64))
}
