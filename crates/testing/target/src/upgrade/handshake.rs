//! The opening handshake, server side (RFC 6455 section 4.2, RFC 8441 section 5).

use super::request::{SocketFault, Switch, UpgradeRequest};
use super::terms::DeflateTerms;
use crate::request::RequestHead;
use http::Response;
use http::header::HeaderValue;
use tungstenite::handshake::derive_accept_key;

/// The version of the protocol.
const VERSION: &[u8] = b"13";

/// The answer to a request for a WebSocket.
#[derive(Debug)]
pub(crate) struct UpgradeAnswer {
    /// The answer to the key; `None` over HTTP/2.
    accept: Option<String>,
    /// The first offered subprotocol.
    protocol: Option<HeaderValue>,
    pub(crate) deflate: Option<DeflateTerms>,
}

impl UpgradeAnswer {
    /// The answer to a request; `None` if the request does not ask for a WebSocket of this version.
    pub(crate) fn read(head: &RequestHead<'_>, request: &UpgradeRequest) -> Option<Self> {
        let is_version = head.values("sec-websocket-version").eq([VERSION]);
        let is_http2 = head.protocol == "HTTP/2";
        let asks = match is_http2 {
            true => head.method == "CONNECT" && head.values(":protocol").eq([&b"websocket"[..]]),
            false => {
                head.method == "GET"
                    && head.protocol == "HTTP/1.1"
                    && head.lists("upgrade", "websocket")
                    && head.lists("connection", "upgrade")
            }
        };
        if !asks || !is_version {
            return None;
        }
        let accept = match is_http2 {
            true => None,
            false => {
                let key = head.values("sec-websocket-key").next()?;
                let key = match request.fault {
                    Some(SocketFault::Accept) => b"another key",
                    _ => key,
                };
                Some(derive_accept_key(key))
            }
        };
        let mut protocols = head.values("sec-websocket-protocol");
        let protocol = protocols
            .next()
            .and_then(|value| value.split(|byte| *byte == b',').next())
            .and_then(|name| HeaderValue::from_bytes(name.trim_ascii()).ok());
        let extensions = head.values("sec-websocket-extensions");
        let extensions = extensions.flat_map(|value| value.split(|byte| *byte == b','));
        let deflate = match request.deflate {
            Switch::On => extensions.filter_map(DeflateTerms::of_offer).next(),
            Switch::Off => None,
        };
        Some(Self {
            accept,
            protocol,
            deflate,
        })
    }

    /// The fields of both versions of HTTP.
    fn fields(&self) -> impl Iterator<Item = (&'static str, HeaderValue)> {
        let deflate = self.deflate.as_ref();
        let extensions = deflate.and_then(|terms| HeaderValue::from_str(&terms.value()).ok());
        let protocol = self.protocol.clone();
        [
            ("sec-websocket-protocol", protocol),
            ("sec-websocket-extensions", extensions),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    }

    /// The head over HTTP/1.1.
    pub(crate) fn head_http1(&self) -> Vec<u8> {
        let accept = self.accept.as_deref().unwrap_or_default();
        let mut head = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {accept}\r\n"
        )
        .into_bytes();
        for (name, value) in self.fields() {
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value.as_bytes());
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"\r\n");
        head
    }

    /// The head over HTTP/2.
    pub(crate) fn head_http2(&self) -> Response<()> {
        let mut response = Response::new(());
        for (name, value) in self.fields() {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
