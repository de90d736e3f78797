//! The options of a server at its start.

use crate::fault::{Chance, CodeOdds, Drip, Stall, StatusOdds};
use crate::law::Law;
use crate::llm::LlmOptions;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;

/// The options of a server. The comment of a field has the flag of `drumfire serve` that sets it.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// `--listen ADDRESS`: where to listen; may be given several times. Default 127.0.0.1:8080.
    pub listen: Vec<Listen>,
    /// `--expose`: allow addresses that other machines can reach. Without it, only loopback
    /// addresses are allowed.
    pub exposure: Exposure,
    /// `--threads N`: worker threads, each with its own event loop, 1 to 256. Default 1.
    pub threads: usize,
    /// `--tls`: use HTTPS with a certificate that is created at the start.
    pub tls: Option<ServerTlsOptions>,
    /// `--seed N`: the seed of every delay and every probability.
    pub seed: u64,
    /// The answer to a request without a query.
    pub behaviour: Behaviour,
    /// `--stall LENGTH/PERIOD`: accept, read and write nothing for LENGTH of every PERIOD.
    pub stall: Option<Stall>,
    /// `--serial`: answer one request at a time, in the order of arrival.
    pub discipline: Discipline,
    /// `--arrival-log`: record the arrival time of each request (GET /arrivals).
    pub arrival_log: ArrivalLog,
    /// `--grpc`: enable gRPC services.
    pub services: Services,
    /// `--shop`: a small shop under `/shop`, and as a gRPC service.
    pub storefront: Storefront,
    /// `--llm`: a mock of servers for language models. `None`: its paths are ordinary ones.
    pub llm: Option<LlmOptions>,
    /// `--max-streams N`: SETTINGS_MAX_CONCURRENT_STREAMS of every HTTP/2 connection.
    pub max_streams: u32,
    /// `--goaway-after N`: after its N-th request, an HTTP/2 connection gets a GOAWAY with this
    /// request as the last. Later requests are not processed, and the connection ends after all
    /// answers.
    pub goaway_after: Option<u32>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            listen: vec![Listen::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)))],
            exposure: Exposure::Loopback,
            threads: 1,
            tls: None,
            seed: 0,
            behaviour: Behaviour::default(),
            stall: None,
            discipline: Discipline::Concurrent,
            arrival_log: ArrivalLog::Off,
            services: Services::None,
            storefront: Storefront::Closed,
            llm: None,
            max_streams: 1_000,
            goaway_after: None,
        }
    }
}

/// An address to listen at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Listen {
    /// An address and port; port 0 takes a free one.
    Tcp(SocketAddr),
    /// A Unix socket at this path, which must not exist yet; the server removes it at the end.
    Unix(PathBuf),
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// The clients that can reach the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exposure {
    /// Only loopback addresses; others are refused at the start.
    #[default]
    Loopback,
    /// Any address: the server answers every client that can reach it.
    Anywhere,
}

/// How many requests are handled at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discipline {
    /// Every request is delayed independently of the others.
    #[default]
    Concurrent,
    /// One request at a time for the whole server, in the order of arrival. The delay is a service
    /// time, and a request waits for earlier ones. With `exp` delays and Poisson arrivals this is
    /// the M/M/1 queue. Requires one thread.
    Serial,
}

/// Whether arrivals are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArrivalLog {
    /// Arrivals are not recorded.
    #[default]
    Off,
    /// The first arrivals are recorded, 8 bytes each; later ones are only counted.
    First(usize),
}

/// Services in addition to HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Services {
    /// No services.
    #[default]
    None,
    /// gRPC: `helloworld.Greeter`, `drumfire.test.v1.TestService`, and server reflection; with a
    /// shop also `drumfire.shop.v1.Shop`.
    Grpc,
}

/// Whether the server has a shop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storefront {
    /// No shop: `/shop` is an ordinary path.
    #[default]
    Closed,
    /// The shop is open.
    Open,
}

/// The options of TLS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerTlsOptions {
    /// `--require-client-cert`: refuse clients without a certificate from the server's authority.
    pub client_certificate: ClientCertificate,
}

/// Whether clients need a certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientCertificate {
    /// Clients are not asked for a certificate.
    #[default]
    Ignored,
    /// The handshake fails without a certificate that the server's authority signed.
    Required,
}

/// How one request is answered. Flags and query parameters have the same names.
#[derive(Clone, Debug, PartialEq)]
pub struct Behaviour {
    /// `--delay LAW`, `?delay=LAW`: delay the answer. Each drawn value is in the answer's
    /// `x-drumfire-delay-ns`.
    pub delay: Option<Law>,
    /// `--size BYTES`, `?size=BYTES`: length of the body. Default 100.
    pub size: u64,
    /// `--status CODE:P`, `?status=CODE:P`: this status instead of 200 with probability P.
    pub status: Option<StatusOdds>,
    /// `--grpc-status CODE:P`: end a gRPC call with this code with probability P.
    pub grpc_status: Option<CodeOdds>,
    /// `--close P`, `?close=P`: close the connection after the answer, which announces it, with
    /// probability P.
    pub close: Chance,
    /// `--close-after N`: close each connection after its N-th answer.
    pub close_after: Option<u32>,
    /// `--hangup P`, `?hangup=P`: close the connection instead of answering with probability P.
    pub hangup: Chance,
    /// `--reset P`, `?reset=P`: reset the connection instead of answering with probability P.
    pub reset: Chance,
    /// `--cut P`, `?cut=P`: reset the connection in the middle of the body with probability P.
    pub cut: Chance,
    /// `--drip SIZE/INTERVAL`, `?drip=SIZE/INTERVAL`: send the body piece by piece.
    pub drip: Option<Drip>,
    /// `--chunked SIZE`, `?chunked=SIZE`: send the body in chunks of this size, without
    /// Content-Length.
    pub chunked: Option<NonZeroU32>,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            delay: None,
            size: 100,
            status: None,
            grpc_status: None,
            close: Chance::NEVER,
            close_after: None,
            hangup: Chance::NEVER,
            reset: Chance::NEVER,
            cut: Chance::NEVER,
            drip: None,
            chunked: None,
        }
    }
}

impl Behaviour {
    /// Whether equal requests always get the same bytes immediately, and the connection stays open.
    pub(crate) fn is_constant(&self) -> bool {
        self.delay.is_none()
            && self.status.is_none_or(StatusOdds::is_certain)
            && self.close == Chance::NEVER
            && self.close_after.is_none()
            && self.hangup == Chance::NEVER
            && self.reset == Chance::NEVER
            && self.cut == Chance::NEVER
            && self.drip.is_none()
    }
}
