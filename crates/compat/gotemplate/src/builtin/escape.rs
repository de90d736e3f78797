//! `html`, `js` and `urlquery`.

use crate::call::Call;
use crate::fault::Fault;
use crate::format;
use crate::quote;
use crate::raw_bytes;
use crate::sink::Sink;
use crate::value::Value;
use std::rc::Rc;

/// The arguments as one text: a single string unchanged, anything else printed.
fn text(call: &mut Call<'_>, args: &[Value]) -> Result<Rc<str>, Fault> {
    if let [Value::Str(text)] = args {
        return Ok(Rc::clone(text));
    }
    let shown: Vec<Value> = args.iter().map(shown).collect();
    match call.write(|sink| format::print(sink, &shown))? {
        Value::Str(text) => Ok(text),
        _ => Ok("".into()),
    }
}

fn shown(value: &Value) -> Value {
    match value {
        Value::Missing | Value::Nil => "<no value>".into(),
        other => other.clone(),
    }
}

pub(super) fn html(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let text = text(call, args)?;
    call.write(|sink| text.chars().try_for_each(|c| html_char(sink, c)))
}

/// Writes a text with the escapes of `html/template` for text content.
pub(crate) fn html_text(text: &str, sink: &mut Sink<'_>) -> Result<(), Fault> {
    text.chars().try_for_each(|c| match c {
        '+' => sink.text("&#43;"),
        c => html_char(sink, c),
    })
}

fn html_char(sink: &mut Sink<'_>, c: char) -> Result<(), Fault> {
    match c {
        '\0' => sink.text("\u{FFFD}"),
        '"' => sink.text("&#34;"),
        '\'' => sink.text("&#39;"),
        '&' => sink.text("&amp;"),
        '<' => sink.text("&lt;"),
        '>' => sink.text("&gt;"),
        c => sink.char(c),
    }
}

pub(super) fn js(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let text = text(call, args)?;
    call.write(|sink| text.chars().try_for_each(|c| js_char(sink, c)))
}

fn js_char(sink: &mut Sink<'_>, c: char) -> Result<(), Fault> {
    match c {
        '\\' => sink.text("\\\\"),
        '\'' => sink.text("\\'"),
        '"' => sink.text("\\\""),
        '<' | '>' | '&' | '=' | '\0'..' ' => sink.text(&format!("\\u{:04X}", u32::from(c))),
        c if c.is_ascii() || quote::is_printable(c) || raw_bytes::byte_of(c).is_some() => {
            sink.char(c)
        }
        c => sink.text(&format!("\\u{:04X}", u32::from(c))),
    }
}

pub(super) fn urlquery(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let text = text(call, args)?;
    call.write(|sink| {
        raw_bytes::of_text(&text)
            .iter()
            .copied()
            .try_for_each(|byte| match byte {
                b' ' => sink.text("+"),
                b'-' | b'_' | b'.' | b'~' => sink.char(char::from(byte)),
                byte if byte.is_ascii_alphanumeric() => sink.char(char::from(byte)),
                byte => sink.text(&format!("%{byte:02X}")),
            })
    })
}
