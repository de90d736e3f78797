//! Times as text.

use jiff::civil::{Date, DateTime, date};
use jiff::{SignedDuration, Timestamp};
use std::fmt::Write;

/// The day from which days are counted here.
const FIRST: Date = date(1970, 1, 1);

/// Appends a time, in nanoseconds since the Unix epoch, as RFC 3339 has it: UTC, milliseconds.
pub fn rfc3339(unix_time: u64, out: &mut String) {
    // The count ends in the year 2554, and timestamps in 9999.
    let time = Timestamp::from_nanosecond(i128::from(unix_time)).unwrap_or(Timestamp::MAX);
    // Writing to a string does not fail.
    let _ = write!(out, "{time:.3}");
}

/// Appends a time, in seconds since the Unix epoch on the clocks of a zone, as RFC 1123 has it. The
/// year is 9999 at most.
pub(crate) fn rfc1123(local: u64, zone: &str, out: &mut String) {
    let since = SignedDuration::from_secs(i64::try_from(local).unwrap_or(i64::MAX));
    let first = FIRST.at(0, 0, 0, 0);
    let time = first.checked_add(since).unwrap_or(DateTime::MAX);
    // Writing to a string does not fail.
    let _ = write!(out, "{} {zone}", time.strftime("%a, %d %b %Y %H:%M:%S"));
}

/// Appends a day, counted from 1970-01-01; of the years 1 to 9999.
pub(crate) fn push_date(days: i64, out: &mut String) {
    let day = SignedDuration::from_hours(24 * days);
    let day = FIRST.checked_add(day).unwrap_or(Date::MAX);
    // Writing to a string does not fail.
    let _ = write!(out, "{day}");
}

/// The day of a date such as `2024-02-29`, counted from 1970-01-01; of the years 1 to 9999.
pub(crate) fn day_of(text: &str) -> Option<i64> {
    let date: Date = text.parse().ok()?;
    // Only this form, and not the others that jiff reads.
    let is_plain = text.len() == 10 && date.year() >= 1;
    is_plain.then(|| date.duration_since(FIRST).as_hours() / 24)
}

#[cfg(test)]
mod tests {
    use super::{day_of, push_date, rfc1123, rfc3339};

    #[test]
    fn dates_are_read_as_they_are_written() {
        let (first, last) = (-719_162, 2_932_896);
        let all = (first..last).step_by(997);
        for days in all.chain(first..first + 40_000).chain(-400..400) {
            let mut text = String::new();
            push_date(days, &mut text);
            assert_eq!(text.len(), 10, "{text}");
            assert_eq!(day_of(&text), Some(days), "{text}");
        }
        for text in [
            "2023-02-29",
            "2024-13-01",
            "2024-00-01",
            "2024-1-1",
            "x",
            "0000-12-31",
            "-001-12-31",
            "2024-02-30",
            "2024-02-29-1",
            "24-02-2024",
            "1900-02-29",
            "",
        ] {
            assert_eq!(day_of(text), None, "{text}");
        }
        assert_eq!(day_of("0001-01-01"), Some(first));
        assert_eq!(day_of("1970-01-01"), Some(0));
        assert_eq!(day_of("9999-12-31"), Some(last));
    }

    #[test]
    fn header_fields_have_the_day_of_the_week() {
        for (local, zone, text) in [
            (0, "GMT", "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "GMT", "Sun, 06 Nov 1994 08:49:37 GMT"),
            (784_144_177, "JST", "Sun, 06 Nov 1994 17:49:37 JST"),
            (253_402_300_799, "GMT", "Fri, 31 Dec 9999 23:59:59 GMT"),
            (u64::MAX, "GMT", "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] {
            let mut out = String::new();
            rfc1123(local, zone, &mut out);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        for (unix, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (951_868_800, "2000-03-01T00:00:00.000Z"),
            (1_000_000_000, "2001-09-09T01:46:40.000Z"),
            (1_709_210_096, "2024-02-29T12:34:56.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (18_446_744_073, "2554-07-21T23:34:33.000Z"),
        ] {
            let mut out = String::new();
            rfc3339(unix * 1_000_000_000, &mut out);
            assert_eq!(out, text);
        }
        let mut out = String::new();
        rfc3339(1_999_999, &mut out);
        assert_eq!(out, "1970-01-01T00:00:00.001Z");
    }
}
