//! go-wrk's flags, one row each, with go-wrk's types.

use super::PROGRAM;
use crate::grammar::go_flag::{self, BadValue, Failure, Flag, FlagPlacement, Kind, Listed};
use crate::grammar::go_number::{boolean, integer};
use std::fmt::Write as _;

/// A go-wrk command line as written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one field a flag, and go-wrk's flags are booleans"
)]
pub(super) struct Args {
    /// `-H`: header lines, each with a colon.
    pub(super) headers: Vec<String>,
    /// `-M`: the method.
    pub(super) method: String,
    /// `-T`: the timeout in milliseconds; no timeout if it is not positive.
    pub(super) timeout_ms: i64,
    /// `-body`: the body, or `@` and the name of its file.
    pub(super) body: String,
    /// `-c`: the number of users.
    pub(super) users: i64,
    /// `-ca`: the file of trusted roots.
    pub(super) ca: String,
    /// `-cert`: the file of the client's certificate.
    pub(super) cert: String,
    /// `-cpus`: the number of threads; if it is not positive, the number of cores.
    pub(super) cpus: i64,
    /// `-d`: the duration in seconds.
    pub(super) seconds: i64,
    /// `-f`: the file of URLs.
    pub(super) playback: Option<String>,
    /// `-help`
    pub(super) help: bool,
    /// `-host`: the Host header.
    pub(super) host: String,
    /// `-http`: whether to use HTTP/2, if set.
    pub(super) http2: Option<bool>,
    /// `-key`: the file of the client's private key.
    pub(super) key: String,
    /// `-no-c`: request no compression.
    pub(super) no_compression: bool,
    /// `-no-ka`: one request per connection.
    pub(super) no_keep_alive: bool,
    /// `-no-vr`: do not verify certificates.
    pub(super) no_verify: bool,
    /// `-redir`: follow redirects.
    pub(super) redirects: bool,
    /// `-seed-format`: print the older format. An addition to go-wrk's flags.
    pub(super) seed_format: bool,
    /// `-v`: print the version.
    pub(super) version: bool,
    /// Words that are not flags: the URL, and others that go-wrk ignores.
    pub(super) words: Vec<String>,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            headers: Vec::new(),
            method: "GET".to_owned(),
            timeout_ms: 1_000,
            body: String::new(),
            users: 10,
            ca: String::new(),
            cert: String::new(),
            cpus: 0,
            seconds: 10,
            playback: None,
            help: false,
            host: String::new(),
            http2: None,
            key: String::new(),
            no_compression: false,
            no_keep_alive: false,
            no_verify: false,
            redirects: false,
            seed_format: false,
            version: false,
            words: Vec::new(),
        }
    }
}

/// The value of `-f` that means no file.
const NO_PLAYBACK: &str = "<empty>";

/// A row that stores its value in a text field.
macro_rules! text {
    ($name:literal, $field:ident, $default:expr, $help:literal) => {
        Flag {
            name: $name,
            kind: Kind::Text,
            default: $default,
            help: $help,
            listed: Listed::Yes,
            set: |args, text| {
                text.clone_into(&mut args.$field);
                Ok(())
            },
        }
    };
}

/// A row that stores its value in a whole-number field.
macro_rules! int {
    ($name:literal, $field:ident, $default:literal, $help:literal) => {
        Flag {
            name: $name,
            kind: Kind::Int,
            default: $default,
            help: $help,
            listed: Listed::Yes,
            set: |args, text| {
                args.$field = integer(text)?;
                Ok(())
            },
        }
    };
}

/// A row that stores its value in a boolean field, false by default.
macro_rules! switch {
    ($name:literal, $field:ident, $listed:ident, $help:literal) => {
        Flag {
            name: $name,
            kind: Kind::Bool,
            default: "false",
            help: $help,
            listed: Listed::$listed,
            set: |args, text| {
                args.$field = boolean(text)?;
                Ok(())
            },
        }
    };
}

/// Every flag, sorted by name as in both listings. The texts are go-wrk's, including its mistakes,
/// because scripts compare them.
const FLAGS: &[Flag<Args>] = &[
    Flag {
        name: "H",
        kind: Kind::Value,
        default: "",
        help: "Header to add to each request (you can define multiple -H flags)",
        listed: Listed::Yes,
        set: |args, text| {
            if !text.contains(':') {
                return Err(BadValue::Form(
                    "a header needs a colon between name and value, as in \"Name: value\"",
                ));
            }
            args.headers.push(text.to_owned());
            Ok(())
        },
    },
    text!("M", method, "GET", "HTTP method"),
    int!("T", timeout_ms, "1000", "Socket/request timeout in ms"),
    text!("body", body, "", "request body string or @filename"),
    int!(
        "c",
        users,
        "10",
        "Number of goroutines to use (concurrent connections)"
    ),
    text!("ca", ca, "", "CA file to verify peer against (SSL/TLS)"),
    text!(
        "cert",
        cert,
        "",
        "CA certificate file to verify peer against (SSL/TLS)"
    ),
    int!(
        "cpus",
        cpus,
        "0",
        "Number of cpus, i.e. GOMAXPROCS. 0 = system default."
    ),
    int!("d", seconds, "10", "Duration of test in seconds"),
    Flag {
        name: "f",
        kind: Kind::Text,
        default: NO_PLAYBACK,
        help: "Playback file name",
        listed: Listed::Yes,
        set: |args, text| {
            args.playback = (text != NO_PLAYBACK).then(|| text.to_owned());
            Ok(())
        },
    },
    switch!("help", help, Yes, "Print help"),
    text!("host", host, "", "Host Header"),
    Flag {
        name: "http",
        kind: Kind::Bool,
        default: "true",
        help: "Use HTTP/2",
        listed: Listed::Yes,
        set: |args, text| {
            args.http2 = Some(boolean(text)?);
            Ok(())
        },
    },
    text!("key", key, "", "Private key file name (SSL/TLS"),
    switch!(
        "no-c",
        no_compression,
        Yes,
        "Disable Compression - Prevents sending the \"Accept-Encoding: gzip\" header"
    ),
    switch!(
        "no-ka",
        no_keep_alive,
        Yes,
        "Disable KeepAlive - prevents re-use of TCP connections between different HTTP requests"
    ),
    switch!(
        "no-vr",
        no_verify,
        Yes,
        "Skip verifying SSL certificate of the server"
    ),
    switch!("redir", redirects, Yes, "Allow Redirects"),
    switch!(
        "seed-format",
        seed_format,
        No,
        "Print the report as go-wrk did before July 2024"
    ),
    switch!("v", version, Yes, "Print version details"),
];

/// Parses a command line, without the program's name. Flags may follow the URL.
pub(super) fn parse(line: &[String]) -> Result<Args, Failure> {
    let mut args = Args::default();
    args.words = go_flag::parse(FLAGS, FlagPlacement::Anywhere, line, &mut args)?;
    Ok(args)
}

/// The usage text that go-wrk prints on request, or if the URL is missing.
pub(super) fn usage() -> String {
    let mut out = format!("Usage: {PROGRAM} <options> <url>\nOptions:\n");
    for flag in FLAGS.iter().filter(|flag| flag.listed == Listed::Yes) {
        // Writing to a String can't fail.
        let _ = writeln!(
            out,
            "\t-{} \t {} (Default {})",
            flag.name, flag.help, flag.default
        );
    }
    out
}

/// The usage text that Go's flag package prints after a mistake.
pub(super) fn go_usage() -> String {
    go_flag::usage(PROGRAM, FLAGS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_by_name() {
        assert!(FLAGS.is_sorted_by_key(|flag| flag.name));
    }

    #[test]
    fn every_default_that_is_listed_is_the_default() {
        let mut args = Args::default();
        for flag in FLAGS.iter().filter(|flag| flag.kind != Kind::Value) {
            (flag.set)(&mut args, flag.default).unwrap();
        }
        // The only flag that distinguishes unset from false.
        assert_eq!(args.http2.take(), Some(true));
        assert_eq!(args, Args::default());
    }

    #[test]
    fn flags_follow_the_url() {
        let line = ["http://h/", "-c", "3", "--d=4", "-http=0", "rest"];
        let args = parse(&line.map(str::to_owned)).unwrap();
        assert_eq!((args.users, args.seconds, args.http2), (3, 4, Some(false)));
        assert_eq!(args.words, ["http://h/", "rest"]);
    }

    #[test]
    fn a_header_without_a_colon_is_a_mistake() {
        let text = "invalid value \"foo\" for flag -H: a header needs a colon between name and \
                    value, as in \"Name: value\"";
        assert_eq!(
            parse(&["-H".to_owned(), "foo".to_owned()]),
            Err(Failure::Mistake(text.to_owned()))
        );
    }
}
