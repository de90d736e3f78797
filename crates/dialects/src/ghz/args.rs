//! ghz's flags: one row each, which are also the keys of its config file.

use super::options::{Format, Options};
use crate::grammar::go_duration::duration;
use crate::grammar::go_json;
use crate::grammar::kingpin::{self, Flag, Kind, Line, Occurs, Refusal};
use drumfire_compile::Host;
use drumfire_plan::secret;
use drumfire_units::Nanos;

/// Why a value is refused, in the parser's words.
fn parser(words: impl Into<String>) -> Refusal {
    Refusal::Parser(words.into())
}

/// A whole number, as Go reads one; the words are those of the function that ghz calls.
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

/// A whole number with a sign. ghz reads it by way of a fraction, which is cut off; here a
/// fraction is a mistake.
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

/// JSON as the tool reads it: its value, or its mistake.
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

/// Parses a text and stores the value in a field.
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

/// A row of a text without the white space around it.
macro_rules! trimmed {
    ($name:literal, $short:expr, $default:literal, $($field:ident).+, $help:literal) => {
        row!($name, $short, $default, taken_trimmed, $($field).+, $help)
    };
}

/// A row of any text.
macro_rules! text {
    ($name:literal, $short:expr, $default:literal, $($field:ident).+, $help:literal) => {
        row!($name, $short, $default, taken, $($field).+, $help)
    };
}

/// A row without a value.
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

/// `@` stands for standard input and is read later.
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

/// An object of texts; a blank one is empty, as a script has it whose variable is.
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

/// The value of `-d` that stands for standard input.
pub(super) const STDIN: &str = "@";

/// Every flag, in the order of the help text.
pub(super) const FLAGS: &[Flag<Options>] = &[
    switch!("help", Some('h'), help, "Show this help."),
    trimmed!(
        "config",
        None,
        "",
        config,
        "A JSON, TOML or YAML file with settings; flags stand above it."
    ),
    trimmed!(
        "proto",
        None,
        "",
        proto,
        "The .proto file that has the service."
    ),
    trimmed!(
        "protoset",
        None,
        "",
        protoset,
        "A compiled descriptor set in place of --proto, which stands above it."
    ),
    trimmed!(
        "call",
        None,
        "",
        call,
        "The method, as 'package.Service/Method' or 'package.Service.Method'."
    ),
    row!(
        "import-paths",
        Some('i'),
        "",
        list,
        import_paths,
        "Where imports are looked for, separated by commas; the file's folder and the working directory come first."
    ),
    trimmed!(
        "cacert",
        None,
        "",
        cacert,
        "Trusted root certificates, in PEM."
    ),
    trimmed!(
        "cert",
        None,
        "",
        cert,
        "The client's certificate, in PEM; goes with --key."
    ),
    trimmed!(
        "key",
        None,
        "",
        key,
        "The client's private key, in PEM; goes with --cert."
    ),
    text!(
        "cname",
        None,
        "",
        cname,
        "The name that the server's certificate must have."
    ),
    switch!(
        "skipTLS",
        None,
        skip_tls,
        "Do not verify the server's certificate."
    ),
    switch!("insecure", None, insecure, "Plaintext, without TLS."),
    text!(
        "authority",
        None,
        "",
        authority,
        "The value of the :authority pseudo-header."
    ),
    switch!(
        "async",
        None,
        asynchronous,
        "Send when a request is due, without waiting for those before it."
    ),
    row!(
        "rps",
        Some('r'),
        "0",
        whole,
        rate,
        "Requests per second of the const load schedule; 0 is without a limit."
    ),
    trimmed!(
        "load-schedule",
        None,
        "\"const\"",
        load.kind,
        "How the rate changes: const, step or line."
    ),
    row!(
        "load-start",
        None,
        "0",
        whole,
        load.start,
        "The rate at which step and line begin."
    ),
    row!(
        "load-step",
        None,
        "0",
        signed,
        load.step,
        "By how much the rate changes, each step or each second; with = where it is negative."
    ),
    row!(
        "load-end",
        None,
        "0",
        whole,
        load.end,
        "The rate at which step and line end."
    ),
    row!(
        "load-step-duration",
        None,
        "0",
        span,
        load.step_duration,
        "How long a step lasts."
    ),
    row!(
        "load-max-duration",
        None,
        "0",
        span,
        load.max_duration,
        "For how long the rate changes at most."
    ),
    row!(
        "concurrency",
        Some('c'),
        "50",
        whole,
        concurrency,
        "How many workers there are; each has one request at a time."
    ),
    trimmed!(
        "concurrency-schedule",
        None,
        "\"const\"",
        workers.kind,
        "How the number of workers changes: const, step or line."
    ),
    row!(
        "concurrency-start",
        None,
        "0",
        whole,
        workers.start,
        "The number at which step and line begin."
    ),
    row!(
        "concurrency-end",
        None,
        "0",
        whole,
        workers.end,
        "The number at which step and line end."
    ),
    row!(
        "concurrency-step",
        None,
        "1",
        signed,
        workers.step,
        "By how much the number changes, each step or each second; with = where it is negative."
    ),
    row!(
        "concurrency-step-duration",
        None,
        "0",
        span,
        workers.step_duration,
        "How long a step lasts."
    ),
    row!(
        "concurrency-max-duration",
        None,
        "0",
        span,
        workers.max_duration,
        "For how long the number changes at most."
    ),
    row!(
        "total",
        Some('n'),
        "200",
        whole,
        total,
        "How many requests are sent."
    ),
    row!(
        "timeout",
        Some('t'),
        "20s",
        span,
        timeout,
        "How long a request may take; 0 is for ever."
    ),
    row!(
        "duration",
        Some('z'),
        "0",
        span,
        duration,
        "For how long requests are sent, however many that are: -z 10s, -z 3m."
    ),
    row!(
        "max-duration",
        Some('x'),
        "0",
        span,
        max_duration,
        "For how long requests are sent at most; -n ends the run where it comes first."
    ),
    text!(
        "duration-stop",
        None,
        "\"close\"",
        duration_stop,
        "What becomes of requests under way when the time is over: close, wait or ignore."
    ),
    row!(
        "data",
        Some('d'),
        "",
        data,
        data,
        "The data as JSON; @ reads it from standard input."
    ),
    trimmed!(
        "data-file",
        Some('D'),
        "",
        data_file,
        "A file with the data as JSON."
    ),
    switch!(
        "binary",
        Some('b'),
        binary,
        "Standard input has the data as an encoded message, or as several with their lengths before them."
    ),
    text!(
        "binary-file",
        Some('B'),
        "",
        binary_file,
        "The same in a file."
    ),
    row!(
        "metadata",
        Some('m'),
        "",
        metadata,
        metadata,
        "The metadata as JSON, an object of texts."
    ),
    trimmed!(
        "metadata-file",
        Some('M'),
        "",
        metadata_file,
        "A file with the metadata as JSON."
    ),
    row!(
        "stream-interval",
        None,
        "0",
        span,
        stream_interval,
        "The pause between messages that are sent on a stream."
    ),
    row!(
        "stream-call-duration",
        None,
        "0",
        span,
        stream_call_duration,
        "For how long a stream lasts."
    ),
    row!(
        "stream-call-count",
        None,
        "0",
        whole,
        stream_call_count,
        "How many messages a stream has."
    ),
    switch!(
        "stream-dynamic-messages",
        None,
        stream_dynamic,
        "Evaluate templates for every message of a stream."
    ),
    row!(
        "reflect-metadata",
        None,
        "",
        reflect_metadata,
        reflect_metadata,
        "Metadata of the reflection call, as JSON."
    ),
    trimmed!(
        "output",
        Some('o'),
        "",
        output,
        "Where the report goes; standard output otherwise. With several formats, as many paths, separated by commas; - is standard output."
    ),
    row!(
        "format",
        Some('O'),
        "\"summary\"",
        formats,
        formats,
        "The report's form: summary, csv, json, pretty, html, influx-summary, influx-details or prometheus; several are separated by commas."
    ),
    row!(
        "skipFirst",
        None,
        "0",
        whole,
        skip_first,
        "How many of the first results are left out."
    ),
    switch!(
        "count-errors",
        None,
        count_errors,
        "Errors count among the times."
    ),
    row!(
        "connections",
        None,
        "1",
        whole,
        connections,
        "How many connections the workers share."
    ),
    row!(
        "connect-timeout",
        None,
        "10s",
        span,
        connect_timeout,
        "How long opening a connection may take."
    ),
    row!(
        "keepalive",
        None,
        "0",
        span,
        keepalive,
        "How often a connection that waits for answers is probed."
    ),
    trimmed!("name", None, "", name, "A name for the run."),
    row!(
        "tags",
        None,
        "",
        tags,
        tags,
        "Tags for the report as JSON, an object of texts."
    ),
    row!(
        "cpus",
        None,
        "0",
        whole,
        cpus,
        "How many threads there are; 0 is one for each core."
    ),
    text!(
        "debug",
        None,
        "",
        debug,
        "Where a log of the calls and how they ended goes, as JSON."
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
        "How connections are spread over the addresses of the name: round_robin or pick_first."
    ),
    text!(
        "max-recv-message-size",
        None,
        "",
        receive_limit,
        "The largest message that is accepted: 42MB, 2MiB."
    ),
    text!(
        "max-send-message-size",
        None,
        "",
        send_limit,
        "The largest message that is sent."
    ),
    switch!(
        "disable-template-functions",
        None,
        no_functions,
        "Templates have variables, but no functions."
    ),
    switch!(
        "disable-template-data",
        None,
        no_templates,
        "Data and metadata are no templates."
    ),
    Flag {
        name: "threshold",
        short: None,
        kind: Kind::Value(""),
        occurs: Occurs::Often,
        help: "A rule that the result must satisfy, such as p99<50ms; exit code 99 where it does not. An addition to ghz.",
        set: |options, text| {
            options.thresholds.push(text.to_owned());
            Ok(())
        },
    },
    switch!("version", Some('v'), version, "Show the version."),
];

/// Reads a command line as far as it is flags and words; values are checked.
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

/// Stores the values of a command line over those of the config file.
///
/// # Errors
/// In ghz's words, when a value can't be read.
pub(super) fn apply(line: &Line, options: &mut Options) -> Result<(), String> {
    if let Some(host) = line.words.first() {
        host.clone_into(&mut options.host);
    }
    // The parser's own complaints come before the tool's.
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
    struct Nothing;

    impl Environment for Nothing {
        fn read(&self, _: &str) -> io::Result<Vec<u8>> {
            Err(io::Error::from_raw_os_error(2))
        }
    }

    impl Host for Nothing {}

    fn read(words: &[&str]) -> Result<Options, String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let line = parse(&words, &Nothing)?;
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
