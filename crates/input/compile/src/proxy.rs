//! The proxy of a document. Without a setting, the environment's proxy applies to targets other
//! than this machine.
//!
//! The environment's variables are `http_proxy` for http, `https_proxy` for https, `all_proxy` if
//! the scheme's own is not set, and `no_proxy` for exceptions, in lower or upper case, as in curl. A proxy is part of the plan, so that a stored plan shows
//! the way of its requests.

use crate::scope::{Scope, is_on};
use drumfire_document::{Place, ReachSettings};
use drumfire_plan::{Header, Host as UrlHost, NoProxy, Proxy, Scheme, Tunnels, Url};

/// The word that disables any proxy, including the environment's.
pub(crate) const NONE: &str = "none";

/// The proxy for these URLs, if there is one.
pub(crate) fn proxy(reach: &ReachSettings, urls: &[Url], scope: &mut Scope<'_>) -> Option<Proxy> {
    let mut proxy = named(reach, urls, scope)?;
    if is_on(&reach.proxy_tunnel) {
        proxy.tunnels = Tunnels::All;
    }
    if let Some(agent) = &reach.proxy_agent {
        let field = Header::new("User-Agent", agent.value.as_bytes());
        let field = field.map_err(|error| error.to_string());
        proxy.agent = scope.found.ok(&agent.place, field);
    }
    Some(proxy)
}

/// The written proxy, or else the environment's.
fn named(reach: &ReachSettings, urls: &[Url], scope: &mut Scope<'_>) -> Option<Proxy> {
    match &reach.proxy {
        Some(text) if text.value == NONE => None,
        Some(text) => {
            let bypass = reach.no_proxy.iter().filter_map(|rule| {
                let parsed = NoProxy::parse(&rule.value);
                scope.found.ok(&rule.place, parsed)
            });
            let bypass = bypass.collect();
            let parsed = parse(&text.value, bypass);
            scope.found.ok(&text.place, parsed)
        }
        None => of_environment(urls, scope),
    }
}

/// The environment's variable for any scheme, in the order of curl.
const ALL: [&str; 2] = ["all_proxy", "ALL_PROXY"];

/// The environment's proxy for the scheme of the first URL. A plan whose targets are all on this
/// machine uses no proxy.
fn of_environment(urls: &[Url], scope: &mut Scope<'_>) -> Option<Proxy> {
    let first = urls.first()?;
    let host = scope.host;
    let set = |name: &&str| host.proxy_variable(name).filter(|value| !value.is_empty());
    let own: &[&str] = match first.origin.scheme {
        // CGI fills `HTTP_PROXY` from a header field, so it is ignored under CGI.
        Scheme::Http if set(&"REQUEST_METHOD").is_some() => &["http_proxy"],
        Scheme::Http => &["http_proxy", "HTTP_PROXY"],
        Scheme::Https => &["https_proxy", "HTTPS_PROXY"],
    };
    let mut names = own.iter().chain(&ALL);
    let (name, text) = names.find_map(|name| Some((*name, set(name)?)))?;
    if urls.iter().all(is_loopback) {
        return None;
    }
    let bypass = ["no_proxy", "NO_PROXY"].iter().find_map(set);
    let bypass = bypass.unwrap_or_default();
    let own = ["localhost", "127.0.0.0/8", "::1"];
    let rules = bypass.split(',').map(str::trim).chain(own);
    let rules = rules.filter(|rule| !rule.is_empty()).map(NoProxy::parse);
    let parsed = rules
        .collect::<Result<_, _>>()
        .map_err(|why| format!("`no_proxy` in the environment: {why}"))
        .and_then(|rules| {
            parse(&text, rules).map_err(|why| {
                format!("`{name}` in the environment: {why}, or ignore it with -x none")
            })
        });
    scope.found.ok(&Place::Nowhere, parsed)
}

/// Parses the URL of a proxy; the scheme is optional.
fn parse(text: &str, bypass: Vec<NoProxy>) -> Result<Proxy, String> {
    let text = if text.contains("://") {
        text.to_owned()
    } else {
        format!("http://{text}")
    };
    let url = Url::parse(&text).map_err(|error| error.to_string())?;
    Ok(Proxy {
        url,
        tunnels: Tunnels::default(),
        agent: None,
        bypass,
    })
}

/// Whether a URL's host is this machine, which is never reached through the environment's proxy.
fn is_loopback(url: &Url) -> bool {
    match &url.origin.host {
        UrlHost::Name(name) => name == "localhost" || name.ends_with(".localhost"),
        UrlHost::Address(address) => address.is_loopback(),
    }
}
