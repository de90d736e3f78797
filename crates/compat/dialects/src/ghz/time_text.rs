//! Spans as ghz prints them.

/// A millisecond and a second in nanoseconds.
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// A span in nanoseconds, milliseconds or seconds.
pub(super) fn span(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..S => format!("{:.2} ms", ns as f64 / MS as f64),
        _ => format!("{:.2} s", ns as f64 / S as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_take_their_unit_by_size() {
        for (ns, text) in [
            (0, "0 ns"),
            (9_999, "9999 ns"),
            (10_000, "0.01 ms"),
            (56_170_000, "56.17 ms"),
            (999_990_000, "999.99 ms"),
            (1_000_000_000, "1.00 s"),
            (85_050_000_000, "85.05 s"),
        ] {
            assert_eq!(span(ns), text);
        }
    }
}
