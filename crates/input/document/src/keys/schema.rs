//! The JSON Schema of a document, for editors: the forms of its values. The tables of keys combine
//! them.
//!
//! The schema accepts every document that the readers accept: any scalar for a text, a text with a
//! reference for a number. The readers check the rules that it can't express (which keys exclude
//! each other, what a law is).

use serde_json::{Map, Value, json};

/// The address of the schema.
const ID: &str = "https://drumfire.dev/schema/drumfire.plan.v1.json";
/// The pattern of a text that contains a reference.
const REFERENCE: &str = r"\$\{";

/// The keys of a mapping, each with the schema of its value.
pub(crate) type Properties = Map<String, Value>;
/// Schemas that others refer to by name: mappings that contain themselves.
pub(crate) type Definitions = Map<String, Value>;

/// A schema with a description for editors.
pub(crate) fn described(schema: Value, words: &str) -> Value {
    let mut schema = match schema {
        Value::Object(schema) => schema,
        // Any value.
        _ => Map::new(),
    };
    schema.insert("description".to_owned(), words.into());
    Value::Object(schema)
}

/// A mapping with only these keys.
pub(crate) fn mapping(properties: Properties) -> Value {
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// A mapping with user-defined names.
pub(crate) fn named(value: &Value) -> Value {
    json!({ "type": "object", "additionalProperties": value, "minProperties": 1 })
}

/// A mapping with exactly one of these keys, of which those of `together` count as one.
pub(crate) fn with_one_of(mut mapping: Value, keys: &[&str], together: &[&str]) -> Value {
    let required = |key: &&str| json!({ "required": [key] });
    let lone = keys.iter().filter(|key| !together.contains(key));
    let mut kinds: Vec<Value> = lone.map(required).collect();
    let together: Vec<Value> = together.iter().map(required).collect();
    if !together.is_empty() {
        kinds.push(json!({ "anyOf": together }));
    }
    mapping["oneOf"] = kinds.into();
    mapping
}

/// A reference to a named schema, which is created if it does not exist yet.
pub(crate) fn defined(
    name: &str,
    definitions: &mut Definitions,
    make: impl FnOnce(&mut Definitions) -> Value,
) -> Value {
    if !definitions.contains_key(name) {
        // The schema may refer to itself.
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

/// One value, or a list of values.
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

/// A boolean.
pub(crate) fn switch() -> Value {
    json!({ "anyOf": [{ "type": "boolean" }, { "type": "string", "pattern": REFERENCE }] })
}

/// A mapping from names to values, or a list of such mappings if a name occurs twice.
pub(crate) fn listed() -> Value {
    let value = json!({ "type": ["string", "number", "boolean", "null"] });
    let mapping = json!({ "type": "object", "additionalProperties": one_or_many(&value) });
    one_or_many(&mapping)
}

/// The schema of a document, from the schema of its mapping and the named schemas.
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
    // A JSON value can always be printed.
    format!("{root:#}\n")
}
