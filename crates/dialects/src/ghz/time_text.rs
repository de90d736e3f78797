//! Points in time and spans as ghz prints them. Times are in UTC.

use drumfire_data::rfc3339;

/// What a millisecond and a second are in nanoseconds.
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// A span: nanoseconds, milliseconds or seconds.
pub(super) fn span(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..S => format!("{:.2} ms", ns as f64 / MS as f64),
        _ => format!("{:.2} s", ns as f64 / S as f64),
    }
}

/// A point in time to the second, in RFC 3339.
pub(super) fn seconds(unix_ns: u64) -> String {
    let mut text = String::new();
    rfc3339(unix_ns, &mut text);
    // The fraction has three digits, and a `Z` follows it.
    text.truncate(text.len() - 5);
    text.push('Z');
    text
}

/// A point in time to the nanosecond, in RFC 3339, without the fraction's last zeros.
pub(super) fn nanos(unix_ns: u64) -> String {
    let mut text = seconds(unix_ns);
    let fraction = format!(".{:09}", unix_ns % S);
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    text.insert_str(text.len() - 1, fraction);
    text
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

    #[test]
    fn times_are_in_rfc_3339() {
        assert_eq!(seconds(0), "1970-01-01T00:00:00Z");
        let at = 1_600_000_000_123_450_000;
        assert_eq!(seconds(at), "2020-09-13T12:26:40Z");
        assert_eq!(nanos(at), "2020-09-13T12:26:40.12345Z");
        assert_eq!(nanos(1_600_000_000_000_000_000), "2020-09-13T12:26:40Z");
    }
}
