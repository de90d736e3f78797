//! Hosts and ports inside a URL.

use super::shorten;
use crate::{Host, Scheme, UrlError};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The maximum length of a name, 253 bytes, and of a label, 63 (RFC 1035 section 2.3.4).
const NAME_MAX: usize = 253;
const LABEL_MAX: usize = 63;

/// Parses `host` or `host:port`; an empty port means the scheme's default (RFC 3986 section 3.2.3).
pub(crate) fn parse(text: &str, scheme: Scheme) -> Result<(Host, Option<u16>), UrlError> {
    if let Some(inside) = text.strip_prefix('[') {
        let (address, rest) = inside.split_once(']').ok_or_else(|| {
            UrlError::new(format!("`{}` has no closing bracket `]`", shorten(text)))
        })?;
        let host = Host::Address(IpAddr::V6(address_v6(address)?));
        return match (rest, rest.strip_prefix(':')) {
            ("", _) => Ok((host, None)),
            (_, Some(port)) => Ok((host, parse_port(port, scheme)?)),
            (_, None) => Err(UrlError::new(format!(
                "unexpected `{}` after the bracket of the address; write `:port` or `/path`",
                shorten(rest)
            ))),
        };
    }
    let (name, port) = text.split_once(':').unwrap_or((text, ""));
    if port.contains(':') {
        return Err(if text.parse::<Ipv6Addr>().is_ok() {
            UrlError::new(format!(
                "write the IPv6 address in brackets: `{}://[{text}]/`",
                scheme.as_str()
            ))
        } else {
            UrlError::new(format!(
                "`{}` has more than one colon; write `host:port`, with an IPv6 address in brackets",
                shorten(text)
            ))
        });
    }
    Ok((parse_name(name)?, parse_port(port, scheme)?))
}

fn parse_port(text: &str, scheme: Scheme) -> Result<Option<u16>, UrlError> {
    if text.is_empty() {
        return Ok(None);
    }
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    match text.parse::<u16>() {
        Ok(port) if digits && port > 0 => Ok(Some(port)),
        _ => Err(UrlError::new(format!(
            "`{}` is not a port; write a number from 1 to 65535, or leave it out for {}",
            shorten(text),
            scheme.default_port()
        ))),
    }
}

fn address_v6(text: &str) -> Result<Ipv6Addr, UrlError> {
    if let Some((address, zone)) = text.split_once('%') {
        return Err(UrlError::new(format!(
            "zone `%{}` of the IPv6 address is not supported; write `[{}]`, and select the \
             interface by a source address",
            shorten(zone),
            shorten(address)
        )));
    }
    text.parse().map_err(|_| {
        UrlError::new(format!(
            "`{}` is not an IPv6 address; write one such as [::1]",
            shorten(text)
        ))
    })
}

fn parse_name(text: &str) -> Result<Host, UrlError> {
    if text.is_empty() {
        return Err(UrlError::new(
            "the URL has no host; write http://host:port/path",
        ));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if let Some(wrong) = text.chars().find(|&c| !allowed(c)) {
        let right = if wrong.is_ascii() {
            "use only letters, digits, `-`, `_` and `.`"
        } else {
            "write the name in its ASCII form, with labels that start with `xn--`"
        };
        return Err(UrlError::new(format!(
            "invalid character `{}` in host `{}`; {right}",
            wrong.escape_debug(),
            shorten(text)
        )));
    }
    let labels = text.strip_suffix('.').unwrap_or(text);
    let last = labels.rsplit('.').next().unwrap_or_default();
    if number(last).is_some() || last.bytes().all(|b| b.is_ascii_digit()) && !last.is_empty() {
        return address_v4(text).map(|address| Host::Address(IpAddr::V4(address)));
    }
    let fits = |label: &str| (1..=LABEL_MAX).contains(&label.len());
    if labels.len() > NAME_MAX || !labels.split('.').all(fits) {
        return Err(UrlError::new(format!(
            "`{}` is not a host name; a label has 1 to {LABEL_MAX} characters, and a name at most \
             {NAME_MAX}",
            shorten(text)
        )));
    }
    Ok(Host::Name(text.to_ascii_lowercase()))
}

/// An address in its usual form. Other forms, such as `127.1` or `0x7f000001`, mean different hosts
/// in different programs and are rejected.
fn address_v4(text: &str) -> Result<Ipv4Addr, UrlError> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    Err(UrlError::new(match unusual_v4(text) {
        Some(address) => format!(
            "`{}` is an unusual form of {address}; write {address}",
            shorten(text)
        ),
        None => format!(
            "`{}` is not an IPv4 address; write four numbers from 0 to 255, such as 127.0.0.1",
            shorten(text)
        ),
    }))
}

/// A text as the C library's `inet_aton` reads it: one to four numbers in decimal, octal or
/// hexadecimal, the last of which fills all remaining bytes.
fn unusual_v4(text: &str) -> Option<Ipv4Addr> {
    let numbers: Option<Vec<u32>> = text
        .strip_suffix('.')
        .unwrap_or(text)
        .split('.')
        .map(number)
        .collect();
    let numbers = numbers?;
    let (&last, leading) = numbers.split_last()?;
    let remaining = 4_usize.checked_sub(leading.len()).filter(|&n| n > 0)?;
    let bits = 8 * u32::try_from(remaining).ok()?;
    if u64::from(last) >> bits != 0 || leading.iter().any(|&n| n > 255) {
        return None;
    }
    let front = leading
        .iter()
        .fold(0_u64, |sum, &n| sum << 8 | u64::from(n));
    u32::try_from(front << bits | u64::from(last))
        .ok()
        .map(Ipv4Addr::from_bits)
}

/// A number in C's notation.
fn number(text: &str) -> Option<u32> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, base) = match (hex, text.strip_prefix('0')) {
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) if !digits.is_empty() => (digits, 8),
        _ => (text, 10),
    };
    if digits.starts_with('+') {
        return None;
    }
    u32::from_str_radix(digits, base).ok()
}
