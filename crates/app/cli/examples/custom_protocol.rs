//! A program with its own protocol: drumfire's schedule, measurement and report around exchanges
//! that the engine does not know.
//!
//! The engine's loop is for HTTP and gRPC. The crates below it know no protocol and make a load
//! exact. `schedule` computes when each exchange is due, independently of the target. `measure`
//! separates response time (from the intended start) from service time (from the send), merges
//! without loss and judges the run. `report` prints. In this example, each thread speaks a
//! line-based protocol over its own connection.
//! ```sh
//! cargo run --example custom_protocol serve 127.0.0.1:9090     # a target that speaks it
//! cargo run --example custom_protocol 127.0.0.1:9090
//! ```

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a program with sockets and a clock of its own"
)]

use drumfire_measure::{
    Interval, Leniencies, Model, Outcome, PoolInfo, Reading, RunInfo, Sample, Summary,
};
use drumfire_plan::{Arrivals, Sequence, Threshold};
use drumfire_report::style::Style;
use drumfire_report::text;
use drumfire_schedule::{Next, Schedule, ScheduleError};
use drumfire_units::Nanos;
use std::error::Error;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const THREADS: u32 = 4;
const RATE: &str = "200/s";
const REQUESTS: u64 = 400;
const TIMEOUT: Duration = Duration::from_secs(2);

/// A client of the protocol: it sends `ADD a b` and expects `= sum`.
struct Machine {
    stream: BufReader<TcpStream>,
    line: String,
}

/// The result of one exchange.
struct Exchanged {
    outcome: Outcome,
    sent: u32,
    received: u64,
}

impl Machine {
    fn connect(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        Ok(Self {
            stream: BufReader::new(stream),
            line: String::new(),
        })
    }

    /// Runs one exchange. Each number `n` requests a different sum.
    fn exchange(&mut self, n: u64) -> Exchanged {
        let request = format!("ADD {n} 1\n");
        self.line.clear();
        let written = self.stream.get_mut().write_all(request.as_bytes());
        let read = written.and_then(|()| self.stream.read_line(&mut self.line));
        let outcome = match &read {
            Ok(0) => Outcome::Closed,
            Ok(_) if self.line.trim_end() == format!("= {}", n + 1) => Outcome::Ok,
            Ok(_) => Outcome::AssertBody,
            Err(error) if error.kind() == ErrorKind::WouldBlock => Outcome::TimeoutTotal,
            Err(_) => Outcome::Reset,
        };
        Exchanged {
            outcome,
            sent: request.len() as u32,
            received: self.line.len() as u64,
        }
    }
}

/// A clock that starts with the run.
#[derive(Clone, Copy)]
struct StartedClock(Instant);

impl StartedClock {
    fn now(self) -> Nanos {
        Nanos(u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// Sleeps until a time; returns at once if the time has passed.
    fn wait_until(self, at: Nanos) {
        let left = at.0.saturating_sub(self.now().0);
        thread::sleep(Duration::from_nanos(left));
    }
}

/// One thread's share of the schedule: exchanges at their intended times, each a sample.
fn work(
    schedule: &Schedule,
    worker: u32,
    address: &str,
    clock: StartedClock,
    info: &RunInfo,
) -> Interval {
    let mut interval = Interval::of_pools(&info.pools);
    let mut machine = Machine::connect(address);
    let mut arrivals = schedule.segment(worker, THREADS).limit(REQUESTS);
    let mut free = Nanos::ZERO;
    while let Next::At(due) = arrivals.peek() {
        arrivals.advance();
        clock.wait_until(due.at);
        let sent = clock.now();
        let exchanged = match &mut machine {
            Ok(machine) => machine.exchange(due.index),
            Err(_) => Exchanged {
                outcome: Outcome::ConnectRefused,
                sent: 0,
                received: 0,
            },
        };
        let end = clock.now();
        let figures = interval.pool_mut(0);
        figures.record_intended(1);
        figures.record(&Sample {
            intended: due.at,
            // While the thread was busy with the previous exchange, the target delayed this one.
            due: due.at.max(free),
            sent,
            first_byte: end,
            end,
            bytes_sent: exchanged.sent,
            outcome: exchanged.outcome,
            leniencies: Leniencies::default(),
            bytes_received: exchanged.received,
            status: 0,
            step: 0,
        });
        free = end;
        if exchanged.outcome != Outcome::Ok {
            machine = Machine::connect(address);
        }
    }
    interval.end = clock.now();
    interval
}

fn info(target: &str) -> RunInfo {
    RunInfo {
        id: "custom-protocol".to_owned(),
        seed: 1,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        threads: THREADS,
        threads_planned: THREADS,
        target: target.to_owned(),
        ..RunInfo::new(vec![PoolInfo {
            connections: THREADS,
            ..PoolInfo::new("sums", Model::Open, ["ADD"])
        }])
    }
}

/// Loads a target, and merges the results of all threads.
fn fire(address: &str) -> Result<Summary, Box<dyn Error>> {
    let rate: Sequence = RATE.parse().map_err(|error| format!("{RATE}: {error}"))?;
    let schedule = Schedule::new(&rate, Arrivals::Constant, 1)
        .map_err(|error: ScheduleError| error.to_string())?;
    let info = Arc::new(info(address));
    let thresholds: Vec<Threshold> = vec!["failed<1%".parse()?];
    let clock = StartedClock(Instant::now());
    let intervals: Vec<Interval> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|worker| {
                let (schedule, info) = (&schedule, &info);
                scope.spawn(move || work(schedule, worker, address, clock, info))
            })
            .collect();
        let ended = threads.into_iter().map(thread::ScopedJoinHandle::join);
        ended.filter_map(Result::ok).collect()
    });
    let mut reading = Reading::new(Arc::clone(&info), &thresholds);
    let mut merged = Interval::of_pools(&info.pools);
    for interval in &intervals {
        merged.merge(interval);
    }
    merged.end = clock.now();
    merged.sum_up();
    reading.absorb(&merged);
    Ok(reading.close(merged.end, 0.0))
}

/// A target that answers each line, on any number of connections.
fn serve(address: &str) -> io::Result<()> {
    let listener = TcpListener::bind(address)?;
    println!("{}", listener.local_addr()?);
    for stream in listener.incoming() {
        let stream = stream?;
        thread::spawn(move || {
            let mut lines = BufReader::new(stream);
            let mut line = String::new();
            while matches!(lines.read_line(&mut line), Ok(length) if length > 0) {
                let sum: u64 = line
                    .split_whitespace()
                    .filter_map(|word| word.parse::<u64>().ok())
                    .sum();
                line.clear();
                if writeln!(lines.get_mut(), "= {sum}").is_err() {
                    return;
                }
            }
        });
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", address] => Ok(serve(address)?),
        [address] => {
            let summary = fire(address)?;
            println!("{}", text::summary(&summary, &Style::default()));
            let failed = summary.thresholds.iter().any(|threshold| !threshold.passed);
            if failed {
                Err("a threshold failed".into())
            } else {
                Ok(())
            }
        }
        _ => Err("say where: custom_protocol [serve] ADDRESS:PORT".into()),
    }
}
