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
    /// The proxy that requests go through; chosen per origin by the caller.
    pub proxy: Option<Proxy>,
    /// Addresses to use in place of names' own.
    pub resolve: Vec<Resolve>,
    /// The treatment of a target whose name has no address.
    pub unresolved: Unresolved,
    /// Whether names are looked up again while the run goes on.
    pub renewal: Renewal,
    /// The name server that is asked in place of the system's.
    pub name_server: Option<SocketAddr>,
    /// Keeps the load from public hosts that it does not allow; `None` where it may go anywhere.
    pub guard: Option<Guard>,
    /// Local addresses to send from, used in turn.
    pub source_addresses: Vec<IpAddr>,
    /// A Unix socket to connect to in place of the URL's host.
    pub unix_socket: Option<PathBuf>,
}

/// Whether names are looked up again while a run goes on. Connections follow a name whose addresses
/// have changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Renewal {
    /// Once, before the run.
    #[default]
    Never,
    /// When the time to live that the name server gave is over.
    Ttl,
    /// After each such time.
    Each(Nanos),
}

/// An address in place of a name's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolve {
    /// The name.
    pub host: String,
    /// The port that it holds for.
    pub port: u16,
    /// The address.
    pub address: IpAddr,
}

/// The treatment of a target whose name has no address. Names are looked up once, before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unresolved {
    /// There is no run.
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
    /// The file that it was read from.
    pub file: PathBuf,
}

/// Settings for https targets.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// Whether the server's certificate is verified; by default it is.
    pub verify: Verify,
    /// The name that the server's certificate must have; the URL's host when `None`.
    pub server_name: Option<String>,
    /// Trusted roots in PEM; the system's when `None`.
    pub ca_pem: Option<Pem>,
    /// The client's certificate chain and private key in PEM.
    pub identity_pem: Option<(Pem, Pem)>,
    /// Which part of the handshakes may resume a session.
    pub resumption: Resumption,
}

/// Whether certificates are verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// Yes.
    #[default]
    Yes,
    /// No, and the report says so.
    No,
}

/// Which part of all new connections resumes an earlier TLS session where the server lets it; the
/// others are made as those of clients that were never there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resumption {
    /// How many of a million.
    pub per_million: u32,
}

impl Resumption {
    /// All of them.
    pub const ALL: Self = Self {
        per_million: 1_000_000,
    };
    /// None: every handshake is a full one.
    pub const NONE: Self = Self { per_million: 0 };
}

impl Default for Resumption {
    fn default() -> Self {
        Self::ALL
    }
}

/// Why a text is no share of resumed sessions.
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

    /// A percentage from 0 to 100: `60%`.
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
                text.escape_default()
            ))),
        }
    }
}

/// Which targets a proxy is asked to connect through to (CONNECT, RFC 9110 section 9.3.6). Requests
/// to others are given to the proxy itself, with their whole URLs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tunnels {
    /// Those of https.
    #[default]
    Sealed,
    /// All.
    All,
}

/// An HTTP proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// Its address; with the scheme https, it is spoken with over TLS.
    pub url: Url,
    /// Which targets are reached through a tunnel.
    pub tunnels: Tunnels,
    /// The User-Agent field of the request for a tunnel; the program's own when `None`. An empty
    /// one is not sent.
    pub agent: Option<Header>,
    /// Targets that are reached without it.
    pub bypass: Vec<NoProxy>,
}
