//! A stored run as lists show it, in the terminal and in a browser.

use crate::exit::Exit;
use drumfire_report::run_list::{Labelled, Listed};
use drumfire_store::RunRow;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The local time at which a run started, with the zone.
pub(crate) fn began(row: &RunRow) -> String {
    let Some(unix_ns) = row.started_at_unix_ns() else {
        return String::new();
    };
    let stamp = Timestamp::from_nanosecond(i128::from(unix_ns)).unwrap_or(Timestamp::UNIX_EPOCH);
    let zoned = stamp.to_zoned_datetime(TimeZone::system());
    zoned.strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}

/// The row of a run that started at this time, with its exit code.
pub(crate) fn listed_of<'a>(row: &'a RunRow, began: &'a str) -> Listed<'a> {
    let labels = row.labels.as_ref().map_err(String::as_str);
    let run = row.run.as_ref().map_err(String::as_str);
    Listed {
        id: &row.id,
        began,
        labels: labels.map(|labels| Labelled {
            tags: &labels.tags,
            note: &labels.note,
        }),
        run,
        unfinished: row.unfinished,
        exit: run.ok().filter(|run| run.coverage.has_end()).map(|run| {
            Exit::for_run(run, false)
                .with_teardown(row.teardown.as_ref())
                .into()
        }),
        is_elsewhere: row.is_elsewhere,
    }
}
