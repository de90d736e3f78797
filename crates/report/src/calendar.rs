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

/// Any number of digits up to nine behind the point is read. A date is checked no further than its
/// fields: the 31st of a shorter month is the day behind its last, as the same sum has it.
///
/// The nanoseconds since 1970 of a text of [`rfc3339`]; `None` of any other.
pub(crate) fn unix_nanos(text: &str) -> Option<u64> {
    let text = text.strip_suffix('Z')?;
    let (date, time) = text.split_once('T')?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    // Three numbers and nothing behind them; a sign or a space is no number here.
    let numbers = |text: &str, mark: char| {
        let mut parts = text.split(mark).map(|part| part.parse::<u64>().ok());
        let three = [parts.next()??, parts.next()??, parts.next()??];
        parts.next().is_none().then_some(three)
    };
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(time, ':')?;
    let is_date = (1970..=9_999).contains(&year) && (1..=12).contains(&month) && day >= 1;
    if !is_date || day > 31 || hour > 23 || minute > 59 || second > 59 || fraction.len() > 9 {
        return None;
    }
    let nanos = format!("{fraction:0<9}").parse::<u64>().ok()?;
    let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanos)
}

/// The day of a date, counted from 1970-01-01: the inverse of [`civil`].
const fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let (era, year) = (year / 400, year % 400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * DAYS_PER_ERA + year * 365 + year / 4 - year / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_time_of_ours_is_none() {
        for text in [
            "",
            "2026-01-31",
            "2026-01-31T23:59:59",
            "2026-13-01T00:00:00Z",
            "2026-01-31T24:00:00Z",
            "1969-12-31T23:59:59Z",
            "2026-01-31T23:59:59.1234567890Z",
            "2026-01-31T23:59:59+01:00",
            "99999-01-31T23:59:59Z",
        ] {
            assert_eq!(unix_nanos(text), None, "{text}");
        }
    }

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
            let nanos = seconds * 1_000_000_000 + 7;
            assert_eq!(unix_nanos(&rfc3339(nanos)), Some(nanos));
            assert_eq!(unix_nanos(&rfc3339_seconds(nanos)), Some(nanos - 7));
        }
    }
}
