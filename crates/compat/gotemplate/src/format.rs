//! Go's `fmt`: values as text.

pub(crate) mod float;
mod integer;
mod printf;

pub(crate) use printf::printf;

use crate::fault::Fault;
use crate::quote;
use crate::raw_bytes;
use crate::sink::Sink;
use crate::time;
use crate::value::{IntKind, NESTING_MAX, Value};
use integer::Number;

/// A verb with its flags.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one of Go's flags, and any of them may be set"
)]
pub(crate) struct Verb {
    pub(crate) letter: char,
    pub(crate) width: Option<usize>,
    pub(crate) precision: Option<usize>,
    pub(crate) minus: bool,
    pub(crate) plus: bool,
    pub(crate) sharp: bool,
    pub(crate) space: bool,
    pub(crate) zero: bool,
}

impl Verb {
    /// A verb without flags.
    pub(crate) const fn from_letter(letter: char) -> Self {
        Self {
            letter,
            width: None,
            precision: None,
            minus: false,
            plus: false,
            sharp: false,
            space: false,
            zero: false,
        }
    }

    /// Whether numbers have a plus sign. In `%+v` the flag prints field names instead.
    const fn shows_plus(&self) -> bool {
        self.plus && self.letter != 'v'
    }

    /// `%#v`
    const fn is_go_syntax(&self) -> bool {
        self.letter == 'v' && self.sharp
    }
}

/// `%v`
pub(crate) fn plain(sink: &mut Sink<'_>, value: &Value) -> Result<(), Fault> {
    match value {
        Value::Str(text) => sink.text(text),
        _ => verb(sink, value, &Verb::from_letter('v'), 0),
    }
}

/// `%v` of a value for an error message, truncated to 1 KiB.
pub(crate) fn print_or_note(value: &Value) -> String {
    let mut out = String::new();
    match plain(&mut Sink::new(&mut out, 1024), value) {
        Ok(()) => out,
        Err(_) => format!("a long {}", value.type_name()),
    }
}

/// `Sprint`: puts a space between two operands if neither is a string.
pub(crate) fn print(sink: &mut Sink<'_>, values: &[Value]) -> Result<(), Fault> {
    let mut string_before = true;
    for (n, value) in values.iter().enumerate() {
        let is_string = matches!(value, Value::Str(_));
        if n > 0 && !is_string && !string_before {
            sink.text(" ")?;
        }
        plain(sink, value)?;
        string_before = is_string;
    }
    Ok(())
}

/// `Sprintln`: puts spaces between all operands and adds a line feed.
pub(crate) fn println(sink: &mut Sink<'_>, values: &[Value]) -> Result<(), Fault> {
    for (n, value) in values.iter().enumerate() {
        if n > 0 {
            sink.text(" ")?;
        }
        plain(sink, value)?;
    }
    sink.text("\n")
}

/// Prints a value with a verb.
pub(crate) fn verb(sink: &mut Sink<'_>, value: &Value, by: &Verb, depth: u32) -> Result<(), Fault> {
    if depth > NESTING_MAX {
        return Err("a value is nested too deeply to be printed".into());
    }
    match value {
        Value::Missing | Value::Nil if by.letter == 'v' || depth > 0 => pad(
            sink,
            if by.is_go_syntax() && depth > 0 {
                "interface {}(nil)"
            } else {
                "<nil>"
            },
            by,
        ),
        Value::Missing | Value::Nil => bad_verb(sink, value, by),
        Value::Bool(flag) if matches!(by.letter, 't' | 'v') => {
            pad(sink, if *flag { "true" } else { "false" }, by)
        }
        Value::Bool(_) => bad_verb(sink, value, by),
        Value::Int(kind, bits) => int(sink, (*kind, *bits), value, by),
        Value::Float(number) => float::print(sink, *number, value, by),
        Value::Whole(number) => whole(sink, *number, by),
        Value::Str(text) => string(sink, text, value, by),
        Value::List(list) => {
            let opening = if by.is_go_syntax() {
                list.type_name()
            } else {
                ""
            };
            let (open, close) = if by.is_go_syntax() {
                ("{", "}")
            } else {
                ("[", "]")
            };
            sink.text(opening)?;
            sink.text(open)?;
            for (n, item) in list.items().iter().enumerate() {
                separate(sink, n, by)?;
                verb(sink, item, by, depth + 1)?;
            }
            sink.text(close)
        }
        Value::Map(map) => {
            let go_syntax = by.is_go_syntax();
            sink.text(if go_syntax { map.type_name() } else { "map" })?;
            sink.text(if go_syntax { "{" } else { "[" })?;
            for (n, (key, item)) in map.borrow().iter().enumerate() {
                separate(sink, n, by)?;
                verb(sink, &Value::Str(key.clone()), by, depth + 1)?;
                sink.text(":")?;
                verb(sink, item, by, depth + 1)?;
            }
            sink.text(if go_syntax { "}" } else { "]" })
        }
        Value::Time(moment) => string(sink, &time::print(moment), value, by),
        Value::Version(version) => string(sink, &version.to_string(), value, by),
        Value::Object(object) => {
            sink.text("{")?;
            for (n, name) in object.field_names().iter().enumerate() {
                separate(sink, n, by)?;
                if by.plus || by.is_go_syntax() {
                    sink.text(name)?;
                    sink.text(":")?;
                }
                let field = object.field(name).unwrap_or(Value::Nil);
                verb(sink, &field, by, depth + 1)?;
            }
            sink.text("}")
        }
    }
}

fn separate(sink: &mut Sink<'_>, n: usize, by: &Verb) -> Result<(), Fault> {
    match n {
        0 => Ok(()),
        _ if by.is_go_syntax() => sink.text(", "),
        _ => sink.text(" "),
    }
}

/// Prints a whole number from JSON: as a float with all digits, or as an integer if the verb does
/// not accept floats in Go.
fn whole(sink: &mut Sink<'_>, number: i64, by: &Verb) -> Result<(), Fault> {
    let is_digits = match by.letter {
        'v' => by.precision.is_none(),
        letter => matches!(letter, 'd' | 'o' | 'O' | 'c' | 'q' | 'U'),
    };
    match is_digits {
        true => {
            let value = Value::int(number);
            let sharp = by.sharp && by.letter != 'v';
            int(sink, (IntKind::Int, number), &value, &Verb { sharp, ..*by })
        }
        false => float::print(sink, number as f64, &Value::Float(number as f64), by),
    }
}

fn int(
    sink: &mut Sink<'_>,
    (kind, bits): (IntKind, i64),
    value: &Value,
    by: &Verb,
) -> Result<(), Fault> {
    if matches!(by.letter, 'v' | 's' | 'q') && !by.is_go_syntax() {
        match kind {
            IntKind::Duration => return string(sink, &time::duration::print(bits), value, by),
            IntKind::Month => return string(sink, time::month_name(bits), value, by),
            IntKind::Weekday => return string(sink, time::weekday_name(bits), value, by),
            _ => {}
        }
    }
    let number = Number::from_bits(bits, kind.is_unsigned());
    match by.letter {
        'v' if by.sharp && kind.is_unsigned() => number.print(sink, 16, by),
        'v' | 'd' => number.print(
            sink,
            10,
            &Verb {
                sharp: false,
                ..*by
            },
        ),
        'b' => number.print(sink, 2, by),
        'o' | 'O' => number.print(sink, 8, by),
        'x' | 'X' => number.print(sink, 16, by),
        'c' => pad(sink, number.as_char().encode_utf8(&mut [0; 4]), by),
        'q' => match by.plus {
            true => pad(sink, &quote::quoted_ascii_char(number.as_char()), by),
            false => pad(sink, &quote::quoted_char(number.as_char()), by),
        },
        'U' => pad(sink, &number.code_point(by.sharp), by),
        _ => bad_verb(sink, value, by),
    }
}

fn string(sink: &mut Sink<'_>, text: &str, value: &Value, by: &Verb) -> Result<(), Fault> {
    match by.letter {
        'v' if by.sharp => pad(sink, &quote::quoted(text), by),
        'v' | 's' => pad(sink, cut(text, by.precision), by),
        'q' => {
            let text = cut(text, by.precision);
            if by.sharp && !text.contains('`') {
                return pad(sink, &format!("`{text}`"), by);
            }
            match by.plus {
                true => pad(sink, &quote::quoted_ascii(text), by),
                false => pad(sink, &quote::quoted(text), by),
            }
        }
        'x' | 'X' => {
            let bytes = raw_bytes::of_text(text);
            let kept = by.precision.unwrap_or(bytes.len()).min(bytes.len());
            pad(sink, &hex(&bytes[..kept], by), by)
        }
        _ => bad_verb(sink, value, by),
    }
}

/// The first `count` characters.
fn cut(text: &str, count: Option<usize>) -> &str {
    let end = count.and_then(|count| text.char_indices().nth(count));
    end.map_or(text, |(end, _)| &text[..end])
}

fn hex(bytes: &[u8], by: &Verb) -> String {
    use std::fmt::Write as _;
    let prefix = match (by.sharp, by.letter) {
        (false, _) => "",
        (true, 'X') => "0X",
        (true, _) => "0x",
    };
    let mut out = String::new();
    for (n, byte) in bytes.iter().enumerate() {
        if by.space && n > 0 {
            out.push(' ');
        }
        if n == 0 || by.space {
            out.push_str(prefix);
        }
        // Writing to a string cannot fail.
        let _ = match by.letter {
            'X' => write!(out, "{byte:02X}"),
            _ => write!(out, "{byte:02x}"),
        };
    }
    out
}

/// Pads a text to its width, counted in characters.
pub(crate) fn pad(sink: &mut Sink<'_>, text: &str, by: &Verb) -> Result<(), Fault> {
    let missing = match by.width {
        Some(width) => width.saturating_sub(text.chars().count()),
        None => return sink.text(text),
    };
    if by.minus {
        sink.text(text)?;
        return sink.fill(' ', missing);
    }
    sink.fill(if by.zero { '0' } else { ' ' }, missing)?;
    sink.text(text)
}

/// `%!d(string=hi)`: the verb does not accept the value.
pub(crate) fn bad_verb(sink: &mut Sink<'_>, value: &Value, by: &Verb) -> Result<(), Fault> {
    sink.text("%!")?;
    sink.char(by.letter)?;
    sink.text("(")?;
    if value.is_nil() {
        sink.text("<nil>")?;
    } else {
        sink.text(value.type_name())?;
        sink.text("=")?;
        verb(sink, value, &Verb { letter: 'v', ..*by }, 0)?;
    }
    sink.text(")")
}
