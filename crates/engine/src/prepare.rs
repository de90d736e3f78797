//! From a plan to what workers use: bytes, addresses, TLS settings. All allocation happens here.

mod metadata;
mod render;
mod route;
mod stream;

pub use metadata::check_metadata;
pub(crate) use render::{Rendered, TargetForm, USER_AGENT, basic_credentials, render};
pub(crate) use route::{Route, route, routes_of, tls_config};
pub(crate) use stream::{CallRequest, StreamRequest, authority, message_count, stream, too_large};

use drumfire_measure::Outcome;
use drumfire_net::{ResolveError, TlsConfig, TlsSetupError};
use drumfire_plan::{HttpRequest, HttpVersion, Origin, Plan};
use drumfire_units::Nanos;
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

/// Turns a host's name and port into its addresses within a time.
pub type Resolver = dyn Fn(&str, u16, Nanos) -> Result<Vec<SocketAddr>, ResolveError> + Send + Sync;

/// Everything that workers share and none of them changes.
pub struct Prepared {
    /// The plan itself, for its settings.
    pub plan: Arc<Plan>,
    /// The names of the steps, in the order of their indices.
    pub steps: Vec<Arc<str>>,
    /// TLS settings; a route names one by its index.
    pub tls: Vec<TlsConfig>,
    /// The id of the first stream of each connection of HTTP/2, odd. Only a test has a reason to
    /// change it: ids run out after 2³⁰ streams.
    pub first_stream_id: u32,
    pub(crate) requests: Vec<Request>,
    pub(crate) routes: Vec<Route>,
    pub(crate) resolver: Arc<Resolver>,
}

impl Prepared {
    /// How many targets there are, each with connections of its own.
    #[must_use]
    pub fn targets(&self) -> usize {
        self.routes.len()
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("routes", &self.routes)
            .finish_non_exhaustive()
    }
}

/// One request, ready to send.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) rendered: Rendered,
    /// The same for HTTP/2, where the plan speaks that.
    pub(crate) stream: Option<Box<StreamRequest>>,
    /// Where it goes: an index into the routes.
    pub(crate) route: u16,
    /// Whose numbers it adds to: an index into the steps.
    pub(crate) step: u16,
}

impl Request {
    /// The gRPC call that it makes, if it does.
    #[inline]
    pub(crate) fn call(&self) -> Option<&CallRequest> {
        self.stream.as_ref()?.call.as_ref()
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
    let (routes, tls) = routes_of(&plan, &*resolver)?;
    let by_origin: HashMap<&Origin, u16> = routes
        .iter()
        .enumerate()
        .map(|(index, route)| (&route.origin, index as u16))
        .collect();
    let mut steps: Vec<Arc<str>> = Vec::new();
    let mut by_name: HashMap<&str, u16> = HashMap::new();
    let mut requests = Vec::with_capacity(plan.requests.len());
    for request in &plan.requests {
        let route = by_origin[&request.url.origin];
        let step = *by_name.entry(&request.step).or_insert_with(|| {
            // Beyond the last index steps share it; the summary keeps far fewer apart.
            if steps.len() < usize::from(u16::MAX) {
                steps.push(request.step.as_str().into());
            }
            (steps.len() - 1) as u16
        });
        let rendered = rendered(&plan, request, &routes[usize::from(route)])?;
        let stream = streamed(&plan, request, &routes[usize::from(route)])?;
        requests.push(Request {
            rendered,
            stream,
            route,
            step,
        });
    }
    Ok(Prepared {
        steps,
        tls,
        first_stream_id: 1,
        requests,
        routes,
        resolver,
        plan: Arc::new(plan),
    })
}

/// One request for a stream, where the plan speaks HTTP/2.
fn streamed(
    plan: &Plan,
    request: &HttpRequest,
    route: &Route,
) -> Result<Option<Box<StreamRequest>>, PrepareError> {
    if plan.http.version != HttpVersion::Http2 {
        return Ok(None);
    }
    let prepared = if route.form == TargetForm::Absolute {
        Err("a proxy carries HTTP/2 only to https targets".to_owned())
    } else {
        stream(plan, request)
    };
    prepared
        .map(|stream| Some(Box::new(stream)))
        .map_err(|reason| {
            PrepareError::Request(format!("the request to {}: {reason}", request.url))
        })
}

/// One request's bytes, with an error that says whose they would have been.
fn rendered(plan: &Plan, request: &HttpRequest, route: &Route) -> Result<Rendered, PrepareError> {
    render(plan, request, route.form).map_err(|reason| {
        PrepareError::Request(format!("the request to {}: {reason}", request.url))
    })
}
