//! A request, independent of the protocol.

use h2::ext::Protocol;
use http::Version;
use http::request::Parts;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::borrow::Cow;

/// The maximum size of a request head.
pub(crate) const HEAD_MAX: usize = 64 * 1024;
/// The maximum size of a request body over HTTP/1. The body is counted and not stored.
pub(crate) const BODY_MAX: u64 = 1 << 30;

/// The head of a request over any protocol.
#[derive(Debug)]
pub(crate) struct RequestHead<'a> {
    pub(crate) method: &'a str,
    /// Path and query.
    pub(crate) target: &'a str,
    /// The version as an echo shows it: `HTTP/1.1`.
    pub(crate) protocol: &'static str,
    pub(crate) fields: Vec<Field<'a>>,
}

/// One header field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a [u8],
}

impl<'a> RequestHead<'a> {
    /// The head of a request for this path and query. Over HTTP/2 the authority counts as Host.
    pub(crate) fn read(head: &'a Parts, target: &'a str) -> Self {
        let authority = head
            .uri
            .authority()
            .filter(|_| head.version == Version::HTTP_2);
        let host = authority.map(|authority| Field {
            name: "host",
            value: authority.as_str().as_bytes(),
        });
        let protocol = head.extensions.get::<Protocol>().map(|protocol| Field {
            name: ":protocol",
            value: protocol.as_str().as_bytes(),
        });
        let fields = head.headers.iter().map(|(name, value)| Field {
            name: name.as_str(),
            value: value.as_bytes(),
        });
        Self {
            method: head.method.as_str(),
            target,
            protocol: match head.version {
                Version::HTTP_2 => "HTTP/2",
                Version::HTTP_10 => "HTTP/1.0",
                _ => "HTTP/1.1",
            },
            fields: protocol.into_iter().chain(host).chain(fields).collect(),
        }
    }

    /// The values of all fields with this name, in order.
    pub(crate) fn values(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.fields
            .iter()
            .filter(move |field| field.name.eq_ignore_ascii_case(name))
            .map(|field| field.value)
    }

    /// Whether a comma-separated list field contains this token, ignoring parameters.
    pub(crate) fn lists(&self, name: &str, token: &str) -> bool {
        self.values(name)
            .flat_map(|value| value.split(|byte| *byte == b','))
            .map(|item| item.split(|byte| *byte == b';').next().unwrap_or_default())
            .any(|item| item.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
    }

    /// The target's path.
    pub(crate) fn path(&self) -> &'a str {
        self.target
            .split_once('?')
            .map_or(self.target, |(path, _)| path)
    }

    /// The query's parameters, decoded.
    pub(crate) fn parameters(
        &self,
    ) -> impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)> + use<'a> {
        pairs(self.target.split_once('?').map_or("", |(_, query)| query))
    }
}

/// A request's body, after it has arrived.
#[derive(Debug, Default)]
pub(crate) struct RequestBody {
    pub(crate) length: u64,
    /// The beginning of the body, as far as the intent needs it.
    pub(crate) kept: Vec<u8>,
}

impl RequestBody {
    /// Counts the next bytes, and keeps the first `kept_max`.
    pub(crate) fn record(&mut self, bytes: &[u8], kept_max: usize) {
        self.length += bytes.len() as u64;
        let room = kept_max.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

/// The pairs of a query or a form, decoded.
pub(crate) fn pairs(query: &str) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decode(name), decode(value)))
}

/// Decodes `%41` and `+`. An incomplete escape is literal; invalid UTF-8 becomes the replacement
/// character.
fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('+') {
        return percent_decode_str(text).decode_utf8_lossy();
    }
    let text = text.replace('+', " ");
    let decoded = percent_decode_str(&text).decode_utf8_lossy();
    Cow::Owned(decoded.into_owned())
}

/// The characters that a query value needs as `%41`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/')
    .remove(b':');

/// Encodes a text for a query value.
pub(crate) fn encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(target: &str) -> RequestHead<'_> {
        RequestHead {
            method: "GET",
            target,
            protocol: "HTTP/1.1",
            fields: vec![Field {
                name: "Accept-Encoding",
                value: b"br, GZIP;q=0.5",
            }],
        }
    }

    #[test]
    fn splits_and_decodes_the_target() {
        let head = head("/a%20b?delay=exp%3A10ms&x&to=a+b&bad=%4&&e=%zz");
        assert_eq!(head.path(), "/a%20b");
        let pairs: Vec<_> = head.parameters().collect();
        let pair = |n: usize| (&*pairs[n].0, &*pairs[n].1);
        assert_eq!(pair(0), ("delay", "exp:10ms"));
        assert_eq!(pair(1), ("x", ""));
        assert_eq!(pair(2), ("to", "a b"));
        assert_eq!(pair(3), ("bad", "%4"));
        assert_eq!(pair(4), ("e", "%zz"));
    }

    #[test]
    fn finds_tokens_in_lists() {
        let head = head("/");
        assert!(head.lists("accept-encoding", "gzip"));
        assert!(!head.lists("accept-encoding", "zip"));
    }

    #[test]
    fn what_is_encoded_decodes() {
        for text in ["http://h/?a=b&c=d%", "ä ö"] {
            assert_eq!(decode(&encode(text)), text);
        }
    }
}
