//! `jsonline`: JSON objects one after the other, or an array of them.

use super::batch::Batch;
use super::keyed::{Found, Keyed, Text, TextPairs, keyed, pairs, text};
use super::remark::Remark;
use super::step::Step;
use super::target::start_entry;
use crate::feed::{JsonNext, JsonValues};
use crate::json_tree::{Repeated, TreeSeed};
use drumfire_plan::{Header, Method};
use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// A request. Keys are found in any case, the last of several counts, and one with null is as
/// absent; unknown keys are skipped. Keys that are unknown or stand twice are noted.
#[derive(Default)]
struct Request<'a> {
    uri: Option<Cow<'a, str>>,
    method: Option<Cow<'a, str>>,
    host: Option<Cow<'a, str>>,
    headers: Option<TextPairs<'a>>,
    body: Option<Body<'a>>,
    tag: Option<Cow<'a, str>>,
}

impl<'de> Keyed<'de> for Request<'de> {
    const KEYS: &'static [&'static str] = &["uri", "method", "host", "headers", "body", "tag"];

    fn read_value<A: MapAccess<'de>>(
        &mut self,
        key: &'static str,
        entries: &mut A,
        repeated: &mut Repeated,
    ) -> Result<(), A::Error> {
        match key {
            "uri" => self.uri = text(entries)?,
            "method" => self.method = text(entries)?,
            "host" => self.host = text(entries)?,
            "headers" => self.headers = pairs(entries, repeated)?,
            "body" => self.body = entries.next_value_seed(BodyVisitor(repeated))?,
            _ => self.tag = text(entries)?,
        }
        Ok(())
    }
}

/// A body: a text, or JSON that is sent as it stands.
enum Body<'a> {
    Text(Cow<'a, str>),
    Json(Value),
}

/// Reads a body at once; `None` for null. A derived enum without tags first keeps a copy of every
/// value, to try its variants on it.
struct BodyVisitor<'a>(&'a mut Repeated);

impl<'de> DeserializeSeed<'de> for BodyVisitor<'_> {
    type Value = Option<Body<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for BodyVisitor<'_> {
    type Value = Option<Body<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a body")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Body::Text(Cow::Borrowed(text))))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Body::Text(Cow::Owned(text.to_owned()))))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Some(Body::Json(value.into())))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(Body::Json(value.into())))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Some(Body::Json(value.into())))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Some(Body::Json(value.into())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<Self::Value, A::Error> {
        TreeSeed(self.0).visit_seq(values).map(Body::Json).map(Some)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        TreeSeed(self.0)
            .visit_map(entries)
            .map(Body::Json)
            .map(Some)
    }
}

/// The next object.
pub(super) fn step(values: &mut JsonValues, window: &[u8], is_last: bool, out: &mut Batch) -> Step {
    step_with(push_request, "request", values, window, is_last, out)
}

/// What is wrong with an object.
#[derive(Debug)]
pub(super) enum Mistake {
    /// It is no JSON, or lacks a key. Nothing was put.
    Json(serde_json::Error),
    /// It can't be sent, in words.
    Words(String),
}

impl From<serde_json::Error> for Mistake {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

impl From<String> for Mistake {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

/// The next object, which `put` makes an entry; `wanted` names one.
pub(super) fn step_with(
    put: impl Fn(&str, &mut Batch) -> Result<(), Mistake>,
    wanted: &str,
    values: &mut JsonValues,
    window: &[u8],
    is_last: bool,
    out: &mut Batch,
) -> Step {
    // Most files have an object a line, whose end needs no look at its brackets.
    if let Some(line) = values.line(window)
        && let Ok(text) = std::str::from_utf8(&window[line.clone()])
        && put(text, out).is_ok()
    {
        values.note_line();
        return Step::Took {
            bytes: line.end,
            rows: 1,
        };
    }
    let before = *values;
    match values.next(window, is_last) {
        JsonNext::More => Step::More,
        JsonNext::End => Step::End,
        JsonNext::Broken { at, message } => Step::Broken {
            at,
            message: message.to_owned(),
        },
        JsonNext::Value { start, end } => {
            let text = std::str::from_utf8(&window[start..end]);
            let made = match text {
                Ok(text) => put(text, out),
                Err(_) => Err("the text is not UTF-8".to_owned().into()),
            };
            let message = match made {
                Ok(()) => {
                    let bytes = end;
                    return Step::Took { bytes, rows: 1 };
                }
                Err(Mistake::Json(error)) => no_json(wanted, &error),
                Err(Mistake::Words(words)) => words,
            };
            *values = before;
            Step::Broken { at: start, message }
        }
    }
}

/// A mistake in an object.
fn no_json(wanted: &str, error: &serde_json::Error) -> String {
    let shown = error.to_string();
    let reason = shown.split(" at line ").next().unwrap_or_default();
    format!("invalid JSON {wanted}: {reason}")
}

fn push_request(json: &str, out: &mut Batch) -> Result<(), Mistake> {
    let (request, remarks): Found<Request<'_>> = keyed(json)?;
    let Some(uri) = &request.uri else {
        return Err(Mistake::Words(
            "invalid JSON request: missing field `uri`".to_owned(),
        ));
    };
    let method = match request.method.as_deref() {
        None | Some("") => "GET",
        Some(method) => method,
    };
    Method::parse(method).map_err(|error| error.to_string())?;
    start_entry(method, uri, out)?;
    out.remark(remarks);
    out.tag(request.tag.as_deref().unwrap_or_default());
    let host = request.host.as_deref().unwrap_or_default();
    if !host.is_empty() {
        let of_uri = out.last().host;
        if !of_uri.is_empty() && !of_uri.eq_ignore_ascii_case(host) {
            out.remark([Remark::OtherHost("uri")]);
        }
        out.host(host);
    }
    for (Text(name), value) in request.headers.iter().flatten() {
        let value = value.as_ref().map_or("", |Text(value)| value);
        Header::new(name, value.as_bytes()).map_err(|error| error.to_string())?;
        match name.eq_ignore_ascii_case("host") {
            true if host.is_empty() && !value.is_empty() => out.host(value),
            true if value.is_empty() || value.eq_ignore_ascii_case(host) => {}
            true => out.remark([Remark::OtherHost("headers")]),
            false => out.field(name, value),
        }
    }
    match request.body {
        Some(Body::Text(text)) if !text.is_empty() => out.body(text.as_bytes()),
        Some(Body::Json(json)) => out.body(json.to_string().as_bytes()),
        _ if Method::announces_content(method) => out.body(&[]),
        _ => {}
    }
    Ok(())
}
