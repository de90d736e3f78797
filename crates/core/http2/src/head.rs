//! The head of a request, checked once and prepared for every connection.
//!
//! A server has to enforce these rules on a request (RFC 9113 sections 8.2 and 8.3). Checking them
//! here prevents a mistake of a plan from counting as a failure of the target, and no value can
//! break out of its field.

use crate::hpack::{Field, Indexing, PreparedFields};
use std::fmt;

/// The fields of a request, checked and prepared. Cheap to clone, and meant to be shared: a
/// connection recognises a head by its identity and sends the bytes that it has sent before.
#[derive(Clone, Debug)]
pub struct Head {
    prepared: PreparedFields,
    /// Whether the method is HEAD, so that the response has no body, regardless of its fields.
    pub(crate) bodiless: bool,
    /// Whether the request is a CONNECT with `:protocol` (RFC 8441 section 4).
    pub(crate) is_tunnel: bool,
    list_bytes: u32,
}

impl Head {
    /// Creates a head from these fields: pseudo-fields first, names in lower case. `:path` or
    /// another pseudo-field may be absent if each request has its own value for it.
    ///
    /// # Errors
    /// If a field is not allowed in an HTTP/2 request (RFC 9113 section 8.2).
    pub fn new<'a>(
        fields: impl IntoIterator<Item = (&'a [u8], &'a [u8], Indexing)>,
    ) -> Result<Self, HeadError> {
        let mut prepared: Vec<Field> = Vec::new();
        for (name, value, indexing) in fields {
            if let Some(problem) = problem(&prepared, name, value) {
                return Err(HeadError {
                    name: name.escape_ascii().to_string().into(),
                    problem,
                });
            }
            let indexing = if SECRET.contains(&name) {
                Indexing::Never
            } else {
                indexing
            };
            prepared.push(Field::new(name, value, indexing));
        }
        let bodiless = prepared
            .iter()
            .any(|field| *field.name == *b":method" && *field.value == *b"HEAD");
        let is_tunnel = prepared.iter().any(|field| *field.name == *b":protocol");
        let sizes = prepared.iter();
        let sizes = sizes.map(|field| Self::field_bytes(&field.name, &field.value));
        let list_bytes = sizes.fold(0, u32::saturating_add);
        Ok(Self {
            prepared: PreparedFields::new(prepared),
            bodiless,
            is_tunnel,
            list_bytes,
        })
    }

    /// Names and values in their order.
    pub fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.prepared
            .fields()
            .iter()
            .map(|field| (&*field.name, &*field.value))
    }

    /// The size of the head's list of fields, as SETTINGS_MAX_HEADER_LIST_SIZE counts it (RFC 9113
    /// section 6.5.2).
    #[inline]
    #[must_use]
    pub const fn list_bytes(&self) -> u32 {
        self.list_bytes
    }

    /// The contribution of one field to such a size: name, value and 32 bytes.
    #[must_use]
    pub const fn field_bytes(name: &[u8], value: &[u8]) -> u32 {
        let bytes = name.len().saturating_add(value.len()).saturating_add(32);
        if bytes > u32::MAX as usize {
            return u32::MAX;
        }
        bytes as u32
    }

    /// The head's fields in the form that an encoder needs.
    #[inline]
    #[must_use]
    pub const fn prepared(&self) -> &PreparedFields {
        &self.prepared
    }
}

/// Fields whose names mark them as secrets.
const SECRET: [&[u8]; 3] = [b"authorization", b"cookie", b"proxy-authorization"];
/// Fields that belong to a connection of HTTP/1 (RFC 9113 section 8.2.2).
const CONNECTION_SPECIFIC: [&[u8]; 5] = [
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"transfer-encoding",
    b"upgrade",
];
/// The pseudo-fields of a request (RFC 9113 section 8.3.1, RFC 8441 section 4).
const PSEUDO: [&[u8]; 5] = [
    b":method",
    b":scheme",
    b":authority",
    b":path",
    b":protocol",
];

/// The mistake in a field, given the fields `before` it.
fn problem(before: &[Field], name: &[u8], value: &[u8]) -> Option<&'static str> {
    if name.first() == Some(&b':') {
        if !PSEUDO.contains(&name) {
            return Some("is not a pseudo-field of a request");
        }
        if before.iter().any(|field| *field.name == *name) {
            return Some("occurs twice");
        }
        if before.iter().any(|field| field.name.first() != Some(&b':')) {
            return Some("is a pseudo-field and must precede other fields");
        }
    } else if name.is_empty() || !name.iter().all(|&byte| is_name_byte(byte)) {
        return Some("is not a lower-case field name");
    } else if CONNECTION_SPECIFIC.contains(&name) {
        return Some("is not allowed in HTTP/2");
    } else if name == b"te" && value != b"trailers" {
        return Some("may only be `trailers` in HTTP/2");
    }
    (!is_value(value)).then_some("has a value with forbidden characters or surrounding whitespace")
}

/// Whether a field's name may contain a byte: a byte of a token (RFC 9110 section 5.6.2), in lower
/// case.
pub(crate) const fn is_name_byte(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.')
        || matches!(byte, b'^' | b'_' | b'`' | b'|' | b'~')
}

/// Whether a value has no control characters, except tabs inside, and no blanks around it (RFC 9113
/// section 8.2.1, RFC 9110 section 5.5).
pub(crate) fn is_value(value: &[u8]) -> bool {
    const fn is_blank(byte: u8) -> bool {
        matches!(byte, b' ' | b'\t')
    }
    let [first, .., last] = value else {
        return value.iter().all(|&byte| byte > b' ' && byte != 0x7f);
    };
    // The loop has no branch, for SIMD.
    let bad = |byte: u8| u8::from(byte < b' ') & u8::from(byte != b'\t') | u8::from(byte == 0x7f);
    !is_blank(*first) && !is_blank(*last) && value.iter().fold(0, |any, &byte| any | bad(byte)) == 0
}

/// Why a head can't be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadError {
    /// The field's name, escaped for a terminal.
    pub name: Box<str>,
    /// The field's mistake: a predicate.
    pub problem: &'static str,
}

impl fmt::Display for HeadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "header field `{}` {}", self.name, self.problem)
    }
}

impl std::error::Error for HeadError {}

#[cfg(test)]
mod tests {
    use super::{Head, is_value};
    use crate::Indexing;

    fn check(fields: &[(&str, &str)]) -> Option<String> {
        let fields = fields
            .iter()
            .map(|(name, value)| (name.as_bytes(), value.as_bytes(), Indexing::Allowed));
        Head::new(fields).err().map(|error| error.to_string())
    }

    #[test]
    fn fields_that_may_not_stand_are_refused() {
        assert_eq!(
            check(&[(":method", "GET"), (":path", "/"), ("te", "trailers")]),
            None
        );
        for (fields, words) in [
            (&[("Accept", "*/*")][..], "lower-case"),
            (&[("", "x")], "lower-case"),
            (&[("a b", "x")], "lower-case"),
            (&[("a:", "x")], "lower-case"),
            (&[("connection", "close")], "not allowed"),
            (&[("transfer-encoding", "chunked")], "not allowed"),
            (&[("te", "gzip")], "trailers"),
            (&[(":status", "200")], "not a pseudo-field"),
            (&[("a", "b"), (":path", "/")], "precede other fields"),
            (&[(":path", "/"), (":path", "/")], "twice"),
            (&[("a", "b\r\nc: d")], "forbidden"),
            (&[("a", " b")], "forbidden"),
        ] {
            let error = check(fields).expect("refused");
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn secrets_are_never_indexed() {
        let head = Head::new([(&b"cookie"[..], &b"a=b"[..], Indexing::Allowed)]).expect("a head");
        assert_eq!(head.prepared.fields()[0].indexing, Indexing::Never);
    }

    #[test]
    fn values_have_no_controls_and_no_blanks_around_them() {
        for good in [&b""[..], b"x", b"a b", b"a\tb", b"\xc3\xa4", b"\x80"] {
            assert!(is_value(good), "{}", good.escape_ascii());
        }
        for bad in [
            &b" "[..],
            b"\t",
            b" a",
            b"a ",
            b"a\t",
            b"a\0b",
            b"a\nb",
            b"\x7f",
            b"a\x01",
        ] {
            assert!(!is_value(bad), "{}", bad.escape_ascii());
        }
    }
}
