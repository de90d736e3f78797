//! The values of a cookie in responses.

use drumfire_plan::ResponseFields;

/// The field that sets cookies.
pub(crate) const FIELD: &str = "set-cookie";

/// The values of the cookie, in the order of the `Set-Cookie` fields (RFC 6265, section 5.2): the
/// text between the first `=` and the first `;`, without surrounding blanks. Names are compared
/// exactly.
pub(crate) fn values<'a>(
    fields: &'a ResponseFields,
    name: &'a str,
) -> impl Iterator<Item = &'a [u8]> {
    fields.values(FIELD).filter_map(move |field| {
        let (own, value) = split(field)?;
        (own == name.as_bytes()).then_some(value)
    })
}

/// The names of the cookies that are set.
pub(crate) fn names(fields: &ResponseFields) -> impl Iterator<Item = &[u8]> {
    fields
        .values(FIELD)
        .filter_map(|field| Some(split(field)?.0))
}

fn split(field: &[u8]) -> Option<(&[u8], &[u8])> {
    let pair = field.split(|b| *b == b';').next()?;
    let equals = memchr::memchr(b'=', pair)?;
    Some((pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii()))
}
