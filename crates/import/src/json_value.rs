//! Values of JSON and YAML with the parts of them that others refer to.

use serde_json::Value;

/// References are followed this deep; a schema may hold itself.
const DEPTH_MAX: usize = 32;

/// Reads JSON, or YAML.
///
/// # Errors
/// The first mistake of the text.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"));
    }
    serde_saphyr::from_str(text).map_err(|error| {
        let error = error.to_string();
        format!(
            "it is no YAML: {}",
            error.lines().next().unwrap_or_default()
        )
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
pub(crate) fn example(schema: &Value, root: &Value) -> Value {
    example_at(schema, root, 0)
}

fn example_at(schema: &Value, root: &Value, depth: usize) -> Value {
    let schema = resolved(schema, root);
    let given = [
        &schema["example"],
        &schema["examples"][0],
        &schema["default"],
        &schema["const"],
        &schema["enum"][0],
    ];
    if let Some(given) = given.into_iter().find(|given| !given.is_null()) {
        return given.clone();
    }
    if depth >= DEPTH_MAX {
        return Value::Null;
    }
    let below = |schema: &Value| example_at(schema, root, depth + 1);
    if let Some(parts) = schema["allOf"].as_array() {
        let mut all = serde_json::Map::new();
        for part in parts.iter().map(below) {
            if let Value::Object(part) = part {
                all.extend(part);
            }
        }
        return Value::Object(all);
    }
    let choices = [&schema["oneOf"][0], &schema["anyOf"][0]];
    if let Some(choice) = choices.into_iter().find(|choice| !choice.is_null()) {
        return below(choice);
    }
    let kind = schema["type"]
        .as_str()
        .or_else(|| schema["type"][0].as_str());
    match kind {
        Some("object") | None if schema["properties"].is_object() => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            let is_read =
                |property: &Value| resolved(property, root)["readOnly"].as_bool() == Some(true);
            let properties = properties.filter(|(_, property)| !is_read(property));
            Value::Object(
                properties
                    .map(|(name, value)| (name.clone(), below(value)))
                    .collect(),
            )
        }
        Some("object") => Value::Object(serde_json::Map::new()),
        Some("array") => Value::Array(vec![below(&schema["items"])]),
        Some("integer" | "number") => match &schema["minimum"] {
            Value::Null => Value::from(1),
            least => least.clone(),
        },
        Some("boolean") => Value::Bool(true),
        Some("string") => Value::from(match schema["format"].as_str() {
            Some("date") => "2024-01-31",
            Some("date-time") => "2024-01-31T12:00:00Z",
            Some("email") => "ada@example.test",
            Some("uuid") => "{{ uuid }}",
            Some("uri") => "https://example.test/",
            _ => "text",
        }),
        _ => Value::Null,
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
