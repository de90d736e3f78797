//! From flags to a document: each value as given, with its flag as its place.
//!
//! Only values that a document can't hold are refused here; the compiler checks the rest.

mod form;
mod grpc;
mod http;
mod load;
mod once;
mod transport;

use crate::exit::Failure;
use crate::input;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_document::{
    Ask, Count, Document, Feed, FeedRows, Field, Generator, Monitoring, Outputs, Payload, Place,
    Placed, Pool, Stop, Switch, Text,
};
use drumfire_document::{Diagnostic, Layer as _, names::flag};
use drumfire_plan::secret;
use drumfire_report::Naming;
use std::fmt::Display;
use std::path::{Path, PathBuf};

pub(crate) use grpc::of as of_grpc;
pub(crate) use http::of as of_http;
pub(crate) use load::put as put_load;
pub(crate) use once::once;

use crate::flags::{
    DataFlags, FileFlags, IntervalFlags, LoadFlags, MeteringFlags, OutputFlags, ReportFlags,
    ResumeFlags,
};

/// The name of the one pool that a command line makes.
const POOL: &str = "main";

/// A document, and what its report says of how it came about.
pub(crate) struct Written {
    pub(crate) document: Document,
    pub(crate) notes: Vec<String>,
    /// How its settings are named.
    pub(crate) naming: Naming,
    /// Where its relative paths lead from; empty stands for where the program was started.
    pub(crate) folder: PathBuf,
}

impl From<Document> for Written {
    fn from(document: Document) -> Self {
        Self {
            document,
            notes: Vec::new(),
            naming: Naming::Flags,
            folder: PathBuf::new(),
        }
    }
}

/// The place of a flag's value. A key without a flag in its row has none, and messages about the
/// value would name nothing.
fn at(key: &str) -> Place {
    let place = flag(key);
    debug_assert!(place != Place::Nowhere, "the row of `{key}` has no flag");
    place
}

/// A flag's value, with the key that it sets.
fn text(key: &str, value: &impl Display) -> Text {
    Placed::new(value.to_string(), at(key))
}

/// The same of a flag that may be missing.
fn some(key: &str, value: Option<&impl Display>) -> Option<Text> {
    value.map(|value| text(key, value))
}

/// The same of a flag that may be given several times.
fn texts<T: Display>(key: &str, values: &[T]) -> Vec<Text> {
    values.iter().map(|value| text(key, value)).collect()
}

/// The value of a flag with a number.
fn count<T: Into<u64>>(key: &str, value: Option<T>) -> Option<Count> {
    value.map(|value| Placed::new(value.into(), at(key)))
}

/// The value of a flag without an argument: `means` when it is given, none when it is not.
fn switch(key: &str, given: bool, means: bool) -> Option<Switch> {
    given.then(|| Placed::new(means, at(key)))
}

/// `Name: value`.
fn field(key: &str, line: &str) -> Result<Field, Failure> {
    // Names of HTTP/2's own fields begin with a colon; they are refused later, by name.
    let rest = line.strip_prefix(':').unwrap_or(line);
    let start = line.len() - rest.len();
    let Some(at) = rest.find(':') else {
        let (file, line) = match line.strip_prefix('@') {
            Some(file) => (true, file),
            None => (false, line),
        };
        let shown = secret::line_without_colon(line);
        let shown = shown.replace(char::is_control, " ");
        let message = match file {
            true => format!(
                "`@{shown}` would read a file, which is not supported; write each field as `Name: value`"
            ),
            false => format!("`{shown}` has no colon; write `Name: value`"),
        };
        return Err(Failure::usage(Diagnostic::new(&at(key), message)));
    };
    let (name, value) = (&line[..start + at], &line[start + at + 1..]);
    Ok(Field {
        name: text(key, &name.trim()),
        value: text(key, &value.trim_matches(|c: char| c.is_ascii_whitespace())),
    })
}

/// `Name: value`, several times.
fn fields(key: &str, lines: &[String]) -> Result<Vec<Field>, Failure> {
    lines.iter().map(|line| field(key, line)).collect()
}

/// A value that is a file's content after `@`, standard input after `@-`, or the text itself.
/// Standard input is copied into the document, for it can't be read again.
fn payload(key: &str, value: &str) -> Result<Payload, Failure> {
    match value.strip_prefix('@') {
        None => Ok(Payload::Text(text(key, &value))),
        Some("-") => {
            let place = match at(key) {
                Place::Flag { name } => Place::Stdin { flag: name },
                place => place,
            };
            let bytes = input::stdin(&place.to_string())?;
            Ok(match String::from_utf8(bytes) {
                Ok(text) => Payload::Text(Placed::new(text, place)),
                Err(error) => {
                    Payload::Base64(Placed::new(STANDARD.encode(error.as_bytes()), place))
                }
            })
        }
        Some(path) => Ok(Payload::File(text(key, &path))),
    }
}

/// The feeds that flags name.
fn feeds(flags: &DataFlags) -> Result<Vec<Feed>, Failure> {
    let order = flags.feed_order.as_deref();
    flags.feed.iter().map(|given| feed(given, order)).collect()
}

/// `NAME=FILE`; the file's extension is its format.
fn feed(given: &str, order: Option<&str>) -> Result<Feed, Failure> {
    let parts = given.split_once('=');
    let Some((name, path)) = parts.filter(|(name, path)| !name.is_empty() && !path.is_empty())
    else {
        let shown = given.escape_default();
        let message =
            format!("`{shown}` is not of the form NAME=FILE; use one such as users=users.csv");
        return Err(Failure::usage(Diagnostic::new(&at("feeds"), message)));
    };
    let file = text("feeds", &path);
    let extension = Path::new(path).extension().and_then(|e| e.to_str());
    let extension = extension.map(str::to_ascii_lowercase);
    let (order, at_end) = match order {
        None | Some("turn") => (None, None),
        Some("random") => (Some(text("feeds.order", &"random")), None),
        Some("once") => (None, Some(text("feeds.order", &"stop"))),
        Some(other) => {
            let shown = other.escape_default();
            let message = format!("unknown order `{shown}`; use turn, random or once");
            let place = at("feeds.order");
            return Err(Failure::usage(Diagnostic::new(&place, message)));
        }
    };
    Ok(Feed {
        name: text("feeds", &name),
        rows: match extension.as_deref() {
            Some("jsonl" | "ndjson") => FeedRows::JsonLines(file),
            Some("json") => FeedRows::Json(file),
            _ => FeedRows::Csv(file),
        },
        order,
        at_end,
        ..Feed::default()
    })
}

/// The parts of a document that every kind of load has beside its pool.
fn document(pool: Pool, load: &LoadFlags, output: &OutputFlags) -> Result<Document, Failure> {
    let document = Document {
        pools: vec![Pool {
            name: Placed::new(POOL.to_owned(), Place::Nowhere),
            load: load::load(load),
            ..pool
        }],
        stop: Stop {
            abort: texts("abort", &output.abort_on),
            max_errors: count("max_errors", output.max_errors),
            ..load::stop(load)
        },
        thresholds: texts("thresholds", &output.threshold),
        outputs: outputs(output)?,
        generator: generator(load, output.interval.as_ref()),
        ..Document::default()
    };
    Ok(match output.show {
        true => once(document),
        false => document,
    })
}

/// The program that sends.
fn generator(load: &LoadFlags, interval: Option<&String>) -> Generator {
    Generator {
        threads: count("threads", load.threads),
        seed: count("seed", load.seed),
        warmup: some("warmup", load.warmup.as_ref()),
        spin: switch("spin", load.spin, true),
        clock: some("clock", load.clock.as_ref()),
        interval: some("interval", interval),
        i_own_this_target: switch("i_own_this_target", load.i_own_this_target, true),
    }
}

/// Where results go.
fn outputs(flags: &OutputFlags) -> Result<Outputs, Failure> {
    let own = Outputs {
        explain: switch("explain", flags.explain, true),
        brief: switch("brief", flags.brief, true),
        live: switch("live", flags.no_tui, false),
        github: switch("github", flags.no_github, false),
        quiet: switch("quiet", flags.quiet, true),
        rows: path("rows", flags.rows.as_ref()),
        strict: switch("strict", flags.strict, true),
        ..file_outputs(&flags.files, &flags.intervals)
    };
    with_metering(own, &flags.metering)
}

fn path(key: &'static str, path: Option<&PathBuf>) -> Option<Text> {
    path.map(|path| text(key, &path.display()))
}

/// Where the results of the whole run go, and the figures of each interval.
fn file_outputs(files: &FileFlags, flags: &IntervalFlags) -> Outputs {
    Outputs {
        json: path("json", files.json.as_ref()),
        csv: path("csv", files.csv.as_ref()),
        html: path("html", files.html.as_ref()),
        markdown: path("markdown", files.markdown.as_ref()),
        junit: path("junit", files.junit.as_ref()),
        hlog: path("hlog", files.hlog.as_ref()),
        svg: path("svg", files.svg.as_ref()),
        baseline: some("baseline", files.baseline.as_ref()),
        lines: some("lines", flags.lines.as_ref()),
        json_lines: path("json_lines", flags.json_lines.as_ref()),
        csv_intervals: path("csv_intervals", flags.csv_intervals.as_ref()),
        ..Outputs::default()
    }
}

/// The outputs with those of metrics added.
fn with_metering(outputs: Outputs, flags: &MeteringFlags) -> Result<Outputs, Failure> {
    let monitoring = Monitoring {
        metrics: some("metrics", flags.metrics.as_ref()),
        metrics_linger: some("metrics_linger", flags.metrics_linger.as_ref()),
        ui: some("ui", flags.ui.as_ref()),
        remote_write: some("remote_write", flags.remote_write.as_ref()),
        influx: some("influx", flags.influx.as_ref()),
        otlp: some("otlp", flags.otlp.as_ref()),
        push_headers: fields("push_headers", &flags.push_header)?,
    };
    Ok(Outputs {
        monitoring,
        ..outputs
    })
}

/// Where the results of a stored run go.
pub(crate) fn report_outputs(flags: &ReportFlags) -> Outputs {
    Outputs {
        explain: switch("explain", flags.explain, true),
        brief: switch("brief", flags.brief, true),
        ..file_outputs(&flags.files, &flags.intervals)
    }
}

/// Where the results of a run that goes on go.
pub(crate) fn resume_outputs(flags: &ResumeFlags) -> Result<Outputs, Failure> {
    let outputs = Outputs {
        live: switch("live", flags.no_tui, false),
        github: switch("github", flags.no_github, false),
        quiet: switch("quiet", flags.quiet, true),
        ..report_outputs(&flags.report)
    };
    with_metering(outputs, &flags.metering)
}

/// A plan whose files of requests are sent with their own timing, this much faster.
pub(crate) fn set_speed(document: &mut Document, speed: &str) -> Result<(), Failure> {
    let requests = document
        .pools
        .iter_mut()
        .flat_map(|pool| &mut pool.requests);
    let mut is_set = false;
    for request in requests {
        if let Ask::Ammo(ammo) = &mut request.ask {
            ammo.speed = some("speed", Some(&speed));
            is_set = true;
        }
    }
    let message = "the plan has no request file whose timing could change";
    match is_set {
        true => Ok(()),
        false => Err(Failure::usage(Diagnostic::new(&at("speed"), message))),
    }
}

/// A document with the outputs and thresholds of `drumfire run`'s flags added to its own. An output
/// that a flag names stands above the document's, and header fields of pushes beside them.
pub(crate) fn with_outputs(
    mut document: Document,
    flags: &OutputFlags,
) -> Result<Document, Failure> {
    let mut outputs = outputs(flags)?;
    let given = std::mem::take(&mut outputs.monitoring.push_headers);
    outputs.fill(&document.outputs);
    outputs.monitoring.push_headers.extend(given);
    document.outputs = outputs;
    let interval = some("interval", flags.interval.as_ref());
    document.generator.interval = interval.or(document.generator.interval);
    document
        .thresholds
        .extend(texts("thresholds", &flags.threshold));
    let conditions = texts("abort", &flags.abort_on);
    document.stop.abort.extend(conditions);
    let most = count("max_errors", flags.max_errors);
    document.stop.max_errors = most.or(document.stop.max_errors);
    Ok(document)
}
