//! ghz's flags, one row each. The flags are also the keys of its config file.

use super::options::{Format, Options};
use crate::grammar::go_duration::duration;
use crate::grammar::go_json;
use crate::grammar::kingpin::{self, Flag, Kind, Line, Occurs, Refusal};
use drumfire_compile::Host;
use drumfire_plan::secret;
use drumfire_units::Nanos;

/// The refusal of a value, with the parser's message.
fn parser(words: impl Into<String>) -> Refusal {
    Refusal::Parser(words.into())
}

/// A whole number, parsed like Go; the messages are those that ghz's function gives.
fn whole(text: &str) -> Result<u64, Refusal> {
    let wrong = |why: &str| {
        let text = crate::go_text::quoted(text);
        parser(format!("strconv.ParseUint: parsing {text}: {why}"))
    };
    if text.starts_with(['+', '-']) {
        return Err(wrong("invalid syntax"));
    }
    match crate::grammar::go_number::natural(text) {
        Ok(value) => Ok(value),
        Err(crate::grammar::go_flag::BadValue::Range) => Err(wrong("value out of range")),
        Err(_) => Err(wrong("invalid syntax")),
    }
}

/// A signed whole number. ghz reads it as a fraction and truncates it; here a fraction is a
/// mistake.
fn signed(text: &str) -> Result<i64, Refusal> {
    let wrong = || {
        let text = crate::go_text::quoted(text);
        parser(format!(
            "strconv.ParseFloat: parsing {text}: invalid syntax"
        ))
    };
    let number: f64 = text.parse().map_err(|_| wrong())?;
    let fits = number.fract() == 0.0 && number.abs() < 1e15;
    fits.then_some(number as i64).ok_or_else(wrong)
}

fn span(text: &str) -> Result<Nanos, Refusal> {
    duration(text).map_err(parser)
}

/// Reads JSON as the tool does: its value, or its mistake.
fn json<T>(what: &str, text: &str, read: Result<T, String>) -> Result<T, Refusal> {
    read.map_err(|why| {
        let text = secret::excerpt(text);
        Refusal::Tool(format!("error unmarshaling {what} '{text}': {why}"))
    })
}

fn formats(text: &str) -> Result<Vec<Format>, Refusal> {
    let named = |name: &str| Format::ALL.into_iter().find(|format| format.name() == name);
    text.split(',')
        .map(|name| {
            named(name).ok_or_else(|| {
                let all: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
                let all = all.join(",");
                parser(format!("enum value must be one of {all}, got '{name}'"))
            })
        })
        .collect()
}

/// A row that parses a text and stores the value in a field.
macro_rules! row {
    ($name:literal, $short:expr, $default:literal, $read:expr, $($field:ident).+, $help:literal) => {
        Flag {
            name: $name,
            short: $short,
            kind: Kind::Value($default),
            occurs: Occurs::Once,
            help: $help,
            set: |options: &mut Options, text| {
                options.$($field).+ = $read(text)?;
                Ok(())
            },
        }
    };
}

/// A row that parses JSON. A key that stands twice is noted.
macro_rules! json {
    ($name:literal, $short:expr, $default:literal, $read:expr, $($field:ident).+, $help:literal) => {
        Flag {
            set: |options: &mut Options, text| {
                options.$($field).+ = $read(text)?;
                let repeated = go_json::repeated(concat!("--", $name), text);
                options.notes.extend(repeated);
                Ok(())
            },
            ..row!($name, $short, $default, $read, $($field).+, $help)
        }
    };
}

/// A row for a text, trimmed of white space.
macro_rules! trimmed {
    ($name:literal, $short:expr, $default:literal, $($field:ident).+, $help:literal) => {
        row!($name, $short, $default, taken_trimmed, $($field).+, $help)
    };
}

/// A row for any text.
macro_rules! text {
    ($name:literal, $short:expr, $default:literal, $($field:ident).+, $help:literal) => {
        row!($name, $short, $default, taken, $($field).+, $help)
    };
}

/// A row for a flag without a value.
macro_rules! switch {
    ($name:literal, $short:expr, $field:ident, $help:literal) => {
        Flag {
            name: $name,
            short: $short,
            kind: Kind::Switch,
            occurs: Occurs::Once,
            help: $help,
            set: |options: &mut Options, text| {
                options.$field = crate::grammar::go_number::boolean(text).map_err(|_| {
                    let text = crate::go_text::quoted(text);
                    parser(format!("strconv.ParseBool: parsing {text}: invalid syntax"))
                })?;
                Ok(())
            },
        }
    };
}

#[expect(clippy::unnecessary_wraps, reason = "one shape for all readers")]
fn taken(text: &str) -> Result<String, Refusal> {
    Ok(text.to_owned())
}

#[expect(clippy::unnecessary_wraps, reason = "one shape for all readers")]
fn taken_trimmed(text: &str) -> Result<String, Refusal> {
    Ok(text.trim().to_owned())
}

#[expect(clippy::unnecessary_wraps, reason = "one shape for all readers")]
fn list(text: &str) -> Result<Vec<String>, Refusal> {
    let parts = text.split(',').map(str::trim);
    Ok(parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect())
}

/// Checks `-d`. `@` means standard input, which is read later.
fn data(text: &str) -> Result<Option<String>, Refusal> {
    if text == STDIN {
        return Ok(Some(text.to_owned()));
    }
    if text.trim().is_empty() {
        return Ok(None);
    }
    json("data", text, go_json::check(text))?;
    Ok(Some(text.to_owned()))
}

fn metadata(text: &str) -> Result<Option<super::options::Texts>, Refusal> {
    let texts = texts("metadata", text)?;
    let given = !matches!(text.trim(), "" | "null");
    Ok(given.then_some(texts))
}

/// An object of texts. A blank value counts as empty, because a script may pass an empty variable.
fn texts(what: &str, text: &str) -> Result<super::options::Texts, Refusal> {
    match text.trim() {
        "" => Ok(super::options::Texts::new()),
        text => json(what, text, go_json::text_map(text)),
    }
}

fn reflect_metadata(text: &str) -> Result<super::options::Texts, Refusal> {
    texts("reflection metadata", text)
}

fn tags(text: &str) -> Result<super::options::Texts, Refusal> {
    texts("tags", text)
}

/// The value of `-d` for standard input.
pub(super) const STDIN: &str = "@";

/// Every flag, in the order of the help text.
pub(super) const FLAGS: &[Flag<Options>] = &[
    switch!("help", Some('h'), help, "Show this help."),
    trimmed!(
        "config",
        None,
        "",
        config,
        "Config file in JSON, TOML or YAML; flags override it."
    ),
    trimmed!(
        "proto",
        None,
        "",
        proto,
        "Proto file that defines the service."
    ),
    trimmed!(
        "protoset",
        None,
        "",
        protoset,
        "Compiled descriptor set to use instead of --proto; --proto overrides it."
    ),
    trimmed!(
        "call",
        None,
        "",
        call,
        "Method to call, as 'package.Service/Method' or 'package.Service.Method'."
    ),
    row!(
        "import-paths",
        Some('i'),
        "",
        list,
        import_paths,
        "Import paths, separated by commas; the file's directory and the working directory are \
         searched first."
    ),
    trimmed!(
        "cacert",
        None,
        "",
        cacert,
        "PEM file with trusted root certificates."
    ),
    trimmed!(
        "cert",
        None,
        "",
        cert,
        "PEM file with the client certificate; requires --key."
    ),
    trimmed!(
        "key",
        None,
        "",
        key,
        "PEM file with the client's private key; requires --cert."
    ),
    text!(
        "cname",
        None,
        "",
        cname,
        "Name that the server's certificate must have."
    ),
    switch!(
        "skipTLS",
        None,
        skip_tls,
        "Do not verify the server's certificate."
    ),
    switch!("insecure", None, insecure, "Use plaintext instead of TLS."),
    text!(
        "authority",
        None,
        "",
        authority,
        "Value of the :authority pseudo-header."
    ),
    switch!(
        "async",
        None,
        asynchronous,
        "Send each request when it is due, without waiting for earlier ones."
    ),
    row!(
        "rps",
        Some('r'),
        "0",
        whole,
        rate,
        "Requests per second of the const load schedule; 0 means no limit."
    ),
    trimmed!(
        "load-schedule",
        None,
        "\"const\"",
        load.kind,
        "Load schedule: const, step or line."
    ),
    row!(
        "load-start",
        None,
        "0",
        whole,
        load.start,
        "Start rate for step and line."
    ),
    row!(
        "load-step",
        None,
        "0",
        signed,
        load.step,
        "Change of the rate per step or per second; use = if it is negative."
    ),
    row!(
        "load-end",
        None,
        "0",
        whole,
        load.end,
        "End rate for step and line."
    ),
    row!(
        "load-step-duration",
        None,
        "0",
        span,
        load.step_duration,
        "Duration of a step."
    ),
    row!(
        "load-max-duration",
        None,
        "0",
        span,
        load.max_duration,
        "Maximum time during which the rate changes."
    ),
    row!(
        "concurrency",
        Some('c'),
        "50",
        whole,
        concurrency,
        "Number of workers; each sends one request at a time."
    ),
    trimmed!(
        "concurrency-schedule",
        None,
        "\"const\"",
        workers.kind,
        "Worker schedule: const, step or line."
    ),
    row!(
        "concurrency-start",
        None,
        "0",
        whole,
        workers.start,
        "Start number of workers for step and line."
    ),
    row!(
        "concurrency-end",
        None,
        "0",
        whole,
        workers.end,
        "End number of workers for step and line."
    ),
    row!(
        "concurrency-step",
        None,
        "1",
        signed,
        workers.step,
        "Change of the number of workers per step or per second; use = if it is negative."
    ),
    row!(
        "concurrency-step-duration",
        None,
        "0",
        span,
        workers.step_duration,
        "Duration of a step."
    ),
    row!(
        "concurrency-max-duration",
        None,
        "0",
        span,
        workers.max_duration,
        "Maximum time during which the number of workers changes."
    ),
    row!(
        "total",
        Some('n'),
        "200",
        whole,
        total,
        "Number of requests to send."
    ),
    row!(
        "timeout",
        Some('t'),
        "20s",
        span,
        timeout,
        "Timeout of a request; 0 means none."
    ),
    row!(
        "duration",
        Some('z'),
        "0",
        span,
        duration,
        "How long to send requests, regardless of -n: -z 10s, -z 3m."
    ),
    row!(
        "max-duration",
        Some('x'),
        "0",
        span,
        max_duration,
        "Maximum time to send requests; the run ends earlier if -n is reached."
    ),
    text!(
        "duration-stop",
        None,
        "\"close\"",
        duration_stop,
        "What to do with requests in flight when the time is over: close, wait or ignore."
    ),
    json!(
        "data",
        Some('d'),
        "",
        data,
        data,
        "Request data as JSON; @ reads it from standard input."
    ),
    trimmed!(
        "data-file",
        Some('D'),
        "",
        data_file,
        "File with the request data as JSON."
    ),
    switch!(
        "binary",
        Some('b'),
        binary,
        "Read the data from standard input as an encoded message, or as several with length \
         prefixes."
    ),
    text!(
        "binary-file",
        Some('B'),
        "",
        binary_file,
        "File with the data in the form of --binary."
    ),
    json!(
        "metadata",
        Some('m'),
        "",
        metadata,
        metadata,
        "Metadata as a JSON object of strings."
    ),
    trimmed!(
        "metadata-file",
        Some('M'),
        "",
        metadata_file,
        "File with the metadata as JSON."
    ),
    row!(
        "stream-interval",
        None,
        "0",
        span,
        stream_interval,
        "Pause between messages sent on a stream."
    ),
    row!(
        "stream-call-duration",
        None,
        "0",
        span,
        stream_call_duration,
        "Duration of a stream."
    ),
    row!(
        "stream-call-count",
        None,
        "0",
        whole,
        stream_call_count,
        "Number of messages in a stream."
    ),
    switch!(
        "stream-dynamic-messages",
        None,
        stream_dynamic,
        "Evaluate templates for every message of a stream."
    ),
    json!(
        "reflect-metadata",
        None,
        "",
        reflect_metadata,
        reflect_metadata,
        "Metadata of the reflection call as JSON."
    ),
    trimmed!(
        "output",
        Some('o'),
        "",
        output,
        "Path of the report; standard output by default. With several formats, as many paths, \
         separated by commas; - is standard output."
    ),
    row!(
        "format",
        Some('O'),
        "\"summary\"",
        formats,
        formats,
        "Report format: summary, csv, json, pretty, html, influx-summary, influx-details or \
         prometheus; separate several by commas."
    ),
    row!(
        "skipFirst",
        None,
        "0",
        whole,
        skip_first,
        "Number of first results to leave out."
    ),
    switch!(
        "count-errors",
        None,
        count_errors,
        "Include errors in the latencies."
    ),
    row!(
        "connections",
        None,
        "1",
        whole,
        connections,
        "Number of connections that the workers share."
    ),
    row!(
        "connect-timeout",
        None,
        "10s",
        span,
        connect_timeout,
        "Timeout for opening a connection."
    ),
    row!(
        "keepalive",
        None,
        "0",
        span,
        keepalive,
        "How often to probe a connection that waits for answers."
    ),
    trimmed!("name", None, "", name, "Name of the run."),
    json!(
        "tags",
        None,
        "",
        tags,
        tags,
        "Tags for the report as a JSON object of strings."
    ),
    row!(
        "cpus",
        None,
        "0",
        whole,
        cpus,
        "Number of threads; 0 means one per core."
    ),
    text!(
        "debug",
        None,
        "",
        debug,
        "Path of a JSON log of the calls and their results."
    ),
    switch!(
        "enable-compression",
        Some('e'),
        compression,
        "Compress messages with gzip."
    ),
    text!(
        "lb-strategy",
        None,
        "",
        lb_strategy,
        "How to distribute connections over the addresses of the name: round_robin or pick_first."
    ),
    text!(
        "max-recv-message-size",
        None,
        "",
        receive_limit,
        "Maximum size of a received message: 42MB, 2MiB."
    ),
    text!(
        "max-send-message-size",
        None,
        "",
        send_limit,
        "Maximum size of a sent message."
    ),
    switch!(
        "disable-template-functions",
        None,
        no_functions,
        "Disable functions in templates; variables still work."
    ),
    switch!(
        "disable-template-data",
        None,
        no_templates,
        "Do not treat data and metadata as templates."
    ),
    Flag {
        name: "threshold",
        short: None,
        kind: Kind::Value(""),
        occurs: Occurs::Often,
        help: "Rule that the result must satisfy, such as p99<50ms; if it fails, the exit code is \
               99. An addition to ghz.",
        set: |options, text| {
            options.thresholds.push(text.to_owned());
            Ok(())
        },
    },
    switch!("version", Some('v'), version, "Show the version."),
];

/// Parses a command line into flags and words. The values of the flags are checked later.
///
/// # Errors
/// In ghz's words, without their prefix.
pub(super) fn parse(args: &[String], machine: &dyn Host) -> Result<Line, String> {
    let hinted = |why: String| format!("{why}, try --help");
    let line = kingpin::split(FLAGS, args, &|path| machine.read(path)).map_err(hinted)?;
    if let Some(second) = line.words.get(1) {
        return Err(hinted(format!("unexpected {second}")));
    }
    apply(&line, &mut Options::default())?;
    Ok(line)
}

/// Stores the values of a command line; they override the config file's.
///
/// # Errors
/// In ghz's words, if a value can't be parsed.
pub(super) fn apply(line: &Line, options: &mut Options) -> Result<(), String> {
    if let Some(host) = line.words.first() {
        host.clone_into(&mut options.host);
    }
    // The parser's complaints take precedence over the tool's.
    let mut complaint = None;
    for (place, value) in &line.flags {
        match (FLAGS[*place].set)(options, value) {
            Ok(()) => {}
            Err(Refusal::Parser(why)) => return Err(format!("{why}, try --help")),
            Err(Refusal::Tool(why)) => complaint = complaint.or(Some(why)),
        }
    }
    complaint.map_or(Ok(()), Err)
}

/// The help text.
pub(super) fn usage() -> String {
    kingpin::usage("ghz", FLAGS, ("host", "Host and port to test."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_document::Environment;
    use std::io;

    #[derive(Debug)]
    struct EmptyMachine;

    impl Environment for EmptyMachine {
        fn read(&self, _: &str) -> io::Result<Vec<u8>> {
            Err(io::Error::from_raw_os_error(2))
        }
    }

    impl Host for EmptyMachine {}

    fn read(words: &[&str]) -> Result<Options, String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let line = parse(&words, &EmptyMachine)?;
        let mut options = Options::default();
        apply(&line, &mut options)?;
        Ok(options)
    }

    #[test]
    fn every_default_that_the_help_shows_is_the_default() {
        let mut options = Options::default();
        for flag in FLAGS {
            if let Kind::Value(default) = flag.kind
                && !default.is_empty()
            {
                (flag.set)(&mut options, default.trim_matches('"')).unwrap();
            }
        }
        assert_eq!(options, Options::default());
    }

    #[test]
    fn names_and_letters_stand_for_one_flag_each() {
        for (place, flag) in FLAGS.iter().enumerate() {
            for other in &FLAGS[place + 1..] {
                assert_ne!(flag.name, other.name);
                assert!(
                    flag.short.is_none() || flag.short != other.short,
                    "{}",
                    flag.name
                );
            }
        }
    }

    #[test]
    fn values_land_in_their_fields() {
        let options = read(&[
            "-c10",
            "-n",
            "5",
            "-z3m",
            "--load-step=-10",
            "--no-insecure",
            "-e",
            "-O",
            "json,html",
            "-d@",
            "h:1",
            "-i",
            "a, b",
        ])
        .unwrap();
        assert_eq!((options.concurrency, options.total), (10, 5));
        assert_eq!(options.duration, Nanos::from_secs(180));
        assert_eq!(options.load.step, -10);
        assert!(!options.insecure && options.compression);
        assert_eq!(options.formats, [Format::Json, Format::Html]);
        assert_eq!(options.data.as_deref(), Some("@"));
        assert_eq!(options.host, "h:1");
        assert_eq!(options.import_paths, ["a", "b"]);
    }

    #[test]
    fn blank_objects_are_empty_and_names_are_trimmed() {
        for flag in ["-m", "--tags", "--reflect-metadata", "-d"] {
            for blank in ["", " \t"] {
                let options = read(&[flag, blank]).unwrap();
                assert!(options.metadata.unwrap_or_default().is_empty(), "{flag}");
                assert!(options.tags.is_empty() && options.reflect_metadata.is_empty());
                assert_eq!(options.data, None, "{flag}");
            }
        }
        let options = read(&["--call", " a.B/C ", "--proto", "a.proto ", "-D", " d"]).unwrap();
        assert_eq!((&*options.call, &*options.proto), ("a.B/C", "a.proto"));
        assert_eq!(options.data_file, "d");
    }

    #[test]
    fn mistakes_are_told_in_ghzs_words() {
        for (words, text) in [
            (["a", "b"].as_slice(), "unexpected b, try --help"),
            (
                &["-r", "1.5"],
                r#"strconv.ParseUint: parsing "1.5": invalid syntax, try --help"#,
            ),
            (
                &["-r=-5"],
                r#"strconv.ParseUint: parsing "=-5": invalid syntax, try --help"#,
            ),
            (
                &["--rps=-5"],
                r#"strconv.ParseUint: parsing "-5": invalid syntax, try --help"#,
            ),
            (
                &["-c", "18446744073709551616"],
                r#"strconv.ParseUint: parsing "18446744073709551616": value out of range, try --help"#,
            ),
            (
                &["--load-step", "-10"],
                "expected argument for flag '--load-step', try --help",
            ),
            (
                &["-z", "5"],
                r#"time: missing unit in duration "5", try --help"#,
            ),
            (
                &["-O", "xyz"],
                "enum value must be one of summary,csv,json,pretty,html,influx-summary,influx-details,prometheus, got 'xyz', try --help",
            ),
            (
                &["-m", r#"{"a":1}"#],
                r#"error unmarshaling metadata '{"a":1}': json: cannot unmarshal number into Go value of type string"#,
            ),
            (
                &["--tags", " x"],
                "error unmarshaling tags 'x': invalid character 'x' looking for beginning of value",
            ),
            (
                &["-d", "{nope}", "-z", "5"],
                r#"time: missing unit in duration "5", try --help"#,
            ),
        ] {
            assert_eq!(read(words), Err(text.to_owned()), "{words:?}");
        }
    }
}
