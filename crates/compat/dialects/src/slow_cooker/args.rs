//! slow_cooker's flags, one row each, with slow_cooker's types.

use super::PROGRAM;
use crate::grammar::go_duration;
use crate::grammar::go_flag::{self, BadValue, Failure, Flag, FlagPlacement, Kind, Listed};
use crate::grammar::go_number::{boolean, integer, natural};
use drumfire_units::Nanos;

/// A slow_cooker command line as written.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one field a flag, and slow_cooker's flags are booleans"
)]
pub(super) struct Args {
    /// `-compress`: request gzip.
    pub(super) compress: bool,
    /// `-concurrency`: the number of users.
    pub(super) concurrency: i64,
    /// `-data`: the body, or `@` and the name of its file.
    pub(super) data: String,
    /// `-hashSampleRate`: the share of responses whose hash is checked.
    pub(super) hash_sample_rate: f64,
    /// `-hashValue`: the expected FNV-1a hash.
    pub(super) hash_value: u64,
    /// `-header`: names and values.
    pub(super) headers: Vec<(String, String)>,
    /// `-help`
    pub(super) help: bool,
    /// `-host`: Host headers, with commas between.
    pub(super) host: String,
    /// `-interval`: the time between two lines.
    pub(super) interval: Nanos,
    /// `-iterations`: the number of lines; 0 means unlimited.
    pub(super) iterations: u64,
    /// `-latencyUnit`: `ms`, `us` or `ns`.
    pub(super) latency_unit: String,
    /// `-method`
    pub(super) method: String,
    /// `-metric-addr`: the address of the metrics.
    pub(super) metric_addr: String,
    /// `-noLatencySummary`: print no quantiles at the end.
    pub(super) no_latency_summary: bool,
    /// `-noreuse`: a connection for each request.
    pub(super) noreuse: bool,
    /// `-qps`: the rate of each user, a decimal number.
    pub(super) qps: String,
    /// `-reportLatenciesCSV`: the file for the latencies.
    pub(super) report_latencies_csv: String,
    /// `-seed-format`: print the older format. An addition to slow_cooker's flags.
    pub(super) seed_format: bool,
    /// `-timeout`: the timeout of an exchange; 0 means none.
    pub(super) timeout: Nanos,
    /// `-totalRequests`: the number of requests; 0 means unlimited.
    pub(super) total_requests: u64,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            compress: false,
            concurrency: 1,
            data: String::new(),
            hash_sample_rate: 0.0,
            hash_value: 0,
            headers: Vec::new(),
            help: false,
            host: String::new(),
            interval: Nanos::from_secs(10),
            iterations: 0,
            latency_unit: "ms".to_owned(),
            method: "GET".to_owned(),
            metric_addr: String::new(),
            no_latency_summary: false,
            noreuse: false,
            qps: "1".to_owned(),
            report_latencies_csv: String::new(),
            seed_format: false,
            timeout: Nanos::from_secs(10),
            total_requests: 0,
        }
    }
}

/// Stores a value.
type SetOption = fn(&mut Args, &str) -> Result<(), BadValue>;

/// A row of the table.
const fn row(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    help: &'static str,
    set: SetOption,
) -> Flag<Args> {
    Flag {
        name,
        kind,
        default,
        help,
        listed: Listed::Yes,
        set,
    }
}

/// Parses a Go duration.
fn span(text: &str) -> Result<Nanos, BadValue> {
    go_duration::duration(text).map_err(|_| BadValue::Syntax)
}

/// Checks an unsigned decimal number and returns it as written; a whole number may be in any of
/// Go's bases.
fn decimal(text: &str) -> Result<String, BadValue> {
    if let Ok(whole) = integer(text) {
        return Ok(whole.to_string());
    }
    let is_decimal = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    match is_decimal && text.matches('.').count() == 1 && text.len() > 1 {
        true => Ok(text.to_owned()),
        false => Err(integer(text).err().unwrap_or(BadValue::Syntax)),
    }
}

/// Parses a floating-point number; its range is not checked, as in the original.
fn float(text: &str) -> Result<f64, BadValue> {
    text.parse().map_err(|_| BadValue::Syntax)
}

/// Parses `Name: value`.
fn header(text: &str) -> Result<(String, String), BadValue> {
    match text.split_once(':') {
        Some((name, value)) if !name.is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(BadValue::Form("Header invalid")),
    }
}

/// Every flag, sorted by name as in the listing. The texts are slow_cooker's, including its
/// mistakes, because scripts compare them.
const FLAGS: [Flag<Args>; 20] = [
    row(
        "compress",
        Kind::Bool,
        "false",
        "use compression",
        |args, text| {
            args.compress = boolean(text)?;
            Ok(())
        },
    ),
    row(
        "concurrency",
        Kind::Int,
        "1",
        "Number of request threads",
        |args, text| {
            args.concurrency = integer(text)?;
            Ok(())
        },
    ),
    row("data", Kind::Text, "", "HTTP request data", |args, text| {
        text.clone_into(&mut args.data);
        Ok(())
    }),
    row(
        "hashSampleRate",
        Kind::Float,
        "0",
        "Sampe Rate for checking request body's hash. Interval in the range of [0.0, 1.0]",
        |args, text| {
            args.hash_sample_rate = float(text)?;
            Ok(())
        },
    ),
    row(
        "hashValue",
        Kind::Uint,
        "0",
        "fnv-1a hash value to check the request body against",
        |args, text| {
            args.hash_value = natural(text)?;
            Ok(())
        },
    ),
    row(
        "header",
        Kind::Value,
        "",
        "HTTP request header. (can be repeated.)",
        |args, text| {
            let (name, value) = header(text)?;
            // If a name occurs twice with the same spelling, the last one counts.
            args.headers.retain(|(known, _)| *known != name);
            args.headers.push((name, value));
            Ok(())
        },
    ),
    row(
        "help",
        Kind::Bool,
        "false",
        "show help message",
        |args, text| {
            args.help = boolean(text)?;
            Ok(())
        },
    ),
    row(
        "host",
        Kind::Text,
        "",
        "value of Host header to set",
        |args, text| {
            text.clone_into(&mut args.host);
            Ok(())
        },
    ),
    row(
        "interval",
        Kind::Span,
        "10s",
        "reporting interval",
        |args, text| {
            args.interval = span(text)?;
            Ok(())
        },
    ),
    row(
        "iterations",
        Kind::Uint,
        "0",
        "Number of iterations (0 for infinite)",
        |args, text| {
            args.iterations = natural(text)?;
            Ok(())
        },
    ),
    row(
        "latencyUnit",
        Kind::Text,
        "ms",
        "latency units [ms|us|ns]",
        |args, text| {
            text.clone_into(&mut args.latency_unit);
            Ok(())
        },
    ),
    row(
        "method",
        Kind::Text,
        "GET",
        "HTTP method to use",
        |args, text| {
            text.clone_into(&mut args.method);
            Ok(())
        },
    ),
    row(
        "metric-addr",
        Kind::Text,
        "",
        "address to serve metrics on",
        |args, text| {
            text.clone_into(&mut args.metric_addr);
            Ok(())
        },
    ),
    row(
        "noLatencySummary",
        Kind::Bool,
        "false",
        "suppress the final latency summary",
        |args, text| {
            args.no_latency_summary = boolean(text)?;
            Ok(())
        },
    ),
    row(
        "noreuse",
        Kind::Bool,
        "false",
        "don't reuse connections",
        |args, text| {
            args.noreuse = boolean(text)?;
            Ok(())
        },
    ),
    row(
        "qps",
        Kind::Int,
        "1",
        "QPS to send to backends per request thread",
        |args, text| {
            args.qps = decimal(text)?;
            Ok(())
        },
    ),
    row(
        "reportLatenciesCSV",
        Kind::Text,
        "",
        "filename to output hdrhistogram latencies in CSV",
        |args, text| {
            text.clone_into(&mut args.report_latencies_csv);
            Ok(())
        },
    ),
    Flag {
        listed: Listed::No,
        ..row(
            "seed-format",
            Kind::Bool,
            "false",
            "Print lines as slow_cooker did before it numbered them",
            |args, text| {
                args.seed_format = boolean(text)?;
                Ok(())
            },
        )
    },
    row(
        "timeout",
        Kind::Span,
        "10s",
        "individual request timeout",
        |args, text| {
            args.timeout = span(text)?;
            Ok(())
        },
    ),
    row(
        "totalRequests",
        Kind::Uint,
        "0",
        "total number of requests to send before exiting",
        |args, text| {
            args.total_requests = natural(text)?;
            Ok(())
        },
    ),
];

/// A command line: its flags and its other words.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) args: Args,
    pub(super) words: Vec<String>,
}

/// Parses a command line, without the program's name. Flags may follow the URL.
pub(super) fn parse(line: &[String]) -> Result<Line, Failure> {
    let mut args = Args::default();
    let words = go_flag::parse(&FLAGS, FlagPlacement::Anywhere, line, &mut args)?;
    Ok(Line { args, words })
}

/// The usage text.
pub(super) fn usage() -> String {
    format!(
        "Usage: {PROGRAM} <url> [flags]\n{}",
        go_flag::defaults(&FLAGS)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_that_is_listed_is_the_default() {
        assert!(FLAGS.is_sorted_by_key(|flag| flag.name));
        let mut args = Args::default();
        for flag in FLAGS.iter().filter(|flag| flag.kind != Kind::Value) {
            (flag.set)(&mut args, flag.default).unwrap();
        }
        assert_eq!(args, Args::default());
    }

    #[test]
    fn rates_may_be_decimal() {
        for (text, wanted) in [
            ("5", Ok("5")),
            ("0x10", Ok("16")),
            ("0.5", Ok("0.5")),
            ("-1", Ok("-1")),
            (".", Err(BadValue::Syntax)),
            ("1.2.3", Err(BadValue::Syntax)),
            ("1e3", Err(BadValue::Syntax)),
            ("", Err(BadValue::Syntax)),
            ("99999999999999999999", Err(BadValue::Range)),
        ] {
            assert_eq!(decimal(text), wanted.map(str::to_owned), "{text}");
        }
    }

    #[test]
    fn headers_have_a_name_and_a_colon() {
        let line = [
            "-header",
            "A: 1",
            "-header",
            "a:2",
            "-header=A : b:c",
            "http://h",
        ];
        let line = parse(&line.map(str::to_owned)).unwrap();
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(line.args.headers, [header("a", "2"), header("A", "b:c")]);
        assert_eq!(line.words, ["http://h"]);
        let wrong = parse(&["-header".to_owned(), "foo".to_owned()]);
        let message = "invalid value \"foo\" for flag -header: Header invalid";
        assert_eq!(wrong, Err(Failure::Mistake(message.to_owned())));
    }
}
