//! How an exchange ends: exactly one outcome each, by a closed list whose names are stable.

/// Who is to blame for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Blame {
    /// The target: its status, or a violation of the protocol.
    Target,
    /// What lies between: refused, reset, timeout, DNS.
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
        /// How an exchange ended. The names are a stable interface: JSON, metrics, thresholds.
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

            /// Who is to blame; `None` for [`Outcome::Ok`].
            #[must_use]
            pub const fn blame(self) -> Option<Blame> {
                match self { Self::Ok => None, $(Self::$variant => Some(Blame::$blame),)* }
            }

            /// What happened, in words for a person.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self { Self::Ok => "the response was as expected", $(Self::$variant => $words,)* }
            }
        }
    };
}

outcomes! {
    HttpStatus "http_status" Target "the response's status is a failure by the plan",
    InvalidStatus "invalid_status" Target "the status is outside 100 to 599",
    DnsNotFound "dns:nx" Network "the name does not exist",
    DnsFailed "dns:servfail" Network "the resolver failed",
    DnsTimeout "dns:timeout" Network "the resolver did not answer in time",
    DnsEmpty "dns:empty" Network "the name has no address",
    ConnectRefused "connect:refused" Network "nothing listens at the address, or it refused",
    ConnectTimeout "connect:timeout" Network "no answer to the attempt to connect",
    ConnectUnreachable "connect:unreachable" Network "there is no way to the address",
    ConnectReset "connect:reset" Network "the connection was reset while it was opened",
    ConnectProxy "connect:proxy" Network "the proxy refused to connect",
    LocalDescriptors "local:fds" Generator "this process has no file descriptor left; raise `ulimit -n`",
    LocalPorts "local:ports" Generator "this machine has no port left for the address; keep connections alive or add --source-ip addresses",
    LocalMemory "local:memory" Generator "the kernel has no memory left for sockets",
    LocalCancelled "local:cancelled" Generator "the run ended before the exchange did",
    TlsExpired "tls:cert_expired" Network "the server's certificate is outside its validity",
    TlsName "tls:name" Network "the server's certificate is for another name",
    TlsUntrusted "tls:untrusted" Network "the server's certificate has no trusted issuer",
    TlsAlert "tls:alert" Network "the server ended the TLS handshake with an alert",
    TlsProtocol "tls:protocol" Network "the peer does not speak TLS as it should",
    Send "send" Network "the request could not be sent",
    Closed "closed" Network "the connection was closed without a response",
    ClosedInHead "closed:in_head" Target "the connection was closed within the response's head",
    ClosedReused "closed:reused" Network "a kept-alive connection was closed as the request was sent",
    Reset "reset" Network "the connection was reset",
    TimeoutConnect "timeout:connect" Network "the connection was not opened in time",
    TimeoutTls "timeout:tls" Network "the TLS handshake did not finish in time",
    TimeoutHead "timeout:head" Network "the response's head did not arrive in time",
    TimeoutBody "timeout:body" Network "the response's body did not arrive in time",
    TimeoutTotal "timeout:total" Network "the exchange did not finish in time",
    ProtoNotHttp "proto:not_http" Target "the answer is not HTTP",
    ProtoHttp09 "proto:http09" Target "the answer has no status line",
    ProtoVersion "proto:version" Target "the status line names an unknown version",
    ProtoStatusLine "proto:status_line" Target "the status line is malformed",
    ProtoStatus "proto:status" Target "the status is not three digits",
    ProtoReason "proto:reason" Target "the reason phrase holds a forbidden character",
    ProtoBareCr "proto:bare_cr" Target "a CR stands without its LF",
    ProtoHeader "proto:header" Target "a header field is malformed",
    ProtoContentLength "proto:content_length" Target "the Content-Length is malformed or contradicts itself",
    ProtoTransferCoding "proto:transfer_coding" Target "the Transfer-Encoding is unknown or malformed",
    ProtoChunk "proto:chunk" Target "a chunk is malformed",
    ProtoTrailer "proto:trailer" Target "a trailer field is malformed",
    ProtoUnexpected101 "proto:unexpected_101" Target "the server switched protocols without being asked",
    Truncated "truncated" Target "the connection ended within the body",
    LimitHead "limit:head" Target "the response's head is larger than the limit",
    LimitHeaderCount "limit:header_count" Target "the response has more header fields than the limit",
    LimitInterim "limit:interim" Target "more interim responses than the limit",
    LimitChunkExtension "limit:chunk_ext" Target "chunk extensions larger than the limit",
    LimitBody "limit:body" Target "the body is larger than the limit",
    LimitDecoded "limit:decoded" Target "the decoded body is larger than the limit",
    Decode "decode" Target "the body does not decode",
    RedirectLimit "redirect_limit" Plan "more redirects than the plan follows",
    RedirectBlocked "redirect_blocked" Plan "a redirect that the plan does not follow",
}

impl Outcome {
    /// How many outcomes there are.
    pub const COUNT: usize = Self::ALL.len();

    /// Whether the exchange ended because time was up.
    #[must_use]
    pub const fn is_timeout(self) -> bool {
        matches!(
            self,
            Self::TimeoutConnect
                | Self::TimeoutTls
                | Self::TimeoutHead
                | Self::TimeoutBody
                | Self::TimeoutTotal
        )
    }
}
