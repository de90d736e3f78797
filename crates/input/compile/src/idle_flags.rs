//! Refuses flags that have no effect in combination with others: a user who writes a flag expects
//! an effect.
//!
//! Only flags are checked here. A key of a plan may be a default, which applies to some pools and not
//! to others ([`crate::idle_keys`]), and another tool's command line follows that tool's rules. TLS
//! settings are allowed for an http target, because a plan is often tried on http and run on https.

use crate::looks::first_place;
use crate::proxy::NONE;
use crate::scope::{Scope, is_on};
use crate::transport::resolved;
use drumfire_document::names;
use drumfire_document::{Place, ReachSettings, Settings, Switch, Text};
use drumfire_plan::{Host, HttpRequest, HttpVersion, Origin, Pool, Redirects, Renewal, Resolve};
use drumfire_units::Nanos;
use std::fmt;
use std::net::IpAddr;

/// The fields of a connection of HTTP/1, which HTTP/2 does not have (RFC 9113 section 8.2.2).
const OF_CONNECTIONS: [&str; 5] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

/// Further fields that are not sent over HTTP/2: a server refuses a body by other means, and the
/// credentials of a proxy are for the proxy.
const UNSENT: [&str; 2] = ["expect", "proxy-authorization"];

/// An error lists at most this many servers.
const SERVERS_MAX: usize = 3;

/// Notes the flags of a pool that have no effect.
pub(crate) fn note(settings: &Settings, pool: &Pool, scope: &mut Scope<'_>) {
    for Excluded { place, why } in excluded(settings, pool) {
        if let Some(why) = why {
            refuse(&place, &why, scope);
        }
    }
    note_names(settings, pool, scope);
    note_fields(settings, pool.http.version, scope);
    let has_body = |request: &HttpRequest| request.body.0.is_some() || request.data.is_some();
    let expects = settings.http.expect_continue.as_ref();
    if let Some(Switch {
        value: true, place, ..
    }) = expects
        && !pool.requests.iter().any(has_body)
    {
        let text = "no request has a body that could wait for `100 Continue`; leave it out";
        refuse(place, text, scope);
    }
}

/// A written setting that another setting of its pool may exclude.
pub(crate) struct Excluded {
    pub(crate) place: Place,
    /// Why the setting has no effect; `None` if nothing excludes it.
    pub(crate) why: Option<String>,
}

/// The settings of a pool that other settings may exclude.
pub(crate) fn excluded(settings: &Settings, pool: &Pool) -> Vec<Excluded> {
    let mut all = by_closing(settings, pool.http.version);
    all.extend(by_socket(settings));
    if let Some(head) = &settings.timeouts.head_timeout {
        let timeouts = &pool.timeouts;
        let is_same = timeouts.head == timeouts.total && is_flag(&head.place);
        let is_long = timeouts.head > timeouts.total || is_same;
        let is_long = is_long && timeouts.total < Nanos::MAX;
        let why = is_long.then(|| {
            let total = names::name(&head.place, "timeout");
            let limit = timeouts.total;
            format!("no head may take longer than {total} ({limit}); write a shorter time")
        });
        let place = head.place.clone();
        all.push(Excluded { place, why });
    }
    all.extend(by_reading(settings, pool));
    all
}

/// Settings of event streams, which have no effect on requests whose responses are read as one
/// body, nor on calls, nor if a stream always ends before.
fn by_reading(settings: &Settings, pool: &Pool) -> Vec<Excluded> {
    let written = &settings.events;
    let streams: Vec<StreamLimits> = pool
        .requests
        .iter()
        .filter_map(|request| StreamLimits::for_request(request, pool))
        .collect();
    let unread = (streams.is_empty() && !pool.requests.is_empty()).then(|| unread(pool));
    let long = |of: fn(&StreamLimits) -> (Nanos, Nanos)| {
        let is_long = streams.iter().map(of).all(|(limit, end)| end <= limit);
        let is_limited = streams.iter().map(of).any(|(limit, _)| limit < Nanos::MAX);
        (is_long && is_limited).then(|| {
            "no stream may take longer than its timeout or its duration; write a shorter time"
                .to_owned()
        })
    };
    let gap = long(|stream| (stream.gap, stream.end()));
    let duration = settings.timeouts.timeout.as_ref();
    let duration = duration.and_then(|_| long(|stream| (stream.duration, stream.timeout)));
    let reads = written.read.as_ref().filter(|text| text.value == "events");
    let max = written.max_events.as_ref().map(|count| count.place.clone());
    let has_calls = pool.requests.iter().any(|request| request.call.is_some());
    let sockets = pool.requests.iter().filter_map(|it| it.socket.as_deref());
    let has_receivers = sockets.into_iter().any(|it| it.receive().is_some());
    let of_each = unread.clone().filter(|_| !has_calls && !has_receivers);
    let gap = unread.clone().or(gap).filter(|_| !has_receivers);
    let keys = [
        (reads.map(|text| text.place.clone()), unread.clone()),
        (place(&written.gap_timeout), gap),
        (place(&written.stream_duration), unread.clone().or(duration)),
        (max, unread),
        (first_place(&settings.http.expect.each).cloned(), of_each),
    ];
    let written = keys
        .into_iter()
        .filter_map(|(place, why)| Some((place?, why)));
    written
        .map(|(place, why)| Excluded { place, why })
        .collect()
}

/// The limits of a request's event stream.
struct StreamLimits {
    gap: Nanos,
    duration: Nanos,
    timeout: Nanos,
}

impl StreamLimits {
    fn for_request(request: &HttpRequest, pool: &Pool) -> Option<Self> {
        let events = request.events?;
        Some(Self {
            gap: events.gap,
            duration: events.duration,
            timeout: request.timeout.unwrap_or(pool.timeouts.total),
        })
    }

    /// The end of a stream: a duration replaces the timeout.
    const fn end(&self) -> Nanos {
        match self.duration {
            Nanos::MAX => self.timeout,
            duration => duration,
        }
    }
}

/// Why a pool has no event streams.
fn unread(pool: &Pool) -> String {
    let all = |is: fn(&HttpRequest) -> bool| pool.requests.iter().all(is);
    let why = if all(|request| request.call.is_some()) {
        "the messages of a call are read one by one anyway; leave it out"
    } else if all(|request| request.socket.is_some()) {
        "the requests on this WebSocket have no use for it; leave it out"
    } else {
        "no response is read with `read: events`; add it to the pool or to its requests, or leave \
         this out"
    };
    why.to_owned()
}

/// Settings for kept connections, which have no effect if connections are not kept, and
/// `retry_reused` over HTTP/2.
fn by_closing(settings: &Settings, version: HttpVersion) -> Vec<Excluded> {
    let written = &settings.connections;
    let on = |switch: &Option<Switch>| is_on(switch).then(|| place_of(switch)).flatten();
    let retries = on(&written.retry_reused);
    let closes = written.keepalive.as_ref().is_some_and(|keep| !keep.value);
    let kept = [
        retries.clone(),
        on(&written.respect_keepalive),
        place(&written.connection_age),
        place(&written.connection_churn),
        place(&written.connection_idle),
    ];
    let kept = kept.into_iter().flatten().map(|place| {
        let is_retry = retries.as_ref() == Some(&place);
        let is_resent = is_retry && version == HttpVersion::Http2;
        if is_retry && !is_flag(&place) {
            return Excluded { place, why: None };
        }
        let why = match (closes, is_resent) {
            (true, _) => {
                let off = names::setting(&place, "keepalive", "false");
                let text = format!("{off} closes each connection after its request; leave one out");
                Some(text)
            }
            (false, true) => Some(
                "over HTTP/2, requests that the server did not process are always sent again; \
                 leave it out"
                    .to_owned(),
            ),
            (false, false) => None,
        };
        Excluded { place, why }
    });
    kept.collect()
}

/// Settings of addresses, which have no effect if a socket replaces the address.
fn by_socket(settings: &Settings) -> Vec<Excluded> {
    let written = &settings.reach;
    let socket = socket(written);
    let first = |texts: &[Text]| texts.first().map(|text| text.place.clone());
    let proxy = written.proxy.as_ref();
    let proxy = proxy.filter(|text| text.value != NONE || is_flag(&text.place));
    let proxy = proxy.map(|text| text.place.clone());
    let addressed = [
        first(&written.resolve),
        first(&written.source_ip),
        place(&written.lookup),
        proxy,
    ];
    let addressed = addressed.into_iter().flatten().map(|place| {
        let why = socket.as_ref().map(|socket| {
            format!("{socket} leads to the target without an address; leave one out")
        });
        Excluded { place, why }
    });
    addressed.collect()
}

/// Whether a setting is a flag. As a key, it may come from the printed plan of a dialect, which has
/// some settings in any case.
const fn is_flag(place: &Place) -> bool {
    matches!(place, Place::Flag { .. })
}

/// The socket that replaces an address, as it was written.
pub(crate) fn socket(written: &ReachSettings) -> Option<String> {
    let own = written.unix_socket.as_ref();
    let own = own.map(|path| names::name(&path.place, "unix_socket"));
    own.or_else(|| {
        let target = &written.target.as_ref()?.value;
        let is_socket = target.starts_with("unix:");
        is_socket.then(|| format!("`{}`", target.escape_debug()))
    })
}

/// Notes settings of names that no connection resolves. With redirects, any name is possible.
fn note_names(settings: &Settings, pool: &Pool, scope: &mut Scope<'_>) {
    let written = &settings.reach;
    let is_known = !pool.requests.is_empty() && socket(written).is_none();
    if !is_known || matches!(pool.http.redirects, Redirects::Follow(1..)) {
        return;
    }
    let servers = servers(pool);
    for text in &written.resolve {
        let Some(given) = resolved(&text.value) else {
            continue;
        };
        if let Some(why) = unconnected(&given, &servers) {
            refuse(&text.place, &why.to_string(), scope);
        }
    }
    let looks_up = |server: &&Origin| match &server.host {
        Host::Address(_) => false,
        Host::Name(name) => !pool
            .reach
            .resolve
            .iter()
            .any(|given| given.host.eq_ignore_ascii_case(name) && given.port == server.port),
    };
    if let Some(lookup) = &written.lookup
        && pool.reach.renewal != Renewal::Never
        && !servers.iter().any(looks_up)
    {
        let why = format!(
            "no name is looked up for a connection to {}; leave it out",
            listed(&servers.into_iter().map(named).collect::<Vec<_>>())
        );
        refuse(&lookup.place, &why, scope);
    }
}

/// Why a setting has no effect.
pub(crate) struct Unused {
    what: String,
    /// The servers that connections go to instead, if they are a part of the reason.
    servers: Vec<String>,
}

impl Unused {
    /// A reason without servers.
    pub(crate) const fn new(what: String) -> Self {
        let servers = Vec::new();
        Self { what, servers }
    }

    /// The reason for this pool and another one, with the servers of both.
    pub(crate) fn with_servers_of(mut self, other: Self) -> Self {
        for server in other.servers {
            if !self.servers.contains(&server) {
                self.servers.push(server);
            }
        }
        self
    }
}

impl fmt::Display for Unused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.servers[..] {
            [] => Ok(()),
            servers => write!(f, "; connections go to {}", listed(servers)),
        }
    }
}

/// Why no connection to these servers uses an address that replaces a look-up.
pub(crate) fn unconnected(given: &Resolve, servers: &[&Origin]) -> Option<Unused> {
    let is_used = |server: &&Origin| {
        let host =
            matches!(&server.host, Host::Name(name) if given.host.eq_ignore_ascii_case(name));
        host && server.port == given.port
    };
    if servers.iter().any(is_used) {
        return None;
    }
    let (host, port) = (given.host.escape_debug(), given.port);
    let what = match given.host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(_) => format!("{host} is an address and not a name"),
        Err(_) => format!("no request connects to {host}:{port}"),
    };
    let servers = servers.iter().copied().map(named).collect();
    Some(Unused { what, servers })
}

/// Whether a header of this name, in any case, is not sent over HTTP/2.
#[must_use]
pub fn is_unsent_over_http2(name: &str) -> bool {
    let mut all = OF_CONNECTIONS.iter().chain(&UNSENT);
    all.any(|known| name.eq_ignore_ascii_case(known))
}

/// Why a field of this name is not sent over HTTP/2; `None` if it is.
pub(crate) fn unsent(name: &str) -> Option<String> {
    let mut unsent = UNSENT.iter();
    let is_other = unsent.any(|known| name.eq_ignore_ascii_case(known));
    let shown = name.escape_debug();
    is_unsent_over_http2(name).then(|| match is_other {
        true => format!("the header `{shown}` is not sent over HTTP/2; leave it out"),
        false => format!("HTTP/2 has no header `{shown}`; leave it out"),
    })
}

/// Notes fields that are not sent over HTTP/2.
fn note_fields(settings: &Settings, version: HttpVersion, scope: &mut Scope<'_>) {
    if version != HttpVersion::Http2 {
        return;
    }
    for field in &settings.fields.headers {
        if let Some(why) = unsent(&field.name.value) {
            refuse(&field.name.place, &why, scope);
        }
    }
}

/// The servers that a pool connects to: the proxy, or the targets.
pub(crate) fn servers(pool: &Pool) -> Vec<&Origin> {
    let mut servers = Vec::new();
    for HttpRequest { url, .. } in &pool.requests {
        let proxy = pool.reach.proxy.as_ref();
        let proxy = proxy.filter(|proxy| !proxy.bypass.iter().any(|rule| rule.covers(&url.origin)));
        let dialed = proxy.map_or(&url.origin, |proxy| &proxy.url.origin);
        if !servers.contains(&dialed) {
            servers.push(dialed);
        }
    }
    servers
}

/// A server as text.
fn named(server: &Origin) -> String {
    match &server.host {
        Host::Name(name) => format!("{name}:{}", server.port),
        Host::Address(IpAddr::V6(address)) => format!("[{address}]:{}", server.port),
        Host::Address(address) => format!("{address}:{}", server.port),
    }
}

/// The first servers as text.
fn listed(servers: &[String]) -> String {
    let first: Vec<&str> = servers
        .iter()
        .take(SERVERS_MAX)
        .map(String::as_str)
        .collect();
    let others = match servers.len().saturating_sub(SERVERS_MAX) {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    format!("{}{others}", first.join(", "))
}

fn place(text: &Option<Text>) -> Option<Place> {
    text.as_ref().map(|text| text.place.clone())
}

fn place_of(switch: &Option<Switch>) -> Option<Place> {
    switch.as_ref().map(|switch| switch.place.clone())
}

/// Notes a flag without effect.
pub(crate) fn refuse(place: &Place, why: &str, scope: &mut Scope<'_>) {
    if matches!(place, Place::Flag { .. }) {
        scope.found.add(place, format!("it has no effect: {why}"));
    }
}
