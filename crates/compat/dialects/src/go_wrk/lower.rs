//! Turns a go-wrk command line into a document.
//!
//! Checks follow go-wrk's order, because each way of ending has its own stream and exit code: the
//! playback file, `-v`, `-help`, then the banner, the body, the certificates.

use super::args::{self, Args};
use super::mistake::mistake;
use super::render::{Presentation, Shape};
use super::request::RequestParts;
use super::targets::{Target, WrittenTargets};
use super::{EXPECT, TOOL, VERSION};
use crate::go_text::open_failed;
use crate::outcome::{LastWords, Run};
use drumfire_compile::{Host, compile};
use drumfire_document::Diagnostic;
use drumfire_document::{
    Connections, Document, ExpectSettings, Generator, Http, Load, Payload, Place, Pool,
    ReachSettings, Settings, Stop, Text, TimeoutSettings, TlsSettings,
};
use drumfire_plan::{Host as UrlHost, HttpRequest, Plan, Scheme};
use drumfire_units::Nanos;
use std::io;
use std::sync::Arc;

/// The maximum number of redirects with `-redir`: Go's client stops at the tenth.
const REDIRECTS: u32 = 9;

/// The maximum decoded size of a compressed body.
const DECODED_MAX: &str = "1GiB";

/// The maximum time that a user waits before it dials a refusing target again. go-wrk does not
/// wait, and counts millions of refusals per second.
const BACKOFF_MAX: Nanos = Nanos::from_secs(1);

/// The maximum number of users of `-c`: no machine can open more connections to one target.
const USERS_MAX: u32 = 1_000_000;

/// Concurrent requests on one HTTP/2 connection. Go's servers allow more, many others exactly this
/// number.
const STREAMS: u32 = 100;

/// The timeout for asking the server whether it chooses HTTP/2.
const VERSION_LIMIT: Nanos = Nanos::from_secs(5);

/// Builds the run, or the text that go-wrk prints instead.
pub(super) fn lower(args: &Args, host: &Arc<dyn Host>) -> Result<Run, LastWords> {
    let targets = WrittenTargets::find(args, &**host)?;
    if args.version {
        return Err(LastWords::on_stdout(format!("Version: {VERSION}\n"), 0));
    }
    let targets = match targets {
        Some(targets) if !args.help => targets,
        _ => return Err(LastWords::on_stdout(args::usage(), 0)),
    };
    let urls = targets.urls()?;
    let parts = RequestParts::from_args(args).map_err(mistake)?;
    let presentation = presentation(args, &targets, &urls, &parts);
    let banner = presentation.banner();
    let body = body(args, &**host, &banner)?;
    let tls = tls(args, &**host, &banner)?;
    let users = match user_count(args.users).map_err(mistake)? {
        Some(users) if args.seconds > 0 => users,
        // go-wrk starts no users, or none of its users starts a request.
        _ => return Err(LastWords::on_stdout(presentation.empty_report(), 0)),
    };
    let pool = Pool {
        requests: parts.requests(&urls),
        ..pool(args, &parts, users, tls)
    };
    let document = document(args, with_body(pool, body, &parts));
    let plan = compile(&document, host).map_err(|found| refused(&found, args, &banner))?;
    if wants_http2(args, &plan) {
        let upgraded = upgraded(document.clone(), parts.closes(args), users);
        let over_http2 =
            compile(&upgraded, host).map_err(|found| refused(&found, args, &banner))?;
        let limit = plan.first().timeouts.total.min(VERSION_LIMIT);
        let chosen = host.chooses_http2(&over_http2, limit);
        if chosen.map_err(|error| mistake(error.message))? {
            return Ok(Run {
                document: upgraded,
                plan: over_http2,
                presentation: Box::new(presentation),
            });
        }
    }
    Ok(Run {
        document,
        plan,
        presentation: Box::new(presentation),
    })
}

/// The message for the first mistake. A certificate that does not match its key is reported as in
/// go-wrk, after the banner.
fn refused(found: &[Diagnostic], args: &Args, banner: &str) -> LastWords {
    let Some(first) = found.first() else {
        return mistake(String::new());
    };
    let of_pair = |mistake: &&Diagnostic| {
        matches!(
            mistake.place,
            Place::Dialect {
                name: "-cert" | "-key",
                ..
            }
        )
    };
    if let Some(first) = found.iter().find(of_pair) {
        let why = match first.message.contains("does not belong to the certificate") {
            true => "tls: private key does not match public key",
            false => &first.message,
        };
        let (cert, key) = (&args.cert, &args.key);
        let message = format!("Unable to load cert tried to load {cert} and {key} but got {why}");
        return LastWords {
            stdout: banner.to_owned(),
            stderr: format!("{message}\n"),
            exit: 1,
        };
    }
    mistake(Diagnostic {
        remedy: String::new(),
        ..first.clone()
    })
}

/// Whether to use HTTP/2 if the server chooses it: with `-http`, and without it in go-wrk's special
/// case of `-cert`, `-key` and `-ca` together.
fn wants_http2(args: &Args, plan: &Plan) -> bool {
    let all = !args.cert.is_empty() && !args.key.is_empty() && !args.ca.is_empty();
    let origin = |request: &HttpRequest| request.url.origin.clone();
    let first = plan.first().requests.first().map(origin);
    let alone = first.is_some_and(|first| {
        first.scheme == Scheme::Https && plan.first().requests.iter().all(|r| origin(r) == first)
    });
    alone && args.http2.unwrap_or(all)
}

/// Changes the document to HTTP/2: users share connections, as in Go's client.
fn upgraded(mut document: Document, closes: bool, users: u32) -> Document {
    let settings = &mut document.pools[0].settings;
    settings.http.http = Some(TOOL.text("-http", &2));
    if closes {
        return document;
    }
    let count = users.div_ceil(STREAMS);
    let connections = &mut settings.connections;
    connections.connections = Some(TOOL.text("-c", &count));
    connections.streams = Some(TOOL.count("-c", users.div_ceil(count)));
    document
}

/// As many users as connections, each as fast as possible, for a number of seconds.
fn document(args: &Args, pool: Pool) -> Document {
    let threads = u32::try_from(args.cpus).ok().filter(|&cpus| cpus > 0);
    Document {
        pools: vec![pool],
        stop: Stop {
            after: Some(TOOL.text("-d", &span_of(args.seconds, 1_000_000_000))),
            ..Stop::default()
        },
        generator: Generator {
            threads: threads.map(|threads| TOOL.count("-cpus", threads)),
            // A go-wrk run draws no random values.
            ..TOOL.generator(0)
        },
        ..Document::default()
    }
}

/// The pool without its requests.
fn pool(args: &Args, parts: &RequestParts, users: u32, tls: TlsSettings) -> Pool {
    Pool {
        name: TOOL.text("", &"main"),
        load: Load {
            users: Some(TOOL.text("-c", &users)),
            ..Load::default()
        },
        settings: Settings {
            reach: ReachSettings {
                proxy: Some(TOOL.text("", &"none")),
                // A name without an address is an error of each request.
                unresolved: Some(TOOL.text("", &"fail")),
                ..ReachSettings::default()
            },
            http: Http {
                compressed: parts
                    .is_compressed(args)
                    .then(|| TOOL.text("-no-c", &"gzip")),
                max_decoded: parts
                    .is_compressed(args)
                    .then(|| TOOL.text("-no-c", &DECODED_MAX)),
                redirects: Some(match args.redirects {
                    true => TOOL.text("-redir", &REDIRECTS),
                    false => TOOL.text("-redir", &"refuse"),
                }),
                redirect_style: Some(TOOL.text("-redir", &"go")),
                expect: ExpectSettings {
                    status: Some(TOOL.text("", &EXPECT)),
                    ..ExpectSettings::default()
                },
                ..Http::default()
            },
            connections: Connections {
                connections: Some(TOOL.text("-c", &users)),
                keepalive: parts.closes(args).then(|| TOOL.switch("-no-ka", false)),
                // Go's client retries a request if a kept connection was closed before it was sent.
                retry_reused: Some(TOOL.switch("", true)),
                retry_style: Some(TOOL.text("", &"go")),
                // Go's client accepts the end of a TLS connection without close_notify.
                no_close_notify: Some(TOOL.switch("", true)),
                connect_backoff: Some(TOOL.text("", &BACKOFF_MAX)),
                ..Connections::default()
            },
            timeouts: timeouts(args.timeout_ms),
            tls,
            ..Settings::default()
        },
        ..Pool::default()
    }
}

/// The pool with headers and a body. If the body is empty, methods that usually have one announce
/// an empty body, as in Go's client. go-wrk has no templates, so template syntax is escaped.
fn with_body(mut pool: Pool, body: Option<Payload>, parts: &RequestParts) -> Pool {
    let announced = || Payload::Text(TOOL.text("-body", &""));
    pool.settings.fields.headers = parts.fields();
    pool.settings.templates = Some(TOOL.text("", &"none"));
    pool.settings.body.payload = body.or_else(|| parts.announces_body().then(announced));
    pool
}

/// How the run and its result are shown.
fn presentation(
    args: &Args,
    targets: &WrittenTargets,
    urls: &[Target],
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
        // A redirect may lead to any host.
        host: one_host(urls).filter(|_| !args.redirects),
        notes: notes(args, targets, urls, parts),
    }
}

/// The host of all URLs, if they share one, as error texts name it.
fn one_host(urls: &[Target]) -> Option<String> {
    let host = &urls.first()?.url.origin.host;
    let same = urls.iter().all(|target| target.url.origin.host == *host);
    same.then(|| match host {
        UrlHost::Name(name) => name.clone(),
        UrlHost::Address(address) => address.to_string(),
    })
}

/// The number of users; `None` for zero users.
fn user_count(count: i64) -> Result<Option<u32>, String> {
    match u32::try_from(count) {
        Ok(count @ 1..=USERS_MAX) => Ok(Some(count)),
        _ if count < 1 => Ok(None),
        _ => Err(format!("-c {count} is too high; use at most {USERS_MAX}")),
    }
}

/// A span of `count` units; saturates at the maximum span.
fn span_of(count: i64, nanos_per_unit: u64) -> Nanos {
    Nanos(count.unsigned_abs().saturating_mul(nanos_per_unit))
}

/// `-T` bounds the whole exchange and therefore every phase.
fn timeouts(milliseconds: i64) -> TimeoutSettings {
    let span = match milliseconds > 0 {
        true => span_of(milliseconds, 1_000_000),
        false => Nanos::MAX,
    };
    let bound = || Some(TOOL.bound("-T", span));
    TimeoutSettings {
        timeout: bound(),
        connect_timeout: bound(),
        tls_timeout: bound(),
        head_timeout: bound(),
    }
}

/// The request's body; `None` if it is empty.
fn body(args: &Args, host: &dyn Host, banner: &str) -> Result<Option<Payload>, LastWords> {
    let Some(path) = args.body.strip_prefix('@') else {
        let given = !args.body.is_empty();
        return Ok(given.then(|| Payload::Text(TOOL.text("-body", &args.body))));
    };
    let bytes = host.read(path).map_err(|error| {
        let (path, why) = (crate::go_text::quoted(path), open_failed(path, &error));
        LastWords::on_stdout(format!("{banner}could not read file {path}: {why}\n"), 1)
    })?;
    Ok((!bytes.is_empty()).then(|| TOOL.payload("-body", path, &bytes, host)))
}

/// The settings for https targets.
fn tls(args: &Args, host: &dyn Host, banner: &str) -> Result<TlsSettings, LastWords> {
    let fail = |message: String| LastWords {
        stdout: banner.to_owned(),
        stderr: format!("{message}\n"),
        exit: 1,
    };
    let pair = |name: &'static str, path: &str| -> Result<Option<Text>, LastWords> {
        host.read(path).map_err(|error| {
            let why = open_failed(path, &error);
            let (cert, key) = (&args.cert, &args.key);
            fail(format!(
                "Unable to load cert tried to load {cert} and {key} but got {why}"
            ))
        })?;
        Ok(Some(TOOL.text(name, &path)))
    };
    let (cert, key) = match (args.cert.as_str(), args.key.as_str()) {
        ("", "") => (None, None),
        ("", _) => return Err(fail("client certificate can't be empty".to_owned())),
        (_, "") => return Err(fail("client key can't be empty".to_owned())),
        (cert, key) => (pair("-cert", cert)?, pair("-key", key)?),
    };
    let trusted = |error: io::Error| {
        fail(format!(
            "Unable to open cert {}",
            open_failed(&args.ca, &error)
        ))
    };
    let cacert = match args.ca.as_str() {
        "" => None,
        path => {
            host.read(path).map_err(trusted)?;
            Some(TOOL.text("-ca", &path))
        }
    };
    Ok(TlsSettings {
        insecure: args.no_verify.then(|| TOOL.switch("-no-vr", true)),
        cacert,
        cert,
        key,
        ..TlsSettings::default()
    })
}

/// Notes for which go-wrk's report has no place.
fn notes(
    args: &Args,
    targets: &WrittenTargets,
    urls: &[Target],
    parts: &RequestParts,
) -> Vec<String> {
    let https = urls
        .iter()
        .any(|target| target.url.origin.scheme == Scheme::Https);
    let mut notes = Vec::new();
    if args.http2 == Some(true) && !https {
        notes.push("-http: HTTP/1.1 is used; HTTP/2 is negotiated with TLS only".to_owned());
    }
    if args.no_verify && https {
        notes.push("-no-vr: the server's certificate is not verified".to_owned());
    }
    for name in parts.left_out() {
        notes.push(format!(
            "-H: {name} is not sent as given; it is derived from the body"
        ));
    }
    let ignored = targets.ignored_words();
    if !ignored.is_empty() {
        notes.push(format!("ignored: {}", ignored.join(" ")));
    }
    notes
}
