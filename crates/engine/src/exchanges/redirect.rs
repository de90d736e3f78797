//! Redirects: whether one is followed, and with which request.

use super::Exchanges;
use crate::blame::Failure;
use crate::id::ExchangeId;
use crate::prepare::{Message, TargetForm, message};
use crate::wire::Fields;
use drumfire_measure::Outcome;
use drumfire_plan::secret::is_secret;
use drumfire_plan::{
    Body, Header, HttpRequest, HttpVersion, JoinError, Method, Origin, Pool, RedirectStyle,
    Redirects, Scheme, Url,
};
use std::sync::Arc;

/// The redirects of an exchange, beyond its own request.
#[derive(Debug, Default)]
pub(super) struct Follow {
    /// The redirected request under way; `None` while it is the original.
    pub(super) current: Option<Box<Hop>>,
    /// The request after the current response.
    pub(super) next: Option<Next>,
}

/// One redirected request.
#[derive(Debug)]
pub(super) struct Hop {
    pub(super) request: HttpRequest,
    /// Which redirect of the exchange this is, from 1.
    number: u32,
    /// Whether the original request has a `Referer`, which then stays.
    own_referer: bool,
    /// The request; `None` until its origin has been looked up.
    pub(super) message: Option<Message>,
}

/// The next request after a redirect's response.
#[derive(Debug)]
pub(super) enum Next {
    /// Another request.
    Hop(Box<Hop>),
    /// The exchange ends in this failure.
    Refused(Failure),
}

impl Follow {
    /// The redirected request's message, where there is one.
    pub(super) fn message(&self) -> Option<&Message> {
        self.current.as_ref()?.message.as_ref()
    }
}

impl Exchanges {
    /// Notes where a redirect leads, which is followed when its response is over.
    #[cold]
    pub(super) fn note_redirect(&mut self, id: ExchangeId, status: u16, fields: Fields<'_>) {
        if self.prepared.pool().http.redirects == Redirects::Report {
            return;
        }
        let own = match self.own_request(id) {
            Ok(own) => own,
            Err(error) => {
                let follow = self.get_mut(id).follow.get_or_insert_default();
                follow.next = Some(Next::Refused(error.into()));
                return;
            }
        };
        let pool = self.prepared.pool();
        let exchange = &mut self.list[id.index()];
        let original = &pool.requests[exchange.task.request as usize];
        let hop = exchange
            .follow
            .as_ref()
            .and_then(|follow| follow.current.as_ref());
        let previous = match hop {
            Some(hop) => Previous {
                request: &hop.request,
                number: hop.number,
                own_referer: hop.own_referer,
            },
            None => Previous::original(own.as_ref().unwrap_or(original)),
        };
        let location = || fields.find("location");
        if let Some(mut next) = after_redirect(pool, &previous, status, location) {
            if let Next::Hop(hop) = &mut next {
                exchange.add_cookies_to(&mut hop.request);
            }
            exchange.follow.get_or_insert_default().next = Some(next);
        }
    }

    /// Makes the request that an exchange's response leads to its own.
    ///
    /// # Errors
    /// When the plan follows no such redirect.
    pub(crate) fn follow(&mut self, id: ExchangeId) -> Result<(), Failure> {
        let next = self.get_mut(id).follow.get_or_insert_default().next.take();
        match next {
            Some(Next::Hop(hop)) => {
                if self.records.wants_hops() {
                    self.transcribe_hop(id);
                }
                self.get_mut(id).follow.get_or_insert_default().current = Some(hop);
                Ok(())
            }
            Some(Next::Refused(failure)) => Err(failure),
            None => Err(Failure::of(Outcome::RedirectBlocked)),
        }
    }

    /// The origin that an exchange is on its way to.
    pub(crate) fn heads_for(&self, id: ExchangeId) -> Option<Origin> {
        let follow = self.get(id).follow.as_ref()?;
        let hop = follow.current.as_ref()?;
        Some(hop.request.url.origin.clone())
    }

    /// Makes a redirected exchange ready to be submitted, with its target in a form.
    ///
    /// # Errors
    /// When its request can't be sent so.
    pub(crate) fn prepare_hop(&mut self, id: ExchangeId, form: TargetForm) -> Result<(), Failure> {
        let prepared = Arc::clone(&self.prepared);
        let exchange = self.get_mut(id);
        exchange.begin_attempt();
        if prepared.pool().http.version == HttpVersion::Http2 {
            exchange.resends = 0;
        }
        let Some(hop) = exchange
            .follow
            .as_mut()
            .and_then(|follow| follow.current.as_mut())
        else {
            return Ok(());
        };
        let message = message(prepared.pool(), &hop.request, form)
            .map_err(|reason| Failure::with(Outcome::RedirectBlocked, reason))?;
        hop.message = Some(message);
        Ok(())
    }
}

/// The request that was redirected.
struct Previous<'r> {
    request: &'r HttpRequest,
    /// How many redirects it is away from the plan's own.
    number: u32,
    own_referer: bool,
}

impl<'r> Previous<'r> {
    fn original(request: &'r HttpRequest) -> Self {
        Self {
            request,
            number: 0,
            own_referer: request.headers.iter().any(|header| header.is("referer")),
        }
    }
}

/// Decides on the response to a request. Only 3xx statuses come here. `location` finds the field of that name.
fn after_redirect<'h>(
    pool: &Pool,
    previous: &Previous<'_>,
    status: u16,
    location: impl FnOnce() -> Option<&'h [u8]>,
) -> Option<Next> {
    let location = match (pool.http.redirects, status) {
        (Redirects::Report, _) => return None,
        (_, 301 | 302 | 303 | 307 | 308) => location()?,
        _ => return None,
    };
    // Go takes an empty one for none; it is a reference to the same URL.
    if pool.http.redirect_style == RedirectStyle::Go && location.is_empty() {
        return None;
    }
    let Redirects::Follow(limit) = pool.http.redirects else {
        return Some(Next::Refused(Failure::of(Outcome::RedirectBlocked)));
    };
    if previous.number >= limit {
        let reason = format!("after {limit}");
        return Some(Next::Refused(Failure::with(Outcome::RedirectLimit, reason)));
    }
    let style = pool.http.redirect_style;
    Some(match redirected(previous, status, location, style) {
        Ok(request) => Next::Hop(Box::new(Hop {
            request,
            number: previous.number + 1,
            own_referer: previous.own_referer,
            message: None,
        })),
        Err(reason) => Next::Refused(Failure::with(Outcome::RedirectBlocked, reason)),
    })
}

/// The request that a redirect asks for (RFC 9110 section 15.4). Credentials stay with the origin
/// that they were given for, and nothing sent under TLS goes on without.
fn redirected(
    previous: &Previous<'_>,
    status: u16,
    location: &[u8],
    style: RedirectStyle,
) -> Result<HttpRequest, String> {
    let request = previous.request;
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
    let becomes_get = becomes_get(request.method.as_str(), status, style);
    let keeps = |header: &&Header| {
        let is_private = |header: &Header| is_secret(header.name()) || header.is("host");
        (same || !is_private(header))
            && (!becomes_get || !OF_BODY.iter().any(|name| header.is(name)))
    };
    let mut headers: Vec<Header> = request.headers.iter().filter(keeps).cloned().collect();
    if style == RedirectStyle::Go && !previous.own_referer {
        headers.retain(|header| !header.is("referer"));
        headers.extend(referer(request));
    }
    Ok(HttpRequest {
        url,
        method: if becomes_get {
            Method::get()
        } else {
            request.method.clone()
        },
        headers,
        body: if becomes_get {
            Body::default()
        } else {
            request.body.clone()
        },
        step: request.step.clone(),
        data: None,
        call: None,
        expect: request.expect,
        inspection: request.inspection.clone(),
    })
}

/// Fields that describe a body, which go with it.
const OF_BODY: [&str; 6] = [
    "content-type",
    "content-length",
    "content-encoding",
    "content-language",
    "content-location",
    "expect",
];

/// Whether the redirected request is a GET without a body.
fn becomes_get(method: &str, status: u16, style: RedirectStyle) -> bool {
    match (status, style) {
        (303, _) | (301 | 302, RedirectStyle::Go) => method != "HEAD",
        (301 | 302, RedirectStyle::Fetch) => method == "POST",
        _ => false,
    }
}

/// `Referer` with the URL of a request, without user and fragment (RFC 9110 section 10.1.3).
fn referer(request: &HttpRequest) -> Option<Header> {
    Header::new("Referer", request.url.to_string().as_bytes()).ok()
}
