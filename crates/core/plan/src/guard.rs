//! The guard of targets: only a modest load may go to public addresses of others without
//! permission. A typo in a name must not become an attack.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// The public hosts that may be loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    allowed: Arc<[String]>,
}

impl Guard {
    /// A guard that allows the entries of a file, one per line: a name, `*.name` for all names
    /// below it, an address, or a network (`203.0.113.0/24`); `#` begins a comment.
    #[must_use]
    pub fn of_lines(text: &str) -> Self {
        let lines = text.lines();
        let lines = lines.map(|line| line.split('#').next().unwrap_or_default().trim());
        let lines = lines.filter(|line| !line.is_empty());
        Self {
            allowed: lines.map(str::to_ascii_lowercase).collect(),
        }
    }

    /// Whether a host may be loaded at one of its addresses.
    #[must_use]
    pub fn permits(&self, host: &str, address: IpAddr) -> bool {
        let host = host.to_ascii_lowercase();
        let mut allowed = self.allowed.iter();
        !is_public(address) || allowed.any(|entry| covers(entry, &host, address))
    }
}

/// Whether an entry matches a host or its address.
fn covers(entry: &str, host: &str, address: IpAddr) -> bool {
    if let Some(above) = entry.strip_prefix("*.") {
        return host
            .strip_suffix(above)
            .is_some_and(|head| head.ends_with('.'));
    }
    if let Some((network, length)) = entry.split_once('/') {
        let network = network.parse::<IpAddr>().ok();
        let length = length.parse::<u32>().ok();
        let both = network.zip(length);
        return both.is_some_and(|(network, length)| is_within(address, network, length));
    }
    entry == host || entry.parse::<IpAddr>() == Ok(address)
}

/// Whether the first bits of two addresses are equal.
fn is_within(address: IpAddr, network: IpAddr, length: u32) -> bool {
    match (address, network) {
        (IpAddr::V4(a), IpAddr::V4(b)) => {
            let differ = a.to_bits() ^ b.to_bits();
            length <= Ipv4Addr::BITS
                && differ.checked_shr(Ipv4Addr::BITS - length).unwrap_or(0) == 0
        }
        (IpAddr::V6(a), IpAddr::V6(b)) => {
            let differ = a.to_bits() ^ b.to_bits();
            length <= Ipv6Addr::BITS
                && differ.checked_shr(Ipv6Addr::BITS - length).unwrap_or(0) == 0
        }
        _ => false,
    }
}

/// Whether an address belongs neither to this machine nor to a private network (RFC 6890).
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(ip) => {
            // Between a provider and its customers (RFC 6598).
            let is_shared = ip.octets()[0] == 100 && ip.octets()[1] & 0xc0 == 64;
            !(ip.is_loopback()
                || ip.is_private()
                || ip.is_link_local()
                || ip.is_unspecified()
                || is_shared)
        }
        IpAddr::V6(ip) => {
            !(ip.is_loopback()
                || ip.is_unique_local()
                || ip.is_unicast_link_local()
                || ip.is_unspecified())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permits(guard: &Guard, host: &str, address: &str) -> bool {
        guard.permits(host, address.parse().expect("an address"))
    }

    #[test]
    fn addresses_of_ones_own_are_free() {
        let guard = Guard::default();
        for address in [
            "127.0.0.1",
            "10.1.2.3",
            "172.31.0.1",
            "192.168.1.1",
            "169.254.1.1",
            "100.64.0.1",
            "0.0.0.0",
            "::1",
            "fd00::1",
            "fe80::1",
            "::ffff:10.0.0.1",
        ] {
            assert!(permits(&guard, "any.test", address), "{address}");
        }
        for address in [
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "2001:db8::1",
            "::ffff:8.8.8.8",
        ] {
            assert!(!permits(&guard, "any.test", address), "{address}");
        }
    }

    #[test]
    fn a_list_has_names_and_networks() {
        let guard = Guard::of_lines(
            "# ours\nShop.Test\n*.lab.test   # all of them\n203.0.113.0/24\n2001:db8::/32\n198.51.100.7\n",
        );
        for (host, address) in [
            ("shop.test", "8.8.8.8"),
            ("a.lab.test", "8.8.8.8"),
            ("any", "203.0.113.200"),
            ("any", "2001:db8:1::1"),
            ("any", "198.51.100.7"),
        ] {
            assert!(permits(&guard, host, address), "{host} {address}");
        }
        for (host, address) in [
            ("evilshop.test", "8.8.8.8"),
            ("lab.test", "8.8.8.8"),
            ("evillab.test", "8.8.8.8"),
            ("any", "203.0.114.1"),
            ("any", "2001:db9::1"),
            ("any", "198.51.100.8"),
        ] {
            assert!(!permits(&guard, host, address), "{host} {address}");
        }
        let odd = Guard::of_lines("0.0.0.0/0\n::/99999\n/8\nx/y");
        assert!(permits(&odd, "any", "8.8.8.8"), "every address of IPv4");
        assert!(!permits(&odd, "any", "2001:db8::1"));
    }
}
