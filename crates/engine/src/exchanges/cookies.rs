//! Cookies of an exchange's user: sent with its requests, and taken from their responses.
//!
//! A user has one request at a time, so that its jar lies in the exchange until that is over, and
//! is never shared.
//!
//! A [`Visit`] is noted when a request is rendered, since only then its Host field and its target
//! are known. The cookies of a response are stored under the place of the request that it answers:
//! where a redirect has led to that request, [`Visit::move_to`] comes first, or one host could
//! plant cookies under another's name. Domain and path matching, `Secure` and expiry (RFC 6265
//! section 5) are the jar's. The time is that of rendering, for redirects too, so that all requests
//! of one exchange agree about a cookie that expires meanwhile.

use crate::prepare::{Parts, VaryingRequest};
use crate::wire::Fields;
use drumfire_cookies::{Jar, Site};
use drumfire_plan::{DataError, Header, Host, HttpRequest, RenderedFields, Scheme, Url};
use std::fmt::Write as _;

/// The place that a request was sent to, as cookies see it; kept for the next exchange with the
/// state.
#[derive(Clone, Debug, Default)]
pub(super) struct Visit {
    /// The name or address of the Host field, without a port.
    host: String,
    path: String,
    is_secure: bool,
    /// The time at which it was rendered, in seconds since the Unix epoch.
    now: u64,
}

impl Visit {
    /// Notes the place to which a rendered request is sent. The Host field decides over the URL, as
    /// it does for a browser that has that name in its address bar.
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

    /// Notes that the request under way goes to another place, to which a redirect has led.
    pub(super) fn move_to(&mut self, url: &Url) {
        self.host.clear();
        push_host(url, &mut self.host);
        self.path.clone_from(&url.target);
        self.is_secure = url.origin.scheme == Scheme::Https;
    }

    /// Adds the Cookie field to the parts of a request that is rendered, unless the plan gives it
    /// one.
    ///
    /// # Errors
    /// In words, when a cookie can't be sent.
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

    /// Puts the cookies of a redirected request in place of those of the request before.
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

    /// Keeps the cookies of the response that came from this place.
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

/// The name of a Host field, without its port and without brackets; the address within them of
/// IPv6.
fn name_of(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.split(':').next().unwrap_or(host),
    }
}

/// Adds a URL's host as cookies compare it.
fn push_host(url: &Url, out: &mut String) {
    match &url.origin.host {
        Host::Name(name) => out.push_str(name),
        // Writing to a string does not fail.
        Host::Address(address) => drop(write!(out, "{address}")),
    }
}
