//! One side of an exchange as it is shown. It is read back from the bytes or the head that were
//! sent, not from the plan, so it is what the peer received.
//!
//! Bodies are cut to [`SHOWN_BYTES`]. A stream's pseudo-fields become the request line and the Host
//! that HTTP/1.1 would have. Secrets are not masked here: the writers of transcripts do that.

use crate::limits::SHOWN_BYTES;
use crate::prepare::{Rendered, StreamHead};
use crate::wire::Extra;
use drumfire_measure::{Excerpt, Field, Side};

/// The beginning of a body, with the length of the whole body.
pub(super) fn excerpt(bytes: &[u8]) -> Excerpt {
    Excerpt {
        bytes: bytes[..bytes.len().min(SHOWN_BYTES)].to_vec(),
        length: bytes.len() as u64,
        text: None,
    }
}

/// The body of a side as a list, which is empty for an empty body.
fn bodies(body: &[u8]) -> Vec<Excerpt> {
    (!body.is_empty())
        .then(|| excerpt(body))
        .into_iter()
        .collect()
}

/// A request in the form of HTTP/1.1.
pub(super) fn of_rendered(rendered: &Rendered) -> Side {
    let length = rendered.length();
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        bytes.extend_from_slice(rendered.piece(bytes.len(), length));
    }
    let (head, body) = bytes.split_at(rendered.head_length.min(bytes.len()));
    let head = String::from_utf8_lossy(head);
    let mut lines = head.split("\r\n").filter(|line| !line.is_empty());
    let line = lines.next().unwrap_or_default().to_owned();
    let fields = lines.filter_map(|line| line.split_once(':'));
    Side {
        line,
        fields: fields
            .map(|(name, value)| Field::from_bytes(name.as_bytes(), value.trim().as_bytes()))
            .collect(),
        bodies: bodies(body),
        ..Side::default()
    }
}

/// A request in the form of a stream: the request's own fields replace pseudo-fields.
pub(super) fn of_stream<'a>(head: &'a StreamHead, extra: Option<Extra<'a>>, body: &[u8]) -> Side {
    let mut side = Side::default();
    let (mut method, mut path, mut authority) = (String::new(), String::new(), None);
    let own = extra.into_iter().flat_map(Extra::iter);
    for (name, value) in head.fields().chain(own) {
        let field = Field::from_bytes(name, value);
        match field.name.as_str() {
            ":method" => method = field.value,
            ":path" => path = field.value,
            ":authority" => authority = Some(field.value),
            ":scheme" => {}
            _ => side.fields.push(field),
        }
    }
    if let Some(authority) = authority {
        side.fields
            .insert(0, Field::from_bytes(b"host", authority.as_bytes()));
    }
    side.line = format!("{method} {path} HTTP/2");
    side.bodies = bodies(body);
    side
}
