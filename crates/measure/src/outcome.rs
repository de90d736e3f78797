//! The end of an exchange: exactly one outcome each, by a closed list whose names are stable.
//!
//! One table declares the list, so that no outcome can lack a name, a party to blame or words.
//! Everything that counts by outcome is an array by its index, and everything that is stored or
//! shown has its name: a new row changes indexes freely, and a name is never changed or used again.
//! The names are documented in docs/manual/outcomes.md, which tidy compares with this file.
//!
//! Blame decides who has to act: failures of the target count against it, those of the network are
//! shown beside it, those of the plan are the user's to mend, and those of the generator make the
//! run invalid ([`crate::Verdict`]).

/// The party to blame for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Blame {
    /// The target: its status, or a violation of the protocol.
    Target,
    /// The way between: refused, reset, timeout, DNS.
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

/// Declares [`Outcome`] from one table: variant, stable name, blame, what happened in words.
macro_rules! outcomes {
    ($($variant:ident $name:literal $blame:ident $words:literal,)*) => {
        /// The end of an exchange. The names are a stable interface: JSON, metrics, thresholds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Outcome {
            /// The response met the plan's expectation.
            Ok,
            $(#[doc = $words] $variant,)*
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

            /// A description, as reports print it.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self { Self::Ok => "the response was as expected", $(Self::$variant => $words,)* }
            }
        }
    };
}

outcomes! {
    HttpStatus "http_status" Target "the plan does not expect this status",
    InvalidStatus "invalid_status" Target "the status is outside 100 to 599",
    AssertHeader "assert:header" Target "a header field is not what the plan expects",
    AssertBody "assert:body" Target "the body is not what the plan expects",
    AssertTime "assert:time" Target "the response took longer than the plan expects",
    Script "script" Plan "a function of the plan's script failed",
    ExtractMissing "extract:missing" Target "the response lacks a value that the plan extracts",
    DnsNotFound "dns:nx" Network "the name does not exist",
    DnsFailed "dns:servfail" Network "the resolver failed",
    DnsTimeout "dns:timeout" Network "the resolver did not answer in time",
    DnsEmpty "dns:empty" Network "the name has no address",
    ConnectRefused "connect:refused" Network "the address refused the connection",
    ConnectTimeout "connect:timeout" Network "the connection attempt got no answer",
    ConnectUnreachable "connect:unreachable" Network "no route to the address",
    ConnectReset "connect:reset" Network "the connection was reset while opening",
    ConnectProxy "connect:proxy" Network "the proxy refused to connect",
    LocalDescriptors "local:fds" Generator "this process ran out of file descriptors",
    LocalPorts "local:ports" Generator "this machine ran out of local ports for the address",
    LocalMemory "local:memory" Generator "the kernel ran out of memory for sockets",
    LocalSystem "local:system" Generator "this machine failed to set up the connection",
    LocalCancelled "local:cancelled" Generator "the run ended before the exchange did",
    TlsExpired "tls:cert_expired" Network "the server's certificate is expired or not yet valid",
    TlsName "tls:name" Network "the server's certificate is for another name",
    TlsUntrusted "tls:untrusted" Network "the server's certificate has no trusted issuer",
    TlsAlert "tls:alert" Network "the server ended the TLS handshake with an alert",
    TlsProtocol "tls:protocol" Network "the peer does not speak TLS correctly",
    Send "send" Network "the request could not be sent",
    Closed "closed" Network "the connection was closed without a response",
    ClosedInHead "closed:in_head" Target "the connection was closed or reset during the response's head",
    ClosedReused "closed:reused" Network "a reused connection was closed while sending the request",
    Reset "reset" Network "the connection was reset",
    TimeoutConnect "timeout:connect" Network "the connection was not opened in time",
    TimeoutTls "timeout:tls" Network "the TLS handshake did not finish in time",
    TimeoutHead "timeout:head" Network "the response's head did not arrive in time",
    TimeoutBody "timeout:body" Network "the response's body did not arrive in time",
    TimeoutTotal "timeout:total" Network "the exchange did not finish in time",
    TimeoutPing "timeout:ping" Network "a ping on the connection was not answered in time",
    ProtoNotHttp "proto:not_http" Target "the response is not HTTP",
    ProtoHttp09 "proto:http09" Target "the response has no status line",
    ProtoVersion "proto:version" Target "the status line has an unknown version",
    ProtoStatusLine "proto:status_line" Target "the status line is malformed",
    ProtoStatus "proto:status" Target "the status is not three digits",
    ProtoReason "proto:reason" Target "the reason phrase contains a forbidden character",
    ProtoBareCr "proto:bare_cr" Target "a CR without an LF",
    ProtoHeader "proto:header" Target "a header field is malformed",
    ProtoContentLength "proto:content_length" Target "the Content-Length is malformed or contradicts itself",
    ProtoTransferCoding "proto:transfer_coding" Target "the Transfer-Encoding is unknown or malformed",
    ProtoChunk "proto:chunk" Target "a chunk is malformed",
    ProtoTrailer "proto:trailer" Target "a trailer field is malformed",
    ProtoUnexpected101 "proto:unexpected_101" Target "the server switched protocols without being asked",
    Truncated "truncated" Target "the response ended before its body was complete",
    LimitHead "limit:head" Target "the response's head is larger than the limit",
    LimitHeaderCount "limit:header_count" Target "the response has more header fields than the limit",
    LimitInterim "limit:interim" Target "more interim responses than the limit",
    LimitChunkExtension "limit:chunk_ext" Target "chunk extensions larger than the limit",
    LimitBody "limit:body" Target "the body is larger than the limit",
    LimitMessage "limit:message" Plan "a message of the reply is longer than the plan's limit",
    LimitDecoded "limit:decoded" Target "the decoded body is larger than the limit",
    Decode "decode" Target "the body does not decode",
    RedirectLimit "redirect_limit" Plan "more redirects than the plan follows",
    RedirectBlocked "redirect_blocked" Plan "the plan does not follow this redirect",
    ProtoNotHttp2 "proto:not_h2" Target "the response is not HTTP/2",
    TlsAlpn "tls:alpn" Network "the peer did not accept the requested protocol",
    LimitFrames "limit:frames" Target "more empty or needless frames than the limit",
    H2GoAway "h2:goaway" Network "the server sent GOAWAY before it processed the request",
    H2StreamNoError "h2:stream:no_error" Target "the HTTP/2 stream ended with NO_ERROR",
    H2StreamProtocolError "h2:stream:protocol_error" Target "the HTTP/2 stream ended with PROTOCOL_ERROR",
    H2StreamInternalError "h2:stream:internal_error" Target "the HTTP/2 stream ended with INTERNAL_ERROR",
    H2StreamFlowControlError "h2:stream:flow_control_error" Target "the HTTP/2 stream ended with FLOW_CONTROL_ERROR",
    H2StreamSettingsTimeout "h2:stream:settings_timeout" Target "the HTTP/2 stream ended with SETTINGS_TIMEOUT",
    H2StreamStreamClosed "h2:stream:stream_closed" Target "the HTTP/2 stream ended with STREAM_CLOSED",
    H2StreamFrameSizeError "h2:stream:frame_size_error" Target "the HTTP/2 stream ended with FRAME_SIZE_ERROR",
    H2StreamRefusedStream "h2:stream:refused_stream" Target "the HTTP/2 stream ended with REFUSED_STREAM",
    H2StreamCancel "h2:stream:cancel" Target "the HTTP/2 stream ended with CANCEL",
    H2StreamCompressionError "h2:stream:compression_error" Target "the HTTP/2 stream ended with COMPRESSION_ERROR",
    H2StreamConnectError "h2:stream:connect_error" Target "the HTTP/2 stream ended with CONNECT_ERROR",
    H2StreamEnhanceYourCalm "h2:stream:enhance_your_calm" Target "the HTTP/2 stream ended with ENHANCE_YOUR_CALM",
    H2StreamInadequateSecurity "h2:stream:inadequate_security" Target "the HTTP/2 stream ended with INADEQUATE_SECURITY",
    H2StreamHttp11Required "h2:stream:http_1_1_required" Target "the HTTP/2 stream ended with HTTP_1_1_REQUIRED",
    H2ConnectionNoError "h2:conn:no_error" Target "the HTTP/2 connection ended with NO_ERROR",
    H2ConnectionProtocolError "h2:conn:protocol_error" Target "the HTTP/2 connection ended with PROTOCOL_ERROR",
    H2ConnectionInternalError "h2:conn:internal_error" Target "the HTTP/2 connection ended with INTERNAL_ERROR",
    H2ConnectionFlowControlError "h2:conn:flow_control_error" Target "the HTTP/2 connection ended with FLOW_CONTROL_ERROR",
    H2ConnectionSettingsTimeout "h2:conn:settings_timeout" Target "the HTTP/2 connection ended with SETTINGS_TIMEOUT",
    H2ConnectionStreamClosed "h2:conn:stream_closed" Target "the HTTP/2 connection ended with STREAM_CLOSED",
    H2ConnectionFrameSizeError "h2:conn:frame_size_error" Target "the HTTP/2 connection ended with FRAME_SIZE_ERROR",
    H2ConnectionRefusedStream "h2:conn:refused_stream" Target "the HTTP/2 connection ended with REFUSED_STREAM",
    H2ConnectionCancel "h2:conn:cancel" Target "the HTTP/2 connection ended with CANCEL",
    H2ConnectionCompressionError "h2:conn:compression_error" Target "the HTTP/2 connection ended with COMPRESSION_ERROR",
    H2ConnectionConnectError "h2:conn:connect_error" Target "the HTTP/2 connection ended with CONNECT_ERROR",
    H2ConnectionEnhanceYourCalm "h2:conn:enhance_your_calm" Target "the HTTP/2 connection ended with ENHANCE_YOUR_CALM",
    H2ConnectionInadequateSecurity "h2:conn:inadequate_security" Target "the HTTP/2 connection ended with INADEQUATE_SECURITY",
    H2ConnectionHttp11Required "h2:conn:http_1_1_required" Target "the HTTP/2 connection ended with HTTP_1_1_REQUIRED",
    GrpcOk "grpc:ok" Target "the call ended with status OK, which the plan does not expect",
    GrpcCancelled "grpc:cancelled" Target "the call ended with status CANCELLED",
    GrpcUnknown "grpc:unknown" Target "the call ended with status UNKNOWN",
    GrpcInvalidArgument "grpc:invalid_argument" Target "the call ended with status INVALID_ARGUMENT",
    GrpcDeadlineExceeded "grpc:deadline_exceeded" Target "the call ended with status DEADLINE_EXCEEDED",
    GrpcNotFound "grpc:not_found" Target "the call ended with status NOT_FOUND",
    GrpcAlreadyExists "grpc:already_exists" Target "the call ended with status ALREADY_EXISTS",
    GrpcPermissionDenied "grpc:permission_denied" Target "the call ended with status PERMISSION_DENIED",
    GrpcResourceExhausted "grpc:resource_exhausted" Target "the call ended with status RESOURCE_EXHAUSTED",
    GrpcFailedPrecondition "grpc:failed_precondition" Target "the call ended with status FAILED_PRECONDITION",
    GrpcAborted "grpc:aborted" Target "the call ended with status ABORTED",
    GrpcOutOfRange "grpc:out_of_range" Target "the call ended with status OUT_OF_RANGE",
    GrpcUnimplemented "grpc:unimplemented" Target "the call ended with status UNIMPLEMENTED",
    GrpcInternal "grpc:internal" Target "the call ended with status INTERNAL",
    GrpcUnavailable "grpc:unavailable" Target "the call ended with status UNAVAILABLE",
    GrpcDataLoss "grpc:data_loss" Target "the call ended with status DATA_LOSS",
    GrpcUnauthenticated "grpc:unauthenticated" Target "the call ended with status UNAUTHENTICATED",
    BadData "assert:bad_data" Plan "the request's data could not be rendered",
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

    /// The outcome of an exchange whose connection ended with this error code, by the same rule.
    #[must_use]
    pub const fn h2_connection(code: u32) -> Self {
        by_error_code!(code, H2ConnectionNoError H2ConnectionProtocolError H2ConnectionInternalError H2ConnectionFlowControlError H2ConnectionSettingsTimeout H2ConnectionStreamClosed H2ConnectionFrameSizeError H2ConnectionRefusedStream H2ConnectionCancel H2ConnectionCompressionError H2ConnectionConnectError H2ConnectionEnhanceYourCalm H2ConnectionInadequateSecurity H2ConnectionHttp11Required)
    }

    /// The outcome of a call that ended with this gRPC status; codes beyond the list are UNKNOWN.
    /// Status 0 is [`Outcome::Ok`], though a plan may expect another.
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

    /// Whether the exchange was ended from our side before its answer was complete, so that its
    /// times are lower bounds: its time was up, or the run ended.
    #[must_use]
    pub const fn is_cut_off(self) -> bool {
        self.is_timeout() || matches!(self, Self::LocalCancelled)
    }

    /// Whether a response came that one of the plan's checks refused: of its header, its body, its
    /// time, or a value that is taken from it.
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

    /// Whether the exchange failed by its response, which came whole: by its status, or by a check.
    /// Such a failure has a service time that says something of the target.
    #[must_use]
    pub const fn is_answered(self) -> bool {
        let is_status = matches!(self, Self::HttpStatus | Self::InvalidStatus);
        let is_call = self as u8 >= Self::GrpcCancelled as u8
            && self as u8 <= Self::GrpcUnauthenticated as u8;
        is_status || is_call || self.is_check()
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
        )
    }
}
