//! slow_cooker's output: a line for each interval, in the current format and in an older one, and
//! the quantiles at the end.

use super::failures::{Dialing, Failures};
use super::metrics;
use super::table;
use super::tally::Tally;
use crate::go_text::duration;
use crate::go_time;
use crate::{CountersPage, LineDestination, Stream};
use drumfire_compile::Host;
use drumfire_measure::{Histogram, Interval, RunEvent, RunInfo, Summary};
use drumfire_report::style::Style;
use drumfire_report::text;
use drumfire_units::Nanos;
use std::io::{self, Write};
use std::sync::Arc;

/// The number of previous lines that the change indicator compares with.
const HISTORY: usize = 5;

/// The maximum number of signs in the change indicator.
const SIGNS_MAX: f64 = 3.0;

/// The quantiles of the summary.
const QUANTILES: [(&str, f64); 6] = [
    ("p50", 0.5),
    ("p75", 0.75),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p999", 0.999),
];

/// The version of slow_cooker whose lines are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// With a number before each line.
    Current,
    /// The version before 1.2, without the number.
    Seed,
}

/// The minimum time between two reports of failures.
const TELLING: Nanos = Nanos::from_secs(1);

/// The output settings of the command line.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) shape: Shape,
    /// The first line.
    pub(super) banner: String,
    /// Requests per second of all users.
    pub(super) rate: f64,
    pub(super) interval: Nanos,
    /// The number of lines; 0 means unlimited.
    pub(super) iterations: u64,
    /// The unit of printed times, in nanoseconds.
    pub(super) unit: u64,
    pub(super) summary: bool,
    pub(super) csv: Option<String>,
    pub(super) metrics_at: Option<String>,
    /// The name of the target, if all requests go to one target.
    pub(super) host: Option<String>,
    pub(super) dialing: Dialing,
    pub(super) notes: Vec<String>,
}

/// How slow_cooker shows a run and its result.
#[derive(Debug)]
pub(crate) struct Presentation {
    shown: Shown,
    host: Arc<dyn Host>,
    started_at: u64,
    /// The number of the next line.
    line: u64,
    /// Whether the run no longer sends requests.
    is_ending: bool,
    /// The start of the current line.
    since: Nanos,
    /// The end of the last interval.
    end: Nanos,
    tally: Tally,
    failures: Failures,
    /// The time at which failures were last printed.
    told: Nanos,
    /// The counts since the start.
    all: Tally,
    /// The 99th percentiles of the previous lines.
    history: [u64; HISTORY],
    out: Vec<Box<dyn Stream>>,
    fault: Option<String>,
}

impl Presentation {
    /// Creates the presentation of a run.
    pub(super) fn new(shown: Shown, host: &Arc<dyn Host>) -> Self {
        Self {
            failures: Failures::new(shown.dialing),
            shown,
            host: Arc::clone(host),
            started_at: 0,
            line: 0,
            is_ending: false,
            since: Nanos::ZERO,
            end: Nanos::ZERO,
            tally: Tally::default(),
            told: Nanos::ZERO,
            all: Tally::default(),
            history: [0; HISTORY],
            out: Vec::new(),
            fault: None,
        }
    }

    /// Adds an interval of the run, and prints the line that ends with the interval.
    fn close(&mut self, interval: &Interval) {
        self.tally.add(interval);
        self.all.add(interval);
        let host = self.shown.host.as_deref();
        self.failures.add(&interval.total, host);
        self.end = interval.end;
        if self.end - self.told >= TELLING {
            self.tell();
        }
        let is_whole = interval.end - self.since >= self.shown.interval;
        // Results that arrive during the drain belong to the last line.
        let is_asked_for = !self.is_ending || self.line < self.shown.iterations;
        if is_whole && is_asked_for {
            let goal = self.shown.rate * (self.end - self.since).as_secs_f64();
            self.print_line(goal);
        }
    }

    /// Prints the failures since the last report.
    fn tell(&mut self) {
        let failures = self.failures.tell();
        self.print(1, &failures);
        self.told = self.end;
    }

    /// Prints the line of the counts since the previous line.
    fn print_line(&mut self, goal: f64) {
        let stamp = go_time::seconds(&*self.host, self.started_at + self.end.0);
        let length = match self.end - self.since {
            part if part < self.shown.interval => in_milliseconds(part),
            whole => whole,
        };
        let tally = std::mem::take(&mut self.tally);
        let times = &tally.times;
        let unit = self.shown.unit;
        let [p50, p95, p99, p999] =
            [0.5, 0.95, 0.99, 0.999].map(|q| times.quantile_unchecked(q).0 / unit);
        let change = change(&self.history, p99);
        self.history.rotate_left(1);
        self.history[HISTORY - 1] = p99;
        let (good, bad, failed) = (tally.good, tally.bad, tally.failed);
        let counts = match self.shown.shape {
            Shape::Current => format!("{:4} {good:6}/{bad}/{failed}", self.line),
            // `cut -d ' ' -f 3`, as on slow_cooker's page, finds this column.
            Shape::Seed => format!(" {:<9}", format!("{good}/{bad}/{failed}")),
        };
        let line = format!(
            "{stamp} {counts} {} {:3}% {} {:3} [{p50:3} {p95:3} {p99:3} {p999:4} ] {:4} {:6} \
             {change}\n",
            goal.round(),
            share(good + bad, goal),
            duration(length),
            times.min().0 / unit,
            times.max().0 / unit,
            tally.hash_failures,
        );
        self.print(0, &line);
        self.line += 1;
        self.since = self.end;
    }

    /// Writes a text to a stream.
    fn print(&mut self, stream: usize, text: &str) {
        let Some(out) = self.out.get_mut(stream).filter(|_| !text.is_empty()) else {
            return;
        };
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        if let Err(error) = written {
            let fault = format!("could not write a line: {error}");
            self.fault.get_or_insert(fault);
        }
    }
}

impl crate::Presentation for Presentation {
    fn notes(&self) -> &[String] {
        &self.shown.notes
    }

    fn render_start(&self, info: &RunInfo) -> String {
        let stamp = go_time::seconds(&*self.host, info.started_at_unix_ns);
        let pad = |text: &str| " ".repeat(text.len().saturating_sub(2));
        let number = match self.shown.shape {
            Shape::Current => "iter   ",
            Shape::Seed => "",
        };
        format!(
            "{}\n# {} {number}good/b/f t   goal% {} min [p50 p95 p99  p999]  max bhash change\n",
            self.shown.banner,
            pad(&stamp),
            pad(&duration(self.shown.interval))
        )
    }

    /// Lines go to standard output, and failures to standard error.
    fn streams(&self) -> Vec<LineDestination<'_>> {
        vec![LineDestination::Stdout, LineDestination::Stderr]
    }

    fn set_streams(&mut self, writers: Vec<Box<dyn Stream>>) {
        self.out = writers;
    }

    fn counters_page(&self) -> Option<CountersPage> {
        self.shown.metrics_at.as_ref().map(|address| CountersPage {
            address: address.clone(),
            path: "/metrics",
            media_type: "text/plain; version=0.0.4; charset=utf-8",
        })
    }

    fn counters(&self) -> String {
        metrics::page(&self.all)
    }

    fn observe(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(info) => self.started_at = info.started_at_unix_ns,
            RunEvent::IntervalClosed(interval) => self.close(interval),
            RunEvent::Stopping { .. } => self.is_ending = true,
            _ => {}
        }
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    fn finish(&mut self, _summary: &Summary) {
        self.tell();
        if !self.tally.is_empty() {
            self.print_line(self.tally.intended as f64);
        }
    }

    fn epilogue(&self, summary: &Summary, style: &Style) -> String {
        text::summary(summary, style)
    }

    fn places(&self) -> Vec<Option<&str>> {
        let summary = self.shown.summary.then_some(None);
        let csv = self.shown.csv.as_deref().map(Some);
        summary.into_iter().chain(csv).collect()
    }

    fn write(&mut self, place: usize, _summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let times = &self.all.times;
        match self.places().get(place) {
            Some(None) => out.write_all(quantiles(times, self.shown.unit).as_bytes()),
            Some(Some(_)) => table::write(times, self.shown.unit, out),
            None => Ok(()),
        }
    }
}

/// The quantiles at the end, as JSON.
fn quantiles(times: &Histogram, unit: u64) -> String {
    let members = QUANTILES.map(|(name, q)| {
        let value = times.quantile_unchecked(q).0 / unit;
        format!("  \"{name}\": {value}")
    });
    format!("{{\n{}\n}}\n", members.join(",\n"))
}

/// A length truncated to whole milliseconds; below 1 ms, it is unchanged.
const fn in_milliseconds(length: Nanos) -> Nanos {
    const MS: u64 = 1_000_000;
    match length.0 {
        0..MS => length,
        ns => Nanos(ns / MS * MS),
    }
}

/// The reached share of a goal, in whole percent, at most 100.
fn share(reached: u64, goal: f64) -> u64 {
    let share = reached as f64 / goal * 100.0;
    match share.is_nan() {
        true => 0,
        false => share.min(100.0) as u64,
    }
}

/// A sign for each power of ten by which a 99th percentile is above or below the mean of the
/// previous ones.
fn change(history: &[u64], latest: u64) -> String {
    let mean = history.iter().sum::<u64>() / history.len().max(1) as u64;
    let signs = match (mean, latest) {
        (0, 0) => 0.0,
        (0, _) => 1.0,
        (_, 0) => -1.0,
        (mean, latest) => ((latest as f64).log10() - (mean as f64).log10())
            .trunc()
            .clamp(-SIGNS_MAX, SIGNS_MAX),
    };
    let sign = if signs < 0.0 { "-" } else { "+" };
    sign.repeat(signs.abs() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cases of `window/window_test.go`.
    #[test]
    fn a_change_has_a_sign_for_each_power_of_ten() {
        let low = [0, 7, 10, 9];
        let high = [1_000_000; 4];
        for (history, latest, wanted) in [
            (low, 1_000_000, "+++"),
            (low, 1_000, "++"),
            (low, 100, "+"),
            (low, 10, ""),
            (low, 0, "-"),
            (high, 100_000, "-"),
            (high, 10_000, "--"),
            (high, 1_000, "---"),
            (high, 10, "---"),
            ([0; 4], 0, ""),
            ([0; 4], 9_999, "+"),
        ] {
            assert_eq!(change(&history, latest), wanted, "{history:?} {latest}");
        }
    }

    #[test]
    fn shares_are_whole_percent() {
        for (reached, goal, wanted) in [
            (1_199, 1_200.0, 99),
            (1_200, 1_200.0, 100),
            (5_000, 1_200.0, 100),
            (0, 0.0, 0),
            (1, 0.0, 100),
            (1, 0.2, 100),
        ] {
            assert_eq!(share(reached, goal), wanted, "{reached} of {goal}");
        }
    }

    #[test]
    fn quantiles_are_json() {
        let mut times = Histogram::new();
        for ms in 1..=1_000 {
            times.record(Nanos::from_millis(ms));
        }
        let text = quantiles(&times, 1_000_000);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(text.lines().next(), Some("{"));
        assert_eq!(text.lines().nth(1), Some("  \"p50\": 500,"));
        let p999 = json["p999"].as_u64().unwrap();
        assert!((995..=1_000).contains(&p999), "{p999}");
        assert_eq!(json.as_object().map(serde_json::Map::len), Some(6));
    }
}
