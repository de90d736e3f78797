//! Files that many services import and few users have installed: `google/api`, `google/rpc` and
//! `google/type`.
//!
//! The files contain only names, numbers and types, which suffice for the wire and for options.
//! protobuf's own files come with the compiler.

/// The names and texts of the files.
const SOURCES: [(&str, &str); 24] = [
    (
        "google/api/annotations.proto",
        include_str!("google/api/annotations.proto"),
    ),
    (
        "google/api/client.proto",
        include_str!("google/api/client.proto"),
    ),
    (
        "google/api/field_behavior.proto",
        include_str!("google/api/field_behavior.proto"),
    ),
    (
        "google/api/field_info.proto",
        include_str!("google/api/field_info.proto"),
    ),
    (
        "google/api/http.proto",
        include_str!("google/api/http.proto"),
    ),
    (
        "google/api/httpbody.proto",
        include_str!("google/api/httpbody.proto"),
    ),
    (
        "google/api/launch_stage.proto",
        include_str!("google/api/launch_stage.proto"),
    ),
    (
        "google/api/resource.proto",
        include_str!("google/api/resource.proto"),
    ),
    (
        "google/api/visibility.proto",
        include_str!("google/api/visibility.proto"),
    ),
    // Features of generated code, which files in an edition import and no message contains.
    ("google/protobuf/cpp_features.proto", FEATURES),
    ("google/protobuf/go_features.proto", FEATURES),
    ("google/protobuf/java_features.proto", FEATURES),
    (
        "google/rpc/code.proto",
        include_str!("google/rpc/code.proto"),
    ),
    (
        "google/rpc/error_details.proto",
        include_str!("google/rpc/error_details.proto"),
    ),
    (
        "google/rpc/status.proto",
        include_str!("google/rpc/status.proto"),
    ),
    (
        "google/type/color.proto",
        include_str!("google/type/color.proto"),
    ),
    (
        "google/type/date.proto",
        include_str!("google/type/date.proto"),
    ),
    (
        "google/type/dayofweek.proto",
        include_str!("google/type/dayofweek.proto"),
    ),
    (
        "google/type/decimal.proto",
        include_str!("google/type/decimal.proto"),
    ),
    (
        "google/type/expr.proto",
        include_str!("google/type/expr.proto"),
    ),
    (
        "google/type/interval.proto",
        include_str!("google/type/interval.proto"),
    ),
    (
        "google/type/latlng.proto",
        include_str!("google/type/latlng.proto"),
    ),
    (
        "google/type/money.proto",
        include_str!("google/type/money.proto"),
    ),
    (
        "google/type/timeofday.proto",
        include_str!("google/type/timeofday.proto"),
    ),
];

const FEATURES: &str = "syntax = \"proto2\"; package pb;";

/// The text of a file, by its import name.
pub(crate) fn source(name: &str) -> Option<&'static str> {
    let mut sources = SOURCES.iter();
    sources
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::SOURCES;
    use crate::Schema;
    use std::io;

    #[test]
    fn every_file_compiles() {
        let imports: String = SOURCES
            .iter()
            .map(|(name, _)| format!("import \"{name}\";\n"))
            .collect();
        let read = move |path: &str| match path {
            "all.proto" => Ok(format!("syntax = \"proto3\";\n{imports}").into_bytes()),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        let schema = Schema::from_proto(&["all.proto".to_owned()], &[], read).unwrap();
        for symbol in [
            "google.api.HttpRule",
            "google.rpc.Status",
            "google.type.Color",
        ] {
            schema.describe(symbol).unwrap();
        }
    }
}
