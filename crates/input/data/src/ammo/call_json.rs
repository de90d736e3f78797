//! `grpc-json`: gRPC calls as JSON objects one after the other, or an array of them.
//!
//! What a call is named, and which message its payload is, only a schema knows: [`Calls`] makes the
//! messages, and until it is given the payloads stay as they are.

use super::batch::Batch;
use super::json_line::{Mistake, step_with};
use super::keyed::{Found, Keyed, Text, TextPairs, keyed, pairs, text, value};
use super::step::Step;
use crate::feed::JsonValues;
use crate::json_tree::Repeated;
use serde::de::MapAccess;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// The calls that a file may have.
pub trait Calls: Send + Sync + fmt::Debug {
    /// Appends the message of a call (`package.Service/Method`) whose payload is JSON.
    ///
    /// # Errors
    /// In words, when the payload is no such message.
    fn message(&self, call: &str, payload: &str, out: &mut Vec<u8>) -> Result<(), String>;

    /// Checks the metadata of a call.
    ///
    /// # Errors
    /// In words, when it may not be sent.
    fn check_metadata(&self, key: &str, value: &str) -> Result<(), String>;
}

/// A call. Keys are found in any case, the last of several counts, and one with null is as absent;
/// unknown keys are skipped. Keys that are unknown or stand twice are noted.
#[derive(Default)]
struct Call<'a> {
    call: Option<Cow<'a, str>>,
    metadata: Option<TextPairs<'a>>,
    payload: Option<Value>,
    tag: Option<Cow<'a, str>>,
}

impl<'de> Keyed<'de> for Call<'de> {
    const KEYS: &'static [&'static str] = &["call", "metadata", "payload", "tag"];

    fn read_value<A: MapAccess<'de>>(
        &mut self,
        key: &'static str,
        entries: &mut A,
        repeated: &mut Repeated,
    ) -> Result<(), A::Error> {
        match key {
            "call" => self.call = text(entries)?,
            "metadata" => self.metadata = pairs(entries, repeated)?,
            "payload" => self.payload = value(entries, repeated)?,
            _ => self.tag = text(entries)?,
        }
        Ok(())
    }
}

/// The next call.
pub(super) fn step(values: &mut JsonValues, window: &[u8], is_last: bool, out: &mut Batch) -> Step {
    step_with(push_call, "call", values, window, is_last, out)
}

fn push_call(json: &str, out: &mut Batch) -> Result<(), Mistake> {
    let (call, remarks): Found<Call<'_>> = keyed(json)?;
    let Some(name) = call.call else {
        return Err("invalid JSON call: missing field `call`".to_owned().into());
    };
    let path = path(&name).ok_or_else(|| {
        let shown: String = name.chars().take(60).collect();
        let shown = shown.escape_default();
        format!("`{shown}` is not a call; write package.Service.Method or package.Service/Method")
    })?;
    out.start_entry("POST", &path);
    out.remark(remarks);
    out.tag(call.tag.as_deref().unwrap_or_default().trim());
    for (Text(key), value) in call.metadata.iter().flatten() {
        let value = value.as_ref().map_or("", |Text(value)| value);
        out.field(&key.to_ascii_lowercase(), value);
    }
    let payload = call.payload.map(|payload| payload.to_string());
    out.body(payload.as_deref().unwrap_or("{}").as_bytes());
    Ok(())
}

/// `/package.Service/Method` of a call, whose method stands behind a point or a slash.
fn path(call: &str) -> Option<String> {
    let call = call.trim().trim_start_matches('/');
    let (service, method) = call.rsplit_once('/').or_else(|| call.rsplit_once('.'))?;
    let is_name = |name: &str| {
        let is_part = |c: char| c == '_' || c == '.' || c.is_ascii_alphanumeric();
        !name.is_empty() && name.chars().all(is_part)
    };
    (is_name(service) && is_name(method)).then(|| format!("/{service}/{method}"))
}
