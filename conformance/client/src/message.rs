//! The suite's messages (`connectrpc.conformance.v1`), as far as a client needs them.
//!
//! Fields that are only forwarded stay bytes: on the wire, a message field and a `bytes` field are
//! the same.

use prost::Message;

/// A call to make.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ClientCompatRequest {
    #[prost(string, tag = "1")]
    pub(crate) test_name: String,
    /// 2 for HTTP/2.
    #[prost(int32, tag = "2")]
    pub(crate) http_version: i32,
    /// 2 for gRPC.
    #[prost(int32, tag = "3")]
    pub(crate) protocol: i32,
    /// 1 for protobuf.
    #[prost(int32, tag = "4")]
    pub(crate) codec: i32,
    /// See [`crate::invocation`].
    #[prost(int32, tag = "5")]
    pub(crate) compression: i32,
    #[prost(string, tag = "6")]
    pub(crate) host: String,
    #[prost(uint32, tag = "7")]
    pub(crate) port: u32,
    /// The trusted certificate authority, in PEM; without one, the call is in plain text.
    #[prost(bytes = "vec", tag = "8")]
    pub(crate) server_tls_cert: Vec<u8>,
    #[prost(message, optional, tag = "9")]
    pub(crate) client_tls_creds: Option<TlsCreds>,
    /// 0 if the request sets no limit.
    #[prost(uint32, tag = "10")]
    pub(crate) message_receive_limit: u32,
    #[prost(string, optional, tag = "11")]
    pub(crate) service: Option<String>,
    #[prost(string, optional, tag = "12")]
    pub(crate) method: Option<String>,
    /// See [`crate::script`].
    #[prost(int32, tag = "13")]
    pub(crate) stream_type: i32,
    #[prost(message, repeated, tag = "15")]
    pub(crate) request_headers: Vec<HeaderMessage>,
    #[prost(message, repeated, tag = "16")]
    pub(crate) request_messages: Vec<Any>,
    #[prost(uint32, optional, tag = "17")]
    pub(crate) timeout_ms: Option<u32>,
    /// The pause before each message.
    #[prost(uint32, tag = "18")]
    pub(crate) request_delay_ms: u32,
    #[prost(message, optional, tag = "19")]
    pub(crate) cancel: Option<Cancel>,
    /// A raw request, used only in tests of servers.
    #[prost(bytes = "vec", optional, tag = "20")]
    pub(crate) raw_request: Option<Vec<u8>>,
}

/// A certificate chain and its key, in PEM.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct TlsCreds {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) cert: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) key: Vec<u8>,
}

/// When to cancel a call; one of the three is set.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct Cancel {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub(crate) before_close_send: Option<Vec<u8>>,
    #[prost(uint32, optional, tag = "2")]
    pub(crate) after_close_send_ms: Option<u32>,
    #[prost(uint32, optional, tag = "3")]
    pub(crate) after_num_responses: Option<u32>,
}

/// A header or trailer with all its values.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct HeaderMessage {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, repeated, tag = "2")]
    pub(crate) value: Vec<String>,
}

/// `google.protobuf.Any`.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct Any {
    #[prost(string, tag = "1")]
    pub(crate) type_url: String,
    /// The encoded message, as on the wire.
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) value: Vec<u8>,
}

/// The result of a call: a response, or an error if the call could not be made at all.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ClientCompatResponse {
    #[prost(string, tag = "1")]
    pub(crate) test_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) response: Option<ClientResponseResult>,
    #[prost(message, optional, tag = "3")]
    pub(crate) error: Option<ClientErrorResult>,
}

/// The server's answer.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ClientResponseResult {
    #[prost(message, repeated, tag = "1")]
    pub(crate) response_headers: Vec<HeaderMessage>,
    /// `ConformancePayload` messages, as received.
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub(crate) payloads: Vec<Vec<u8>>,
    #[prost(message, optional, tag = "3")]
    pub(crate) error: Option<Error>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) response_trailers: Vec<HeaderMessage>,
    #[prost(int32, tag = "5")]
    pub(crate) num_unsent_requests: i32,
}

/// A status other than OK.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct Error {
    #[prost(int32, tag = "1")]
    pub(crate) code: i32,
    #[prost(string, optional, tag = "2")]
    pub(crate) message: Option<String>,
    /// `google.protobuf.Any` messages, as received.
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub(crate) details: Vec<Vec<u8>>,
}

/// The reason why a call could not be made.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ClientErrorResult {
    #[prost(string, tag = "1")]
    pub(crate) message: String,
}

/// `google.rpc.Status`.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct GoogleRpcStatus {
    #[prost(int32, tag = "1")]
    pub(crate) code: i32,
    #[prost(string, tag = "2")]
    pub(crate) message: String,
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub(crate) details: Vec<Vec<u8>>,
}

/// A response of any method: all methods have the payload in the same field.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct AnyResponse {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub(crate) payload: Option<Vec<u8>>,
}
