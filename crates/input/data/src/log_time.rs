//! The times of logs, in nanoseconds since the Unix epoch.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::TimeZone;
use std::borrow::Cow;

const NANOS: u64 = 1_000_000_000;
/// The forms beside RFC 3339, each with its zone. A time without a zone is UTC.
const FORMS: [&str; 2] = ["%d/%b/%Y:%H:%M:%S%.f %z", "%Y-%m-%d %H:%M:%S%.f %z"];

/// A time as nginx and Apache write it (`10/Oct/2000:13:55:36 -0700`), in RFC 3339 with a `T` or a
/// space, or as a number of seconds or milliseconds since 1970. HAProxy writes no zone.
pub(crate) fn any(text: &str) -> Option<u64> {
    let is_of_number = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    if text.bytes().all(is_of_number) {
        return of_number(text);
    }
    let text = nanoseconds(text);
    let has_time = text.contains(':');
    let moment = rfc3339(&text).or_else(|| FORMS.into_iter().find_map(|form| formed(form, &text)));
    u64::try_from(moment.filter(|_| has_time)?.as_nanosecond()).ok()
}

fn rfc3339(text: &str) -> Option<Timestamp> {
    match text.parse() {
        Ok(moment) => Some(moment),
        Err(_) => utc(text.parse().ok()?),
    }
}

fn formed(form: &str, text: &str) -> Option<Timestamp> {
    let local = form.strip_suffix(" %z").unwrap_or(form);
    if let Ok(time) = BrokenDownTime::parse(form, text) {
        return time.to_timestamp().ok();
    }
    utc(BrokenDownTime::parse(local, text)
        .ok()?
        .to_datetime()
        .ok()?)
}

fn utc(time: DateTime) -> Option<Timestamp> {
    TimeZone::UTC.to_timestamp(time).ok()
}

/// The text without the digits of its fraction beyond nanoseconds, which jiff refuses.
fn nanoseconds(text: &str) -> Cow<'_, str> {
    let Some((before, fraction)) = text.split_once('.') else {
        return Cow::Borrowed(text);
    };
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    let kept = digits.min(9);
    Cow::Owned([before, ".", &fraction[..kept], &fraction[digits..]].concat())
}

/// A number of seconds. A number so large that the year would be beyond 5000 is milliseconds.
fn of_number(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole: u64 = whole.parse().ok()?;
    let unit = if whole < 100_000_000_000 {
        NANOS
    } else {
        NANOS / 1000
    };
    let kept = fraction.get(..9).unwrap_or(fraction);
    let part = match kept {
        "" => 0,
        digits => digits.parse::<u64>().ok()? * unit / 10_u64.pow(digits.len() as u32),
    };
    whole.checked_mul(unit)?.checked_add(part)
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
            // A leap second is the second before it.
            ("29/Feb/2000:00:00:60 +0000", nanos(951_782_459)),
            ("10/oct/2000:20:55:36.5", Some(971_211_336_500_000_000)),
            ("2000-10-10 22:55:36 +0200", nanos(971_211_336)),
            ("2000-10-10", None),
            ("10/Oct/1900:13:55:36 -0700", None),
            ("01/Jan/1970:00:00:00 +0100", None),
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
