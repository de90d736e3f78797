//! Points in time as RFC 3339 writes them, in UTC.
//!
//! They are the run's own clock (its start and a span), so that a step of the machine's clock
//! during a run does not show, and outputs of several machines can be sorted by text.

/// Days in 400 years of the Gregorian calendar.
const DAYS_PER_ERA: u64 = 146_097;

/// A count of nanoseconds since 1970 as `2026-01-31T23:59:59.123456789Z`.
pub(crate) fn rfc3339(unix_nanos: u64) -> String {
    let fraction = unix_nanos % 1_000_000_000;
    format!("{}.{fraction:09}Z", date_and_time(unix_nanos))
}

/// The same in milliseconds, rounded down: `2026-01-31T23:59:59.123Z`.
pub(crate) fn rfc3339_millis(unix_nanos: u64) -> String {
    let fraction = unix_nanos / 1_000_000 % 1_000;
    format!("{}.{fraction:03}Z", date_and_time(unix_nanos))
}

/// The same in seconds, rounded down: `2026-01-31T23:59:59Z`.
pub(crate) fn rfc3339_seconds(unix_nanos: u64) -> String {
    format!("{}Z", date_and_time(unix_nanos))
}

/// The date and the time of the day in UTC, without a zone. Leap seconds are not counted, as in
/// Unix time.
fn date_and_time(unix_nanos: u64) -> String {
    let seconds = unix_nanos / 1_000_000_000;
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

/// The date of a day counted from 1970-01-01 in the Gregorian calendar: year, month, day.
///
/// Years are counted from March, so that the leap day is a year's last: then the day of the year at
/// which month m starts is ⌊(153·m + 2) / 5⌋ (Hinnant, *chrono-Compatible Low-Level Date
/// Algorithms*).
const fn civil(day: u64) -> (u64, u64, u64) {
    let day = day + 719_468; // from 0000-03-01
    let era = day / DAYS_PER_ERA;
    let day = day % DAYS_PER_ERA;
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, turn) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + turn, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00"),
            (951_782_399, "2000-02-28T23:59:59"),
            (951_782_400, "2000-02-29T00:00:00"),
            (951_868_800, "2000-03-01T00:00:00"),
            (1_709_164_800, "2024-02-29T00:00:00"),
            (1_735_689_599, "2024-12-31T23:59:59"),
            (4_107_542_400, "2100-03-01T00:00:00"),
        ] {
            assert_eq!(
                rfc3339(seconds * 1_000_000_000 + 7),
                format!("{text}.000000007Z")
            );
        }
    }
}
