//! Parses times with a layout.

use super::layout::{Pad, Part, next_part};
use super::{GoTime, MONTHS, WEEKDAYS, civil};
use crate::env::Env;
use crate::quote::quoted;

/// The parts parsed so far.
#[derive(Default)]
struct Fields {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    year_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanos: u32,
    afternoon: Option<bool>,
    offset: Option<i32>,
    zone: Option<String>,
}

/// Parses a time, in the local zone unless the text has a zone. The error message is Go's.
pub(crate) fn parse(env: &dyn Env, layout: &str, text: &str) -> Result<GoTime, String> {
    let mut fields = Fields::default();
    let (mut form, mut rest) = (layout, text);
    loop {
        let (before, part, after) = next_part(form);
        let spelled = &form[..form.len() - after.len()];
        let element = &spelled[before.len()..];
        let Some(behind) = skip(rest, before) else {
            return Err(mismatch(layout, text, before, rest));
        };
        rest = behind;
        let Some(part) = part else {
            break;
        };
        rest = match fields.read(part, rest, after) {
            Ok(rest) => rest,
            Err(TimeProblem::Shape) => return Err(mismatch(layout, text, element, rest)),
            Err(TimeProblem::Range(what)) => {
                return Err(format!(
                    "parsing time {}: {what} out of range",
                    quoted(text)
                ));
            }
        };
        form = after;
    }
    if !rest.is_empty() {
        let rest = quoted(rest);
        return Err(format!("parsing time {}: extra text: {rest}", quoted(text)));
    }
    fields
        .moment(env)
        .map_err(|what| format!("parsing time {}: {what} out of range", quoted(text)))
}

fn mismatch(layout: &str, text: &str, element: &str, rest: &str) -> String {
    let (layout, text) = (quoted(layout), quoted(text));
    let (element, rest) = (quoted(element), quoted(rest));
    format!("parsing time {text} as {layout}: cannot parse {rest} as {element}")
}

/// Skips a literal part of the layout; a space matches any number of spaces.
fn skip<'t>(mut text: &'t str, mut literal: &str) -> Option<&'t str> {
    while let Some(c) = literal.chars().next() {
        if c == ' ' {
            if !text.is_empty() && !text.starts_with(' ') {
                return None;
            }
            literal = literal.trim_start_matches(' ');
            text = text.trim_start_matches(' ');
            continue;
        }
        text = text.strip_prefix(c)?;
        literal = &literal[c.len_utf8()..];
    }
    Some(text)
}

enum TimeProblem {
    Shape,
    Range(&'static str),
}

impl Fields {
    fn read<'t>(&mut self, part: Part, text: &'t str, after: &str) -> Result<&'t str, TimeProblem> {
        match part {
            Part::AmPm { upper } => self.am_pm(text, upper),
            Part::Day(pad) => {
                let (day, rest) = number(spaced(text, pad), pad)?;
                self.day = Some(day);
                Ok(rest)
            }
            Part::Fraction { digits, trims, .. } => self.fraction(text, digits, trims),
            Part::Hour24 => self.clock(text, Pad::None, |fields| (&mut fields.hour, 24, "hour")),
            Part::Hour12(pad) => self.clock(text, pad, |fields| (&mut fields.hour, 13, "hour")),
            Part::Minute(pad) => self.clock(text, pad, |fields| (&mut fields.minute, 60, "minute")),
            Part::Month(pad) => {
                let (month, rest) = number(text, pad)?;
                self.month = Some(month);
                if !(1..=12).contains(&month) {
                    return Err(TimeProblem::Range("month"));
                }
                Ok(rest)
            }
            Part::MonthName { long } => {
                let (index, rest) = name(&MONTHS, text, long)?;
                self.month = Some(index + 1);
                Ok(rest)
            }
            Part::Offset { z, colons, fields } => self.offset(text, (z, colons, fields)),
            Part::Second(pad) => {
                let rest = self.clock(text, pad, |fields| (&mut fields.second, 60, "second"))?;
                // A fraction may follow in the text, even if not in the layout.
                let expected = matches!(next_part(after), ("", Some(Part::Fraction { .. }), _));
                let follows = rest.starts_with(['.', ','])
                    && rest[1..].starts_with(|c: char| c.is_ascii_digit());
                match follows && !expected {
                    true => self.fraction(rest, 9, true),
                    false => Ok(rest),
                }
            }
            Part::WeekdayName { long } => name(&WEEKDAYS, text, long).map(|(_, rest)| rest),
            Part::Year { long } => self.year(text, if long { 4 } else { 2 }),
            Part::YearDay(pad) => {
                let (day, rest) = digits(spaced(text, pad), 3, 3)?;
                self.year_day = Some(day);
                Ok(rest)
            }
            Part::ZoneName => self.zone(text),
        }
    }

    fn clock<'t>(
        &mut self,
        text: &'t str,
        pad: Pad,
        field: impl FnOnce(&mut Self) -> (&mut i64, i64, &'static str),
    ) -> Result<&'t str, TimeProblem> {
        let (value, rest) = number(text, pad)?;
        let (field, end, what) = field(self);
        *field = value;
        match value < end {
            true => Ok(rest),
            false => Err(TimeProblem::Range(what)),
        }
    }

    fn year<'t>(&mut self, text: &'t str, width: usize) -> Result<&'t str, TimeProblem> {
        let (year, rest) = digits(text, width, width)?;
        self.year = match (width, year) {
            (4, year) => year,
            (_, year) if year >= 69 => year + 1900,
            (_, year) => year + 2000,
        };
        Ok(rest)
    }

    fn am_pm<'t>(&mut self, text: &'t str, upper: bool) -> Result<&'t str, TimeProblem> {
        let (word, rest) = text.split_at_checked(2).ok_or(TimeProblem::Shape)?;
        self.afternoon = Some(match (word, upper) {
            ("AM", true) | ("am", false) => false,
            ("PM", true) | ("pm", false) => true,
            _ => return Err(TimeProblem::Shape),
        });
        Ok(rest)
    }

    fn fraction<'t>(
        &mut self,
        text: &'t str,
        count: usize,
        trims: bool,
    ) -> Result<&'t str, TimeProblem> {
        let Some(behind) = text.strip_prefix(['.', ',']) else {
            return if trims {
                Ok(text)
            } else {
                Err(TimeProblem::Shape)
            };
        };
        let available = behind.len()
            - behind
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        let taken = if trims { available.min(9) } else { count };
        if available < taken || available == 0 {
            return if trims {
                Ok(text)
            } else {
                Err(TimeProblem::Shape)
            };
        }
        let padded: String = behind[..taken]
            .chars()
            .chain("000000000".chars())
            .take(9)
            .collect();
        self.nanos = padded.parse().map_err(|_| TimeProblem::Shape)?;
        Ok(&behind[if trims { available } else { taken }..])
    }

    fn offset<'t>(
        &mut self,
        text: &'t str,
        (z, colons, fields): (bool, bool, u8),
    ) -> Result<&'t str, TimeProblem> {
        if z && let Some(rest) = text.strip_prefix('Z') {
            self.offset = Some(0);
            self.zone = Some("UTC".to_owned());
            return Ok(rest);
        }
        let sign = match text.as_bytes().first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err(TimeProblem::Shape),
        };
        let mut rest = &text[1..];
        let mut seconds = 0;
        for (n, unit) in [3600, 60, 1]
            .into_iter()
            .take(usize::from(fields))
            .enumerate()
        {
            if n > 0 && colons {
                rest = rest.strip_prefix(':').ok_or(TimeProblem::Shape)?;
            }
            let (value, after) = digits(rest, 2, 2)?;
            if value > if unit == 3600 { 24 } else { 59 } {
                return Err(TimeProblem::Range("time zone offset"));
            }
            seconds += i32::try_from(value).unwrap_or(0) * unit;
            rest = after;
        }
        self.offset = Some(sign * seconds);
        Ok(rest)
    }

    /// Three to five capital letters. The abbreviation's offset is unknown, so the zone is UTC.
    fn zone<'t>(&mut self, text: &'t str) -> Result<&'t str, TimeProblem> {
        let length = text.len()
            - text
                .trim_start_matches(|c: char| c.is_ascii_uppercase())
                .len();
        if !(3..=5).contains(&length) {
            return Err(TimeProblem::Shape);
        }
        self.zone = Some(text[..length].to_owned());
        Ok(&text[length..])
    }

    fn moment(self, env: &dyn Env) -> Result<GoTime, &'static str> {
        let hour = match self.afternoon {
            Some(true) if self.hour < 12 => self.hour + 12,
            Some(false) if self.hour == 12 => 0,
            _ => self.hour,
        };
        let (month, day) = match self.year_day {
            Some(day) => (1, day),
            None => (self.month.unwrap_or(1), self.day.unwrap_or(1)),
        };
        if self.year_day.is_none() && (day < 1 || day > civil::days_in(self.year, month)) {
            return Err("day");
        }
        let time = hour * 3600 + self.minute * 60 + self.second;
        let shown = civil::seconds(self.year, month, day, time);
        if let Some(offset) = self.offset {
            let name = self.zone.unwrap_or_default();
            let unix = shown - i64::from(offset);
            let local = GoTime::from_unix(env, unix, self.nanos, "Local");
            if local.offset_seconds == offset
                && (name.is_empty() || name == *local.abbreviation)
                && offset != 0
            {
                return Ok(local);
            }
            return Ok(GoTime::at_offset(unix, self.nanos, offset, &name));
        }
        if let Some(zone) = self.zone {
            return Ok(GoTime::at_offset(shown, self.nanos, 0, &zone));
        }
        // The offset depends on the moment, and the moment on the offset: two guesses.
        let guess = GoTime::from_unix(env, shown, self.nanos, "Local");
        let unix = shown - i64::from(guess.offset_seconds);
        let better = GoTime::from_unix(env, unix, self.nanos, "Local");
        let unix = shown - i64::from(better.offset_seconds);
        Ok(GoTime::from_unix(env, unix, self.nanos, "Local"))
    }
}

fn spaced(text: &str, pad: Pad) -> &str {
    match pad {
        Pad::Space => text.trim_start_matches(' '),
        _ => text,
    }
}

/// One or two digits; exactly two if the layout has a zero.
fn number(text: &str, pad: Pad) -> Result<(i64, &str), TimeProblem> {
    digits(text, if pad == Pad::Zero { 2 } else { 1 }, 2)
}

fn digits(text: &str, least: usize, most: usize) -> Result<(i64, &str), TimeProblem> {
    let available = text
        .bytes()
        .take(most)
        .take_while(u8::is_ascii_digit)
        .count();
    if available < least {
        return Err(TimeProblem::Shape);
    }
    let (digits, rest) = text.split_at(available);
    let value = digits.parse().map_err(|_| TimeProblem::Shape)?;
    Ok((value, rest))
}

fn name<'t>(names: &[&str], text: &'t str, long: bool) -> Result<(i64, &'t str), TimeProblem> {
    for (index, name) in (0..).zip(names) {
        let name = if long { name } else { &name[..3] };
        let Some(start) = text.get(..name.len()) else {
            continue;
        };
        if start.eq_ignore_ascii_case(name) {
            return Ok((index, &text[name.len()..]));
        }
    }
    Err(TimeProblem::Shape)
}
