//! Options that are settings of the whole plan.

use crate::exchange::{ImportedRequests, placed};

/// The maximum number of redirects with `-L`.
const REDIRECTS: &str = "50";

/// A flag that is a setting of the plan; whether it was one.
pub(super) fn setting(name: &str, value: &str, all: &mut ImportedRequests) -> bool {
    let text = || Some(placed(value.to_owned()));
    let defaults = &mut all.document.defaults;
    match name {
        "--insecure" => defaults.tls.insecure = Some(placed(true)),
        "--cacert" => defaults.tls.cacert = text(),
        "--cert" => {
            let (file, password) = value.split_once(':').unwrap_or((value, ""));
            defaults.tls.cert = Some(placed(file.to_owned()));
            if !password.is_empty() {
                all.note("the password of `--cert` is not imported".to_owned());
            }
        }
        "--key" => defaults.tls.key = text(),
        "--compressed" => defaults.http.compressed = Some(placed("true".to_owned())),
        "--location" => defaults.http.redirects = Some(placed(REDIRECTS.to_owned())),
        "--http2" | "--http2-prior-knowledge" => {
            defaults.http.http = Some(placed("2".to_owned()));
        }
        "--http1.1" => defaults.http.http = Some(placed("1".to_owned())),
        "--proxy" => match value.split_once("://") {
            Some((scheme, _)) if !matches!(scheme, "http" | "https") => all.note(format!(
                "`--proxy {scheme}://…` is not imported: drumfire supports HTTP proxies only"
            )),
            _ => defaults.reach.proxy = text(),
        },
        "--unix-socket" => defaults.reach.unix_socket = text(),
        "--resolve" => match addresses(value) {
            Some(given) => defaults.reach.resolve.extend(given.map(placed)),
            None => all.note(format!("`--resolve {value}` is not imported")),
        },
        "--max-time" | "--connect-timeout" => match seconds(value) {
            Some(time) if name == "--max-time" => defaults.timeouts.timeout = Some(placed(time)),
            Some(time) => defaults.timeouts.connect_timeout = Some(placed(time)),
            None => all.note(format!(
                "`{name} {value}` is not imported: it is not a time"
            )),
        },
        _ => return false,
    }
    true
}

/// A time of curl, in seconds.
fn seconds(value: &str) -> Option<String> {
    let seconds: f64 = value.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| format!("{seconds}s"))
}

/// The addresses of `--resolve HOST:PORT:ADDRESS[,ADDRESS]`, one text for each; none of a wildcard, and of
/// an entry that is removed.
fn addresses(value: &str) -> Option<impl Iterator<Item = String>> {
    let (host, rest) = value.strip_prefix('+').unwrap_or(value).split_once(':')?;
    let (port, addresses) = rest.split_once(':')?;
    let is_name = !host.starts_with(['*', '-']);
    let one = move |address: &str| format!("{host}:{port}:{address}");
    is_name.then(|| addresses.split(',').map(one))
}
