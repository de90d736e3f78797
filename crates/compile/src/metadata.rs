//! Metadata of gRPC calls, refused where no server would take it.
//!
//! The rules are those of gRPC over HTTP/2 (`PROTOCOL-HTTP2.md`, "Custom-Metadata"), which `grpc`
//! checks; here a refusal gets its place, and the name of the setting that makes a field which
//! belongs to the protocol. Values that vary are checked as the first call would have them.

use crate::scope::Scope;
use crate::template_scope::TemplateScope;
use drumfire_document::names;
use drumfire_document::{Field, Place};
use drumfire_grpc::metadata::check;
use drumfire_plan::{Header, RenderedFields, RequestData as _};
use drumfire_schema::Input;

/// The keys that belong to the protocol, each with the setting that makes it.
const SETTINGS: [(&str, &str); 5] = [
    ("grpc-timeout", "deadline"),
    ("grpc-encoding", "compress"),
    ("grpc-accept-encoding", "compress"),
    ("host", "authority"),
    (":authority", "authority"),
];

/// The fields as headers, without those that can't be sent; all of them are the same for each call.
pub(crate) fn fixed(fields: &[Field], scope: &mut Scope<'_>) -> Vec<Header> {
    let fields = fields.iter();
    fields
        .filter_map(|field| {
            let header = header(field, scope)?;
            sendable(&field.value.place, header.name(), header.value(), scope).then_some(header)
        })
        .collect()
}

/// A field as a header. Its value may still be a template, so that only what holds of any value is
/// checked.
pub(crate) fn header(field: &Field, scope: &mut Scope<'_>) -> Option<Header> {
    let place = &field.value.place;
    let name = field.name.value.trim();
    if name.starts_with(':') {
        let name = name.to_ascii_lowercase();
        let message = format!(
            "metadata `{}`: names that begin with a colon belong to HTTP/2{}",
            name.escape_default(),
            instead(place, &name)
        );
        scope.found.add(place, message);
        return None;
    }
    let header = Header::new(name, field.value.value.as_bytes());
    scope.found.ok(place, header)
}

/// Whether a field may be sent: a name of a-z, 0-9, `_`, `-` and `.` (capital letters are sent
/// small) that does not belong to gRPC itself, base64 under a name that ends in `-bin`, and
/// printable ASCII under others.
pub(crate) fn sendable(place: &Place, name: &str, value: &[u8], scope: &mut Scope<'_>) -> bool {
    let name = name.to_ascii_lowercase();
    let checked = check(name.as_bytes(), value);
    let checked =
        checked.map_err(|error| format!("metadata `{name}`: {error}{}", instead(place, &name)));
    scope.found.ok(place, checked).is_some()
}

/// Renders the varying metadata as the first call would have it, and checks the result.
pub(crate) fn check_first(
    place: &Place,
    input: &Input,
    templates: &TemplateScope,
    scope: &mut Scope<'_>,
) {
    let mut fields = RenderedFields::default();
    let rendered = input.fields(&templates.first, &mut fields);
    let rendered = templates.judged(rendered, &input.variables_of_metadata(), place);
    if scope.found.ok(place, rendered).flatten().is_some() {
        for (name, value) in fields.iter() {
            sendable(place, name, value.as_bytes(), scope);
        }
    }
}

/// `; use SETTING`, where a setting makes this key.
fn instead(place: &Place, name: &str) -> String {
    let setting = SETTINGS.iter().find(|(known, _)| *known == name);
    setting.map_or_else(String::new, |(_, key)| {
        format!("; use {}", names::name(place, key))
    })
}
