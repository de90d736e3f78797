//! Times as text.

use std::fmt::Write;

const NANOS_PER_SECOND: u64 = 1_000_000_000;
const SECONDS_PER_DAY: u64 = 86_400;
/// 1970-01-01, as days are counted here: from 0000-03-01.
pub(crate) const EPOCH_DAY: u64 = 719_468;

/// Appends a time, in nanoseconds since the Unix epoch, as RFC 3339 has it: UTC, milliseconds.
pub fn rfc3339(unix_time: u64, out: &mut String) {
    let seconds = unix_time / NANOS_PER_SECOND;
    let millis = unix_time % NANOS_PER_SECOND / 1_000_000;
    push_date(EPOCH_DAY + seconds / SECONDS_PER_DAY, out);
    let of_day = seconds % SECONDS_PER_DAY;
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    // Writing to a string does not fail.
    let _ = write!(out, "T{hour:02}:{minute:02}:{second:02}.{millis:03}Z");
}

/// The days of the week, from that of 1970-01-01 on.
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Appends a time, in seconds since the Unix epoch on the clocks of a zone, as RFC 1123 has it.
pub(crate) fn rfc1123(local: u64, zone: &str, out: &mut String) {
    let (days, of_day) = (local / SECONDS_PER_DAY, local % SECONDS_PER_DAY);
    let (year, month, day) = civil(EPOCH_DAY + days);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let of_week = DAYS[(days % 7) as usize];
    let month = MONTHS[(month - 1) as usize];
    // Writing to a string does not fail.
    let _ = write!(
        out,
        "{of_week}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} {zone}"
    );
}

/// Appends a day, counted from 0000-03-01.
pub(crate) fn push_date(days: u64, out: &mut String) {
    let (year, month, day) = civil(days);
    // Writing to a string does not fail.
    let _ = write!(out, "{year:04}-{month:02}-{day:02}");
}

/// The day of a date such as `2024-02-29`, counted from 0000-03-01; of the years 1 to 9999.
pub(crate) fn day_of(text: &str) -> Option<u64> {
    let mut parts = text.splitn(3, '-').map(|part| match part.len() {
        2 | 4 => part.parse::<u64>().ok(),
        _ => None,
    });
    let mut part = || parts.next().flatten();
    let (year, month, day) = (part()?, part()?, part()?);
    let days = days_before(year, month)? + day.checked_sub(1)?;
    // A day that its month lacks comes back as one of the next.
    (civil(days) == (year, month, day)).then_some(days)
}

/// The days from 0000-03-01 to the first of a month: the inverse of [`civil`].
pub(crate) fn days_before(year: u64, month: u64) -> Option<u64> {
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let (march_year, march_month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let of_year = (153 * march_month + 2) / 5;
    let leap_days = march_year / 4 - march_year / 100 + march_year / 400;
    Some(365 * march_year + leap_days + of_year)
}

/// Year, month and day of a day counted from 0000-03-01.
///
/// Years begin in March here, so that the leap day is a year's last. With d days since then, an era of 400 years has 146097 days, and month m of a year begins at day (153·m + 2) / 5.
fn civil(days: u64) -> (u64, u64, u64) {
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::{EPOCH_DAY, civil, day_of, rfc1123, rfc3339};

    #[test]
    fn dates_are_read_as_they_are_written() {
        let first = 306;
        let all = (first..3_652_365).step_by(997);
        for days in all
            .chain(first..40_000)
            .chain(EPOCH_DAY - 400..EPOCH_DAY + 400)
        {
            let (year, month, day) = civil(days);
            let text = format!("{year:04}-{month:02}-{day:02}");
            assert_eq!(day_of(&text), Some(days), "{text}");
        }
        for text in [
            "2023-02-29",
            "2024-13-01",
            "2024-00-01",
            "2024-1-1",
            "x",
            "0000-12-31",
            "1900-02-29",
            "",
        ] {
            assert_eq!(day_of(text), None, "{text}");
        }
        assert_eq!(day_of("0001-01-01"), Some(first));
        assert_eq!(day_of("1970-01-01"), Some(EPOCH_DAY));
        assert_eq!(day_of("9999-12-31"), Some(3_652_364));
    }

    #[test]
    fn header_fields_have_the_day_of_the_week() {
        for (local, zone, text) in [
            (0, "GMT", "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "GMT", "Sun, 06 Nov 1994 08:49:37 GMT"),
            (784_144_177, "JST", "Sun, 06 Nov 1994 17:49:37 JST"),
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
