//! Turns a slow_cooker command line into a document.
//!
//! Checks follow slow_cooker's order: help, the URLs, the numbers, the unit, the body.

use super::args::{self, Args, Line};
use super::failures::Dialing;
use super::render::{Presentation, Shape, Shown};
use super::targets::Targets;
use super::{PROGRAM, mistake};
use crate::go_http::{canonical, untemplated};
use crate::go_text::open_failed;
use crate::outcome::{LastWords, Run};
use crate::written::ToolFlags;
use drumfire_compile::{Host, compile};
use drumfire_document::Diagnostic;
use drumfire_document::{
    Ask, Connections, Document, ExpectSettings, Feed, FeedRows, Field, Fields, Generator, Http,
    Load, Payload, Pool, ReachSettings, Request, Settings, Stop, TimeoutSettings, TlsSettings,
};
use drumfire_plan::Method;
use drumfire_units::Nanos;
use std::sync::Arc;

/// The places of values in the document.
const TOOL: ToolFlags = ToolFlags(PROGRAM);

/// The User-Agent of Go's client.
const USER_AGENT: &str = "Go-http-client/1.1";

/// The field that numbers requests, and the feed of its values.
const REQUEST_ID: (&str, &str) = ("Sc-Req-Id", "sc_req_id");

/// The feed of Host headers.
const HOSTS: &str = "hosts";

/// Go's client stops at the tenth redirect.
const REDIRECTS: u32 = 9;

/// Every response counts; slow_cooker distinguishes good from bad ones itself.
const ANY_STATUS: &str = "100-599";

/// The timeout for dialing, and for a TLS handshake.
const DIAL_MAX: Nanos = Nanos::from_secs(5);

/// The maximum decoded size of a compressed body.
const DECODED_MAX: &str = "1GiB";

/// The maximum time that a user waits before it dials a refusing target again: a fraction of the
/// time between two requests, so that the user keeps its rate.
const BACKOFF_PART: u64 = 4;
const BACKOFF_MAX: Nanos = Nanos::from_millis(100);

/// Failures are printed at least this often if the interval is a multiple of it; with metrics, the
/// shorter one applies.
const PORTION: Nanos = Nanos::from_secs(1);
const PORTION_COUNTED: Nanos = Nanos::from_millis(100);

/// The duration of a run without an end: a hundred years.
const ENDLESS: Nanos = Nanos::from_secs(100 * 365 * 86_400);

/// The maximum number of users: no machine can open more connections to one target.
const USERS_MAX: i64 = 1_000_000;

/// The resolution of the share of hashed responses.
const SHARES: f64 = 1_000.0;

/// Builds the run, or the text that slow_cooker prints instead.
pub(super) fn lower(line: &Line, host: &Arc<dyn Host>, seed: u64) -> Result<Run, LastWords> {
    let args = &line.args;
    if args.help {
        return Err(LastWords::on_stderr(args::usage(), super::USAGE_EXIT));
    }
    let [argument] = &line.words[..] else {
        return Err(mistake(
            "Expecting one argument: the target url to test, e.g. http://localhost:4140/",
        ));
    };
    let targets = Targets::find(argument, &**host)?;
    if let Some(wrong) = args.host.split(',').find(|name| name.contains('/')) {
        let wrong = wrong.trim();
        return Err(mistake(format!(
            "`{wrong}` is not a host; use a name such as web.test, without scheme and path"
        )));
    }
    let rate = Rate::from_args(args)?;
    let unit = match args.latency_unit.as_str() {
        "ms" => 1_000_000,
        "us" => 1_000,
        "ns" => 1,
        _ => return Err(mistake("latency unit should be [ms | us | ns].")),
    };
    if args.interval == Nanos::ZERO {
        return Err(mistake("interval must be above 0"));
    }
    let body = body(args, argument, &**host)?;
    let document = document(args, &targets, &rate, body, seed);
    let plan = compile(&document, host).map_err(|found| refused(&found))?;
    let shown = Shown {
        shape: match args.seed_format {
            true => Shape::Seed,
            false => Shape::Current,
        },
        banner: banner(args, &targets, &rate),
        rate: rate.total(),
        interval: args.interval,
        iterations: args.iterations,
        unit,
        summary: !args.no_latency_summary,
        csv: Some(args.report_latencies_csv.clone()).filter(|path| !path.is_empty()),
        metrics_at: Some(args.metric_addr.clone()).filter(|address| !address.is_empty()),
        host: targets.host(),
        dialing: match (1..DIAL_MAX.0).contains(&args.timeout.0) {
            true => Dialing::CutOff,
            false => Dialing::Bounded,
        },
        notes: notes(args, &targets),
    };
    Ok(Run {
        document,
        plan,
        presentation: Box::new(Presentation::new(shown, host)),
    })
}

/// The rate of each user, and the number of users.
struct Rate {
    /// The rate of each user.
    qps: f64,
    users: u32,
    /// The rates of each user and of all users, as decimal numbers.
    each: String,
    all: String,
}

impl Rate {
    fn from_args(args: &Args) -> Result<Self, LastWords> {
        let qps: f64 = args.qps.parse().unwrap_or_default();
        if qps <= 0.0 {
            return Err(mistake("qps must be at least 1"));
        }
        let users = u32::try_from(args.concurrency).ok();
        let users = users.filter(|users| (1..=USERS_MAX).contains(&i64::from(*users)));
        let users = users.ok_or_else(|| match args.concurrency < 1 {
            true => mistake("concurrency must be at least 1"),
            false => mistake(format!("concurrency must be at most {USERS_MAX}")),
        })?;
        let rate = |times| {
            let rate = product(&args.qps, times);
            rate.ok_or_else(|| mistake("qps has too many digits"))
        };
        Ok(Self {
            qps,
            users,
            each: rate(1)?,
            all: rate(users)?,
        })
    }

    /// Requests per second of all users.
    fn total(&self) -> f64 {
        self.qps * f64::from(self.users)
    }

    /// The time between two requests of a user.
    fn period(&self) -> Nanos {
        Nanos((1e9 / self.qps).ceil() as u64)
    }
}

/// The exact product of a decimal number and a whole number.
fn product(decimal: &str, times: u32) -> Option<String> {
    let (whole, fraction) = decimal.split_once('.').unwrap_or((decimal, ""));
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let product = digits.checked_mul(u128::from(times))?.to_string();
    let places = fraction.len();
    let product = format!("{product:0>width$}", width = places + 1);
    let (whole, fraction) = product.split_at(product.len() - places);
    let fraction = fraction.trim_end_matches('0');
    Some(match fraction {
        "" => whole.to_owned(),
        fraction => format!("{whole}.{fraction}"),
    })
}

/// The first line.
fn banner(args: &Args, targets: &Targets, rate: &Rate) -> String {
    let to = match targets.urls.len() {
        1 => format!("to {}", targets.title),
        _ => format!("using url list {}", targets.title),
    };
    let (method, users) = (&args.method, rate.users);
    format!(
        "# sending {} {method} req/s with concurrency={users} {to} ...",
        rate.all
    )
}

/// The request's body; `None` without one. `urls` is the argument with the target.
fn body(args: &Args, urls: &str, host: &dyn Host) -> Result<Option<Payload>, LastWords> {
    let text = |text: &str| Payload::Text(TOOL.text("-data", &untemplated(text)));
    // The list of URLs has already read all of standard input.
    let data = match (args.data.as_str(), urls) {
        ("@-", "@-") => "",
        (data, _) => data,
    };
    let Some(path) = data.strip_prefix('@') else {
        let is_sent = !data.is_empty() || Method::announces_content(&args.method);
        return Ok(is_sent.then(|| text(data)));
    };
    let place = if path == "-" { "/dev/stdin" } else { path };
    let bytes = host
        .read(place)
        .map_err(|error| LastWords::on_stderr(format!("{}\n", open_failed(path, &error)), 1))?;
    Ok(Some(match String::from_utf8(bytes) {
        Ok(read) => text(&read),
        Err(error) => TOOL.inline("-data", error.as_bytes()),
    }))
}

/// The run as a document.
fn document(
    args: &Args,
    targets: &Targets,
    rate: &Rate,
    body: Option<Payload>,
    seed: u64,
) -> Document {
    let after = match (args.iterations, args.total_requests) {
        (0, 0) => Some(TOOL.text("", &ENDLESS)),
        (0, _) => None,
        (count, _) => {
            let lasts = Nanos(args.interval.0.saturating_mul(count));
            Some(TOOL.text("-iterations", &lasts.min(ENDLESS)))
        }
    };
    let hosts = hosts(args, targets);
    Document {
        feeds: feeds(&hosts),
        pools: vec![Pool {
            name: TOOL.text("", &"main"),
            load: Load {
                rate: Some(TOOL.text("-qps", &format!("{}/s", rate.each))),
                rate_per: Some(TOOL.text("-qps", &"user")),
                // All users start within the time between two requests, which spreads their
                // requests.
                start: Some(TOOL.text("-concurrency", &format!("{}/s", rate.all))),
                users: Some(TOOL.text("-concurrency", &rate.users)),
                // At most one request waits for a busy user.
                late: Some(TOOL.text("-qps", &"skip")),
                ..Load::default()
            },
            settings: settings(args, targets, rate, &hosts, body),
            requests: requests(args, targets),
            ..Pool::default()
        }],
        stop: Stop {
            after,
            requests: (args.total_requests > 0)
                .then(|| TOOL.count("-totalRequests", args.total_requests)),
            ..Stop::default()
        },
        generator: Generator {
            interval: Some(TOOL.text("-interval", &portion(args))),
            ..TOOL.generator(seed)
        },
        ..Document::default()
    }
}

/// The interval of the measurement; the intervals of slow_cooker consist of such portions.
fn portion(args: &Args) -> Nanos {
    let portion = match args.metric_addr.is_empty() {
        true => PORTION,
        false => PORTION_COUNTED,
    };
    match args.interval > portion && args.interval.0.is_multiple_of(portion.0) {
        true => portion,
        false => args.interval,
    }
}

/// The Host headers. An empty one among others means the URLs' own host, if all URLs share one.
fn hosts(args: &Args, targets: &Targets) -> Vec<String> {
    let listed = args.host.split(',').map(str::trim);
    if listed.clone().all(str::is_empty) {
        return Vec::new();
    }
    let own = targets.authority();
    let host = |host: &str| match host {
        "" => own.clone(),
        host => Some(host.to_owned()),
    };
    listed.filter_map(host).collect()
}

/// The feed of request numbers, and the feed of Host headers if there are several.
fn feeds(hosts: &[String]) -> Vec<Feed> {
    let mut feeds = vec![Feed {
        name: TOOL.text("", &REQUEST_ID.1),
        rows: FeedRows::Range(TOOL.text("", &"1..9000000000000000000")),
        ..Feed::default()
    }];
    if hosts.len() > 1 {
        feeds.push(Feed {
            name: TOOL.text("-host", &HOSTS),
            rows: FeedRows::Inline(TOOL.text("-host", &serde_json::Value::from(hosts))),
            order: Some(TOOL.text("-host", &"random")),
            ..Feed::default()
        });
    }
    feeds
}

/// How requests travel.
fn settings(
    args: &Args,
    targets: &Targets,
    rate: &Rate,
    hosts: &[String],
    body: Option<Payload>,
) -> Settings {
    let backoff = Nanos(rate.period().0 / BACKOFF_PART).min(BACKOFF_MAX);
    let bound = match args.timeout {
        Nanos::ZERO => Nanos::MAX,
        timeout => timeout,
    };
    let at_most = |most: Nanos| Some(TOOL.bound("-timeout", bound.min(most)));
    let is_secure = targets.urls.iter().any(|url| url.starts_with("https:"));
    let mut settings = Settings {
        reach: ReachSettings {
            // A name without an address is an error of each request.
            unresolved: Some(TOOL.text("", &"fail")),
            proxy_agent: Some(TOOL.text("", &USER_AGENT)),
            ..ReachSettings::default()
        },
        http: Http {
            compressed: is_compressed(args).then(|| TOOL.text("-compress", &"gzip")),
            max_decoded: is_compressed(args).then(|| TOOL.text("-compress", &DECODED_MAX)),
            redirects: Some(TOOL.text("", &REDIRECTS)),
            redirect_style: Some(TOOL.text("", &"go")),
            expect: ExpectSettings {
                status: Some(TOOL.text("", &ANY_STATUS)),
                ..ExpectSettings::default()
            },
            ..Http::default()
        },
        connections: Connections {
            connections: Some(TOOL.text("-concurrency", &rate.users)),
            keepalive: args.noreuse.then(|| TOOL.switch("-noreuse", false)),
            // Go's client retries a request if a kept connection was closed before it was sent.
            retry_reused: Some(TOOL.switch("", true)),
            retry_style: Some(TOOL.text("", &"go")),
            // Go's client accepts the end of a TLS connection without close_notify.
            no_close_notify: Some(TOOL.switch("", true)),
            connect_backoff: Some(TOOL.text("-qps", &backoff)),
            // slow_cooker's measured time includes dialing.
            connection_opening: Some(TOOL.text("", &"service")),
            ..Connections::default()
        },
        timeouts: TimeoutSettings {
            timeout: at_most(Nanos::MAX),
            connect_timeout: at_most(DIAL_MAX),
            tls_timeout: at_most(DIAL_MAX),
            head_timeout: at_most(Nanos::MAX),
        },
        tls: TlsSettings {
            insecure: is_secure.then(|| TOOL.switch("", true)),
            ..TlsSettings::default()
        },
        ..Settings::default()
    };
    settings.fields.headers = fields(args, hosts);
    settings.body.payload = body;
    settings
}

/// Whether to request gzip. Like in Go's client, not if the user sets encodings or ranges, and not
/// if the response has no body.
fn is_compressed(args: &Args) -> bool {
    let speaks_of = |wanted: &str| has_field(args, wanted);
    args.compress && args.method != "HEAD" && !speaks_of("Accept-Encoding") && !speaks_of("Range")
}

fn has_field(args: &Args, wanted: &str) -> bool {
    let mut names = args.headers.iter().map(|(name, _)| name);
    names.any(|name| name.eq_ignore_ascii_case(wanted))
}

/// The fields of every request.
fn fields(args: &Args, hosts: &[String]) -> Vec<Field> {
    let own = |name: &str, value: &str| TOOL.field("-header", name, value);
    let mut fields = vec![own(REQUEST_ID.0, &format!("{{{{ {} }}}}", REQUEST_ID.1))];
    match hosts {
        [] => {}
        [host] => fields.push(TOOL.field("-host", "Host", &untemplated(host))),
        _ => fields.push(TOOL.field("-host", "Host", &format!("{{{{ {HOSTS} }}}}"))),
    }
    if !has_field(args, "User-Agent") {
        fields.push(own("User-Agent", USER_AGENT));
    }
    for (name, value) in &args.headers {
        // `-noreuse` contradicts the field and takes precedence.
        let keeps = name.eq_ignore_ascii_case("Connection")
            && value.trim().eq_ignore_ascii_case("keep-alive");
        let is_lost = is_left_out(name) || args.noreuse && keeps;
        if !is_lost {
            fields.push(own(&canonical(name), &untemplated(value)));
        }
    }
    fields
}

/// Whether Go's client generates a field and ignores the user's.
fn is_left_out(name: &str) -> bool {
    let made = ["Host", "Content-Length", "Trailer", "Transfer-Encoding"];
    made.iter().any(|made| name.eq_ignore_ascii_case(made))
}

/// The requests, which take turns; each occurs twice if only some responses are hashed.
fn requests(args: &Args, targets: &Targets) -> Vec<Request> {
    let share = hashed(args);
    let rest = SHARES as u64 - share;
    let mut requests = Vec::new();
    for url in &targets.urls {
        for (is_hashed, weight) in [(true, share), (false, rest)] {
            if weight == 0 {
                continue;
            }
            let mut request = Request::new(Ask::Url {
                method: TOOL.text("-method", &method(args)),
                url: TOOL.text("", &untemplated(url)),
            });
            request.name = Some(TOOL.text("", &targets.title));
            request.fields = Fields::Listed(Vec::new());
            request.weight = (share > 0 && rest > 0).then(|| TOOL.count("-hashSampleRate", weight));
            if is_hashed {
                let hash = format!("fnv1a64 {:016x}", args.hash_value);
                request.expect.body_hash = Some(TOOL.text("-hashValue", &hash));
            }
            requests.push(request);
        }
    }
    requests
}

/// The share of responses that are hashed, in [`SHARES`].
fn hashed(args: &Args) -> u64 {
    (args.hash_sample_rate * SHARES).round().clamp(0.0, SHARES) as u64
}

/// The method; Go's client takes none as GET.
fn method(args: &Args) -> &str {
    match args.method.as_str() {
        "" => "GET",
        method => method,
    }
}

/// The message on the mistakes that prevent the run.
fn refused(found: &[Diagnostic]) -> LastWords {
    let lines: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
    mistake(lines.join("\n"))
}

/// Notes for which slow_cooker's lines have no place.
fn notes(args: &Args, targets: &Targets) -> Vec<String> {
    let mut notes = Vec::new();
    if targets.urls.iter().any(|url| url.starts_with("https:")) {
        notes.push("certificates are not verified, as in slow_cooker".to_owned());
    }
    if args.hash_value != 0 && hashed(args) == 0 {
        let note = "-hashValue: no response is checked; set -hashSampleRate to a share such as 1";
        notes.push(note.to_owned());
    }
    if args.hash_sample_rate > 1.0 {
        notes.push("-hashSampleRate: every response is hashed; the highest share is 1".to_owned());
    }
    for (name, _) in args.headers.iter().filter(|(name, _)| is_left_out(name)) {
        let instead = match name.eq_ignore_ascii_case("Host") {
            true => "; use -host",
            false => ": it is derived from the body",
        };
        notes.push(format!("-header: {name} is not sent as given{instead}"));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::{Args, Targets, notes, product};

    #[test]
    fn a_hash_that_nothing_is_checked_against_is_noted() {
        let targets = Targets {
            urls: vec!["http://h/".to_owned()],
            title: "http://h/".to_owned(),
        };
        for (hash_value, hash_sample_rate, note) in [
            (0, 0.0, None),
            (7, 1.0, None),
            (7, 0.0, Some("-hashValue: no response is checked")),
            (7, -1.0, Some("-hashValue: no response is checked")),
            (7, 2.0, Some("-hashSampleRate: every response is hashed")),
        ] {
            let args = Args {
                hash_value,
                hash_sample_rate,
                ..Args::default()
            };
            let notes = notes(&args, &targets);
            assert_eq!(notes.len(), usize::from(note.is_some()), "{notes:?}");
            assert!(
                notes
                    .iter()
                    .zip(note)
                    .all(|(found, note)| found.starts_with(note)),
                "{notes:?}"
            );
        }
    }

    #[test]
    fn rates_are_multiplied_exactly() {
        for (decimal, times, wanted) in [
            ("100", 10, "1000"),
            ("0.5", 1, "0.5"),
            ("0.5", 3, "1.5"),
            ("0.1", 10, "1"),
            (".25", 2, "0.5"),
            ("2.", 4, "8"),
            ("0.001", 7, "0.007"),
        ] {
            assert_eq!(
                product(decimal, times).as_deref(),
                Some(wanted),
                "{decimal} {times}"
            );
        }
    }
}
