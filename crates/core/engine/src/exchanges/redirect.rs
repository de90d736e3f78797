//! Redirects: whether a redirect is followed, and with which request.
//!
//! When a response's head is a redirect, [`Next::after`] makes the next request, and
//! [`Follow::lead_to`] keeps it. When the response is over, [`Follow::advance`] makes it the
//! current request; its origin is looked up, and [`Follow::prepare`] prepares the request for
//! submission there. In between, the exchange is on the worker's list, not on a wire.
//!
//! A redirect is the only part of a run in which a peer chooses an address, so the plan bounds it:
//! the number of redirects per exchange is limited, `https` never leads to `http`, other schemes
//! are refused, and credentials, cookies and fields that the plan marks private stay with their
//! origin. A redirect that the plan forbids fails the exchange ([`Outcome::RedirectBlocked`] or
//! [`Outcome::RedirectLimit`]) and is never followed in part.
//!
//! The styles follow browsers (Fetch, "HTTP-redirect fetch") and Go's `net/http`. They differ in
//! the methods that become GET, in `Referer`, and in the Host that is sent.

use crate::blame::Failure;
use crate::prepare::{Form, TargetForm, form};
use crate::wire::Fields;
use drumfire_measure::Outcome;
use drumfire_plan::secret::is_secret;
use drumfire_plan::{
    Body, Header, HttpOptions, HttpRequest, JoinError, Method, Origin, Pool, RedirectStyle,
    Redirects, Scheme, Url,
};

/// The redirects of an exchange after its original request.
#[derive(Debug, Default)]
pub(super) struct Follow {
    /// The current redirected request; `None` for the original request.
    current: Option<Box<RedirectedRequest>>,
    /// The request to send after the current response.
    next: Option<Next>,
}

/// One redirected request.
#[derive(Debug)]
pub(super) struct RedirectedRequest {
    request: HttpRequest,
    /// The number of the redirect in its exchange, from 1.
    number: u32,
    /// Whether the original request has a `Referer`, which then stays.
    own_referer: bool,
    /// The request in its sendable form; `None` until its origin has been looked up.
    form: Option<Form>,
}

/// How an exchange continues after a redirect response.
#[derive(Debug)]
pub(super) enum Next {
    /// Send another request.
    Hop(Box<RedirectedRequest>),
    /// End the exchange with this failure.
    Refused(Failure),
}

impl Follow {
    /// Keeps what follows the current response.
    pub(super) fn lead_to(&mut self, next: Next) {
        self.next = Some(next);
    }

    /// Forgets what would follow a response that has failed.
    pub(super) fn forget_next(&mut self) {
        self.next = None;
    }

    /// Whether a redirect follows the current response: another request, or a refusal that ends the
    /// exchange.
    #[inline]
    pub(super) const fn leads_on(&self) -> bool {
        self.next.is_some()
    }

    /// Makes the next request the current one.
    ///
    /// # Errors
    /// If the plan does not follow such a redirect.
    pub(super) fn advance(&mut self) -> Result<(), Failure> {
        match self.next.take() {
            Some(Next::Hop(hop)) => {
                self.current = Some(hop);
                Ok(())
            }
            Some(Next::Refused(failure)) => Err(failure),
            None => Err(Failure::from_outcome(Outcome::RedirectBlocked)),
        }
    }

    /// Whether the next request is one that the plan follows.
    pub(super) const fn is_followed(&self) -> bool {
        matches!(self.next, Some(Next::Hop(_)))
    }

    /// Prepares the current request for sending, with its target in this form.
    ///
    /// # Errors
    /// If the request cannot be sent in this form.
    pub(super) fn prepare(&mut self, pool: &Pool, target: TargetForm) -> Result<(), Failure> {
        if let Some(hop) = &mut self.current {
            let form = form(pool, &hop.request, target)
                .map_err(|reason| Failure::with(Outcome::RedirectBlocked, reason))?;
            hop.form = Some(form);
        }
        Ok(())
    }

    /// The URL of the current redirected request.
    pub(super) fn url(&self) -> Option<&Url> {
        Some(&self.current.as_ref()?.request.url)
    }

    /// The origin of the current redirected request.
    pub(super) fn origin(&self) -> Option<&Origin> {
        Some(&self.url()?.origin)
    }

    /// The form of the current redirected request, if it is prepared.
    pub(super) fn form(&self) -> Option<&Form> {
        self.current.as_ref()?.form.as_ref()
    }
}

impl Next {
    /// How the exchange continues after the response to `original`, or to the current redirected
    /// request; `None` if the response is not a redirect.
    pub(super) fn after(
        follow: Option<&Follow>,
        pool: &Pool,
        original: &HttpRequest,
        status: u16,
        fields: Fields<'_>,
    ) -> Option<Self> {
        let previous = match follow.and_then(|follow| follow.current.as_ref()) {
            Some(hop) => Previous {
                request: &hop.request,
                number: hop.number,
                own_referer: hop.own_referer,
            },
            None => Previous::original(original),
        };
        let location = || fields.find("location");
        after_redirect(pool, &previous, status, location)
    }

    /// The request to send next.
    pub(super) fn request_mut(&mut self) -> Option<&mut HttpRequest> {
        match self {
            Self::Hop(hop) => Some(&mut hop.request),
            Self::Refused(_) => None,
        }
    }
}

/// The request that was redirected: the plan's own request, or an earlier redirected one.
struct Previous<'r> {
    request: &'r HttpRequest,
    /// The number of redirects up to this request; 0 for the plan's own.
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

/// Handles a 3xx response to a request; `None` ends the exchange with that response. `location`
/// finds the Location field, and is called only if the field matters.
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
    // Go treats an empty Location as absent; by the RFC it is a reference to the same URL.
    if pool.http.redirect_style == RedirectStyle::Go && location.is_empty() {
        return None;
    }
    let Redirects::Follow(limit) = pool.http.redirects else {
        return Some(Next::Refused(Failure::from_outcome(
            Outcome::RedirectBlocked,
        )));
    };
    if previous.number >= limit {
        let reason = format!("after {limit}");
        return Some(Next::Refused(Failure::with(Outcome::RedirectLimit, reason)));
    }
    Some(match redirected(previous, status, location, &pool.http) {
        Ok(request) => Next::Hop(Box::new(RedirectedRequest {
            request,
            number: previous.number + 1,
            own_referer: previous.own_referer,
            form: None,
        })),
        Err(failure) => Next::Refused(failure),
    })
}

/// The request for a redirect (RFC 9110 section 15.4). Credentials stay with their origin, and
/// nothing sent over TLS is sent again without it.
///
/// These fields are dropped: if the origin changes, secret fields, the Host and the fields that the
/// plan marks; if the request becomes a GET, the fields of a body; also the Host if Go's client
/// replaces it.
fn redirected(
    previous: &Previous<'_>,
    status: u16,
    location: &[u8],
    options: &HttpOptions,
) -> Result<HttpRequest, Failure> {
    let blocked = |reason| Failure::with(Outcome::RedirectBlocked, reason);
    let style = options.redirect_style;
    let request = previous.request;
    let mut url: Url = request.url.join(location).map_err(|error| match error {
        JoinError::Scheme(scheme) => blocked(format!("to the scheme {}", scheme.escape_default())),
        // A malformed reference cannot be followed by any plan: the server is to blame.
        malformed => Failure::with(Outcome::ProtoHeader, format!("Location: {malformed}")),
    })?;
    let same = url.origin == request.url.origin;
    url.userinfo = if same {
        request.url.userinfo.clone()
    } else {
        None
    };
    if request.url.origin.scheme == Scheme::Https && url.origin.scheme == Scheme::Http {
        return Err(blocked("from https to http".to_owned()));
    }
    let becomes_get = becomes_get(request.method.as_str(), status, style);
    // An absolute URL contains its host: Go's client then drops the Host that it was given.
    let names_host = style == RedirectStyle::Go && has_scheme(location);
    let keeps = |header: &&Header| {
        let is_marked = |header: &Header| {
            let mut marked = options.private_headers.iter();
            marked.any(|name| header.is(name))
        };
        let is_private =
            |header: &Header| is_secret(header.name()) || header.is("host") || is_marked(header);
        let is_lost = !same && is_private(header)
            || names_host && header.is("host")
            || becomes_get && OF_BODY.iter().any(|name| header.is(name));
        !is_lost
    };
    let mut headers: Vec<Header> = request.headers.iter().filter(keeps).cloned().collect();
    if style == RedirectStyle::Go && !previous.own_referer {
        headers.retain(|header| !header.is("referer"));
        headers.extend(referer(request));
    }
    Ok(HttpRequest {
        timeout: request.timeout,
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
        events: request.events,
        socket: None,
        expect: request.expect,
        inspection: request.inspection.clone(),
    })
}

/// Whether a reference begins with a scheme, and so is absolute (RFC 3986 section 4.3).
fn has_scheme(reference: &[u8]) -> bool {
    let end = reference.iter().position(|byte| b":/?#".contains(byte));
    end.is_some_and(|end| reference[end] == b':' && reference[0].is_ascii_alphabetic())
}

/// Fields that describe a body and are dropped with it.
const OF_BODY: [&str; 6] = [
    "content-type",
    "content-length",
    "content-encoding",
    "content-language",
    "content-location",
    "expect",
];

/// Whether the redirected request becomes a GET without a body.
fn becomes_get(method: &str, status: u16, style: RedirectStyle) -> bool {
    match (status, style) {
        (303, _) | (301 | 302, RedirectStyle::Go) => method != "HEAD",
        (301 | 302, RedirectStyle::Fetch) => method == "POST",
        _ => false,
    }
}

/// A `Referer` field with the URL of a request, without user and fragment (RFC 9110 section
/// 10.1.3).
fn referer(request: &HttpRequest) -> Option<Header> {
    Header::new("Referer", request.url.to_string().as_bytes()).ok()
}
