//! A week in virtual time at 10,240 requests per second: checks that memory stays constant and that
//! the edges of intervals are exact.
//!
//! The engine runs ten requests per second for seven days, in intervals of nearly a second: 604,800
//! intervals, each closed, collected and merged as in any run. Each interval is then doubled ten
//! times, which gives the interval of a run at 1,024 times the rate: counters have 64 bits for any
//! count, and memory depends on the number of buckets, not on their content. A second summary,
//! threshold windows and the rows of all outputs receive these intervals. In virtual time a worker
//! is faster than the collector, which never happens in a real run. At each interval, the worker
//! therefore waits until the collector has the one before the last. Every eight hours of the run, a
//! line shows the resident memory.

#![expect(clippy::print_stdout, reason = "it prints a table")]

use drumfire_measure::{Interval, Reading, Rows, RunEvent, RunInfo};
use drumfire_net::resident_memory;
use drumfire_plan::Threshold;
use drumfire_testkit::{Law, Server, Simulation, World, open};
use drumfire_units::Nanos;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const HOUR: u64 = 3_600_000_000_000;
const WEEK: u64 = 168 * HOUR;
/// The time by which an interval is shorter than whole seconds, so that an error from adding up
/// edges would show.
const ODD: u64 = 63;
const DOUBLINGS: u32 = 10;
const LINE_EACH: u64 = 8 * HOUR;
const RESIDENT_MAX: u64 = 64 << 20;
/// The maximum growth after the first hour: a timeline has at most 300 cells, but longer cells
/// contain more different times, and there are two timelines here.
const GROWTH_MAX: u64 = 8 << 20;

/// The consumers of the run at its full rate.
struct RunConsumers {
    reading: Reading,
    rows: Rows,
    scaled: Interval,
    half: Interval,
    length: Nanos,
    next: u64,
    resident_first: u64,
    resident_most: u64,
    line: u64,
}

impl RunConsumers {
    fn new(info: &Arc<RunInfo>, thresholds: &[Threshold]) -> Self {
        Self {
            reading: Reading::new(Arc::clone(info), thresholds),
            rows: Rows::new(info),
            scaled: Interval::of_pools(&info.pools),
            half: Interval::of_pools(&info.pools),
            length: info.interval,
            next: 0,
            resident_first: 0,
            resident_most: 0,
            line: HOUR,
        }
    }

    fn see(&mut self, interval: &Interval) {
        assert_eq!(
            interval.start,
            Nanos(self.next * self.length.0),
            "edges are exact"
        );
        self.next += 1;
        self.double(interval);
        self.reading.absorb(&self.scaled);
        let _row = self.rows.next_row(&self.scaled);
        if interval.end.0 >= HOUR && self.next.is_multiple_of(60) {
            let resident = resident_memory().unwrap_or(0);
            if self.resident_first == 0 {
                self.resident_first = resident;
            }
            self.resident_most = self.resident_most.max(resident);
        }
        if interval.end.0 >= self.line {
            self.print(interval.end);
            self.line = (self.line / LINE_EACH + 1) * LINE_EACH;
        }
    }

    /// Builds the interval of a run at the full rate, in reused memory.
    fn double(&mut self, interval: &Interval) {
        let Self { scaled, half, .. } = self;
        scaled.reset(interval.index, interval.start);
        scaled.merge(interval);
        for _ in 0..DOUBLINGS {
            half.reset(interval.index, interval.start);
            half.merge(scaled);
            scaled.merge(half);
        }
        scaled.sum_up();
    }

    fn print(&self, end: Nanos) {
        println!(
            "| {:.1} | {} | {} | {:.1} |",
            end.0 as f64 / HOUR as f64,
            self.next,
            self.reading.so_far().total.counts.finished(),
            resident_memory().unwrap_or(0) as f64 / f64::from(1 << 20),
        );
    }
}

fn main() -> ExitCode {
    let Ok(threshold) = "p99<1s over 60s".parse::<Threshold>() else {
        return ExitCode::FAILURE;
    };
    let thresholds = [threshold];
    // `week 10` uses intervals of ten seconds and takes a tenth of the time.
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let length = Nanos(seconds.unwrap_or(1).clamp(1, 600) * 1_000_000_000 - ODD);
    let server = Server::new().takes(Law::Lognormal {
        median: Nanos::from_millis(2),
        sigma: 0.7,
    });
    let plan = open("const(10/s,168h)").connections(8).interval(length);
    let seen = Arc::new(AtomicU64::new(0));
    let collected = Arc::clone(&seen);
    let now = AtomicU64::new(0);
    let world = World::new(server).every(length, move || {
        let now = now.fetch_add(length.0, Ordering::Relaxed);
        while collected.load(Ordering::Acquire) < now.saturating_sub(length.0) {
            thread::yield_now();
        }
    });
    let mut watched: Option<RunConsumers> = None;
    println!("| hours | intervals | exchanges | resident, MiB |\n|---|---|---|---|");
    let run = Simulation::new(plan, world);
    let result = run.try_run_watched(&mut |event| match event {
        RunEvent::Started(info) => watched = Some(RunConsumers::new(info, &thresholds)),
        RunEvent::IntervalClosed(interval) => {
            watched.iter_mut().for_each(|watched| watched.see(interval));
            seen.store(interval.end.0, Ordering::Release);
        }
        _ => {}
    });
    let (Ok(_), Some(watched)) = (result, watched) else {
        println!("the run could not be started");
        return ExitCode::FAILURE;
    };
    watched.print(Nanos(WEEK));
    let exchanges = watched.reading.so_far().total.counts.finished();
    let grown = watched.resident_most.saturating_sub(watched.resident_first);
    println!(
        "\n{exchanges} exchanges; {:.1} MiB at most, {:.1} MiB more than after the first hour; all \
         {} edges exact.",
        watched.resident_most as f64 / f64::from(1 << 20),
        grown as f64 / f64::from(1 << 20),
        watched.next,
    );
    match watched.resident_most < RESIDENT_MAX && grown < GROWTH_MAX {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
