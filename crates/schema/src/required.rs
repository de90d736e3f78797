//! Checks the required fields of proto2 in a decoded message.

use crate::fault::{Fault, within};
use crate::wire::Reason;
use prost_reflect::{Cardinality, DynamicMessage, FieldDescriptor, ReflectMessage, Value};

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
        return Err(within(field.number(), Reason::Required.into()));
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
