//! Regular expressions with Go's syntax, in time linear in the text.

use super::arguments::{int, text};
use crate::call::Call;
use crate::fault::Fault;
use crate::function::Row;
use crate::value::{Element, List, Value};
use regex::{NoExpand, Regex, RegexBuilder};
use std::cell::RefCell;
use std::rc::Rc;

pub(super) const FUNCTIONS: &[Row] = &[
    ("mustRegexFind", "ss", |call, args| {
        find(call, args, Errors::Returned)
    }),
    ("mustRegexFindAll", "ssi", |call, args| {
        find_all(call, args, Errors::Returned)
    }),
    ("mustRegexMatch", "ss", |call, args| {
        let regex = compiled(call, args, Errors::Returned)?;
        Ok(regex.is_match(text(args, 1)).into())
    }),
    ("mustRegexReplaceAll", "sss", |call, args| {
        replace(call, args, Errors::Returned)
    }),
    ("mustRegexReplaceAllLiteral", "sss", |call, args| {
        replace_literal(call, args, Errors::Returned)
    }),
    ("mustRegexSplit", "ssi", |call, args| {
        split(call, args, Errors::Returned)
    }),
    ("regexFind", "ss", |call, args| {
        find(call, args, Errors::Panic)
    }),
    ("regexFindAll", "ssi", |call, args| {
        find_all(call, args, Errors::Panic)
    }),
    ("regexMatch", "ss", |call, args| {
        let found =
            compiled(call, args, Errors::Returned).is_ok_and(|regex| regex.is_match(text(args, 1)));
        Ok(found.into())
    }),
    ("regexQuoteMeta", "s", |call, args| {
        let mut out = String::new();
        for c in text(args, 0).chars() {
            if "\\.+*?()|[]{}^$".contains(c) {
                out.push('\\');
            }
            out.push(c);
        }
        call.text(out)
    }),
    ("regexReplaceAll", "sss", |call, args| {
        replace(call, args, Errors::Panic)
    }),
    ("regexReplaceAllLiteral", "sss", |call, args| {
        replace_literal(call, args, Errors::Panic)
    }),
    ("regexSplit", "ssi", |call, args| {
        split(call, args, Errors::Panic)
    }),
];

/// Whether Go returns the error of an invalid pattern or panics; the messages differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Errors {
    Panic,
    Returned,
}

/// The maximum size of a compiled expression, in bytes.
const COMPILED_BYTES_MAX: usize = 1024 * 1024;

/// The number of compiled expressions that a thread caches.
const KEPT_MAX: usize = 32;

thread_local! {
    /// Compiled expressions, the most recently used last. Each depends only on its pattern.
    static KEPT: RefCell<Vec<(Box<str>, Regex)>> = const { RefCell::new(Vec::new()) };
}

/// The expression of the first argument; counts the second argument as search work.
fn compiled(call: &mut Call<'_>, args: &[Value], errors: Errors) -> Result<Regex, Fault> {
    let pattern = text(args, 0);
    call.work(text(args, 1).len() / 4)?;
    let known = KEPT.with_borrow_mut(|kept| {
        let at = kept.iter().rposition(|(known, _)| **known == *pattern)?;
        let entry = kept.remove(at);
        let regex = entry.1.clone();
        kept.push(entry);
        Some(regex)
    });
    if let Some(regex) = known {
        return Ok(regex);
    }
    // Compiling takes far longer than searching.
    call.work(10_000 + pattern.len())?;
    let regex = RegexBuilder::new(&translated(pattern))
        .size_limit(COMPILED_BYTES_MAX)
        .dfa_size_limit(COMPILED_BYTES_MAX)
        .nest_limit(100)
        .build()
        .map_err(|error| bad_pattern(pattern, &error, errors))?;
    KEPT.with_borrow_mut(|kept| {
        if kept.len() >= KEPT_MAX {
            kept.remove(0);
        }
        kept.push((pattern.into(), regex.clone()));
    });
    Ok(regex)
}

fn bad_pattern(pattern: &str, error: &regex::Error, errors: Errors) -> Fault {
    let reason = match error {
        regex::Error::CompiledTooBig(_) => "expression too large".to_owned(),
        error => {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            last.trim_start_matches("error: ").to_owned()
        }
    };
    let message = format!("error parsing regexp: {reason}: `{pattern}`");
    match errors {
        Errors::Returned => message.into(),
        Errors::Panic => format!("regexp: Compile({}): {message}", raw(pattern)).into(),
    }
}

fn raw(pattern: &str) -> String {
    match pattern.contains('`') {
        true => crate::quote::quoted(pattern),
        false => format!("`{pattern}`"),
    }
}

/// Translates a Go pattern for the `regex` crate: classes such as `\d` become ASCII classes, and
/// characters that only this crate interprets inside brackets are escaped.
fn translated(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut chars = pattern.chars().peekable();
    let mut in_class = false;
    let mut class_is_empty = false;
    while let Some(c) = chars.next() {
        let first_in_class = std::mem::take(&mut class_is_empty);
        match c {
            '\\' => match chars.next() {
                Some('Q') if !in_class => quote_until_end(&mut out, &mut chars),
                Some(letter) => escape(&mut out, letter, in_class),
                None => out.push('\\'),
            },
            '[' if !in_class => {
                in_class = true;
                class_is_empty = true;
                out.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
            }
            '[' if chars.peek() == Some(&':') => {
                out.push('[');
                for c in chars.by_ref() {
                    out.push(c);
                    if c == ']' {
                        break;
                    }
                }
            }
            '[' => out.push_str("\\["),
            ']' if in_class && first_in_class => out.push_str("\\]"),
            ']' => {
                in_class = false;
                out.push(']');
            }
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn quote_until_end(out: &mut String, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while let Some(c) = chars.next() {
        if c == '\\' && chars.next_if_eq(&'E').is_some() {
            return;
        }
        out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
    }
}

fn escape(out: &mut String, letter: char, in_class: bool) {
    let class = match letter {
        'd' | 'D' => "0-9",
        'w' | 'W' => "0-9A-Za-z_",
        's' | 'S' => "\\t\\n\\x0C\\r ",
        'b' if !in_class => {
            out.push_str("(?-u:\\b)");
            return;
        }
        letter => {
            out.push('\\');
            out.push(letter);
            return;
        }
    };
    match (letter.is_uppercase(), in_class) {
        (false, true) => out.push_str(class),
        (false, false) => {
            out.push('[');
            out.push_str(class);
            out.push(']');
        }
        (true, _) => {
            out.push_str("[^");
            out.push_str(class);
            out.push(']');
        }
    }
}

fn find(call: &mut Call<'_>, args: &[Value], errors: Errors) -> Result<Value, Fault> {
    let regex = compiled(call, args, errors)?;
    let found = regex.find(text(args, 1));
    call.text(found.map_or("", |found| found.as_str()))
}

/// The maximum number of matches; without a limit if it is negative.
fn wanted(args: &[Value]) -> usize {
    usize::try_from(int(args, 2)).unwrap_or(usize::MAX)
}

fn find_all(call: &mut Call<'_>, args: &[Value], errors: Errors) -> Result<Value, Fault> {
    let regex = compiled(call, args, errors)?;
    let mut found: Vec<Rc<str>> = Vec::new();
    for part in regex.find_iter(text(args, 1)).take(wanted(args)) {
        call.values(1)?;
        call.bytes(part.len())?;
        found.push(part.as_str().into());
    }
    match found.is_empty() {
        true => Ok(Value::List(Rc::new(List::nil(Element::Str)))),
        false => Ok(Value::strings(found)),
    }
}

fn replace(call: &mut Call<'_>, args: &[Value], errors: Errors) -> Result<Value, Fault> {
    let regex = compiled(call, args, errors)?;
    let (whole, by) = (text(args, 1), text(args, 2));
    reserve(call, &regex, whole, by)?;
    call.text(regex.replace_all(whole, by).into_owned())
}

fn replace_literal(call: &mut Call<'_>, args: &[Value], errors: Errors) -> Result<Value, Fault> {
    let regex = compiled(call, args, errors)?;
    let (whole, by) = (text(args, 1), text(args, 2));
    reserve(call, &regex, whole, by)?;
    call.text(regex.replace_all(whole, NoExpand(by)).into_owned())
}

/// Counts the bytes of the longest possible result: each `$` of a replacement may expand to the
/// whole match.
fn reserve(call: &mut Call<'_>, regex: &Regex, whole: &str, by: &str) -> Result<(), Fault> {
    let matches = regex.find_iter(whole).count();
    let references = by.matches('$').count();
    let grown = matches.saturating_mul(by.len());
    call.bytes(grown.saturating_add(whole.len().saturating_mul(references + 1)))
}

/// The parts between matches, up to the requested number; an empty match at the start creates no
/// part.
fn split(call: &mut Call<'_>, args: &[Value], errors: Errors) -> Result<Value, Fault> {
    let regex = compiled(call, args, errors)?;
    let (pattern, whole, most) = (text(args, 0), text(args, 1), wanted(args));
    if most == 0 {
        return Ok(Value::List(Rc::new(List::nil(Element::Str))));
    }
    if !pattern.is_empty() && whole.is_empty() {
        return Ok(Value::strings([""]));
    }
    let mut parts: Vec<Rc<str>> = Vec::new();
    let (mut from, mut to) = (0, 0);
    for part in regex.find_iter(whole).take(most) {
        if parts.len() + 1 == most {
            break;
        }
        call.values(1)?;
        to = part.start();
        if part.end() != 0 {
            parts.push(whole[from..to].into());
        }
        from = part.end();
    }
    if to != whole.len() {
        parts.push(whole[from..].into());
    }
    call.bytes(whole.len())?;
    Ok(Value::strings(parts))
}
