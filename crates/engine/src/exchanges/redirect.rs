//! Redirects: whether one is followed, and with which request.
//!
//! When a response's head leads elsewhere, [`Next::after`] makes the next request, and
//! [`Follow::lead_to`] keeps it. When the response is over, [`Follow::advance`] makes it the
//! current one; its origin is found, and [`Follow::prepare`] makes it ready to be submitted there.
//! Between the two the exchange is on the worker's list, not on a wire.
//!
//! A server decides where a redirect leads, so it is the one part of a run in which a peer names an
//! address. The plan bounds it: the number of redirects of an exchange, no way from `https` to
//! `http`, only those two schemes; credentials, cookies and fields that the plan marks private stay
//! with their origin. A redirect that the plan forbids is a failure of the exchange
//! ([`Outcome::RedirectBlocked`] or [`Outcome::RedirectLimit`]), never followed in part.
//!
//! The styles differ as browsers (Fetch, "HTTP-redirect fetch") and Go's `net/http` do: which
//! methods become GET, `Referer`, and which Host is sent.

use crate::blame::Failure;
use crate::prepare::{Form, TargetForm, form};
use crate::wire::Fields;
use drumfire_measure::Outcome;
use drumfire_plan::secret::is_secret;
use drumfire_plan::{
    Body, Header, HttpOptions, HttpRequest, JoinError, Method, Origin, Pool, RedirectStyle,
    Redirects, Scheme, Url,
};

/// The redirects of an exchange, beyond its own request.
#[derive(Debug, Default)]
pub(super) struct Follow {
    /// The redirected request under way; `None` while it is the original.
    current: Option<Box<Hop>>,
    /// The request after the current response.
    next: Option<Next>,
}

/// One redirected request.
#[derive(Debug)]
pub(super) struct Hop {
    request: HttpRequest,
    /// The number of the redirect in its exchange, from 1.
    number: u32,
    /// Whether the original request has a `Referer`, which then stays.
    own_referer: bool,
    /// The request as it is sent; `None` until its origin has been looked up.
    form: Option<Form>,
}

/// The continuation of an exchange after a redirect's response.
#[derive(Debug)]
pub(super) enum Next {
    /// Another request is sent.
    Hop(Box<Hop>),
    /// The exchange ends in this failure.
    Refused(Failure),
}

impl Follow {
    /// Keeps what follows after the current response.
    pub(super) fn lead_to(&mut self, next: Next) {
        self.next = Some(next);
    }

    /// Forgets what follows after a response that has failed.
    pub(super) fn forget_next(&mut self) {
        self.next = None;
    }

    /// Whether the exchange goes on with another request, or ends for want of one, when the
    /// response is over.
    #[inline]
    pub(super) const fn leads_on(&self) -> bool {
        self.next.is_some()
    }

    /// Makes the next request the current one.
    ///
    /// # Errors
    /// When the plan follows no such redirect.
    pub(super) fn advance(&mut self) -> Result<(), Failure> {
        match self.next.take() {
            Some(Next::Hop(hop)) => {
                self.current = Some(hop);
                Ok(())
            }
            Some(Next::Refused(failure)) => Err(failure),
            None => Err(Failure::of(Outcome::RedirectBlocked)),
        }
    }

    /// Whether the next request is one that the plan follows.
    pub(super) const fn is_followed(&self) -> bool {
        matches!(self.next, Some(Next::Hop(_)))
    }

    /// Makes the current request ready to be sent, with its target in a form.
    ///
    /// # Errors
    /// When it can't be sent so.
    pub(super) fn prepare(&mut self, pool: &Pool, target: TargetForm) -> Result<(), Failure> {
        if let Some(hop) = &mut self.current {
            let form = form(pool, &hop.request, target)
                .map_err(|reason| Failure::with(Outcome::RedirectBlocked, reason))?;
            hop.form = Some(form);
        }
        Ok(())
    }

    /// The URL of the redirected request under way.
    pub(super) fn url(&self) -> Option<&Url> {
        Some(&self.current.as_ref()?.request.url)
    }

    /// The origin of the redirected request under way.
    pub(super) fn origin(&self) -> Option<&Origin> {
        Some(&self.url()?.origin)
    }

    /// The form of the redirected request under way, if it is ready.
    pub(super) fn form(&self) -> Option<&Form> {
        self.current.as_ref()?.form.as_ref()
    }
}

impl Next {
    /// The continuation after the response to `original`, or to the request that a redirect has led
    /// to before; `None` where the response leads nowhere.
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

    /// The request that is sent next.
    pub(super) fn request_mut(&mut self) -> Option<&mut HttpRequest> {
        match self {
            Self::Hop(hop) => Some(&mut hop.request),
            Self::Refused(_) => None,
        }
    }
}

/// The request that was redirected, be it the plan's own or that of an earlier redirect.
struct Previous<'r> {
    request: &'r HttpRequest,
    /// The number of redirects between it and the plan's own.
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

/// Decides on the response to a request, of a 3xx status; `None` ends the exchange with that
/// response. `location` finds the field of that name, and is called only where it counts.
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
    Some(match redirected(previous, status, location, &pool.http) {
        Ok(request) => Next::Hop(Box::new(Hop {
            request,
            number: previous.number + 1,
            own_referer: previous.own_referer,
            form: None,
        })),
        Err(failure) => Next::Refused(failure),
    })
}

/// The request that a redirect asks for (RFC 9110 section 15.4). Credentials stay with the origin
/// that they were given for, and nothing sent under TLS goes on without.
///
/// The fields that it drops: where the origin changes, those that are secret by name, the Host and
/// those that the plan marks; where the request becomes a GET, those of a body; the Host also where
/// Go's client names a new one.
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
        // No plan could follow what is no reference: the server is to blame.
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
    // A URL that is whole names its host: Go's client gives up the one that it was told.
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
        expect: request.expect,
        inspection: request.inspection.clone(),
    })
}

/// Whether a reference begins with a scheme, and so stands for itself (RFC 3986 section 4.3).
fn has_scheme(reference: &[u8]) -> bool {
    let end = reference.iter().position(|byte| b":/?#".contains(byte));
    end.is_some_and(|end| reference[end] == b':' && reference[0].is_ascii_alphabetic())
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
