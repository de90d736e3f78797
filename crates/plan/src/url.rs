//! URLs: where a request goes and what it asks for.

use std::fmt;
use std::net::IpAddr;

/// How a target is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Plain text.
    Http,
    /// TLS.
    Https,
}

/// A host: a name or an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name in ASCII, lower case.
    Name(String),
    /// An address.
    Address(IpAddr),
}

/// What a connection is made to: scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// How it is reached.
    pub scheme: Scheme,
    /// The host.
    pub host: Host,
    /// The port, never 0.
    pub port: u16,
}

/// An absolute http or https URL. The query is kept as given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// Where to connect.
    pub origin: Origin,
    /// Path and query as they go on the request line; starts with `/`.
    pub target: String,
    /// `user:password`, percent-decoded, for an Authorization header only.
    pub userinfo: Option<String>,
}

/// Why a text is not a URL: what is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlError {
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UrlError {}
