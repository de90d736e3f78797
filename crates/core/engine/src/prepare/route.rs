//! The routes of requests: addresses, proxies, TLS.
//!
//! A [`Route`] contains everything that a connection to an origin needs, and becomes a lane of each
//! worker. Each distinct origin of a pool has one. Three rules decide it, in this order: a Unix
//! socket takes all connections; a proxy takes those to hosts that are not on its list of
//! exceptions, through a tunnel or with the whole URL in the request; otherwise the origin itself
//! is dialed.
//!
//! The guard against public targets ([`guarded`]) checks each address that is dialed, including
//! for a redirect's origin and for a name that is looked up again. With a proxy, the guard
//! checks the proxy, because the addresses of the origin are not known here.
//!
//! The certificates are texts of the plan, not files: they were read before. TLS settings share
//! them as a [`TlsMaterial`], which can be renewed for later connections.

use super::render::TargetForm;
use super::{PrepareError, Resolver, USER_AGENT, basic_credentials};
use crate::protocol::Protocol;
use drumfire_measure::Outcome;
use drumfire_net::{
    Endpoint, Resolved, TlsConfig, TlsIdentity, TlsMaterial, TlsOptions, TlsTexts, TlsVerify,
};
use drumfire_plan::{
    Header, Host, Origin, Pem, Pool, Proxy, Renewal, Scheme, Spread, Tls, Tunnels, Unresolved,
    Verify,
};
use drumfire_units::Nanos;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

/// The route to one origin.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// The origin of the route.
    pub(crate) origin: Origin,
    /// The protocol that its connections speak.
    pub(crate) protocol: Protocol,
    peers: RoutePeers,
    /// The name that was resolved, with its time to live; `None` if no look-up was needed.
    named: Option<Named>,
    /// Local addresses to send from, of the peers' family; if empty, the system chooses.
    sources: Vec<IpAddr>,
    /// The index of the proxy's TLS settings, if the connection to it uses TLS.
    pub(crate) proxy_tls: Option<usize>,
    /// The request that opens a tunnel through a proxy.
    tunnel: Option<Box<[u8]>>,
    /// The index of the origin's TLS settings.
    pub(crate) tls: Option<usize>,
    /// The form of the target in requests on this route.
    pub(crate) form: TargetForm,
}

/// A name that was looked up, to be looked up again when its time to live is over.
///
/// For a route through a proxy, this is the proxy's name: the proxy looks up the target's.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// The target's origin, or the proxy's.
    pub(crate) origin: Origin,
    /// The time to live of the last answer; `None` if it had no time to live.
    pub(crate) ttl: Option<Nanos>,
}

/// The peers of a route.
#[derive(Clone, Debug)]
enum RoutePeers {
    /// All addresses of the name to which a source address can send; never empty.
    Tcp(Vec<SocketAddr>),
    Unix(PathBuf),
    /// The name has no address: every exchange fails with this outcome, if the plan continues the
    /// run in this case.
    Nowhere(Outcome),
}

impl Route {
    /// The request that opens a tunnel through a proxy.
    pub(crate) fn tunnel(&self) -> Option<&[u8]> {
        self.tunnel.as_deref()
    }

    /// The name that was resolved; `None` if no look-up was needed.
    pub(crate) const fn named(&self) -> Option<&Named> {
        self.named.as_ref()
    }

    /// This route, with the indices of its TLS settings moved by `others`, the number of settings
    /// before them in the driver's list.
    pub(crate) fn behind(self, others: usize) -> Self {
        let moved = |index: Option<usize>| index.map(|index| index + others);
        Self {
            tls: moved(self.tls),
            proxy_tls: moved(self.proxy_tls),
            ..self
        }
    }

    /// This route, with this index for the origin's TLS settings.
    pub(super) fn with_tls(self, tls: Option<usize>) -> Self {
        Self { tls, ..self }
    }

    /// Replaces the addresses; `false` if they are unchanged.
    pub(crate) fn lead_to(&mut self, place: Place) -> bool {
        if let Some(named) = &mut self.named {
            named.ttl = place.ttl;
        }
        if matches!(&self.peers, RoutePeers::Tcp(peers) if *peers == place.peers) {
            return false;
        }
        self.peers = RoutePeers::Tcp(place.peers);
        true
    }

    /// The address for a choice, counted cyclically through the peers; `None` if the route has no
    /// TCP addresses.
    pub(crate) fn peer(&self, choice: usize) -> Option<SocketAddr> {
        match &self.peers {
            RoutePeers::Tcp(peers) => Some(peers[choice % peers.len()]),
            RoutePeers::Unix(_) | RoutePeers::Nowhere(_) => None,
        }
    }

    /// The peer with this address in words. A route without addresses has the path of a socket, or
    /// the name that has no address.
    pub(crate) fn peer_in_words(&self, address: Option<SocketAddr>) -> String {
        match (&self.peers, address) {
            (RoutePeers::Unix(path), _) => format!("the socket {}", path.display()),
            (RoutePeers::Tcp(_), Some(address)) => address.to_string(),
            (RoutePeers::Tcp(_) | RoutePeers::Nowhere(_), _) => {
                let named = self.named.as_ref();
                bare(&named.map_or(&self.origin, |named| &named.origin).host)
            }
        }
    }

    /// Whether `address` is one of the peers.
    pub(crate) fn has_peer(&self, address: SocketAddr) -> bool {
        matches!(&self.peers, RoutePeers::Tcp(peers) if peers.contains(&address))
    }

    /// The address that the `choice`-th attempt of a slot dials. Choices count through the peers,
    /// and for each peer through the source addresses of its family, so that consecutive choices
    /// are spread over both.
    pub(crate) fn address(&self, choice: usize) -> Result<Endpoint, Outcome> {
        match &self.peers {
            RoutePeers::Nowhere(reason) => Err(*reason),
            RoutePeers::Unix(path) => Ok(Endpoint::Unix(path.clone())),
            RoutePeers::Tcp(peers) => {
                let peer = peers[choice % peers.len()];
                let mut fitting = self
                    .sources
                    .iter()
                    .filter(|s| s.is_ipv4() == peer.is_ipv4());
                let count = fitting.clone().count().max(1);
                Ok(Endpoint::Tcp {
                    peer,
                    source: fitting.nth(choice / peers.len() % count).copied(),
                })
            }
        }
    }

    /// The number of addresses to try; 1 if there are no TCP addresses.
    pub(crate) fn width(&self) -> usize {
        match &self.peers {
            RoutePeers::Tcp(peers) => peers.len(),
            RoutePeers::Unix(_) | RoutePeers::Nowhere(_) => 1,
        }
    }
}

/// The routes to a pool's targets.
#[derive(Debug)]
pub(crate) struct Routes {
    /// One route for each distinct origin of the pool's requests, and each protocol there.
    pub(crate) list: Vec<Route>,
    /// The TLS settings to which the routes refer.
    pub(crate) tls: Vec<TlsConfig>,
    /// The index of the proxy's settings in `tls`.
    pub(crate) proxy_tls: Option<usize>,
    /// The certificates of the settings.
    pub(crate) material: TlsMaterial,
}

/// The indices of the TLS settings on a route.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seals {
    proxy: Option<usize>,
    origin: Option<usize>,
}

impl Seals {
    /// The proxy's settings; the origin's are added to the route when they have an index.
    pub(super) const fn of_proxy(proxy: Option<usize>) -> Self {
        Self {
            proxy,
            origin: None,
        }
    }
}

/// The routes to the origins of a pool's requests, in the order in which the requests first use
/// them.
///
/// TLS settings are numbered by their position in the list: first the proxy's, if the connection to
/// it uses TLS, then one for each https origin. They count from 0 within the pool; the preparation
/// of a plan moves the settings of each pool after the previous pools' settings, because drivers
/// have one list.
///
/// # Errors
/// If a name has no address and the plan does not allow this, if the guard refuses an address, or
/// if the TLS settings are invalid.
pub(crate) fn routes_of(pool: &Pool, resolver: &Resolver) -> Result<Routes, PrepareError> {
    let mut routes: Vec<Route> = Vec::new();
    let mut tls = Vec::new();
    let material = TlsMaterial::new(certificates(&pool.reach.tls));
    let proxy = pool.reach.proxy.as_ref();
    let proxy_tls = match proxy.filter(|proxy| proxy.url.origin.scheme == Scheme::Https) {
        None => None,
        Some(proxy) => {
            tls.push(proxy_config(pool, proxy, &material)?);
            Some(0)
        }
    };
    for request in &pool.requests {
        let protocol = Protocol::for_request(pool, request);
        if !routes
            .iter()
            .any(|route| route.origin == request.url.origin && route.protocol == protocol)
        {
            let index = match request.url.origin.scheme {
                Scheme::Http => None,
                Scheme::Https => {
                    let (origin, shown) = (&request.url.origin, TlsIdentity::Shown);
                    tls.push(tls_config(pool, origin, &material, shown)?);
                    Some(tls.len() - 1)
                }
            };
            let seals = Seals {
                proxy: proxy_tls,
                origin: index,
            };
            let origin = &request.url.origin;
            routes.push(route(pool, origin, protocol, seals, resolver)?);
        }
    }
    Ok(Routes {
        list: routes,
        tls,
        proxy_tls,
        material,
    })
}

/// The route to one origin. Blocks for the resolver.
///
/// `seals` are indices of settings that the caller has made, so that the origin of a redirect can
/// get its own settings during the run.
pub(crate) fn route(
    pool: &Pool,
    origin: &Origin,
    protocol: Protocol,
    seals: Seals,
    resolver: &Resolver,
) -> Result<Route, PrepareError> {
    let proxy = pool
        .reach
        .proxy
        .as_ref()
        .filter(|proxy| !proxy.bypass.iter().any(|rule| rule.covers(origin)));
    let has_socket = pool.reach.unix_socket.is_some();
    let dialed = proxy.map_or(origin, |proxy| &proxy.url.origin);
    let (peers, named) = match &pool.reach.unix_socket {
        Some(path) => (RoutePeers::Unix(path.clone()), None),
        None => peers(pool, dialed, resolver)?,
    };
    let tunnel = proxy
        .filter(|proxy| {
            origin.scheme == Scheme::Https || proxy.tunnels == Tunnels::All || protocol.is_socket()
        })
        .map(|p| connect_request(p, origin));
    let form = if proxy.is_some() && tunnel.is_none() && !has_socket {
        TargetForm::Absolute
    } else {
        TargetForm::Origin
    };
    let sources = pool.reach.source_addresses.clone();
    Ok(Route {
        origin: origin.clone(),
        protocol,
        peers,
        named,
        sources,
        proxy_tls: seals.proxy.filter(|_| proxy.is_some() && !has_socket),
        tunnel,
        tls: seals.origin,
        form,
    })
}

/// A host in the form of certificates and lists: an address has no brackets.
fn bare(host: &Host) -> String {
    match host {
        Host::Name(name) => name.clone(),
        Host::Address(address) => address.to_string(),
    }
}

/// The head of a request for a tunnel through a proxy (RFC 9110 section 9.3.6). It contains a
/// User-Agent as each request should (section 10.1.5), unless the plan's value is empty.
fn connect_request(proxy: &Proxy, origin: &Origin) -> Box<[u8]> {
    let authority = match &origin.host {
        Host::Address(IpAddr::V6(address)) => format!("[{address}]:{}", origin.port),
        host => format!("{}:{}", bare(host), origin.port),
    };
    let mut head = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n").into_bytes();
    let agent = proxy.agent.as_ref().map(Header::value);
    let agent = agent.unwrap_or(USER_AGENT.as_bytes()).trim_ascii();
    if !agent.is_empty() {
        head.extend([b"User-Agent: ", agent, b"\r\n"].concat());
    }
    if let Some(credentials) = basic_credentials(&proxy.url) {
        head.extend(format!("Proxy-Authorization: {credentials}\r\n").into_bytes());
    }
    head.extend(b"\r\n");
    head.into_boxed_slice()
}

/// The peers of an origin, and the name that was looked up for them.
fn peers(
    pool: &Pool,
    origin: &Origin,
    resolver: &Resolver,
) -> Result<(RoutePeers, Option<Named>), PrepareError> {
    let named = |ttl| Named {
        origin: origin.clone(),
        ttl,
    };
    if let Some(known) = known(pool, origin) {
        guarded(pool, origin, &known)?;
        return Ok((RoutePeers::Tcp(sent_to(pool, known)?), None));
    }
    match place(pool, origin, resolver) {
        Ok(place) => Ok((RoutePeers::Tcp(place.peers), Some(named(place.ttl)))),
        Err(error) => match (pool.reach.unresolved, error.outcome()) {
            (Unresolved::Fail, Some(outcome)) => {
                Ok((RoutePeers::Nowhere(outcome), Some(named(None))))
            }
            _ => Err(error),
        },
    }
}

/// Checks whether the load may go to these addresses of an origin. Called with all addresses after
/// each look-up, so that a name that moves is caught.
fn guarded(pool: &Pool, origin: &Origin, addresses: &[SocketAddr]) -> Result<(), PrepareError> {
    let Some(guard) = &pool.reach.guard else {
        return Ok(());
    };
    let host = bare(&origin.host);
    let refused = |address: &&SocketAddr| !guard.permits(&host, address.ip());
    match addresses.iter().find(refused) {
        None => Ok(()),
        Some(address) => Err(PrepareError::Guarded {
            address: address.ip(),
            host,
        }),
    }
}

/// The addresses of an origin that needs no look-up: its own address, or the plan's setting for its
/// name.
fn known(pool: &Pool, origin: &Origin) -> Option<Vec<SocketAddr>> {
    let name = match &origin.host {
        Host::Address(address) => return Some(vec![SocketAddr::new(*address, origin.port)]),
        Host::Name(name) => name,
    };
    let given: Vec<SocketAddr> = pool
        .reach
        .resolve
        .iter()
        .filter(|given| given.host.eq_ignore_ascii_case(name) && given.port == origin.port)
        .map(|given| SocketAddr::new(given.address, given.port))
        .collect();
    (!given.is_empty()).then_some(given)
}

/// The addresses of a name.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// At least one address. If connections take turns at them, the order does not depend on the
    /// answer.
    peers: Vec<SocketAddr>,
    ttl: Option<Nanos>,
}

/// The resolver's answer for an origin's name, within the plan's time for opening a connection.
/// Blocks.
pub(crate) fn place(
    pool: &Pool,
    origin: &Origin,
    resolver: &Resolver,
) -> Result<Place, PrepareError> {
    let host = bare(&origin.host);
    let resolved = resolver(&pool.reach, &host, origin.port, pool.timeouts.connect);
    let Resolved { addresses, ttl } =
        resolved.map_err(|reason| PrepareError::Resolve { host, reason })?;
    guarded(pool, origin, &addresses)?;
    let mut peers = sent_to(pool, addresses)?;
    if pool.reach.renewal != Renewal::Never && pool.connections.spread == Spread::Turn {
        peers.sort_unstable();
    }
    Ok(Place { peers, ttl })
}

/// The addresses to which one of the pool's source addresses can send, that is, of the same family.
///
/// # Errors
/// If there are source addresses, and no address has the family of any of them.
fn sent_to(pool: &Pool, mut addresses: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, PrepareError> {
    let sources = &pool.reach.source_addresses;
    let (Some(source), Some(peer)) = (sources.first().copied(), addresses.first().copied()) else {
        return Ok(addresses);
    };
    addresses.retain(|peer| {
        let mut sources = sources.iter();
        sources.any(|source| source.is_ipv4() == peer.is_ipv4())
    });
    match addresses.is_empty() {
        true => Err(PrepareError::Source {
            source,
            peer: peer.ip(),
        }),
        false => Ok(addresses),
    }
}

/// The certificates of a plan's TLS settings.
#[must_use]
pub fn certificates(tls: &Tls) -> TlsTexts {
    let text = |pem: &Pem| Arc::clone(&pem.text);
    let pair = tls.identity_pem.as_ref();
    TlsTexts {
        roots: tls.ca_pem.as_ref().map(text),
        identity: pair.map(|(chain, key)| (text(chain), text(key))),
    }
}

/// TLS settings for one origin. An origin that is not in the plan, and to which a redirect has led,
/// receives no client certificate.
pub(crate) fn tls_config(
    pool: &Pool,
    origin: &Origin,
    material: &TlsMaterial,
    identity: TlsIdentity,
) -> Result<TlsConfig, PrepareError> {
    let host = bare(&origin.host);
    let name = pool.reach.tls.server_name.as_deref().unwrap_or(&host);
    config(pool, name, material, identity, Protocol::for_pool(pool))
}

/// TLS settings for a proxy, which uses HTTP/1.1 and receives no client certificate.
fn proxy_config(
    pool: &Pool,
    proxy: &Proxy,
    material: &TlsMaterial,
) -> Result<TlsConfig, PrepareError> {
    let name = bare(&proxy.url.origin.host);
    let withheld = TlsIdentity::Withheld;
    config(pool, &name, material, withheld, Protocol::OF_PROXIES)
}

fn config(
    pool: &Pool,
    name: &str,
    material: &TlsMaterial,
    identity: TlsIdentity,
    protocol: Protocol,
) -> Result<TlsConfig, PrepareError> {
    let tls = &pool.reach.tls;
    TlsConfig::new(&TlsOptions {
        name,
        material,
        identity,
        verify: match tls.verify {
            Verify::Yes => TlsVerify::Yes,
            Verify::No => TlsVerify::No,
        },
        alpn: &[protocol.alpn()],
        resumed_per_million: tls.resumption.per_million,
    })
    .map_err(PrepareError::Tls)
}
