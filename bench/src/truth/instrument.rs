//! The compared load testers, and the command line of each.
//!
//! Each tool gets the load as its manual describes: the rate if it has one, with enough connections
//! or users to keep it, and otherwise a closed loop over [`CLOSED`] connections.

use super::Load;
use super::reading::{self, Reading};
use crate::tool::{Programs, suite};
use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The connections of tools without a rate, and of tools that divide the rate among workers.
const CLOSED: u32 = 20;
/// The maximum number of concurrent requests of tools that keep a rate.
const OPEN: u32 = 2_000;

/// A load tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instrument {
    /// drumfire itself.
    Drumfire,
    /// oha.
    Oha,
    /// vegeta.
    Vegeta,
    /// k6.
    K6,
    /// fortio.
    Fortio,
    /// Pandora.
    Pandora,
    /// slow_cooker.
    SlowCooker,
    /// hey.
    Hey,
    /// ghz, against the same server's gRPC.
    Ghz,
    /// wrk.
    Wrk,
    /// go-wrk.
    GoWrk,
    /// h2load.
    H2load,
}

/// The source of a reading.
enum Source {
    /// Standard output.
    Output,
    /// A file in the run's folder.
    File(&'static str),
}

impl Instrument {
    /// All instruments; those with a rate come first.
    pub const ALL: [Self; 12] = [
        Self::Drumfire,
        Self::Oha,
        Self::Vegeta,
        Self::K6,
        Self::Fortio,
        Self::Pandora,
        Self::SlowCooker,
        Self::Hey,
        Self::Ghz,
        Self::Wrk,
        Self::GoWrk,
        Self::H2load,
    ];

    /// The name in the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drumfire => "drumfire",
            Self::Oha => "oha",
            Self::Vegeta => "vegeta",
            Self::K6 => "k6",
            Self::Fortio => "fortio",
            Self::Pandora => "Pandora",
            Self::SlowCooker => "slow_cooker",
            Self::Hey => "hey",
            Self::Ghz => "ghz",
            Self::Wrk => "wrk",
            Self::GoWrk => "go-wrk",
            Self::H2load => "h2load",
        }
    }

    /// The program; `None` if it is not installed.
    #[must_use]
    pub fn program(self, programs: &Programs) -> Option<PathBuf> {
        match self {
            Self::Drumfire => Some(programs.drumfire.clone()),
            Self::Oha => programs.oha.clone(),
            Self::Wrk => programs.wrk.clone(),
            Self::H2load => programs.h2load.clone(),
            Self::Ghz => programs.ghz.clone(),
            Self::Vegeta => suite("vegeta"),
            Self::K6 => suite("k6"),
            Self::Fortio => suite("fortio"),
            Self::Hey => suite("hey"),
            Self::Pandora => named("PANDORA"),
            Self::SlowCooker => named("SLOW_COOKER"),
            Self::GoWrk => named("GO_WRK"),
        }
    }

    /// The connections of a tool without a rate.
    #[must_use]
    pub const fn closed(self) -> Option<u32> {
        match self {
            Self::Wrk | Self::GoWrk | Self::H2load => Some(CLOSED),
            _ => None,
        }
    }

    /// The command line for a load, with its files in `folder`.
    ///
    /// # Errors
    /// If a file can't be written.
    pub fn command(self, program: &Path, load: &Load, folder: &Path) -> Result<Command> {
        let Load {
            url,
            rate,
            seconds,
            timeout,
        } = load;
        let shown = program.display();
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        let words = match self {
            Self::Drumfire => format!(
                "{shown} http -q --no-store --json - -r {rate}/s -z {seconds}s --timeout {timeout}s {url}"
            ),
            Self::Oha => format!(
                "{shown} --no-tui --output-format json --latency-correction -q {rate} -z {seconds}s -c {OPEN} \
                 -t {timeout}s {url}"
            ),
            Self::Vegeta => format!(
                "echo GET {url} | {shown} attack -rate={rate} -duration={seconds}s -timeout={timeout}s \
                 | {shown} report -type=json"
            ),
            Self::K6 => {
                fs::write(folder.join("load.js"), k6_script(load))?;
                format!("{shown} run --quiet --summary-export summary.json load.js")
            }
            Self::Fortio => format!(
                "{shown} load -quiet -allow-initial-errors -qps {rate} -c {CLOSED} -t {seconds}s -timeout {timeout}s \
                 -p 50,90,99 -json - {url}"
            ),
            Self::Pandora => {
                fs::write(folder.join("load.yaml"), pandora_config(load, address))?;
                format!("{shown} load.yaml")
            }
            Self::SlowCooker => format!(
                "{shown} -qps {} -concurrency {CLOSED} -interval {seconds}s -totalRequests {} -timeout {timeout}s {url}",
                rate / CLOSED,
                rate * seconds
            ),
            Self::Hey => format!(
                "{shown} -z {seconds}s -c {CLOSED} -q {} -t {timeout} {url}",
                rate / CLOSED
            ),
            Self::Ghz => format!(
                "{shown} --insecure --rps {rate} -z {seconds}s --duration-stop wait -c {OPEN} --connections 10 \
                 --timeout {timeout}s --call helloworld.Greeter/SayHello -d '{{\"name\":\"x\"}}' -O json {address}"
            ),
            Self::Wrk => {
                format!("{shown} -t1 -c{CLOSED} -d{seconds}s --timeout {timeout}s --latency {url}")
            }
            Self::GoWrk => format!(
                "{shown} -c {CLOSED} -d {seconds} -T {} {url}",
                timeout * 1_000
            ),
            Self::H2load => format!(
                "{shown} --h1 -c{CLOSED} -D{seconds} --connection-active-timeout={}s {url}",
                seconds + timeout
            ),
        };
        let mut command = Command::new("sh");
        command.args(["-c", &words]).current_dir(folder);
        Ok(command)
    }

    /// Parses the figures that the tool printed, or wrote into its files.
    ///
    /// # Errors
    /// If the figures are missing; the message has the end of `said`.
    pub fn read(self, output: &str, said: &str, folder: &Path) -> Result<Reading> {
        let (source, parse): (Source, fn(&str) -> Option<Reading>) = match self {
            Self::Drumfire => (Source::Output, reading::drumfire),
            Self::Oha => (Source::Output, reading::oha),
            Self::Vegeta => (Source::Output, reading::vegeta),
            Self::K6 => (Source::File("summary.json"), reading::k6),
            Self::Fortio => (Source::Output, reading::fortio),
            Self::Pandora => (Source::File("phout.log"), reading::phout),
            Self::SlowCooker => (Source::Output, reading::slow_cooker),
            Self::Hey => (Source::Output, reading::hey),
            Self::Ghz => (Source::Output, reading::ghz),
            Self::Wrk => (Source::Output, reading::wrk),
            Self::GoWrk => (Source::Output, reading::go_wrk),
            Self::H2load => (Source::Output, reading::h2load),
        };
        let text = match source {
            Source::Output => output.to_owned(),
            Source::File(name) => fs::read_to_string(folder.join(name)).unwrap_or_default(),
        };
        parse(&text).ok_or_else(|| {
            let end: Vec<&str> = said.lines().chain(text.lines()).rev().take(5).collect();
            Error::other(format!("{} printed: {}", self.name(), end.join(" / ")))
        })
    }
}

/// A program that no registry offers, at the path in this environment variable, as in `make
/// dialects`.
fn named(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(variable)?);
    path.is_file().then(|| path.canonicalize().unwrap_or(path))
}

fn k6_script(load: &Load) -> String {
    let Load {
        url,
        rate,
        seconds,
        timeout,
        ..
    } = load;
    format!(
        "import http from 'k6/http';
export const options = {{
  scenarios: {{ load: {{
    executor: 'constant-arrival-rate', rate: {rate}, timeUnit: '1s', duration: '{seconds}s',
    preAllocatedVUs: 200, maxVUs: {OPEN}, gracefulStop: '{timeout}s',
  }} }},
  summaryTrendStats: ['med', 'p(90)', 'p(99)', 'max'],
}};
export default function () {{ http.get('{url}', {{ timeout: '{timeout}s' }}); }}
"
    )
}

fn pandora_config(load: &Load, address: &str) -> String {
    let Load {
        rate,
        seconds,
        timeout,
        ..
    } = load;
    format!(
        "pools:
  - id: load
    gun: {{ type: http, target: \"{address}\", dial: {{ timeout: {timeout}s }}, response-header-timeout: {timeout}s }}
    ammo: {{ type: uri, uris: [/] }}
    result: {{ type: phout, destination: phout.log }}
    rps: [ {{ type: const, duration: {seconds}s, ops: {rate} }} ]
    startup: [ {{ type: once, times: {OPEN} }} ]
log: {{ level: error }}
"
    )
}
