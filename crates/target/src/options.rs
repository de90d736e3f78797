//! The options of a server at its start.

use crate::fault::{Chance, CodeOdds, Drip, Stall, StatusOdds};
use crate::law::Law;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;

/// How a server is started. The flag of `drumfire serve` that sets a field stands in its comment.
#[derive(Clone, Debug)]
pub struct Options {
    /// `--listen ADDRESS`: where to listen; may be given several times. Default 127.0.0.1:8080.
    pub listen: Vec<Listen>,
    /// `--expose`: allow addresses that other machines can reach. Without it only loopback
    /// addresses are accepted.
    pub exposure: Exposure,
    /// `--threads N`: worker threads, each with its own readiness loop, 1 to 256. Default 1.
    pub threads: usize,
    /// `--tls`: speak HTTPS with a certificate made at the start.
    pub tls: Option<TlsOptions>,
    /// `--seed N`: where every delay and every chance comes from.
    pub seed: u64,
    /// The answer to a request without a query.
    pub behaviour: Behaviour,
    /// `--stall LENGTH/PERIOD`: for LENGTH of every PERIOD nothing is accepted, read or written.
    pub stall: Option<Stall>,
    /// `--serial`: answer one request at a time, first come, first served.
    pub discipline: Discipline,
    /// `--arrival-log`: remember when each request arrived (GET /arrivals).
    pub arrival_log: ArrivalLog,
    /// `--grpc`: offer gRPC services.
    pub services: Services,
    /// `--shop`: a small shop under `/shop`, and as a gRPC service.
    pub storefront: Storefront,
    /// `--max-streams N`: SETTINGS_MAX_CONCURRENT_STREAMS of every HTTP/2 connection.
    pub max_streams: u32,
    /// `--goaway-after N`: after its N-th request an HTTP/2 connection gets a GOAWAY that names
    /// this one as the last. Later ones are not processed; the connection ends once all are
    /// answered.
    pub goaway_after: Option<u32>,
}

impl Default for Options {
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
            max_streams: 1_000,
            goaway_after: None,
        }
    }
}

/// One place to listen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Listen {
    /// An address and port; port 0 takes a free one.
    Tcp(SocketAddr),
    /// A Unix socket at this path, which must not exist yet; removed at the end.
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
    /// Loopback addresses only; anything else is refused at the start.
    #[default]
    Loopback,
    /// Any address: the server answers every client that reaches it.
    Anywhere,
}

/// How many requests are served at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discipline {
    /// Every request is held for its own delay, independent of the others.
    #[default]
    Concurrent,
    /// One request at a time for the whole server, in the order of arrival: the delay is a service
    /// time, and a request waits for those before it. With `exp` delays and Poisson arrivals this
    /// is the M/M/1 queue. Needs one thread.
    Serial,
}

/// Whether arrivals are remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArrivalLog {
    /// They are not.
    #[default]
    Off,
    /// The first of them are recorded, 8 bytes each; later ones are only counted.
    First(usize),
}

/// Services besides HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Services {
    /// Nothing.
    #[default]
    None,
    /// gRPC: `helloworld.Greeter`, `drumfire.test.v1.TestService`, and server reflection; where
    /// there is a shop, `drumfire.shop.v1.Shop` as well.
    Grpc,
}

/// Whether there is a shop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storefront {
    /// There is none: `/shop` is a path as any other.
    #[default]
    Closed,
    /// There is.
    Open,
}

/// Transport security.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsOptions {
    /// `--require-client-cert`: refuse clients without a certificate of the server's authority.
    pub client_certificate: ClientCertificate,
}

/// Whether a client must show a certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientCertificate {
    /// It is not asked for one.
    #[default]
    Ignored,
    /// Without one that the server's own authority signed, the handshake fails.
    Required,
}

/// How one request is answered. The same words serve as flags and as query parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Behaviour {
    /// `--delay LAW`, `?delay=LAW`: hold the answer back. Each drawn value is in the answer's
    /// `x-drumfire-delay-ns`.
    pub delay: Option<Law>,
    /// `--size BYTES`, `?size=BYTES`: length of the body. Default 100.
    pub size: u64,
    /// `--status CODE:P`, `?status=CODE:P`: this status in place of 200 with probability P.
    pub status: Option<StatusOdds>,
    /// `--grpc-status CODE:P`: end a gRPC call with this code in place of its own with
    /// probability P.
    pub grpc_status: Option<CodeOdds>,
    /// `--close P`, `?close=P`: end the connection after the answer (which announces it) with
    /// probability P.
    pub close: Chance,
    /// `--close-after N`: end each connection after its N-th answer.
    pub close_after: Option<u32>,
    /// `--hangup P`, `?hangup=P`: close the connection in place of an answer with probability P.
    pub hangup: Chance,
    /// `--reset P`, `?reset=P`: reset the connection in place of an answer with probability P.
    pub reset: Chance,
    /// `--cut P`, `?cut=P`: reset the connection in the middle of the body with probability P.
    pub cut: Chance,
    /// `--drip SIZE/INTERVAL`, `?drip=SIZE/INTERVAL`: send the body piece by piece.
    pub drip: Option<Drip>,
    /// `--chunked SIZE`, `?chunked=SIZE`: send the body in chunks of this size, with no
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
    /// Whether the same request always gets the same bytes at once, and the connection stays.
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
