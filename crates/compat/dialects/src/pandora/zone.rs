//! The clock of a time zone, with its changes during a run.

use drumfire_compile::{Host, ZoneTime};

/// Clock changes are looked up this far ahead, because a run may last a year.
const AHEAD_SECONDS: i64 = 400 * 86_400;

/// The minimum time between two clock changes.
const STEP_SECONDS: i64 = 10 * 86_400;

/// A template for the time in a zone, in the format of header fields; `None` if the zone is
/// unknown.
pub(super) fn dated(place: &str, host: &dyn Host) -> Option<String> {
    if place == "UTC" {
        return Some("{{ unix | http_date }}".to_owned());
    }
    let mut expression = String::new();
    let mut at = host.unix_seconds();
    let mut zone = host.zone(place, at)?;
    let end = at.saturating_add(AHEAD_SECONDS);
    while at < end {
        let next = at.saturating_add(STEP_SECONDS);
        let there = host.zone(place, next)?;
        if there != zone {
            let change = change(place, at, next, &zone, host);
            expression.push_str(&format!("{} if unix < {change} else ", shown(&zone)));
            zone = there;
        }
        at = next;
    }
    Some(format!("{{{{ {expression}{} }}}}", shown(&zone)))
}

/// The second at which the clock differs from `before`: after `from`, and at most at `to`.
fn change(place: &str, from: i64, to: i64, before: &ZoneTime, host: &dyn Host) -> i64 {
    let (mut same, mut changed) = (from, to);
    while changed - same > 1 {
        let middle = same + (changed - same) / 2;
        match host.zone(place, middle).as_ref() == Some(before) {
            true => same = middle,
            false => changed = middle,
        }
    }
    changed
}

/// An expression for the time on this clock.
fn shown(zone: &ZoneTime) -> String {
    let (offset, name) = (zone.offset_seconds, &zone.abbreviation);
    format!("unix | http_date({offset}, \"{name}\")")
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_document::Environment;

    /// A zone whose summer time begins a hundred days after the epoch and lasts a hundred days.
    #[derive(Debug)]
    struct Summery;

    impl Environment for Summery {}

    impl Host for Summery {
        fn zone(&self, place: &str, unix_seconds: i64) -> Option<ZoneTime> {
            let is_summer = (8_640_005..17_280_000).contains(&unix_seconds);
            let (offset_seconds, abbreviation) = match is_summer {
                true => (7_200, "CEST"),
                false => (3_600, "CET"),
            };
            (place == "Town").then(|| ZoneTime {
                offset_seconds,
                abbreviation: abbreviation.to_owned(),
            })
        }
    }

    #[test]
    fn clocks_change_while_a_run_lasts() {
        let winter = "unix | http_date(3600, \"CET\")";
        let summer = "unix | http_date(7200, \"CEST\")";
        let wanted = format!(
            "{{{{ {winter} if unix < 8640005 else {summer} if unix < 17280000 else {winter} }}}}"
        );
        assert_eq!(dated("Town", &Summery), Some(wanted));
        assert_eq!(
            dated("UTC", &Summery).as_deref(),
            Some("{{ unix | http_date }}")
        );
        assert_eq!(dated("Nowhere", &Summery), None);
    }
}
