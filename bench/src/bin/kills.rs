//! Kills runs in the middle, and counts the requests that the server received and the records lack.
//! Exits with 1 if a record can't be read, or lacks more than the current interval and the time for
//! closing and syncing the previous one.

use clap::Parser;
use drumfire_bench::floor::Encryption;
use drumfire_bench::machine;
use drumfire_bench::process::Guarded;
use drumfire_bench::server::{Kind, Server};
use drumfire_bench::table::Spread;
use drumfire_bench::tool::Programs;
use drumfire_net::Clock;
use drumfire_units::Nanos;
use serde_json::Value;
use std::fs;
use std::io::{Error, Result, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;

/// The fractional part of the golden ratio: its multiples spread evenly between 0 and 1, and do not
/// coincide with intervals.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// The maximum time in which a server still reads requests of a killed client.
const SETTLE: Nanos = Nanos::from_millis(50);

/// The maximum time for closing and syncing an interval.
const SYNC_MAX: Nanos = Nanos::from_millis(50);

/// The maximum time until the first request of a run.
const START_MAX: Nanos = Nanos::from_secs(5);

/// Kill runs with SIGKILL, and compare their records with the requests that the server received
#[derive(Debug, Parser)]
struct Kills {
    /// The number of runs
    #[arg(long, default_value_t = 200)]
    runs: u32,
    /// Requests per second of each
    #[arg(long, default_value_t = 2_000)]
    rate: u64,
    /// The length of an interval
    #[arg(long, default_value_t = Nanos::from_millis(250))]
    interval: Nanos,
    /// The program to measure [default: the one next to this program]
    #[arg(long, value_name = "FILE")]
    drumfire: Option<PathBuf>,
}

/// The record of one killed run.
struct Killed {
    /// The time of the kill after the first request, in seconds.
    after: f64,
    /// The number of requests that the server received.
    came: u64,
    /// The number of requests in the record; `None` if it can't be read.
    stored: Option<u64>,
}

fn main() -> Result<ExitCode> {
    let flags = Kills::parse();
    let programs = Programs::find(flags.drumfire.clone(), None)?;
    let server = Server::start(Kind::Serve, Encryption::Plain, &programs)?;
    let mut all = Vec::new();
    for number in 1..=flags.runs {
        let store = server.folder().join(format!("run-{number}"));
        // Four intervals and a fraction of one.
        let part = 4.0 * (f64::from(number) * GOLDEN).fract();
        let after = Nanos((flags.interval.0 as f64 * (1.0 + part)) as u64);
        all.push(flags.kill(&server, &programs, &store, after)?);
        fs::remove_dir_all(&store)?;
    }
    flags.print(&all)
}

impl Kills {
    /// Starts a run, kills it some time after its first request, and reads its record.
    fn kill(
        &self,
        server: &Server,
        programs: &Programs,
        store: &Path,
        after: Nanos,
    ) -> Result<Killed> {
        let before = requests(server)?;
        let mut command = Command::new(&programs.drumfire);
        command.args(["http", "-q", "-z", "1h", "-r", &self.rate.to_string()]);
        command.args(["--interval", &self.interval.to_string(), "-o"]);
        command.arg(store).arg(server.url("/"));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let run = Guarded(command.spawn()?);
        let clock = Clock::start();
        while requests(server)? == before {
            if clock.now() > START_MAX {
                return Err(Error::other("the run sent nothing"));
            }
            thread::sleep(Nanos::from_millis(1).as_duration());
        }
        let begun = clock.now();
        thread::sleep(after.as_duration());
        // A guard ends its child with SIGKILL.
        drop(run);
        let after = (clock.now() - begun).as_secs_f64();
        thread::sleep(SETTLE.as_duration());
        Ok(Killed {
            after,
            came: requests(server)? - before,
            stored: stored(programs, store),
        })
    }

    /// Prints the table, and returns the exit code.
    fn print(&self, all: &[Killed]) -> Result<ExitCode> {
        let interval = self.interval.as_secs_f64();
        let lost = |run: &Killed| {
            let lost = run.came as f64 - run.stored? as f64;
            Some(lost / self.rate as f64 / interval)
        };
        let lost = Spread::from_values(all.iter().filter_map(lost));
        let after = Spread::from_values(all.iter().map(|run| run.after));
        let unread = all.iter().filter(|run| run.stored.is_none()).count();
        let beyond = |run: &&Killed| run.stored.is_some_and(|stored| stored > run.came);
        let beyond = all.iter().filter(beyond).count();
        let limit = 1.0 + SYNC_MAX.as_secs_f64() / interval;
        let is_kept = unread == 0 && beyond == 0 && lost.max <= limit;
        let mut out = std::io::stdout();
        writeln!(
            out,
            "- Machine: {}\n- {} runs of {} requests/s, intervals of {}, killed {:.2} s to {:.2} s \
             after their first request\n",
            machine::describe(),
            all.len(),
            self.rate,
            self.interval,
            after.min,
            after.max,
        )?;
        writeln!(
            out,
            "| records | target | figure | |\n|---|---|---|---|\n\
             | unreadable | = 0 | {unread} | |\n| with requests that the server did not receive | \
             = 0 | {beyond} | |\n| lost requests, in intervals, median (ends) | ≤ {limit:.2} | \
             {:.2} {} | {} |",
            lost.median,
            lost.ends(),
            if is_kept { "reached" } else { "**missed**" },
        )?;
        Ok(ExitCode::from(u8::from(!is_kept)))
    }
}

/// The number of requests that `drumfire serve` has counted.
fn requests(server: &Server) -> Result<u64> {
    let counters: Value = serde_json::from_str(&server.get("/counters")?)?;
    let count = counters["requests"].as_u64();
    count.ok_or_else(|| Error::other("the server has no request count"))
}

/// The number of requests in a record; `None` if it can't be read.
fn stored(programs: &Programs, store: &Path) -> Option<u64> {
    let mut command = Command::new(&programs.drumfire);
    command.arg("report").arg(store).args(["--json", "-"]);
    let report = command.stderr(Stdio::null()).output().ok()?;
    let report: Value = serde_json::from_slice(&report.stdout).ok()?;
    report["requests"]["sent"].as_u64()
}
