//! How targets are reached: names, addresses, sockets, proxies, TLS.

use crate::{Guard, Header, NoProxy, Url};
use drumfire_units::Nanos;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

/// How targets are reached.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// Settings for https targets.
    pub tls: Tls,
    /// The proxy for requests. The caller selects it per origin.
    pub proxy: Option<Proxy>,
    /// Addresses that replace the addresses of names.
    pub resolve: Vec<Resolve>,
    /// The treatment of a target whose name has no address.
    pub unresolved: Unresolved,
    /// Whether names are resolved again during the run.
    pub renewal: Renewal,
    /// The name server that replaces the system's.
    pub name_server: Option<SocketAddr>,
    /// Keeps the load from public hosts that it does not allow; `None` if any host is allowed.
    pub guard: Option<Guard>,
    /// Local addresses to send from, used in turn.
    pub source_addresses: Vec<IpAddr>,
    /// A Unix socket to connect to instead of the URL's host.
    pub unix_socket: Option<PathBuf>,
}

/// Whether names are resolved again during a run. Connections move if the addresses of a name have
/// changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Renewal {
    /// Names are resolved once, before the run.
    #[default]
    Never,
    /// After the time to live from the name server.
    Ttl,
    /// At this period.
    Each(Nanos),
}

/// An address that replaces the addresses of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolve {
    /// The name.
    pub host: String,
    /// The port for which the address applies.
    pub port: u16,
    /// The address.
    pub address: IpAddr,
}

/// The treatment of a target whose name has no address. Names are resolved once, before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unresolved {
    /// The run is refused.
    #[default]
    Refuse,
    /// Every request to it fails, as with a closed port.
    Fail,
}

/// Certificates or a key.
#[derive(Clone, Debug)]
pub struct Pem {
    /// The text, shared by all connections.
    pub text: Arc<[u8]>,
    /// The file from which the text was read.
    pub file: PathBuf,
}

/// Settings for https targets.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// Whether the server's certificate is verified; by default it is.
    pub verify: Verify,
    /// The name that the server's certificate must have; if `None`, the URL's host.
    pub server_name: Option<String>,
    /// Trusted roots in PEM; if `None`, the system's.
    pub ca_pem: Option<Pem>,
    /// The client's certificate chain and private key in PEM.
    pub identity_pem: Option<(Pem, Pem)>,
    /// The fraction of handshakes that may resume a session.
    pub resumption: Resumption,
}

/// Whether certificates are verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// Yes.
    #[default]
    Yes,
    /// No, and the report notes this.
    No,
}

/// The fraction of new connections that resume an earlier TLS session if the server permits; the
/// others make full handshakes, like clients that connect for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resumption {
    /// The number per million.
    pub per_million: u32,
}

impl Resumption {
    /// All connections.
    pub const ALL: Self = Self {
        per_million: 1_000_000,
    };
    /// No connection: every handshake is a full one.
    pub const NONE: Self = Self { per_million: 0 };
}

impl Default for Resumption {
    fn default() -> Self {
        Self::ALL
    }
}

/// Why a text is not a fraction of resumed sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumptionError(String);

impl fmt::Display for ResumptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ResumptionError {}

impl FromStr for Resumption {
    type Err = ResumptionError;

    /// Parses a percentage from 0 to 100: `60%`.
    fn from_str(text: &str) -> Result<Self, ResumptionError> {
        let digits = text.trim().strip_suffix('%').filter(|digits| {
            let mut bytes = digits.bytes();
            bytes.all(|byte| byte.is_ascii_digit() || byte == b'.')
        });
        let percent: Option<f64> = digits.and_then(|digits| digits.parse().ok());
        match percent {
            Some(percent) if percent <= 100.0 => Ok(Self {
                per_million: (percent * 10_000.0).round() as u32,
            }),
            _ => Err(ResumptionError(format!(
                "`{}` is not a share of the handshakes; write a percentage such as 60%",
                text.escape_debug()
            ))),
        }
    }
}

/// Which targets are reached through a tunnel of a proxy (CONNECT, RFC 9110 section 9.3.6). For
/// other targets, the proxy itself gets the requests, with their absolute URLs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tunnels {
    /// Only https targets.
    #[default]
    Sealed,
    /// All targets.
    All,
}

/// An HTTP proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// The proxy's address; with the scheme https, the connection to the proxy uses TLS.
    pub url: Url,
    /// Which targets are reached through a tunnel.
    pub tunnels: Tunnels,
    /// The User-Agent field of the request for a tunnel; if `None`, the program's own. An empty
    /// field is not sent.
    pub agent: Option<Header>,
    /// Targets that are reached without the proxy.
    pub bypass: Vec<NoProxy>,
}
