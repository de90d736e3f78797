//! The moments of logs, in nanoseconds since the Unix epoch.

use crate::date::day_in;

const NANOS: u64 = 1_000_000_000;
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// A moment as nginx and Apache write it: `10/Oct/2000:13:55:36 -0700`.
fn common(text: &str) -> Option<u64> {
    // HAProxy writes no zone.
    let (moment, zone) = text.split_once(' ').unwrap_or((text, "Z"));
    let mut parts = moment.splitn(3, '/');
    let (day, month, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let (year, clock) = rest.split_once(':')?;
    let month = MONTHS
        .iter()
        .position(|known| month.eq_ignore_ascii_case(known))? as u64
        + 1;
    moment_of(number(year)?, month, number(day)?, clock, zone)
}

/// A moment of RFC 3339, with a blank in place of the `T` perhaps; or a number of seconds or of
/// milliseconds since 1970.
pub(crate) fn any(text: &str) -> Option<u64> {
    if let Some(moment) = common(text) {
        return Some(moment);
    }
    if text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        return of_number(text);
    }
    let (date, rest) = text.split_once(['T', 't', ' '])?;
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let zone = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (clock, zone) = rest.split_at(zone);
    let zone = if zone.is_empty() { "Z" } else { zone };
    moment_of(
        number(year)?,
        number(month)?,
        number(day)?,
        clock.trim(),
        zone,
    )
}

/// Seconds, or where the number is so large that the year would be beyond 5000, milliseconds.
fn of_number(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = number(whole)?;
    let unit = if whole < 100_000_000_000 {
        NANOS
    } else {
        NANOS / 1000
    };
    whole.checked_mul(unit)?.checked_add(part(fraction, unit)?)
}

/// A fraction, written as its digits, of a unit.
fn part(digits: &str, unit: u64) -> Option<u64> {
    if digits.is_empty() {
        return Some(0);
    }
    // Digits beyond the ninth are less than a nanosecond.
    let kept = digits.get(..9).unwrap_or(digits);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| Some(number(kept)? * unit / 10_u64.pow(kept.len() as u32)))?
}

fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    (digits && !text.is_empty()).then(|| text.parse().ok())?
}

fn moment_of(year: u64, month: u64, day: u64, clock: &str, zone: &str) -> Option<u64> {
    let mut parts = clock.splitn(3, ':');
    let (hour, minute) = (number(parts.next()?)?, number(parts.next()?)?);
    let (second, fraction) = {
        let second = parts.next()?;
        second.split_once('.').unwrap_or((second, ""))
    };
    let second = number(second)?;
    if hour >= 24 || minute >= 60 || second > 60 {
        return None;
    }
    let day = day_in(
        year.try_into().ok()?,
        month.try_into().ok()?,
        day.try_into().ok()?,
    )?;
    let seconds = u64::try_from(day).ok()? * 86_400 + hour * 3_600 + minute * 60 + second;
    let at = seconds.checked_add_signed(-offset(zone)?)?;
    at.checked_mul(NANOS)?.checked_add(part(fraction, NANOS)?)
}

/// The seconds by which a zone's clocks are ahead of UTC.
fn offset(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits: String = zone[1..].chars().filter(|c| *c != ':').collect();
    if digits.len() != 4 {
        return None;
    }
    let (hours, minutes) = (number(digits.get(..2)?)?, number(digits.get(2..)?)?);
    Some(sign * (hours * 3_600 + minutes * 60) as i64)
}

#[cfg(test)]
mod tests {
    use super::any;

    #[test]
    fn moments_are_read_in_every_form() {
        let nanos = |seconds: u64| Some(seconds * 1_000_000_000);
        for (text, moment) in [
            ("10/Oct/2000:13:55:36 -0700", nanos(971_211_336)),
            ("01/Jan/1970:00:00:00 +0000", nanos(0)),
            ("2000-10-10T20:55:36Z", nanos(971_211_336)),
            ("2000-10-10 22:55:36+02:00", nanos(971_211_336)),
            ("2000-10-10T20:55:36", nanos(971_211_336)),
            ("971211336", nanos(971_211_336)),
            ("971211336.250", Some(971_211_336_250_000_000)),
            ("971211336250", Some(971_211_336_250_000_000)),
            (
                "2000-10-10T20:55:36.123456789123Z",
                Some(971_211_336_123_456_789),
            ),
            ("10/Xxx/2000:13:55:36 -0700", None),
            ("10/Oct/2000:25:55:36 -0700", None),
            ("31/Feb/2000:13:55:36 -0700", None),
            ("29/Feb/2000:00:00:60 +0000", nanos(951_782_460)),
            ("10/Oct/1900:13:55:36 -0700", None),
            ("01/Jan/1970:00:00:00 +0100", None),
            ("2000-10-10T20:55Z", None),
            ("99999999999999999999", None),
            ("", None),
            ("-", None),
            ("é", None),
            ("2000-10-10T20:55:36+é0", None),
            ("2000-10-10T20:55:36+0é0", None),
            ("1.12345678é", None),
            ("1.1234567890é", None),
            ("2000-10-10T99999999999999999:55:36Z", None),
            ("2000-10-18446744073709551615T20:55:36Z", None),
        ] {
            assert_eq!(any(text), moment, "{text}");
        }
    }
}
