//! JSON, as `encoding/json` reads and writes it.

use super::arguments::text;
use super::deep;
use crate::call::Call;
use crate::fault::Fault;
use crate::format;
use crate::function::Row;
use crate::raw_bytes;
use crate::sink::Sink;
use crate::time::layout;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Row] = &[
    ("fromJson", "s", |call, args| {
        // Invalid JSON gives nil.
        match from_json(call, args) {
            Err(fault) if fault.text().starts_with(BROKEN) => Ok(Value::Nil),
            read => read,
        }
    }),
    ("mustFromJson", "s", from_json),
    ("mustToJson", "a", |call, args| {
        to_json(call, args, &Form::COMPACT)
    }),
    ("mustToPrettyJson", "a", |call, args| {
        to_json(call, args, &Form::PRETTY)
    }),
    ("mustToRawJson", "a", |call, args| {
        to_json(call, args, &Form::RAW)
    }),
    ("toJson", "a", |call, args| {
        or_empty(to_json(call, args, &Form::COMPACT))
    }),
    ("toPrettyJson", "a", |call, args| {
        or_empty(to_json(call, args, &Form::PRETTY))
    }),
    ("toRawJson", "a", |call, args| {
        to_json(call, args, &Form::RAW)
    }),
];

const UNSUPPORTED: &str = "json: unsupported value: ";
const BROKEN: &str = "invalid JSON: ";

/// `toJson` is empty for values that JSON can't represent.
fn or_empty(written: Result<Value, Fault>) -> Result<Value, Fault> {
    match written {
        Err(fault) if fault.text().starts_with(UNSUPPORTED) => Ok("".into()),
        written => written,
    }
}

fn from_json(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let text = text(args, 0);
    // Every value takes at least two bytes of text.
    call.values(text.len() / 2)?;
    let json: serde_json::Value =
        serde_json::from_str(text).map_err(|error| format!("{BROKEN}{error}"))?;
    Ok(value_of(json))
}

fn value_of(json: serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Nil,
        serde_json::Value::Bool(value) => Value::Bool(value),
        serde_json::Value::Number(number) => Value::Float(number.as_f64().unwrap_or(0.0)),
        serde_json::Value::String(text) => text.into(),
        serde_json::Value::Array(items) => Value::list(items.into_iter().map(value_of).collect()),
        serde_json::Value::Object(entries) => Value::dictionary(
            entries
                .into_iter()
                .map(|(key, value)| (key, value_of(value))),
        ),
    }
}

/// The format of JSON output.
struct Form {
    /// Escape characters with a meaning in HTML.
    escapes_html: bool,
    indents: bool,
}

impl Form {
    const COMPACT: Self = Self {
        escapes_html: true,
        indents: false,
    };
    const PRETTY: Self = Self {
        escapes_html: true,
        indents: true,
    };
    const RAW: Self = Self {
        escapes_html: false,
        indents: false,
    };
}

fn to_json(call: &mut Call<'_>, args: &[Value], form: &Form) -> Result<Value, Fault> {
    call.write(|sink| form.value(sink, &args[0], 0))
}

impl Form {
    fn value(&self, sink: &mut Sink<'_>, value: &Value, depth: u32) -> Result<(), Fault> {
        deep::check_depth(depth)?;
        match value {
            Value::Missing | Value::Nil => sink.text("null"),
            Value::Bool(value) => sink.text(if *value { "true" } else { "false" }),
            Value::Int(kind, bits) if kind.is_unsigned() => {
                sink.text(&bits.cast_unsigned().to_string())
            }
            Value::Int(_, bits) | Value::Whole(bits) => sink.text(&bits.to_string()),
            Value::Float(number) if !number.is_finite() => {
                let number = format::float::shortest(*number);
                Err(format!("{UNSUPPORTED}{number}").into())
            }
            Value::Float(number) => sink.text(&format::float::json(*number)),
            Value::Str(text) => self.string(sink, text),
            Value::List(list) if list.is_nil() => sink.text("null"),
            Value::List(list) => {
                let items = list.items().iter().map(|item| (None, item.clone()));
                self.members(sink, ("[", "]"), items, depth)
            }
            Value::Map(map) => {
                let entries = map.entries();
                let entries = entries.into_iter().map(|(key, item)| (Some(key), item));
                self.members(sink, ("{", "}"), entries, depth)
            }
            Value::Time(moment) => self.string(
                sink,
                &layout::format(moment, "2006-01-02T15:04:05.999999999Z07:00"),
            ),
            Value::Version(version) => self.string(sink, &version.to_string()),
            Value::Object(object) => {
                let names = object.field_names().iter();
                let fields = names.map(|name| {
                    let value = object.field(name).unwrap_or(Value::Nil);
                    (Some((*name).into()), value)
                });
                self.members(sink, ("{", "}"), fields, depth)
            }
        }
    }

    fn members(
        &self,
        sink: &mut Sink<'_>,
        (open, close): (&str, &str),
        members: impl Iterator<Item = (Option<std::rc::Rc<str>>, Value)>,
        depth: u32,
    ) -> Result<(), Fault> {
        sink.text(open)?;
        let mut count = 0;
        for (key, value) in members {
            sink.text(if count > 0 { "," } else { "" })?;
            self.line(sink, depth + 1)?;
            if let Some(key) = key {
                self.string(sink, &key)?;
                sink.text(if self.indents { ": " } else { ":" })?;
            }
            self.value(sink, &value, depth + 1)?;
            count += 1;
        }
        if count > 0 {
            self.line(sink, depth)?;
        }
        sink.text(close)
    }

    fn line(&self, sink: &mut Sink<'_>, depth: u32) -> Result<(), Fault> {
        if !self.indents {
            return Ok(());
        }
        sink.text("\n")?;
        sink.fill(' ', 2 * depth as usize)
    }

    fn string(&self, sink: &mut Sink<'_>, text: &str) -> Result<(), Fault> {
        sink.text("\"")?;
        for c in text.chars() {
            match c {
                '"' => sink.text("\\\"")?,
                '\\' => sink.text("\\\\")?,
                '\n' => sink.text("\\n")?,
                '\r' => sink.text("\\r")?,
                '\t' => sink.text("\\t")?,
                '\x08' => sink.text("\\b")?,
                '\x0c' => sink.text("\\f")?,
                '<' | '>' | '&' if !self.escapes_html => sink.char(c)?,
                '<' | '>' | '&' | '\0'..' ' | '\u{2028}' | '\u{2029}' => {
                    sink.text(&format!("\\u{:04x}", u32::from(c)))?;
                }
                c if raw_bytes::byte_of(c).is_some() => sink.text("\\ufffd")?,
                c => sink.char(c)?,
            }
        }
        sink.text("\"")
    }
}
