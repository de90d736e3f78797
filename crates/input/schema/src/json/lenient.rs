//! Messages from JSON as Go's dynamic messages read it, which accept more than protobuf's mapping:
//! a span such as `500ms`, a field mask as an object, a single value for a list, numbers and
//! booleans as texts, null anywhere, and both members of a oneof.

use super::field;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use drumfire_data::without_lone_surrogates;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, Value};
use serde_json::{Number, Value as Json};
use std::collections::HashMap;

const DURATION: &str = "google.protobuf.Duration";

/// Messages that keep their special JSON form in this reading; a field mask is a plain message.
const OWN_FORM: [&str; 16] = [
    "google.protobuf.Any",
    "google.protobuf.Empty",
    DURATION,
    "google.protobuf.Timestamp",
    "google.protobuf.Struct",
    "google.protobuf.Value",
    "google.protobuf.ListValue",
    "google.protobuf.DoubleValue",
    "google.protobuf.FloatValue",
    "google.protobuf.Int64Value",
    "google.protobuf.UInt64Value",
    "google.protobuf.Int32Value",
    "google.protobuf.UInt32Value",
    "google.protobuf.BoolValue",
    "google.protobuf.StringValue",
    "google.protobuf.BytesValue",
];

/// The units of Go durations, in nanoseconds.
const UNITS: [(&str, f64); 8] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("μs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
    ("h", 3600e9),
];

/// The message of a JSON text; `None` if it is invalid in this reading, too.
pub(super) fn parse(descriptor: &MessageDescriptor, text: &str) -> Option<DynamicMessage> {
    let json = serde_json::from_str(&without_lone_surrogates(text)).ok()?;
    message(descriptor, &json)
}

fn message(descriptor: &MessageDescriptor, json: &Json) -> Option<DynamicMessage> {
    let name = descriptor.full_name();
    if name == DURATION
        && let Some(text) = json.as_str()
    {
        return span(descriptor, text);
    }
    if json.is_null() && name != "google.protobuf.Value" {
        return Some(DynamicMessage::new(descriptor.clone()));
    }
    if OWN_FORM.contains(&name) {
        return DynamicMessage::deserialize(descriptor.clone(), json.clone()).ok();
    }
    let mut made = DynamicMessage::new(descriptor.clone());
    for (name, json) in json.as_object()? {
        let field = field(descriptor, name)?;
        match value(&field, json)? {
            Some(value) => made.try_set_field(&field, value).ok()?,
            None => match (field.containing_oneof(), field.kind()) {
                (None, _) => made.clear_field(&field),
                (Some(_), Kind::Message(inner)) => {
                    made.set_field(&field, Value::Message(DynamicMessage::new(inner)));
                }
                (Some(_), _) => return None,
            },
        }
    }
    Some(made)
}

/// The value of a field; `Some(None)` without a value.
#[expect(
    clippy::option_option,
    reason = "the outer one is a mistake, the inner one null"
)]
fn value(field: &FieldDescriptor, json: &Json) -> Option<Option<Value>> {
    let kind = field.kind();
    let of = |name: &str| matches!(&kind, Kind::Message(of) if of.full_name() == name);
    let is_any = !field.is_list() && of("google.protobuf.Value");
    let takes_lists = is_any || !field.is_list() && of("google.protobuf.ListValue");
    match json {
        Json::Null if !is_any => Some(None),
        Json::Object(entries) if field.is_map() => {
            let mut map = HashMap::with_capacity(entries.len());
            let entry = kind.as_message()?;
            let (keys, values) = (entry.map_entry_key_field(), entry.map_entry_value_field());
            for (name, json) in entries {
                let key = element(&keys.kind(), &Json::String(name.clone()))?;
                map.insert(map_key(key)?, element(&values.kind(), json)?);
            }
            Some(Some(Value::Map(map)))
        }
        Json::Array(entries) if field.is_map() => {
            let entry = kind.as_message()?;
            let mut map = HashMap::with_capacity(entries.len());
            for json in entries {
                let entry = message(entry, json)?;
                let part = |name: &str| entry.get_field_by_name(name).map(|part| part.into_owned());
                map.insert(map_key(part("key")?)?, part("value")?);
            }
            Some(Some(Value::Map(map)))
        }
        _ if field.is_map() => None,
        Json::Array(parts) if field.is_list() => {
            let parts = parts.iter().map(|part| element(&kind, part));
            Some(Some(Value::List(parts.collect::<Option<_>>()?)))
        }
        // If a list is given for a single field, the last value counts, as on the wire.
        Json::Array(parts) if !takes_lists => {
            let parts = parts.iter().map(|part| element(&kind, part));
            Some(parts.collect::<Option<Vec<_>>>()?.pop())
        }
        one if field.is_list() => Some(Some(Value::List(vec![element(&kind, one)?]))),
        one => Some(Some(element(&kind, one)?)),
    }
}

fn map_key(value: Value) -> Option<MapKey> {
    Some(match value {
        Value::Bool(key) => MapKey::Bool(key),
        Value::I32(key) => MapKey::I32(key),
        Value::I64(key) => MapKey::I64(key),
        Value::U32(key) => MapKey::U32(key),
        Value::U64(key) => MapKey::U64(key),
        Value::String(key) => MapKey::String(key),
        _ => return None,
    })
}

/// One value; null is the zero of its type.
fn element(kind: &Kind, json: &Json) -> Option<Value> {
    if let Kind::Message(descriptor) = kind {
        return message(descriptor, json).map(Value::Message);
    }
    if json.is_null() {
        return Some(match kind {
            Kind::Enum(_) => Value::EnumNumber(0),
            kind => Value::default_value(kind),
        });
    }
    // A text may be a number, but a number is not a text.
    let number = match json {
        Json::Number(number) => in_digits(number),
        Json::String(text) => text.clone(),
        _ => String::new(),
    };
    Some(match kind {
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(number.parse().ok()?),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(number.parse().ok()?),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(number.parse().ok()?),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(number.parse().ok()?),
        Kind::Double => Value::F64(number.parse().ok()?),
        // A number that is too large becomes infinity.
        Kind::Float => Value::F32(number.parse::<f64>().ok()? as f32),
        Kind::Bool => Value::Bool(match json {
            Json::Bool(on) => *on,
            _ => number.parse().ok()?,
        }),
        Kind::Enum(of) => Value::EnumNumber(match number.parse() {
            Ok(number) => number,
            Err(_) => of.get_value_by_name(&number)?.number(),
        }),
        Kind::String => Value::String(json.as_str()?.to_owned()),
        Kind::Bytes => Value::Bytes(STANDARD.decode(json.as_str()?).ok()?.into()),
        Kind::Message(_) => return None,
    })
}

/// A number as Go prints it after parsing: a whole number without a fraction, in any written form.
fn in_digits(number: &Number) -> String {
    match number.as_f64() {
        Some(value) if number.is_f64() && value.fract() == 0.0 && value.abs() < 1e21 => {
            format!("{value:.0}")
        }
        _ => number.to_string(),
    }
}

/// A Go duration: `500ms`, `1m30s`, `-1.5h`.
fn span(descriptor: &MessageDescriptor, text: &str) -> Option<DynamicMessage> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut nanos: i64 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() && rest != "0" {
        let is_digit = |c: char| c == '.' || c.is_ascii_digit();
        let (number, after) = rest.split_at(rest.find(|c| !is_digit(c))?);
        let (unit, after) = after.split_at(after.find(is_digit).unwrap_or(after.len()));
        let (_, of) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let whole: i64 = if whole.is_empty() {
            0
        } else {
            whole.parse().ok()?
        };
        let part: f64 = format!("0.{part}0").parse().ok()?;
        nanos = nanos
            .checked_add(whole.checked_mul(*of as i64)?)?
            .checked_add((part * of) as i64)?;
        rest = after;
    }
    let mut made = DynamicMessage::new(descriptor.clone());
    let (seconds, nanos) = (
        sign * (nanos / 1_000_000_000),
        sign * (nanos % 1_000_000_000),
    );
    made.try_set_field_by_name("seconds", Value::I64(seconds))
        .ok()?;
    made.try_set_field_by_name("nanos", Value::I32(nanos as i32))
        .ok()?;
    Some(made)
}
