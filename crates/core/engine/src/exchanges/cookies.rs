//! Cookies of an exchange's user: sent with requests, and stored from responses.
//!
//! A user has one request at a time, so its jar is in the exchange until the exchange is over, and
//! is never shared.
//!
//! A [`Visit`] is noted when a request is rendered, since only then its Host field and its target
//! are known. The cookies of a response are stored for the place of the request that it answers. If
//! a redirect led to that request, [`Visit::move_to`] must be called first; otherwise one host
//! could set cookies for another. The jar does domain and path matching, `Secure` and expiry (RFC
//! 6265 section 5). The time is the time of rendering, for redirects too, so that all requests of
//! one exchange treat a cookie that expires meanwhile alike.

use crate::prepare::{Parts, VaryingRequest};
use crate::wire::Fields;
use drumfire_cookies::{Jar, Site};
use drumfire_plan::{DataError, Header, Host, HttpRequest, RenderedFields, Scheme, Url};
use std::fmt::Write as _;

/// The place that a request was sent to, as cookies see it; reused by the next exchange with the
/// same state.
#[derive(Clone, Debug, Default)]
pub(super) struct Visit {
    /// The name or address of the Host field, without a port.
    host: String,
    path: String,
    is_secure: bool,
    /// The time at which the request was rendered, in seconds since the Unix epoch.
    now: u64,
}

impl Visit {
    /// Notes the place to which a rendered request is sent. The Host field takes precedence over
    /// the URL, as for a browser with that name in its address bar.
    fn note(&mut self, request: &VaryingRequest, planned: &HttpRequest, parts: &Parts, now: u64) {
        let fixed = || planned.headers.iter().find(|header| header.is("host"));
        let host = request.host(parts);
        self.host.clear();
        match host.or_else(|| std::str::from_utf8(fixed()?.value()).ok()) {
            Some(host) => self.host.push_str(name_of(host)),
            None => push_host(&planned.url, &mut self.host),
        }
        self.path.clear();
        let target = request.target(parts);
        self.path.push_str(target.unwrap_or(&planned.url.target));
        self.is_secure = planned.url.origin.scheme == Scheme::Https;
        self.now = now / 1_000_000_000;
    }

    /// Notes that a redirect moves the request to another place.
    pub(super) fn move_to(&mut self, url: &Url) {
        self.host.clear();
        push_host(url, &mut self.host);
        self.path.clone_from(&url.target);
        self.is_secure = url.origin.scheme == Scheme::Https;
    }

    /// Adds the Cookie field to the parts of a request that is being rendered, unless the plan sets
    /// the field.
    ///
    /// # Errors
    /// A text, if a cookie cannot be sent.
    pub(super) fn add_cookies(
        &mut self,
        jar: &mut Jar,
        request: &VaryingRequest,
        planned: &HttpRequest,
        parts: &mut Parts,
        now: u64,
    ) -> Result<(), DataError> {
        self.note(request, planned, parts, now);
        let is_given = |fields: &RenderedFields| fields.find("cookie").is_some();
        if jar.is_empty()
            || planned.headers.iter().any(|header| header.is("cookie"))
            || is_given(parts.fields())
        {
            return Ok(());
        }
        parts.push_cookie(|text| jar.write(self.site(), self.now, text))
    }

    /// Replaces the cookies of a redirected request by the cookies for its new place.
    pub(super) fn replace_cookies(&self, jar: &mut Jar, request: &mut HttpRequest) {
        let mut host = String::new();
        push_host(&request.url, &mut host);
        let site = Site {
            host: &host,
            path: &request.url.target,
            is_secure: request.url.origin.scheme == Scheme::Https,
        };
        let mut text = String::new();
        jar.write(site, self.now, &mut text);
        request.headers.retain(|header| !header.is("cookie"));
        if !text.is_empty() {
            request
                .headers
                .extend(Header::new("Cookie", text.as_bytes()));
        }
    }

    /// Stores the cookies of a response from this place.
    #[cold]
    pub(super) fn store_cookies(&self, jar: &mut Jar, fields: &Fields<'_>) {
        fields.each("set-cookie", |field| {
            jar.store(field, self.site(), self.now);
        });
    }

    fn site(&self) -> Site<'_> {
        Site {
            host: &self.host,
            path: &self.path,
            is_secure: self.is_secure,
        }
    }
}

/// The name of a Host field, without its port; of an IPv6 address, the address without brackets.
fn name_of(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.split(':').next().unwrap_or(host),
    }
}

/// Adds a URL's host in the form that cookies compare.
fn push_host(url: &Url, out: &mut String) {
    match &url.origin.host {
        Host::Name(name) => out.push_str(name),
        // Writing to a string does not fail.
        Host::Address(address) => drop(write!(out, "{address}")),
    }
}
