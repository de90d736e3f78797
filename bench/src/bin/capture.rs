//! Service times that drumfire reports with each of its clocks, compared with a capture of the same
//! run.
//!
//! Server, client and capture are in a separate network namespace. The load is open, at a constant
//! rate. Client and server have a core each, and in half of the runs a busy loop shares the
//! client's core. Prints a table, or a JSON object for each run, and draws the last runs with the
//! program's clock and the wire clock in one chart. Exits with 3 if the system does not allow
//! namespaces or packet sockets.

use clap::Parser;
use drumfire_bench::capture::{Capture, Exchange, enter_namespace, exchanges};
use drumfire_bench::floor::Encryption;
use drumfire_bench::machine;
use drumfire_bench::process::{self, CLIENT_CORE, Guarded, MemoryWatch, pinned};
use drumfire_bench::server::{Kind, Server};
use drumfire_bench::tool::Programs;
use drumfire_measure::Histogram;
use drumfire_report::figure::svg::svg;
use drumfire_report::figure::{Role, tails};
use drumfire_units::Nanos;
use serde_json::{Value, json};
use std::fs;
use std::io::{Error, Result, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

/// The exit code if the system refuses a namespace or a packet socket.
const REFUSED: u8 = 3;

/// Compare service times with a capture of the same run
#[derive(Debug, Parser)]
struct Flags {
    /// Requests per second
    #[arg(long, default_value_t = 5_000)]
    rate: u32,
    /// Seconds of each run
    #[arg(long, default_value_t = 3)]
    seconds: u32,
    /// Runs of each kind
    #[arg(long, default_value_t = 1)]
    rounds: u32,
    /// Print a JSON object for each run instead of the table
    #[arg(long)]
    json: bool,
    /// Draw the tails of the last runs into this directory, as alone.svg and busy.svg
    #[arg(long, value_name = "FOLDER")]
    svg: Option<PathBuf>,
    /// The program to judge [default: the one next to this program]
    #[arg(long, value_name = "FILE")]
    drumfire: Option<PathBuf>,
}

fn main() -> Result<ExitCode> {
    let flags = Flags::parse();
    let programs = Programs::find(flags.drumfire.clone(), None)?;
    let mut err = std::io::stderr();
    match enter_namespace() {
        Ok(true) => {}
        Ok(false) => {
            writeln!(
                err,
                "this system does not allow creating a network namespace"
            )?;
            return Ok(ExitCode::from(REFUSED));
        }
        Err(error) => {
            writeln!(err, "the namespace has no loopback interface: {error}")?;
            return Ok(ExitCode::from(REFUSED));
        }
    }
    if let Err(error) = Capture::start().and_then(Capture::finish) {
        writeln!(err, "this system does not allow capturing packets: {error}")?;
        return Ok(ExitCode::from(REFUSED));
    }
    let mut out = std::io::stdout();
    if !flags.json {
        writeln!(out, "{}\n", machine::describe())?;
        writeln!(
            out,
            "| beside | `--clock` | p50 | captured | p99 | captured | apart, p50 | apart, p99 |\n\
             |---|---|---|---|---|---|---|---|"
        )?;
    }
    for round in 1..=flags.rounds {
        for is_busy in [false, true] {
            let mut runs = Vec::new();
            for clock in ["program", "receive", "wire"] {
                let run = run(clock, is_busy, &flags, &programs)?;
                match flags.json {
                    true => writeln!(out, "{}", run.facts)?,
                    false => writeln!(out, "{}", row(&run.facts))?,
                }
                runs.push(run);
            }
            if let (Some(folder), true) = (&flags.svg, round == flags.rounds) {
                draw(folder, is_busy, &runs)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A run with a clock, with its reported and captured times.
struct Run {
    clock: &'static str,
    facts: Value,
    reported: Vec<Nanos>,
    captured: Vec<Nanos>,
}

/// Draws runs with the program's clock and with the wire clock, and the capture of the latter.
fn draw(folder: &Path, is_busy: bool, runs: &[Run]) -> Result<()> {
    let mut lines = Vec::new();
    for run in runs {
        match run.clock {
            "program" => lines.push(("--clock program", histogram(&run.reported))),
            "wire" => {
                lines.push(("--clock wire", histogram(&run.reported)));
                lines.push(("its capture", histogram(&run.captured)));
            }
            _ => {}
        }
    }
    let ranks = (0..).map(Role::Rank);
    let lines = lines.iter().zip(ranks);
    let lines: Vec<_> = lines
        .map(|((name, times), rank)| (*name, rank, times))
        .collect();
    let (file, title) = match is_busy {
        false => ("alone.svg", "Alone on its core"),
        true => ("busy.svg", "Next to a busy loop"),
    };
    let figure = tails(title.to_owned(), "service time", &lines);
    fs::create_dir_all(folder)?;
    fs::write(folder.join(file), svg(&figure))
}

fn histogram(times: &[Nanos]) -> Histogram {
    let mut histogram = Histogram::new();
    times.iter().for_each(|time| histogram.record(*time));
    histogram
}

/// One run with a clock, and the results of its capture.
fn run(clock: &'static str, is_busy: bool, flags: &Flags, programs: &Programs) -> Result<Run> {
    let server = Server::start(Kind::Answer, Encryption::Plain, programs)?;
    let rows = server.folder().join("rows.csv");
    let limit = Nanos::from_secs(u64::from(flags.seconds) + 30);
    let mut command = pinned(CLIENT_CORE, &programs.drumfire);
    command.args([
        "http",
        "--threads=1",
        "-q",
        "--no-store",
        "--json=-",
        "-c",
        "32",
    ]);
    command.args(["--clock", clock, "-r", &flags.rate.to_string(), "--rows"]);
    command.arg(&rows);
    command.args(["-z", &format!("{}s", flags.seconds), &server.url("/")]);
    let busy = is_busy.then(busy_loop).transpose()?;
    let capture = Capture::start()?;
    let finished = process::run(&mut command, limit, MemoryWatch::Nothing)?;
    let segments = capture.finish()?;
    drop(busy);
    let summary: Value = serde_json::from_str(&finished.stdout).map_err(Error::other)?;
    let captured: Vec<Nanos> = exchanges(&segments, server.port())
        .into_iter()
        .map(Exchange::service)
        .collect();
    let reported = reported(&fs::read_to_string(&rows)?)
        .ok_or_else(|| Error::other("the rows have an unexpected form"))?;
    // Both lists are in the order in which the single thread sent the requests.
    let pairs = reported.iter().zip(&captured);
    let differences = pairs.map(|(one, other)| one.0.cast_signed() - other.0.cast_signed());
    let differences = Sorted::new(differences);
    let generator = &summary["generator"];
    let quantiles = |of: &[Nanos]| {
        let times = of.iter().map(|time| time.0.cast_signed());
        Sorted::new(times).quantiles()
    };
    let facts = json!({
        "asked": clock,
        "busy": is_busy,
        "clock": generator["clock"],
        "requests": summary["requests"]["sent"],
        "captured": captured.len(),
        "reported_ns": quantiles(&reported),
        "captured_ns": quantiles(&captured),
        "difference_ns": differences.quantiles(),
        "departures": generator["departures"],
        "cpu_ns": finished.cpu().0,
    });
    Ok(Run {
        clock,
        facts,
        reported,
        captured,
    })
}

/// The service times in a file of rows, in the order in which requests were sent; `None` if the
/// file has another form.
fn reported(rows: &str) -> Option<Vec<Nanos>> {
    let mut lines = rows.lines();
    let names: Vec<&str> = lines.next()?.split(',').collect();
    let place = |name: &str| names.iter().position(|other| *other == name);
    let wanted = [
        "intended_unix_ns",
        "waiting_ns",
        "lag_ns",
        "service_time_ns",
    ];
    let [intended, waiting, lag, service] = wanted.map(place);
    let mut times: Vec<(u64, u64)> = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |place: Option<usize>| cells.get(place?)?.parse::<u64>().ok();
        let sent = number(intended)? + number(waiting)? + number(lag)?;
        times.push((sent, number(service)?));
    }
    times.sort_by_key(|(sent, _)| *sent);
    Some(
        times
            .into_iter()
            .map(|(_, service)| Nanos(service))
            .collect(),
    )
}

/// Sorted numbers.
struct Sorted(Vec<i64>);

impl Sorted {
    fn new(numbers: impl Iterator<Item = i64>) -> Self {
        let mut numbers: Vec<i64> = numbers.collect();
        numbers.sort_unstable();
        Self(numbers)
    }

    /// A quantile by nearest rank.
    fn quantile(&self, q: f64) -> Option<i64> {
        let rank = (q * self.0.len() as f64).ceil() as usize;
        self.0.get(rank.max(1) - 1).copied()
    }

    fn quantiles(&self) -> Value {
        let [p1, p50, p99] = [0.01, 0.5, 0.99].map(|q| self.quantile(q));
        json!({ "p1": p1, "p50": p50, "p99": p99, "max": self.0.last() })
    }
}

/// A busy loop on the client's core.
fn busy_loop() -> Result<Guarded> {
    let mut command = pinned(CLIENT_CORE, "sh");
    // The guard ends the loop; the limit applies if the guard was killed.
    command.args(["-c", "ulimit -t 60; while :; do :; done"]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.spawn().map(Guarded)
}

/// A run as a row of the table.
fn row(run: &Value) -> String {
    let micros = |value: &Value| match value.as_f64() {
        Some(nanos) => format!("{:.1} µs", nanos / 1e3),
        None => "–".to_owned(),
    };
    let times = |of: &str| ["p50", "p99"].map(|q| micros(&run[of][q]));
    let [
        [p50, p99],
        [p50_captured, p99_captured],
        [p50_apart, p99_apart],
    ] = ["reported_ns", "captured_ns", "difference_ns"].map(times);
    let beside = match run["busy"].as_bool() {
        Some(true) => "a busy loop",
        _ => "nothing",
    };
    format!(
        "| {beside} | `{}` | {p50} | {p50_captured} | {p99} | {p99_captured} | {p50_apart} | {p99_apart} |",
        run["asked"].as_str().unwrap_or_default(),
    )
}
