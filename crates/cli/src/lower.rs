//! From `drumfire http`'s flags to a plan.

pub(crate) mod grpc;
mod load;
pub(crate) mod metadata;
mod target;
mod transport;

pub(crate) use target::targets;

use self::load::Multiplexing;
use crate::exit::Failure;
use crate::flags::{HttpFlags, LoadFlags, OutputFlags, TransportFlags};
use crate::input;
use drumfire_plan::{
    Body, Compressed, Expect, ExpectContinue, Header, HttpOptions, HttpRequest, HttpVersion,
    Method, Plan, Redirects, Samples, Threshold, Timeouts, Url,
};
use drumfire_units::{ByteSize, Nanos};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// With `--compressed`, a body may grow to this when it is decoded: 64 MiB.
const DECODED_BYTES_MAX: ByteSize = ByteSize(64 << 20);

/// How long a body waits for `100 Continue`, as curl has it.
const CONTINUE_WAIT: Nanos = Nanos::from_secs(1);

/// The plan that the flags describe. Reads the files that they name.
pub(crate) fn plan(flags: &HttpFlags) -> Result<Plan, Failure> {
    let urls = targets(&flags.urls)?;
    let (mut http, timeouts) = transport::options(&flags.transport, &urls)?;
    http.compressed = if flags.compressed {
        Compressed::Decode(DECODED_BYTES_MAX)
    } else {
        Compressed::AsSent
    };
    http.version = if flags.http2 {
        HttpVersion::Http2
    } else {
        HttpVersion::Http1
    };
    http.redirects = flags.redirects.map_or(Redirects::Report, Redirects::Follow);
    if flags.expect_continue {
        http.expect_continue = ExpectContinue::Wait(CONTINUE_WAIT);
    }
    let common = Common {
        load: &flags.load,
        transport: &flags.transport,
        output: &flags.output,
        multiplexing: multiplexing(flags),
    };
    let plan = common.plan(requests(flags, urls)?, http, timeouts)?;
    checked(plan, &flags.load)
}

/// The plan, or the first thing that is wrong with it and the flag that it comes from.
fn checked(plan: Plan, flags: &LoadFlags) -> Result<Plan, Failure> {
    match plan.check().first() {
        None => Ok(plan),
        Some(finding) => Err(Failure::usage(match flag_of(&finding.place, flags) {
            Some(flag) => format!("{flag}: {}", finding.message),
            None => finding.message.clone(),
        })),
    }
}

/// What every kind of load can be told.
struct Common<'a> {
    load: &'a LoadFlags,
    transport: &'a TransportFlags,
    output: &'a OutputFlags,
    multiplexing: Multiplexing,
}

impl Common<'_> {
    /// A plan of these requests, which is not checked yet.
    fn plan(
        &self,
        requests: Vec<HttpRequest>,
        http: HttpOptions,
        timeouts: Timeouts,
    ) -> Result<Plan, Failure> {
        let mut lowered = load::of(self.load, self.multiplexing)?;
        transport::adjust(self.transport, &mut lowered.connections)?;
        Ok(Plan {
            requests,
            stop: load::stop(self.load, &lowered)?,
            load: lowered.load,
            users: lowered.users,
            warmup: optional("--warmup", self.load.warmup.as_deref())?.unwrap_or_default(),
            http,
            connections: lowered.connections,
            timeouts,
            expect: Expect::BELOW_400,
            samples: Samples::Forget,
            thresholds: thresholds(self.output)?,
            seed: self.load.seed,
            interval: parsed("--interval", &self.output.interval)?,
        })
    }
}

/// How many requests a connection carries at a time. Streams that are asked for without HTTP/2
/// are left to the plan's check.
fn multiplexing(flags: &HttpFlags) -> Multiplexing {
    match (flags.http2, flags.transport.streams) {
        (false, None) => Multiplexing::None,
        (_, streams) => Multiplexing::Streams(streams),
    }
}

/// What the result must satisfy.
fn thresholds(flags: &OutputFlags) -> Result<Vec<Threshold>, Failure> {
    let thresholds = flags.threshold.iter().map(|text| {
        text.parse::<Threshold>()
            .map_err(|error| in_text("--threshold", text, error.at, &error.message))
    });
    thresholds.collect()
}

/// The flag that a place in the plan comes from, where one flag does.
fn flag_of(place: &str, flags: &LoadFlags) -> Option<&'static str> {
    Some(match place {
        "load.rate" => "-r",
        "load.users" if flags.users.is_some() => "-u",
        "load.users" | "connections.count" => "-c",
        "stop.duration" => "-z",
        "stop.requests" => "-n",
        "stop.iterations" => "--iterations",
        "warmup" => "--warmup",
        "interval" => "--interval",
        "connections.threads" => "--threads",
        "connections.streams" => "--streams",
        "connections.ping" => "--ping",
        "connections.hints" => "--respect-keepalive",
        _ => return None,
    })
}

/// One request for each URL.
fn requests(flags: &HttpFlags, urls: Vec<Url>) -> Result<Vec<HttpRequest>, Failure> {
    let body = match &flags.data {
        None => Body(None),
        Some(data) => Body(Some(Arc::from(input::text_or_file("-d", data)?))),
    };
    let usual = if body.0.is_some() { "POST" } else { "GET" };
    let given = flags.method.as_deref().unwrap_or(usual);
    let method = Method::parse(given).map_err(|error| Failure::usage(format!("-X: {error}")))?;
    let headers = flags
        .headers
        .iter()
        .map(|line| Header::parse(line).map_err(|error| Failure::usage(format!("-H: {error}"))))
        .collect::<Result<Vec<_>, _>>()?;
    let request = |url: Url| HttpRequest {
        step: drumfire_report::secret::url(&url.to_string()),
        call: None,
        method: method.clone(),
        headers: headers.clone(),
        body: body.clone(),
        url,
    };
    Ok(urls.into_iter().map(request).collect())
}

/// A flag's value, or what is wrong with it.
fn parsed<T: FromStr<Err: fmt::Display>>(flag: &str, text: &str) -> Result<T, Failure> {
    text.parse()
        .map_err(|error| Failure::usage(format!("{flag}: {error}")))
}

/// An optional flag's value, or what is wrong with it.
fn optional<T: FromStr<Err: fmt::Display>>(
    flag: &str,
    text: Option<&str>,
) -> Result<Option<T>, Failure> {
    text.map(|text| parsed(flag, text)).transpose()
}

/// What is wrong in a text, with a mark under the place.
fn in_text(flag: &str, text: &str, at: usize, message: &str) -> Failure {
    let column = text.get(..at).map_or(0, |before| before.chars().count());
    let shown: String = text
        .chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect();
    Failure::usage(format!("{flag}: {message}\n  {shown}\n  {:column$}^", ""))
}
