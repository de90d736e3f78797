//! Times as clocks show them here.

use drumfire_store::RunRow;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// When a run began, as clocks show it here, with the zone.
pub(crate) fn began(row: &RunRow) -> String {
    let Some(unix_ns) = row.started_at_unix_ns() else {
        return String::new();
    };
    let stamp = Timestamp::from_nanosecond(i128::from(unix_ns)).unwrap_or(Timestamp::UNIX_EPOCH);
    let zoned = stamp.to_zoned_datetime(TimeZone::system());
    zoned.strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}
