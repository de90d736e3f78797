//! Dates in cookies: the algorithm of section 5.1.1, which accepts many more forms than HTTP's date
//! formats.

use std::ops::RangeInclusive;

const MONTHS: [&[u8; 3]; 12] = [
    b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec",
];

/// Days from 1 March of the year 0 to 1 January 1970, in the Gregorian calendar.
const DAYS_TO_EPOCH: u64 = 719_468;

/// The parts of a date, in the order in which they are tried for a token.
#[derive(Default)]
struct Parts {
    second_of_day: Option<u64>,
    day: Option<u64>,
    month: Option<u64>,
    year: Option<u64>,
}

/// The leading digits of a token, and the bytes after them.
struct Number<'a> {
    value: u64,
    rest: &'a [u8],
}

/// Parses seconds since the Unix epoch; 0 for earlier times.
pub(crate) fn parse(text: &[u8]) -> Option<u64> {
    let mut parts = Parts::default();
    let tokens = text.split(|byte| is_delimiter(*byte));
    for token in tokens.filter(|token| !token.is_empty()) {
        parts.read(token)?;
    }
    parts.timestamp()
}

const fn is_delimiter(byte: u8) -> bool {
    matches!(byte, 0x09 | 0x20..=0x2f | 0x3b..=0x40 | 0x5b..=0x60 | 0x7b..=0x7e)
}

impl Parts {
    /// Uses a token as the first missing part that has its form; `None` if the value of that part
    /// is out of range. Tokens in no such form are ignored, such as the day of the week.
    fn read(&mut self, token: &[u8]) -> Option<()> {
        if self.second_of_day.is_none()
            && let Some(time) = TimeOfDay::parse(token)
        {
            self.second_of_day = Some(time.second_of_day()?);
        } else if self.day.is_none()
            && let Some(day) = number(token, 1..=2)
        {
            self.day = Some(day.value);
        } else if self.month.is_none()
            && let Some(month) = month(token)
        {
            self.month = Some(month);
        } else if self.year.is_none()
            && let Some(year) = number(token, 2..=4)
        {
            self.year = Some(match year.value {
                short @ 0..=69 => 2000 + short,
                short @ 70..=99 => 1900 + short,
                full => full,
            });
        }
        Some(())
    }

    /// `None` if a part is missing or the calendar does not contain the day.
    fn timestamp(&self) -> Option<u64> {
        let (year, month, day) = (self.year?, self.month?, self.day?);
        let second = self.second_of_day?;
        if year < 1601 || day < 1 || day > days_in(year, month) {
            return None;
        }
        // Here the year starts in March, so that the leap day is the last day.
        let march_year = year - u64::from(month <= 2);
        let march_month = (month + 9) % 12;
        let leap_days = march_year / 4 - march_year / 100 + march_year / 400;
        let days = march_year * 365 + leap_days + (march_month * 153 + 2) / 5 + day - 1;
        let since_epoch = days.checked_sub(DAYS_TO_EPOCH);
        Some(since_epoch.map_or(0, |days| days * 86_400 + second))
    }
}

struct TimeOfDay {
    hour: u64,
    minute: u64,
    second: u64,
}

impl TimeOfDay {
    fn parse(token: &[u8]) -> Option<Self> {
        let hour = number(token, 1..=2)?;
        let minute = number(hour.rest.strip_prefix(b":")?, 1..=2)?;
        let second = number(minute.rest.strip_prefix(b":")?, 1..=2)?;
        Some(Self {
            hour: hour.value,
            minute: minute.value,
            second: second.value,
        })
    }

    fn second_of_day(&self) -> Option<u64> {
        let is_valid = self.hour <= 23 && self.minute <= 59 && self.second <= 59;
        is_valid.then_some((self.hour * 60 + self.minute) * 60 + self.second)
    }
}

/// A number whose digit count is in `lengths`; all lengths are small.
fn number(token: &[u8], lengths: RangeInclusive<usize>) -> Option<Number<'_>> {
    let is_digit = |byte: &&u8| byte.is_ascii_digit();
    let length = token.iter().take_while(is_digit).count();
    if !lengths.contains(&length) {
        return None;
    }
    let (digits, rest) = token.split_at(length);
    let append = |sum: u64, digit: &u8| sum * 10 + u64::from(digit - b'0');
    Some(Number {
        value: digits.iter().fold(0, append),
        rest,
    })
}

/// The month, from 1; only the first three letters count.
fn month(token: &[u8]) -> Option<u64> {
    let name = token.get(..3)?;
    (1..)
        .zip(MONTHS)
        .find(|(_, month)| name.eq_ignore_ascii_case(*month))
        .map(|(number, _)| number)
}

const fn days_in(year: u64, month: u64) -> u64 {
    let is_leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use proptest::prelude::*;

    #[test]
    fn any_order_and_many_forms_are_read() {
        let rows = [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("1994 NOVEMBER 6 8:49:37", 784_111_777),
            ("8:49:37 6 nov 94", 784_111_777),
            ("6 1994 Nov 08:49:37.5 junk", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 01-Jan-1970 00:00:01 GMT", 1),
            ("Fri, 31 Dec 1601 23:59:59 GMT", 0),
            ("29 Feb 2000 00:00:00", 951_782_400),
            ("1 Mar 2000 00:00:00", 951_868_800),
            ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
            ("31 Dec 9999 23:59:59", 253_402_300_799),
            // Two-digit years, on both sides of the pivot.
            ("1 Jan 69 00:00:00", 3_124_224_000),
            ("1 Jan 70 00:00:00", 0),
            // The algorithm ignores the zone.
            ("Sun, 06 Nov 1994 08:49:37 +0500", 784_111_777),
            // Each part is parsed only once.
            ("6 7 Nov 1994 08:49:37 09:00:00 Dec 1995", 784_111_777),
        ];
        for (text, seconds) in rows {
            assert_eq!(parse(text.as_bytes()), Some(seconds), "{text}");
        }
    }

    #[test]
    fn a_date_that_lacks_a_part_or_does_not_exist_is_refused() {
        for text in [
            "",
            "GMT",
            "06 Nov 1994",
            "Nov 1994 08:49:37",
            "06 1994 08:49:37",
            "06 Nov 08:49:37",
            "0 Nov 1994 08:49:37",
            "32 Jan 1994 08:49:37",
            "31 Nov 1994 08:49:37",
            "29 Feb 1900 08:49:37",
            "29 Feb 2023 08:49:37",
            "06 Nov 1600 08:49:37",
            "06 Nov 120 08:49:37",
            "06 Nov 19940 08:49:37",
            "06 Nov 1994 24:00:00",
            "06 Nov 1994 08:60:00",
            "06 Nov 1994 08:49:60",
            "06 Nov 1994 08:49:370",
            "06 Nov 1994 08:49",
            "06 No 1994 08:49:37",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        /// Consecutive days have consecutive timestamps in all months and years.
        #[test]
        fn the_next_day_is_a_day_later(year in 1970_u64..9999, month in 1_u64..=12, day in 1_u64..=31) {
            let names = "JanFebMarAprMayJunJulAugSepOctNovDec";
            let at = |year: u64, month: u64, day: u64| {
                let name = &names[(month as usize - 1) * 3..][..3];
                parse(format!("{day} {name} {year:04} 00:00:00").as_bytes())
            };
            if let Some(start) = at(year, month, day) {
                let next = at(year, month, day + 1)
                    .or_else(|| at(year, month + 1 - month / 12 * 12, 1).filter(|_| month < 12))
                    .or_else(|| at(year + 1, 1, 1));
                prop_assert_eq!(next, Some(start + 86_400));
            } else {
                prop_assert!(day > 28);
            }
        }
    }
}
