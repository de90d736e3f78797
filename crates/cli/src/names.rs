//! Names to addresses: by the system's resolver, or, where they are looked up again, by our own
//! queries to the system's name servers, which tell how long an answer holds. And which of them
//! may be loaded.

use drumfire_net::{NameServers, ResolveError, Resolved, in_hosts};
use drumfire_plan::{Reach, Renewal};
use drumfire_units::Nanos;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The addresses of a name, as the plan says that targets are reached.
///
/// # Errors
/// When there is none.
pub(crate) fn resolve(
    reach: &Reach,
    host: &str,
    port: u16,
    timeout: Nanos,
) -> Result<Resolved, ResolveError> {
    if reach.renewal == Renewal::Never {
        return drumfire_net::resolve(host, port, timeout);
    }
    if let Some(server) = reach.name_server {
        return NameServers::one(server).resolve(host, port, timeout);
    }
    // Both files may change while the run goes on. One that can't be read is as good as empty, as
    // it is for the system's resolver.
    let file = |path| fs::read_to_string(path).unwrap_or_default();
    let known = in_hosts(&file("/etc/hosts"), host);
    if !known.is_empty() {
        return Resolved::of(known.into_iter().map(|ip| SocketAddr::new(ip, port)), None);
    }
    NameServers::of_file(&file("/etc/resolv.conf")).resolve(host, port, timeout)
}

/// The file in which a user lists the public hosts that may be loaded, by the XDG convention.
pub(crate) fn allowed_file() -> Option<PathBuf> {
    let given = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let given = given.filter(|folder| folder.is_absolute());
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".config"));
    Some(given.or_else(home)?.join("drumfire/targets"))
}

/// What it says; nothing, where there is none.
pub(crate) fn allowed() -> String {
    let text = allowed_file().and_then(|path| fs::read_to_string(path).ok());
    text.unwrap_or_default()
}
