//! Values of JSON and YAML with the parts of them that others refer to.

use crate::exchange::MADE_UUID;
use serde_json::{Map, Value};

/// References and schemas are followed this deep.
const DEPTH_MAX: usize = 32;
/// Values of an example.
const VALUES_MAX: usize = 10_000;

/// Reads JSON, or YAML.
///
/// # Errors
/// The first mistake of the text.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|error| format!("invalid JSON: {error}"));
    }
    serde_saphyr::from_str(text).map_err(|error| {
        let error = error.to_string();
        format!("invalid YAML: {}", error.lines().next().unwrap_or_default())
    })
}

/// The value itself, or the part of the root that its `$ref` names.
pub(crate) fn resolved<'a>(value: &'a Value, root: &'a Value) -> &'a Value {
    let mut value = value;
    for _ in 0..DEPTH_MAX {
        let Some(pointer) = value["$ref"]
            .as_str()
            .and_then(|name| name.strip_prefix('#'))
        else {
            break;
        };
        match root.pointer(pointer) {
            Some(part) => value = part,
            None => break,
        }
    }
    value
}

/// An example of a schema: its own, its default, the first of its values, or one made by its type.
/// What holds itself ends where it would begin again: there, a property is left out, and a list
/// is empty.
pub(crate) fn example(schema: &Value, root: &Value) -> Value {
    let mut examples = Examples {
        root,
        within: Vec::new(),
        left: VALUES_MAX,
    };
    examples.of(schema).unwrap_or(Value::Null)
}

/// Examples in the making.
struct Examples<'a> {
    root: &'a Value,
    /// The schemas whose examples are being made, the outermost first.
    within: Vec<&'a Value>,
    /// How many values may still be made.
    left: usize,
}

impl<'a> Examples<'a> {
    /// An example of a schema; none within its own, or where there are too many already.
    fn of(&mut self, schema: &'a Value) -> Option<Value> {
        let schema = resolved(schema, self.root);
        self.left = self.left.checked_sub(1)?;
        let given = [
            &schema["example"],
            &schema["examples"][0],
            &schema["default"],
            &schema["const"],
            &schema["enum"][0],
        ];
        if let Some(given) = given.into_iter().find(|given| !given.is_null()) {
            return Some(given.clone());
        }
        let is_within = self.within.iter().any(|outer| std::ptr::eq(*outer, schema));
        if is_within || self.within.len() >= DEPTH_MAX {
            return None;
        }
        self.within.push(schema);
        let made = self.made(schema);
        self.within.pop();
        made
    }

    fn made(&mut self, schema: &'a Value) -> Option<Value> {
        if let Some(parts) = schema["allOf"].as_array() {
            let mut all = self.properties(schema);
            for part in parts {
                if let Some(Value::Object(part)) = self.of(part) {
                    all.extend(part);
                }
            }
            return Some(Value::Object(all));
        }
        let choices = [&schema["oneOf"], &schema["anyOf"]];
        if let Some(choices) = choices.into_iter().find_map(Value::as_array) {
            return choices.iter().find_map(|choice| self.of(choice));
        }
        let kind = schema["type"]
            .as_str()
            .or_else(|| schema["type"][0].as_str());
        Some(match kind {
            None if schema["properties"].is_object() => Value::Object(self.properties(schema)),
            Some("object") => Value::Object(self.properties(schema)),
            Some("array") => Value::Array(self.of(&schema["items"]).into_iter().collect()),
            Some("integer" | "number") => match &schema["minimum"] {
                Value::Null => Value::from(1),
                least => least.clone(),
            },
            Some("boolean") => Value::Bool(true),
            Some("string") => Value::from(match schema["format"].as_str() {
                Some("date") => "2024-01-31",
                Some("date-time") => "2024-01-31T12:00:00Z",
                Some("email") => "ada@example.test",
                Some("uuid") => MADE_UUID,
                Some("uri") => "https://example.test/",
                _ => "text",
            }),
            _ => Value::Null,
        })
    }

    /// The properties of an object that a client may send.
    fn properties(&mut self, schema: &'a Value) -> Map<String, Value> {
        let mut all = Map::new();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let is_read = resolved(property, self.root)["readOnly"].as_bool() == Some(true);
            if let Some(value) = (!is_read).then(|| self.of(property)).flatten() {
                all.insert(name.clone(), value);
            }
        }
        all
    }
}

/// A single value as a text; none for a list, a mapping or nothing.
pub(crate) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}
