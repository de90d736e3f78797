//! A plan prepared for its workers: requests as bytes, addresses, TLS settings.
//!
//! [`prepare`] is called once before a run. All workers share its result read-only, so that a
//! request is found without a lock and sent without an allocation. Two tasks are done during the
//! run: [`Lookup`] finds the route of an origin that a redirect leads to, and [`form`] prepares the
//! request for it.
//!
//! The steps are those that can fail before anything is sent, in this order for each pool: names
//! are resolved ([`routes_of`]), the guard against public targets is checked, TLS is set up, and
//! each request is prepared in the form in which its route sends it ([`form`]). The first failure
//! is returned as a [`PrepareError`], and the run does not start.
//!
//! Requests are found by their index in the plan's list, routes by the index of their lane, TLS
//! settings by their index in one list for all pools. These indices are valid for the whole run and
//! in every worker.
//!
//! Preparation blocks while names are resolved, and reads certificates. The rest is computation.

mod error;
mod lookup;
mod metadata;
mod render;
mod request;
mod route;
mod socket;
mod stream;
mod varying;

pub use error::PrepareError;
pub(crate) use lookup::{Answer, LookedUp, Lookup, Sought};
pub(crate) use metadata::check_metadata;
pub(crate) use render::{Rendered, TargetForm, USER_AGENT, basic_credentials};
pub(crate) use request::{ExchangeKind, Form, Request, form};
pub use route::certificates;
pub(crate) use route::{Place, Route, Routes, Seals, place, route, routes_of, tls_config};
pub(crate) use socket::SocketRequest;
pub(crate) use stream::{
    CallRequest, MessageRequest, StreamHead, authority, message_count, too_large,
};
pub(crate) use varying::{Parts, VaryingRequest};

use crate::id::{LaneId, PoolId};
use crate::protocol::Protocol;
use drumfire_net::{ResolveError, Resolved, TlsConfig, TlsMaterial};
use drumfire_placement::Placement;
use drumfire_plan::{
    Cookies, Generator, HttpRequest, Origin, Plan, Pool, Reach, RequestData, Threshold,
};
use drumfire_units::Nanos;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use varying::CookiesAlone;

/// Resolves a host's name and port to addresses within a time limit, by the plan's settings for
/// reaching targets. Called before the run, and during the run by the threads that look names up.
pub type Resolver =
    dyn Fn(&Reach, &str, u16, Nanos) -> Result<Resolved, ResolveError> + Send + Sync;

/// The data that workers share read-only.
pub struct Prepared {
    /// The plan itself, for its settings.
    pub plan: Arc<Plan>,
    /// The share of the load and the connections for this machine.
    pub placement: Placement,
    /// The pools, in the plan's order.
    pub pools: Vec<Arc<PreparedPool>>,
    /// TLS settings; routes refer to them by index.
    pub tls: Vec<TlsConfig>,
    /// The id of the first stream of each HTTP/2 connection, odd. Only tests change it: ids run out
    /// after 2³⁰ streams.
    pub first_stream_id: u32,
}

/// One prepared pool.
pub struct PreparedPool {
    /// The plan to which `id` belongs.
    plan: Arc<Plan>,
    /// The index of the pool in the plan's list.
    pub(crate) id: PoolId,
    /// The maximum number of connections to each target, on this machine.
    connections: u32,
    /// The names of the steps, in the order of their indices.
    pub steps: Vec<Arc<str>>,
    /// The requests, in the plan's order.
    pub(crate) requests: Vec<Request>,
    /// The routes to the pool's targets; each becomes a lane.
    pub(crate) routes: Vec<Route>,
    /// The lanes whose connections are WebSockets.
    pub(crate) socket_lanes: Vec<LaneId>,
    /// The index of the TLS settings for the pool's proxy, if the connection to it uses TLS.
    proxy_tls: Option<usize>,
    /// The pool's certificates, which may be renewed during the run: connections that are opened
    /// later use the new ones.
    pub material: TlsMaterial,
    resolver: Arc<Resolver>,
}

impl PreparedPool {
    /// The number of targets; each has its own connections.
    #[must_use]
    pub fn targets(&self) -> usize {
        self.routes.len()
    }

    /// The maximum number of connections to each target, at least 1. On this machine it may be
    /// lower than the pool's setting.
    #[must_use]
    pub const fn connections(&self) -> u32 {
        self.connections
    }

    /// The lane of the request with this index.
    #[inline]
    pub(crate) fn lane_of(&self, request: u32) -> LaneId {
        self.requests[request as usize].lane
    }

    /// The pool's settings.
    #[inline]
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.plan.pools()[self.id.index()]
    }

    /// The seed of the pool's random values.
    #[inline]
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.plan.seed_of(self.id.index())
    }

    /// The rules that the result must satisfy.
    #[must_use]
    pub fn thresholds(&self) -> &[Threshold] {
        self.plan.thresholds()
    }

    /// The settings of the generator.
    #[inline]
    #[must_use]
    pub fn generator(&self) -> &Generator {
        self.plan.generator()
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("pools", &self.pools)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for PreparedPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedPool")
            .field("routes", &self.routes)
            .finish_non_exhaustive()
    }
}

/// Resolves names, reads certificates and renders requests of a plan, for the machine of this
/// placement.
pub fn prepare(
    plan: Plan,
    placement: Placement,
    resolver: Arc<Resolver>,
) -> Result<Prepared, PrepareError> {
    let plan = Arc::new(plan);
    let mut tls = Vec::new();
    let mut pools = Vec::with_capacity(plan.pools().len());
    for (index, pool) in (0..).zip(plan.pools()) {
        let routes = routes_of(pool, &*resolver)?;
        let first = tls.len();
        let proxy_tls = routes.proxy_tls.map(|config| config + first);
        tls.extend(routes.tls);
        let list = routes.list.into_iter().map(|route| route.behind(first));
        let list: Vec<Route> = list.collect();
        let (steps, requests) = requests_of(pool, &list)?;
        pools.push(Arc::new(PreparedPool {
            plan: Arc::clone(&plan),
            id: PoolId(index),
            connections: placement.connections(usize::from(index)),
            steps,
            requests,
            socket_lanes: (0..)
                .zip(&list)
                .filter(|(_, route)| route.protocol.is_socket())
                .map(|(index, _)| LaneId(index))
                .collect(),
            routes: list,
            proxy_tls,
            material: routes.material,
            resolver: Arc::clone(&resolver),
        }));
    }
    Ok(Prepared {
        plan,
        placement,
        pools,
        tls,
        first_stream_id: 1,
    })
}

/// The names of a pool's steps, and its requests in the forms of these routes. If a pool keeps
/// cookies, requests with fixed bytes vary too: their only data are the cookies.
fn requests_of(
    pool: &Pool,
    routes: &[Route],
) -> Result<(Vec<Arc<str>>, Vec<Request>), PrepareError> {
    let by_origin: HashMap<(&Origin, Protocol), u16> = routes
        .iter()
        .enumerate()
        .map(|(index, route)| ((&route.origin, route.protocol), index as u16))
        .collect();
    let mut steps: Vec<Arc<str>> = Vec::new();
    let mut by_name: HashMap<&str, u16> = HashMap::new();
    let mut requests = Vec::with_capacity(pool.requests.len());
    for request in &pool.requests {
        let protocol = Protocol::for_request(pool, request);
        let route = by_origin[&(&request.url.origin, protocol)];
        let step = *by_name.entry(&request.step).or_insert_with(|| {
            // Steps beyond the last index share it; the summary distinguishes far fewer.
            if steps.len() < usize::from(u16::MAX) {
                steps.push(request.step.as_str().into());
            }
            (steps.len() - 1) as u16
        });
        let target = routes[usize::from(route)].form;
        let form = match &request.data {
            None if pool.cookies != Cookies::Ignore && request.call.is_none() => {
                let data = Some(Arc::new(CookiesAlone) as Arc<dyn RequestData>);
                let request = HttpRequest {
                    data,
                    ..request.clone()
                };
                form(pool, &request, target)
            }
            _ => form(pool, request, target),
        };
        let form = form.map_err(|reason| {
            PrepareError::Request(format!("the request to {}: {reason}", request.url))
        })?;
        requests.push(Request::new(form, LaneId(route), step, request));
    }
    Ok((steps, requests))
}
