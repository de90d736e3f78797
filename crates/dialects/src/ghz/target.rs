//! The forms of ghz's host: `host:port`, a name with a resolver before it, a Unix socket.

use drumfire_plan::Url;
use std::path::PathBuf;

/// Where calls go.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Target {
    pub(super) url: Url,
    pub(super) unix_socket: Option<PathBuf>,
}

/// The port where none is given, as gRPC's resolvers have it.
const PORT: u16 = 443;

/// Reads a target; `path` is the path of its URL.
///
/// # Errors
/// In words.
pub(super) fn parse(host: &str, scheme: &str, path: &str) -> Result<Target, String> {
    let at = |authority: &str| {
        Url::parse(&format!("{scheme}://{authority}{path}")).map_err(|error| error.to_string())
    };
    if let Some(socket) = socket(host) {
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
                "there is no resolver `{}`; write host:port, dns:///host:port or unix:///path",
                scheme.escape_debug()
            ));
        }
    };
    let name = match name.strip_prefix(':') {
        Some(port) => format!("localhost:{port}"),
        None => name.to_owned(),
    };
    let after_brackets = name.rsplit(']').next().unwrap_or_default();
    let name = if after_brackets.contains(':') {
        name
    } else {
        format!("{name}:{PORT}")
    };
    Ok(Target {
        url: at(&name)?,
        unix_socket: None,
    })
}

/// The path of a Unix socket.
pub(super) fn socket(host: &str) -> Option<&str> {
    let path = host.strip_prefix("unix:")?;
    Some(path.strip_prefix("//").unwrap_or(path))
}

/// Whether gRPC looks the name up and knows all of its addresses; a plain `host:port` is left to
/// the dialer.
pub(super) fn is_resolved_by_grpc(host: &str) -> bool {
    host.starts_with("dns:")
}

/// A resolver's name before a single colon.
fn resolver(host: &str) -> Option<(&str, &str)> {
    host.split_once(':')
        .filter(|(name, _)| ["dns", "passthrough", "xds"].contains(name))
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
            ("passthrough:///api.test:5", "http://api.test:5/s/m"),
            (":5", "http://localhost:5/s/m"),
        ] {
            let target = parse(host, "http", "/s/m").unwrap();
            assert_eq!(target.url, Url::parse(url).unwrap(), "{host}");
            assert_eq!(target.unix_socket, None);
        }
        for (host, path) in [("unix:///run/a", "/run/a"), ("unix:a/b", "a/b")] {
            let target = parse(host, "http", "/s/m").unwrap();
            assert_eq!(target.unix_socket, Some(PathBuf::from(path)));
        }
        assert!(parse("xds:///a", "http", "/").is_err());
        assert!(parse("a b:1", "http", "/").is_err());
    }
}
