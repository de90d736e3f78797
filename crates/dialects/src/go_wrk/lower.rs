//! A go-wrk command line to a plan.
//!
//! Checks come in go-wrk's order, because each of its endings has its own stream and exit code:
//! the playback file, `-v`, `-help`, then the banner, the body, the certificates.

use super::args::{self, Args};
use super::render::{Presentation, Shape};
use super::request::RequestParts;
use super::targets::Targets;
use super::{EXPECT, PROGRAM, VERSION};
use crate::go_text::open_failed;
use crate::outcome::LastWords;
use crate::{Defaults, Source};
use drumfire_plan::{
    Connections, Host, HttpOptions, HttpRequest, HttpVersion, KeepAlive, KeepAliveHints, Load,
    Plan, Redirects, ReusedClosed, Samples, Scheme, Spin, Spread, Stop, Timeouts, Tls, Url, Verify,
};
use drumfire_units::Nanos;
use std::io;
use std::sync::Arc;

/// How many redirects `-redir` follows.
const REDIRECTS: u32 = 10;

/// How long a user waits at most before it dials a refusing target again. go-wrk does not wait
/// at all, and counts millions of refusals a second.
const BACKOFF_MAX: Nanos = Nanos::from_secs(1);

/// The most users that `-c` may ask for: no machine holds more connections to one target.
const USERS_MAX: u32 = 1_000_000;

/// Requests at a time on one connection of HTTP/2; Go's servers allow more, many others just this.
const STREAMS: u32 = 100;

/// What a command line comes to.
pub(super) struct Lowered {
    /// Over HTTP/1.1.
    pub(super) plan: Plan,
    /// The same over HTTP/2, where the command line wants that if the server does.
    pub(super) http2: Option<Box<Plan>>,
    pub(super) presentation: Presentation,
}

/// Makes the plan and the shape of the report, or says what go-wrk prints in place of a run.
pub(super) fn lower(
    args: &Args,
    source: &dyn Source,
    defaults: Defaults,
) -> Result<Lowered, LastWords> {
    let targets = Targets::find(args, source)?;
    if args.version {
        return Err(LastWords::on_stdout(format!("Version: {VERSION}\n"), 0));
    }
    let targets = match targets {
        Some(targets) if !args.help => targets,
        _ => return Err(LastWords::on_stdout(args::usage(), 0)),
    };
    let urls = targets.urls()?;
    let parts = RequestParts::of(args).map_err(mistake)?;
    let presentation = presentation(args, &targets, &urls, &parts);
    let banner = presentation.banner();
    let body = body(args, source, &banner)?;
    let http = http_options(args, &parts, tls(args, source, &banner)?);
    let users = match user_count(args.users).map_err(mistake)? {
        Some(users) if args.seconds > 0 => users,
        // go-wrk starts nobody, or nobody starts a request.
        _ => return Err(LastWords::on_stdout(presentation.empty_report(), 0)),
    };
    let requests = parts.requests(urls, body.as_ref());
    let connections = connections(args, users, defaults);
    let plan = plan(args, requests, http, connections);
    match plan.check().first() {
        Some(diagnostic) => Err(mistake(diagnostic)),
        None => Ok(Lowered {
            http2: wants_http2(args, &plan).then(|| Box::new(upgraded(&plan))),
            plan,
            presentation,
        }),
    }
}

/// Whether HTTP/2 is used if the server chooses it: where `-http` is said, and without a word of
/// it where the original does so, with `-cert`, `-key` and `-ca` together.
fn wants_http2(args: &Args, plan: &Plan) -> bool {
    let all = !args.cert.is_empty() && !args.key.is_empty() && !args.ca.is_empty();
    let origin = |request: &HttpRequest| request.url.origin.clone();
    let first = plan.requests.first().map(origin);
    let alone = first.is_some_and(|first| {
        first.scheme == Scheme::Https && plan.requests.iter().all(|r| origin(r) == first)
    });
    alone && args.http2.unwrap_or(all)
}

/// The same over HTTP/2: users share connections, as they do in Go's client.
fn upgraded(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.http.version = HttpVersion::Http2;
    if plan.connections.keep_alive == KeepAlive::No {
        return plan;
    }
    let users = plan.connections.count;
    plan.connections.count = users.div_ceil(STREAMS);
    plan.connections.streams = users.div_ceil(plan.connections.count);
    plan.connections.threads = plan.connections.threads.min(plan.connections.count);
    plan
}

/// As many users as connections, each as fast as it can, for so many seconds.
fn plan(
    args: &Args,
    requests: Vec<HttpRequest>,
    http: HttpOptions,
    connections: Connections,
) -> Plan {
    Plan {
        requests,
        load: Load::Closed {
            users: connections.count,
            think_time: Nanos::ZERO,
        },
        users: None,
        stop: Stop {
            duration: Some(span_of(args.seconds, 1_000_000_000)),
            ..Stop::default()
        },
        warmup: Nanos::ZERO,
        http,
        connections,
        timeouts: timeouts(args.timeout_ms),
        expect: EXPECT,
        samples: Samples::Forget,
        thresholds: Vec::new(),
        seed: 0, // nothing in a go-wrk run is drawn
        interval: Nanos::from_secs(1),
    }
}

/// How the run and its result are shown.
fn presentation(
    args: &Args,
    targets: &Targets,
    urls: &[(String, Url)],
    parts: &RequestParts,
) -> Presentation {
    Presentation {
        shape: if args.seed_format {
            Shape::Seed
        } else {
            Shape::Current
        },
        seconds: args.seconds,
        users: args.users,
        target: targets.title(urls),
        host: one_host(urls),
        notes: notes(args, targets, urls, parts),
    }
}

/// The host that all URLs share, as an error text names it.
fn one_host(urls: &[(String, Url)]) -> Option<String> {
    let (_, first) = urls.first()?;
    let host = &first.origin.host;
    let same = urls.iter().all(|(_, url)| url.origin.host == *host);
    same.then(|| match host {
        Host::Name(name) => name.clone(),
        Host::Address(address) => address.to_string(),
    })
}

/// How requests travel.
fn http_options(args: &Args, parts: &RequestParts, tls: Tls) -> HttpOptions {
    HttpOptions {
        version: HttpVersion::Http1,
        compressed: parts.compressed(args),
        redirects: if args.redirects {
            Redirects::Follow(REDIRECTS)
        } else {
            Redirects::Refuse
        },
        tls,
        ..HttpOptions::default()
    }
}

/// A mistake in what a flag says, told as this program tells it.
pub(super) fn mistake(message: impl std::fmt::Display) -> LastWords {
    LastWords::on_stderr(format!("{PROGRAM}: {message}\n"), 2)
}

/// How many users there are; `None` when there are none.
fn user_count(count: i64) -> Result<Option<u32>, String> {
    match u32::try_from(count) {
        Ok(count @ 1..=USERS_MAX) => Ok(Some(count)),
        _ if count < 1 => Ok(None),
        _ => Err(format!(
            "-c {count} is more than this program can hold open; write at most {USERS_MAX}"
        )),
    }
}

/// A span of so many units; for ever when it does not fit.
fn span_of(count: i64, nanos_per_unit: u64) -> Nanos {
    Nanos(count.unsigned_abs().saturating_mul(nanos_per_unit))
}

/// One connection for each user, as go-wrk has it.
fn connections(args: &Args, users: u32, defaults: Defaults) -> Connections {
    let threads = u32::try_from(args.cpus)
        .ok()
        .filter(|&cpus| cpus > 0)
        .unwrap_or(defaults.cores);
    Connections {
        count: users,
        streams: 1,
        keep_alive: if args.no_keep_alive {
            KeepAlive::No
        } else {
            KeepAlive::Yes
        },
        reused_closed: ReusedClosed::Fail,
        hints: KeepAliveHints::Ignore,
        affinity: drumfire_plan::Affinity::Shared,
        backoff_max: BACKOFF_MAX,
        spread: Spread::Turn,
        ping: None,
        threads: threads.clamp(1, users),
        spin: Spin::No,
    }
}

/// `-T` bounds the whole exchange and so every phase of it.
fn timeouts(milliseconds: i64) -> Timeouts {
    let span = if milliseconds > 0 {
        span_of(milliseconds, 1_000_000)
    } else {
        Nanos::MAX
    };
    Timeouts {
        total: span,
        connect: span,
        tls: span,
        head: span,
    }
}

/// The request's body; `None` when it is empty.
fn body(args: &Args, source: &dyn Source, banner: &str) -> Result<Option<Arc<[u8]>>, LastWords> {
    let bytes = match args.body.strip_prefix('@') {
        None => args.body.clone().into_bytes(),
        Some(path) => source.read(path).map_err(|error| {
            let (path, why) = (crate::go_text::quoted(path), open_failed(path, &error));
            LastWords::on_stdout(format!("{banner}could not read file {path}: {why}\n"), 1)
        })?,
    };
    Ok((!bytes.is_empty()).then(|| bytes.into()))
}

/// The settings for https targets.
fn tls(args: &Args, source: &dyn Source, banner: &str) -> Result<Tls, LastWords> {
    let fail = |message: String| LastWords {
        stdout: banner.to_owned(),
        stderr: format!("{message}\n"),
        exit: 1,
    };
    let identity_pem = match (args.cert.as_str(), args.key.as_str()) {
        ("", "") => None,
        ("", _) => return Err(fail("client certificate can't be empty".to_owned())),
        (_, "") => return Err(fail("client key can't be empty".to_owned())),
        (cert, key) => {
            let read = |path: &str| {
                source.read(path).map_err(|error| {
                    let why = open_failed(path, &error);
                    fail(format!(
                        "Unable to load cert tried to load {cert} and {key} but got {why}"
                    ))
                })
            };
            Some((read(cert)?.into(), read(key)?.into()))
        }
    };
    let trusted = |error: io::Error| {
        fail(format!(
            "Unable to open cert {}",
            open_failed(&args.ca, &error)
        ))
    };
    let ca_pem = match args.ca.as_str() {
        "" => None,
        path => Some(source.read(path).map_err(trusted)?.into()),
    };
    Ok(Tls {
        verify: if args.no_verify {
            Verify::No
        } else {
            Verify::Yes
        },
        ca_pem,
        identity_pem,
        ..Tls::default()
    })
}

/// What go-wrk's report has no place for.
fn notes(
    args: &Args,
    targets: &Targets,
    urls: &[(String, Url)],
    parts: &RequestParts,
) -> Vec<String> {
    let https = urls
        .iter()
        .any(|(_, url)| url.origin.scheme == Scheme::Https);
    let mut notes = Vec::new();
    if args.http2 == Some(true) && !https {
        notes.push("-http: HTTP/1.1 is used; HTTP/2 is chosen in TLS only".to_owned());
    }
    if args.no_verify && https {
        notes.push("-no-vr: the server's certificate is not verified".to_owned());
    }
    for name in parts.left_out() {
        notes.push(format!(
            "-H: {name} is not sent as given; it is made from the body"
        ));
    }
    let ignored = targets.ignored_words();
    if !ignored.is_empty() {
        notes.push(format!("ignored: {}", ignored.join(" ")));
    }
    notes
}
