//! Points in time as Go prints them.

use drumfire_compile::Host;
use drumfire_data::rfc3339;
use std::fmt::Write as _;

/// A second in nanoseconds.
const S: u64 = 1_000_000_000;

/// A point in time to the second, in RFC 3339, in the machine's time zone.
pub(crate) fn seconds(host: &dyn Host, unix_ns: u64) -> String {
    let unix_seconds = i64::try_from(unix_ns / S).unwrap_or(i64::MAX);
    let zone = host.zone("Local", unix_seconds);
    let offset = zone.map_or(0, |zone| i64::from(zone.offset_seconds));
    let shown = unix_ns.saturating_add_signed(offset * S as i64);
    let mut text = String::new();
    rfc3339(shown, &mut text);
    // The fraction has three digits, and a `Z` follows it.
    text.truncate(text.len() - 5);
    push_offset(&mut text, offset);
    text
}

/// `Z`, or hours and minutes east of Greenwich.
fn push_offset(text: &mut String, seconds: i64) {
    if seconds == 0 {
        return text.push('Z');
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.unsigned_abs() / 60;
    // Writing to a String can't fail.
    let _ = write!(text, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
}

/// The length of a point in time to the second, without its zone.
const SECONDS_LENGTH: usize = "2006-01-02T15:04:05".len();

/// A point in time to the nanosecond, in RFC 3339, without trailing zeros in the fraction.
pub(crate) fn nanos(host: &dyn Host, unix_ns: u64) -> String {
    let mut text = seconds(host, unix_ns);
    let fraction = format!(".{:09}", unix_ns % S);
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    text.insert_str(SECONDS_LENGTH, fraction);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_compile::ZoneTime;
    use drumfire_document::{Bare, Environment};

    /// A zone, by its offset from UTC in seconds, east positive.
    #[derive(Debug)]
    struct East(i32);

    impl Environment for East {}

    impl Host for East {
        fn zone(&self, place: &str, _: i64) -> Option<ZoneTime> {
            (place == "Local").then(|| ZoneTime {
                offset_seconds: self.0,
                abbreviation: "X".to_owned(),
            })
        }
    }

    #[test]
    fn times_are_in_rfc_3339() {
        assert_eq!(seconds(&Bare, 0), "1970-01-01T00:00:00Z");
        let at = 1_600_000_000_123_450_000;
        for (offset, text) in [
            (0, "2020-09-13T12:26:40.12345Z"),
            (7_200, "2020-09-13T14:26:40.12345+02:00"),
            (-12_600, "2020-09-13T08:56:40.12345-03:30"),
            (45_900, "2020-09-14T01:11:40.12345+12:45"),
        ] {
            assert_eq!(nanos(&East(offset), at), text);
            let whole = text.replace(".12345", "");
            assert_eq!(seconds(&East(offset), at), whole);
            assert_eq!(nanos(&East(offset), at / S * S), whole);
        }
        assert_eq!(nanos(&Bare, at), "2020-09-13T12:26:40.12345Z");
    }
}
