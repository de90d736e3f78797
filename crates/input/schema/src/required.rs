//! Checks the required fields of proto2 in a decoded message.

use crate::fault::{Fault, within};
use crate::wire::WireFault;
use prost_reflect::{Cardinality, DynamicMessage, FieldDescriptor, MapKey, ReflectMessage, Value};

/// The number of the value in a map's entry.
const ENTRY_VALUE: u32 = 2;

/// Checks that a message and all nested messages have their required fields. Decoding has bounded
/// the nesting.
///
/// # Errors
/// The first missing field.
pub(crate) fn all_set(message: &DynamicMessage) -> Result<(), Box<Fault>> {
    let descriptor = message.descriptor();
    let is_missing = |field: &FieldDescriptor| {
        field.cardinality() == Cardinality::Required && !message.has_field(field)
    };
    if let Some(field) = descriptor.fields().find(is_missing) {
        return Err(within(field.number(), WireFault::Required.into()));
    }
    for (field, value) in message.fields() {
        set_in(value).map_err(|fault| within(field.number(), fault))?;
    }
    for (extension, value) in message.extensions() {
        set_in(value).map_err(|fault| within(extension.number(), fault))?;
    }
    Ok(())
}

/// The names of the required fields that a message itself lacks.
pub(crate) fn missing(message: &DynamicMessage) -> Vec<String> {
    let descriptor = message.descriptor();
    let missing = descriptor
        .fields()
        .filter(|field| field.cardinality() == Cardinality::Required && !message.has_field(field));
    missing.map(|field| field.name().to_owned()).collect()
}

/// The paths of the required fields that a message and the messages in it lack, such as
/// `items[2].name`: elements count from 0, and a map's entry has its key in brackets.
pub(crate) fn missing_within(message: &DynamicMessage) -> Vec<String> {
    let mut paths = missing(message);
    let fields = message.fields();
    let fields = fields.map(|(field, value)| (field.name().to_owned(), value));
    let extensions = message.extensions();
    let extensions = extensions.map(|(extension, value)| {
        let name = format!("[{}]", extension.full_name());
        (name, value)
    });
    for (name, value) in fields.chain(extensions) {
        match value {
            Value::List(values) => {
                for (n, value) in values.iter().enumerate() {
                    extend(&format!("{name}[{n}]"), value, &mut paths);
                }
            }
            Value::Map(entries) => {
                for (key, value) in entries {
                    extend(&format!("{name}[{}]", shown(key)), value, &mut paths);
                }
            }
            value => extend(&name, value, &mut paths),
        }
    }
    paths
}

/// Adds the paths of the required fields that a value lacks, if it is a message.
fn extend(name: &str, value: &Value, paths: &mut Vec<String>) {
    if let Value::Message(message) = value {
        let inner = missing_within(message).into_iter();
        paths.extend(inner.map(|path| format!("{name}.{path}")));
    }
}

/// A map's key in words.
fn shown(key: &MapKey) -> String {
    match key {
        MapKey::Bool(key) => key.to_string(),
        MapKey::I32(key) => key.to_string(),
        MapKey::I64(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::U64(key) => key.to_string(),
        MapKey::String(key) => key.escape_default().to_string(),
    }
}

fn set_in(value: &Value) -> Result<(), Box<Fault>> {
    match value {
        Value::Message(message) => all_set(message),
        Value::List(values) => values.iter().try_for_each(set_in),
        Value::Map(entries) => entries
            .values()
            .try_for_each(|value| set_in(value).map_err(|fault| within(ENTRY_VALUE, fault))),
        _ => Ok(()),
    }
}
