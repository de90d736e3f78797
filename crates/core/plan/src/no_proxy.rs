//! Targets that are reached without a proxy, as in the variable `no_proxy`.
//!
//! The rules are those that curl and Go's `httpproxy` share, plus the additional rules of each if
//! they do not conflict. A name covers all names below it, `*.name` only those below. Addresses,
//! networks, a port after any of them, and `*` are allowed as well.

use crate::{Host, Origin};
use std::net::IpAddr;

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoProxy {
    hosts: Hosts,
    /// The port; `None` means any port.
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    All,
    /// A name in lower case and all names below it.
    Name(String),
    /// The names below a name in lower case.
    Below(String),
    /// The addresses with the same first bits, with the number of bits.
    Network(IpAddr, u8),
}

impl NoProxy {
    /// Parses a rule.
    ///
    /// # Errors
    /// If the text is not a rule; the message explains the syntax.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (hosts, port) = split_port(text);
        let parsed = hosts_of(hosts).zip(match port {
            None => Some(None),
            Some(port) => port.parse().ok().map(Some),
        });
        let Some((hosts, port)) = parsed else {
            return Err(format!(
                "`{text}` is not a host; write a name, `*.name`, an address or a network such as \
                 10.0.0.0/8, with or without `:port`, or `*`"
            ));
        };
        Ok(Self { hosts, port })
    }

    /// Whether an origin is reached without the proxy.
    #[must_use]
    pub fn covers(&self, origin: &Origin) -> bool {
        if self.port.is_some_and(|port| port != origin.port) {
            return false;
        }
        match (&self.hosts, &origin.host) {
            (Hosts::All, _) => true,
            (Hosts::Name(name), Host::Name(host)) => {
                host.trim_end_matches('.') == name || is_below(host, name)
            }
            (Hosts::Below(name), Host::Name(host)) => is_below(host, name),
            (Hosts::Network(network, bits), Host::Address(address)) => {
                begins(*address, *network, *bits)
            }
            _ => false,
        }
    }
}

/// A rule and its port, if it has one. A colon inside an IPv6 address does not start a port.
fn split_port(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once(':') {
        Some((hosts, port)) if hosts.ends_with(']') || !hosts.contains(':') => (hosts, Some(port)),
        _ => (text, None),
    }
}

fn hosts_of(text: &str) -> Option<Hosts> {
    if text == "*" {
        return Some(Hosts::All);
    }
    let inside = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let bare = inside.unwrap_or(text);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Some(Hosts::Network(address, bits(address)));
    }
    if let Some((network, prefix)) = text.split_once('/') {
        let network = network.parse::<IpAddr>().ok()?;
        let prefix = prefix
            .parse()
            .ok()
            .filter(|prefix| *prefix <= bits(network))?;
        return Some(Hosts::Network(network, prefix));
    }
    let (name, is_below) = match text.strip_prefix("*.") {
        Some(name) => (name, true),
        None => (text.strip_prefix('.').unwrap_or(text), false),
    };
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut labels = name.split('.');
    let is_name = labels.all(|label| !label.is_empty() && label.chars().all(is_letter));
    // A URL's host with such a last label is an address, so that no host would match.
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit());
    (is_name && !is_number).then_some(match is_below {
        true => Hosts::Below(name),
        false => Hosts::Name(name),
    })
}

fn is_below(host: &str, name: &str) -> bool {
    let head = host.trim_end_matches('.').strip_suffix(name);
    head.is_some_and(|head| head.len() > 1 && head.ends_with('.'))
}

const fn bits(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// Whether two addresses of the same kind share this number of bits.
fn begins(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    let (one, other, all) = match (address, network) {
        (IpAddr::V4(one), IpAddr::V4(other)) => (one.to_bits().into(), other.to_bits().into(), 32),
        (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits(), other.to_bits(), 128),
        _ => return false,
    };
    let differing: u128 = one ^ other;
    differing.checked_shr(all - u32::from(bits)).unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Url;

    #[test]
    fn rules_cover_what_they_name() {
        for (rule, covered, others) in [
            ("*", &["http://a.b/", "http://1.2.3.4/"][..], &[][..]),
            (
                "Example.com",
                &["http://example.com/", "https://a.example.com:8443/"],
                &["http://notexample.com/", "http://com/"],
            ),
            (
                ".example.com",
                &["http://example.com/", "http://a.b.example.com/"],
                &["http://xexample.com/"],
            ),
            (
                "*.localhost",
                &["http://a.localhost/"],
                &["http://localhost/"],
            ),
            (
                "a.test:8080",
                &["http://a.test:8080/", "http://b.a.test:8080/"],
                &["http://a.test/"],
            ),
            (
                "127.0.0.0/8",
                &["http://127.9.9.9/"],
                &["http://128.0.0.1/", "http://localhost/"],
            ),
            ("0.0.0.0/0", &["http://9.9.9.9/"], &["http://[::1]/"]),
            ("10.1.2.3", &["http://10.1.2.3:9/"], &["http://10.1.2.4/"]),
            (
                "10.1.2.3:80",
                &["http://10.1.2.3/"],
                &["http://10.1.2.3:81/"],
            ),
            (
                "::1",
                &["http://[::1]/"],
                &["http://[::2]/", "http://0.0.0.1/"],
            ),
            ("[::1]", &["http://[::1]/"], &["http://[::2]/"]),
            ("[::1]:8080", &["http://[::1]:8080/"], &["http://[::1]/"]),
            ("fd00::/8", &["http://[fdab::1]/"], &["http://[fe00::1]/"]),
        ] {
            let parsed = NoProxy::parse(rule).expect(rule);
            let covers = |url: &&str| parsed.covers(&Url::parse(url).expect(url).origin);
            assert!(covered.iter().all(covers), "{rule}");
            assert!(!others.iter().any(covers), "{rule}");
        }
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for rule in [
            "",
            "a b",
            "10.0.0.0/33",
            "10.0.0/8",
            "a..b",
            "http://a/",
            "a:b",
            "a:99999",
            "a*",
            "fd00::/129",
            "{a}",
            "[::1",
            "::1]",
            "[[::1]]",
            "192.168.",
            "10.1.2.3-10.1.2.9",
        ] {
            assert!(NoProxy::parse(rule).is_err(), "{rule}");
        }
    }
}
