//! How requests travel, from flags and the environment.

use super::parsed;
use crate::exit::Failure;
use crate::flags::TransportFlags;
use crate::input;
use drumfire_net::{TlsConfig, TlsOptions, TlsSetupError, TlsVerify, is_own_address};
use drumfire_plan::{
    Connections, Host, HttpOptions, KeepAlive, KeepAliveHints, Pem, Ping, Proxy, Resumption,
    ReusedClosed, Scheme, Timeouts, Tls, Url, Verify,
};
use drumfire_units::Nanos;
use std::env;
use std::net::IpAddr;
use std::path::Path;

/// Settings of the transport and its timeouts.
pub(crate) fn options(
    flags: &TransportFlags,
    urls: &[Url],
) -> Result<(HttpOptions, Timeouts), Failure> {
    let pem = |flag: &str, path: Option<&Path>| -> Result<Option<Pem>, Failure> {
        path.map(|path| input::file(flag, path).map(Pem::from))
            .transpose()
    };
    let cert = pem("--cert", flags.cert.as_deref())?;
    let key = pem("--key", flags.key.as_deref())?;
    let tls = Tls {
        verify: if flags.insecure {
            Verify::No
        } else {
            Verify::Yes
        },
        server_name: None,
        ca_pem: pem("--cacert", flags.cacert.as_deref())?,
        identity_pem: cert.zip(key),
        resumption: if flags.full_handshakes {
            Resumption::Full
        } else {
            Resumption::Resume
        },
    };
    check_tls(flags, &tls)?;
    check_sources(&flags.source_ip)?;
    let http = HttpOptions {
        tls,
        proxy: proxy(flags, urls)?,
        resolve: flags
            .resolve
            .iter()
            .map(|text| resolve(text))
            .collect::<Result<_, _>>()?,
        source_addresses: flags.source_ip.clone(),
        unix_socket: flags.unix_socket.clone(),
        ..HttpOptions::default()
    };
    Ok((http, timeouts(flags)?))
}

/// Finds files of no use before anything is sent, also where no target speaks TLS.
fn check_tls(flags: &TransportFlags, tls: &Tls) -> Result<(), Failure> {
    let reason = |roots: Option<&[u8]>, identity| {
        let options = TlsOptions {
            name: "localhost",
            roots,
            identity,
            verify: roots.map_or(TlsVerify::No, |_| TlsVerify::Yes),
            alpn: &[],
            resume: false,
        };
        TlsConfig::new(&options).err().map(|error| match error {
            TlsSetupError::Roots(text) | TlsSetupError::Identity(text) => text,
            other => other.to_string(),
        })
    };
    if let (Some(path), Some(pem)) = (&flags.cacert, &tls.ca_pem)
        && let Some(reason) = reason(Some(pem), None)
    {
        let path = path.display();
        return Err(Failure::usage(format!(
            "--cacert: can't use {path}: {reason}"
        )));
    }
    if let (Some(cert), Some(key)) = (&flags.cert, &flags.key)
        && let Some((chain, private)) = &tls.identity_pem
        && let Some(reason) = reason(None, Some((&**chain, &**private)))
    {
        let (cert, key) = (cert.display(), key.display());
        return Err(Failure::usage(format!(
            "--cert: can't use {cert} with --key {key}: {reason}"
        )));
    }
    Ok(())
}

/// An address that this machine does not have would fail every connection, as if ports ran out.
fn check_sources(addresses: &[IpAddr]) -> Result<(), Failure> {
    match addresses.iter().find(|address| !is_own_address(**address)) {
        Some(foreign) => Err(Failure::usage(format!(
            "--source-ip: {foreign} is not an address of this machine; `ip address` lists its own"
        ))),
        None => Ok(()),
    }
}

fn timeouts(flags: &TransportFlags) -> Result<Timeouts, Failure> {
    let total = timeout("--timeout", &flags.timeout)?;
    Ok(Timeouts {
        total,
        connect: timeout("--connect-timeout", &flags.connect_timeout)?,
        tls: timeout("--tls-timeout", &flags.tls_timeout)?,
        head: match &flags.head_timeout {
            None => total,
            Some(text) => timeout("--head-timeout", text)?,
        },
    })
}

/// A timeout; 0 is none.
fn timeout(flag: &str, text: &str) -> Result<Nanos, Failure> {
    let time: Nanos = parsed(flag, text)?;
    Ok(if time == Nanos::ZERO {
        Nanos::MAX
    } else {
        time
    })
}

/// What the transport flags say about connections.
pub(crate) fn adjust(flags: &TransportFlags, connections: &mut Connections) -> Result<(), Failure> {
    connections.keep_alive = match (flags.no_keepalive, flags.requests_per_connection) {
        (true, _) => KeepAlive::No,
        (false, Some(0)) => {
            return Err(Failure::usage(
                "--requests-per-connection: it must be at least 1",
            ));
        }
        (false, Some(limit)) => KeepAlive::AtMost(limit),
        (false, None) => KeepAlive::Yes,
    };
    if flags.retry_reused {
        connections.reused_closed = ReusedClosed::Retry;
    }
    if flags.respect_keepalive {
        connections.hints = KeepAliveHints::Respect;
    }
    if let Some(after) = &flags.ping {
        connections.ping = Some(Ping {
            after: parsed("--ping", after)?,
            timeout: parsed("--ping-timeout", &flags.ping_timeout)?,
        });
    }
    connections.backoff_max = parsed("--connect-backoff", &flags.connect_backoff)?;
    Ok(())
}

/// `HOST:PORT:ADDRESS`, the address with or without brackets.
fn resolve(text: &str) -> Result<(String, u16, IpAddr), Failure> {
    let wrong = || {
        Failure::usage(format!(
            "--resolve: `{}` is not HOST:PORT:ADDRESS, such as api.test:443:127.0.0.1",
            text.escape_default()
        ))
    };
    let (host, rest) = text.split_once(':').ok_or_else(wrong)?;
    let (port, address) = rest.split_once(':').ok_or_else(wrong)?;
    let address = address.trim_start_matches('[').trim_end_matches(']');
    let port = port.parse().map_err(|_| wrong())?;
    Ok((host.to_owned(), port, address.parse().map_err(|_| wrong())?))
}

/// The proxy that a flag names, or the environment for targets that are not this machine.
fn proxy(flags: &TransportFlags, urls: &[Url]) -> Result<Option<Proxy>, Failure> {
    if let Some(text) = &flags.proxy {
        return parse_proxy("-x", text, Vec::new()).map(Some);
    }
    let Some(first) = urls.first() else {
        return Ok(None);
    };
    let names: &[&str] = match first.origin.scheme {
        // The upper-case form of http_proxy is left to CGI, which fills it from a header.
        Scheme::Http => &["http_proxy"],
        Scheme::Https => &["https_proxy", "HTTPS_PROXY"],
    };
    let find = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()))
    };
    let upper = || find(&["HTTP_PROXY"]).filter(|_| env::var_os("REQUEST_METHOD").is_none());
    let found = match first.origin.scheme {
        Scheme::Http => find(names).or_else(upper),
        Scheme::Https => find(names),
    };
    match found {
        Some(text) if !urls.iter().all(is_loopback) => {
            let bypass = find(&["no_proxy", "NO_PROXY"]).unwrap_or_default();
            let mut rules: Vec<String> = bypass
                .split(',')
                .map(|rule| rule.trim().to_owned())
                .collect();
            rules.retain(|rule| !rule.is_empty());
            rules.extend(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
            parse_proxy("the proxy in the environment", &text, rules).map(Some)
        }
        _ => Ok(None),
    }
}

fn parse_proxy(origin: &str, text: &str, bypass: Vec<String>) -> Result<Proxy, Failure> {
    let text = if text.contains("://") {
        text.to_owned()
    } else {
        format!("http://{text}")
    };
    let url = Url::parse(&text).map_err(|error| Failure::usage(format!("{origin}: {error}")))?;
    if url.origin.scheme == Scheme::Https {
        return Err(Failure::usage(format!(
            "{origin}: proxies are reached by http://, also for https:// targets"
        )));
    }
    Ok(Proxy { url, bypass })
}

/// Whether a URL's host is this machine, which is never reached through a proxy of the
/// environment.
fn is_loopback(url: &Url) -> bool {
    match &url.origin.host {
        Host::Name(name) => name == "localhost" || name.ends_with(".localhost"),
        Host::Address(address) => address.is_loopback(),
    }
}
