//! go-wrk's output: the banner and the report, in the current form and in an older one.

use super::errors::ErrorCounts;
use crate::go_text::duration;
use drumfire_measure::{RunInfo, Summary};
use drumfire_plan::secret;
use drumfire_units::Nanos;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Which version of go-wrk's report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Version 0.10 in its current state.
    Current,
    /// The version of June 2024: no `Overall` lines, and error counts always in the form of a Go
    /// map.
    Seed,
}

/// How go-wrk shows a run and its result.
#[derive(Clone, Debug)]
pub(crate) struct Presentation {
    pub(super) shape: Shape,
    /// As set on the command line, even if nothing runs.
    pub(super) seconds: i64,
    /// As set on the command line, even if nothing runs.
    pub(super) users: i64,
    /// The target's name in the banner.
    pub(super) target: String,
    /// The host of all requests, if they share one.
    pub(super) host: Option<String>,
    pub(super) notes: Vec<String>,
}

/// The printed quantiles, with their labels and the tabs after them.
const QUANTILES: [(&str, f64); 7] = [
    ("10%:\t\t\t", 0.1),
    ("50%:\t\t\t", 0.5),
    ("75%:\t\t\t", 0.75),
    ("99%:\t\t\t", 0.99),
    ("99.9%:\t\t\t", 0.999),
    ("99.9999%:\t\t", 0.999_999),
    ("99.99999%:\t\t", 0.999_999_9),
];

impl Presentation {
    /// The two lines at the start of a run.
    pub(crate) fn banner(&self) -> String {
        format!(
            "Running {}s test @ {}\n  {} goroutine(s) running concurrently\n",
            self.seconds,
            secret::url(&self.target),
            self.users
        )
    }

    /// The banner and the report of a run without requests.
    pub(super) fn empty_report(&self) -> String {
        format!(
            "{}{}",
            self.banner(),
            self.failures_only(&ErrorCounts::default())
        )
    }

    /// The report of a run.
    pub(crate) fn report(&self, summary: &Summary) -> String {
        let users = u64::try_from(self.users).unwrap_or(0);
        let errors = ErrorCounts::from_figures(&summary.total, self.host.as_deref());
        let errors = errors.with_unready(&summary.total, users);
        if summary.total.counts.ok == 0 {
            self.failures_only(&errors)
        } else {
            self.full_report(summary, &errors)
        }
    }

    /// The report of a run without a successful request.
    fn failures_only(&self, errors: &ErrorCounts) -> String {
        format!(
            "Error: No statistics collected / no requests found\n{}",
            self.error_lines(errors)
        )
    }

    /// The report of a run with successful requests. Times are service times: from sending the
    /// request to its last byte, including opening a connection.
    fn full_report(&self, summary: &Summary, errors: &ErrorCounts) -> String {
        let (times, span) = (&summary.total.latency.service_time, summary.duration);
        let (ok, bytes) = (summary.total.counts.ok, summary.total.bytes.received);
        let rate = format!("{:.2}", per_second(ok, span));
        let transfer = size(per_second(bytes, span));
        let mut out = String::new();
        // Writing to a String can't fail.
        let _ = writeln!(
            out,
            "{ok} requests in {}, {} read",
            duration(span),
            size(bytes as f64)
        );
        let _ = writeln!(out, "Requests/sec:\t\t{rate}\nTransfer/sec:\t\t{transfer}");
        if self.shape == Shape::Current {
            let _ = writeln!(
                out,
                "Overall Requests/sec:\t{rate}\nOverall Transfer/sec:\t{transfer}"
            );
        }
        let _ = writeln!(out, "Fastest Request:\t{}", micros(times.min()));
        let _ = writeln!(out, "Avg Req Time:\t\t{}", micros(nearest(times.mean())));
        let _ = writeln!(out, "Slowest Request:\t{}", micros(times.max()));
        out.push_str(&self.error_lines(errors));
        for (label, q) in QUANTILES {
            let _ = writeln!(out, "{label}{}", micros(times.quantile_unchecked(q)));
        }
        let _ = writeln!(out, "stddev:\t\t\t{}", micros(nearest(times.stddev())));
        out
    }

    /// The number of errors, and their kinds.
    fn error_lines(&self, errors: &ErrorCounts) -> String {
        let total = errors.total();
        let kinds = match self.shape {
            Shape::Seed => format!("Error Counts:\t\t{}\n", errors.as_map()),
            Shape::Current if total > 0 => format!("Error Counts:\t\t{}\n", errors.as_list()),
            Shape::Current => String::new(),
        };
        format!("Number of Errors:\t{total}\n{kinds}")
    }
}

impl crate::Presentation for Presentation {
    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn render_start(&self, _info: &RunInfo) -> String {
        self.banner()
    }

    fn render_interrupted(&self) -> &'static str {
        super::STOPPING
    }

    fn places(&self) -> Vec<Option<&str>> {
        vec![None]
    }

    fn write(&mut self, _place: usize, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.report(summary).as_bytes())
    }
}

/// A count per second of a span; 0 for an empty span.
fn per_second(count: u64, span: Nanos) -> f64 {
    if span == Nanos::ZERO {
        return 0.0;
    }
    count as f64 / span.as_secs_f64()
}

/// A figure in nanoseconds as a span, rounded.
fn nearest(ns: f64) -> Nanos {
    Nanos(ns.round() as u64)
}

/// A span at go-wrk's resolution, whole microseconds.
fn micros(span: Nanos) -> String {
    duration(Nanos::from_micros(span.0 / 1_000))
}

/// A size as go-wrk prints it: in units of 1024, each used only above its size.
fn size(bytes: f64) -> String {
    const KIB: f64 = 1024.0;
    let (scale, unit) = if bytes > KIB * KIB * KIB {
        (KIB * KIB * KIB, "GB")
    } else if bytes > KIB * KIB {
        (KIB * KIB, "MB")
    } else if bytes > KIB {
        (KIB, "KB")
    } else {
        (1.0, "bytes")
    };
    format!("{:.2}{unit}", bytes / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_takes_its_unit_beyond_it() {
        for (bytes, text) in [
            (0.0, "0.00bytes"),
            (1024.0, "1024.00bytes"),
            (1025.0, "1.00KB"),
            (1_048_576.0, "1024.00KB"),
            (1_048_577.0, "1.00MB"),
            (54_997_811.2, "52.45MB"),
            (1_073_741_824.0, "1024.00MB"),
            (1_073_741_825.0, "1.00GB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn times_are_cut_to_microseconds() {
        for (ns, text) in [
            (0, "0s"),
            (999, "0s"),
            (98_999, "98µs"),
            (46_608_001, "46.608ms"),
            (1_001_867_999, "1.001867s"),
        ] {
            assert_eq!(micros(Nanos(ns)), text);
        }
    }

    #[test]
    fn nothing_happens_in_no_time() {
        assert_eq!(per_second(5, Nanos::ZERO).to_string(), "0");
    }
}
