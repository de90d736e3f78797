//! The routes of requests: addresses, proxies, TLS.
//!
//! A [`Route`] is everything that a connection to an origin needs, and becomes a lane of each
//! worker. Each distinct origin of a pool has one. Three things decide it, in this order: a Unix
//! socket takes all connections; a proxy takes those to hosts that are not on its list of
//! exceptions, through a tunnel or with the whole URL in the request; else the origin itself is
//! dialed.
//!
//! The guard against public targets ([`guarded`]) is asked about each address that is dialed, those
//! of a redirect's origin and of a name that is looked up again included. It is asked of the proxy
//! where there is one: the addresses behind it are not known here.
//!
//! The certificates are the plan's text, not files: they were read before. TLS settings share them
//! as a [`TlsMaterial`], which can be renewed for connections to come.

use super::render::TargetForm;
use super::{PrepareError, Resolver, USER_AGENT, basic_credentials};
use crate::protocol::Protocol;
use drumfire_measure::Outcome;
use drumfire_net::{
    Address, Resolved, TlsConfig, TlsIdentity, TlsMaterial, TlsOptions, TlsTexts, TlsVerify,
};
use drumfire_plan::{
    Header, Host, Origin, Pem, Pool, Proxy, Renewal, Scheme, Spread, Tls, Tunnels, Unresolved,
    Verify,
};
use drumfire_units::Nanos;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

/// The way to one origin.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// The origin to which it leads.
    pub(crate) origin: Origin,
    peers: Peers,
    /// The name that the resolver answered, with the time to live; `None` where there was nothing
    /// to look up.
    named: Option<Named>,
    /// Local addresses to send from, of the peers' family; the system's choice when empty.
    sources: Vec<IpAddr>,
    /// TLS settings of the proxy, by index, where it is spoken with over TLS.
    pub(crate) proxy_tls: Option<usize>,
    /// The request that makes a proxy connect through.
    tunnel: Option<Box<[u8]>>,
    /// TLS settings of the origin, by index.
    pub(crate) tls: Option<usize>,
    /// The form of the target in requests on it.
    pub(crate) form: TargetForm,
}

/// A name that was looked up, to be looked up again when its time to live is over.
///
/// Of a route through a proxy that is the proxy's name: the proxy looks the target's up.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// The target's, or the proxy's.
    pub(crate) origin: Origin,
    /// The time to live of the last answer; `None` where that had none.
    pub(crate) ttl: Option<Nanos>,
}

/// The peers of a route.
#[derive(Clone, Debug)]
enum Peers {
    /// All addresses of the name that a source address can send to; never empty.
    Tcp(Vec<SocketAddr>),
    Unix(PathBuf),
    /// The name has no address: every exchange there fails with this outcome, where the plan wants
    /// the run to go on.
    Nowhere(Outcome),
}

impl Route {
    /// The request that makes a proxy connect through.
    pub(crate) fn tunnel(&self) -> Option<&[u8]> {
        self.tunnel.as_deref()
    }

    /// The name that the resolver has answered; `None` where there was nothing to look up.
    pub(crate) const fn named(&self) -> Option<&Named> {
        self.named.as_ref()
    }

    /// This route, whose TLS settings come after this many others in the driver's list.
    pub(super) fn behind(self, others: usize) -> Self {
        let moved = |index: Option<usize>| index.map(|index| index + others);
        Self {
            tls: moved(self.tls),
            proxy_tls: moved(self.proxy_tls),
            ..self
        }
    }

    /// This route, with the origin's TLS settings under this index.
    pub(super) fn with_tls(self, tls: Option<usize>) -> Self {
        Self { tls, ..self }
    }

    /// Leads to these addresses from now on; `false` when it does already.
    pub(crate) fn lead_to(&mut self, place: Place) -> bool {
        if let Some(named) = &mut self.named {
            named.ttl = place.ttl;
        }
        if matches!(&self.peers, Peers::Tcp(peers) if *peers == place.peers) {
            return false;
        }
        self.peers = Peers::Tcp(place.peers);
        true
    }

    /// The address of a choice, counted round through those that it leads to; `None` where it leads
    /// to none.
    pub(crate) fn peer(&self, choice: usize) -> Option<SocketAddr> {
        match &self.peers {
            Peers::Tcp(peers) => Some(peers[choice % peers.len()]),
            Peers::Unix(_) | Peers::Nowhere(_) => None,
        }
    }

    /// Whether it leads to an address.
    pub(crate) fn has_peer(&self, address: SocketAddr) -> bool {
        matches!(&self.peers, Peers::Tcp(peers) if peers.contains(&address))
    }

    /// The address that the `choice`-th attempt of some slot dials. Choices count through the
    /// peers, and for each through the source addresses of its family, so that consecutive ones
    /// spread over both.
    pub(crate) fn address(&self, choice: usize) -> Result<Address, Outcome> {
        match &self.peers {
            Peers::Nowhere(reason) => Err(*reason),
            Peers::Unix(path) => Ok(Address::Unix(path.clone())),
            Peers::Tcp(peers) => {
                let peer = peers[choice % peers.len()];
                let mut fitting = self
                    .sources
                    .iter()
                    .filter(|s| s.is_ipv4() == peer.is_ipv4());
                let count = fitting.clone().count().max(1);
                Ok(Address::Tcp {
                    peer,
                    source: fitting.nth(choice / peers.len() % count).copied(),
                })
            }
        }
    }

    /// The number of addresses to try; 1 where there is none.
    pub(crate) fn width(&self) -> usize {
        match &self.peers {
            Peers::Tcp(peers) => peers.len(),
            Peers::Unix(_) | Peers::Nowhere(_) => 1,
        }
    }
}

/// The ways to a pool's targets.
#[derive(Debug)]
pub(crate) struct Routes {
    /// One for each distinct origin of its requests.
    pub(crate) list: Vec<Route>,
    /// The TLS settings that they name.
    pub(crate) tls: Vec<TlsConfig>,
    /// The index of the proxy's among them.
    pub(crate) proxy_tls: Option<usize>,
    /// Their certificates.
    pub(crate) material: TlsMaterial,
}

/// Indices of TLS settings on the way to an origin.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seals {
    proxy: Option<usize>,
    origin: Option<usize>,
}

impl Seals {
    /// The proxy's settings; those of the origin are added to the route when they have an index.
    pub(super) const fn of_proxy(proxy: Option<usize>) -> Self {
        Self {
            proxy,
            origin: None,
        }
    }
}

/// The ways to the origins of a pool's requests, in the order in which the requests first name
/// them.
///
/// Settings of TLS are numbered as the list has them: the proxy's first, where it is spoken with
/// over TLS, then one for each origin of https. They count from 0 within the pool; the preparation
/// of a plan moves those of each pool behind those of the pools before, as drivers have one list.
///
/// # Errors
/// When a name has no address and the plan does not go on without one, when the guard refuses an
/// address, or when the settings of TLS are not valid.
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
        if !routes
            .iter()
            .any(|route| route.origin == request.url.origin)
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
            routes.push(route(pool, &request.url.origin, seals, resolver)?);
        }
    }
    Ok(Routes {
        list: routes,
        tls,
        proxy_tls,
        material,
    })
}

/// The way to one origin. Blocks for the resolver.
///
/// `seals` are indices of settings that the caller has made, so that an origin to which a redirect
/// leads can be given settings of its own while the run goes on.
pub(crate) fn route(
    pool: &Pool,
    origin: &Origin,
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
        Some(path) => (Peers::Unix(path.clone()), None),
        None => peers(pool, dialed, resolver)?,
    };
    let tunnel = proxy
        .filter(|proxy| origin.scheme == Scheme::Https || proxy.tunnels == Tunnels::All)
        .map(|p| connect_request(p, origin));
    let form = if proxy.is_some() && tunnel.is_none() && !has_socket {
        TargetForm::Absolute
    } else {
        TargetForm::Origin
    };
    let sources = pool.reach.source_addresses.clone();
    Ok(Route {
        origin: origin.clone(),
        peers,
        named,
        sources,
        proxy_tls: seals.proxy.filter(|_| proxy.is_some() && !has_socket),
        tunnel,
        tls: seals.origin,
        form,
    })
}

/// A host as a certificate or a list names it: an address without brackets.
fn bare(host: &Host) -> String {
    match host {
        Host::Name(name) => name.clone(),
        Host::Address(address) => address.to_string(),
    }
}

/// The head that asks a proxy for a tunnel (RFC 9110 section 9.3.6). It names its client as each
/// request should (section 10.1.5), unless the plan's name is empty.
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

/// The peers of an origin, and the name that was looked up for it.
fn peers(
    pool: &Pool,
    origin: &Origin,
    resolver: &Resolver,
) -> Result<(Peers, Option<Named>), PrepareError> {
    let named = |ttl| Named {
        origin: origin.clone(),
        ttl,
    };
    if let Some(known) = known(pool, origin) {
        guarded(pool, origin, &known)?;
        return Ok((Peers::Tcp(sent_to(pool, known)?), None));
    }
    match place(pool, origin, resolver) {
        Ok(place) => Ok((Peers::Tcp(place.peers), Some(named(place.ttl)))),
        Err(error) => match (pool.reach.unresolved, error.outcome()) {
            (Unresolved::Fail, Some(outcome)) => Ok((Peers::Nowhere(outcome), Some(named(None)))),
            _ => Err(error),
        },
    }
}

/// Whether the load may go to these addresses of an origin: asked of all that it has, whenever it
/// is looked up, so that a name which moves is caught, too.
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

/// The addresses of an origin that need no look-up: an address itself, or the plan's own
/// answer.
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

/// The addresses to which a name leads.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// At least one; in an order that does not depend on the answer's, where connections take turns
    /// at them.
    peers: Vec<SocketAddr>,
    ttl: Option<Nanos>,
}

/// The resolver's answer for an origin's name, within the time that a connection may take to open.
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

/// The addresses that one of the pool's source addresses can send to: those of its family.
///
/// # Errors
/// When there are source addresses, and none is of the family of any of these.
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

/// The certificates of a plan's settings.
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
/// sees no certificate of the client.
pub(crate) fn tls_config(
    pool: &Pool,
    origin: &Origin,
    material: &TlsMaterial,
    identity: TlsIdentity,
) -> Result<TlsConfig, PrepareError> {
    let host = bare(&origin.host);
    let name = pool.reach.tls.server_name.as_deref().unwrap_or(&host);
    config(pool, name, material, identity, Protocol::of(pool))
}

/// TLS settings for a proxy, to which HTTP/1.1 is spoken and no certificate of the client is shown.
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
