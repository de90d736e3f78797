//! The settings of a plan that could take its load to another address than its targets have.
//!
//! A machine that runs the plans of others allows targets by their names. Every struct with such a
//! setting is taken apart here without `..`, so that a new field does not compile until its line
//! here says whether it leads elsewhere.

use super::{Plan, PlanParts};
use crate::{HttpOptions, HttpRequest, Origin, Pool, Reach, Redirects, Tls, Url};
use std::fmt;

/// A setting that could take a plan's load to another address than its target has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detour {
    /// `proxy`: the proxy gets the requests, and chooses where they go.
    Proxy,
    /// `unix_socket`: a socket gets the requests.
    UnixSocket,
    /// `resolve`: the plan contains the addresses of names.
    Resolve,
    /// `name_server`: a server in the plan has the addresses of names, and gets packets itself.
    NameServer,
    /// `redirects`: responses contain the address of the next request.
    Redirects,
}

impl fmt::Display for Detour {
    /// A verb and its object, of which the plan is the subject.
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
    /// The first setting that could take the load elsewhere.
    #[must_use]
    pub fn detour(&self) -> Option<Detour> {
        // No part beside the pools has an address.
        let PlanParts {
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

/// The first setting that could take a pool's load elsewhere.
pub(super) fn of_pool(pool: &Pool) -> Option<Detour> {
    let Pool {
        reach,
        http,
        // Their servers are those of `Plan::origins`.
        requests: _,
        // Steps name requests by their numbers.
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
        // The name stays the target's, whose addresses are its own.
        renewal: _,
        // Allows fewer addresses.
        guard: _,
        // The near end of a connection.
        source_addresses: _,
    } = reach;
    let Tls {
        verify: _,
        // A name within the handshake; the address stays.
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
        // A `Host` field is text for the server of the URL.
        headers: _,
        // Varying parts are path, query, fields and bodies.
        data: _,
        // A call goes to the server of the URL.
        call: _,
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
