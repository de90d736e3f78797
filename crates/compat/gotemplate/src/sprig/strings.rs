//! Functions from strings to strings, and tests of strings.

use super::arguments::{int, text};
use super::convert::string_of;
use crate::call::Call;
use crate::fault::Fault;
use crate::format;
use crate::function::Row;
use crate::quote;
use crate::raw_bytes;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Row] = &[
    ("cat", "a*", cat),
    ("contains", "ss", |_, args| {
        Ok(text(args, 1).contains(text(args, 0)).into())
    }),
    ("hasPrefix", "ss", |_, args| {
        Ok(text(args, 1).starts_with(text(args, 0)).into())
    }),
    ("hasSuffix", "ss", |_, args| {
        Ok(text(args, 1).ends_with(text(args, 0)).into())
    }),
    ("lower", "s", |call, args| {
        call.text(
            text(args, 0)
                .chars()
                .map(super::case::lower)
                .collect::<String>(),
        )
    }),
    ("nospace", "s", |call, args| {
        let kept = text(args, 0).chars().filter(|c| !c.is_whitespace());
        call.text(kept.collect::<String>())
    }),
    ("plural", "ssi", |call, args| {
        call.text(text(args, usize::from(int(args, 2) != 1)))
    }),
    ("quote", "a*", quote),
    ("repeat", "is", repeat),
    ("replace", "sss", replace),
    ("squote", "a*", squote),
    ("substr", "iis", substr),
    ("trim", "s", |call, args| call.text(text(args, 0).trim())),
    ("trimAll", "ss", trim_all),
    ("trimPrefix", "ss", |call, args| {
        let (prefix, whole) = (text(args, 0), text(args, 1));
        call.text(whole.strip_prefix(prefix).unwrap_or(whole))
    }),
    ("trimSuffix", "ss", |call, args| {
        let (suffix, whole) = (text(args, 0), text(args, 1));
        call.text(whole.strip_suffix(suffix).unwrap_or(whole))
    }),
    ("trimall", "ss", trim_all),
    ("trunc", "is", trunc),
    ("upper", "s", |call, args| {
        call.text(
            text(args, 0)
                .chars()
                .map(super::case::upper)
                .collect::<String>(),
        )
    }),
];

fn trim_all(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let set = text(args, 0);
    call.work(set.len() / 16)?;
    call.text(text(args, 1).trim_matches(|c| set.contains(c)))
}

fn cat(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    call.write(|sink| {
        let there = args.iter().filter(|value| !value.is_nil());
        there.enumerate().try_for_each(|(n, value)| {
            sink.text(if n > 0 { " " } else { "" })?;
            format::plain(sink, value)
        })
    })
}

fn quote(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let mut parts = Vec::new();
    for value in args.iter().filter(|value| !value.is_nil()) {
        parts.push(quote::quoted(&string_of(call, value)?));
    }
    call.text(parts.join(" "))
}

fn squote(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    call.write(|sink| {
        let there = args.iter().filter(|value| !value.is_nil());
        there.enumerate().try_for_each(|(n, value)| {
            sink.text(if n > 0 { " '" } else { "'" })?;
            format::plain(sink, value)?;
            sink.text("'")
        })
    })
}

fn repeat(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let Ok(count) = usize::try_from(int(args, 0)) else {
        return Err("strings: negative Repeat count".into());
    };
    let part = text(args, 1);
    call.bytes(part.len().saturating_mul(count))?;
    Ok(part.repeat(count).into())
}

fn replace(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let (old, new, whole) = (text(args, 0), text(args, 1), text(args, 2));
    call.work(whole.len() / 16)?;
    let count = whole.matches(old).count();
    call.bytes(whole.len().saturating_add(count.saturating_mul(new.len())))?;
    Ok(whole.replace(old, new).into())
}

/// A slice by byte offsets. If Go would panic, the error is Go's message.
pub(super) fn bytes(whole: &[u8], from: usize, to: usize) -> Result<String, Fault> {
    if to > whole.len() {
        let length = whole.len();
        let message =
            format!("runtime error: slice bounds out of range [:{to}] with length {length}");
        return Err(message.into());
    }
    if from > to {
        return Err(format!("runtime error: slice bounds out of range [{from}:{to}]").into());
    }
    Ok(raw_bytes::to_text(&whole[from..to]))
}

fn substr(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let (start, end) = (int(args, 0), int(args, 1));
    let whole = &*raw_bytes::of_text(text(args, 2));
    let from = usize::try_from(start).unwrap_or(0);
    let to = match usize::try_from(end) {
        Ok(to) if to <= whole.len() => to,
        Ok(to) if start < 0 => to,
        Err(_) if start < 0 => {
            return Err(format!("runtime error: slice bounds out of range [:{end}]").into());
        }
        // The end is the end of the text.
        _ if from > whole.len() => {
            let length = whole.len();
            return Err(
                format!("runtime error: slice bounds out of range [{from}:{length}]").into(),
            );
        }
        _ => whole.len(),
    };
    call.text(bytes(whole, from, to)?)
}

fn trunc(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let (count, text) = (int(args, 0), text(args, 1));
    let whole = &*raw_bytes::of_text(text);
    let kept = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    if kept >= whole.len() {
        return call.text(text);
    }
    let part = match count < 0 {
        true => bytes(whole, whole.len() - kept, whole.len())?,
        false => bytes(whole, 0, kept)?,
    };
    call.text(part)
}
