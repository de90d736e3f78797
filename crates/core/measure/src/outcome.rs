//! The end of an exchange: exactly one outcome, from a closed list with stable names.
//!
//! One table declares the list, so that every outcome has a name, a party to blame and a
//! description. All counts by outcome are arrays by its index, and all stored and shown data have
//! its name: a new row may change indexes, but a name is never changed or reused. The tables of
//! docs/manual/outcomes.md are generated from this one (`make reference`).
//!
//! The blame shows who has to act: failures of the target count against it, failures of the network
//! are shown separately, failures of the plan must be fixed by the user, and failures of the
//! generator make the run invalid ([`crate::Verdict`]).

use crate::form::{Form, FormError, Input, Named, put_text};
use drumfire_plan::LlmError;

/// The party to blame for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Blame {
    /// The target: its status, or a violation of the protocol.
    Target,
    /// The network: refused, reset, timeout, DNS.
    Network,
    /// The plan: a bad template, missing data, a redirect that it forbids.
    Plan,
    /// This program or its machine: ports, descriptors, memory.
    Generator,
}

impl Blame {
    /// The word used in reports and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Network => "network",
            Self::Plan => "plan",
            Self::Generator => "generator",
        }
    }
}

/// A group of outcomes: a section of the manual.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutcomeGroup {
    /// A complete and valid response arrived.
    Answered,
    /// The plan's data.
    Data,
    /// Names, and connections that were not opened.
    Connecting,
    /// This machine.
    Machine,
    /// The TLS handshake.
    Tls,
    /// Connections that were closed before the response was complete.
    Closed,
    /// Time limits.
    Timeouts,
    /// Responses that violate HTTP/1.1 or their encoding.
    Invalid,
    /// Limits on what a server can fill.
    Limits,
    /// Redirects.
    Redirects,
    /// Event streams.
    Events,
    /// Answers of language models.
    Llm,
    /// WebSockets.
    WebSocket,
    /// HTTP/2, without its error codes.
    Http2,
    /// The error codes of HTTP/2 streams.
    Http2Streams,
    /// The error codes of HTTP/2 connections.
    Http2Connections,
    /// The statuses of calls.
    Grpc,
}

impl OutcomeGroup {
    /// Every group.
    pub const ALL: [Self; 17] = [
        Self::Answered,
        Self::Data,
        Self::Connecting,
        Self::Machine,
        Self::Tls,
        Self::Closed,
        Self::Timeouts,
        Self::Invalid,
        Self::Limits,
        Self::Redirects,
        Self::Events,
        Self::Llm,
        Self::WebSocket,
        Self::Http2,
        Self::Http2Streams,
        Self::Http2Connections,
        Self::Grpc,
    ];

    /// The name of the group, with which the manual's page includes its table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Data => "data",
            Self::Connecting => "connecting",
            Self::Machine => "machine",
            Self::Tls => "tls",
            Self::Closed => "closed",
            Self::Timeouts => "timeouts",
            Self::Invalid => "invalid",
            Self::Limits => "limits",
            Self::Redirects => "redirects",
            Self::Events => "events",
            Self::Llm => "llm",
            Self::WebSocket => "websocket",
            Self::Http2 => "http2",
            Self::Http2Streams => "http2 streams",
            Self::Http2Connections => "http2 connections",
            Self::Grpc => "grpc",
        }
    }
}

/// Declares [`Outcome`] from one table: variant, stable name, group, blame, description, and
/// optional further sentences for the manual.
macro_rules! outcomes {
    ($($variant:ident $name:literal $group:ident $blame:ident $words:literal $($details:literal)?,)*) => {
        /// The end of an exchange. The names are a stable interface: JSON, metrics, thresholds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Outcome {
            /// The response met the plan's expectation.
            Ok,
            $(#[doc = $words] $variant,)*
        }

        impl Named for Outcome {
    const KINDS: &'static [Self] = Self::ALL;

    fn stable_name(self) -> &'static str {
        self.name()
    }
}

/// The stable name, so that outcomes can be added without a new version.
impl Form for Outcome {
    fn write(value: &Self, out: &mut Vec<u8>) {
        put_text(out, value.name());
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        let name = input.text()?;
        let outcome = Self::ALL.iter().find(|outcome| outcome.name() == name);
        outcome
            .copied()
            .ok_or(FormError::Malformed("an unknown outcome"))
    }
}

impl Outcome {
            /// Every outcome, in the order of its index.
            pub const ALL: &'static [Self] = &[Self::Ok, $(Self::$variant,)*];

            /// The stable name, such as `connect:refused`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { Self::Ok => "ok", $(Self::$variant => $name,)* }
            }

            /// The party to blame; `None` for [`Outcome::Ok`].
            #[must_use]
            pub const fn blame(self) -> Option<Blame> {
                match self { Self::Ok => None, $(Self::$variant => Some(Blame::$blame),)* }
            }

            /// The section of the manual that explains the outcome.
            #[must_use]
            pub const fn group(self) -> OutcomeGroup {
                match self { Self::Ok => OutcomeGroup::Answered, $(Self::$variant => OutcomeGroup::$group,)* }
            }

            /// A description, as reports print it.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self { Self::Ok => "the response was as expected", $(Self::$variant => $words,)* }
            }

            /// The sentences that follow the description in the manual, such as causes and
            /// remedies; empty if the description is enough.
            #[must_use]
            pub const fn details(self) -> &'static str {
                match self {
                    Self::Ok => "By default, its status is below 400.",
                    $(Self::$variant => concat!($($details)?),)*
                }
            }
        }
    };
}

outcomes! {
    HttpStatus "http_status" Answered Target "the plan does not expect this status"
        "By default, the plan expects statuses below 400. An incomplete body does not change this outcome: the message then contains what the body lacks.",
    InvalidStatus "invalid_status" Answered Target "the status is outside 100 to 599"
        "A status of three digits is shown as received, but is never ok (RFC 9110 section 15).",
    AssertHeader "assert:header" Answered Target "a header field is not what the plan expects"
        "The field is missing, or its value does not pass a check.",
    AssertBody "assert:body" Answered Target "the body is not what the plan expects"
        "A check of the body, its size, its hash or a value in it failed.",
    AssertTime "assert:time" Answered Target "the response took longer than the plan expects"
        "The response itself is valid.",
    Script "script" Answered Plan "a function of the plan's script failed"
        "The function threw an exception, or took too many steps or too much memory. If it was to make a part of the request, the request is not sent.",
    ExtractMissing "extract:missing" Answered Target "the response lacks a value that the plan extracts",
    DnsNotFound "dns:nx" Connecting Network "the name does not exist"
        "Check its spelling.",
    DnsFailed "dns:servfail" Connecting Network "the resolver failed"
        "The name may be correct.",
    DnsTimeout "dns:timeout" Connecting Network "the resolver did not answer in time",
    DnsEmpty "dns:empty" Connecting Network "the name has no address"
        "The name exists.",
    ConnectRefused "connect:refused" Connecting Network "the address refused the connection"
        "No program listens there, or a firewall rejected the connection.",
    ConnectTimeout "connect:timeout" Connecting Network "the connection attempt got no answer"
        "A firewall drops the packets, or the listener's queue is full.",
    ConnectUnreachable "connect:unreachable" Connecting Network "no route to the address",
    ConnectReset "connect:reset" Connecting Network "the connection was reset while opening",
    ConnectProxy "connect:proxy" Connecting Network "the proxy refused to connect",
    LocalDescriptors "local:fds" Machine Generator "this process ran out of file descriptors"
        "Raise `ulimit -n`, or open fewer connections.",
    LocalPorts "local:ports" Machine Generator "this machine ran out of local ports for the address"
        "Keep connections alive, or add addresses with `--source-ip`.",
    LocalMemory "local:memory" Machine Generator "the kernel ran out of memory for sockets",
    LocalSystem "local:system" Machine Generator "this machine failed to set up the connection"
        "The failure came before the target was involved, and its message contains the system call.",
    LocalCancelled "local:cancelled" Machine Generator "the run ended before the exchange did",
    TlsExpired "tls:cert_expired" Tls Network "the server's certificate is expired or not yet valid"
        "Check both clocks.",
    TlsName "tls:name" Tls Network "the server's certificate is for another name",
    TlsUntrusted "tls:untrusted" Tls Network "the server's certificate has no trusted issuer"
        "Add the issuer with `--cacert`, or skip verification with `-k`, which the report notes.",
    TlsAlert "tls:alert" Tls Network "the server ended the TLS handshake with an alert"
        "For example, the server requires a client certificate.",
    TlsProtocol "tls:protocol" Tls Network "the peer does not speak TLS correctly"
        "Very often, the port expects plain HTTP.",
    Send "send" Closed Network "the request could not be sent"
        "The connection accepted at most a part of the request.",
    Closed "closed" Closed Network "the connection was closed without a response"
        "No byte of a final response arrived.",
    ClosedInHead "closed:in_head" Closed Target "the connection was closed or reset during the response's head",
    ClosedReused "closed:reused" Closed Network "a reused connection was closed while sending the request"
        "Servers close kept-alive connections when their keep-alive time expires; this is unrelated to their capacity. The end came before any byte of a response, and within 10 ms of sending the request, or within three times the time that the connection took to open. A later end is `closed` or `reset`, because the server may have worked on the request.",
    Reset "reset" Closed Network "the connection was reset"
        "The reset came before the response began, or the kernel gave up the open connection: its data was not acknowledged, or the peer became unreachable.",
    TimeoutConnect "timeout:connect" Timeouts Network "the connection was not opened in time"
        "This outcome includes requests whose time ended while drumfire paused before it dialed again. The message then contains the failure that led to the pause.",
    TimeoutTls "timeout:tls" Timeouts Network "the TLS handshake did not finish in time",
    TimeoutHead "timeout:head" Timeouts Network "the response's head did not arrive in time"
        "The time applies to the whole head, not to each byte.",
    TimeoutBody "timeout:body" Timeouts Network "the response's body did not arrive in time",
    TimeoutTotal "timeout:total" Timeouts Network "the exchange did not finish in time"
        "The limit is `--timeout`.",
    TimeoutPing "timeout:ping" Timeouts Network "a ping on the connection was not answered in time"
        "The request's connection was silent, either for the time of `--ping` or until another request on it reached its timeout. The answer may take `--ping-timeout` (20 s).",
    TimeoutGap "timeout:gap" Timeouts Network "the next event did not arrive in time"
        "The limit is `--gap-timeout`. It applies from the response's head or the previous event to the next event, or to the end of the stream; comments do not count. On a WebSocket, it applies to messages.",
    ProtoNotHttp "proto:not_http" Invalid Target "the response is not HTTP"
        "The message contains the likely protocol, such as TLS, HTTP/2 or SSH.",
    ProtoHttp09 "proto:http09" Invalid Target "the response has no status line"
        "HTTP/0.9 responses are like this.",
    ProtoVersion "proto:version" Invalid Target "the status line has an unknown version"
        "The version is not HTTP/1.x; the comparison is case-sensitive.",
    ProtoStatusLine "proto:status_line" Invalid Target "the status line is malformed",
    ProtoStatus "proto:status" Invalid Target "the status is not three digits",
    ProtoReason "proto:reason" Invalid Target "the reason phrase contains a forbidden character",
    ProtoBareCr "proto:bare_cr" Invalid Target "a CR without an LF",
    ProtoHeader "proto:header" Invalid Target "a header field is malformed"
        "A colon is missing, a space precedes the colon, or a character is forbidden.",
    ProtoContentLength "proto:content_length" Invalid Target "the Content-Length is malformed or contradicts itself"
        "The value is not a number, or two values differ.",
    ProtoTransferCoding "proto:transfer_coding" Invalid Target "the Transfer-Encoding is unknown or malformed"
        "Only a single `chunked` is valid.",
    ProtoChunk "proto:chunk" Invalid Target "a chunk is malformed"
        "The mistake is in its size or its end.",
    ProtoTrailer "proto:trailer" Invalid Target "a trailer field is malformed"
        "Trailer fields follow the last chunk.",
    ProtoUnexpected101 "proto:unexpected_101" Invalid Target "the server switched protocols without being asked",
    Truncated "truncated" Closed Target "the response ended before its body was complete"
        "The connection was closed or reset or, over HTTP/2, the stream ended before the number of bytes in its content-length (RFC 9113 section 8.1.1). The message contains the cause. A body without a length ends with the connection; over TLS, it is complete only if the server sends the alert close_notify first (RFC 9112 section 9.8).",
    LimitHead "limit:head" Limits Target "the response's head is larger than the limit",
    LimitHeaderCount "limit:header_count" Limits Target "the response has more header fields than the limit",
    LimitInterim "limit:interim" Limits Target "more interim responses than the limit"
        "Interim responses have a 1xx status.",
    LimitChunkExtension "limit:chunk_ext" Limits Target "chunk extensions larger than the limit",
    LimitBody "limit:body" Limits Target "the body is larger than the limit",
    LimitMessage "limit:message" Limits Plan "a message of the reply is longer than the plan's limit"
        "The limit is `--max-receive`, 4 MiB by default as in gRPC's own clients. For a WebSocket, it is 64 MiB.",
    LimitInbox "limit:inbox" Limits Target "more messages between two steps than the limit"
        "The messages of a WebSocket that arrive between two steps are kept for the next `receive`, up to 1,000 messages and 1 MiB.",
    LimitEvent "limit:event" Limits Target "an event is larger than the limit"
        "An event, or a line of an event stream, has more than 1 MiB.",
    LimitDecoded "limit:decoded" Limits Target "the decoded body is larger than the limit",
    Decode "decode" Invalid Target "the body does not decode"
        "The body does not match its Content-Encoding (only with `--compressed`), or a message of a gRPC reply does not match its type.",
    RedirectLimit "redirect_limit" Redirects Plan "more redirects than the plan follows",
    RedirectBlocked "redirect_blocked" Redirects Plan "the plan does not follow this redirect"
        "The redirect leads to a scheme other than http and https, or redirects count as errors.",
    EventsType "events:type" Events Target "the response is not an event stream"
        "Its status is as expected, but its content-type is not `text/event-stream`. The report shows the beginning of the body.",
    EventsCut "events:cut" Events Target "the event stream ended within an event"
        "The body is complete by the rules of HTTP, but its last event lacks the empty line. A body whose length or chunks are incomplete is `truncated` instead. If the data of the last event are `[DONE]` or a JSON object, the event counts, and the leniency `unended_event` is counted.",
    LlmError "llm:error" Llm Target "the answer contains an error"
        "Its status is as expected, but the stream or the body has an error. The message contains the server's type and text. The kinds of errors below have names of their own.",
    LlmRateLimit "llm:rate_limit" Llm Target "the answer contains an error: too many requests or tokens",
    LlmOverloaded "llm:overloaded" Llm Target "the answer contains an error: the service is overloaded",
    LlmContext "llm:context" Llm Plan "the answer contains an error: too many tokens for the model",
    LlmRequest "llm:request" Llm Plan "the answer contains an error: the service refuses the request",
    LlmKey "llm:key" Llm Plan "the answer contains an error: the key is missing, invalid or not permitted",
    LlmCut "llm:cut" Llm Target "the streamed answer ended without a reason and without its end marker"
        "The body is complete by the rules of HTTP, but the answer is not. Tokens that arrived stay in the figures. A body whose length or chunks are incomplete is `truncated` instead.",
    LlmEmpty "llm:empty" Llm Target "the answer has no token and no reason for its end",
    LlmUnreadable "llm:unreadable" Llm Target "the answer is not JSON"
        "In a stream, more than 1 of 1,000 events is not JSON; fewer are only counted. A whole answer is not one JSON object.",
    LlmType "llm:type" Llm Target "the response is neither an event stream nor JSON"
        "Its status is as expected, but its content-type is neither `text/event-stream` nor `application/json`. The report shows the beginning of the body.",
    WebSocketRefused "websocket:refused" WebSocket Target "the server refused the WebSocket"
        "Its answer to the handshake has a status other than 101, which the message contains.",
    WebSocketHandshake "websocket:handshake" WebSocket Target "the answer to the WebSocket handshake is invalid"
        "The status is 101, but a field is missing or wrong (RFC 6455 section 4.1), or the server chose a subprotocol or an extension that drumfire did not offer.",
    WebSocketProtocol "websocket:protocol" WebSocket Target "the server broke the WebSocket protocol"
        "A frame is invalid, a text is not UTF-8, or a compressed message does not decompress. drumfire closes the connection with the code for the mistake.",
    WebSocketClosed "websocket:closed" WebSocket Target "the server closed the WebSocket"
        "The server sent a close frame while a step waited for a message, or before the next step. The message contains its code and reason.",
    WebSocketLost "websocket:lost" WebSocket Network "the connection of the WebSocket ended without a close frame"
        "Browsers report this end as code 1006.",
    WebSocketNotOpen "websocket:not_open" WebSocket Plan "no step has opened the WebSocket"
        "A step sent, received or closed without a `connect` before it in the iteration, or after the connection was closed because an earlier answer did not come in time.",
    ProtoNotHttp2 "proto:not_h2" Http2 Target "the response is not HTTP/2"
        "The server does not answer in HTTP/2 frames.",
    TlsAlpn "tls:alpn" Http2 Network "the peer did not accept the requested protocol"
        "In the TLS handshake, the server did not agree to HTTP/2.",
    LimitFrames "limit:frames" Http2 Target "more empty or needless frames than the limit"
        "The server sent too many frames without effect (empty DATA, PING, SETTINGS and similar), or frames that require more replies than drumfire queues.",
    H2GoAway "h2:goaway" Http2 Network "the server sent GOAWAY before it processed the request"
        "drumfire sent the request again on another connection, with the same result, or no connection took the request again in time, which the message shows. This outcome also applies if the server greets each connection with a GOAWAY: nothing is sent on such a connection. If a GOAWAY has an error code, the outcome is `h2:conn:` with the code instead, also for requests that the server did not process.",
    H2StreamNoError "h2:stream:no_error" Http2Streams Target "the HTTP/2 stream ended with NO_ERROR",
    H2StreamProtocolError "h2:stream:protocol_error" Http2Streams Target "the HTTP/2 stream ended with PROTOCOL_ERROR",
    H2StreamInternalError "h2:stream:internal_error" Http2Streams Target "the HTTP/2 stream ended with INTERNAL_ERROR",
    H2StreamFlowControlError "h2:stream:flow_control_error" Http2Streams Target "the HTTP/2 stream ended with FLOW_CONTROL_ERROR",
    H2StreamSettingsTimeout "h2:stream:settings_timeout" Http2Streams Target "the HTTP/2 stream ended with SETTINGS_TIMEOUT",
    H2StreamStreamClosed "h2:stream:stream_closed" Http2Streams Target "the HTTP/2 stream ended with STREAM_CLOSED",
    H2StreamFrameSizeError "h2:stream:frame_size_error" Http2Streams Target "the HTTP/2 stream ended with FRAME_SIZE_ERROR",
    H2StreamRefusedStream "h2:stream:refused_stream" Http2Streams Target "the HTTP/2 stream ended with REFUSED_STREAM",
    H2StreamCancel "h2:stream:cancel" Http2Streams Target "the HTTP/2 stream ended with CANCEL",
    H2StreamCompressionError "h2:stream:compression_error" Http2Streams Target "the HTTP/2 stream ended with COMPRESSION_ERROR",
    H2StreamConnectError "h2:stream:connect_error" Http2Streams Target "the HTTP/2 stream ended with CONNECT_ERROR",
    H2StreamEnhanceYourCalm "h2:stream:enhance_your_calm" Http2Streams Target "the HTTP/2 stream ended with ENHANCE_YOUR_CALM",
    H2StreamInadequateSecurity "h2:stream:inadequate_security" Http2Streams Target "the HTTP/2 stream ended with INADEQUATE_SECURITY",
    H2StreamHttp11Required "h2:stream:http_1_1_required" Http2Streams Target "the HTTP/2 stream ended with HTTP_1_1_REQUIRED",
    H2ConnectionNoError "h2:conn:no_error" Http2Connections Target "the HTTP/2 connection ended with NO_ERROR",
    H2ConnectionProtocolError "h2:conn:protocol_error" Http2Connections Target "the HTTP/2 connection ended with PROTOCOL_ERROR",
    H2ConnectionInternalError "h2:conn:internal_error" Http2Connections Target "the HTTP/2 connection ended with INTERNAL_ERROR",
    H2ConnectionFlowControlError "h2:conn:flow_control_error" Http2Connections Target "the HTTP/2 connection ended with FLOW_CONTROL_ERROR",
    H2ConnectionSettingsTimeout "h2:conn:settings_timeout" Http2Connections Target "the HTTP/2 connection ended with SETTINGS_TIMEOUT",
    H2ConnectionStreamClosed "h2:conn:stream_closed" Http2Connections Target "the HTTP/2 connection ended with STREAM_CLOSED",
    H2ConnectionFrameSizeError "h2:conn:frame_size_error" Http2Connections Target "the HTTP/2 connection ended with FRAME_SIZE_ERROR",
    H2ConnectionRefusedStream "h2:conn:refused_stream" Http2Connections Target "the HTTP/2 connection ended with REFUSED_STREAM",
    H2ConnectionCancel "h2:conn:cancel" Http2Connections Target "the HTTP/2 connection ended with CANCEL",
    H2ConnectionCompressionError "h2:conn:compression_error" Http2Connections Target "the HTTP/2 connection ended with COMPRESSION_ERROR",
    H2ConnectionConnectError "h2:conn:connect_error" Http2Connections Target "the HTTP/2 connection ended with CONNECT_ERROR",
    H2ConnectionEnhanceYourCalm "h2:conn:enhance_your_calm" Http2Connections Target "the HTTP/2 connection ended with ENHANCE_YOUR_CALM"
        "The cause is the server's GOAWAY, or the head of another response on the connection that exceeded `limit:head` without an end.",
    H2ConnectionInadequateSecurity "h2:conn:inadequate_security" Http2Connections Target "the HTTP/2 connection ended with INADEQUATE_SECURITY",
    H2ConnectionHttp11Required "h2:conn:http_1_1_required" Http2Connections Target "the HTTP/2 connection ended with HTTP_1_1_REQUIRED",
    GrpcOk "grpc:ok" Grpc Target "the call ended with status OK, which the plan does not expect",
    GrpcCancelled "grpc:cancelled" Grpc Target "the call ended with status CANCELLED",
    GrpcUnknown "grpc:unknown" Grpc Target "the call ended with status UNKNOWN",
    GrpcInvalidArgument "grpc:invalid_argument" Grpc Target "the call ended with status INVALID_ARGUMENT",
    GrpcDeadlineExceeded "grpc:deadline_exceeded" Grpc Target "the call ended with status DEADLINE_EXCEEDED",
    GrpcNotFound "grpc:not_found" Grpc Target "the call ended with status NOT_FOUND",
    GrpcAlreadyExists "grpc:already_exists" Grpc Target "the call ended with status ALREADY_EXISTS",
    GrpcPermissionDenied "grpc:permission_denied" Grpc Target "the call ended with status PERMISSION_DENIED",
    GrpcResourceExhausted "grpc:resource_exhausted" Grpc Target "the call ended with status RESOURCE_EXHAUSTED",
    GrpcFailedPrecondition "grpc:failed_precondition" Grpc Target "the call ended with status FAILED_PRECONDITION",
    GrpcAborted "grpc:aborted" Grpc Target "the call ended with status ABORTED",
    GrpcOutOfRange "grpc:out_of_range" Grpc Target "the call ended with status OUT_OF_RANGE",
    GrpcUnimplemented "grpc:unimplemented" Grpc Target "the call ended with status UNIMPLEMENTED",
    GrpcInternal "grpc:internal" Grpc Target "the call ended with status INTERNAL",
    GrpcUnavailable "grpc:unavailable" Grpc Target "the call ended with status UNAVAILABLE",
    GrpcDataLoss "grpc:data_loss" Grpc Target "the call ended with status DATA_LOSS",
    GrpcUnauthenticated "grpc:unauthenticated" Grpc Target "the call ended with status UNAUTHENTICATED",
    BadData "assert:bad_data" Data Plan "the request's data could not be rendered"
        "A template or a feed produced no valid data, so the request was not sent; in a call that had already begun, a later message was not sent.",
}

/// The outcomes of HTTP/2's error codes (RFC 9113 section 7), in the order of the codes.
macro_rules! by_error_code {
    ($code:expr, $($variant:ident)*) => {{
        const ALL: &[Outcome] = &[$(Outcome::$variant,)*];
        match $code {
            code if (code as usize) < ALL.len() => ALL[code as usize],
            // Unknown codes may be treated as INTERNAL_ERROR.
            _ => ALL[2],
        }
    }};
}

impl Outcome {
    /// The outcome of a stream that ended with this error code. Codes beyond the list are
    /// INTERNAL_ERROR (RFC 9113 section 7).
    #[must_use]
    pub const fn h2_stream(code: u32) -> Self {
        by_error_code!(code, H2StreamNoError H2StreamProtocolError H2StreamInternalError H2StreamFlowControlError H2StreamSettingsTimeout H2StreamStreamClosed H2StreamFrameSizeError H2StreamRefusedStream H2StreamCancel H2StreamCompressionError H2StreamConnectError H2StreamEnhanceYourCalm H2StreamInadequateSecurity H2StreamHttp11Required)
    }

    /// The outcome of an exchange whose connection ended with this error code. Codes beyond the
    /// list are INTERNAL_ERROR (RFC 9113 section 7).
    #[must_use]
    pub const fn h2_connection(code: u32) -> Self {
        by_error_code!(code, H2ConnectionNoError H2ConnectionProtocolError H2ConnectionInternalError H2ConnectionFlowControlError H2ConnectionSettingsTimeout H2ConnectionStreamClosed H2ConnectionFrameSizeError H2ConnectionRefusedStream H2ConnectionCancel H2ConnectionCompressionError H2ConnectionConnectError H2ConnectionEnhanceYourCalm H2ConnectionInadequateSecurity H2ConnectionHttp11Required)
    }

    /// The outcome of a call that ended with this gRPC status; codes beyond the list are UNKNOWN.
    /// Status 0 is [`Outcome::Ok`], even if a plan expects another status.
    #[must_use]
    pub const fn grpc(code: u8) -> Self {
        const ALL: &[Outcome] = &[
            Outcome::Ok,
            Outcome::GrpcCancelled,
            Outcome::GrpcUnknown,
            Outcome::GrpcInvalidArgument,
            Outcome::GrpcDeadlineExceeded,
            Outcome::GrpcNotFound,
            Outcome::GrpcAlreadyExists,
            Outcome::GrpcPermissionDenied,
            Outcome::GrpcResourceExhausted,
            Outcome::GrpcFailedPrecondition,
            Outcome::GrpcAborted,
            Outcome::GrpcOutOfRange,
            Outcome::GrpcUnimplemented,
            Outcome::GrpcInternal,
            Outcome::GrpcUnavailable,
            Outcome::GrpcDataLoss,
            Outcome::GrpcUnauthenticated,
        ];
        match code {
            code if (code as usize) < ALL.len() => ALL[code as usize],
            _ => Self::GrpcUnknown,
        }
    }

    /// The number of outcomes.
    pub const COUNT: usize = Self::ALL.len();

    /// Whether drumfire ended the exchange before its answer was complete, so that its times are
    /// lower bounds: it timed out, or the run ended.
    #[must_use]
    pub const fn is_cut_off(self) -> bool {
        self.is_timeout() || matches!(self, Self::LocalCancelled)
    }

    /// Whether one of the plan's checks refused the response: its header, its body, its time, or a
    /// value taken from it.
    #[must_use]
    pub const fn is_check(self) -> bool {
        matches!(
            self,
            Self::AssertHeader
                | Self::AssertBody
                | Self::AssertTime
                | Self::ExtractMissing
                | Self::Script
        )
    }

    /// Whether the exchange failed by its complete response: by its status, or by a check. The
    /// service time of such a failure is a meaningful figure of the target.
    #[must_use]
    pub const fn is_answered(self) -> bool {
        let is_status = matches!(self, Self::HttpStatus | Self::InvalidStatus);
        let is_call = self as u8 >= Self::GrpcCancelled as u8
            && self as u8 <= Self::GrpcUnauthenticated as u8;
        is_status || is_call || self.is_check()
    }

    /// Whether a connection could not be opened. The messages of such failures contain the peer.
    #[must_use]
    pub fn is_of_opening(self) -> bool {
        self.group() == OutcomeGroup::Connecting
            || matches!(self, Self::TimeoutConnect | Self::TimeoutTls)
    }

    /// Whether the exchange ended because a time limit was reached.
    #[must_use]
    pub const fn is_timeout(self) -> bool {
        matches!(
            self,
            Self::TimeoutConnect
                | Self::TimeoutTls
                | Self::TimeoutHead
                | Self::TimeoutBody
                | Self::TimeoutTotal
                | Self::TimeoutPing
                | Self::TimeoutGap
        )
    }
}
impl Outcome {
    /// The outcome of an answer with an error of this kind.
    #[must_use]
    pub const fn of_llm_error(error: LlmError) -> Self {
        match error {
            LlmError::RateLimit => Self::LlmRateLimit,
            LlmError::Overloaded => Self::LlmOverloaded,
            LlmError::Context => Self::LlmContext,
            LlmError::Request => Self::LlmRequest,
            LlmError::Key => Self::LlmKey,
            LlmError::Other => Self::LlmError,
        }
    }
}
