//! The drift of the figures over the run, if the run was long enough to show one.
//!
//! `measure` decides whether a figure moved; this file finds the words. A sentence has the size of
//! the movement, its time, and the values on both sides, so that a reader can look for the cause
//! elsewhere. The figures that did not move share a sentence: silence would mean "not tested".

use super::{Body, Cell, Facts, PageExtent, Section};
use crate::calendar::rfc3339_seconds;
use crate::line::Ink;
use crate::quantity::{enumerated, latency_f64, rate, span};
use crate::style::Unicode;
use drumfire_measure::{
    ChangePoint, DRIFT_LEVEL, DriftFigure, DriftFinding, Movement, Summary, Trend,
};
use drumfire_units::{ByteSize, Nanos};

const HOUR: Nanos = Nanos::from_secs(3_600);
const MINUTE: Nanos = Nanos::from_secs(60);
const DAY: Nanos = Nanos::from_secs(86_400);

/// A sentence for each figure that moved, and one for the others. A change for the worse is a
/// warning, and changes no answer.
pub(super) fn section(summary: &Summary, _: &PageExtent) -> Option<Section> {
    let first = summary.drift.first()?;
    let words = Words {
        started_at_unix_ns: summary.info.started_at_unix_ns,
        span: first.span.end - first.span.start,
    };
    let (steady, moved): (Vec<_>, Vec<_>) = summary
        .drift
        .iter()
        .partition(|drift| drift.movement == Movement::Steady);
    let sentences = moved.into_iter().map(|drift| {
        let ink = if is_worse(drift) {
            Ink::Warn
        } else {
            Ink::Plain
        };
        Cell::new(words.sentence(drift)).inked(ink)
    });
    let mut sentences: Vec<Cell> = sentences.collect();
    if !steady.is_empty() {
        let steady = steady.iter().map(|drift| name(drift.figure).to_owned());
        let steady = enumerated(&steady.collect::<Vec<_>>());
        let over = span(words.span, Unicode::On);
        let others = format!("no drift found in {steady} over {over}");
        sentences.push(Cell::new(others).inked(Ink::Dim));
    }
    let explanation = "Whether the figures got better or worse during the run. Each is tested for a \
                       trend and for an abrupt change; the tests allow for correlated noise. No \
                       drift: the change is within chance, or too small to matter. p is the \
                       probability that a steady run looks like this in any of the figures.";
    let bodies = vec![Body::Facts(Facts::lines("Drift", sentences))];
    Section::new("drift", "Drift", explanation, bodies)
}

/// The name of a figure in a sentence. Memory is the generator's, all other figures are the
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

/// Whether the movement is for the worse: the rate fell, or another figure grew. With several
/// changes, the first and the last value count.
fn is_worse(drift: &DriftFinding) -> bool {
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

/// The facts of the run by which times are written.
struct Words {
    started_at_unix_ns: u64,
    /// The length of the judged span.
    span: Nanos,
}

impl Words {
    /// The sentence on a figure, with the level of the test, which is for all figures together.
    fn sentence(&self, drift: &DriftFinding) -> String {
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

    /// A trend as a clause: the amount per unit of time, and the time of the trend unless it is the
    /// whole span.
    ///
    /// The present tense means that the trend continued to the end. The unit is an hour or a
    /// minute, and the trend lasted at least one of it. A share of failures moves by percentage
    /// points, every other figure in percent of its value at the trend's beginning.
    fn trend(&self, name: &str, drift: &DriftFinding, trend: &Trend) -> String {
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
            length => (
                trend.per_hour * length.0 as f64 / HOUR.0 as f64,
                format!("in {}", span(length, Unicode::On)),
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

    /// The changes as a clause. Only the first has the value before it; the others begin at the
    /// value after the previous change.
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

    /// A value with the unit of the figure. Values are in nanoseconds, shares, 1/s or bytes.
    fn value(&self, figure: DriftFigure, value: f64) -> String {
        match figure {
            DriftFigure::P50 | DriftFigure::P99 => latency_f64(value, Unicode::On),
            DriftFigure::Failed => format!("{} %", percent(value * 100.0)),
            DriftFigure::Rate => rate(value),
            DriftFigure::Memory => ByteSize(value as u64).to_string(),
        }
    }

    /// A time of the day, in UTC: with seconds in a span below an hour, with the date in a span of a
    /// day or more.
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

/// A number of percent with two significant digits. A number below a hundredth is `<0.01`, since
/// 0.00 would mean nothing.
fn percent(percent: f64) -> String {
    match percent {
        0.0 => "0".to_owned(),
        p if p < 0.01 => "<0.01".to_owned(),
        p if p < 0.995 => format!("{p:.2}"),
        p if p < 9.95 => format!("{p:.1}"),
        p => format!("{p:.0}"),
    }
}
