//! Layouts: the format of a time is given by the reference time in that format.

use super::{GoTime, MONTHS, WEEKDAYS};
use std::fmt::Write as _;

/// A part of a layout that is replaced by a part of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    AmPm {
        upper: bool,
    },
    Day(Pad),
    /// A fraction of a second with this number of digits. With `9` trailing zeros are dropped. The
    /// mark is a point or a comma.
    Fraction {
        digits: usize,
        trims: bool,
        mark: char,
    },
    Hour24,
    Hour12(Pad),
    Minute(Pad),
    Month(Pad),
    MonthName {
        long: bool,
    },
    Offset {
        z: bool,
        colons: bool,
        fields: u8,
    },
    Second(Pad),
    WeekdayName {
        long: bool,
    },
    Year {
        long: bool,
    },
    YearDay(Pad),
    ZoneName,
}

/// The padding of a number to its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pad {
    None,
    Space,
    Zero,
}

/// The parts with a fixed spelling. If one is a prefix of another, the longer part is first.
const SPELLINGS: &[(&str, Part)] = &[
    ("January", Part::MonthName { long: true }),
    ("Jan", Part::MonthName { long: false }),
    ("Monday", Part::WeekdayName { long: true }),
    ("Mon", Part::WeekdayName { long: false }),
    ("MST", Part::ZoneName),
    ("01", Part::Month(Pad::Zero)),
    ("02", Part::Day(Pad::Zero)),
    ("03", Part::Hour12(Pad::Zero)),
    ("04", Part::Minute(Pad::Zero)),
    ("05", Part::Second(Pad::Zero)),
    ("06", Part::Year { long: false }),
    ("002", Part::YearDay(Pad::Zero)),
    ("15", Part::Hour24),
    ("1", Part::Month(Pad::None)),
    ("2006", Part::Year { long: true }),
    ("2", Part::Day(Pad::None)),
    ("_2006", Part::Year { long: true }),
    ("__2", Part::YearDay(Pad::Space)),
    ("_2", Part::Day(Pad::Space)),
    ("3", Part::Hour12(Pad::None)),
    ("4", Part::Minute(Pad::None)),
    ("5", Part::Second(Pad::None)),
    ("PM", Part::AmPm { upper: true }),
    ("pm", Part::AmPm { upper: false }),
    ("-07:00:00", offset(false, true, 3)),
    ("-070000", offset(false, false, 3)),
    ("-07:00", offset(false, true, 2)),
    ("-0700", offset(false, false, 2)),
    ("-07", offset(false, false, 1)),
    ("Z07:00:00", offset(true, true, 3)),
    ("Z070000", offset(true, false, 3)),
    ("Z07:00", offset(true, true, 2)),
    ("Z0700", offset(true, false, 2)),
    ("Z07", offset(true, false, 1)),
];

const fn offset(z: bool, colons: bool, fields: u8) -> Part {
    Part::Offset { z, colons, fields }
}

/// Splits a layout: the text before its first part, the part, and the rest.
pub(crate) fn next_part(layout: &str) -> (&str, Option<Part>, &str) {
    for (at, _) in layout.char_indices() {
        let rest = &layout[at..];
        if let Some((part, length)) = part_at(rest) {
            let underscore = usize::from(rest.starts_with("_2006"));
            return (&layout[..at + underscore], Some(part), &rest[length..]);
        }
    }
    (layout, None, "")
}

fn part_at(rest: &str) -> Option<(Part, usize)> {
    if let Some(fraction) = fraction_at(rest) {
        return Some(fraction);
    }
    let (spelling, part) = SPELLINGS
        .iter()
        .find(|(spelling, _)| rest.starts_with(spelling))?;
    // `Month` is not `Mon`, and `Janet` is not `Jan`.
    let follows_lower = rest[spelling.len()..].starts_with(|c: char| c.is_ascii_lowercase());
    let is_short_name = matches!(*spelling, "Jan" | "Mon");
    if is_short_name && follows_lower {
        return None;
    }
    Some((*part, spelling.len()))
}

/// `.000`, `,999`: a mark and a run of equal digits; none if another digit follows.
fn fraction_at(rest: &str) -> Option<(Part, usize)> {
    let mark = rest.chars().next().filter(|c| matches!(c, '.' | ','))?;
    let digit = rest[1..]
        .chars()
        .next()
        .filter(|c| matches!(c, '0' | '9'))?;
    let digits = rest[1..].len() - rest[1..].trim_start_matches(digit).len();
    if rest[1 + digits..].starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let trims = digit == '9';
    let part = Part::Fraction {
        digits,
        trims,
        mark,
    };
    Some((part, 1 + digits))
}

/// Formats a moment with a layout.
pub(crate) fn format(moment: &GoTime, layout: &str) -> String {
    let mut out = String::with_capacity(layout.len() + 8);
    let mut rest = layout;
    while !rest.is_empty() {
        let (before, part, after) = next_part(rest);
        out.push_str(before);
        if let Some(part) = part {
            write_part(&mut out, moment, part);
        }
        rest = after;
    }
    out
}

fn write_part(out: &mut String, moment: &GoTime, part: Part) {
    let civil = moment.civil();
    let hour12 = match civil.hour % 12 {
        0 => 12,
        hour => hour,
    };
    match part {
        Part::AmPm { upper } => out.push_str(match (civil.hour >= 12, upper) {
            (false, true) => "AM",
            (false, false) => "am",
            (true, true) => "PM",
            (true, false) => "pm",
        }),
        Part::Day(pad) => number(out, civil.day, pad, 2),
        Part::Fraction {
            digits,
            trims,
            mark,
        } => fraction(out, moment.nanos, (digits, trims, mark)),
        Part::Hour24 => number(out, civil.hour, Pad::Zero, 2),
        Part::Hour12(pad) => number(out, hour12, pad, 2),
        Part::Minute(pad) => number(out, civil.minute, pad, 2),
        Part::Month(pad) => number(out, civil.month, pad, 2),
        Part::MonthName { long } => name(out, &MONTHS, civil.month - 1, long),
        Part::Offset { z, colons, fields } => write_offset(out, moment, (z, colons, fields)),
        Part::Second(pad) => number(out, civil.second, pad, 2),
        Part::WeekdayName { long } => name(out, &WEEKDAYS, civil.weekday, long),
        Part::Year { long: true } => number(out, civil.year, Pad::Zero, 4),
        Part::Year { long: false } => number(out, civil.year.rem_euclid(100), Pad::Zero, 2),
        Part::YearDay(pad) => number(out, civil.year_day, pad, 3),
        Part::ZoneName => match &*moment.abbreviation {
            "" => write_offset(out, moment, (false, false, 2)),
            name => out.push_str(name),
        },
    }
}

fn number(out: &mut String, value: i64, pad: Pad, width: usize) {
    // Writing to a string cannot fail.
    let _ = match pad {
        Pad::None => write!(out, "{value}"),
        Pad::Space => write!(out, "{value:width$}"),
        Pad::Zero if value < 0 => write!(out, "-{:0width$}", value.unsigned_abs()),
        Pad::Zero => write!(out, "{value:0width$}"),
    };
}

fn name(out: &mut String, names: &[&str], index: i64, long: bool) {
    let index = usize::try_from(index).unwrap_or(0);
    let name = names.get(index).copied().unwrap_or("");
    out.push_str(if long {
        name
    } else {
        &name[..3.min(name.len())]
    });
}

fn fraction(out: &mut String, nanos: u32, (digits, trims, mark): (usize, bool, char)) {
    let all = format!("{nanos:09}");
    let kept = &all[..digits.min(9)];
    let kept = if trims {
        kept.trim_end_matches('0')
    } else {
        kept
    };
    if kept.is_empty() {
        return;
    }
    out.push(mark);
    out.push_str(kept);
    out.extend(std::iter::repeat_n(
        '0',
        if trims { 0 } else { digits.saturating_sub(9) },
    ));
}

fn write_offset(out: &mut String, moment: &GoTime, (z, colons, fields): (bool, bool, u8)) {
    if z && moment.offset_seconds == 0 {
        out.push('Z');
        return;
    }
    let seconds = moment.offset_seconds.unsigned_abs();
    out.push(if moment.offset_seconds < 0 { '-' } else { '+' });
    let colon = if colons { ":" } else { "" };
    let _ = write!(out, "{:02}", seconds / 3600);
    if fields >= 2 {
        let _ = write!(out, "{colon}{:02}", seconds / 60 % 60);
    }
    if fields >= 3 {
        let _ = write!(out, "{colon}{:02}", seconds % 60);
    }
}
