//! The forms of ghz's host: `host:port`, a name after a resolver, a Unix socket.

use drumfire_plan::Url;
use std::borrow::Cow;
use std::path::PathBuf;

/// The destination of calls.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Target {
    pub(super) url: Url,
    pub(super) unix_socket: Option<PathBuf>,
}

/// The default port, as in gRPC's resolvers.
const PORT: u16 = 443;

/// Parses a target; `path` is the path of its URL.
///
/// # Errors
/// A message on the mistake.
pub(super) fn parse(host: &str, scheme: &str, path: &str) -> Result<Target, String> {
    let host = &*with_small_scheme(host);
    let at = |authority: &str| {
        Url::parse(&format!("{scheme}://{authority}{path}")).map_err(|error| error.to_string())
    };
    if let Some(socket) = socket(host) {
        // Two slashes are followed by an authority, which must be empty for a socket.
        let has_authority = host.starts_with("unix://") && !socket.starts_with('/');
        if socket.is_empty() || has_authority {
            let host = host.escape_debug();
            return Err(format!("`{host}` is not a socket path; use unix:///path"));
        }
        return Ok(Target {
            url: at("localhost")?,
            unix_socket: Some(PathBuf::from(socket)),
        });
    }
    let name = match host.split_once(":///").or_else(|| resolver(host)) {
        None => host,
        Some(("dns" | "passthrough", name)) => name,
        Some((scheme, _)) => {
            return Err(format!(
                "unknown resolver `{}`; use host:port, dns:///host:port or unix:///path",
                scheme.escape_debug()
            ));
        }
    };
    // Other parts of a URL are not allowed in a host.
    if let Some(c) = name.chars().find(|c| "/?#@".contains(*c)) {
        let host = host.escape_debug();
        return Err(format!("`{c}` in host `{host}`; use host:port"));
    }
    Ok(Target {
        url: at(&authority(name)?)?,
        unix_socket: None,
    })
}

/// The authority of a URL for a name with or without a port.
fn authority(name: &str) -> Result<String, String> {
    let after_brackets = name.rfind(']').map_or(0, |at| at + 1);
    let (host, port) = match name[after_brackets..].rsplit_once(':') {
        Some((rest, port)) => (&name[..after_brackets + rest.len()], Some(port)),
        None => (name, None),
    };
    let number = |port: &str| port.parse::<u16>().ok().filter(|number| *number > 0);
    let port = match port {
        None => PORT,
        Some(port) => number(port).ok_or_else(|| {
            let port = port.escape_debug();
            format!("`{port}` is not a port; use a number from 1 to 65535, or omit it for {PORT}")
        })?,
    };
    // Go's dialer accepts brackets around any address.
    let bare = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let host = match bare {
        Some(bare) if !bare.contains(':') => bare,
        _ if host.is_empty() => "localhost",
        _ => host,
    };
    Ok(format!("{host}:{port}"))
}

/// The path of a Unix socket.
pub(super) fn socket(host: &str) -> Option<&str> {
    let (scheme, path) = host.split_once(':')?;
    let path = scheme.eq_ignore_ascii_case("unix").then_some(path)?;
    Some(path.strip_prefix("//").unwrap_or(path))
}

/// The host with the name of its resolver in lower case; gRPC ignores its case.
fn with_small_scheme(host: &str) -> Cow<'_, str> {
    const KNOWN: [&str; 5] = ["dns", "passthrough", "unix", "unix-abstract", "xds"];
    match host.split_once(':') {
        Some((name, rest)) if KNOWN.iter().any(|known| known.eq_ignore_ascii_case(name)) => {
            Cow::Owned(format!("{}:{rest}", name.to_ascii_lowercase()))
        }
        _ => Cow::Borrowed(host),
    }
}

/// Whether gRPC looks up the name and knows all of its addresses; a plain `host:port` is resolved
/// by the dialer.
pub(super) fn is_resolved_by_grpc(host: &str) -> bool {
    with_small_scheme(host).starts_with("dns:")
}

/// A resolver's name before a single colon.
fn resolver(host: &str) -> Option<(&str, &str)> {
    host.split_once(':')
        .filter(|(name, _)| ["dns", "passthrough", "xds", "unix-abstract"].contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_as_grpc_reads_them() {
        for (host, url) in [
            ("127.0.0.1:50051", "http://127.0.0.1:50051/s/m"),
            ("0.0.0.0:50051", "http://0.0.0.0:50051/s/m"),
            ("api.test", "http://api.test:443/s/m"),
            ("[::1]:5", "http://[::1]:5/s/m"),
            ("[::1]", "http://[::1]:443/s/m"),
            ("dns:///api.test:5", "http://api.test:5/s/m"),
            ("dns:api.test:5", "http://api.test:5/s/m"),
            ("DNS:///api.test:5", "http://api.test:5/s/m"),
            ("passthrough:///api.test:5", "http://api.test:5/s/m"),
            (":5", "http://localhost:5/s/m"),
            ("[127.0.0.1]:5", "http://127.0.0.1:5/s/m"),
        ] {
            let target = parse(host, "http", "/s/m").unwrap();
            assert_eq!(target.url, Url::parse(url).unwrap(), "{host}");
            assert_eq!(target.unix_socket, None);
        }
        for (host, path) in [
            ("unix:///run/a", "/run/a"),
            ("unix:a/b", "a/b"),
            ("Unix:///run/a", "/run/a"),
        ] {
            let target = parse(host, "http", "/s/m").unwrap();
            assert_eq!(target.unix_socket, Some(PathBuf::from(path)));
        }
        for (host, error) in [
            ("xds:///a", "unknown resolver `xds`; "),
            ("unix-abstract:a", "unknown resolver `unix-abstract`; "),
            ("unix:", "`unix:` is not a socket path; "),
            ("unix://a/b", "`unix://a/b` is not a socket path; "),
            ("a b:1", "byte 8 of URL "),
            ("user@a:1", "`@` in host `user@a:1`; "),
            ("a:1/b", "`/` in host `a:1/b`; "),
            ("https://a:1", "`/` in host `https://a:1`; "),
            ("dns://a/b:1", "`/` in host `dns://a/b:1`; "),
            ("a:http", "`http` is not a port; "),
            ("a:", "`` is not a port; "),
            (
                "a:0",
                "`0` is not a port; use a number from 1 to 65535, or omit it for 443",
            ),
            ("::1:5", "write the IPv6 address in brackets: "),
        ] {
            let found = parse(host, "http", "/").map(drop).unwrap_err();
            assert!(found.starts_with(error), "{host}: {found}");
        }
    }
}
