//! Answers in the form of the protocols' libraries: a head of fields, and a body.

use crate::answer::{Answer, Body, Content};
use drumfire_units::Nanos;
use http::header::{CONTENT_LENGTH, HeaderName, HeaderValue};
use http::{HeaderMap, Response, StatusCode};

/// An answer's head, and the body that follows it.
pub(crate) struct Rendered {
    pub(crate) response: Response<()>,
    pub(crate) body: Body,
}

/// Renders an answer's head. A Date field is not sent, because it would change every second and no
/// answer would be constant. A chunked body has no length; 204 and 304 have no body (RFC 9110
/// §15.3.5, §15.4.5).
pub(crate) fn render(answer: &mut Answer, delay: Option<Nanos>) -> Rendered {
    let mut fields = HeaderMap::with_capacity(answer.fields.len() + 2);
    for (name, value) in &answer.fields {
        // The planner creates only valid names and values; an invalid one is left out.
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
            fields.append(name, value);
        }
    }
    if let Some(delay) = delay {
        fields.insert("x-drumfire-delay-ns", HeaderValue::from(delay.0));
    }
    let mut body = std::mem::take(&mut answer.body);
    if matches!(answer.status, 204 | 304) {
        body = Body::Empty;
    } else if answer.chunked.is_none() {
        fields.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    }
    if answer.content == Content::Described {
        body = Body::Empty;
    }
    let mut response = Response::new(());
    // Statuses are 200 to 599.
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or_default();
    *response.headers_mut() = fields;
    Rendered { response, body }
}
