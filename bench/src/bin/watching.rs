//! The cost of being watched: a run with the screen, and one whose page ten browsers follow,
//! compared with the same run without a display. Exits with 1 if a target is missed.
//!
//! Every run has a terminal of 120 × 40 from script(1), whose small cost is part of all runs.

use clap::Parser;
use drumfire_bench::floor::Encryption;
use drumfire_bench::machine;
use drumfire_bench::process::{MemoryWatch, pinned, run};
use drumfire_bench::server::{Kind, Server};
use drumfire_bench::summary::Summary;
use drumfire_bench::table::Spread;
use drumfire_bench::tool::Programs;
use drumfire_net::yield_to_others;
use drumfire_units::Nanos;
use std::fs;
use std::io::{Error, Read as _, Result, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The core of the client; the server and the viewers share the other one.
const CLIENT_CORE: u32 = 1;
/// The number of browsers that follow a page.
const VIEWERS: usize = 10;
/// The maximum CPU time per request, relative to an unwatched run.
const CPU_MAX: f64 = 1.02;
/// The maximum p99 of the lag, relative to an unwatched run.
const LAG_MAX: f64 = 1.05;

/// Measure what a screen and a live page cost the run that they show
#[derive(Debug, Parser)]
struct Watching {
    /// Runs of each kind, alternating
    #[arg(long, default_value_t = 7)]
    rounds: u32,
    /// Length of a run
    #[arg(long, default_value_t = 5)]
    seconds: u32,
    /// Requests per second
    #[arg(long, default_value_t = 20_000)]
    rate: u64,
    /// The program to measure [default: the one next to this program]
    #[arg(long, value_name = "FILE")]
    drumfire: Option<PathBuf>,
}

/// How a run is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WatchMode {
    Not,
    Screen,
    Page,
}

const ALL: [(WatchMode, &str); 3] = [
    (WatchMode::Not, "unwatched"),
    (WatchMode::Screen, "screen"),
    (WatchMode::Page, "page, ten viewers"),
];

/// The figures of one run.
#[derive(Clone, Copy, Debug)]
struct Cost {
    /// CPU time per request, in microseconds.
    cpu: f64,
    /// p99 of the lag, in microseconds.
    lag: f64,
}

fn main() -> Result<ExitCode> {
    let flags = Watching::parse();
    let programs = Programs::find(flags.drumfire.clone(), None)?;
    let server = Server::start(Kind::Serve, Encryption::Plain, &programs)?;
    let mut costs = vec![Vec::new(); ALL.len()];
    for _ in 0..flags.rounds.max(1) {
        for (costs, (watched, _)) in costs.iter_mut().zip(ALL) {
            costs.push(flags.measure(watched, &server, &programs)?);
        }
    }
    flags.print(&costs)
}

impl Watching {
    fn measure(&self, watched: WatchMode, server: &Server, programs: &Programs) -> Result<Cost> {
        let json = server.folder().join("watched.json");
        let port = free_port()?;
        let mut line = format!(
            "stty cols 120 rows 40; exec {} http -q -r {} -z {}s --threads 1 --no-store --json {}",
            programs.drumfire.display(),
            self.rate,
            self.seconds,
            json.display()
        );
        match watched {
            WatchMode::Not => line.push_str(" --no-tui"),
            // Without -q, the screen is shown.
            WatchMode::Screen => line = line.replace(" -q", ""),
            WatchMode::Page => line.push_str(&format!(" --no-tui --ui 127.0.0.1:{port}")),
        }
        line.push_str(&format!(" {}", server.url("/")));
        let mut command = pinned(CLIENT_CORE, "script");
        let typescript = server.folder().join("watched.txt");
        // Remove the output of the previous run: it contains an old address.
        fs::write(&typescript, "")?;
        command.args(["-qefc", &line]).arg(&typescript);
        command
            .env("TERM", "xterm-256color")
            .env("HOME", server.folder());
        let is_over = Arc::new(AtomicBool::new(false));
        let viewers = (watched == WatchMode::Page).then(|| {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || watch(&typescript, &is_over))
        });
        let limit = Nanos::from_secs(u64::from(self.seconds) + 30);
        let finished = run(&mut command, limit, MemoryWatch::Nothing);
        is_over.store(true, Ordering::Relaxed);
        let seen = viewers.map(|viewers| viewers.join());
        let finished = finished?;
        if let Some(seen) = seen {
            let seen = seen.map_err(|_| Error::other("a viewer panicked"))??;
            if seen == 0 {
                return Err(Error::other("no viewer received anything"));
            }
        }
        let summary = Summary::parse(&fs::read_to_string(&json)?)?;
        let sent = summary.count("sent")?;
        Ok(Cost {
            cpu: finished.cpu().0 as f64 / 1e3 / sent as f64,
            lag: summary.micros("lag", "0.99")?,
        })
    }

    fn print(&self, costs: &[Vec<Cost>]) -> Result<ExitCode> {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}\n", machine::describe())?;
        writeln!(
            out,
            "{}/s, {} rounds of {} s\n\n| watched by | CPU per request, µs | ÷ unwatched | lag \
             p99, µs | ÷ unwatched | quiet runs, µs | ÷ unwatched |\n|---|---|---|---|---|---|---|",
            self.rate, self.rounds, self.seconds
        )?;
        let mut is_met = true;
        let unwatched = Middle::from_costs(&costs[0]);
        for (costs_of, (watched, name)) in costs.iter().zip(ALL) {
            let it = Middle::from_costs(costs_of);
            let cpu_ratio = it.cpu / unwatched.cpu;
            let quiet_ratio = it.quiet_lag / unwatched.quiet_lag;
            writeln!(
                out,
                "| {name} | {:.2} | {cpu_ratio:.3} | {:.1} | {:.3} | {:.1} | {quiet_ratio:.3} |",
                it.cpu,
                it.lag,
                it.lag / unwatched.lag,
                it.quiet_lag,
            )?;
            let has_limit = watched != WatchMode::Not;
            is_met &= !has_limit || quiet_ratio <= LAG_MAX;
            is_met &= watched != WatchMode::Screen || cpu_ratio <= CPU_MAX;
        }
        Ok(match is_met {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }
}

/// The medians of the runs of one kind.
#[derive(Clone, Copy, Debug)]
struct Middle {
    /// The median CPU time per request, in microseconds.
    cpu: f64,
    /// The median lag, in microseconds.
    lag: f64,
    /// The median of the lower half of lags, in microseconds. Other work on the machine only adds
    /// to a lag, by milliseconds, while the screen adds microseconds. The limit therefore applies
    /// to this figure.
    quiet_lag: f64,
}

impl Middle {
    fn from_costs(costs: &[Cost]) -> Self {
        let mut lags: Vec<f64> = costs.iter().map(|it| it.lag).collect();
        lags.sort_by(f64::total_cmp);
        let quieter = lags.len().div_ceil(2);
        Self {
            cpu: Spread::from_values(costs.iter().map(|it| it.cpu)).median,
            lag: Spread::from_values(lags.iter().copied()).median,
            quiet_lag: Spread::from_values(lags.into_iter().take(quieter)).median,
        }
    }
}

/// A port that is currently free.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
}

/// Follows the page whose address a run prints, with ten connections; returns the number of
/// received bytes.
fn watch(typescript: &PathBuf, is_over: &AtomicBool) -> Result<usize> {
    let url = loop {
        let text = String::from_utf8_lossy(&fs::read(typescript)?).into_owned();
        let behind = text.split_once("page is http://").map(|(_, rest)| rest);
        let url = behind.and_then(|rest| rest.split_once(char::is_whitespace));
        if let Some((url, _)) = url {
            break url.to_owned();
        }
        if is_over.load(Ordering::Relaxed) {
            return Err(Error::other("the run printed no address"));
        }
        thread::sleep(Duration::from_millis(10));
    };
    let (authority, path) = url.split_once('/').ok_or_else(|| Error::other("no path"))?;
    let request = format!("GET /{path}events HTTP/1.1\r\nHost: {authority}\r\n\r\n");
    let mut viewers = Vec::new();
    for _ in 0..VIEWERS {
        let mut stream = TcpStream::connect(authority)?;
        stream.write_all(request.as_bytes())?;
        viewers.push(thread::spawn(move || {
            // A real browser is on another machine, and takes no time from the server.
            yield_to_others();
            let mut seen = Vec::new();
            // The end of the run ends the stream.
            let _cut = stream.read_to_end(&mut seen);
            seen.len()
        }));
    }
    let seen = viewers.into_iter().map(|viewer| viewer.join().unwrap_or(0));
    Ok(seen.min().unwrap_or(0))
}
