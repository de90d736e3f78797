//! The form of a document as a JSON Schema, for editors: the forms of its values. The tables of
//! keys put them together.
//!
//! The schema accepts every document that the readers accept, and not fewer: any scalar where a
//! text is wanted, a text with a reference where a number is. What it can't say (which keys exclude
//! each other, what a law is) is left to the readers.

use serde_json::{Map, Value, json};

/// The address of the schema.
const ID: &str = "https://drumfire.dev/schema/drumfire.plan.v1.json";
/// The pattern of a text that has a reference somewhere.
const REFERENCE: &str = r"\$\{";

/// The keys of a mapping, each with the schema of its value.
pub(crate) type Properties = Map<String, Value>;
/// Schemas that others refer to by name: those of mappings that hold themselves.
pub(crate) type Definitions = Map<String, Value>;

/// A schema with the description that an editor shows.
pub(crate) fn described(schema: Value, words: &str) -> Value {
    let mut schema = match schema {
        Value::Object(schema) => schema,
        // Any value.
        _ => Map::new(),
    };
    schema.insert("description".to_owned(), words.into());
    Value::Object(schema)
}

/// A mapping with these keys and no others.
pub(crate) fn mapping(properties: Properties) -> Value {
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// A mapping of names that the user gives.
pub(crate) fn named(value: &Value) -> Value {
    json!({ "type": "object", "additionalProperties": value, "minProperties": 1 })
}

/// A mapping that has exactly one of these keys.
pub(crate) fn with_one_of(mut mapping: Value, keys: &[&str]) -> Value {
    let kinds: Vec<Value> = keys
        .iter()
        .map(|key| json!({ "required": [key] }))
        .collect();
    mapping["oneOf"] = kinds.into();
    mapping
}

/// A schema by its name, which is made where it is not there yet.
pub(crate) fn defined(
    name: &str,
    definitions: &mut Definitions,
    make: impl FnOnce(&mut Definitions) -> Value,
) -> Value {
    if !definitions.contains_key(name) {
        // It may refer to itself.
        definitions.insert(name.to_owned(), Value::Null);
        let made = make(definitions);
        definitions.insert(name.to_owned(), made);
    }
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// A single value.
pub(crate) fn scalar() -> Value {
    json!({ "type": ["string", "number", "boolean"] })
}

/// One value, or a list of them.
pub(crate) fn one_or_many(value: &Value) -> Value {
    json!({ "anyOf": [value, { "type": "array", "items": value }] })
}

/// A whole number.
pub(crate) fn count() -> Value {
    json!({ "anyOf": [
        { "type": "integer", "minimum": 0 },
        { "type": "string", "pattern": format!("^[0-9]+$|{REFERENCE}") },
    ] })
}

/// Yes or no.
pub(crate) fn switch() -> Value {
    json!({ "anyOf": [{ "type": "boolean" }, { "type": "string", "pattern": REFERENCE }] })
}

/// A mapping of names to values, or a list of such mappings where a name comes twice.
pub(crate) fn listed() -> Value {
    let value = json!({ "type": ["string", "number", "boolean", "null"] });
    let mapping = json!({ "type": "object", "additionalProperties": one_or_many(&value) });
    one_or_many(&mapping)
}

/// The schema of a document, given that of its mapping and those that it refers to.
pub(crate) fn document(mut root: Value, definitions: Definitions) -> String {
    root["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    root["$id"] = ID.into();
    root["title"] = "drumfire.plan.v1".into();
    root["description"] = "A drumfire plan: what to send, when, and what the result must be. \
                           docs/manual/keys.md lists every key."
        .into();
    root["required"] = json!(["drumfire", "pools"]);
    root["properties"]["drumfire"] = json!({ "enum": [1, "1"] });
    root["$defs"] = Value::Object(definitions);
    // A value always has a text.
    format!("{root:#}\n")
}
