//! Splits and joins URLs, as Go's `net/url` does.

use super::arguments::{map, text};
use crate::call::Call;
use crate::fault::Fault;
use crate::function::Row;
use crate::quote::quoted;
use crate::value::{Map, Value};
use std::fmt::Write as _;

pub(super) const FUNCTIONS: &[Row] = &[("urlJoin", "m", url_join), ("urlParse", "s", url_parse)];

/// The parts of a URL, decoded as in Go.
#[derive(Debug, Default)]
struct Parts {
    scheme: String,
    opaque: String,
    userinfo: Option<String>,
    host: String,
    path: String,
    query: String,
    fragment: String,
}

fn url_parse(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let given = text(args, 0);
    call.bytes(given.len().saturating_mul(2))?;
    call.values(16)?;
    let parts = parse(given)
        .map_err(|reason| format!("unable to parse url: parse {}: {reason}", quoted(given)))?;
    let hostname = hostname(&parts.host).to_owned();
    let entries = [
        ("scheme", parts.scheme),
        ("host", parts.host),
        ("hostname", hostname),
        ("path", parts.path),
        ("query", parts.query),
        ("opaque", parts.opaque),
        ("fragment", parts.fragment),
        ("userinfo", parts.userinfo.unwrap_or_default()),
    ];
    Ok(Value::dictionary(
        entries.map(|(key, value)| (key, value.into())),
    ))
}

fn parse(given: &str) -> Result<Parts, String> {
    if given.bytes().any(|byte| byte < b' ' || byte == 0x7F) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    let (rest, fragment) = given.split_once('#').unwrap_or((given, ""));
    let (scheme, rest) = scheme(rest)?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut parts = Parts {
        scheme: scheme.to_ascii_lowercase(),
        query: query.to_owned(),
        fragment: unescape(fragment, Place::Elsewhere)?,
        ..Parts::default()
    };
    if !rest.starts_with('/') {
        if !parts.scheme.is_empty() {
            parts.opaque = rest.to_owned();
            return Ok(parts);
        }
        // A colon in the first segment would look like a scheme.
        if rest
            .split('/')
            .next()
            .is_some_and(|first| first.contains(':'))
        {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let triple = rest.starts_with("///");
    let mut path = rest;
    if let Some(behind) = rest.strip_prefix("//")
        && (!parts.scheme.is_empty() || !triple)
    {
        let end = behind.find('/').unwrap_or(behind.len());
        let (authority, after) = behind.split_at(end);
        let (userinfo, host) = match authority.rsplit_once('@') {
            Some((userinfo, host)) => (Some(userinfo), host),
            None => (None, authority),
        };
        parts.userinfo = userinfo.map(canonical_userinfo).transpose()?;
        parts.host = self::host(host)?;
        path = after;
    }
    parts.path = unescape(path, Place::Elsewhere)?;
    Ok(parts)
}

/// The scheme and the text after its colon; the scheme is empty if the text does not start with one.
fn scheme(text: &str) -> Result<(&str, &str), String> {
    for (at, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at == 0 => return Ok(("", text)),
            '0'..='9' | '+' | '-' | '.' => {}
            ':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            ':' => return Ok((&text[..at], &text[at + 1..])),
            _ => return Ok(("", text)),
        }
    }
    Ok(("", text))
}

fn host(host: &str) -> Result<String, String> {
    if let Some(address) = host.strip_prefix('[') {
        let Some((_, port)) = address.rsplit_once(']') else {
            return Err("missing ']' in host".to_owned());
        };
        check_port(port)?;
        return Ok(host.to_owned());
    }
    if let Some(colon) = host.rfind(':') {
        check_port(&host[colon..])?;
    }
    unescape(host, Place::Host)
}

fn check_port(port: &str) -> Result<(), String> {
    let right = match port.strip_prefix(':') {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_digit()),
        None => port.is_empty(),
    };
    match right {
        true => Ok(()),
        false => Err(format!("invalid port {} after host", quoted(port))),
    }
}

fn hostname(host: &str) -> &str {
    if let Some((inside, _)) = host.strip_prefix('[').and_then(|body| body.split_once(']')) {
        return inside;
    }
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Host,
    Elsewhere,
}

fn unescape(text: &str, place: Place) -> Result<String, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            let code = text.get(at + 1..at + 3);
            let value = code.filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
            let Some(value) = value.and_then(|code| u8::from_str_radix(code, 16).ok()) else {
                let end = text.len().min(at + 3);
                let shown = String::from_utf8_lossy(&bytes[at..end]);
                return Err(format!("invalid URL escape {}", quoted(&shown)));
            };
            if place == Place::Host && value < 0x80 && value != b'%' {
                let shown = &text[at..at + 3];
                return Err(format!("invalid URL escape {}", quoted(shown)));
            }
            out.push(value);
            at += 3;
            continue;
        }
        if place == Place::Host
            && matches!(
                bytes[at],
                b' ' | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}'
            )
        {
            let c = text[at..]
                .chars()
                .next()
                .map(String::from)
                .unwrap_or_default();
            return Err(format!("invalid character {} in host name", quoted(&c)));
        }
        out.push(bytes[at]);
        at += 1;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Decodes a user and a password, and encodes them again.
fn canonical_userinfo(text: &str) -> Result<String, String> {
    let right = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    if !text.bytes().all(right) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let (user, password) = match text.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (text, None),
    };
    let mut out = escape(&unescape(user, Place::Elsewhere)?, b"-_.~$&+,;=");
    if let Some(password) = password {
        out.push(':');
        out.push_str(&escape(
            &unescape(password, Place::Elsewhere)?,
            b"-_.~$&+,;=",
        ));
    }
    Ok(out)
}

fn escape(text: &str, kept: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn url_join(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let map = map(args, 0);
    let part = |key: &str| part(map, key);
    let (scheme, host, path) = (part("scheme")?, part("host")?, part("path")?);
    let (query, opaque) = (part("query")?, part("opaque")?);
    let (fragment, userinfo) = (part("fragment")?, part("userinfo")?);
    let mut out = String::new();
    if !scheme.is_empty() {
        out.push_str(&scheme);
        out.push(':');
    }
    if !opaque.is_empty() {
        out.push_str(&opaque);
    } else {
        let has_authority = !host.is_empty() || !userinfo.is_empty();
        if has_authority || (!scheme.is_empty() && path.starts_with("//")) {
            out.push_str("//");
        }
        if !userinfo.is_empty() {
            let userinfo = canonical_userinfo(&userinfo).map_err(|reason| {
                let url = quoted(&format!("proto://{userinfo}@host"));
                format!("unable to parse userinfo in dict: parse {url}: {reason}")
            })?;
            out.push_str(&userinfo);
            out.push('@');
        }
        out.push_str(&escape(&host, b"-_.~!$&'()*+,;=:[]<>\""));
        let path = escape(&path, b"-_.~$&+,/:;=@!'()*[]");
        if !path.is_empty() && !path.starts_with('/') && !host.is_empty() {
            out.push('/');
        }
        let first = path.split('/').next().unwrap_or_default();
        if out.is_empty() && first.contains(':') {
            out.push_str("./");
        }
        out.push_str(&path);
    }
    if !query.is_empty() {
        out.push('?');
        out.push_str(&query);
    }
    if !fragment.is_empty() {
        out.push('#');
        out.push_str(&escape(&fragment, b"-_.~$&+,/:;=?@!()*"));
    }
    call.text(out)
}

/// The value of a part; an error if it is not a string.
fn part(map: Option<&Map>, key: &str) -> Result<String, Fault> {
    match map.and_then(|map| map.value(key)) {
        None => Ok(String::new()),
        Some(Value::Str(text)) => Ok(text.as_ref().to_owned()),
        Some(other) => {
            let kind = other.kind_name();
            let message =
                format!("unable to parse {key} key, must be of type string, but {kind} found");
            Err(message.into())
        }
    }
}
