//! The target of calls: `HOST:PORT`, a URL, or a Unix socket.
//!
//! gRPC's tools write a target without a scheme, and `plaintext` then decides about TLS. A URL
//! contains the scheme, and `plaintext` must not contradict it. The accepted forms are those of
//! gRPC's naming, including `unix:PATH` and `unix:///PATH`; `dns:` is refused, because names are
//! always looked up.
//!
//! A plan always has a URL. The URL of a socket has this machine as host, which is never dialed: it
//! is the authority that the server sees.

use crate::scope::{Scope, is_on};
use drumfire_document::names;
use drumfire_document::{Place, ReachSettings, Text};
use drumfire_plan::Url;
use std::path::PathBuf;

/// The target of a pool's calls.
pub(crate) struct CallTarget {
    pub(crate) url: Url,
    /// The socket that is dialed instead of the URL's host.
    pub(crate) unix_socket: Option<PathBuf>,
}

/// The target of a pool's calls; over TLS, unless the target or `plaintext` disables it.
pub(crate) fn of_calls(
    reach: &ReachSettings,
    place: &Place,
    scope: &mut Scope<'_>,
) -> Option<CallTarget> {
    let Some(text) = &reach.target else {
        let message = "calls need a `target`; write one such as orders.test:443";
        scope.found.add(place, message);
        return None;
    };
    let scheme = match is_on(&reach.plaintext) {
        true => "http",
        false => "https",
    };
    if let Some(path) = text.value.strip_prefix("unix:") {
        let path = path.strip_prefix("//").unwrap_or(path);
        let url = Url::parse(&format!("{scheme}://localhost/"));
        return Some(CallTarget {
            url: scope.found.ok(&text.place, url)?,
            unix_socket: Some(socket(path, &text.place, scope)?),
        });
    }
    let whole = whole(text, scheme);
    let whole = scope.found.ok(&text.place, whole)?;
    let url = scope.found.ok(&text.place, Url::parse(&whole))?;
    if url.target != "/" {
        let call = names::name(&text.place, "call");
        let path = &url.target;
        let message = format!("the target has a path, `{path}`; select the method with {call}");
        scope.found.add(&text.place, message);
    }
    Some(CallTarget {
        url,
        unix_socket: None,
    })
}

/// The Unix socket at this path. An empty path leads to no socket.
pub(crate) fn socket(path: &str, place: &Place, scope: &mut Scope<'_>) -> Option<PathBuf> {
    if path.is_empty() {
        let message = "the path of the socket is empty; write one such as target.sock";
        scope.found.add(place, message);
        return None;
    }
    Some(scope.host.locate(path))
}

/// The target as the text of a URL, or the reason for which it is none. `plaintext` beside
/// `http://` says the same twice and is let pass; a URL over TLS beside it can't be meant.
fn whole(text: &Text, scheme: &str) -> Result<String, String> {
    let value = &text.value;
    match value.split_once("://") {
        None => Ok(format!("{scheme}://{value}/")),
        Some(("grpc", rest)) => Ok(format!("{scheme}://{rest}")),
        Some(("https", _)) if scheme == "http" => {
            let plaintext = names::name(&text.place, "plaintext");
            Err(format!(
                "{plaintext} contradicts `{value}`; leave one of them out, or write http://"
            ))
        }
        Some(("http" | "https", _)) => Ok(value.clone()),
        Some(_) => Err(format!(
            "`{}` is not a target; write HOST:PORT, a URL with http:// or https://, or unix:PATH",
            value.escape_debug()
        )),
    }
}
