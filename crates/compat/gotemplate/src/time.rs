//! Go's `time`: moments, layouts and durations.

pub(crate) mod civil;
pub(crate) mod duration;
pub(crate) mod layout;
pub(crate) mod parse;

use crate::env::{Env, ZoneTime};
use civil::Civil;
use std::rc::Rc;

/// A point in time as a clock at a place shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoTime {
    /// Seconds since the Unix epoch.
    pub(crate) unix_seconds: i64,
    /// Nanoseconds within the second.
    pub(crate) nanos: u32,
    /// `Local`, `UTC` or a name of the zone database.
    pub(crate) place: Rc<str>,
    /// Seconds east of UTC at this place and time.
    pub(crate) offset_seconds: i32,
    /// The zone's name at this place and time.
    pub(crate) abbreviation: Rc<str>,
}

/// The seconds of Go's zero time, the first moment of the year 1.
const ZERO_SECONDS: i64 = -62_135_596_800;

/// The limit of moments in seconds, 290 years beyond the years 0 and 9999.
const SECONDS_MAX: i64 = 253_402_300_799 + (i64::MAX / 1_000_000_000);

impl GoTime {
    /// A moment at a place; in UTC if the place is unknown.
    pub(crate) fn from_unix(env: &dyn Env, unix_seconds: i64, nanos: u32, place: &str) -> Self {
        let unix_seconds = unix_seconds.clamp(-SECONDS_MAX, SECONDS_MAX);
        let zone = match place {
            "UTC" | "" => None,
            place => env.zone(place, unix_seconds),
        };
        let known = zone.is_some() || place == "Local";
        let zone = zone.unwrap_or_else(|| ZoneTime {
            offset_seconds: 0,
            abbreviation: "UTC".to_owned(),
        });
        Self {
            unix_seconds,
            nanos,
            place: if known { place.into() } else { "UTC".into() },
            offset_seconds: zone.offset_seconds.clamp(-86_399, 86_399),
            abbreviation: zone.abbreviation.into(),
        }
    }

    /// A moment with a fixed offset from UTC, and a name for its zone.
    pub(crate) fn at_offset(
        unix_seconds: i64,
        nanos: u32,
        offset_seconds: i32,
        abbreviation: &str,
    ) -> Self {
        Self {
            unix_seconds: unix_seconds.clamp(-SECONDS_MAX, SECONDS_MAX),
            nanos,
            place: abbreviation.into(),
            offset_seconds: offset_seconds.clamp(-86_399, 86_399),
            abbreviation: abbreviation.into(),
        }
    }

    /// A moment as a clock in `zone` shows it; in UTC without a zone.
    #[must_use]
    pub fn shown(unix_seconds: i64, nanos: u32, zone: Option<ZoneTime>) -> Self {
        let (offset, name) = match &zone {
            Some(zone) => (zone.offset_seconds, zone.abbreviation.as_str()),
            None => (0, "UTC"),
        };
        Self::at_offset(unix_seconds, nanos, offset, name)
    }

    /// The moment's text in a Go layout such as `2006-01-02T15:04:05Z07:00`.
    #[must_use]
    pub fn format(&self, layout: &str) -> String {
        layout::format(self, layout)
    }

    /// Go's zero time.
    pub(crate) fn zero() -> Self {
        Self::at_offset(ZERO_SECONDS, 0, 0, "UTC")
    }

    /// The current time at the caller's place.
    pub(crate) fn now(env: &mut dyn Env) -> Self {
        let now = env.unix_time_ns();
        let seconds = now.div_euclid(1_000_000_000);
        // The remainder is from 0 to below a second.
        let nanos = u32::try_from(now.rem_euclid(1_000_000_000)).unwrap_or(0);
        Self::from_unix(env, seconds, nanos, "Local")
    }

    pub(crate) const fn is_zero(&self) -> bool {
        self.unix_seconds == ZERO_SECONDS && self.nanos == 0
    }

    /// The moment `nanos` nanoseconds later, at the same place.
    pub(crate) fn plus(&self, env: &dyn Env, nanos: i64) -> Self {
        let total = i64::from(self.nanos) + nanos.rem_euclid(1_000_000_000);
        let seconds = self
            .unix_seconds
            .saturating_add(nanos.div_euclid(1_000_000_000))
            .saturating_add(total / 1_000_000_000);
        let nanos = u32::try_from(total % 1_000_000_000).unwrap_or(0);
        self.moved(env, seconds, nanos)
    }

    /// Another moment at the same place.
    pub(crate) fn moved(&self, env: &dyn Env, unix_seconds: i64, nanos: u32) -> Self {
        let place = env.zone(&self.place, unix_seconds);
        if place.is_none() && &*self.place != "Local" {
            let abbreviation = &self.abbreviation;
            return Self::at_offset(unix_seconds, nanos, self.offset_seconds, abbreviation);
        }
        Self::from_unix(env, unix_seconds, nanos, &self.place)
    }

    /// The nanoseconds since `other`, clamped to the range of a duration.
    pub(crate) fn since(&self, other: &Self) -> i64 {
        let seconds = i128::from(self.unix_seconds) - i128::from(other.unix_seconds);
        let nanos = seconds * 1_000_000_000 + i128::from(self.nanos) - i128::from(other.nanos);
        let bounds = i128::from(i64::MIN)..=i128::from(i64::MAX);
        let nanos = nanos.clamp(*bounds.start(), *bounds.end());
        i64::try_from(nanos).unwrap_or(0)
    }

    /// The date and time of the local clock.
    pub(crate) const fn civil(&self) -> Civil {
        Civil::from_unix_seconds(self.unix_seconds + self.offset_seconds as i64)
    }
}

/// A moment as `%v` prints it.
pub(crate) fn print(moment: &GoTime) -> String {
    layout::format(moment, "2006-01-02 15:04:05.999999999 -0700 MST")
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const WEEKDAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// The name of a month from 1 to 12.
pub(crate) fn month_name(month: i64) -> &'static str {
    let index = usize::try_from(month - 1).unwrap_or(usize::MAX);
    MONTHS.get(index).copied().unwrap_or("%!Month")
}

/// The name of a weekday from 0, Sunday.
pub(crate) fn weekday_name(weekday: i64) -> &'static str {
    let index = usize::try_from(weekday).unwrap_or(usize::MAX);
    WEEKDAYS.get(index).copied().unwrap_or("%!Weekday")
}
