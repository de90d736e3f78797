//! Times as text.

use std::fmt::Write;

const NANOS_PER_SECOND: u64 = 1_000_000_000;
const SECONDS_PER_DAY: u64 = 86_400;

/// Appends a time, in nanoseconds since the Unix epoch, as RFC 3339 has it: UTC, milliseconds.
pub fn rfc3339(unix_time: u64, out: &mut String) {
    let seconds = unix_time / NANOS_PER_SECOND;
    let millis = unix_time % NANOS_PER_SECOND / 1_000_000;
    let (year, month, day) = civil(seconds / SECONDS_PER_DAY);
    let of_day = seconds % SECONDS_PER_DAY;
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    // Writing to a string does not fail.
    let _ = write!(
        out,
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"
    );
}

/// Year, month and day of a day counted from 1970-01-01.
///
/// Years begin in March here, so that the leap day is a year's last. With d days since 0000-03-01,
/// an era of 400 years has 146097 days, and month m of a year begins at day (153·m + 2) / 5.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
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
    use super::rfc3339;

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
