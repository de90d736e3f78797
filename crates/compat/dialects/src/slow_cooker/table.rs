//! The table of latencies: HdrHistogram's buckets, in slow_cooker's CSV format.

use drumfire_measure::Histogram;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Values below it have separate buckets: three significant digits.
const UNIT_WIDE: u64 = 2_048;

/// Writes a row for each bucket from 0 to the bucket of the maximum: its lowest and highest value,
/// in units of `unit` nanoseconds, and its count.
///
/// # Errors
/// If `out` fails.
pub(super) fn write(times: &Histogram, unit: u64, out: &mut dyn Write) -> io::Result<()> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for (low, high, count) in times.buckets() {
        let middle = low.midpoint(high).clamp(times.min().0, times.max().0);
        *counts.entry(first_of(middle / unit)).or_default() += count;
    }
    let Some(last) = counts.keys().next_back().copied() else {
        return Ok(());
    };
    let mut low = 0;
    while low <= last {
        let next = low + width(low);
        let count = counts.get(&low).copied().unwrap_or_default();
        writeln!(out, "{low}, {}, {count}", next - 1)?;
        low = next;
    }
    Ok(())
}

/// The width of the bucket that contains a value.
const fn width(value: u64) -> u64 {
    match value {
        0..UNIT_WIDE => 1,
        value => 1 << (value.ilog2() - UNIT_WIDE.ilog2() + 1),
    }
}

/// The lowest value of the bucket that contains a value.
const fn first_of(value: u64) -> u64 {
    value / width(value) * width(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_units::Nanos;

    fn rows(times: &[u64], unit: u64) -> Vec<String> {
        let mut histogram = Histogram::new();
        for time in times {
            histogram.record(Nanos(*time));
        }
        let mut out = Vec::new();
        write(&histogram, unit, &mut out).unwrap();
        String::from_utf8(out)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn buckets_are_those_of_the_original() {
        assert!(rows(&[], 1).is_empty());
        assert_eq!(rows(&[1_999_999], 1_000_000), ["0, 0, 0", "1, 1, 1"]);
        let wide = rows(&[3_000_000_000, 3_000_000_000, 5_000_000_000], 1_000_000);
        assert_eq!(
            wide[2_047..2_050],
            ["2047, 2047, 0", "2048, 2049, 0", "2050, 2051, 0"]
        );
        assert!(
            wide.contains(&"3000, 3001, 2".to_owned()),
            "{:?}",
            wide.last()
        );
        assert_eq!(wide.last().map(String::as_str), Some("5000, 5003, 1"));
    }
}
