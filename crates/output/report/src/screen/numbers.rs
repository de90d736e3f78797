//! The two rows of numbers: of the newest interval and of the whole run, in the same columns.
//!
//! Columns have a minimum width, so that they keep their places from one frame to the next. On a
//! narrow screen first the sent requests go, then the gaps shrink, then the labels lose their times,
//! then columns are dropped one by one; the p99 stays.

use crate::line::{Ink, Line, right};
use crate::quantity::{count, latency, latency_at_least, rate, share, share_of, span};
use crate::style::Style;
use drumfire_measure::{IntervalRow, Spread, SpreadTime, Summary};
use drumfire_units::Nanos;

/// The widest gap between columns.
const GAP: usize = 2;
/// The order from which columns are dropped before gaps shrink.
const EXTRA: u8 = 9;
/// The width of a label with its time: `run (14 s)`.
const LABEL: usize = 10;
/// The width of a label without its time.
const LABEL_MIN: usize = 3;

/// The requests that have no end at the end of the newest interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// The requests under way.
    pub under_way: u64,
    /// The due requests that are not sent, and the users that wait for a connection.
    pub waiting: u64,
}

/// A column of the rows.
struct NumberColumn {
    heading: &'static str,
    /// The minimum width.
    least: usize,
    /// The order in which columns are dropped: the highest number first; 0 stays.
    dispensable: u8,
    now: Number,
    run: Number,
}

/// A number as a text; `None` if it is unknown or the count does not support it.
struct Number {
    text: Option<String>,
    ink: Ink,
}

impl Number {
    const fn plain(text: Option<String>) -> Self {
        Self {
            text,
            ink: Ink::Plain,
        }
    }

    /// A number that has no meaning in this row.
    fn blank() -> Self {
        Self::plain(Some(String::new()))
    }

    fn line(&self, width: usize, style: &Style) -> Line {
        let (text, ink) = match &self.text {
            Some(text) => (text.as_str(), self.ink),
            None => (style.glyph("–", "-"), Ink::Dim),
        };
        right(text, width, ink)
    }

    fn width(&self) -> usize {
        let text = self.text.as_deref().unwrap_or("-");
        Line::plain(text).width()
    }
}

/// The headings, the numbers of the newest interval and those of the whole run, each at most `width`
/// wide. The newest interval has a rate only if it is whole, since the rate of a part of one jumps.
#[must_use]
pub fn numbers(
    summary: &Summary,
    newest: Option<&IntervalRow>,
    backlog: Backlog,
    width: usize,
    style: &Style,
) -> [Line; 3] {
    let mut columns = columns(summary, newest, backlog, style);
    let fits = |columns: &[NumberColumn], label: usize, gap: usize| {
        let widths = columns.iter().map(|column| column.width() + gap);
        label + widths.sum::<usize>() <= width
    };
    let labels = labels(summary, newest, style);
    let label = labels.iter().map(|label| label.chars().count()).max();
    let mut label = label.unwrap_or(0).max(LABEL);
    let mut gap = GAP;
    if !fits(&columns, label, gap) {
        columns.retain(|column| column.dispensable < EXTRA);
    }
    if !fits(&columns, label, gap) {
        gap = 1;
    }
    if !fits(&columns, label, gap) {
        label = LABEL_MIN;
    }
    while !fits(&columns, label, gap) {
        let found = columns.iter().enumerate();
        let found = found.max_by_key(|(_, column)| column.dispensable);
        match found {
            Some((at, column)) if column.dispensable > 0 => drop(columns.remove(at)),
            _ => break,
        }
    }
    if fits(&columns, label, GAP) {
        gap = GAP;
    }
    let [now, run] = labels.map(|text| text.chars().take(label).collect::<String>());
    let mut lines = [left("", label), left(&now, label), left(&run, label)];
    for column in &columns {
        let width = column.width();
        let cells = [
            right(column.heading, width, Ink::Dim),
            column.now.line(width, style),
            column.run.line(width, style),
        ];
        for (line, cell) in lines.iter_mut().zip(cells) {
            line.space(gap);
            line.append(cell);
        }
    }
    lines
}

impl NumberColumn {
    fn width(&self) -> usize {
        let widest = self.now.width().max(self.run.width());
        widest.max(self.heading.len()).max(self.least)
    }
}

/// The names of the rows, with the time that each covers.
fn labels(summary: &Summary, newest: Option<&IntervalRow>, style: &Style) -> [String; 2] {
    // Tenths would flicker.
    let seconds = Nanos::from_secs(summary.duration.0 / 1_000_000_000);
    let run = match seconds {
        Nanos::ZERO => span(summary.duration, style.unicode),
        seconds => span(seconds, style.unicode),
    };
    let now = newest.map(|row| span(row.length(), style.unicode));
    [
        now.map_or_else(|| "now".to_owned(), |now| format!("now ({now})")),
        format!("run ({run})"),
    ]
}

/// A column; `least` is its minimum width.
const fn column(
    heading: &'static str,
    least: usize,
    dispensable: u8,
    now: Number,
    run: Number,
) -> NumberColumn {
    NumberColumn {
        heading,
        least,
        dispensable,
        now,
        run,
    }
}

/// All columns from left to right.
fn columns(
    summary: &Summary,
    newest: Option<&IntervalRow>,
    backlog: Backlog,
    style: &Style,
) -> Vec<NumberColumn> {
    let counts = &summary.total.counts;
    let ended = counts.finished();
    let whole = newest.filter(|row| row.length() >= summary.info.interval);
    let per_second = |row: &IntervalRow| {
        let ended = row.ended().saturating_add(row.warmup);
        rate(ended as f64 / row.length().as_secs_f64())
    };
    let some = |is: bool, text: String| is.then_some(text);
    let mut columns = vec![column(
        "rate",
        8,
        1,
        Number::plain(whole.map(per_second)),
        Number::plain(some(ended > 0, rate(summary.achieved_per_s()))),
    )];
    if summary.intended_per_s().is_some() {
        let goal = |row: &IntervalRow| row.goal.filter(|goal| *goal > 0);
        let of = |part: u64, goal: u64| share_of(part as f64 / goal as f64);
        let now = whole.and_then(|row| Some(of(row.ended(), goal(row)?)));
        let run = some(counts.intended > 0, of(ended, counts.intended.max(1)));
        columns.push(column(
            "of asked",
            8,
            7,
            Number::plain(now),
            Number::plain(run),
        ));
    }
    let failed = |failed: u64, ended: u64| Number {
        text: (ended > 0).then(|| share(failed, ended)),
        ink: if failed > 0 { Ink::Bad } else { Ink::Plain },
    };
    let now = newest.map_or((0, 0), |row| {
        (row.bad.saturating_add(row.failed), row.ended())
    });
    columns.push(column(
        "failed",
        7,
        2,
        failed(now.0, now.1),
        failed(counts.failed, ended),
    ));
    columns.extend(open_requests(summary, newest, backlog));
    columns.extend(answers(summary, newest, style));
    columns.extend(times(summary, newest, style));
    columns
}

/// The columns of answers: tokens per second, and the median of the time to the first token.
fn answers(summary: &Summary, newest: Option<&IntervalRow>, style: &Style) -> Vec<NumberColumn> {
    let Some(llm) = summary.total.llm() else {
        return Vec::new();
    };
    let per_second = |tokens: u64, span: Nanos| {
        (span > Nanos::ZERO).then(|| rate(tokens as f64 / span.as_secs_f64()))
    };
    let now = newest.and_then(|row| Some((row, row.llm.as_ref()?)));
    let whole = now.filter(|(row, _)| row.length() >= summary.info.interval);
    let tokens = column(
        "tokens",
        8,
        4,
        Number::plain(whole.and_then(|(row, llm)| per_second(llm.tokens, row.length()))),
        Number::plain(per_second(llm.tokens(), summary.duration)),
    );
    let median = |spread: Spread| spread.p50.map(|time| time_text(time, style));
    let run = Spread::from_histogram(llm.ttft_of(summary.model()));
    let ttft = column(
        "ttft p50",
        8,
        5,
        Number::plain(now.and_then(|(_, llm)| median(llm.ttft))),
        Number::plain(median(run)),
    );
    vec![tokens, ttft]
}

/// The columns of quantiles. The quantiles and the maximum of a row are of the same requests.
fn times(
    summary: &Summary,
    newest: Option<&IntervalRow>,
    style: &Style,
) -> impl Iterator<Item = NumberColumn> {
    let now = newest.map_or_else(Spread::default, |row| row.latency);
    let run = Spread::from_histogram(summary.latency());
    let number = move |spread: &Spread, name: &str| {
        let named = spread.named();
        let found = named.iter().find(|(of, _)| *of == name);
        let time = found.and_then(|(_, time)| *time);
        Number {
            text: time.map(|time| time_text(time, style)),
            ink: if name == "p99" { Ink::Bold } else { Ink::Plain },
        }
    };
    let columns = [("p50", 3), ("p90", 8), ("p99", 0), ("max", 6)];
    columns.into_iter().map(move |(name, dispensable)| {
        column(name, 7, dispensable, number(&now, name), number(&run, name))
    })
}

/// The columns of sent requests and of those without an end. Losses have columns only if there are
/// any.
fn open_requests(
    summary: &Summary,
    newest: Option<&IntervalRow>,
    backlog: Backlog,
) -> Vec<NumberColumn> {
    let total = &summary.total;
    let warn = |n: u64| Number {
        text: Some(count(n)),
        ink: if n > 0 { Ink::Warn } else { Ink::Plain },
    };
    let sent = total.counts.sent.saturating_add(total.warmup.sent);
    let sent = Number::plain(Some(count(sent)));
    let mut columns = vec![column("sent", 4, EXTRA, Number::blank(), sent)];
    let under_way = Number {
        text: Some(count(backlog.under_way)),
        ink: if backlog.under_way > 0 {
            Ink::Plain
        } else {
            Ink::Dim
        },
    };
    columns.push(column("under way", 9, 5, under_way, Number::blank()));
    if backlog.waiting > 0 {
        columns.push(column(
            "waiting",
            7,
            4,
            warn(backlog.waiting),
            Number::blank(),
        ));
    }
    if total.counts.dropped > 0 {
        let now = newest.map_or(0, |row| row.dropped);
        columns.push(column(
            "dropped",
            7,
            4,
            warn(now),
            warn(total.counts.dropped),
        ));
    }
    columns
}

/// A time, with a mark if it is a lower bound.
fn time_text(time: SpreadTime, style: &Style) -> String {
    match time.is_at_least {
        true => latency_at_least(time.time, style.unicode),
        false => latency(time.time, style.unicode),
    }
}

/// A label at the left of this many columns.
fn left(text: &str, columns: usize) -> Line {
    let mut line = Line::single(text, Ink::Dim);
    line.space(columns.saturating_sub(line.width()));
    line
}
