//! A request as an HTTP/2 stream.
//!
//! The fixed part of the head is encoded before the run; varying fields are added when the stream
//! is opened. Names are converted to lower case, and connection-specific fields of HTTP/1 are left
//! out: a message with them is malformed (RFC 9113 section 8.2.2).
//!
//! A call is such a request with messages as its body. If they are the same for each call and sent
//! at once, they are encoded here, up to [`FIXED_BYTES`], and shared by all calls.

use super::render::{host, own_fields, sent_headers};
use super::{TargetForm, USER_AGENT, basic_credentials};
use drumfire_grpc::{Compressor, Encoding, Keep, Replies, ReplySettings, timeout_value};
use drumfire_http1::request::RequestError;
use drumfire_http2::{Head, Indexing};
use drumfire_plan::{
    Call, CallKind, Header, HttpRequest, MessageCompression, Pool, RequestContext, Varying,
};
use drumfire_units::Nanos;
use std::sync::Arc;

/// Messages of one request are encoded before the run up to this many bytes; larger ones are
/// encoded when they are sent.
const FIXED_BYTES: usize = 4 * 1024 * 1024;

/// A request in the form of a stream.
#[derive(Debug)]
pub(crate) struct StreamRequest {
    /// The head that opens the stream.
    pub(crate) head: StreamHead,
    /// The whole body, if it is the same for all exchanges.
    pub(crate) body: Arc<[u8]>,
}

/// The head that opens a stream. The fixed part is encoded before the run.
#[derive(Debug)]
pub(crate) struct StreamHead(Head);

impl From<Head> for StreamHead {
    fn from(head: Head) -> Self {
        Self(head)
    }
}

impl StreamHead {
    /// Names and values of the head's fields, pseudo-fields first.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.0.fields()
    }

    /// The head in the form of the HTTP/2 machine.
    #[inline]
    pub(crate) const fn http2(&self) -> &Head {
        &self.0
    }
}

/// A request that sends messages on a stream: its head, and the messages if they are the same for
/// every exchange.
#[derive(Debug)]
pub(crate) struct MessageRequest {
    /// The call whose messages are sent.
    pub(crate) plan: Arc<Call>,
    pub(crate) stream: StreamRequest,
    /// The encoding of the messages.
    pub(crate) encoding: Encoding,
    /// The number of messages in the stream's body; `None` if each exchange makes its own.
    pub(crate) fixed: Option<u64>,
}

/// A gRPC call: how its replies are read and judged.
#[derive(Debug)]
pub(crate) struct CallRequest {
    pub(crate) plan: Arc<Call>,
    /// The limits and the encoding of its replies.
    pub(crate) reply: ReplySettings,
}

impl MessageRequest {
    /// The encoded messages, if they are the same for every call.
    #[inline]
    pub(crate) fn fixed_messages(&self) -> Option<&[u8]> {
        self.fixed.map(|_| &*self.stream.body)
    }
}

/// Prepares a plain request for HTTP/2.
///
/// # Errors
/// A text, if the request cannot be sent on a stream.
pub(super) fn stream(pool: &Pool, request: &HttpRequest) -> Result<StreamRequest, String> {
    stream_outline(pool, request, Varying::default())
}

/// Prepares the replies of a call.
pub(super) fn call(planned: &Arc<Call>) -> CallRequest {
    CallRequest {
        plan: Arc::clone(planned),
        reply: reply_settings(planned),
    }
}

/// Prepares a call's messages. They are encoded here if they are the same for all calls and sent at
/// once.
///
/// # Errors
/// A text, if the call cannot be sent on a stream.
pub(super) fn messages(
    pool: &Pool,
    request: &HttpRequest,
    planned: &Arc<Call>,
) -> Result<MessageRequest, String> {
    let (fixed, body) = match fixed_body(planned)? {
        Some((messages, body)) => (Some(messages), body.into()),
        None => (None, Arc::from([])),
    };
    Ok(MessageRequest {
        plan: Arc::clone(planned),
        stream: StreamRequest {
            head: head(pool, request, Varying::default())?,
            body,
        },
        encoding: sent_encoding(planned),
        fixed,
    })
}

/// The fixed part of a varying HTTP/2 request.
///
/// # Errors
/// A text, if the part cannot be sent on a stream.
pub(super) fn stream_outline(
    pool: &Pool,
    request: &HttpRequest,
    varying: Varying,
) -> Result<StreamRequest, String> {
    Ok(StreamRequest {
        head: head(pool, request, varying)?,
        body: request.body.0.clone().unwrap_or_else(|| Arc::from([])),
    })
}

/// The head: pseudo-fields, our fields, the plan's fields (RFC 9113 section 8.3.1). Varying fields
/// are left out.
fn head(pool: &Pool, request: &HttpRequest, varying: Varying) -> Result<StreamHead, String> {
    let origin = &request.url.origin;
    let method = match request.socket {
        Some(_) => "CONNECT",
        None => request.method.as_str(),
    };
    let mut fields: Vec<(Vec<u8>, Vec<u8>)> = vec![
        (b":method".to_vec(), method.into()),
        (b":scheme".to_vec(), origin.scheme.as_str().into()),
    ];
    if request.socket.is_some() {
        // RFC 8441 section 4.
        fields.push((b":protocol".to_vec(), b"websocket".to_vec()));
    }
    if !varying.host {
        fields.push((b":authority".to_vec(), authority(request)?));
    }
    if !varying.target {
        fields.push((b":path".to_vec(), request.url.target.clone().into_bytes()));
    }
    match &request.call {
        Some(call) => fields.extend(call_fields(request, call)),
        None => fields.extend(http_fields(pool, request, varying)),
    }
    let given = sent_headers(request).filter(|header| !is_of_connection(header.name()));
    fields.extend(given.map(|h| (h.name().to_ascii_lowercase().into(), h.value().to_vec())));
    let fields = fields
        .iter()
        .map(|(name, value)| (&name[..], &value[..], Indexing::Allowed));
    let head = Head::new(fields).map_err(|error| error.to_string())?;
    Ok(StreamHead(head))
}

/// The `:authority`: the Host field if one is given, else the URL's authority.
///
/// # Errors
/// In words, if the Host field can't be an authority.
pub(crate) fn authority(request: &HttpRequest) -> Result<Vec<u8>, String> {
    let host = host(request)?;
    check_authority(&host)?;
    Ok(host.into_bytes())
}

/// Checks the value of an `:authority`. A server would refuse an invalid one, and be blamed for it.
///
/// # Errors
/// In words.
pub(super) fn check_authority(host: &str) -> Result<(), String> {
    match Header::is_authority(host.as_bytes()) {
        true => Ok(()),
        false if host.is_empty() => Err("the host is empty; write a name or an address".to_owned()),
        false => Err(RequestError::Host.to_string()),
    }
}

/// The default fields of a plain request, without `Expect`: on a stream the server refuses a body
/// by other means.
fn http_fields(pool: &Pool, request: &HttpRequest, varying: Varying) -> Vec<(Vec<u8>, Vec<u8>)> {
    let own = own_fields(pool, request, TargetForm::Origin);
    let mut fields: Vec<(Vec<u8>, Vec<u8>)> = own
        .into_iter()
        .filter(|(name, _)| !is_of_connection(name) && !name.eq_ignore_ascii_case("expect"))
        .map(|(name, value)| (name.to_ascii_lowercase().into(), value.into()))
        .collect();
    let has_length = varying.body || request.headers.iter().any(|h| h.is("content-length"));
    // The body of a request on a WebSocket is a message.
    let has_length = has_length || request.socket.is_some();
    if let Some(body) = request.body.0.as_deref().filter(|_| !has_length) {
        fields.push((b"content-length".to_vec(), body.len().to_string().into()));
    }
    fields
}

/// The fields of every call ("Requests" in gRPC over HTTP/2).
fn call_fields(request: &HttpRequest, call: &Call) -> Vec<(Vec<u8>, Vec<u8>)> {
    let (sent, accepted) = (sent_encoding(call), accepted_encoding(call));
    let mut fields: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let mut push = |name: &str, value: &[u8]| {
        let is_own = request.headers.iter().any(|header| header.is(name));
        if !is_own && !call.data.renders(name) {
            fields.push((name.into(), value.into()));
        }
    };
    push("te", b"trailers");
    push("content-type", b"application/grpc");
    push("user-agent", USER_AGENT.as_bytes());
    for (field, encoding) in [("grpc-encoding", sent), ("grpc-accept-encoding", accepted)] {
        if encoding != Encoding::Identity {
            push(field, encoding.name().as_bytes());
        }
    }
    if let Some(deadline) = call.deadline.filter(|deadline| *deadline < Nanos::MAX) {
        push("grpc-timeout", timeout_value(deadline.0).as_bytes());
    }
    if let Some(credentials) = basic_credentials(&request.url) {
        push("authorization", credentials.as_bytes());
    }
    fields
}

/// Connection-specific fields of HTTP/1 (RFC 9113 section 8.2.2).
fn is_of_connection(name: &str) -> bool {
    [
        "connection",
        "keep-alive",
        "proxy-connection",
        "transfer-encoding",
        "upgrade",
        "proxy-authorization",
    ]
    .iter()
    .any(|of| name.eq_ignore_ascii_case(of))
}

/// The encoding of a call's own messages.
fn sent_encoding(call: &Call) -> Encoding {
    match call.compression {
        MessageCompression::Identity | MessageCompression::GzipReplies => Encoding::Identity,
        MessageCompression::Gzip => Encoding::Gzip,
        MessageCompression::Zstd => Encoding::Zstd,
    }
}

/// The encoding that a call accepts for its replies.
fn accepted_encoding(call: &Call) -> Encoding {
    match call.compression {
        MessageCompression::GzipReplies => Encoding::Gzip,
        _ => sent_encoding(call),
    }
}

/// How a call's replies are read.
fn reply_settings(call: &Call) -> ReplySettings {
    ReplySettings {
        replies: if call.kind.server_streams() {
            Replies::Many
        } else {
            Replies::One
        },
        receive_limit: u32::try_from(call.receive_limit).unwrap_or(u32::MAX),
        accepted: accepted_encoding(call),
        keep: if call.reply_check.is_some() {
            Keep::Payload
        } else {
            Keep::Length
        },
    }
}

/// All messages of a call, if they are the same for every call and sent at once; `None` if each
/// call makes its own. Each call also makes its own messages if there are pauses between them, or
/// if they are too large together.
fn fixed_body(call: &Call) -> Result<Option<(u64, Vec<u8>)>, String> {
    let pauses = call.streaming.interval > Nanos::ZERO || call.streaming.duration.is_some();
    if !call.data.is_fixed() || pauses && call.kind.client_streams() {
        return Ok(None);
    }
    let context = RequestContext::default();
    let mut compressor = Compressor::new(sent_encoding(call));
    let (mut body, mut message) = (Vec::new(), Vec::new());
    let count = message_count(call, &context);
    for n in 0..count {
        message.clear();
        call.data
            .message(&context, n, &mut message)
            .map_err(|error| error.to_string())?;
        if message.len() as u64 > call.send_limit {
            return Err(too_large(message.len(), call.send_limit));
        }
        compressor
            .write_message(&mut body, &message)
            .map_err(|_| too_large(message.len(), u64::from(u32::MAX)))?;
        if body.len() > FIXED_BYTES && n + 1 < count {
            return Ok(None);
        }
    }
    Ok(Some((count, body)))
}

/// The number of messages that a call sends; it may depend on the data of the context.
pub(crate) fn message_count(call: &Call, context: &RequestContext) -> u64 {
    match call.kind {
        CallKind::Unary | CallKind::ServerStream => 1,
        CallKind::ClientStream | CallKind::Bidirectional => call
            .streaming
            .send
            .unwrap_or_else(|| call.data.messages(context)),
    }
}

/// The error for a message that is too large to be sent.
pub(crate) fn too_large(length: usize, limit: u64) -> String {
    format!("a message of {length} bytes exceeds the limit of {limit}")
}
