//! Bodies of operations: JSON, web forms, multipart forms, texts.

use super::style::{Encoding, ParameterStyle, written};
use super::{Reader, example};
use crate::exchange::{Body, Exchange, FormPart, MADE_UUID, PartBody, Words};
use crate::library::{Node, text};
use crate::sample;
use crate::shape::shown;
use serde_json::Value;

/// The supported media types, in order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Json,
    Form,
    Multipart,
    Xml,
    JsonLines,
    Text,
}

impl Kind {
    fn from_media_type(media_type: &str) -> Self {
        let essence = media_type.split(';').next().unwrap_or_default();
        let essence = essence.trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/x-www-form-urlencoded" => Self::Form,
            "application/jsonl"
            | "application/x-ndjson"
            | "application/x-jsonlines"
            | "application/ndjson" => Self::JsonLines,
            name if name.ends_with("/json") || name.ends_with("+json") => Self::Json,
            "*/*" | "application/*" => Self::Json,
            name if name.starts_with("multipart/") => Self::Multipart,
            name if name.ends_with("/xml") || name.ends_with("+xml") => Self::Xml,
            _ => Self::Text,
        }
    }
}

impl Reader<'_> {
    /// Adds the body of an operation to its request.
    pub(super) fn body(&mut self, operation: Node<'_>, exchange: &mut Exchange, shown_as: &str) {
        let given = operation.get("requestBody");
        if given.is_null() {
            return;
        }
        let notes = &mut self.all.notes;
        let body = match given.resolved() {
            Ok(body) => body,
            Err(why) => {
                let finding = format!("a body is not imported, because {why}");
                return notes.add_at(finding, || shown_as.to_owned());
            }
        };
        self.seen.check(given, &super::keys::BODY, notes);
        let content = body.get("content");
        let Some((media_type, kind)) = content
            .entries()
            .min_by_key(|(name, _)| Kind::from_media_type(name))
        else {
            let finding = "a body without a media type is not imported".to_owned();
            return notes.add_at(finding, || shown_as.to_owned());
        };
        let media = match kind.resolved() {
            Ok(media) => media,
            Err(why) => {
                let finding = format!("a body is not imported, because {why}");
                return notes.add_at(finding, || shown_as.to_owned());
            }
        };
        self.seen.check(kind, &super::keys::MEDIA_TYPE, notes);
        let value = self.media_example(media);
        let made = self.content(media_type, media, value);
        match made {
            Ok(body) => exchange.body = Some(body),
            Err(why) => {
                let finding = format!(
                    "a body of the type {} is not imported: {why}",
                    shown(media_type)
                );
                return self.all.notes.add_at(finding, || shown_as.to_owned());
            }
        }
        self.media_type(media_type, exchange, shown_as);
    }

    /// The example of a media type; an example of its items becomes a list.
    fn media_example(&mut self, media: Node<'_>) -> Option<Value> {
        let items = media.get("itemSchema");
        let notes = &mut self.all.notes;
        match example(media, notes) {
            None if !items.is_null() => sample::sample(items, notes).map(|item| vec![item].into()),
            value => value,
        }
    }

    /// Adds the Content-Type field, unless it follows from the body.
    fn media_type(&mut self, media_type: &str, exchange: &mut Exchange, shown_as: &str) {
        let own = match &exchange.body {
            Some(Body::Json(_)) => "application/json",
            Some(Body::Form(_)) => "application/x-www-form-urlencoded",
            // The type needs the boundary, which the plan generates.
            Some(Body::Parts(_)) => return,
            _ => "",
        };
        let is_range = media_type.contains('*');
        if is_range {
            let finding = format!(
                "the body of the media type `{}` is sent as {}",
                shown(media_type),
                if own.is_empty() { "text/plain" } else { own }
            );
            self.all.notes.add_at(finding, || shown_as.to_owned());
        }
        let written = match (is_range, own) {
            (true, "") => "text/plain",
            (true, own) => own,
            (false, _) => media_type,
        };
        if written == own {
            return;
        }
        if drumfire_plan::Header::new("Content-Type", written.as_bytes()).is_err() {
            let finding = format!("the media type `{}` can't be sent", shown(media_type));
            return self.all.notes.add_at(finding, || shown_as.to_owned());
        }
        let field = ("Content-Type".to_owned(), Words::plain(written));
        exchange.headers.push(field);
    }

    /// The body for a value.
    fn content(
        &mut self,
        media_type: &str,
        media: Node<'_>,
        value: Option<Value>,
    ) -> Result<Body, &'static str> {
        let none = "it has no example, and no schema that gives a value";
        match Kind::from_media_type(media_type) {
            Kind::Json => value.map(|value| json(&value)).ok_or(none),
            Kind::JsonLines => {
                let value = value.ok_or(none)?;
                let lines = match &value {
                    Value::Array(items) => items.iter().map(Value::to_string).collect(),
                    value => vec![value.to_string()],
                };
                Ok(Body::Text(Words::of_document(&(lines.join("\n") + "\n"))))
            }
            Kind::Form => {
                let value = value.ok_or(none)?;
                if let Some(text) = text(&value) {
                    return Ok(Body::Text(Words::of_document(&text)));
                }
                Ok(Body::Form(self.form(media, &value)))
            }
            Kind::Multipart if media_type.trim().starts_with("multipart/form-data") => {
                let value = value.ok_or(none)?;
                Ok(Body::Parts(self.parts(media, &value)))
            }
            Kind::Multipart => Err("only multipart/form-data is supported"),
            Kind::Xml => {
                let value = value.ok_or(none)?;
                let xml = match &value {
                    Value::String(text) => text.clone(),
                    value => self.xml(media.get("schema"), value),
                };
                Ok(Body::Text(Words::of_document(&xml)))
            }
            Kind::Text => match text(&value.ok_or(none)?) {
                Some(text) => Ok(Body::Text(Words::of_document(&text))),
                None => Err("write an `example` that is a text in its media type"),
            },
        }
    }

    /// The fields of a web form.
    fn form(&mut self, media: Node<'_>, value: &Value) -> Vec<(String, Words)> {
        let mut fields = Vec::new();
        for (name, value) in value.as_object().into_iter().flatten() {
            let encoding = media.get("encoding").whole().get(name);
            let has = |key: &str| !encoding.get(key).is_null();
            let is_styled = has("style") || has("explode");
            let given = encoding.get("contentType").str();
            let is_json = given.is_some_and(|kind| kind.contains("json"));
            let pairs = match value {
                Value::Null => continue,
                // Without a style, an object is serialized as JSON.
                value if !is_styled && (value.is_object() || is_json) => {
                    vec![(name.clone(), value.to_string())]
                }
                value => {
                    let style = self.encoding_style(encoding);
                    let explode = encoding.get("explode").value().as_bool();
                    let explodes = explode.unwrap_or(style == ParameterStyle::Form);
                    let made = written(name, value, style, explodes, Encoding::Nothing);
                    if made.is_nested {
                        self.note_nested(encoding_place(media, name));
                    }
                    made.pairs
                }
            };
            let pairs = pairs.into_iter();
            fields.extend(pairs.map(|(name, value)| (name, Words::of_document(&value))));
        }
        fields
    }

    fn encoding_style(&mut self, encoding: Node<'_>) -> ParameterStyle {
        let Some(name) = encoding.get("style").str() else {
            return ParameterStyle::Form;
        };
        match ParameterStyle::named(name).filter(|style| style.fits("query")) {
            Some(style) => style,
            None => {
                let finding = format!("the style `{}` does not fit a form", shown(name));
                self.all.notes.add_at(finding, || encoding.place());
                ParameterStyle::Form
            }
        }
    }

    pub(super) fn note_nested(&mut self, place: impl FnOnce() -> String) {
        let finding = "OpenAPI has no form for a list or an object within such a value; it is \
                       written as most servers read it";
        self.all.notes.add_at(finding.to_owned(), place);
    }

    /// The parts of a multipart form.
    fn parts(&mut self, media: Node<'_>, value: &Value) -> Vec<FormPart> {
        let schema = media.get("schema");
        let mut parts = Vec::new();
        for (name, value) in value.as_object().into_iter().flatten() {
            let encoding = media.get("encoding").whole().get(name);
            let property = sample::property(schema, name, &mut self.all.notes);
            let is_file = property.is_some_and(|it| sample::is_binary(it, &mut self.all.notes));
            let given = encoding.get("contentType").str();
            let given = given
                .and_then(|kinds| kinds.split(',').next())
                .map(str::trim);
            let given = given.filter(|kind| !kind.contains('*') && !kind.is_empty());
            if !encoding.get("headers").is_null() {
                let finding = "the headers of a part are not imported".to_owned();
                self.all
                    .notes
                    .add_at(finding, || encoding.get("headers").place());
            }
            let values = match value {
                Value::Array(items) => items.iter().collect(),
                Value::Null => continue,
                value => vec![value],
            };
            for value in values {
                let is_tree = value.is_object() || value.is_array();
                let content = text(value).unwrap_or_else(|| value.to_string());
                let usual = match (is_tree, is_file) {
                    (true, _) => Some("application/json"),
                    (false, true) => Some("application/octet-stream"),
                    (false, false) => None,
                };
                if is_file {
                    let finding = "a file of a form has a made-up text".to_owned();
                    self.all.notes.add_at(finding, encoding_place(media, name));
                }
                parts.push(FormPart {
                    name: name.clone(),
                    content: PartBody::Text(Words::of_document(&content)),
                    file_name: is_file.then(|| name.clone()),
                    media_type: given.or(usual).map(str::to_owned),
                });
            }
        }
        parts
    }
}

/// The place of the encoding of a form's property.
fn encoding_place<'a>(media: Node<'a>, name: &'a str) -> impl FnOnce() -> String + 'a {
    move || format!("`{}` of {}", shown(name), media.place())
}

/// A JSON body.
fn json(value: &Value) -> Body {
    let words = Words::of_document(&value.to_string());
    // A plan would parse such a string as JSON in quotes.
    let is_taken_for_tree =
        |value: &str| value.trim_start().starts_with(['{', '[']) || value.starts_with(MADE_UUID);
    match value.as_str().is_some_and(is_taken_for_tree) {
        true => Body::Text(words),
        false => Body::Json(words),
    }
}
