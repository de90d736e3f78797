//! Requests as JSON objects, one after the other or in an array.

use super::Shot;
use serde_json::{Deserializer, Map, Value};

/// Reads objects.
pub(super) fn requests(bytes: &[u8]) -> Result<Vec<Shot>, String> {
    let mut shots = Vec::new();
    for value in Deserializer::from_slice(bytes).into_iter::<Value>() {
        let number = shots.len() + 1;
        let wrong = |why: String| format!("object {number}: {why}");
        match value.map_err(|error| wrong(error.to_string()))? {
            Value::Array(values) => {
                for value in values {
                    let number = shots.len() + 1;
                    let made = shot(&value).map_err(|why| format!("object {number}: {why}"));
                    shots.push(made?);
                }
            }
            value => shots.push(shot(&value).map_err(wrong)?),
        }
    }
    Ok(shots)
}

fn shot(value: &Value) -> Result<Shot, String> {
    let Value::Object(object) = value else {
        return Err("it is no object".to_owned());
    };
    let text = |key| text(object, key);
    let method = text("method")?;
    let mut host = text("host")?;
    let body = text("body")?;
    let mut headers = Vec::new();
    match object.get("headers") {
        None | Some(Value::Null) => {}
        Some(Value::Object(fields)) => {
            for (name, value) in fields {
                let value = value.as_str();
                let value = value.ok_or_else(|| format!("the header `{name}` is no text"))?;
                match name.eq_ignore_ascii_case("host") {
                    // The key of its own stands above it.
                    true if host.is_empty() => value.clone_into(&mut host),
                    true => {}
                    false => headers.push((name.clone(), value.to_owned())),
                }
            }
        }
        Some(_) => return Err("`headers` is no object".to_owned()),
    }
    Ok(Shot {
        method: if method.is_empty() {
            "GET".to_owned()
        } else {
            method
        },
        uri: text("uri")?,
        host: (!host.is_empty()).then_some(host),
        headers,
        body: (!body.is_empty()).then(|| body.into_bytes()),
        tag: text("tag")?,
    })
}

/// The text of a key, empty where there is none.
pub(super) fn text(object: &Map<String, Value>, key: &str) -> Result<String, String> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("`{key}` is no text")),
    }
}
