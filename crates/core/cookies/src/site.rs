//! The URL of a request as far as cookies depend on it, with the rules for hosts and paths
//! (sections 5.1.3 and 5.1.4).

use std::net::IpAddr;

/// The URL of a request: its response sets cookies, or it carries them.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The host as in the URL: a name in lower case, or an address without brackets.
    pub host: &'a str,
    /// The path, optionally with a query, which is ignored.
    pub path: &'a str,
    /// Whether the request uses TLS.
    pub is_secure: bool,
}

/// The hosts to which a cookie is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Domain<'a> {
    pub(crate) name: &'a str,
    /// If false, the hosts below the domain match too.
    pub(crate) is_host_only: bool,
}

impl<'a> Site<'a> {
    /// Whether Secure cookies may be set and sent: over TLS, and to loopback addresses, as in
    /// browsers and curl, because loopback traffic does not cross a network.
    pub(crate) fn is_trustworthy(self) -> bool {
        let host = self.host.strip_suffix('.').unwrap_or(self.host);
        let is_loopback = match host.parse::<IpAddr>() {
            Ok(address) => address.to_canonical().is_loopback(),
            Err(_) => host == "localhost" || host.ends_with(".localhost"),
        };
        self.is_secure || is_loopback
    }

    /// The path without the query; `/` if the URL has no path.
    pub(crate) fn request_path(self) -> &'a str {
        let end = self.path.find(['?', '#']).unwrap_or(self.path.len());
        let path = &self.path[..end];
        if path.starts_with('/') { path } else { "/" }
    }

    /// The default Path of a cookie: the request's path up to, but not including, its last `/`.
    pub(crate) fn default_path(self) -> &'a str {
        let path = self.request_path();
        match path.rfind('/') {
            Some(end @ 1..) => &path[..end],
            _ => "/",
        }
    }

    /// The domain of a Domain attribute, which may be empty (section 5.6.3, and steps 7 to 10 of
    /// section 5.7); `None` if this host may not set cookies for it.
    pub(crate) fn domain(self, attribute: &[u8]) -> Option<Domain<'a>> {
        let own = Domain {
            name: self.host,
            is_host_only: true,
        };
        let asked = attribute.strip_prefix(b".").unwrap_or(attribute);
        // In URLs, an address with colons has brackets, so servers may write them here too.
        let bare = asked.strip_prefix(b"[").and_then(|a| a.strip_suffix(b"]"));
        let asked = bare.unwrap_or(asked);
        if asked.is_empty() {
            return Some(own);
        }
        let start = self.host.len().checked_sub(asked.len())?;
        let name = self.host.get(start..)?;
        // The slice of the host, unlike the attribute, is in lower case.
        if !asked.is_ascii() || !name.as_bytes().eq_ignore_ascii_case(asked) {
            return None;
        }
        let is_suffix_public = !is_dotted_inside(name);
        if start == 0 {
            return Some(Domain {
                is_host_only: is_suffix_public,
                ..own
            });
        }
        (!is_suffix_public && domain_matches(self.host, name)).then_some(Domain {
            name,
            is_host_only: false,
        })
    }
}

impl Domain<'_> {
    /// The first condition of section 5.8.3.
    pub(crate) fn holds(self, host: &str) -> bool {
        host == self.name || !self.is_host_only && domain_matches(host, self.name)
    }
}

/// Whether a dot is between two labels. `com` and `com.` have no such dot, and count as public
/// suffixes.
fn is_dotted_inside(name: &str) -> bool {
    name.trim_matches('.').contains('.')
}

/// Domain matching (section 5.1.3). Addresses have no hosts below them.
pub(crate) fn domain_matches(host: &str, domain: &str) -> bool {
    let Some(before) = host.strip_suffix(domain) else {
        return false;
    };
    before.is_empty() || before.ends_with('.') && host.parse::<IpAddr>().is_err()
}

/// Path matching (section 5.1.4): an equal path, or a path below.
pub(crate) fn path_matches(request_path: &str, cookie_path: &str) -> bool {
    request_path.strip_prefix(cookie_path).is_some_and(|below| {
        below.is_empty() || below.starts_with('/') || cookie_path.ends_with('/')
    })
}
