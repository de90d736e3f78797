//! One line for each interval of a run in progress.

use crate::bar::{bar, spark};
use crate::line::{Ink, Line};
use crate::quantity::{self, count, rate, span};
use crate::style::Style;
use drumfire_measure::{Interval, Model};
use drumfire_units::Nanos;

/// A run's progress, beside the figures of the interval.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Which latency is *the* latency.
    pub model: Model,
    /// When the run will stop, from its start, where a duration stops it.
    pub duration: Option<Nanos>,
    /// How many requests stop it, where a number does.
    pub requests: Option<u64>,
    /// How many requests were sent since the run's start.
    pub sent: u64,
    /// Requests per second of the last intervals, the oldest first; drawn as a spark.
    pub rates: &'a [f64],
}

/// How many intervals the spark shows.
const SPARK: usize = 8;
/// How long the bar of progress is.
const BAR: usize = 8;

/// One piece of the line: the piece with the highest number is the first to give way.
struct Piece {
    line: Line,
    dispensable: u8,
}

/// One line, without a line feed, that is never wider than the style's width: when, how fast, what
/// failed, the latency, and how much is left. Pieces keep their places from line to line.
#[must_use]
pub fn line(interval: &Interval, progress: &Progress<'_>, style: &Style) -> String {
    let mut pieces = pieces(interval, progress, style);
    let separator = 2;
    let total = |pieces: &[Piece]| {
        let widths = pieces.iter().map(|piece| piece.line.width() + separator);
        widths.sum::<usize>().saturating_sub(separator)
    };
    while total(&pieces) > style.width() {
        let candidates = pieces.iter().enumerate();
        let first = candidates.max_by_key(|(_, piece)| piece.dispensable);
        let Some((
            at,
            Piece {
                dispensable: 1.., ..
            },
        )) = first
        else {
            break;
        };
        pieces.remove(at);
    }
    let mut line = Line::new();
    for (index, piece) in pieces.into_iter().enumerate() {
        line.space(if index > 0 { separator } else { 0 });
        line.append(piece.line);
    }
    let mut text = String::new();
    line.print(style, &mut text);
    text.pop();
    text
}

/// The pieces from left to right, each padded to the width that it usually takes.
fn pieces(interval: &Interval, progress: &Progress<'_>, style: &Style) -> Vec<Piece> {
    let piece = |line, dispensable| Piece { line, dispensable };
    let counts = &interval.total.counts;
    let seconds = (interval.end - interval.start).as_secs_f64();
    let per_second = match seconds {
        s if s > 0.0 => counts.finished() as f64 / s,
        _ => 0.0,
    };
    let failed = if counts.failed > 0 {
        Ink::Bad
    } else {
        Ink::Dim
    };
    let histogram = progress.model.latency(&interval.total.latency);
    let mut pieces = vec![
        piece(right(&span(interval.end, style.unicode), 6, Ink::Dim), 0),
        piece(right(&rate(per_second), 9, Ink::Bold), 0),
        piece(spark_piece(progress.rates, style), 5),
        piece(right(&format!("{} ok", count(counts.ok)), 9, Ink::Plain), 4),
        piece(
            right(&format!("{} failed", count(counts.failed)), 8, failed),
            0,
        ),
    ];
    if counts.dropped > 0 {
        let dropped = format!("{} dropped", count(counts.dropped));
        pieces.push(piece(Line::of(dropped, Ink::Warn), 3));
    }
    let quantile = |name, q| time(name, quantity::quantile(histogram, q, style.unicode), style);
    pieces.push(piece(quantile("p50", 0.5), 3));
    pieces.push(piece(quantile("p99", 0.99), 0));
    pieces.push(piece(quantile("max", 1.0), 2));
    if let Some(line) = left(interval, progress, style) {
        pieces.push(piece(line, 6));
    }
    pieces
}

/// A named time in the width of the longest usual one.
fn time(name: &str, time: Option<String>, style: &Style) -> Line {
    let mut line = Line::of(format!("{name} "), Ink::Dim);
    match time {
        Some(time) => line.append(right(&time, 7, Ink::Plain)),
        None => line.append(right(style.glyph("–", "-"), 7, Ink::Dim)),
    }
    line
}

/// A text that ends `columns` from its start, or later.
fn right(text: &str, columns: usize, ink: Ink) -> Line {
    let text = Line::of(text, ink);
    let mut line = Line::new();
    line.space(columns.saturating_sub(text.width()));
    line.append(text);
    line
}

/// The last rates as a spark, the latest at the right.
fn spark_piece(rates: &[f64], style: &Style) -> Line {
    let last = &rates[rates.len().saturating_sub(SPARK)..];
    let top = last.iter().copied().fold(0.0, f64::max);
    right(&spark(last, top, style), SPARK, Ink::Plain)
}

/// How much of the run is done, by the stop that is nearer.
fn left(interval: &Interval, progress: &Progress<'_>, style: &Style) -> Option<Line> {
    let by_time = progress.duration.map(|whole| (interval.end.0, whole.0));
    let by_count = progress.requests.map(|whole| (progress.sent, whole));
    let share = |(done, whole): (u64, u64)| match whole {
        0 => 1.0,
        whole => (done as f64 / whole as f64).min(1.0),
    };
    let nearest = [by_time, by_count].into_iter().flatten().map(share);
    let done = nearest.reduce(f64::max)?;
    let bar = bar((done * 1e6) as u64, 1_000_000, BAR, style);
    let mut line = Line::plain(bar);
    line.space(BAR.saturating_sub(line.width()));
    line.append(right(
        &format!("{:.0} %", (done * 100.0).floor()),
        6,
        Ink::Plain,
    ));
    let remaining = match done {
        d if d <= 0.0 => return Some(line),
        d => Nanos((interval.end.0 as f64 * (1.0 - d) / d).min(1e18) as u64),
    };
    // Whole seconds: tenths would only flicker.
    let remaining = Nanos::from_secs((remaining.0 + 500_000_000) / 1_000_000_000);
    if remaining > Nanos::ZERO {
        line.push(
            format!("  {} left", span(remaining, style.unicode)),
            Ink::Dim,
        );
    }
    Some(line)
}
