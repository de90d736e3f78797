//! How requests travel: connections, timeouts, TLS, names and addresses.
//!
//! Each function reads one group of keys into one part of a plan, and contains their defaults. A
//! document without these keys gives a pool that is gentle on its target and on the machine. The
//! words of a choice are in a table where they are read. `placement` checks what depends on a
//! machine, such as its local addresses and descriptors.
//!
//! Two rules hold for all groups. An unknown word is noted together with the table of valid words,
//! and the default applies. A key is checked whether or not it has an effect: contradicting keys
//! are noted, a key that lacks a required other one is noted (`ping_timeout` without `ping`), and
//! certificates are read even if all targets are http, because a plan is often tried on http and
//! run on https.
//!
//! [`crate::compile()`] calls one function for each part of a pool: [`http`], [`reach`],
//! [`timeouts`], [`connections`] and [`cookies`], in any order. `http` reads the names of private
//! fields that the scope has collected before; `connections` needs the load, which has the number
//! of connections. The functions are independent of each other's results. Defaults are constants
//! above, each with its reason; a word that a type of the plan parses also has its default there.

use crate::host::TlsFault;
use crate::load::Loaded;
use crate::scope::{Scope, is_on};
use drumfire_document::names;
use drumfire_document::{
    Connections as Written, ReachSettings as WrittenReach, Settings, Text,
    TimeoutSettings as WrittenTimeouts, TlsSettings as WrittenTls,
};
use drumfire_plan::{
    Affinity, Compressed, Connections, Cookies, ExpectContinue, HttpOptions, HttpVersion,
    KeepAlive, KeepAliveHints, Life, Opening, Pause, Pem, Ping, Reach, RedirectStyle, Redirects,
    Renewal, Resolve, Resumption, ReusedClosed, Spread, Timeouts, Tls, TlsEnd, Unresolved, Url,
    Verify,
};
use drumfire_units::{ByteSize, Nanos};
use std::net::{IpAddr, SocketAddr};

/// The versions of HTTP by their words.
pub(crate) const HTTP_VERSIONS: [(&str, HttpVersion); 2] =
    [("1", HttpVersion::Http1), ("2", HttpVersion::Http2)];

/// The default maximum size of a decoded body: 64 MiB. A few kilobytes of gzip can decode to a
/// gigabyte, and a target must not be able to fill the machine's memory.
const DECODED_BYTES_MAX: ByteSize = ByteSize(64 << 20);
/// The time for which a body waits for `100 Continue`, as in curl.
const CONTINUE_WAIT: Nanos = Nanos::from_secs(1);
/// The port of name servers.
const DNS_PORT: u16 = 53;

/// The bytes that the system takes as the path of a socket (`sun_path`, without its end).
const SOCKET_PATH_BYTES: usize = 107;
/// The least time between two look-ups of a name. It is the resolution of a TTL, and keeps a load
/// generator from being one of name servers.
const LOOK_UP_LEAST: Nanos = Nanos::from_secs(1);
/// The default timeout of a whole exchange. Without one, a target that hangs would hold users and
/// connections until the end of the run, and no figure would show its slowness.
pub(crate) const TIMEOUT_DEFAULT: Nanos = Nanos::from_secs(30);
/// The default timeout for opening a connection, and for the TLS handshake.
const CONNECT_TIMEOUT_DEFAULT: Nanos = Nanos::from_secs(10);
/// The default maximum pause before a target that refuses connections is dialed again. After a
/// longer pause, a recovered target would be noticed too late.
const BACKOFF_DEFAULT: Nanos = Nanos::from_millis(250);
/// The default timeout for the answer to a ping.
const PING_TIMEOUT_DEFAULT: Nanos = Nanos::from_secs(20);

/// The options of HTTP. The caller decides `version` first, because the number of connections
/// depends on it.
pub(crate) fn http(
    settings: &Settings,
    version: HttpVersion,
    scope: &mut Scope<'_>,
) -> HttpOptions {
    let http = &settings.http;
    HttpOptions {
        version,
        compressed: compressed(settings, scope),
        redirects: redirects(http.redirects.as_ref(), scope),
        redirect_style: redirect_style(http.redirect_style.as_ref(), scope),
        private_headers: scope.private_headers.clone(),
        expect_continue: match is_on(&http.expect_continue) {
            true => ExpectContinue::Wait(CONTINUE_WAIT),
            false => ExpectContinue::No,
        },
    }
}

/// The way to the targets of these URLs: TLS, proxy, addresses of names, local addresses. The guard
/// of targets is set later, because it depends on all pools.
pub(crate) fn reach(settings: &Settings, urls: &[Url], scope: &mut Scope<'_>) -> Reach {
    let written = &settings.reach;
    let unresolved = [("refuse", Unresolved::Refuse), ("fail", Unresolved::Fail)];
    let what = "action";
    let unix_socket = written.unix_socket.as_ref();
    if let Some(path) = unix_socket {
        let located = scope.host.locate(&path.value);
        let length = located.as_os_str().len();
        let long = format!(
            "the path of the socket has {length} bytes; the system allows {SOCKET_PATH_BYTES}"
        );
        scope
            .found
            .add_if(length > SOCKET_PATH_BYTES, &path.place, &long);
    }
    Reach {
        tls: tls(&settings.tls, scope),
        proxy: crate::proxy::proxy(written, urls, scope),
        resolve: written
            .resolve
            .iter()
            .filter_map(|text| resolve(text, scope))
            .collect(),
        unresolved: scope
            .word(written.unresolved.as_ref(), &unresolved, what)
            .unwrap_or_default(),
        renewal: renewal(written, scope),
        name_server: name_server(written, scope),
        guard: None,
        source_addresses: source_addresses(written, scope),
        unix_socket: unix_socket
            .and_then(|path| crate::target::socket(&path.value, &path.place, scope)),
    }
}

/// The rule for repeated look-ups of names; the default is never. `ttl` follows the times in the
/// answers; a time applies to every name.
fn renewal(written: &WrittenReach, scope: &mut Scope<'_>) -> Renewal {
    let Some(text) = &written.lookup else {
        return Renewal::Never;
    };
    match (text.value.as_str(), text.value.parse::<Nanos>()) {
        ("once", _) => Renewal::Never,
        ("ttl", _) => Renewal::Ttl,
        (_, Ok(time)) if time >= LOOK_UP_LEAST => Renewal::Each(time),
        _ => {
            let message = format!(
                "invalid lookup `{}`; use `once`, `ttl` or a time of at least {LOOK_UP_LEAST}",
                text.value.escape_debug()
            );
            scope.found.add(&text.place, message);
            Renewal::Never
        }
    }
}

/// The address of a name server, with default port 53. A name is refused, because it would have to
/// be looked up first. Without `lookup`, the system's resolver is used, which can't be redirected,
/// and the key would have no effect.
fn name_server(written: &WrittenReach, scope: &mut Scope<'_>) -> Option<SocketAddr> {
    let text = written.name_server.as_ref()?;
    let bare = text.value.trim_start_matches('[').trim_end_matches(']');
    let with_port = || {
        bare.parse()
            .ok()
            .map(|ip: IpAddr| SocketAddr::new(ip, DNS_PORT))
    };
    let address = text.value.parse().ok().or_else(with_port);
    if address.is_none() {
        let message = "write a name server as ADDRESS or ADDRESS:PORT, such as 127.0.0.1:5353";
        scope.found.add(&text.place, message);
    }
    if address.is_some() && written.lookup.is_none() {
        // The system's resolver uses its own servers.
        scope.found.add(
            &text.place,
            "it is used only for names that are looked up again; add `lookup`",
        );
    }
    address
}

/// The rule for compressed bodies: whether they are requested and decoded, with the maximum size of
/// a decoded body. Without the rule, no compression is requested, and a compressed body is counted
/// as received.
fn compressed(settings: &Settings, scope: &mut Scope<'_>) -> Compressed {
    let http = &settings.http;
    let most = scope.found.parse(http.max_decoded.as_ref());
    let most = most.unwrap_or(DECODED_BYTES_MAX);
    let words = [
        ("false", Compressed::AsSent),
        ("gzip", Compressed::DecodeGzip(most)),
        ("true", Compressed::Decode(most)),
    ];
    let what = "value";
    scope
        .word(http.compressed.as_ref(), &words, what)
        .unwrap_or_default()
}

/// How redirects are handled. By default a redirect is reported as a response: a load test that
/// follows redirects silently measures a page other than the one in its plan.
fn redirects(text: Option<&Text>, scope: &mut Scope<'_>) -> Redirects {
    let Some(text) = text else {
        return Redirects::Report;
    };
    match (text.value.as_str(), text.value.parse()) {
        ("refuse", _) => Redirects::Refuse,
        (_, Ok(count)) => Redirects::Follow(count),
        (other, Err(_)) => {
            let shown = other.escape_debug();
            let message = format!("`{shown}` is not a number of redirects; write one such as 10");
            scope.found.add(&text.place, message);
            Redirects::Report
        }
    }
}

/// The rule for the request after a redirect: by the Fetch standard, or as Go's client does, which
/// the dialects of Go's tools need.
fn redirect_style(text: Option<&Text>, scope: &mut Scope<'_>) -> RedirectStyle {
    let words = [("fetch", RedirectStyle::Fetch), ("go", RedirectStyle::Go)];
    scope
        .word(text, &words, "redirect style")
        .unwrap_or_default()
}

/// The share of TLS handshakes that may resume a session; all by default. `full_handshakes` allows
/// no resumption and contradicts a share.
fn resumption(written: &WrittenTls, scope: &mut Scope<'_>) -> Resumption {
    let share: Option<Resumption> = scope.found.parse(written.resumption.as_ref());
    match (&written.resumption, is_on(&written.full_handshakes)) {
        (Some(text), true) => {
            let message =
                "full_handshakes and resumption contradict each other; use only one of them";
            scope.found.add(&text.place, message);
            Resumption::NONE
        }
        (None, true) => Resumption::NONE,
        (_, false) => share.unwrap_or_default(),
    }
}

/// The settings for https targets, checked even if no target uses TLS. The plan contains the
/// content of the certificates, read once, and the names of their files, which messages quote.
fn tls(written: &WrittenTls, scope: &mut Scope<'_>) -> Tls {
    let mut pem = |path: Option<&Text>, is_secret| {
        let path = path?;
        let text = match is_secret {
            true => scope.secret_file(path)?,
            false => scope.file(path)?,
        };
        let file = scope.host.locate(&path.value);
        Some(Pem { text, file })
    };
    let (ca_pem, cert, key) = (
        pem(written.cacert.as_ref(), false),
        pem(written.cert.as_ref(), false),
        pem(written.key.as_ref(), true),
    );
    let tls = Tls {
        verify: match is_on(&written.insecure) {
            true => Verify::No,
            false => Verify::Yes,
        },
        server_name: written.server_name.as_ref().map(|name| name.value.clone()),
        ca_pem,
        identity_pem: cert.zip(key),
        resumption: resumption(written, scope),
    };
    check_tls(written, &tls, scope);
    tls
}

/// Notes unusable certificates before anything is sent: unparsable ones, a key that does not match
/// the certificate, and either without the other.
///
/// A mistake is noted at the file that has it. A mismatch of certificate and key is noted at the
/// certificate and lists both files.
fn check_tls(written: &WrittenTls, tls: &Tls, scope: &mut Scope<'_>) {
    let (cert, key) = match (&written.cert, &written.key) {
        (Some(alone), None) => {
            let other = names::name(&alone.place, "key");
            return scope.found.add(&alone.place, format!("it needs {other}"));
        }
        (None, Some(alone)) => {
            let other = names::name(&alone.place, "cert");
            return scope.found.add(&alone.place, format!("it needs {other}"));
        }
        (cert, key) => (cert, key),
    };
    let Err(fault) = scope.host.check_tls(tls) else {
        return;
    };
    match (fault, &written.cacert, cert, key) {
        (TlsFault::Roots(reason), Some(path), ..) => {
            let message = format!("can't use {}: {reason}", path.value);
            scope.found.add(&path.place, message);
        }
        (TlsFault::Identity(reason), _, Some(cert), Some(key)) => {
            let flag = names::name(&cert.place, "key");
            let (path, other) = (&cert.value, &key.value);
            let message = format!("can't use {path} with {flag} {other}: {reason}");
            scope.found.add(&cert.place, message);
        }
        // An unreadable file was already noted.
        _ => {}
    }
}

/// The local addresses of connections, in the order of their use.
///
/// Whether a machine has them is checked on the machine that runs the plan, which can be another
/// one.
fn source_addresses(reach: &WrittenReach, scope: &mut Scope<'_>) -> Vec<IpAddr> {
    let mut addresses = Vec::new();
    for text in &reach.source_ip {
        let wrong = || {
            let shown = text.value.escape_debug();
            format!("`{shown}` is not an address; write one such as 127.0.0.2")
        };
        let address = text.value.parse().map_err(|_| wrong());
        let Some(address) = scope.found.ok(&text.place, address) else {
            continue;
        };
        addresses.push(address);
    }
    addresses
}

/// An address that replaces the look-up of a name: `HOST:PORT:ADDRESS`, the address with or without
/// brackets. The form is curl's, so that an option can be copied. Unlike in curl, one entry has one
/// address, and several entries for a name give several addresses.
fn resolve(text: &Text, scope: &mut Scope<'_>) -> Option<Resolve> {
    let wrong = || {
        let shown = text.value.escape_debug();
        format!("`{shown}` is not HOST:PORT:ADDRESS, such as api.test:443:127.0.0.1")
    };
    scope
        .found
        .ok(&text.place, resolved(&text.value).ok_or_else(wrong))
}

/// Splits such an entry into its parts.
pub(crate) fn resolved(text: &str) -> Option<Resolve> {
    let (host, rest) = text.split_once(':')?;
    let (port, address) = rest.split_once(':')?;
    let address = address.trim_start_matches('[').trim_end_matches(']');
    // curl's `*`, `+` and `-` would be names that no request has.
    let is_name = |host: &str| {
        host.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
    };
    if host.is_empty() || host.starts_with('-') || !is_name(host) {
        return None;
    }
    Some(Resolve {
        host: host.to_owned(),
        port: port.parse().ok()?,
        address: address.parse().ok()?,
    })
}

/// The timeouts of an exchange and of its phases. Without a timeout for the head, the timeout of
/// the whole exchange applies to it, so that only a written timeout is reported as a separate kind.
pub(crate) fn timeouts(written: &WrittenTimeouts, scope: &mut Scope<'_>) -> Timeouts {
    let mut time = |text: Option<&Text>, usual| span(text, scope).unwrap_or(usual);
    let total = time(written.timeout.as_ref(), TIMEOUT_DEFAULT);
    Timeouts {
        total,
        connect: time(written.connect_timeout.as_ref(), CONNECT_TIMEOUT_DEFAULT),
        tls: time(written.tls_timeout.as_ref(), CONNECT_TIMEOUT_DEFAULT),
        head: time(written.head_timeout.as_ref(), total),
    }
}

/// Parses a timeout. 0 means no timeout and becomes the maximum time, so that later code needs no
/// special case.
pub(crate) fn span(text: Option<&Text>, scope: &mut Scope<'_>) -> Option<Nanos> {
    let time: Nanos = scope.found.parse(text)?;
    Some(match time {
        Nanos::ZERO => Nanos::MAX,
        time => time,
    })
}

/// The connections that carry a load.
///
/// The load decides their number, because it knows the number of users. The other keys are rules
/// for how a connection is opened, kept, reused and closed.
pub(crate) fn connections(
    settings: &Settings,
    loaded: &Loaded,
    scope: &mut Scope<'_>,
) -> Connections {
    let written = &settings.connections;
    let spreads = [("turn", Spread::Turn), ("first", Spread::First)];
    let spread = scope.word(
        settings.reach.addresses.as_ref(),
        &spreads,
        "choice of addresses",
    );
    let sessions = [("shared", Affinity::Shared), ("user", Affinity::User)];
    let affinity = scope.word(written.session.as_ref(), &sessions, "kind of session");
    let backoff = scope.found.parse(written.connect_backoff.as_ref());
    let styles = [
        ("rfc", ReusedClosed::Retry),
        ("go", ReusedClosed::RetryAsGo),
    ];
    let retried = scope.word(written.retry_style.as_ref(), &styles, "retry style");
    let openings = [("waiting", Opening::Waiting), ("service", Opening::Service)];
    let opening = scope.word(written.connection_opening.as_ref(), &openings, "value");
    Connections {
        opening: opening.unwrap_or_default(),
        count: loaded.connections,
        streams: loaded.streams,
        keep_alive: keep_alive(written, scope),
        reused_closed: match is_on(&written.retry_reused) {
            true => retried.unwrap_or(ReusedClosed::Retry),
            false => ReusedClosed::Fail,
        },
        tls_end: match is_on(&written.no_close_notify) {
            true => TlsEnd::Any,
            false => TlsEnd::Confirmed,
        },
        hints: match is_on(&written.respect_keepalive) {
            true => KeepAliveHints::Respect,
            false => KeepAliveHints::Ignore,
        },
        growth: loaded.growth,
        affinity: affinity.unwrap_or_default(),
        backoff_max: backoff.unwrap_or(BACKOFF_DEFAULT),
        spread: spread.unwrap_or_default(),
        ping: ping(written, scope),
        life: life(written, scope),
    }
}

/// The rules for closing working connections: at an age, by chance, after a pause.
///
/// If the age is a single number, each connection draws its age from the top tenth below it, so
/// that connections which begin together do not end together. An age or a pause of 0 is refused,
/// because no connection could be used.
fn life(written: &Written, scope: &mut Scope<'_>) -> Life {
    let positive = |text: Option<&Text>, time: Nanos, scope: &mut Scope<'_>| {
        let text = text.filter(|_| time == Nanos::ZERO);
        if let Some(text) = text {
            let message = "with a time of 0, no connection could be used; write a longer one";
            scope.found.add(&text.place, message);
        }
    };
    let age: Option<Pause> = scope.found.parse(written.connection_age.as_ref());
    if let Some(Pause::Even { from, .. }) = age {
        positive(written.connection_age.as_ref(), from, scope);
    }
    let idle: Option<Nanos> = scope.found.parse(written.connection_idle.as_ref());
    positive(
        written.connection_idle.as_ref(),
        idle.unwrap_or(Nanos::MAX),
        scope,
    );
    Life {
        age: age.map(|age| match age.fixed() {
            Some(to) => Pause::Even {
                from: Nanos(to.0 - to.0 / 10),
                to,
            },
            None => age,
        }),
        churn: scope.found.parse(written.connection_churn.as_ref()),
        idle,
    }
}

/// How long users keep cookies: with separate sessions, for the whole run. Otherwise, cookies are
/// kept only on request. A written `cookies` overrides a session.
pub(crate) fn cookies(settings: &Settings, scope: &mut Scope<'_>) -> Cookies {
    let written = &settings.connections;
    let words = [
        ("none", Cookies::Ignore),
        ("iteration", Cookies::Iteration),
        ("user", Cookies::User),
    ];
    let cookies = scope.word(written.cookies.as_ref(), &words, "cookie lifetime");
    let session = written.session.as_ref();
    let of_session = session.filter(|session| session.value == "user");
    cookies.unwrap_or_else(|| of_session.map_or(Cookies::Ignore, |_| Cookies::User))
}

/// The number of requests that a connection carries: one, unlimited, or at most a limit. A number
/// with `keepalive: false` is a contradiction even if it is 1, because the intended one is unknown.
fn keep_alive(written: &Written, scope: &mut Scope<'_>) -> KeepAlive {
    let kept = written.keepalive.as_ref().is_none_or(|keep| keep.value);
    let Some(limit) = &written.requests_per_connection else {
        return if kept { KeepAlive::Yes } else { KeepAlive::No };
    };
    let off = names::setting(&limit.place, "keepalive", "false");
    let message = format!("it contradicts {off}; leave one of them out");
    scope.found.add_if(!kept, &limit.place, &message);
    let none = limit.value == 0;
    scope
        .found
        .add_if(none, &limit.place, "it must be at least 1");
    KeepAlive::AtMost(limit.value)
}

/// The pings of idle connections; `None` by default. A timeout for answers without pings has no
/// effect and is noted.
fn ping(written: &Written, scope: &mut Scope<'_>) -> Option<Ping> {
    let timeout = scope.found.parse(written.ping_timeout.as_ref());
    let after = scope.found.parse(written.ping.as_ref());
    if let (None, Some(text)) = (&written.ping, &written.ping_timeout) {
        let ping = names::name(&text.place, "ping");
        scope.found.add(&text.place, format!("it needs {ping}"));
    }
    after.map(|after| Ping {
        after,
        timeout: timeout.unwrap_or(PING_TIMEOUT_DEFAULT),
    })
}
