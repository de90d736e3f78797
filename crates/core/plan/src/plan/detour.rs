//! The settings of a plan that could direct its load to an address other than its targets'.
//!
//! A machine that runs plans of others allows targets by name. Every struct with such a setting is
//! destructured here without `..`, so that a new field does not compile until a line here decides
//! whether it leads elsewhere.

use super::{Plan, PlanParts};
use crate::{HttpOptions, HttpRequest, Origin, Pool, Reach, Redirects, Tls, Url};
use std::fmt;

/// A setting that could direct a plan's load to an address other than its target's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detour {
    /// `proxy`: the proxy receives the requests, and chooses where they go.
    Proxy,
    /// `unix_socket`: a socket receives the requests.
    UnixSocket,
    /// `resolve`: the plan contains the addresses of names.
    Resolve,
    /// `name_server`: a server in the plan provides the addresses of names, and receives packets
    /// itself.
    NameServer,
    /// `redirects`: responses contain the address of the next request.
    Redirects,
}

impl fmt::Display for Detour {
    /// A verb and its object; the subject is the plan.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Proxy => "uses a proxy",
            Self::UnixSocket => "uses a Unix socket",
            Self::Resolve => "overrides the addresses of names",
            Self::NameServer => "chooses the server for names (name_server)",
            Self::Redirects => "follows redirects, which may lead anywhere",
        })
    }
}

impl Plan {
    /// The first setting that could direct the load elsewhere.
    #[must_use]
    pub fn detour(&self) -> Option<Detour> {
        // The other parts contain no address.
        let PlanParts {
            name: _,
            pools,
            generator: _,
            thresholds: _,
        } = &self.parts;
        pools.iter().find_map(of_pool)
    }

    /// The servers of the plan's requests.
    pub fn origins(&self) -> impl Iterator<Item = &Origin> {
        let requests = self.pools().iter().flat_map(|pool| &pool.requests);
        requests.map(of_request)
    }
}

/// The first setting that could direct a pool's load elsewhere.
pub(super) fn of_pool(pool: &Pool) -> Option<Detour> {
    let Pool {
        reach,
        http,
        // `Plan::origins` returns their servers.
        requests: _,
        // Steps refer to requests by number.
        program: _,
        name: _,
        load: _,
        users: _,
        begun: _,
        stop: _,
        connections: _,
        timeouts: _,
        expect: _,
        cookies: _,
        samples: _,
        transcripts: _,
    } = pool;
    of_reach(reach).or_else(|| of_http(http))
}

fn of_reach(reach: &Reach) -> Option<Detour> {
    let Reach {
        proxy,
        unix_socket,
        resolve,
        name_server,
        tls,
        unresolved: _,
        // Renewal keeps the target's name, which has only its own addresses.
        renewal: _,
        // A guard allows fewer addresses.
        guard: _,
        // The local end of a connection.
        source_addresses: _,
    } = reach;
    let Tls {
        verify: _,
        // A name in the handshake; the address stays the same.
        server_name: _,
        ca_pem: _,
        identity_pem: _,
        resumption: _,
    } = tls;
    let leads = [
        (proxy.is_some(), Detour::Proxy),
        (unix_socket.is_some(), Detour::UnixSocket),
        (!resolve.is_empty(), Detour::Resolve),
        (name_server.is_some(), Detour::NameServer),
    ];
    let mut leads = leads.into_iter().filter(|(is_set, _)| *is_set);
    leads.next().map(|(_, detour)| detour)
}

const fn of_http(http: &HttpOptions) -> Option<Detour> {
    let HttpOptions {
        redirects,
        redirect_style: _,
        version: _,
        compressed: _,
        private_headers: _,
        expect_continue: _,
    } = http;
    match redirects {
        Redirects::Follow(_) => Some(Detour::Redirects),
        Redirects::Report | Redirects::Refuse => None,
    }
}

/// The server of a request.
const fn of_request(request: &HttpRequest) -> &Origin {
    let HttpRequest {
        url,
        // A `Host` field is only text for the server of the URL.
        headers: _,
        // Only path, query, fields and bodies vary.
        data: _,
        // A call goes to the server of the URL.
        call: _,
        events: _,
        socket: _,
        method: _,
        body: _,
        step: _,
        timeout: _,
        expect: _,
        inspection: _,
    } = request;
    let Url {
        origin,
        target: _,
        userinfo: _,
    } = url;
    origin
}
