//! The rows of the full screen, which shows a running test: the lines of its head, and its tables.
//!
//! Every function takes a summary that was closed as if the run ended now, so that a screen shows
//! what the report would show. A screen calls the functions for whose rows it has room. Sections of
//! the report come from [`crate::text::rows`].

use crate::answers::answers as judged;
use crate::line::{Ink, Line, flow};
use crate::quantity::{in_letters, latency, quantile, rate, share_of, span};
use crate::remedy::sentence;
use crate::section::{connections, failures, steps, verdict};
use crate::style::Style;
use crate::table;
use crate::untrusted::{Untrusted, foreign};
use drumfire_measure::{IntervalRow, Summary};
use drumfire_units::{ByteSize, Nanos};

pub use crate::section::steps::Order;

/// The maximum number of columns of a step's spark.
const SPARK: usize = 16;

/// The three answers and the thresholds in one line, as if the run ended now.
#[must_use]
pub fn answers(summary: &Summary, style: &Style) -> Line {
    let mut line = Line::new();
    for item in verdict::items(summary) {
        if line.width() > 0 {
            line.push(style.glyph(" · ", ", "), Ink::Dim);
        }
        line.append(item.line(style.unicode));
    }
    line
}

/// The reasons of all answers that are not the best one. A screen cuts what does not fit.
#[must_use]
pub fn reasons(summary: &Summary, style: &Style) -> Vec<Line> {
    let mut lines = Vec::new();
    for answer in judged(summary) {
        for reason in answer.reasons {
            let words = in_letters(&sentence(reason, style.naming), style.unicode);
            let bullet = Line::single(style.glyph("· ", "- "), verdict::ink(answer.grade));
            lines.push(bullet.with(foreign(&words, style.unicode), Ink::Plain));
        }
    }
    lines
}

/// The table of steps in an order, of the steps whose names contain `filter`.
#[must_use]
pub fn steps(summary: &Summary, order: Order, filter: &str, style: &Style) -> Vec<Line> {
    let grid = steps::chosen(summary, order, filter, SPARK);
    table::lines(&grid, Some("Steps"), style.width(), style)
}

/// The table of addresses that connections were opened to.
#[must_use]
pub fn addresses(summary: &Summary, style: &Style) -> Vec<Line> {
    let grid = connections::address_grid(summary);
    match grid.rows.is_empty() {
        true => vec![Line::single("no connection has been opened yet", Ink::Dim)],
        false => table::lines(&grid, Some("Addresses"), style.width(), style),
    }
}

/// The first body of each kind of failure in a row below a heading; no rows without a body.
#[must_use]
pub fn examples(summary: &Summary, style: &Style) -> Vec<Line> {
    let rows = failures::examples(summary, style);
    let heading = (!rows.is_empty()).then(|| Line::single("Examples", Ink::Bold));
    heading.into_iter().chain(rows).collect()
}

/// The intended and the achieved load, of the newest interval and of the whole run, and the
/// generator's own lateness, in one line. Items that do not fit are left out from the right.
///
/// The newest interval counts only if it is whole, since the rate of a part of one jumps. Otherwise
/// its rate is a dash, and the intended rate is the one of the whole run.
#[must_use]
pub fn load(summary: &Summary, newest: Option<&IntervalRow>, style: &Style) -> Line {
    let none = || style.glyph("–", "-").to_owned();
    let per_second = |n: u64, row: &IntervalRow| rate(n as f64 / row.length().as_secs_f64());
    let whole = newest.filter(|row| row.length() >= summary.info.interval);
    let now = whole.map_or_else(none, |row| per_second(row.ended(), row));
    let mut items = Vec::new();
    if let Some(asked) = summary.intended_per_s() {
        let asked = match whole.and_then(|row| Some(per_second(row.goal?, row))) {
            Some(now) => now,
            None => rate(asked),
        };
        items.push(named("asked", &asked));
    }
    items.push(named("now", &now));
    items.push(named("whole run", &rate(summary.achieved_per_s())));
    let counts = &summary.total.counts;
    let ended = counts.finished();
    if ended > 0 {
        items.push(named("ok", &share_of(counts.ok as f64 / ended as f64)));
    }
    let lag = match newest.and_then(|row| row.lag_p99) {
        Some(lag) => latency(lag, style.unicode),
        // Too few requests in the interval.
        None => quantile(&summary.total.latency.lag, 0.99, style.unicode).unwrap_or_else(none),
    };
    items.push(named("lag p99", &lag));
    // 0 if the system does not know it.
    if let memory @ 1.. = summary.memory() {
        items.push(named("memory", &ByteSize(memory).to_string()));
    }
    let mut lines = flow(items, style.glyph(" · ", ", "), style.width());
    lines.truncate(1);
    lines.pop().unwrap_or_default()
}

/// A value after its name, which is dim.
fn named(name: &str, value: &str) -> Line {
    Line::single(format!("{name} "), Ink::Dim).with(value, Ink::Plain)
}

/// The time of a run, and the time that its load has left if the end is known. The elapsed time is
/// rounded down to seconds and the end up, so that both add up to the end.
#[must_use]
pub fn clock(elapsed: Nanos, load_end: Option<Nanos>, style: &Style) -> Line {
    let seconds = |nanos: Nanos| nanos.0.div_ceil(1_000_000_000);
    let words = |seconds: u64| span(Nanos::from_secs(seconds), style.unicode);
    let done = elapsed.0 / 1_000_000_000;
    let line = Line::single(words(done), Ink::Bold);
    match load_end {
        Some(end) if end > elapsed => line
            .with(format!(" of {}", words(seconds(end))), Ink::Plain)
            .with(format!(", {} left", words(seconds(end) - done)), Ink::Dim),
        _ => line,
    }
}

/// The target's name and the run's, escaped.
#[must_use]
pub fn title(summary: &Summary, style: &Style) -> Line {
    let info = &summary.info;
    let target = foreign(&info.target, style.unicode);
    Line::single("drumfire ", Ink::Bold)
        .with(target, Ink::Plain)
        .with(
            format!("  {}", Untrusted::new(&info.id).escaped(style.unicode)),
            Ink::Dim,
        )
}
