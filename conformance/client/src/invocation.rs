//! Converts the suite's request to a call on the wire.

use crate::call::Call;
use crate::message::{ClientCompatRequest, ClientResponseResult};
use crate::script::{self, stream_type};
use crate::transport::Transport;
use drumfire_grpc::{
    Compressor, Encoding, Keep, Replies, ReplySettings, TimeoutText, metadata, timeout_value,
};
use drumfire_http2::{Head, Indexing};
use std::time::Duration;

/// The suite's numbers for the features that this client supports.
const HTTP_2: i32 = 2;
const GRPC: i32 = 2;
const PROTO: i32 = 1;

/// Makes one call.
///
/// # Errors
/// If the call could not be made: the request needs a feature that this client does not support, or
/// the connection failed.
pub(crate) fn invoke(request: &ClientCompatRequest) -> Result<ClientResponseResult, String> {
    if (request.http_version, request.protocol, request.codec) != (HTTP_2, GRPC, PROTO) {
        return Err("only gRPC over HTTP/2 with protobuf is spoken here".to_owned());
    }
    if request.raw_request.is_some() {
        return Err("raw requests are for tests of servers".to_owned());
    }
    let encoding = encoding(request.compression)?;
    let timeout = request
        .timeout_ms
        .map(|millis| Duration::from_millis(millis.into()));
    let head = head(request, encoding, timeout)?;
    let transport = Transport::connect(request)?;
    let call = Call::open(transport, &head, &settings(request, encoding), timeout)?;
    let cancel = request.cancel.as_ref();
    Ok(call.run(
        script::steps(request),
        messages(request, encoding)?,
        cancel.and_then(|cancel| cancel.after_num_responses),
    ))
}

/// The suite's compressions.
fn encoding(compression: i32) -> Result<Encoding, String> {
    match compression {
        0 | 1 => Ok(Encoding::Identity),
        2 => Ok(Encoding::Gzip),
        4 => Ok(Encoding::Zstd),
        _ => Err(format!("compression {compression} is not spoken here")),
    }
}

/// The expected form of the reply.
fn settings(request: &ClientCompatRequest, accepted: Encoding) -> ReplySettings {
    let mut settings = ReplySettings {
        replies: match request.stream_type {
            stream_type::UNARY | stream_type::CLIENT => Replies::One,
            _ => Replies::Many,
        },
        accepted,
        keep: Keep::Payload,
        ..ReplySettings::default()
    };
    if request.message_receive_limit > 0 {
        settings.receive_limit = request.message_receive_limit;
    }
    settings
}

/// The encoded messages, each with its prefix.
fn messages(request: &ClientCompatRequest, encoding: Encoding) -> Result<Vec<Vec<u8>>, String> {
    let mut compressor = Compressor::new(encoding);
    let framed = request.request_messages.iter().map(|message| {
        let mut framed = Vec::new();
        compressor
            .write_message(&mut framed, &message.value)
            .map(|()| framed)
            .map_err(|error| error.to_string())
    });
    framed.collect()
}

/// The head of the request.
fn head(
    request: &ClientCompatRequest,
    encoding: Encoding,
    timeout: Option<Duration>,
) -> Result<Head, String> {
    let part = |part: &Option<String>, what: &str| {
        part.clone()
            .ok_or_else(|| format!("the call has no {what}"))
    };
    let service = part(&request.service, "service")?;
    let method = part(&request.method, "method")?;
    let authority = format!("{}:{}", request.host, request.port);
    let path = format!("/{service}/{method}");
    let is_plain = request.server_tls_cert.is_empty();
    let mut fields: Vec<(String, String)> = [
        (":method", "POST"),
        (":scheme", if is_plain { "http" } else { "https" }),
        (":authority", authority.as_str()),
        (":path", path.as_str()),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
        ("user-agent", "drumfire-conformance-client"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    if encoding != Encoding::Identity {
        fields.push(("grpc-encoding".to_owned(), encoding.name().to_owned()));
        fields.push((
            "grpc-accept-encoding".to_owned(),
            encoding.name().to_owned(),
        ));
    }
    if let Some(timeout) = timeout {
        let nanos = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let text: TimeoutText = timeout_value(nanos);
        fields.push(("grpc-timeout".to_owned(), text.to_string()));
    }
    for header in &request.request_headers {
        let name = header.name.to_ascii_lowercase();
        for value in &header.value {
            metadata::check(name.as_bytes(), value.as_bytes())
                .map_err(|error| format!("{name}: {error}"))?;
            fields.push((name.clone(), value.clone()));
        }
    }
    let fields = fields
        .iter()
        .map(|(name, value)| (name.as_bytes(), value.as_bytes(), Indexing::Allowed));
    Head::new(fields).map_err(|error| error.to_string())
}
