//! The facts of a request: its destination and its content, without secrets.
//!
//! Of a body, only the length is kept, or that each request renders its own: bodies may be large,
//! and most secrets that no rule can recognize are in bodies. The names of fields are kept
//! unchanged, because a name is a token in which nothing is masked.

use crate::form;
use drumfire_plan::{Body, Call, Header, HttpRequest, Streaming, secret};
use drumfire_units::Nanos;

/// The facts of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedRequest {
    /// The URL, with secrets masked.
    pub url: String,
    /// The method.
    pub method: String,
    /// The fields, in the given order.
    pub headers: Vec<AskedHeader>,
    /// The gRPC call of the request, if it is one.
    pub call: Option<AskedCall>,
    /// The body.
    pub body: AskedBody,
}

/// A field of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedHeader {
    /// The name.
    pub name: String,
    /// The value, with secrets masked.
    pub value: String,
}

/// The body of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedBody {
    /// No body.
    None,
    /// Fixed bytes; the value is their number.
    Bytes(u64),
    /// Rendered for each request, so the length is unknown.
    Template,
}

/// The facts of a gRPC call: its method and its streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedCall {
    /// `package.Service`.
    pub service: String,
    /// The method's name.
    pub method: String,
    /// The deadline that is sent to the server with the call; `None` if none is sent.
    pub deadline: Option<Nanos>,
    /// The numbers and intervals of its messages.
    pub streaming: Streaming,
}

form! { struct AskedRequest { url, method, headers, call, body } }
form! { struct AskedHeader { name, value } }
form! { enum AskedBody { 0 => None, 1 => Bytes(count), 2 => Template } }
form! { struct AskedCall { service, method, deadline, streaming } }

impl AskedRequest {
    /// The facts of a request.
    pub(super) fn from_request(request: &HttpRequest) -> Self {
        let data = request.data.as_ref();
        let body = match &request.body {
            _ if data.is_some_and(|data| data.varying().body) => AskedBody::Template,
            Body(Some(body)) => AskedBody::Bytes(body.len() as u64),
            Body(None) => AskedBody::None,
        };
        Self {
            url: secret::setting("url", &request.url.to_string()),
            method: request.method.as_str().to_owned(),
            headers: request
                .headers
                .iter()
                .map(AskedHeader::from_header)
                .collect(),
            call: request.call.as_deref().map(AskedCall::from_call),
            body,
        }
    }

    pub(super) fn rewrite_texts(&mut self, rewrite: &dyn Fn(&str) -> String) {
        self.url = rewrite(&self.url);
        self.method = rewrite(&self.method);
        for header in &mut self.headers {
            header.name = rewrite(&header.name);
            header.value = rewrite(&header.value);
        }
        if let Some(call) = &mut self.call {
            call.service = rewrite(&call.service);
            call.method = rewrite(&call.method);
        }
    }
}

impl AskedHeader {
    fn from_header(header: &Header) -> Self {
        let value = String::from_utf8_lossy(header.value());
        let line = secret::setting("header", &format!("{}: {value}", header.name()));
        let masked = line.strip_prefix(header.name());
        let masked = masked.and_then(|rest| rest.strip_prefix(": "));
        Self {
            name: header.name().to_owned(),
            // A name is a token, in which nothing is masked.
            value: masked.unwrap_or(secret::MASK).to_owned(),
        }
    }
}

impl AskedCall {
    fn from_call(call: &Call) -> Self {
        Self {
            service: call.service.clone(),
            method: call.method.clone(),
            deadline: call.deadline,
            streaming: call.streaming,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_headers_hold_no_secrets() {
        for (line, value) in [
            ("Accept: text/plain", "text/plain"),
            ("Authorization: Bearer abc", "***"),
            (
                "Referer: http://me:pw@h.test/?token=5&a=b",
                "http://***@h.test/?token=***&a=b",
            ),
            ("X-Empty:", ""),
            ("Note: token: abc", "token: abc"),
        ] {
            let header = Header::parse(line).unwrap();
            assert_eq!(AskedHeader::from_header(&header).value, value, "{line}");
        }
    }
}
