//! From a plan to what workers use: bytes, addresses, TLS settings. All allocation happens here.

mod lookup;
mod metadata;
mod render;
mod route;
mod stream;
mod varying;

pub(crate) use lookup::{Answer, LookedUp, Lookup, Sought};
pub(crate) use metadata::check_metadata;
pub(crate) use render::{Rendered, TargetForm, USER_AGENT, basic_credentials, render};
pub use route::certificates;
pub(crate) use route::{Peers, Place, Route, Routes, Seals, place, route, routes_of, tls_config};
pub(crate) use stream::{
    CallRequest, StreamHead, StreamRequest, authority, message_count, stream, too_large,
};
pub(crate) use varying::{Outline, Parts, VaryingRequest};

use crate::id::{LaneId, PoolId};
use drumfire_measure::Outcome;
use drumfire_net::{ResolveError, Resolved, TlsConfig, TlsMaterial, TlsSetupError};
use drumfire_plan::{
    Cookies, Expect, Generator, HttpRequest, HttpVersion, Inspection, MODEST_COUNT, MODEST_RATE,
    Origin, Plan, Pool, Reach, RequestData, TRACEPARENT,
};
use drumfire_units::Nanos;
use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use varying::CookiesAlone;

/// Turns a host's name and port into its addresses within a time, as the plan says how targets are
/// reached.
pub type Resolver =
    dyn Fn(&Reach, &str, u16, Nanos) -> Result<Resolved, ResolveError> + Send + Sync;

/// Everything that workers share and none of them changes.
pub struct Prepared {
    /// The plan itself, for its settings.
    pub plan: Arc<Plan>,
    /// Its pools, in the plan's order.
    pub pools: Vec<Arc<PreparedPool>>,
    /// TLS settings; a route names one by its index.
    pub tls: Vec<TlsConfig>,
    /// The id of the first stream of each connection of HTTP/2, odd. Only a test has a reason to
    /// change it: ids run out after 2³⁰ streams.
    pub first_stream_id: u32,
}

/// One pool of it.
pub struct PreparedPool {
    /// The plan, and which of its pools this is.
    plan: Arc<Plan>,
    pub(crate) id: PoolId,
    /// The names of the steps, in the order of their indices.
    pub steps: Vec<Arc<str>>,
    pub(crate) requests: Vec<Request>,
    pub(crate) routes: Vec<Route>,
    /// TLS settings of the pool's proxy, by index, where it is spoken with over TLS.
    proxy_tls: Option<usize>,
    /// Its certificates, which may be renewed while it runs.
    pub material: TlsMaterial,
    pub(crate) resolver: Arc<Resolver>,
}

impl PreparedPool {
    /// How many targets there are, each with connections of its own.
    #[must_use]
    pub fn targets(&self) -> usize {
        self.routes.len()
    }

    /// The pool's settings.
    #[inline]
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.plan.pools()[self.id.index()]
    }

    /// The seed of its random values.
    #[inline]
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.plan.seed_of(self.id.index())
    }

    /// The settings of the program that sends.
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

/// One request, ready to send.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) message: Message,
    /// Where it goes.
    pub(crate) lane: LaneId,
    /// The step whose figures it adds to: an index.
    pub(crate) step: u16,
    /// The statuses that are ok, where those are not the pool's.
    pub(crate) expect: Option<Expect>,
    /// What is looked at in its response, beyond the status.
    pub(crate) inspection: Option<Arc<dyn Inspection>>,
}

/// A request in the form that its protocol sends.
#[derive(Debug)]
pub(crate) enum Message {
    Http1(Rendered),
    Http2(Box<StreamRequest>),
    /// It is rendered anew for each exchange.
    Varying(Box<VaryingRequest>),
}

impl Request {
    /// The gRPC call that it makes, if it does.
    #[inline]
    pub(crate) fn call(&self) -> Option<&CallRequest> {
        match &self.message {
            Message::Http2(stream) => stream.call.as_ref(),
            Message::Http1(_) | Message::Varying(_) => None,
        }
    }

    /// The body that its stream sends, where that is the same for all.
    #[inline]
    pub(crate) fn stream_body(&self) -> Option<&[u8]> {
        match &self.message {
            Message::Http2(stream) => Some(&stream.body),
            Message::Http1(_) | Message::Varying(_) => None,
        }
    }

    /// Whether anything must be done for an exchange before it can be sent.
    pub(crate) fn is_rendered_late(&self) -> bool {
        self.call().is_some() || matches!(self.message, Message::Varying(_))
    }

    /// Whether each exchange of it carries a trace.
    pub(crate) fn is_traced(&self) -> bool {
        let data = match (self.call(), &self.message) {
            (Some(call), _) => Some(&call.plan.data),
            (None, Message::Varying(varying)) => Some(varying.data()),
            (None, _) => None,
        };
        data.is_some_and(|data| data.renders(TRACEPARENT))
    }

    /// Whether its response is judged by more than the pool's statuses.
    pub(crate) const fn is_looked_at(&self) -> bool {
        self.expect.is_some() || self.inspection.is_some()
    }

    /// How long an exchange of it may take, where any may take `total`.
    #[inline]
    pub(crate) fn limit(&self, total: Nanos) -> Nanos {
        let deadline = self.call().and_then(|call| call.plan.deadline);
        deadline.map_or(total, |deadline| deadline.min(total))
    }
}

/// Why a plan can't be run here and now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrepareError {
    /// A target's name has no address.
    Resolve {
        /// The name.
        host: String,
        /// Why.
        reason: ResolveError,
    },
    /// No source address is of the family of a target's addresses.
    Source {
        /// A source address.
        source: IpAddr,
        /// An address of the target.
        peer: IpAddr,
    },
    /// The plan's guard does not let the load go there.
    Guarded {
        /// The target, as a list of allowed ones would name it.
        host: String,
        /// Its public address.
        address: IpAddr,
    },
    /// TLS can't be set up.
    Tls(TlsSetupError),
    /// A request can't be put on the wire: which one, and why.
    Request(String),
}

impl PrepareError {
    /// The outcome that every request would have had.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Resolve { reason, .. } => Some(match reason {
                ResolveError::NotFound => Outcome::DnsNotFound,
                ResolveError::Failed(_) => Outcome::DnsFailed,
                ResolveError::TimedOut => Outcome::DnsTimeout,
                ResolveError::Empty => Outcome::DnsEmpty,
            }),
            _ => None,
        }
    }
}

impl fmt::Display for PrepareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resolve { host, reason } => write!(
                f,
                "`{}` has no address: {reason}; check the spelling",
                host.escape_default()
            ),
            Self::Source { source, peer } => {
                let family = |address: &IpAddr| if address.is_ipv4() { "IPv4" } else { "IPv6" };
                write!(
                    f,
                    "the source address {source} can't send to {peer}: one is {} and the other {}",
                    family(source),
                    family(peer)
                )
            }
            Self::Guarded { host, address } => write!(
                f,
                "`{}` is at a public address, {address}, and this load is more than \
                 {MODEST_RATE} requests/s or {MODEST_COUNT} requests in all",
                host.escape_default()
            ),
            Self::Tls(error) => error.fmt(f),
            Self::Request(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for PrepareError {}

/// Resolves names, reads certificates and renders requests.
///
/// # Errors
/// When no run of this plan could send anything.
pub fn prepare(plan: Plan, resolver: Arc<Resolver>) -> Result<Prepared, PrepareError> {
    let plan = Arc::new(plan);
    let mut tls = Vec::new();
    let mut pools = Vec::with_capacity(plan.pools().len());
    for (index, pool) in (0..).zip(plan.pools()) {
        let routes = routes_of(pool, &*resolver)?;
        let first = tls.len();
        let moved = |config: Option<usize>| config.map(|config| config + first);
        let proxy_tls = moved(routes.proxy_tls);
        tls.extend(routes.tls);
        let mut list = routes.list;
        for route in &mut list {
            route.tls = moved(route.tls);
            route.proxy_tls = moved(route.proxy_tls);
        }
        let (steps, requests) = requests_of(pool, &list)?;
        pools.push(Arc::new(PreparedPool {
            plan: Arc::clone(&plan),
            id: PoolId(index),
            steps,
            requests,
            routes: list,
            proxy_tls,
            material: routes.material,
            resolver: Arc::clone(&resolver),
        }));
    }
    Ok(Prepared {
        plan,
        pools,
        tls,
        first_stream_id: 1,
    })
}

/// The names of a pool's steps, and its requests as they go on these routes.
fn requests_of(
    pool: &Pool,
    routes: &[Route],
) -> Result<(Vec<Arc<str>>, Vec<Request>), PrepareError> {
    let by_origin: HashMap<&Origin, u16> = routes
        .iter()
        .enumerate()
        .map(|(index, route)| (&route.origin, index as u16))
        .collect();
    let mut steps: Vec<Arc<str>> = Vec::new();
    let mut by_name: HashMap<&str, u16> = HashMap::new();
    let mut requests = Vec::with_capacity(pool.requests.len());
    for request in &pool.requests {
        let route = by_origin[&request.url.origin];
        let step = *by_name.entry(&request.step).or_insert_with(|| {
            // Beyond the last index steps share it; the summary keeps far fewer apart.
            if steps.len() < usize::from(u16::MAX) {
                steps.push(request.step.as_str().into());
            }
            (steps.len() - 1) as u16
        });
        let form = routes[usize::from(route)].form;
        let message = match &request.data {
            None if pool.cookies != Cookies::Ignore && request.call.is_none() => {
                let data = Some(Arc::new(CookiesAlone) as Arc<dyn RequestData>);
                let request = HttpRequest {
                    data,
                    ..request.clone()
                };
                message(pool, &request, form)
            }
            _ => message(pool, request, form),
        };
        let message = message.map_err(|reason| {
            PrepareError::Request(format!("the request to {}: {reason}", request.url))
        })?;
        requests.push(Request {
            message,
            lane: LaneId(route),
            step,
            expect: request.expect,
            inspection: request.inspection.clone(),
        });
    }
    Ok((steps, requests))
}

/// A request in the form that the plan's protocol sends.
///
/// # Errors
/// In words, when it can't be sent so.
pub(crate) fn message(
    pool: &Pool,
    request: &HttpRequest,
    form: TargetForm,
) -> Result<Message, String> {
    let proxied = form == TargetForm::Absolute;
    if let Some(data) = &request.data
        && !(proxied && pool.http.version == HttpVersion::Http2)
    {
        let varying = varying::varying(pool, request, data, form)?;
        return Ok(Message::Varying(Box::new(varying)));
    }
    match (pool.http.version, form) {
        (HttpVersion::Http1, form) => render(pool, request, form).map(Message::Http1),
        (HttpVersion::Http2, TargetForm::Origin) => {
            Ok(Message::Http2(Box::new(stream(pool, request)?)))
        }
        (HttpVersion::Http2, TargetForm::Absolute) => {
            let message = "a proxy carries HTTP/2 to targets of http only through a tunnel: \
                           `proxy_tunnel: true` in a plan";
            Err(message.to_owned())
        }
    }
}
