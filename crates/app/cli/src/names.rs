//! Resolves names to addresses. Names that are resolved only once use the system's resolver. Names
//! that are resolved again use our own queries to the system's name servers, which return how long
//! an answer is valid. The module also reads which public hosts may be loaded.

use drumfire_net::{NameServers, ResolveError, Resolved, in_hosts};
use drumfire_plan::{Reach, Renewal};
use drumfire_units::Nanos;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The addresses of a name, resolved as the plan specifies.
///
/// # Errors
/// If the name has no address or cannot be resolved.
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
    // Both files may change during the run. A file that cannot be read counts as empty, as in the
    // system's resolver.
    let file = |path| fs::read_to_string(path).unwrap_or_default();
    let known = in_hosts(&file("/etc/hosts"), host);
    if !known.is_empty() {
        return Resolved::from_addresses(
            known.into_iter().map(|ip| SocketAddr::new(ip, port)),
            None,
        );
    }
    NameServers::of_file(&file("/etc/resolv.conf")).resolve(host, port, timeout)
}

/// The file in which a user lists the public hosts that may be loaded, following the XDG
/// convention.
pub(crate) fn allowed_file() -> Option<PathBuf> {
    let given = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let given = given.filter(|folder| folder.is_absolute());
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".config"));
    Some(given.or_else(home)?.join("drumfire/targets"))
}

/// The content of that file, or an empty text if the file does not exist.
pub(crate) fn allowed() -> String {
    let text = allowed_file().and_then(|path| fs::read_to_string(path).ok());
    text.unwrap_or_default()
}
