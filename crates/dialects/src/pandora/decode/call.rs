//! gRPC calls as JSON objects.

use super::json::text;
use serde_json::{Deserializer, Map, Value};

/// One call of ammo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pandora) struct CallShot {
    /// `package.Service.Method`, or with a slash before the method.
    pub(in crate::pandora) call: String,
    /// Keys and values.
    pub(in crate::pandora) metadata: Vec<(String, String)>,
    /// The message as JSON.
    pub(in crate::pandora) payload: String,
    pub(in crate::pandora) tag: String,
}

/// Reads objects.
///
/// # Errors
/// The first mistake, with the object's number.
pub(in crate::pandora) fn calls(bytes: &[u8]) -> Result<Vec<CallShot>, String> {
    let mut calls = Vec::new();
    for value in Deserializer::from_slice(bytes).into_iter::<Map<String, Value>>() {
        let number = calls.len() + 1;
        let wrong = |why: String| format!("object {number}: {why}");
        let object = value.map_err(|error| wrong(error.to_string()))?;
        calls.push(call(&object).map_err(wrong)?);
    }
    Ok(calls)
}

fn call(object: &Map<String, Value>) -> Result<CallShot, String> {
    let payload = match object.get("payload") {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(object @ Value::Object(_)) => object.to_string(),
        Some(_) => return Err("`payload` is no object".to_owned()),
    };
    let mut metadata = Vec::new();
    match object.get("metadata") {
        None | Some(Value::Null) => {}
        Some(Value::Object(entries)) => {
            for (key, value) in entries {
                let value = value.as_str();
                let value = value.ok_or_else(|| format!("the metadata `{key}` is no text"))?;
                metadata.push((key.to_ascii_lowercase(), value.to_owned()));
            }
        }
        Some(_) => return Err("`metadata` is no object".to_owned()),
    }
    let call = text(object, "call")?;
    if call.is_empty() {
        return Err("there is no `call`; write package.Service.Method".to_owned());
    }
    Ok(CallShot {
        call,
        metadata,
        payload,
        tag: text(object, "tag")?,
    })
}
