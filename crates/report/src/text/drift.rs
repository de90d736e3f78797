//! The drift of the figures over the run, where it was long enough to show one.
//!
//! Only a movement that chance does not explain is a sentence; the figures that were tested and did
//! not move share one, so that silence is not taken for "not tested".
//!
//! A sentence has the size of the movement, its unit, its time, and the values on both sides:
//! enough to look for the cause elsewhere (a deployment, a log) without the figures themselves.
//! Times of the day are in UTC and as exact as the length of the run lets them matter.
//!
//! Whether a figure moved is decided in `measure`, with its level and its correction for several
//! tests. This file chooses words: [`print`] sorts figures into those that moved and those that did
//! not, and [`Words`] makes a sentence of each movement. A movement for the worse has the colour of
//! a warning; none of them changes an answer or an exit code.

use crate::calendar::rfc3339_seconds;
use crate::line::{Ink, Line, wrap};
use crate::page::Page;
use crate::quantity::{enumerated, latency_f64, rate, span};
use crate::style::Unicode;
use drumfire_measure::{ChangePoint, DRIFT_LEVEL, Drift, DriftFigure, Movement, Summary, Trend};
use drumfire_units::{ByteSize, Nanos};

const HOUR: Nanos = Nanos::from_secs(3_600);
const MINUTE: Nanos = Nanos::from_secs(60);
const DAY: Nanos = Nanos::from_secs(86_400);

/// Prints a sentence for each figure that moved, and one for the others. A run in which nothing
/// could be judged has no such part.
pub(super) fn print(summary: &Summary, page: &mut Page<'_>) {
    let Some(first) = summary.drift.first() else {
        return;
    };
    let words = Words {
        started_at_unix_ns: summary.info.started_at_unix_ns,
        span: first.span.end - first.span.start,
        unicode: page.style.unicode,
    };
    let moved = |drift: &&Drift| drift.movement != Movement::Steady;
    let mut rows = Vec::new();
    for drift in summary.drift.iter().filter(moved) {
        let ink = match is_worse(drift) {
            true => Ink::Warn,
            false => Ink::Plain,
        };
        let lines = wrap(&words.sentence(drift), page.room()).into_iter();
        rows.extend(lines.map(|line| Line::of(line, ink)));
    }
    let steady = summary.drift.iter().filter(|drift| !moved(drift));
    let steady: Vec<String> = steady.map(|drift| name(drift.figure).to_owned()).collect();
    let over = span(words.span, page.style.unicode);
    let others = format!("no drift found in {} over {over}", enumerated(&steady));
    if !steady.is_empty() {
        let lines = wrap(&others, page.room()).into_iter();
        rows.extend(lines.map(|line| Line::of(line, Ink::Dim)));
    }
    page.part("Drift", rows);
    page.explain(
        "Whether the figures got better or worse during the run. Each is tested for a trend and for \
         an abrupt change; the tests allow for correlated noise. No drift: the change is within \
         chance, or too small to matter. p is the probability that a steady run looks like this in \
         any of the figures.",
    );
}

/// A figure's name in a sentence. That of memory says whose it is, since all others are the
/// target's.
const fn name(figure: DriftFigure) -> &'static str {
    match figure {
        DriftFigure::P50 => "p50",
        DriftFigure::P99 => "p99",
        DriftFigure::Failed => "failures",
        DriftFigure::Rate => "rate",
        DriftFigure::Memory => "drumfire memory",
    }
}

/// Whether a figure is worse for its movement: all of them by growing, but for the rate.
///
/// Of several changes the first and the last value count.
fn is_worse(drift: &Drift) -> bool {
    let grew = match &drift.movement {
        Movement::Steady => return false,
        Movement::Trend(trend) => trend.to > trend.from,
        Movement::Changes(points) => match (points.first(), points.last()) {
            (Some(first), Some(last)) => last.after > first.before,
            _ => false,
        },
    };
    grew != (drift.figure == DriftFigure::Rate)
}

/// The facts of the run by which times and figures are written: its start, the length of the judged
/// span, and the letters of the terminal.
struct Words {
    started_at_unix_ns: u64,
    span: Nanos,
    unicode: Unicode,
}

impl Words {
    /// The sentence on a figure. Every one ends with the level of the test, which holds of all
    /// figures together.
    fn sentence(&self, drift: &Drift) -> String {
        let name = name(drift.figure);
        let what = match &drift.movement {
            Movement::Steady => format!("{name}: steady"),
            Movement::Trend(trend) => self.trend(name, drift, trend),
            Movement::Changes(points) => {
                format!("{name} {}", self.changes(drift.figure, points))
            }
        };
        format!("{what}, p < {DRIFT_LEVEL}")
    }

    /// A trend as a clause: by how much, for a unit of time that it lasted, and from when to when
    /// where that is not the whole span.
    ///
    /// The present tense says that it went on to the end, which a reader must know first: what
    /// grows will go on growing. A trend is given per hour or per minute, whichever it lasted at
    /// least once, and never extrapolated beyond its length. A share of failures moves by
    /// percentage points, all others in percent of their value at the trend's beginning.
    fn trend(&self, name: &str, drift: &Drift, trend: &Trend) -> String {
        let goes_on = trend.until >= drift.span.end;
        let plural = drift.figure == DriftFigure::Failed;
        let verb = match (goes_on, trend.to > trend.from) {
            (true, true) if plural => "grow",
            (true, true) => "grows",
            (true, false) if plural => "fall",
            (true, false) => "falls",
            (false, true) => "grew",
            (false, false) => "fell",
        };
        let length = trend.until - trend.since;
        let (amount, unit) = match length {
            length if length >= HOUR => (trend.per_hour, "per hour".to_owned()),
            length if length >= MINUTE => (trend.per_hour / 60.0, "per minute".to_owned()),
            // It did not last long enough to be carried on to a minute.
            length => (
                trend.per_hour * length.0 as f64 / HOUR.0 as f64,
                format!("in {}", span(length, self.unicode)),
            ),
        };
        let amount = percent(amount.abs() * 100.0);
        let amount = match drift.figure.is_relative() {
            true => format!("{amount} %"),
            false => format!("by {amount} percentage points"),
        };
        let value = |value| self.value(drift.figure, value);
        let (from, to) = (value(trend.from), value(trend.to));
        let when = match (trend.since > drift.span.start, goes_on) {
            (false, true) => String::new(),
            (true, true) => format!(" since {}", self.time(trend.since)),
            (false, false) => format!(" until {}", self.time(trend.until)),
            (true, false) => format!(
                " from {} to {}",
                self.time(trend.since),
                self.time(trend.until)
            ),
        };
        format!("{name} {verb} {amount} {unit}{when} ({from} to {to})")
    }

    /// The changes as a clause. Only the first names the figure before it, for it is that after the
    /// one before.
    fn changes(&self, figure: DriftFigure, points: &[ChangePoint]) -> String {
        let value = |value| self.value(figure, value);
        let change = |(number, point): (usize, &ChangePoint)| {
            let verb = match point.after > point.before {
                true => "rose",
                false => "fell",
            };
            let from = match number {
                0 => format!(" from {}", value(point.before)),
                _ => String::new(),
            };
            let at = self.time(point.at);
            format!("{verb}{from} to {} at {at}", value(point.after))
        };
        let changes: Vec<String> = points.iter().enumerate().map(change).collect();
        enumerated(&changes)
    }

    /// A value of a figure with its unit: figures come as numbers in nanoseconds, shares, 1/s or
    /// bytes.
    fn value(&self, figure: DriftFigure, value: f64) -> String {
        match figure {
            DriftFigure::P50 | DriftFigure::P99 => latency_f64(value, self.unicode),
            DriftFigure::Failed => format!("{} %", percent(value * 100.0)),
            DriftFigure::Rate => rate(value),
            DriftFigure::Memory => ByteSize(value as u64).to_string(),
        }
    }

    /// A time of the day, in UTC: with seconds where minutes would not tell, with its date where
    /// hours would not.
    fn time(&self, at: Nanos) -> String {
        let text = rfc3339_seconds(self.started_at_unix_ns.saturating_add(at.0));
        let (date, time) = text.split_at(text.find('T').unwrap_or(0));
        let time = time.trim_matches(['T', 'Z']);
        let minutes = time.rsplit_once(':').map_or(time, |(minutes, _)| minutes);
        match self.span {
            span if span < HOUR => format!("{time} UTC"),
            span if span < DAY => format!("{minutes} UTC"),
            _ => format!("{date} {minutes} UTC"),
        }
    }
}

/// A number of percent with two significant digits; a smaller one than a hundredth is written as
/// `<0.01`, since 0.00 would read as nothing.
fn percent(percent: f64) -> String {
    match percent {
        0.0 => "0".to_owned(),
        p if p < 0.01 => "<0.01".to_owned(),
        p if p < 0.995 => format!("{p:.2}"),
        p if p < 9.95 => format!("{p:.1}"),
        p => format!("{p:.0}"),
    }
}
