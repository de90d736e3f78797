//! Points in time in the form of RFC 3339, in UTC. The times are those of the run's clock, which
//! has no steps.

use jiff::Timestamp;

/// A count of nanoseconds since 1970 as `2026-01-31T23:59:59.123456789Z`.
pub(crate) fn rfc3339(unix_nanos: u64) -> String {
    format!("{:.9}", timestamp(unix_nanos))
}

/// Milliseconds since 1970, rounded down: `2026-01-31T23:59:59.123Z`.
pub(crate) fn rfc3339_millis(unix_nanos: u64) -> String {
    format!("{:.3}", timestamp(unix_nanos))
}

/// Seconds since 1970, rounded down: `2026-01-31T23:59:59Z`.
pub(crate) fn rfc3339_seconds(unix_nanos: u64) -> String {
    format!("{:.0}", timestamp(unix_nanos))
}

fn timestamp(unix_nanos: u64) -> Timestamp {
    // The count ends in the year 2554, and timestamps in 9999.
    Timestamp::from_nanosecond(i128::from(unix_nanos)).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_rounded_down() {
        let last = 999_999_999;
        assert_eq!(rfc3339(last), "1970-01-01T00:00:00.999999999Z");
        assert_eq!(rfc3339_millis(last), "1970-01-01T00:00:00.999Z");
        assert_eq!(rfc3339_seconds(last), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000000000Z");
        assert_eq!(rfc3339_millis(1_000_000), "1970-01-01T00:00:00.001Z");
        assert_eq!(rfc3339_seconds(u64::MAX), "2554-07-21T23:34:33Z");
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
        }
    }
}
