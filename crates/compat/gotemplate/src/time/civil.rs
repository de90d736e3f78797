//! The proleptic Gregorian calendar, in integers.

/// A date and a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// From 1, January.
    pub(crate) month: i64,
    /// From 1.
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    /// From 0, Sunday.
    pub(crate) weekday: i64,
    /// The day of the year, from 1.
    pub(crate) year_day: i64,
}

const DAY: i64 = 86_400;

impl Civil {
    /// The date and time of seconds since 1970.
    pub(crate) const fn from_unix_seconds(seconds: i64) -> Self {
        let days = seconds.div_euclid(DAY);
        let time = seconds.rem_euclid(DAY);
        let (year, month, day) = date(days);
        Self {
            year,
            month,
            day,
            hour: time / 3600,
            minute: time % 3600 / 60,
            second: time % 60,
            // 1970 started on a Thursday.
            weekday: (days + 4).rem_euclid(7),
            year_day: days - day_number(year, 1, 1) + 1,
        }
    }
}

/// The seconds since 1970 of a date and a time; months and days out of range carry over.
pub(crate) const fn seconds(year: i64, month: i64, day: i64, time_of_day: i64) -> i64 {
    let year = year + (month - 1).div_euclid(12);
    let month = (month - 1).rem_euclid(12) + 1;
    (day_number(year, month, 1) + day - 1) * DAY + time_of_day
}

/// Days since 1970. Years start in March, so that the leap day is the last day, in cycles of 400
/// years with 146097 days.
const fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let cycle = year.div_euclid(400);
    let year_of_cycle = year.rem_euclid(400);
    let months_from_march = (month + 9) % 12;
    // From March, months have an average of 30.6 days, and this formula rounds to their lengths.
    let day_of_year = (153 * months_from_march + 2) / 5 + day - 1;
    let day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
    cycle * 146_097 + day_of_cycle - 719_468
}

/// The date of a day number; the inverse of [`day_number`].
const fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let cycle = days.div_euclid(146_097);
    let day_of_cycle = days.rem_euclid(146_097);
    let year_of_cycle = (day_of_cycle - day_of_cycle / 1_460 + day_of_cycle / 36_524
        - day_of_cycle / 146_096)
        / 365;
    let before = 365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100;
    let day_of_year = day_of_cycle - before;
    let months_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * months_from_march + 2) / 5 + 1;
    let month = (months_from_march + 2) % 12 + 1;
    let year = year_of_cycle + cycle * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

/// The number of days of a month.
pub(crate) const fn days_in(year: i64, month: i64) -> i64 {
    let next = if month == 12 {
        day_number(year + 1, 1, 1)
    } else {
        day_number(year, month + 1, 1)
    };
    next - day_number(year, month, 1)
}
