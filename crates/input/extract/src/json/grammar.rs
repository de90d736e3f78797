//! The grammar of JSON paths (RFC 9535): parses a text to a tree.
//!
//! Each function reads one production at the cursor. The submodule reads filters, whose queries are
//! paths again.

mod filter;

use super::cursor::Cursor;
use super::path::{Path, PathSegment, Selector, Slice};
use crate::ParseError;

/// The maximum length of a path, in bytes.
const LENGTH_MAX: usize = 1024;

/// Parses a path.
pub(super) fn parse(text: &str) -> Result<Path, ParseError> {
    if text.len() > LENGTH_MAX {
        return Err(ParseError::new(0, "a path has at most 1,024 bytes"));
    }
    if !text.starts_with('$') {
        let reason = format!("a JSON path starts with `$`: write `{}`", with_root(text));
        return Err(ParseError::new(0, reason));
    }
    let mut cursor = Cursor::new(text);
    cursor.pass(1);
    let segments = segments(&mut cursor)?;
    if !cursor.rest().is_empty() {
        return Err(cursor.error("continue the path with `.name`, `['name']` or `[0]`"));
    }
    Ok(Path { segments })
}

/// The probable path for a text without a root: `items.0.id` means `$.items[0].id`.
fn with_root(text: &str) -> String {
    let mut path = "$".to_owned();
    for name in text.trim_start_matches('.').split('.') {
        match !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
            true => path.extend(["[", name, "]"]),
            false => path.extend([".", &*name.escape_debug().to_string()]),
        }
    }
    path
}

/// All consecutive segments.
fn segments(cursor: &mut Cursor<'_>) -> Result<Vec<PathSegment>, ParseError> {
    let mut segments = Vec::new();
    loop {
        let start = cursor.position();
        cursor.skip_space();
        let descends = cursor.consume("..");
        let selectors = if cursor.consume("[") {
            bracketed(cursor)?
        } else if descends || cursor.consume(".") {
            vec![shorthand(cursor)?]
        } else {
            cursor.go_to(start);
            return Ok(segments);
        };
        segments.push(PathSegment {
            descends,
            selectors,
        });
    }
}

/// `name` or `*` after a dot.
fn shorthand(cursor: &mut Cursor<'_>) -> Result<Selector, ParseError> {
    if cursor.consume("*") {
        return Ok(Selector::Wildcard);
    }
    let is_name = |c: char| c == '_' || !c.is_ascii() || c.is_ascii_alphanumeric();
    let rest = cursor.rest();
    let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
    let name: Box<str> = rest[..length].into();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(
            cursor.error("expected a name, `*` or `[` after the dot; write an index as `[0]`")
        );
    }
    if rest[length..].starts_with('-') {
        cursor.pass(length);
        return Err(cursor.error("quote a name with `-`: `['first-name']`"));
    }
    cursor.pass(length);
    Ok(Selector::Name(name))
}

/// Selectors between brackets, after the opening bracket.
fn bracketed(cursor: &mut Cursor<'_>) -> Result<Vec<Selector>, ParseError> {
    let mut selectors = Vec::new();
    loop {
        cursor.skip_space();
        selectors.push(selector(cursor)?);
        cursor.skip_space();
        if cursor.consume("]") {
            return Ok(selectors);
        }
        if !cursor.consume(",") {
            return Err(cursor.error("a `]` is missing, or a `,` before the next selector"));
        }
    }
}

fn selector(cursor: &mut Cursor<'_>) -> Result<Selector, ParseError> {
    if cursor.consume("*") {
        return Ok(Selector::Wildcard);
    }
    if cursor.rest().starts_with(['\'', '"']) {
        return Ok(Selector::Name(cursor.quoted()?.into()));
    }
    if cursor.consume("?") {
        let filter = cursor.nested(filter::parse)?;
        return Ok(Selector::Filter(Box::new(filter)));
    }
    let start = cursor.integer()?;
    let behind = cursor.position();
    cursor.skip_space();
    if cursor.consume(":") {
        return Ok(Selector::Slice(slice(cursor, start)?));
    }
    cursor.go_to(behind);
    start.map(Selector::Index).ok_or_else(|| {
        cursor.error("write a name in quotes, an index, a slice, `*` or a filter `?…`")
    })
}

/// The rest of a slice, after its first `:`.
fn slice(cursor: &mut Cursor<'_>, start: Option<i64>) -> Result<Slice, ParseError> {
    cursor.skip_space();
    let end = cursor.integer()?;
    cursor.skip_space();
    let step = if cursor.consume(":") {
        cursor.skip_space();
        cursor.integer()?
    } else {
        None
    };
    let step = step.unwrap_or(1);
    Ok(Slice { start, end, step })
}
