//! Metadata of gRPC calls. Fields that no server would accept are refused.
//!
//! The `grpc` crate checks the rules of gRPC over HTTP/2 (`PROTOCOL-HTTP2.md`, "Custom-Metadata").
//! This module adds the place of a refused field, and the setting that writes a field which belongs
//! to the protocol. Varying values are checked as rendered for the first call.

use crate::scope::Scope;
use crate::template_scope::TemplateScope;
use drumfire_document::names;
use drumfire_document::{Field, Place};
use drumfire_grpc::metadata::check;
use drumfire_plan::{Header, RenderedFields, RequestData as _};
use drumfire_schema::Input;

/// The keys that belong to the protocol, each with the setting that writes it.
const SETTINGS: [(&str, &str); 5] = [
    ("grpc-timeout", "deadline"),
    ("grpc-encoding", "compress"),
    ("grpc-accept-encoding", "compress"),
    ("host", "authority"),
    (":authority", "authority"),
];

/// The fields as headers, without those that can't be sent. Their values are the same for each
/// call.
pub(crate) fn fixed(fields: &[Field], scope: &mut Scope<'_>) -> Vec<Header> {
    let fields = fields.iter();
    fields
        .filter_map(|field| {
            let header = header(field, scope)?;
            sendable(&field.value.place, header.name(), header.value(), scope).then_some(header)
        })
        .collect()
}

/// A field as a header. Its value may still be a template, so only rules for all values are
/// checked.
pub(crate) fn header(field: &Field, scope: &mut Scope<'_>) -> Option<Header> {
    let place = &field.value.place;
    let name = field.name.value.trim();
    if name.starts_with(':') {
        let name = name.to_ascii_lowercase();
        let message = format!(
            "metadata `{}`: names that begin with a colon belong to HTTP/2{}",
            name.escape_debug(),
            instead(place, &name)
        );
        scope.found.add(place, message);
        return None;
    }
    let header = Header::new(name, field.value.value.as_bytes());
    scope.found.ok(place, header)
}

/// Whether a field may be sent: a name of a-z, 0-9, `_`, `-` and `.` (capital letters are sent in
/// lower case) that does not belong to gRPC itself, with a base64 value if the name ends in `-bin`,
/// and otherwise printable ASCII.
pub(crate) fn sendable(place: &Place, name: &str, value: &[u8], scope: &mut Scope<'_>) -> bool {
    let name = name.to_ascii_lowercase();
    let checked = check(name.as_bytes(), value);
    let checked =
        checked.map_err(|error| format!("metadata `{name}`: {error}{}", instead(place, &name)));
    scope.found.ok(place, checked).is_some()
}

/// Renders the varying metadata for the first call, and checks the result.
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

/// `; use SETTING`, if a setting writes this key.
fn instead(place: &Place, name: &str) -> String {
    let setting = SETTINGS.iter().find(|(known, _)| *known == name);
    setting.map_or_else(String::new, |(_, key)| {
        format!("; use {}", names::name(place, key))
    })
}
