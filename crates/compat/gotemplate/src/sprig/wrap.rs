//! Functions on lines: wrap, indent, abbreviate.

use super::arguments::{int, text};
use super::strings::bytes;
use crate::call::Call;
use crate::fault::Fault;
use crate::function::Row;
use crate::raw_bytes;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Row] = &[
    ("abbrev", "is", |call, args| {
        let (width, whole) = (int(args, 0), text(args, 1));
        call.text(abbreviate(whole, 0, width)?)
    }),
    ("abbrevboth", "iis", abbrevboth),
    ("indent", "is", |call, args| indent(call, "", args)),
    ("nindent", "is", |call, args| indent(call, "\n", args)),
    ("wrap", "is", |call, args| {
        wrap(call, text(args, 1), int(args, 0), ("\n", LongWords::Kept))
    }),
    ("wrapWith", "iss", |call, args| {
        let line_end = match text(args, 1) {
            "" => "\n",
            given => given,
        };
        wrap(
            call,
            text(args, 2),
            int(args, 0),
            (line_end, LongWords::Broken),
        )
    }),
];

fn abbrevboth(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let (left, right, whole) = (int(args, 0), int(args, 1), text(args, 2));
    if right < 4 || left > 0 && right < 7 {
        return call.text(whole);
    }
    call.text(abbreviate(whole, left, right)?)
}

/// At most `width` bytes of a text, from about `offset`, with dots for omitted text.
fn abbreviate(whole: &str, offset: i64, width: i64) -> Result<String, Fault> {
    let whole_bytes = raw_bytes::of_text(whole);
    let length = whole_bytes.len() as i64;
    if whole.is_empty() || width < 4 || length <= width {
        return Ok(whole.to_owned());
    }
    let part = |from: i64, to: i64| {
        let place = |at: i64| usize::try_from(at).unwrap_or(0);
        bytes(&whole_bytes, place(from), place(to))
    };
    let kept = width - 3;
    let offset = offset.min(length);
    let offset = if length - offset < kept {
        length - kept
    } else {
        offset
    };
    if offset <= 4 {
        return Ok(format!("{}...", part(0, kept)?));
    }
    if width < 7 {
        return Ok(String::new());
    }
    if offset + kept < length {
        let rest = part(offset, length)?;
        return Ok(format!("...{}", abbreviate(&rest, 0, kept)?));
    }
    Ok(format!("...{}", part(length - kept, length)?))
}

fn indent(call: &mut Call<'_>, before: &str, args: &[Value]) -> Result<Value, Fault> {
    let Ok(spaces) = usize::try_from(int(args, 0)) else {
        return Err("strings: negative Repeat count".into());
    };
    let whole = text(args, 1);
    call.work(whole.len() / 16)?;
    let lines = 1 + whole.matches('\n').count();
    call.bytes(whole.len().saturating_add(lines.saturating_mul(spaces)))?;
    let pad = " ".repeat(spaces);
    let indented = whole.replace('\n', &format!("\n{pad}"));
    Ok(format!("{before}{pad}{indented}").into())
}

/// The treatment of words that are longer than a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LongWords {
    Kept,
    Broken,
}

/// Breaks a text at spaces; widths count bytes.
fn wrap(
    call: &mut Call<'_>,
    whole: &str,
    width: i64,
    (line_end, long_words): (&str, LongWords),
) -> Result<Value, Fault> {
    let bytes = &*raw_bytes::of_text(whole);
    let width = usize::try_from(width).unwrap_or(1).max(1);
    let breaks = whole.len() / width + 1;
    call.bytes(
        whole
            .len()
            .saturating_add(breaks.saturating_mul(line_end.len())),
    )?;
    let mut out: Vec<u8> = Vec::with_capacity(whole.len());
    let mut from = 0;
    while bytes.len() - from > width {
        if bytes[from] == b' ' {
            from += 1;
            continue;
        }
        let line = &bytes[from..=from + width];
        let space = line.iter().rposition(|byte| *byte == b' ');
        let (to, next) = match (space, long_words) {
            (Some(space), _) => (from + space, from + space + 1),
            (None, LongWords::Broken) => (from + width, from + width),
            (None, LongWords::Kept) => {
                let behind = &bytes[from + width..];
                let Some(space) = behind.iter().position(|byte| *byte == b' ') else {
                    break;
                };
                (from + width + space, from + width + space + 1)
            }
        };
        out.extend_from_slice(&bytes[from..to]);
        out.extend_from_slice(line_end.as_bytes());
        from = next;
    }
    out.extend_from_slice(&bytes[from..]);
    Ok(raw_bytes::to_text(&out).into())
}
