//! The line of a running test, which is drawn over itself at the end of each interval.
//!
//! The pieces of the line keep their places from one interval to the next. On a narrow terminal
//! they give way one by one; the time, failures and the p99 stay longest.
//!
//! The caller pushes each interval to [`RecentRates`] and to the [`Reading`] before it draws the
//! line of the interval. [`Stops`] comes from the plan; the caller fills in its time, since
//! commands move the end of a load.

use crate::bar::{bar, spark};
use crate::line::{Ink, Line, right};
use crate::quantity::{self, count, rate, span};
use crate::style::Style;
use drumfire_measure::{Histogram, Interval, Model, Reading, RunInfo, RunState};
use drumfire_plan::{Plan, Pool};
use drumfire_units::Nanos;

/// The part of a run in which an interval lies. Parts follow each other in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Requests are sent and excluded from the figures, up to this time.
    WarmUp(Nanos),
    /// Requests are sent and measured.
    Load,
    /// No request is started; active requests may finish.
    Drain,
}

impl Stage {
    /// The stage of an interval that ends at `end`, in a run of this state with a warm-up of this
    /// length.
    #[must_use]
    pub fn at(end: Nanos, state: RunState, warmup: Nanos) -> Self {
        match state {
            RunState::Drain(_) | RunState::Over => Self::Drain,
            RunState::Load if end <= warmup => Self::WarmUp(warmup),
            RunState::Load => Self::Load,
        }
    }
}

/// The stop conditions of a run that are numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stops {
    /// The time at which the load stops, from the run's start.
    pub duration: Option<Nanos>,
    /// The number of requests that stops the load.
    pub requests: Option<u64>,
}

impl Stops {
    /// The stop conditions of a plan, without the time. The count is the sum of all pools, if each
    /// has one.
    #[must_use]
    pub fn from_plan(plan: &Plan) -> Self {
        let requests: Option<Vec<u64>> = plan.pools().iter().map(Pool::starts_most).collect();
        Self {
            duration: None,
            requests: requests.map(|all| all.iter().sum()),
        }
    }
}

/// Requests per second of the newest intervals, as many as the spark shows.
#[derive(Clone, Debug, Default)]
pub struct RecentRates(Vec<f64>);

impl RecentRates {
    /// Adds the next interval of a run. An interval that was cut short has no rate.
    pub fn push(&mut self, interval: &Interval, info: &RunInfo) {
        if let Some(length) = interval.whole_length(info) {
            let sent = interval.total.counts.sent as f64;
            self.0.push(sent / length.as_secs_f64());
            let excess = self.0.len().saturating_sub(SPARK);
            self.0.drain(..excess);
        }
    }

    /// The rates, the oldest first.
    #[must_use]
    pub fn newest(&self) -> &[f64] {
        &self.0
    }
}

/// What a line needs beside the figures of the interval.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The part of the run in which the interval lies.
    pub stage: Stage,
    /// The stop conditions, from which the progress is computed.
    pub stops: Stops,
    /// The sums up to and including the interval.
    pub reading: &'a Reading,
    /// Requests per second of the last intervals, the oldest first.
    pub rates: &'a [f64],
}

/// The number of intervals that the spark shows.
const SPARK: usize = 8;
/// The length of the bar of progress, in columns.
const BAR: usize = 8;
/// The width of the stage, and those of the share that is done and of the time left.
const STAGE: usize = 16;
const DONE: usize = 5;
const REMAINING: usize = 9;

/// The widest gap between pieces.
const GAP: usize = 2;

/// A piece of the line, padded to its usual width. The piece with the highest number gives way
/// first; 0 stays.
struct Piece {
    line: Line,
    dispensable: u8,
}

/// The line, without a line feed. No line is wider than the style's width.
#[must_use]
pub fn line(interval: &Interval, progress: &Progress<'_>, style: &Style) -> String {
    let mut text = String::new();
    row(interval, progress, style).print(style, &mut text);
    text.pop();
    text
}

/// The line with its inks, for a screen. Gaps shrink before pieces give way. The pieces that stay
/// may be wider than the style's width.
#[must_use]
pub fn row(interval: &Interval, progress: &Progress<'_>, style: &Style) -> Line {
    let mut pieces = pieces(interval, progress, style);
    let total = |pieces: &[Piece], gap: usize| {
        let widths = pieces.iter().map(|piece| piece.line.width() + gap);
        widths.sum::<usize>().saturating_sub(gap)
    };
    while total(&pieces, 1) > style.width() {
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
    let gap = if total(&pieces, GAP) > style.width() {
        1
    } else {
        GAP
    };
    let mut line = Line::new();
    for (index, piece) in pieces.into_iter().enumerate() {
        line.space(if index > 0 { gap } else { 0 });
        line.append(piece.line);
    }
    line
}

/// The pieces from left to right, each padded to its usual width. Rates and times are those of the
/// interval, counts those of the whole run. Losses are pieces only if there are any.
fn pieces(interval: &Interval, progress: &Progress<'_>, style: &Style) -> Vec<Piece> {
    let piece = |line, dispensable| Piece { line, dispensable };
    let (reading, total) = (progress.reading, &progress.reading.so_far().total);
    let model = progress.reading.so_far().model();
    let ended = interval.total.counts.finished() + interval.total.warmup.finished();
    let length = interval.whole_length(&reading.so_far().info);
    let per_second = length.map(|length| ended as f64 / length.as_secs_f64());
    let tally = |n: u64, what: &str, columns, ink| {
        let ink = if n > 0 { ink } else { Ink::Dim };
        right(&format!("{} {what}", count(n)), columns, ink)
    };
    let mut pieces = vec![piece(
        right(&span(interval.end, style.unicode), 6, Ink::Dim),
        0,
    )];
    let done = share_done(interval, progress);
    if let Some(done) = done.filter(|_| progress.stage == Stage::Load) {
        let bar = bar((done * 1e6) as u64, 1_000_000, BAR, style);
        let mut line = Line::plain(bar);
        line.space(BAR.saturating_sub(line.width()));
        pieces.push(piece(line, 8));
    }
    pieces.extend(stage(interval, progress, done, style));
    pieces.push(piece(
        match per_second {
            Some(per_second) => right(&rate(per_second), 8, Ink::Bold),
            None => right(style.glyph("–", "-"), 8, Ink::Dim),
        },
        2,
    ));
    pieces.push(piece(spark_piece(progress.rates, style), 9));
    pieces.push(piece(tally(reading.sent(), "sent", 10, Ink::Plain), 5));
    let failed = total.counts.failed.saturating_add(total.warmup.failed);
    pieces.push(piece(tally(failed, "failed", 8, Ink::Bad), 0));
    pieces.extend(failures(reading).map(|line| piece(line, 4)));
    let in_flight = tally(reading.in_flight(), "in flight", 11, Ink::Plain);
    pieces.push(piece(in_flight, 3));
    let waiting = waiting(interval, reading);
    if progress.stage == Stage::Load && waiting > 0 {
        pieces.push(piece(tally(waiting, "waiting", 0, Ink::Warn), 3));
    }
    if total.counts.dropped > 0 {
        let dropped = tally(total.counts.dropped, "dropped", 0, Ink::Warn);
        pieces.push(piece(dropped, 3));
    }
    pieces.extend(answers(interval, length, model, style));
    let now = model.latency(&interval.total.latency);
    let times = times(now, model.latency(&total.latency), style);
    pieces.extend(
        times
            .into_iter()
            .zip([6, 1, 7])
            .map(|(line, dispensable)| piece(line, dispensable)),
    );
    pieces
}

/// The tokens per second and the median time to the first token of the interval, if it has answers
/// of language models.
fn answers(interval: &Interval, length: Option<Nanos>, model: Model, style: &Style) -> Vec<Piece> {
    let Some(llm) = interval.total.llm() else {
        return Vec::new();
    };
    let per_second = length.map(|length| llm.tokens() as f64 / length.as_secs_f64());
    let tokens = per_second.map(|per_second| Piece {
        line: right(&quantity::tokens_per_s(per_second), 15, Ink::Plain),
        dispensable: 2,
    });
    let median = quantity::quantile(llm.ttft_of(model), 0.5, style.unicode);
    let ttft = median.map(|time| {
        let mut line = Line::single("ttft ".to_owned(), Ink::Dim);
        line.append(right(&time, 7, Ink::Plain));
        Piece {
            line,
            dispensable: 4,
        }
    });
    tokens.into_iter().chain(ttft).collect()
}

/// The kind of the failures; of several kinds, the most frequent one.
fn failures(reading: &Reading) -> Option<Line> {
    let failure = reading.failure()?;
    let name = failure.outcome.name();
    let text = match failure.kinds {
        1 => name.to_owned(),
        _ => format!("most {name}"),
    };
    Some(Line::single(text, Ink::Bad))
}

/// The requests that are due and not sent. A user of the closed model makes a request due when a
/// connection takes it, so the users that wait for one are known only on average, from the waits of
/// the requests that began in the interval (Little's law).
#[must_use]
pub fn waiting(interval: &Interval, reading: &Reading) -> u64 {
    let pools = reading.so_far().info.pools.iter().zip(interval.pools());
    let closed = pools.filter(|(pool, _)| pool.model == Model::Closed);
    let waited: f64 = closed
        .map(|(_, figures)| figures.latency.waiting.sum() as f64)
        .sum();
    let length = (interval.end - interval.start).0.max(1) as f64;
    reading.waiting().max((waited / length).round() as u64)
}

/// The median, the p99 and the maximum, all of the interval, or all of the whole run if the interval
/// has too few samples for a p99; each has `run` before it then. Without a p99, the highest
/// supported quantile has its place.
fn times(now: &Histogram, since: &Histogram, style: &Style) -> [Line; 3] {
    let has_p99 = |times: &Histogram| times.quantile(0.99).is_some();
    let (whose, times) = match has_p99(now) || !has_p99(since) {
        true => ("    ", now),
        false => ("run ", since),
    };
    let high = HIGH.into_iter().find(|(q, _)| times.quantile(*q).is_some());
    let high = high.unwrap_or(HIGH[0]);
    [(0.5, "p50"), high, (1.0, "max")].map(|(q, name)| {
        let mut line = Line::single(format!("{whose}{name} "), Ink::Dim);
        match quantity::quantile(times, q, style.unicode) {
            Some(time) => line.append(right(&time, 7, Ink::Plain)),
            None => line.append(right(style.glyph("–", "-"), 7, Ink::Dim)),
        }
        line
    })
}

/// The quantiles in the place of the p99, the first supported one.
const HIGH: [(f64, &str); 3] = [(0.99, "p99"), (0.95, "p95"), (0.9, "p90")];

/// The last rates as a spark, the latest at the right.
fn spark_piece(rates: &[f64], style: &Style) -> Line {
    let last = &rates[rates.len().saturating_sub(SPARK)..];
    let top = last.iter().copied().fold(0.0, f64::max);
    right(&spark(last, top, style), SPARK, Ink::Plain)
}

/// The share of the load that is done, from 0 to 1, by the stop that is nearer; `None` without a
/// known stop.
#[must_use]
pub fn share_done(interval: &Interval, progress: &Progress<'_>) -> Option<f64> {
    let Stops { duration, requests } = progress.stops;
    let by_time = duration.map(|whole| (interval.end.0, whole.0));
    let by_count = requests.map(|whole| (progress.reading.sent(), whole));
    let share = |(done, whole): (u64, u64)| match whole {
        0 => 1.0,
        whole => (done as f64 / whole as f64).min(1.0),
    };
    let nearest = [by_time, by_count].into_iter().flatten().map(share);
    nearest.reduce(f64::max)
}

/// The stage by name. The load has the share that is done and the time that is left; nothing for a
/// load without a known end.
fn stage(
    interval: &Interval,
    progress: &Progress<'_>,
    done: Option<f64>,
    style: &Style,
) -> Vec<Piece> {
    let piece = |line, dispensable| Piece { line, dispensable };
    // Tenths would flicker.
    let left = |nanos: u64| {
        let seconds = Nanos::from_secs(nanos.saturating_add(500_000_000) / 1_000_000_000);
        match seconds {
            Nanos::ZERO => String::new(),
            seconds => format!("{} left", span(seconds, style.unicode)),
        }
    };
    match progress.stage {
        Stage::WarmUp(until) => {
            let text = format!("warm-up, {}", left(until.0.saturating_sub(interval.end.0)));
            let text = text.trim_end_matches(", ");
            vec![piece(right(text, STAGE, Ink::Warn), 0)]
        }
        Stage::Drain => vec![piece(right("drain", STAGE, Ink::Warn), 0)],
        Stage::Load => {
            let Some(done) = done else {
                return Vec::new();
            };
            let share = format!("{:.0} %", (done * 100.0).floor());
            let remaining = match done {
                d if d > 0.0 => (interval.end.0 as f64 * (1.0 - d) / d).min(1e18) as u64,
                _ => 0,
            };
            vec![
                piece(right(&share, DONE, Ink::Plain), 2),
                piece(right(&left(remaining), REMAINING, Ink::Dim), 3),
            ]
        }
    }
}
