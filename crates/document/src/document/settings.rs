//! The settings of a pool, or of every pool, beside its load and its requests.
//!
//! They are in groups, each of which is a layer: a pool's group takes the values that it lacks from
//! the same group of the defaults, value by value. A list (of header fields, of rules) is one
//! value, unless its key says otherwise.

use super::{CallOptions, Count, Expect, Field, Payload, Place, Switch, Text};

/// The settings of a pool, or of every pool, beside its load and its requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The target, and the way to it.
    pub reach: Reach,
    /// The protocol.
    pub http: Http,
    /// The connections.
    pub connections: Connections,
    /// The time that each phase may take.
    pub timeouts: Timeouts,
    /// The settings of https targets.
    pub tls: Tls,
    /// The source of the schema of calls.
    pub schema: Schema,
    /// The options of every call.
    pub options: CallOptions,
    /// The fields of every request and every call.
    pub fields: CommonFields,
    /// The body of every HTTP request that has none of its own.
    pub body: CommonBody,
    /// The template language of requests that name none: `jinja`, `go`, `go-builtin` or `none`.
    pub templates: Option<Text>,
    /// A file with functions in JavaScript.
    pub script: Option<Text>,
    /// The records of exchanges that outputs are given beside figures.
    pub kept: Kept,
}

/// The exchanges of a pool that outputs are given beside figures.
///
/// drumfire's own outputs ask for it where they need it. Another tool's reports are made of it, so
/// that the document of such a run has it too, and is the whole run on any machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// Whether every sample is handed on.
    pub samples: Option<Switch>,
    /// `all`, or the least status of responses: the exchanges that are handed on in full.
    pub transcripts: Option<Text>,
}

impl Kept {
    /// Every exchange in full.
    #[must_use]
    pub fn every_exchange() -> Self {
        Self {
            samples: None,
            transcripts: Some(Text::new("all".to_owned(), Place::Nowhere)),
        }
    }
}

/// The body of every HTTP request that has none of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommonBody {
    /// The bytes.
    pub payload: Option<Payload>,
    /// Whether each line is a body by itself.
    pub lines: Option<Switch>,
    /// `turn`, `random` or `once`: the way in which requests go through the lines.
    pub order: Option<Text>,
}

/// The fields of every request and every call that has no field of that name itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommonFields {
    /// Header fields of HTTP requests.
    pub headers: Vec<Field>,
    /// Metadata of calls.
    pub metadata: Vec<Field>,
    /// Whether every request and every call carries its own traceparent.
    pub traceparent: Option<Switch>,
}

/// The target, and the way to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reach {
    /// The target that paths are relative to, and of calls.
    pub target: Option<Text>,
    /// Whether calls travel without TLS.
    pub plaintext: Option<Switch>,
    /// `HOST:PORT:ADDRESS`, in place of a look-up.
    pub resolve: Vec<Text>,
    /// `turn` or `first`: the addresses of a name to which connections go.
    pub addresses: Option<Text>,
    /// `refuse` or `fail`: the treatment of a name without an address.
    pub unresolved: Option<Text>,
    /// `once`, `ttl` or a time: whether names are looked up again.
    pub lookup: Option<Text>,
    /// The name server that is asked in place of the system's.
    pub name_server: Option<Text>,
    /// Local addresses to send from.
    pub source_ip: Vec<Text>,
    /// A proxy's URL, or `none`.
    pub proxy: Option<Text>,
    /// Whether the proxy makes a tunnel to every target, to those of http too.
    pub proxy_tunnel: Option<Switch>,
    /// The User-Agent of the request for a tunnel; empty for none.
    pub proxy_agent: Option<Text>,
    /// Hosts that are reached without the proxy.
    pub no_proxy: Vec<Text>,
    /// A Unix socket in place of the target's host.
    pub unix_socket: Option<Text>,
}

/// The protocol of the target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Http {
    /// `1` or `2`: the version.
    pub http: Option<Text>,
    /// `true`, `gzip` or `false`: whether compressed bodies are asked for.
    pub compressed: Option<Text>,
    /// The bound of a decoded body.
    pub max_decoded: Option<Text>,
    /// A number of redirects to follow, or `refuse`.
    pub redirects: Option<Text>,
    /// `fetch` or `go`: the request that a redirect leads to.
    pub redirect_style: Option<Text>,
    /// Whether a body waits for `100 Continue`.
    pub expect_continue: Option<Switch>,
    /// The conditions under which a response is ok.
    pub expect: Expect,
}

/// The connections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connections {
    /// The number to each target, or `as_needed`.
    pub connections: Option<Text>,
    /// Requests at a time on each, over HTTP/2.
    pub streams: Option<Count>,
    /// `shared` or `user`: whether a user keeps to one of them.
    pub session: Option<Text>,
    /// `none`, `iteration` or `user`: the time for which a user keeps cookies.
    pub cookies: Option<Text>,
    /// Whether one carries more than one request.
    pub keepalive: Option<Switch>,
    /// The number of requests after which one is closed.
    pub requests_per_connection: Option<Count>,
    /// A time or a law: the age at which one leaves.
    pub connection_age: Option<Text>,
    /// The part of all that leaves in a time.
    pub connection_churn: Option<Text>,
    /// The time without a request after which one is closed.
    pub connection_idle: Option<Text>,
    /// `waiting` or `service`: the account to which the time belongs in which a request's
    /// connection is opened.
    pub connection_opening: Option<Text>,
    /// Whether the server's `Keep-Alive` field is obeyed.
    pub respect_keepalive: Option<Switch>,
    /// Whether a request is sent once more when its connection turns out closed.
    pub retry_reused: Option<Switch>,
    /// `rfc` or `go`: the rule by which requests are of that kind.
    pub retry_style: Option<Text>,
    /// Whether the end of TLS without close_notify completes a body.
    pub no_close_notify: Option<Switch>,
    /// The longest pause before a target that refuses is dialed again.
    pub connect_backoff: Option<Text>,
    /// The silence after which a connection is asked whether it lives.
    pub ping: Option<Text>,
    /// The time that the answer may take.
    pub ping_timeout: Option<Text>,
}

/// The time that each phase of an exchange may take; 0 is no limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeouts {
    /// The whole exchange.
    pub timeout: Option<Text>,
    /// Opening a connection.
    pub connect_timeout: Option<Text>,
    /// The TLS handshake.
    pub tls_timeout: Option<Text>,
    /// The time from the request's last byte to the end of the response's head.
    pub head_timeout: Option<Text>,
}

/// The settings of https targets. Files are PEM.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tls {
    /// Whether certificates are left unverified.
    pub insecure: Option<Switch>,
    /// The file of trusted certificates.
    pub cacert: Option<Text>,
    /// The file of the client's certificate chain.
    pub cert: Option<Text>,
    /// The file of the client's private key.
    pub key: Option<Text>,
    /// The name that the server's certificate must have.
    pub server_name: Option<Text>,
    /// Whether sessions are never resumed.
    pub full_handshakes: Option<Switch>,
    /// The part of the handshakes that may resume a session.
    pub resumption: Option<Text>,
}

/// The source of the schema of calls: files, or the server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// `.proto` files.
    pub proto: Vec<Text>,
    /// Folders that are searched for imports.
    pub import_path: Vec<Text>,
    /// A serialised `FileDescriptorSet`.
    pub protoset: Option<Text>,
    /// The question to the server.
    pub reflection: Reflection,
}

/// The question to the server for its schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reflection {
    /// The server that is asked, where that is not the target of the calls.
    pub target: Option<Text>,
    /// The metadata of the question.
    pub metadata: Vec<Field>,
}
