//! Flags of `drumfire http`. Spellings follow curl where curl has one.

use super::ColorChoice;
use super::DataFlags;
use super::MeteringFlags;
use super::number::{count, failures, small_count};
use super::{FileFlags, IntervalFlags};
use clap::{ArgAction, Args};
use std::net::IpAddr;
use std::path::PathBuf;

/// The arguments of `drumfire http`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  drumfire http localhost:8080                  10 requests/s for 10 s
  drumfire http -r 500/s -z 1m localhost:8080   500/s for a minute
  drumfire http -c 64 -z 30s localhost:8080     64 users, as fast as possible
  drumfire http --http2 -c 4 --streams 50 localhost:8080        200 users
  drumfire http -r 'line(5,200,60s) const(200,1m)' localhost:8080   a ramp
  drumfire http -r 100 --threshold 'p99<50ms' localhost:8080    99 if it fails
  drumfire http 'localhost:8080/?id={{uuid}}'   a new URL each time
  drumfire http -n 10k -c 8 @urls.txt           10,000 requests to a list
Without -r, -c, -u and -n the rate is 10/s.")]
#[command(mut_arg("order", |arg| arg.requires("body_lines")), disable_help_flag = true)]
#[expect(clippy::struct_excessive_bools, reason = "flags are what they are")]
pub(crate) struct HttpFlags {
    /// URLs to request in turn; @FILE reads a list, one per line, @- reads it from stdin; the
    /// default scheme is http://
    #[arg(required = true, value_name = "URL")]
    pub(crate) urls: Vec<String>,

    /// Method [default: GET, or POST with -d]
    #[arg(short = 'X', long, value_name = "METHOD", help_heading = "Request")]
    pub(crate) method: Option<String>,
    /// Header `Name: value`; repeatable
    #[arg(
        short = 'H',
        long = "header",
        value_name = "HEADER",
        help_heading = "Request"
    )]
    pub(crate) headers: Vec<String>,
    /// Body; @FILE reads a file, @- reads stdin. No Content-Type is added. URLs, headers and
    /// bodies are templates: {{request_number}}, {{uuid}} and others
    #[arg(short = 'd', long, value_name = "DATA", help_heading = "Request")]
    pub(crate) data: Option<String>,
    /// Part of a multipart body: NAME=VALUE, or NAME=@FILE, which may end in ;type= and ;filename=;
    /// repeatable
    #[arg(
        short = 'F',
        long = "form",
        value_name = "PART",
        help_heading = "Request",
        conflicts_with = "data"
    )]
    pub(crate) form: Vec<String>,
    /// Send each line of -d as a separate body
    #[arg(long, help_heading = "Request", requires = "data")]
    pub(crate) body_lines: bool,
    /// Request compressed bodies and decode them
    #[arg(long, help_heading = "Request")]
    pub(crate) compressed: bool,
    /// Follow up to N redirects [default: report the redirect itself]
    #[arg(short = 'L', long = "location", value_name = "N", value_parser = redirects, help_heading = "Request")]
    pub(crate) redirects: Option<u32>,
    /// Send `Expect: 100-continue` before a body
    #[arg(long, help_heading = "Request")]
    pub(crate) expect_continue: bool,
    /// Statuses that count as ok, such as 200-299,301 [default: 100-399]
    #[arg(long, value_name = "LIST", help_heading = "Request")]
    pub(crate) expect_status: Option<String>,
    /// Check of a response header, such as 'Server: exists'; repeatable
    #[arg(long, value_name = "CHECK", help_heading = "Request")]
    pub(crate) expect_header: Vec<String>,
    /// Check of the response body, such as 'contains TEXT' or 'matches /REGEX/'; repeatable
    #[arg(long, value_name = "CHECK", help_heading = "Request")]
    pub(crate) expect_body: Vec<String>,
    /// Hash of the response body, such as 'sha256 9f86…' or 'xxh3 … sample 10%'; in a list, a URL
    /// may be followed by its hash
    #[arg(long, value_name = "HASH", help_heading = "Request")]
    pub(crate) expect_hash: Option<String>,
    /// Use HTTP/1.1 (the default)
    #[arg(long, conflicts_with = "http2", help_heading = "Request")]
    pub(crate) http1: bool,
    /// Use HTTP/2: by ALPN on https, by prior knowledge on http
    #[arg(long, help_heading = "Request")]
    pub(crate) http2: bool,

    #[command(flatten)]
    pub(crate) varying: DataFlags,
    #[command(flatten)]
    pub(crate) load: LoadFlags,
    #[command(flatten)]
    pub(crate) transport: TransportFlags,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    /// Print the plan that these flags make, for `drumfire run`, and exit
    #[arg(long, help_heading = "Output")]
    pub(crate) print_plan: bool,
    /// Print the facts of the run in the binary form of the store, for `drumfire ab`, and exit
    #[arg(long, hide = true, conflicts_with = "print_plan")]
    pub(crate) print_facts: bool,
}

/// When requests start, how many, and for how long.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load")]
pub(crate) struct LoadFlags {
    /// Open model: a rate (500/s, 90/m, 0.2/s) or a law such as `line(5,200,60s) const(200,5m)`
    /// [default: 10/s if -c, -u and -n are absent]
    #[arg(short = 'r', long, value_name = "RATE", allow_negative_numbers = true)]
    pub(crate) rate: Option<String>,
    /// Closed model: N connections, each with one user who sends the next request when the response
    /// arrives. With -r: exactly N connections, opened in advance [default with -r: as needed, up to
    /// 1000]
    #[arg(short = 'c', long, value_name = "N", value_parser = small_count, allow_negative_numbers = true)]
    pub(crate) connections: Option<u32>,
    /// Users, each with one request at a time: a number, or a law such as `line(1,200,60s)`.
    /// Without -r, a user sends the next request when the response arrives [default: as many as -c
    /// and --streams carry]
    #[arg(short = 'u', long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) users: Option<String>,
    /// Closed model: a user's pause between a response and the next request
    #[arg(long, value_name = "TIME", conflicts_with = "rate")]
    pub(crate) think_time: Option<String>,
    /// Length of the run [default: 10s, unless -n, --iterations or the law ends it]
    #[arg(short = 'z', long, value_name = "TIME")]
    pub(crate) duration: Option<String>,
    /// Send exactly N requests, such as 200 or 10k; without -r, -c and -u, one after another
    #[arg(short = 'n', long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub(crate) requests: Option<u64>,
    /// Send the list of URLs exactly N times
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) iterations: Option<u64>,
    /// Send load for this time before measuring; auto excludes the time until latencies settle
    #[arg(long, value_name = "TIME")]
    pub(crate) warmup: Option<String>,
    /// Spacing of arrivals: constant or poisson [default: constant]
    #[arg(long, value_name = "KIND")]
    pub(crate) arrivals: Option<String>,
    /// When no connection is free: queue the request, skip it, or drop(TIME) it after TIME
    /// [default: queue]
    #[arg(long, value_name = "POLICY")]
    pub(crate) late: Option<String>,
    /// Seed for all random values [default: 1]
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) seed: Option<u64>,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<u32>,
    /// Busy-wait shortly before a request is due: microseconds of lag, at the cost of a CPU core
    #[arg(long)]
    pub(crate) spin: bool,
    /// Time responses when drumfire reads them (program) or when the kernel receives them
    /// (receive); wire also times requests when they leave [default: program]
    #[arg(long, value_name = "CLOCK")]
    pub(crate) clock: Option<String>,
    /// Allow more than 100 requests/s, or 1,000 in total, to public addresses
    #[arg(long)]
    pub(crate) i_own_this_target: bool,
}

/// How requests travel.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags are what they are")]
pub(crate) struct TransportFlags {
    /// Send a unique W3C traceparent with each request, and list the slowest in the report
    #[arg(long, help_heading = "Request")]
    pub(crate) traceparent: bool,
    /// Open a new connection for each request
    #[arg(long, help_heading = "Connections")]
    pub(crate) no_keepalive: bool,
    /// Close a connection after N requests
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "no_keepalive",
        help_heading = "Connections"
    )]
    pub(crate) requests_per_connection: Option<u64>,
    /// Close connections at this age: 5m, 4m..6m, exponential(5m)
    #[arg(long, value_name = "TIME", help_heading = "Connections")]
    pub(crate) connection_age: Option<String>,
    /// Replace this share of all connections per period, such as 10%/m
    #[arg(long, value_name = "SHARE/TIME", help_heading = "Connections")]
    pub(crate) connection_churn: Option<String>,
    /// Close connections that have been idle for this long
    #[arg(long, value_name = "TIME", help_heading = "Connections")]
    pub(crate) connection_idle: Option<String>,
    /// Obey the server's Keep-Alive header (timeout=5, max=100)
    #[arg(long, help_heading = "Connections")]
    pub(crate) respect_keepalive: bool,
    /// Retry a GET, HEAD, PUT or DELETE once if its kept-alive connection turns out to be closed
    #[arg(long, help_heading = "Connections")]
    pub(crate) retry_reused: bool,
    /// Timeout of an exchange, from taking a connection to the last byte [default: 30s]
    #[arg(long, value_name = "TIME", help_heading = "Timeouts")]
    pub(crate) timeout: Option<String>,
    /// Timeout for opening a connection [default: 10s]
    #[arg(long, value_name = "TIME", help_heading = "Timeouts")]
    pub(crate) connect_timeout: Option<String>,
    /// Timeout for the TLS handshake [default: 10s]
    #[arg(long, value_name = "TIME", help_heading = "Timeouts")]
    pub(crate) tls_timeout: Option<String>,
    /// Timeout from the request's last byte to the end of the response's headers [default:
    /// --timeout]
    #[arg(long, value_name = "TIME", help_heading = "Timeouts")]
    pub(crate) head_timeout: Option<String>,
    /// Maximum pause before reconnecting to a target that refuses connections [default: 250ms]
    #[arg(long, value_name = "TIME", help_heading = "Connections")]
    pub(crate) connect_backoff: Option<String>,
    /// HTTP/2: send PING if a connection with open requests has been silent for this long
    /// [default: never]
    #[arg(long, value_name = "TIME", help_heading = "Connections")]
    pub(crate) ping: Option<String>,
    /// Close the connection if its PING is not answered within this time [default: 20s]
    #[arg(
        long,
        value_name = "TIME",
        requires = "ping",
        help_heading = "Connections"
    )]
    pub(crate) ping_timeout: Option<String>,
    /// Skip the verification of certificates (noted in the report)
    #[arg(short = 'k', long, help_heading = "TLS")]
    pub(crate) insecure: bool,
    /// Trusted certificates in PEM [default: the system's]
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub(crate) cacert: Option<PathBuf>,
    /// Client certificate chain in PEM
    #[arg(long, value_name = "FILE", requires = "key", help_heading = "TLS")]
    pub(crate) cert: Option<PathBuf>,
    /// Client private key in PEM
    #[arg(long, value_name = "FILE", requires = "cert", help_heading = "TLS")]
    pub(crate) key: Option<PathBuf>,
    /// Make only full TLS handshakes; never resume sessions
    #[arg(long, help_heading = "TLS")]
    pub(crate) full_handshakes: bool,
    /// Share of the handshakes that may resume a session, such as 60% [default: 100%]
    #[arg(
        long,
        value_name = "SHARE",
        conflicts_with = "full_handshakes",
        help_heading = "TLS"
    )]
    pub(crate) tls_resumption: Option<String>,
    /// Use the address IP for HOST:PORT; repeatable
    #[arg(long, value_name = "HOST:PORT:IP", help_heading = "Network")]
    pub(crate) resolve: Vec<String>,
    /// Resolve names again during the run: ttl, or an interval such as 30s; connections follow the
    /// new addresses
    #[arg(long, value_name = "WHEN", help_heading = "Network")]
    pub(crate) lookup: Option<String>,
    /// DNS server for --lookup, instead of the system's
    #[arg(long, value_name = "ADDRESS", help_heading = "Network")]
    pub(crate) name_server: Option<String>,
    /// Send from this local address; several are used in turn
    #[arg(
        long,
        value_name = "ADDRESS",
        value_delimiter = ',',
        help_heading = "Network"
    )]
    pub(crate) source_ip: Vec<IpAddr>,
    /// HTTP proxy [default: http_proxy or https_proxy from the environment, except for loopback]
    #[arg(short = 'x', long, value_name = "URL", help_heading = "Network")]
    pub(crate) proxy: Option<String>,
    /// Connect to a Unix socket instead of the URL's host
    #[arg(long, value_name = "PATH", help_heading = "Network")]
    pub(crate) unix_socket: Option<PathBuf>,
    /// Concurrent requests on each HTTP/2 connection, up to the server's limit [default: 1, or 100
    /// with -r]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Load",
        allow_negative_numbers = true
    )]
    pub(crate) streams: Option<u32>,
}

/// Where results go.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
#[expect(clippy::struct_excessive_bools, reason = "flags are what they are")]
pub(crate) struct OutputFlags {
    #[command(flatten)]
    pub(crate) files: FileFlags,
    /// Write a row for each request, as CSV, or as JSON if the name ends in .jsonl; - is stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) rows: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) intervals: IntervalFlags,
    #[command(flatten)]
    pub(crate) metering: MeteringFlags,
    /// Store the run in this directory [default: a new one, listed by `drumfire runs`]
    #[arg(
        short = 'o',
        long = "store",
        value_name = "DIR",
        conflicts_with = "show"
    )]
    pub(crate) store: Option<PathBuf>,
    /// Don't store the run
    #[arg(long, conflicts_with = "store")]
    pub(crate) no_store: bool,
    /// Rule that the result must satisfy, such as `p99<50ms`; repeatable
    #[arg(long, value_name = "RULE")]
    pub(crate) threshold: Vec<String>,
    /// Condition that stops the run, such as `failed>50% over 30s`; repeatable
    #[arg(long, value_name = "CONDITION")]
    pub(crate) abort_on: Vec<String>,
    /// Stop the run when more than N requests have failed
    #[arg(long, value_name = "N", value_parser = failures)]
    pub(crate) max_errors: Option<u64>,
    /// Length of an interval in the report and in the live display [default: 1s]
    #[arg(long, value_name = "TIME")]
    pub(crate) interval: Option<String>,
    /// Disable the live display
    #[arg(long)]
    pub(crate) no_tui: bool,
    /// In GitHub Actions, write no job summary and no annotations
    #[arg(long)]
    pub(crate) no_github: bool,
    /// Print only the result
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,
    /// Explain each part of the summary
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print the summary on one line
    #[arg(long, conflicts_with = "explain")]
    pub(crate) brief: bool,
    /// Send one request, or one iteration of a scenario, and print the full exchange
    #[arg(long)]
    pub(crate) show: bool,
    /// Exit with code 3 unless the run is valid and kept its load
    #[arg(long)]
    pub(crate) strict: bool,
    /// When to use colour: auto (on a terminal, unless NO_COLOR is set), always or never [default:
    /// auto]
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true
    )]
    #[arg(hide_possible_values = true)]
    pub(crate) color: ColorChoice,
    /// Print help: the most used flags with -h, all flags with --help
    #[arg(short = 'h', long, action = ArgAction::Help)]
    pub(crate) help: Option<bool>,
}

/// How many redirects to follow.
fn redirects(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| "-L takes the number of redirects to follow, such as -L 10".to_owned())
}
