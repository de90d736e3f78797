//! A cookie with the attributes that decide which requests carry it.

use crate::set_cookie::SetCookie;
use crate::site::{Domain, Site, domain_matches, path_matches};

/// The end of a cookie without an expiry, which lasts until the end of the session.
const END_OF_SESSION: u64 = u64::MAX;

/// A cookie in a field or in a jar.
#[derive(Clone, Copy)]
pub(crate) struct Cookie<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    pub(crate) domain: Domain<'a>,
    pub(crate) path: &'a str,
    pub(crate) is_secure: bool,
    /// The expiry, in seconds since the epoch; from then on, the cookie is expired.
    pub(crate) end: u64,
}

impl<'a> Cookie<'a> {
    /// Parses the cookie in a response of this site. `None` if section 5.7 ignores it, apart from
    /// the rules that depend on other cookies.
    pub(crate) fn parse(field: &'a [u8], site: Site<'a>, now: u64) -> Option<Self> {
        let set = SetCookie::parse(field, now)?;
        if set.is_secure && !site.is_trustworthy() {
            return None;
        }
        let path = match set.path {
            Some(path) if path.starts_with(b"/") => str::from_utf8(path).ok()?,
            _ => site.default_path(),
        };
        let cookie = Self {
            name: set.name,
            value: set.value,
            domain: site.domain(set.domain)?,
            path,
            is_secure: set.is_secure,
            end: set.expiry().unwrap_or(END_OF_SESSION),
        };
        cookie.keeps_prefix(set.path.is_some()).then_some(cookie)
    }

    /// Steps 20 to 22 of section 5.7. Without a name, a value with a prefix would be sent like a
    /// name with the prefix.
    fn keeps_prefix(&self, has_path: bool) -> bool {
        let is_named = !self.name.is_empty();
        let text = if is_named { self.name } else { self.value };
        let begins = |prefix: &str| {
            let start = text.as_bytes().get(..prefix.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
        };
        if begins("__Secure-") {
            is_named && self.is_secure
        } else if begins("__Host-") {
            let is_whole_host = self.domain.is_host_only && has_path && self.path == "/";
            is_named && self.is_secure && is_whole_host
        } else {
            true
        }
    }

    /// Whether one cookie replaces the other (step 23 of section 5.7).
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.name == other.name && self.domain == other.domain && self.path == other.path
    }

    /// Whether this cookie is secure and prevents a site without TLS from setting `other` (step 16
    /// of section 5.7).
    pub(crate) fn shuts_out(&self, other: &Self) -> bool {
        let (own, others) = (self.domain.name, other.domain.name);
        self.is_secure
            && self.name == other.name
            && (domain_matches(own, others) || domain_matches(others, own))
            && path_matches(other.path, self.path)
    }

    /// Whether a request carries the cookie (section 5.8.3).
    pub(crate) fn goes_to(&self, site: Site<'_>) -> bool {
        self.domain.holds(site.host)
            && path_matches(site.request_path(), self.path)
            && (site.is_trustworthy() || !self.is_secure)
    }

    /// Appends the cookie in the form of the Cookie field.
    pub(crate) fn write(&self, out: &mut String) {
        if !self.name.is_empty() {
            out.push_str(self.name);
            out.push('=');
        }
        out.push_str(self.value);
    }

    /// The total length of the cookie's texts, in bytes.
    pub(crate) fn length(&self) -> usize {
        self.name.len() + self.value.len() + self.domain.name.len() + self.path.len()
    }
}
