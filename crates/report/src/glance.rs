//! A run under way at a glance: the lines of a screen's head, and its table of steps.
//!
//! Every function takes a summary whose books were closed as if the run ended now, so that a screen
//! shows the answers and figures that the report would have. Rows come with their inks
//! ([`crate::line`]) and fit the style's width, or are cut by the screen.
//!
//! The functions are independent of each other, and a screen calls those whose lines it has room
//! for: [`title`], [`clock`], [`answers`], [`load`] and [`reasons`] for its head, [`steps()`] and
//! [`addresses()`] for its tables. None keeps a state between two calls, and none looks at a clock:
//! what moves on a screen is what moved in the summary.

mod addresses;
mod steps;

pub use addresses::addresses;
pub use steps::{Order, steps};

use crate::line::{Ink, Line, flow};
use crate::quantity::{in_letters, latency, quantile, rate, share_of, span};
use crate::remedy::sentence;
use crate::style::Style;
use crate::text;
use crate::untrusted::Untrusted;
use drumfire_measure::{IntervalRow, Summary};
use drumfire_units::{ByteSize, Nanos};

/// The three answers and the thresholds in one line, as they would be if the run ended now. An
/// answer may still change either way: a threshold that fails so far may hold at the end.
#[must_use]
pub fn answers(summary: &Summary, style: &Style) -> Line {
    let answers = text::answers(summary, style).into_iter();
    let mut words: Vec<Line> = answers.map(|answer| answer.line).collect();
    words.extend(text::thresholds_line(&summary.thresholds, style));
    let separator = style.glyph(" · ", ", ");
    let mut line = Line::new();
    for (index, word) in words.into_iter().enumerate() {
        if index > 0 {
            line.push(separator, Ink::Dim);
        }
        line.append(word);
    }
    line
}

/// The reasons for which an answer is not the best one, each behind a mark of its answer's colour;
/// a screen cuts what does not fit.
#[must_use]
pub fn reasons(summary: &Summary, style: &Style) -> Vec<Line> {
    let mut lines = Vec::new();
    for answer in text::answers(summary, style) {
        for reason in answer.reasons {
            let words = in_letters(&sentence(reason, style.naming), style.unicode);
            let words = text::foreign(&words, style.unicode);
            lines.push(Line::of(style.glyph("· ", "- "), answer.ink).with(words, Ink::Plain));
        }
    }
    lines
}

/// The load that was asked for and the load that was achieved, of the newest interval and of the
/// whole run, and the generator's own lateness, in one line.
///
/// The newest interval counts only when it is whole, since the rate of a part of one jumps; until
/// then the rates of now are a dash, and that which was asked for is the whole run's. Items that do
/// not fit are left out from the right. Memory comes from the last cell of the timeline, where the
/// system tells it.
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
        // An interval may have too few requests for it.
        None => quantile(&summary.total.latency.lag, 0.99, style.unicode).unwrap_or_else(none),
    };
    items.push(named("lag p99", &lag));
    // Where the system tells it.
    if let memory @ 1.. = summary.memory() {
        items.push(named("memory", &ByteSize(memory).to_string()));
    }
    let mut lines = flow(items, style.glyph(" · ", ", "), style.width());
    lines.truncate(1);
    lines.pop().unwrap_or_default()
}

/// The first body of each kind of failure in a row under a heading, cut to the style's width; none
/// where no failure had a body.
#[must_use]
pub fn examples(summary: &Summary, style: &Style) -> Vec<Line> {
    let rows = text::examples(summary, style);
    match rows.is_empty() {
        true => rows,
        false => std::iter::once(Line::of("Examples", Ink::Bold))
            .chain(rows)
            .collect(),
    }
}

/// A value behind its name, which is dim.
fn named(name: &str, value: &str) -> Line {
    Line::of(format!("{name} "), Ink::Dim).with(value, Ink::Plain)
}

/// The time of a run, and the time that its load has left where that is known. Whole seconds are
/// shown: the time that has passed is rounded down and the end up, so that both add up to the end.
#[must_use]
pub fn clock(elapsed: Nanos, load_end: Option<Nanos>, style: &Style) -> Line {
    let seconds = |nanos: Nanos| nanos.0.div_ceil(1_000_000_000);
    let words = |seconds: u64| span(Nanos::from_secs(seconds), style.unicode);
    let done = elapsed.0 / 1_000_000_000;
    let line = Line::of(words(done), Ink::Bold);
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
    let target = text::foreign(&info.target, style.unicode);
    Line::of("drumfire ", Ink::Bold)
        .with(target, Ink::Plain)
        .with(
            format!("  {}", Untrusted::new(&info.id).escaped(style.unicode)),
            Ink::Dim,
        )
}
