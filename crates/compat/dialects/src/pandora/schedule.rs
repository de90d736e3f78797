//! Schedules: the times of requests and of the starts of instances.
//!
//! The numbers of requests are Pandora's: a piece has as many as fit completely into it. If
//! Pandora's arithmetic is wrong (`line` over parts of a second, `step` downwards), drumfire's is
//! correct.

use super::section::{ConfigSection, Entry};
use drumfire_units::Nanos;
use std::fmt::Write as _;

/// The types of schedules.
const TYPES: [&str; 7] = [
    "composite",
    "const",
    "instance_step",
    "line",
    "once",
    "step",
    "unlimited",
];

/// The maximum number of instances of a pool.
const INSTANCES_MAX: u64 = 1_000_000;

/// The maximum number of levels of one `step`.
const LEVELS_MAX: f64 = 100_000.0;

/// The maximum number of decimals for a part of a piece.
const DIGITS_MAX: u32 = 9;

/// How many parts with the same number of decimals are tried.
const PARTS_MAX: usize = 1_000;

/// One piece of a schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Piece {
    /// A constant rate per second.
    Const { rate: f64, span: Nanos },
    /// A rate per second that changes linearly.
    Line { from: f64, to: f64, span: Nanos },
    /// This many requests at once.
    Once(u64),
    /// As fast as possible.
    Unlimited { span: Nanos },
}

/// Consecutive pieces.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Schedule(Vec<Piece>);

/// The start times of instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Startup {
    /// The number of started instances from each time on; both ascend.
    changes: Vec<(Nanos, u64)>,
    /// The law of the starts.
    law: String,
}

impl Schedule {
    /// Reads a schedule, or a list of schedules.
    pub(super) fn read(entry: &Entry<'_>) -> Self {
        let mut pieces = Vec::new();
        read_into(entry, &mut pieces);
        Self(pieces)
    }

    /// Whether the schedule is always unlimited.
    pub(super) fn is_unlimited(&self) -> bool {
        let mut pieces = self.0.iter();
        pieces.all(|piece| matches!(piece, Piece::Unlimited { .. }))
    }

    /// The rate law; `None` if no request is ever due.
    pub(super) fn law(&self) -> Option<String> {
        let is_due = |piece: &&Piece| piece.count() != Some(0);
        let due = self.0.iter().rposition(|piece| is_due(&piece))?;
        let mut law = String::new();
        for piece in &self.0[..=due] {
            piece.print(&mut law);
        }
        law.truncate(law.trim_end().len());
        Some(law)
    }

    /// The schedule as start times of instances.
    ///
    /// # Errors
    /// A message, if the number of instances is unbounded.
    pub(super) fn startup(&self) -> Result<Startup, String> {
        let too_many = format!("more than {INSTANCES_MAX} instances; start fewer");
        let mut changes: Vec<(Nanos, u64)> = Vec::new();
        let (mut start, mut present) = (Nanos::ZERO, 0_u64);
        for piece in &self.0 {
            let Some(count) = piece.count() else {
                let message = "`unlimited` would start instances forever; use once, const or line";
                return Err(message.to_owned());
            };
            if count > INSTANCES_MAX || present + count > INSTANCES_MAX {
                return Err(too_many);
            }
            match piece {
                Piece::Once(_) if count > 0 => {
                    present += count;
                    set(&mut changes, start, present);
                }
                piece => {
                    for n in 0..count {
                        present += 1;
                        set(&mut changes, start + piece.instant(n), present);
                    }
                }
            }
            start += piece.span();
        }
        let law = self.law().unwrap_or_default();
        Ok(Startup { changes, law })
    }
}

/// Sets the number of instances from a time on.
fn set(changes: &mut Vec<(Nanos, u64)>, at: Nanos, count: u64) {
    match changes.last_mut() {
        Some(last) if last.0 == at => last.1 = count,
        _ => changes.push((at, count)),
    }
}

impl Startup {
    /// The number of instances at the end.
    pub(super) fn most(&self) -> u64 {
        self.changes.last().map_or(0, |(_, count)| *count)
    }

    /// The start of the first instance.
    pub(super) fn first(&self) -> Nanos {
        self.changes.first().map_or(Nanos::ZERO, |(at, _)| *at)
    }

    /// The number of instances started up to a time.
    pub(super) fn started(&self, at: Nanos) -> u64 {
        let after = self.changes.partition_point(|(time, _)| *time <= at);
        after.checked_sub(1).map_or(0, |last| self.changes[last].1)
    }

    /// The number of instances, if all start at once.
    pub(super) fn at_once(&self) -> Option<u64> {
        match self.changes[..] {
            [(Nanos::ZERO, count)] => Some(count),
            _ => None,
        }
    }

    /// The law of the starts.
    pub(super) fn law(&self) -> &str {
        &self.law
    }
}

impl Piece {
    /// The number of tokens; `None` if it is unlimited.
    fn count(&self) -> Option<u64> {
        Some(match *self {
            Self::Const { rate, span } => (rate * span.as_secs_f64()) as u64,
            Self::Line { from, to, span } => ((from + to) / 2.0 * span.as_secs_f64()) as u64,
            Self::Once(count) => count,
            Self::Unlimited { .. } => return None,
        })
    }

    /// The length of the piece.
    fn span(&self) -> Nanos {
        match *self {
            Self::Const { span, .. } | Self::Line { span, .. } | Self::Unlimited { span } => span,
            Self::Once(_) => Nanos::ZERO,
        }
    }

    /// The time at which token `n` is due, from the start of the piece: `N(t) = from·t + a·t²/2 =
    /// n`.
    fn instant(&self, n: u64) -> Nanos {
        let n = n as f64;
        let seconds = match *self {
            _ if n == 0.0 => 0.0,
            Self::Const { rate, .. } => n / rate,
            Self::Line { from, to, span } => {
                let slope = (to - from) / span.as_secs_f64();
                ((2.0 * slope * n + from * from).max(0.0).sqrt() - from) / slope
            }
            Self::Once(_) | Self::Unlimited { .. } => 0.0,
        };
        Nanos((seconds * 1e9) as u64).min(self.span())
    }

    /// Appends the piece as a law. drumfire counts each token that starts, Pandora only complete
    /// ones. A piece whose last token is incomplete therefore ends before that token, followed by a
    /// pause.
    fn print(&self, law: &mut String) {
        // Writing to a String can't fail.
        let _ = match *self {
            Self::Once(0) => Ok(()),
            Self::Once(count) => write!(law, "once({count}) "),
            Self::Unlimited { span } => write!(law, "unlimited({span}) "),
            Self::Const { rate: from, span } => {
                LinearCurve::new(from, from, span).print(self.end(), law)
            }
            Self::Line { from, to, span } => {
                LinearCurve::new(from, to, span).print(self.end(), law)
            }
        };
    }

    /// The end of the piece, so that drumfire sends as many tokens as Pandora.
    fn end(&self) -> End {
        let tokens = match *self {
            Self::Const { rate, span } => rate * span.as_secs_f64(),
            Self::Line { from, to, span } => (from + to) / 2.0 * span.as_secs_f64(),
            Self::Once(_) | Self::Unlimited { .. } => 0.0,
        };
        match self.count() {
            _ if tokens.fract() == 0.0 => End::Whole,
            None | Some(0) => End::Nothing,
            Some(count) => End::Within {
                above: self.instant(count - 1),
                at_most: self.instant(count),
            },
        }
    }
}

/// The end of a piece.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The piece ends at its full length.
    Whole,
    /// The piece ends at its start, because it has no complete token.
    Nothing,
    /// The piece ends after the last complete token, and at most at the incomplete token.
    Within { above: Nanos, at_most: Nanos },
}

/// A rate that changes linearly, in billionths per second.
#[derive(Clone, Copy, Debug)]
struct LinearCurve {
    from: i128,
    to: i128,
    span: Nanos,
}

impl LinearCurve {
    const UNIT: f64 = 1e9;

    fn new(from: f64, to: f64, span: Nanos) -> Self {
        let billionths = |rate: f64| (rate * Self::UNIT).round() as i128;
        Self {
            from: billionths(from),
            to: billionths(to),
            span,
        }
    }

    /// The rate and the time after the fraction `tenths / 10^digits` of the curve, if both are
    /// exact.
    fn part(&self, tenths: i128, digits: u32) -> Option<(i128, Nanos)> {
        let whole = 10_i128.pow(digits);
        let (rise, run) = (
            (self.to - self.from) * tenths,
            i128::from(self.span.0) * tenths,
        );
        if rise % whole != 0 || run % whole != 0 {
            return None;
        }
        let time = u64::try_from(run / whole).ok()?;
        Some((self.from + rise / whole, Nanos(time)))
    }

    /// The end of the curve within these bounds, with the fewest decimals that are exact; otherwise
    /// at the upper bound.
    fn cut(&self, above: Nanos, at_most: Nanos) -> (i128, Nanos) {
        let span = i128::from(self.span.0);
        for digits in 1..=DIGITS_MAX {
            let whole = 10_i128.pow(digits);
            let most = i128::from(at_most.0) * whole / span;
            let least = i128::from(above.0) * whole / span;
            let parts = (least + 1..=most).rev().take(PARTS_MAX);
            if let Some(found) = parts.filter_map(|tenths| self.part(tenths, digits)).next() {
                return found;
            }
        }
        let rise = (self.to - self.from) * i128::from(at_most.0) / span;
        (self.from + rise, at_most)
    }

    fn print(&self, end: End, law: &mut String) -> std::fmt::Result {
        let (to, due) = match end {
            End::Whole => (self.to, self.span),
            End::Nothing => (self.to, Nanos::ZERO),
            End::Within { above, at_most } => self.cut(above, at_most),
        };
        if due > Nanos::ZERO {
            match self.from == self.to {
                true => write!(law, "const({},{due}) ", decimal(to))?,
                false => write!(law, "line({},{},{due}) ", decimal(self.from), decimal(to))?,
            }
        }
        match due < self.span {
            true => write!(law, "const(0,{}) ", self.span - due),
            false => Ok(()),
        }
    }
}

/// A rate in billionths as a decimal number.
fn decimal(billionths: i128) -> String {
    let (whole, rest) = (billionths / 1_000_000_000, billionths % 1_000_000_000);
    let text = format!("{whole}.{rest:09}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn read_into(entry: &Entry<'_>, pieces: &mut Vec<Piece>) {
    if let super::value::Value::List(_) = entry.value {
        for nested in entry.list().unwrap_or_default() {
            read_into(&nested, pieces);
        }
        return;
    }
    let Some(mut section) = entry.section() else {
        return;
    };
    match section.plugin("core.Schedule", &TYPES) {
        Some("const") => {
            let rate = section.float("ops");
            let span = section.long_span("duration");
            pieces.push(Piece::Const { rate, span });
        }
        Some("line") => {
            let (from, to) = (section.float("from"), section.float("to"));
            let span = section.long_span("duration");
            pieces.push(line(from, to, span));
        }
        Some("step") => step(&mut section, pieces),
        Some("once") => pieces.push(Piece::Once(section.count("times", 0, 1))),
        Some("unlimited") => {
            let span = section.long_span("duration");
            pieces.push(Piece::Unlimited { span });
        }
        Some("instance_step") => instance_step(&mut section, pieces),
        Some(_) => {
            if let Some(nested) = section.take("nested") {
                for nested in nested.list().unwrap_or_default() {
                    read_into(&nested, pieces);
                }
            }
        }
        None => return,
    }
    section.finish();
}

/// A line, or a constant if both ends are equal.
fn line(from: f64, to: f64, span: Nanos) -> Piece {
    if from == to {
        return Piece::Const { rate: from, span };
    }
    Piece::Line { from, to, span }
}

/// Constant rates from the first level up to the last level, without exceeding the last.
fn step(section: &mut ConfigSection<'_>, pieces: &mut Vec<Piece>) {
    let (from, to) = (section.float("from"), section.float("to"));
    let by = section.count("step", 0, 1).max(1) as f64;
    let span = section.long_span("duration");
    let levels = ((to - from).abs() / by).floor();
    if levels > LEVELS_MAX {
        section.wrong(
            "step",
            format!("more than {LEVELS_MAX} levels; use a larger step"),
        );
        return;
    }
    let by = if to < from { -by } else { by };
    for level in 0..=levels as u64 {
        let rate = from + by * level as f64;
        pieces.push(Piece::Const { rate, span });
    }
}

/// Some instances at once, then more after each pause.
fn instance_step(section: &mut ConfigSection<'_>, pieces: &mut Vec<Piece>) {
    let (from, to) = (section.count("from", 0, 0), section.count("to", 0, 0));
    let by = section.count("step", 0, 1).max(1);
    let span = section.long_span("stepduration");
    pieces.push(Piece::Once(from));
    let levels = to.saturating_sub(from) / by;
    if levels as f64 > LEVELS_MAX {
        section.wrong(
            "step",
            format!("more than {LEVELS_MAX} levels; use a larger step"),
        );
        return;
    }
    for _ in 0..levels {
        pieces.push(Piece::Const { rate: 0.0, span });
        pieces.push(Piece::Once(by));
    }
}

#[cfg(test)]
mod tests;
