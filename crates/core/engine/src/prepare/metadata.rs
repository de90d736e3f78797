//! Metadata of calls, checked before it is sent.

use drumfire_grpc::metadata::check;

/// Checks the metadata of a call: a name of a-z, 0-9, `_`, `-` and `.` (sent in lower case) that is
/// not reserved by gRPC, base64 under a name that ends in `-bin`, and printable ASCII under others.
///
/// # Errors
/// A text with the key, if the metadata cannot be sent.
pub(crate) fn check_metadata(name: &str, value: &[u8]) -> Result<(), String> {
    let small;
    let name = if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        small = name.to_ascii_lowercase();
        &small
    } else {
        name
    };
    check(name.as_bytes(), value).map_err(|error| format!("metadata `{name}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::check_metadata;
    use drumfire_plan::Header;

    #[test]
    fn what_may_not_be_sent_is_named() {
        for (line, error) in [
            ("x-id: 1", None),
            ("X-Id: a b", None),
            ("user-agent: me", None),
            ("authorization: Bearer x", None),
            ("x-bin: AQI=", None),
            ("X-Bin: AQI", None),
            ("x-bin:", None),
            (
                "x-bin: ***",
                Some("metadata `x-bin`: the value of a -bin key must be base64"),
            ),
            (
                "X-Bin: A",
                Some("metadata `x-bin`: the value of a -bin key must be base64"),
            ),
            (
                "Grpc-Timeout: 1S",
                Some("metadata `grpc-timeout`: this key is reserved by gRPC"),
            ),
            (
                "grpc-status: 1",
                Some("metadata `grpc-status`: this key is reserved by gRPC"),
            ),
            (
                "te: gzip",
                Some("metadata `te`: this key is reserved by gRPC"),
            ),
            (
                "x$y: 1",
                Some("metadata `x$y`: a key may contain only a-z, 0-9, `_`, `-` and `.`"),
            ),
            (
                "x-name: é",
                Some(
                    "metadata `x-name`: a value may contain only printable ASCII; for other bytes, \
                     use a key that ends in -bin",
                ),
            ),
        ] {
            let field = Header::parse(line).unwrap();
            let checked = check_metadata(field.name(), field.value());
            assert_eq!(checked.err().as_deref(), error, "{line}");
        }
    }
}
