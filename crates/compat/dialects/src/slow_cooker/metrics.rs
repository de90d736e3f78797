//! slow_cooker's metrics, in Prometheus' text format.

use super::tally::Tally;
use drumfire_measure::Histogram;
use std::fmt::Write as _;

/// The number of bounds of a histogram, without the infinite one.
const BOUNDS: i32 = 50;

/// A histogram's name, its help, its unit in nanoseconds, its first bound, and the factor between
/// two bounds.
struct Series {
    name: &'static str,
    help: &'static str,
    unit: u64,
    first: f64,
    factor: f64,
}

const SERIES: [Series; 3] = [
    Series {
        name: "latency_ms",
        help: "RPC latency distributions in milliseconds.",
        unit: 1_000_000,
        first: 0.5,
        factor: 1.3,
    },
    Series {
        name: "latency_ns",
        help: "RPC latency distributions in nanoseconds.",
        unit: 1,
        first: 1.0,
        factor: 1.5,
    },
    Series {
        name: "latency_us",
        help: "RPC latency distributions in microseconds.",
        unit: 1_000,
        first: 1.0,
        factor: 1.35,
    },
];

/// The page of metrics for the counts of a run.
pub(super) fn page(all: &Tally) -> String {
    let mut out = String::new();
    for series in &SERIES {
        series.print(&all.times, &mut out);
    }
    let responses = all.good + all.bad;
    for (name, help, count) in [
        ("requests", "Number of requests", responses + all.failed),
        ("successes", "Number of successful requests", all.good),
    ] {
        // Writing to a String can't fail.
        let _ = write!(
            out,
            "# HELP {name} {help}\n# TYPE {name} counter\n{name} {}\n",
            number(count as f64)
        );
    }
    out
}

impl Series {
    fn print(&self, times: &Histogram, out: &mut String) {
        let name = self.name;
        // Writing to a String can't fail.
        let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} histogram", self.help);
        let mut bound = self.first;
        for _ in 0..BOUNDS {
            let within = |(low, high, _): &(u64, u64, u64)| self.value(*low, *high) as f64 <= bound;
            let count: u64 = times.buckets().filter(within).map(|bucket| bucket.2).sum();
            let _ = writeln!(out, "{name}_bucket{{le=\"{}\"}} {count}", number(bound));
            bound *= self.factor;
        }
        let sum = times
            .buckets()
            .map(|(low, high, count)| u128::from(self.value(low, high)) * u128::from(count));
        let (sum, count) = (sum.sum::<u128>(), times.count());
        let _ = writeln!(
            out,
            "{name}_bucket{{le=\"+Inf\"}} {count}\n{name}_sum {}\n{name}_count {count}",
            number(sum as f64)
        );
    }

    /// The representative value of a bucket, in whole units.
    const fn value(&self, low: u64, high: u64) -> u64 {
        low.midpoint(high) / self.unit
    }
}

/// A number as Prometheus' Go client prints it: with an exponent from a million on.
fn number(value: f64) -> String {
    if value < 1e6 {
        return value.to_string();
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{digits}e+{exponent:0>2}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_units::Nanos;

    #[test]
    fn numbers_are_printed_as_in_go() {
        for (value, wanted) in [
            (0.0, "0"),
            (0.5, "0.5"),
            (0.5 * 1.3 * 1.3, "0.8450000000000001"),
            (999_999.0, "999999"),
            (1e6, "1e+06"),
            (1_335_632.933_783_442, "1.335632933783442e+06"),
            (2e12, "2e+12"),
        ] {
            assert_eq!(number(value), wanted);
        }
    }

    #[test]
    fn times_are_cut_to_whole_units() {
        let mut all = Tally {
            good: 2,
            bad: 1,
            failed: 4,
            ..Tally::default()
        };
        for ns in [400_000, 1_600_000, 3_000_000_000_000] {
            all.times.record(Nanos(ns));
        }
        let page = page(&all);
        for line in [
            "latency_ms_bucket{le=\"0.5\"} 1",
            "latency_ms_bucket{le=\"0.8450000000000001\"} 1",
            "latency_ms_bucket{le=\"1.0985000000000003\"} 2",
            "latency_ms_bucket{le=\"+Inf\"} 3",
            "latency_ms_count 3",
            "requests 7",
            "successes 2",
            "# TYPE latency_us histogram",
        ] {
            assert!(
                page.lines().any(|known| known.starts_with(line)),
                "{line}\n{page}"
            );
        }
        assert_eq!(page.matches("_bucket").count(), 3 * 51);
    }
}
