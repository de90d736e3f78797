//! Lists. Go's nil slices are distinct from empty slices, because they differ in JSON.

use super::arguments::{int, text};
use super::convert::{strings_of, to_int};
use super::deep;
use super::defaults::is_empty;
use crate::call::Call;
use crate::fault::Fault;
use crate::format;
use crate::function::Row;
use crate::value::{Element, List, Map, Value};
use std::rc::Rc;

pub(super) const FUNCTIONS: &[Row] = &[
    ("append", "aa", push),
    ("chunk", "ia", chunk),
    ("compact", "a", compact),
    ("concat", "a*", concat),
    ("first", "a", |_, args| end(args, "first", <[Value]>::first)),
    ("has", "aa", has),
    ("initial", "a", initial),
    ("join", "sa", join),
    ("last", "a", |_, args| end(args, "last", <[Value]>::last)),
    ("list", "a*", list),
    ("mustAppend", "aa", push),
    ("mustChunk", "ia", chunk),
    ("mustCompact", "a", compact),
    ("mustFirst", "a", |_, args| {
        end(args, "first", <[Value]>::first)
    }),
    ("mustHas", "aa", has),
    ("mustInitial", "a", initial),
    ("mustLast", "a", |_, args| {
        end(args, "last", <[Value]>::last)
    }),
    ("mustPrepend", "aa", prepend),
    ("mustPush", "aa", push),
    ("mustRest", "a", rest),
    ("mustReverse", "a", reverse),
    ("mustSlice", "aa*", slice),
    ("mustUniq", "a", uniq),
    ("mustWithout", "aa*", without),
    ("prepend", "aa", prepend),
    ("push", "aa", push),
    ("rest", "a", rest),
    ("reverse", "a", reverse),
    ("slice", "aa*", slice),
    ("sortAlpha", "a", sort_alpha),
    ("split", "ss", |call, args| {
        split(call, text(args, 0), -1, text(args, 1))
    }),
    ("splitList", "ss", |call, args| {
        let parts = parts(call, text(args, 0), -1, text(args, 1))?;
        Ok(Value::strings(parts))
    }),
    ("splitn", "sis", |call, args| {
        split(call, text(args, 0), int(args, 1), text(args, 2))
    }),
    ("tuple", "a*", list),
    ("uniq", "a", uniq),
    ("without", "aa*", without),
];

fn list(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    call.values(args.len())?;
    Ok(Value::list(args.to_vec()))
}

fn nil() -> Value {
    Value::List(Rc::new(List::nil(Element::Any)))
}

/// The items of an argument that must be a list.
fn items<'a>(value: &'a Value, verb: &str) -> Result<&'a [Value], Fault> {
    match value {
        Value::List(list) => Ok(list.items()),
        nil if nil.is_nil() => Err(NIL.into()),
        other => Err(format!("Cannot {verb} type {}", other.kind_name()).into()),
    }
}

const NIL: &str = "runtime error: invalid memory address or nil pointer dereference";

fn push(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let items = items(&args[0], "push on")?;
    call.values(items.len() + 1)?;
    let mut all = items.to_vec();
    all.push(args[1].clone());
    Ok(Value::list(all))
}

fn prepend(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let items = items(&args[0], "prepend on")?;
    call.values(items.len() + 1)?;
    let mut all = vec![args[1].clone()];
    all.extend_from_slice(items);
    Ok(Value::list(all))
}

fn end(
    args: &[Value],
    which: &str,
    choose: fn(&[Value]) -> Option<&Value>,
) -> Result<Value, Fault> {
    let items = items(&args[0], &format!("find {which} on"))?;
    Ok(choose(items).cloned().unwrap_or(Value::Nil))
}

fn rest(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let items = items(&args[0], "find rest on")?;
    call.values(items.len())?;
    Ok(items
        .split_first()
        .map_or_else(nil, |(_, rest)| Value::list(rest.to_vec())))
}

fn initial(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let items = items(&args[0], "find initial on")?;
    call.values(items.len())?;
    Ok(items
        .split_last()
        .map_or_else(nil, |(_, rest)| Value::list(rest.to_vec())))
}

fn reverse(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let items = items(&args[0], "find reverse on")?;
    call.values(items.len())?;
    Ok(Value::list(items.iter().rev().cloned().collect()))
}

fn compact(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let items = items(&args[0], "compact on")?;
    call.values(items.len())?;
    let kept = items.iter().filter(|item| !is_empty(item));
    Ok(Value::list(kept.cloned().collect()))
}

fn contains(call: &mut Call<'_>, items: &[Value], wanted: &Value) -> Result<bool, Fault> {
    for item in items {
        if deep::equal(call, wanted, item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn uniq(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let items = items(&args[0], "find uniq on")?;
    call.values(items.len())?;
    let mut kept: Vec<Value> = Vec::new();
    for item in items {
        if !contains(call, &kept, item)? {
            kept.push(item.clone());
        }
    }
    Ok(Value::list(kept))
}

fn without(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let items = items(&args[0], "find without on")?;
    call.values(items.len())?;
    let mut kept = Vec::new();
    for item in items {
        if !contains(call, &args[1..], item)? {
            kept.push(item.clone());
        }
    }
    Ok(Value::list(kept))
}

fn has(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    if args[1].is_nil() {
        return Ok(Value::Bool(false));
    }
    let items = items(&args[1], "find has on")?;
    Ok(contains(call, items, &args[0])?.into())
}

fn slice(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let list = match &args[0] {
        Value::List(list) => list,
        nil if nil.is_nil() => return Err(NIL.into()),
        other => {
            let kind = other.kind_name();
            return Err(format!("list should be type of slice or array but {kind}").into());
        }
    };
    let items = list.items();
    if items.is_empty() {
        return Ok(Value::Nil);
    }
    let from = args.get(1).map_or(0, to_int);
    let to = args.get(2).map_or(items.len() as i64, to_int);
    let bounds = (usize::try_from(from), usize::try_from(to));
    let (Ok(from), Ok(to)) = bounds else {
        return Err("reflect.Value.Slice: slice index out of bounds".into());
    };
    let Some(part) = items.get(from..to) else {
        return Err("reflect.Value.Slice: slice index out of bounds".into());
    };
    call.values(part.len())?;
    Ok(Value::List(Rc::new(List::with_element(
        list.element(),
        part.to_vec(),
    ))))
}

fn concat(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let mut all: Option<Vec<Value>> = None;
    for arg in args {
        let items = match arg {
            Value::List(list) => list.items(),
            nil if nil.is_nil() => return Err(NIL.into()),
            other => {
                let kind = other.kind_name();
                return Err(format!("Cannot concat type {kind} as list").into());
            }
        };
        call.values(items.len())?;
        if !items.is_empty() {
            all.get_or_insert_default().extend_from_slice(items);
        }
    }
    Ok(all.map_or_else(nil, Value::list))
}

fn chunk(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let items = items(&args[1], "chunk")?;
    let size = int(args, 0);
    let chunks: Vec<Value> = match usize::try_from(size) {
        _ if items.is_empty() => Vec::new(),
        Ok(size) if size > 0 => {
            call.values(items.len() * 2)?;
            items
                .chunks(size)
                .map(|part| Value::list(part.to_vec()))
                .collect()
        }
        _ => return Err("runtime error: makeslice: len out of range".into()),
    };
    Ok(Value::List(Rc::new(List::with_element(
        Element::List,
        chunks,
    ))))
}

fn sort_alpha(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    if args[0].is_nil() {
        // Go prints a nil interface.
        return Ok(Value::strings(["<nil>"]));
    }
    let mut strings = strings_of(call, &args[0])?;
    call.work(strings.len().saturating_mul(4))?;
    strings.sort_unstable();
    Ok(Value::strings(strings))
}

fn join(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let separator = text(args, 0);
    let Value::List(list) = &args[1] else {
        let strings = strings_of(call, &args[1])?;
        return call.text(strings.join(separator));
    };
    call.work(list.items().len())?;
    call.write(|sink| {
        let there = list.items().iter().filter(|item| !item.is_nil());
        there.enumerate().try_for_each(|(n, item)| {
            sink.text(if n > 0 { separator } else { "" })?;
            format::plain(sink, item)
        })
    })
}

/// Splits a text into at most `most` parts; without a limit if `most` is negative.
fn parts<'t>(
    call: &mut Call<'_>,
    separator: &str,
    most: i64,
    whole: &'t str,
) -> Result<Vec<&'t str>, Fault> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    call.values(whole.len().min(most))?;
    call.bytes(whole.len())?;
    if most == 0 {
        return Ok(Vec::new());
    }
    if !separator.is_empty() {
        return Ok(whole.splitn(most, separator).collect());
    }
    // With an empty separator, every character is a part.
    let mut parts = Vec::new();
    let mut rest = whole;
    while let Some(c) = rest.chars().next() {
        if parts.len() + 1 == most {
            parts.push(rest);
            break;
        }
        let (part, after) = rest.split_at(c.len_utf8());
        parts.push(part);
        rest = after;
    }
    Ok(parts)
}

/// The parts as a map with keys `_0`, `_1` …
fn split(call: &mut Call<'_>, separator: &str, most: i64, whole: &str) -> Result<Value, Fault> {
    let parts = parts(call, separator, most, whole)?;
    let map = Map::of_strings();
    for (n, part) in parts.into_iter().enumerate() {
        map.insert(format!("_{n}").into(), part.into());
    }
    Ok(Value::Map(Rc::new(map)))
}
