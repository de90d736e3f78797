//! Cookies of an exchange's user: sent with its requests, and taken from their responses.
//!
//! A user has one request at a time, so that its jar lies in the exchange until that is over, and
//! is never shared.

use super::{Exchange, Exchanges};
use crate::id::ExchangeId;
use crate::prepare::{Parts, VaryingRequest};
use crate::wire::Fields;
use drumfire_cookies::{Jar, Site};
use drumfire_plan::{DataError, Header, Host, HttpRequest, RenderedFields, Scheme, Url};
use std::fmt::Write as _;

/// Where a request has gone, as cookies see it; kept for the next exchange with the id.
#[derive(Clone, Debug, Default)]
pub(super) struct Visit {
    /// The name or address of the Host field, without a port.
    host: String,
    path: String,
    is_secure: bool,
    /// When it was rendered, in seconds since the Unix epoch.
    now: u64,
}

impl Visit {
    /// Notes where a rendered request goes.
    fn note(&mut self, request: &VaryingRequest, planned: &HttpRequest, parts: &Parts, now: u64) {
        let varying = request.varying;
        let given = parts.fields.find("host").filter(|_| varying.host);
        let fixed = || planned.headers.iter().find(|header| header.is("host"));
        self.host.clear();
        match given.or_else(|| std::str::from_utf8(fixed()?.value()).ok()) {
            Some(host) => self.host.push_str(name_of(host)),
            None => push_host(&planned.url, &mut self.host),
        }
        self.path.clear();
        self.path.push_str(match varying.target {
            true => &parts.target,
            false => &planned.url.target,
        });
        self.is_secure = planned.url.origin.scheme == Scheme::Https;
        self.now = now / 1_000_000_000;
    }

    fn site(&self) -> Site<'_> {
        Site {
            host: &self.host,
            path: &self.path,
            is_secure: self.is_secure,
        }
    }
}

/// The name of a Host field, without its port and without brackets.
fn name_of(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.split(':').next().unwrap_or(host),
    }
}

fn push_host(url: &Url, out: &mut String) {
    match &url.origin.host {
        Host::Name(name) => out.push_str(name),
        // Writing to a string does not fail.
        Host::Address(address) => drop(write!(out, "{address}")),
    }
}

/// Appends the Cookie field of a request that is rendered, unless the plan gives it one.
///
/// # Errors
/// In words, when a cookie can't be sent.
pub(super) fn add_cookies(
    jar: &mut Jar,
    visit: &mut Visit,
    request: &VaryingRequest,
    planned: &HttpRequest,
    parts: &mut Parts,
    now: u64,
) -> Result<(), DataError> {
    visit.note(request, planned, parts, now);
    let is_given = |fields: &RenderedFields| fields.find("cookie").is_some();
    if jar.is_empty() || planned.headers.iter().any(|h| h.is("cookie")) || is_given(&parts.fields) {
        return Ok(());
    }
    // What no longer varies is in the bytes, so that the text is free.
    let mut text = std::mem::take(&mut parts.cookie);
    text.clear();
    jar.write(visit.site(), visit.now, &mut text);
    let pushed = match text.is_empty() {
        true => Ok(()),
        false => parts.fields.push("cookie", &text),
    };
    parts.cookie = text;
    pushed
}

impl Exchange {
    /// Puts the cookies of a redirected request in place of those of the request before.
    pub(super) fn add_cookies_to(&mut self, request: &mut HttpRequest) {
        let (Some(jar), Some(own)) = (&mut self.belongings.jar, &self.own) else {
            return;
        };
        let mut host = String::new();
        push_host(&request.url, &mut host);
        let site = Site {
            host: &host,
            path: &request.url.target,
            is_secure: request.url.origin.scheme == Scheme::Https,
        };
        let mut text = String::new();
        jar.write(site, own.visit.now, &mut text);
        request.headers.retain(|header| !header.is("cookie"));
        if !text.is_empty() {
            request
                .headers
                .extend(Header::new("Cookie", text.as_bytes()));
        }
    }
}

impl Exchanges {
    /// Keeps the cookies of a response, from the request that a redirect has led to or its own.
    #[cold]
    pub(super) fn store_cookies(&mut self, id: ExchangeId, fields: &Fields<'_>) {
        let exchange = &mut self.list[id.index()];
        let (Some(jar), Some(own)) = (&mut exchange.belongings.jar, &mut exchange.own) else {
            return;
        };
        let visit = &mut own.visit;
        let follow = exchange.follow.as_ref();
        if let Some(hop) = follow.and_then(|follow| follow.current.as_ref()) {
            let url = &hop.request.url;
            visit.host.clear();
            push_host(url, &mut visit.host);
            visit.path.clone_from(&url.target);
            visit.is_secure = url.origin.scheme == Scheme::Https;
        }
        let (site, now) = (visit.site(), visit.now);
        fields.each("set-cookie", |field| {
            jar.store(field, site, now);
        });
    }
}
