//! Redirects: what is followed, with which request, and where to.

use crate::blame::Failure;
use crate::prepare::{PrepareError, Rendered, Route, StreamRequest};
use drumfire_measure::Outcome;
use drumfire_net::TlsConfig;
use drumfire_plan::{
    Body, Header, HttpRequest, JoinError, Method, Origin, Plan, Redirects, Scheme, Url,
};
use drumfire_units::Nanos;
use std::sync::mpsc::{Receiver, TryRecvError};

/// What an exchange does beyond its own request.
#[derive(Debug)]
pub(crate) struct Follow<H> {
    /// The redirected request under way; `None` while it is the original.
    pub(crate) current: Option<H>,
    /// What comes after the current response.
    pub(crate) next: Option<Next>,
}

impl<H> Default for Follow<H> {
    fn default() -> Self {
        Self {
            current: None,
            next: None,
        }
    }
}

/// One redirected request, on a connection of its own.
#[derive(Debug)]
pub(crate) struct Hop {
    pub(crate) request: HttpRequest,
    /// Which redirect of the exchange this is, from 1.
    pub(crate) number: u32,
    pub(crate) rendered: Rendered,
    /// The way to it, where that is not the slot's own.
    pub(crate) detour: Option<Box<Route>>,
}

/// One redirected request, on a stream.
#[derive(Debug)]
pub(crate) struct StreamHop {
    pub(crate) request: HttpRequest,
    /// Which redirect of the exchange this is, from 1.
    pub(crate) number: u32,
    pub(crate) stream: StreamRequest,
}

/// What comes after a redirect's response.
#[derive(Debug)]
pub(crate) enum Next {
    /// Another request.
    Hop(HttpRequest, u32),
    /// The exchange ends in this failure.
    Refused(Failure),
}

/// A name that is being looked up for a slot.
#[derive(Debug)]
pub(crate) struct Resolving {
    pub(crate) slot: u32,
    /// When the exchange that waits for it started: another one is not its business.
    pub(crate) started: Nanos,
    pub(crate) answer: Receiver<LookedUp>,
}

/// What came of looking an origin up: the way to it, and the TLS that it takes.
pub(crate) type LookedUp = Result<(Route, Option<TlsConfig>), PrepareError>;

/// What has come of a look-up by now, with the failure of those who wait for it; `None` while it
/// goes on.
pub(crate) fn found(
    answer: &Receiver<LookedUp>,
) -> Option<Result<(Route, Option<TlsConfig>), Failure>> {
    match answer.try_recv() {
        Err(TryRecvError::Empty) => None,
        Err(TryRecvError::Disconnected) => Some(Err((Outcome::DnsFailed, None))),
        Ok(answer) => Some(answer.map_err(|error| {
            let outcome = error.outcome().unwrap_or(Outcome::TlsProtocol);
            (outcome, Some(error.to_string()))
        })),
    }
}

/// An origin that redirects lead to from streams.
#[derive(Debug)]
pub(crate) struct Elsewhere {
    pub(crate) origin: Origin,
    pub(crate) way: Way,
    /// The groups that lead there: for which group's places, and which.
    pub(crate) groups: Vec<(u32, u32)>,
}

/// How an origin elsewhere is reached.
#[derive(Debug)]
pub(crate) enum Way {
    /// By this lane.
    Lane(u16),
    /// Its name is being looked up, for these places and the exchanges that they began then.
    Sought {
        answer: Receiver<LookedUp>,
        places: Vec<(u32, Nanos)>,
    },
}

/// Decides on the response to a request that is so many redirects from the plan's own; only 3xx
/// statuses come here. `location` finds the field of that name.
pub(crate) fn after_redirect<'h>(
    plan: &Plan,
    (request, number): (&HttpRequest, u32),
    status: u16,
    location: impl FnOnce() -> Option<&'h [u8]>,
) -> Option<Next> {
    let location = match (plan.http.redirects, status) {
        (Redirects::Report, _) => return None,
        (_, 301 | 302 | 303 | 307 | 308) => location()?,
        _ => return None,
    };
    let Redirects::Follow(limit) = plan.http.redirects else {
        return Some(Next::Refused((Outcome::RedirectBlocked, None)));
    };
    if number >= limit {
        return Some(Next::Refused((
            Outcome::RedirectLimit,
            Some(format!("after {limit}")),
        )));
    }
    Some(match redirected(request, status, location) {
        Ok(request) => Next::Hop(request, number + 1),
        Err(reason) => Next::Refused((Outcome::RedirectBlocked, Some(reason))),
    })
}

/// The request that a redirect asks for (RFC 9110 section 15.4). Credentials stay with the origin
/// that they were given for, and nothing sent under TLS goes on without.
fn redirected(request: &HttpRequest, status: u16, location: &[u8]) -> Result<HttpRequest, String> {
    let mut url: Url = request.url.join(location).map_err(|error| match error {
        JoinError::Scheme(scheme) => format!("to the scheme {}", scheme.escape_default()),
        other => other.to_string(),
    })?;
    let same = url.origin == request.url.origin;
    url.userinfo = if same {
        request.url.userinfo.clone()
    } else {
        None
    };
    if request.url.origin.scheme == Scheme::Https && url.origin.scheme == Scheme::Http {
        return Err("from https to http".to_owned());
    }
    let method = request.method.as_str();
    let becomes_get = match status {
        303 => method != "HEAD",
        301 | 302 => method == "POST",
        _ => false,
    };
    let keeps = |header: &&Header| {
        let private = ["authorization", "cookie", "proxy-authorization", "host"];
        let of_body = [
            "content-type",
            "content-length",
            "content-encoding",
            "expect",
        ];
        (same || !private.iter().any(|name| header.is(name)))
            && (!becomes_get || !of_body.iter().any(|name| header.is(name)))
    };
    Ok(HttpRequest {
        url,
        method: if becomes_get {
            Method::get()
        } else {
            request.method.clone()
        },
        headers: request.headers.iter().filter(keeps).cloned().collect(),
        body: if becomes_get {
            Body::default()
        } else {
            request.body.clone()
        },
        step: request.step.clone(),
        call: None,
    })
}
