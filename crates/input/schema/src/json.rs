//! Converts messages from and to JSON, by protobuf's JSON mapping.

mod lenient;
mod repeats;

use crate::required;
use drumfire_data::JsonPlace;
use drumfire_plan::{DataError, suggestion, suggestion_of};
use prost::Message;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, SerializeOptions};
use serde_json::Value;

/// The maximum nesting depth of JSON, and of received messages.
const DEPTH_MAX: u32 = 100;

/// Which JSON is accepted for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Protobuf's JSON mapping.
    Protobuf,
    /// Protobuf's JSON mapping, and additionally the forms that Go's dynamic messages accept.
    Lenient,
}

/// Appends the encoded form of a message given as JSON.
pub(crate) fn encode(
    descriptor: &MessageDescriptor,
    text: &str,
    out: &mut Vec<u8>,
) -> Result<(), DataError> {
    encode_by(Reading::Protobuf, descriptor, text, out)
}

/// Appends the encoded form of a message given as JSON, in this reading.
pub(crate) fn encode_by(
    reading: Reading,
    descriptor: &MessageDescriptor,
    text: &str,
    out: &mut Vec<u8>,
) -> Result<(), DataError> {
    let message = parse(reading, descriptor, text)?;
    let missing = match reading {
        Reading::Protobuf if required::all_set(&message).is_ok() => Vec::new(),
        Reading::Protobuf => required::missing_within(&message),
        // Go's dynamic messages leave the messages inside to the server.
        Reading::Lenient => required::missing(&message),
    };
    if !missing.is_empty() {
        let missing = missing.join(", ");
        return Err(DataError::new(format!(
            "some required fields missing: {missing}"
        )));
    }
    // Encoding into a vector can't fail.
    message
        .encode(out)
        .map_err(|error| DataError::new(error.to_string()))
}

/// Checks that no object of a message's JSON has a field or a key twice: all values but one would
/// be dropped. The message itself is not checked.
///
/// # Errors
/// With the first name that is given twice.
pub(crate) fn check_names(descriptor: &MessageDescriptor, text: &str) -> Result<(), DataError> {
    match repeats::find(descriptor, text) {
        Some(words) => Err(DataError::new(words)),
        None => Ok(()),
    }
}

/// The message that a JSON text stands for.
fn parse(
    reading: Reading,
    descriptor: &MessageDescriptor,
    text: &str,
) -> Result<DynamicMessage, DataError> {
    if depth(text) > DEPTH_MAX {
        let message = format!("the JSON is nested more than {DEPTH_MAX} deep");
        return Err(DataError::new(message));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let error = match DynamicMessage::deserialize(descriptor.clone(), &mut reader)
        .and_then(|message| reader.end().map(|()| message))
    {
        Ok(message) => return Ok(message),
        Err(error) => error,
    };
    let lenient = match reading {
        Reading::Protobuf => None,
        Reading::Lenient => lenient::parse(descriptor, text),
    };
    lenient.ok_or_else(|| DataError::new(explain(descriptor, text, &error)))
}

/// Decodes a message.
pub(crate) fn decode(
    descriptor: &MessageDescriptor,
    bytes: &[u8],
) -> Result<DynamicMessage, DataError> {
    DynamicMessage::decode(descriptor.clone(), bytes).map_err(|error| {
        let name = descriptor.full_name();
        DataError::new(format!("the bytes are not a valid {name}: {error}"))
    })
}

/// Whether fields with their default values are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defaults {
    Skip,
    Show,
}

/// The names of fields in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldNames {
    /// The names of the schema: `item_id`.
    Schema,
    /// The names of the protobuf JSON mapping: `itemId`.
    Json,
}

/// An encoded message as JSON on one line.
pub(crate) fn show(
    descriptor: &MessageDescriptor,
    bytes: &[u8],
    defaults: Defaults,
    names: FieldNames,
) -> Result<String, DataError> {
    let message = decode(descriptor, bytes)?;
    let mut out = Vec::new();
    let mut writer = serde_json::Serializer::new(&mut out);
    let options = SerializeOptions::new()
        .use_proto_field_name(names == FieldNames::Schema)
        .skip_default_fields(defaults == Defaults::Skip);
    message
        .serialize_with_options(&mut writer, &options)
        .map_err(|error| DataError::new(format!("the message has no JSON form: {error}")))?;
    String::from_utf8(out).map_err(|error| DataError::new(error.to_string()))
}

/// The nesting depth of brackets outside strings.
fn depth(text: &str) -> u32 {
    let (mut depth, mut deepest) = (0u32, 0);
    let mut place = JsonPlace::default();
    for byte in text.bytes() {
        let inside = place.in_string();
        place.step(byte);
        match byte {
            _ if inside => {}
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// The mistake in a JSON text: the unknown name, or otherwise the parser's error.
fn explain(descriptor: &MessageDescriptor, text: &str, error: &serde_json::Error) -> String {
    let name = descriptor.full_name();
    if text.trim().is_empty() {
        return "the data is empty; an empty message is {}".to_owned();
    }
    let value = match serde_json::from_str::<Value>(text) {
        Ok(value) => value,
        Err(error) => return format!("the data is not JSON: {error}"),
    };
    match unknown(descriptor, &value) {
        Some(message) => message,
        None => {
            let error = error.to_string();
            let form = FORMS.iter().find(|(part, _)| error.contains(part));
            let form = form.map_or("", |(_, form)| *form);
            format!("the data is not a {name}: {error}{form}")
        }
    }
}

/// The right form of a value, by a part of the reader's error that does not contain it.
const FORMS: [(&str, &str); 5] = [
    (
        "failed to parse duration",
        "; write seconds, such as \"1.5s\"",
    ),
    (
        "timestamp",
        "; write a timestamp such as \"2026-01-31T23:59:59Z\"",
    ),
    ("invalid digit found", "; write a whole number"),
    ("out of range integral type", IN_RANGE),
    // The same in the words of Rust 1.99.
    ("to fit in target type", IN_RANGE),
];

const IN_RANGE: &str = "; write a number in the range of the field's type";

/// The first name in a JSON value that its message does not have. The value was read, so its depth
/// is bounded.
fn unknown(descriptor: &MessageDescriptor, value: &Value) -> Option<String> {
    if is_special(descriptor) {
        return None;
    }
    for (name, value) in value.as_object()? {
        let Some(field) = field(descriptor, name) else {
            if name.starts_with('[') {
                continue;
            }
            let known: Vec<FieldDescriptor> = descriptor.fields().collect();
            let near = suggestion(name, known.iter().map(FieldDescriptor::name));
            let of = descriptor.full_name();
            return Some(format!(
                "message type {of} has no known field named {name}{near}"
            ));
        };
        if let Some(message) = unknown_in_field(&field, value) {
            return Some(message);
        }
    }
    None
}

fn unknown_in_field(field: &FieldDescriptor, value: &Value) -> Option<String> {
    let mut kind = field.kind();
    let values: Vec<&Value> = match value {
        Value::Array(list) if field.is_list() => list.iter().collect(),
        Value::Object(map) if field.is_map() => {
            kind = kind.as_message()?.get_field(2)?.kind();
            map.values().collect()
        }
        value => vec![value],
    };
    values.into_iter().find_map(|value| match (&kind, value) {
        (Kind::Message(inner), value) => unknown(inner, value),
        (Kind::Enum(known), Value::String(name)) if known.get_value_by_name(name).is_none() => {
            let values: Vec<_> = known.values().collect();
            let names = || values.iter().map(|value| value.name());
            let near = match suggestion(name, names()) {
                none if none.is_empty() => suggestion_of(name, names(), "values"),
                near => near,
            };
            Some(format!(
                "enum {} has no value {name}{near}",
                known.full_name()
            ))
        }
        _ => None,
    })
}

/// A message's field by its JSON name or its schema name.
pub(crate) fn field(descriptor: &MessageDescriptor, name: &str) -> Option<FieldDescriptor> {
    let by_json = descriptor.get_field_by_json_name(name);
    by_json.or_else(|| descriptor.get_field_by_name(name))
}

/// Whether a message has a special JSON form.
pub(crate) fn is_special(descriptor: &MessageDescriptor) -> bool {
    descriptor.full_name().starts_with("google.protobuf.")
}
