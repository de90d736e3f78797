//! Dictionaries. Go iterates over a map in random order, this crate in the order of the keys.

use super::arguments::{map, text};
use super::convert::string_of;
use super::deep;
use super::defaults::is_empty;
use crate::call::Call;
use crate::fault::Fault;
use crate::function::Row;
use crate::value::{Entry, Map, Value};
use std::rc::Rc;

pub(super) const FUNCTIONS: &[Row] = &[
    ("deepCopy", "a", deep_copy),
    ("dict", "a*", dict),
    ("dig", "a*", dig),
    ("get", "ms", |_, args| {
        let value = map(args, 0).and_then(|map| map.value(text(args, 1)));
        Ok(value.unwrap_or_else(|| "".into()))
    }),
    ("hasKey", "ms", |_, args| {
        let value = map(args, 0).and_then(|map| map.value(text(args, 1)));
        Ok(value.is_some().into())
    }),
    ("keys", "m*", keys),
    ("merge", "mm*", |call, args| {
        merge(call, args, Overwrite::Empty)
    }),
    ("mergeOverwrite", "mm*", |call, args| {
        merge(call, args, Overwrite::All)
    }),
    ("mustDeepCopy", "a", deep_copy),
    ("mustMerge", "mm*", |call, args| {
        merge(call, args, Overwrite::Empty)
    }),
    ("mustMergeOverwrite", "mm*", |call, args| {
        merge(call, args, Overwrite::All)
    }),
    ("omit", "ms*", |call, args| {
        choose(call, args, Chosen::Others)
    }),
    ("pick", "ms*", |call, args| {
        choose(call, args, Chosen::Named)
    }),
    ("pluck", "sm*", pluck),
    ("set", "msa", set),
    ("unset", "ms", |_, args| {
        if let Some(map) = map(args, 0) {
            map.remove(text(args, 1));
        }
        Ok(args[0].clone())
    }),
    ("values", "m", |call, args| {
        let entries = map(args, 0).map(Map::entries).unwrap_or_default();
        call.values(entries.len())?;
        Ok(Value::list(
            entries.into_iter().map(|(_, value)| value).collect(),
        ))
    }),
];

fn dict(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let dict = Map::of_any();
    call.values(args.len() * 2)?;
    for pair in args.chunks(2) {
        let value = pair.get(1).cloned().unwrap_or_else(|| "".into());
        dict.insert(string_of(call, &pair[0])?, value);
    }
    Ok(Value::Map(Rc::new(dict)))
}

fn set(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let Some(map) = map(args, 0) else {
        return Err("assignment to entry in nil map".into());
    };
    call.values(2)?;
    deep::refuse_cycle(call, map, &args[2])?;
    map.insert(text(args, 1).into(), args[2].clone());
    Ok(args[0].clone())
}

fn keys(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let mut keys: Vec<Rc<str>> = Vec::new();
    for n in 0..args.len() {
        let entries = map(args, n).map(Map::entries).unwrap_or_default();
        call.values(entries.len())?;
        keys.extend(entries.into_iter().map(|(key, _)| key));
    }
    Ok(Value::strings(keys))
}

fn pluck(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let key = text(args, 0);
    call.values(args.len())?;
    let found = (1..args.len()).filter_map(|n| map(args, n)?.value(key));
    Ok(Value::list(found.collect()))
}

/// The entries to keep.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chosen {
    Named,
    Others,
}

fn choose(call: &mut Call<'_>, args: &[Value], chosen: Chosen) -> Result<Value, Fault> {
    let kept = Map::of_any();
    let entries = map(args, 0).map(Map::entries).unwrap_or_default();
    call.values(entries.len() * 2)?;
    call.work(entries.len().saturating_mul(args.len()))?;
    for (key, value) in entries {
        let named = args[1..].iter().any(|name| name.as_str() == Some(&*key));
        if named == (chosen == Chosen::Named) {
            kept.insert(key, value);
        }
    }
    Ok(Value::Map(Rc::new(kept)))
}

/// The entries of the first dictionary that a merge overwrites.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Overwrite {
    All,
    Empty,
}

fn merge(call: &mut Call<'_>, args: &[Value], overwrite: Overwrite) -> Result<Value, Fault> {
    let Some(first) = map(args, 0) else {
        return match args.iter().any(|arg| !arg.is_nil()) {
            true => Err("assignment to entry in nil map".into()),
            false => Ok(Value::Nil),
        };
    };
    for n in 1..args.len() {
        if let Some(other) = map(args, n) {
            merge_into(call, first, other, overwrite, 0)?;
        }
    }
    Ok(args[0].clone())
}

fn merge_into(
    call: &mut Call<'_>,
    first: &Map,
    other: &Map,
    overwrite: Overwrite,
    depth: u32,
) -> Result<(), Fault> {
    deep::check_depth(depth)?;
    if std::ptr::eq(first, other) {
        return Ok(());
    }
    let entries = other.entries();
    call.values(entries.len() * 2)?;
    for (key, value) in entries {
        let old = first.value(&key);
        if let (Some(Value::Map(old)), Value::Map(new)) = (&old, &value)
            && old.entry() == Entry::Any
        {
            merge_into(call, old, new, overwrite, depth + 1)?;
            if !old.is_empty() {
                continue;
            }
        }
        let gives_way = old.as_ref().is_none_or(is_empty);
        let takes = match value.is_nil() {
            true => overwrite == Overwrite::All,
            false => overwrite == Overwrite::All || gives_way,
        };
        if takes {
            deep::refuse_cycle(call, first, &value)?;
            first.insert(key, value);
        }
    }
    Ok(())
}

fn deep_copy(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    deep::copy(call, &args[0])
}

/// `dig "a" "b" default dict`
fn dig(_: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let [keys @ .., default, start] = args else {
        return Err("dig needs at least three arguments".into());
    };
    if keys.is_empty() {
        return Err("dig needs at least three arguments".into());
    }
    let mut value = start.clone();
    for key in keys {
        let Value::Map(map) = &value else {
            return Err(no_conversion(&value, "map[string]interface {}"));
        };
        let Value::Str(key) = key else {
            return Err(no_conversion(key, "string"));
        };
        let Some(next) = map.value(key) else {
            return Ok(default.clone());
        };
        value = next;
    }
    Ok(value)
}

fn no_conversion(value: &Value, wanted: &str) -> Fault {
    let name = match value.type_name() {
        "<nil>" => "nil",
        name => name,
    };
    format!("interface conversion: interface {{}} is {name}, not {wanted}").into()
}
