//! The lines of intervals, which are appended to a log: people read them, and programs cut them.
//!
//! Columns are chosen once per run and keep their places. A line of figures begins with a time, any
//! other line with `#`. Fields contain no blanks, so that `awk` can cut the lines.

use crate::calendar::{rfc3339_millis, rfc3339_seconds};
use crate::quantity;
use crate::style::{Style, Unicode};
use drumfire_measure::{IntervalRow, Model, RunInfo, SpreadTime};
use drumfire_units::Nanos;

/// The number of lines between headers.
const HEADER_EACH: usize = 20;
/// The width below which times have no dates.
const DATE_FROM: usize = 60;
/// The length of the date in a time.
const DATE: usize = "2026-01-31T".len();
/// The mark of an unknown figure.
const NONE: &str = "-";

/// A column. A new column is a row in [`COLUMNS`].
struct Column {
    /// The heading, which the legend explains.
    heading: &'static str,
    /// The usual width of figures; longer figures take more.
    width: usize,
    /// The order in which columns give way: the highest number first; 0 stays.
    dispensable: u8,
    /// The text of a row's cell, without blanks.
    cell: fn(&IntervalRow, &Lines) -> String,
}

/// Every column, from left to right. The time, the counts, the share of the goal and p99 stay on
/// any width.
const COLUMNS: [Column; 17] = [
    column("time", 0, 0, |row, lines| lines.time(row)),
    column("run", 6, 7, |row, lines| lines.run_time(row)),
    column("good/bad/failed", 15, 0, |row, _| tallies(row)),
    column("goal", 6, 5, |row, _| known(row.goal)),
    column("goal%", 5, 0, |row, _| percent(row.goal_share())),
    column("len", 4, 12, |row, _| length(row.length())),
    column("min", 5, 9, |row, lines| lines.millis(row.latency.min)),
    column("p50", 5, 2, |row, lines| lines.millis(row.latency.p50)),
    column("p90", 5, 11, |row, lines| lines.millis(row.latency.p90)),
    column("p95", 5, 10, |row, lines| lines.millis(row.latency.p95)),
    column("p99", 5, 0, |row, lines| lines.millis(row.latency.p99)),
    column("p999", 5, 8, |row, lines| lines.millis(row.latency.p999)),
    column("max", 5, 1, |row, lines| lines.millis(row.latency.max)),
    column("lag99", 5, 4, |row, lines| lines.lag(row)),
    column("open", 5, 6, |row, _| row.in_flight.to_string()),
    column("drop", 4, 3, |row, _| row.dropped.to_string()),
    column("chk", 3, 3, |row, _| row.checks_failed.to_string()),
];

/// A row of [`COLUMNS`]: heading, width, and the order in which it gives way.
const fn column(
    heading: &'static str,
    width: usize,
    dispensable: u8,
    cell: fn(&IntervalRow, &Lines) -> String,
) -> Column {
    Column {
        heading,
        width,
        dispensable,
        cell,
    }
}

/// The lines of a run. The legend stands above the first line, and a header above every twentieth.
pub struct Lines {
    /// The columns that fit, from left to right.
    columns: Vec<&'static Column>,
    unicode: Unicode,
    /// Whether intervals are shorter than a second: times have milliseconds then.
    is_fine: bool,
    /// The width of times.
    time_width: usize,
    /// The model, which chooses the latency of the lines.
    model: Model,
    /// The number of lines of figures so far.
    printed: usize,
}

impl Lines {
    /// The lines of a run, with the columns that fit into the style's width; all columns without a
    /// style.
    #[must_use]
    pub fn new(info: &RunInfo, unicode: Unicode, width: Option<&Style>) -> Self {
        let mut columns: Vec<&Column> = COLUMNS.iter().collect();
        let is_fine = info.interval < Nanos::from_secs(1);
        let is_narrow = width.is_some_and(|style| style.width() < DATE_FROM);
        let time_width = match (is_fine, is_narrow) {
            (true, false) => 24,
            (false, false) => 20,
            (true, true) => 12,
            (false, true) => 8,
        };
        if let Some(style) = width {
            while total(&columns, time_width) > style.width()
                && let Some(at) = first_to_go(&columns)
            {
                columns.remove(at);
            }
        }
        Self {
            columns,
            unicode,
            is_fine,
            time_width,
            model: info.model(),
            printed: 0,
        }
    }

    /// The line of the interval after the previous call's, with the legend and the header if they
    /// are due. The text ends with a line feed.
    pub fn next_line(&mut self, row: &IntervalRow) -> String {
        let mut text = match self.printed {
            0 => self.legend(),
            _ => String::new(),
        };
        if self.printed.is_multiple_of(HEADER_EACH) {
            text.push_str(&self.header());
        }
        self.printed += 1;
        let cells = self.columns.iter().map(|column| (column.cell)(row, self));
        text.push_str(&self.aligned(cells));
        for remark in [row.change.mark(), warm_up(row)] {
            if !remark.is_empty() {
                text.push(' ');
                text.push_str(remark);
            }
        }
        text.push('\n');
        text
    }

    /// The meaning of the columns, wrapped to their width.
    fn legend(&self) -> String {
        let time = match self.model {
            Model::Open => "response time, from when a request was due",
            Model::Closed => "service time, or response time if users wait",
        };
        let about = [
            "good/bad/failed: as expected / answered otherwise (status, check) / no answer",
            "goal: requests due; goal%: good and bad of them; open: in flight; chk: failed checks",
            &format!("times in ms: {time}; lag99: drumfire's own lateness"),
            "+ or - at the end: p99 is at least 10 times the recent mean, or at most a tenth of it",
        ];
        let room = total(&self.columns, self.time_width).max(Style::WIDTH_MIN.into());
        let lines = about
            .iter()
            .flat_map(|line| crate::line::wrap(line, room - 2));
        lines.map(|line| format!("# {line}\n")).collect()
    }

    /// The headings, each above the end of its column.
    fn header(&self) -> String {
        let headings = self.columns.iter().zip(0..).map(|(column, at)| match at {
            0 => format!("# {:<1$}", column.heading, self.time_width - 2),
            _ => column.heading.to_owned(),
        });
        self.aligned(headings) + "\n"
    }

    /// The cells in a line, each ending where its column does. A longer figure is never cut; the
    /// next cells make up for it.
    fn aligned(&self, cells: impl Iterator<Item = String>) -> String {
        let mut text = String::new();
        let mut end = 0;
        for (column, cell) in self.columns.iter().zip(cells) {
            end += match end {
                0 => self.time_width,
                _ => column.width + 1,
            };
            let missing = end.saturating_sub(text.chars().count() + cell.chars().count());
            let least = usize::from(!text.is_empty());
            text.push_str(&" ".repeat(missing.max(least)));
            text.push_str(&cell);
        }
        text
    }

    /// The start of the interval, with its date if there is room.
    fn time(&self, row: &IntervalRow) -> String {
        let whole = match self.is_fine {
            true => rfc3339_millis(row.started_at_unix_ns),
            false => rfc3339_seconds(row.started_at_unix_ns),
        };
        match whole.len() > self.time_width {
            true => whole[DATE..whole.len() - 1].to_owned(),
            false => whole,
        }
    }

    /// The time at which the interval ended, in seconds from the run's start.
    fn run_time(&self, row: &IntervalRow) -> String {
        seconds(row.end)
    }

    /// The generator's lateness, which is never a lower bound.
    fn lag(&self, row: &IntervalRow) -> String {
        let exact = |time| SpreadTime {
            time,
            is_at_least: false,
        };
        self.millis(row.lag_p99.map(exact))
    }

    /// A time in milliseconds with three digits or more.
    fn millis(&self, reading: Option<SpreadTime>) -> String {
        let Some(SpreadTime { time, is_at_least }) = reading else {
            return NONE.to_owned();
        };
        let millis = time.0 as f64 / 1e6;
        let digits = match millis {
            m if m < 9.995 => 2,
            m if m < 99.95 => 1,
            _ => 0,
        };
        let sign = match (is_at_least, self.unicode) {
            (false, _) => "",
            (true, Unicode::On) => "≥",
            (true, Unicode::Off) => ">=",
        };
        format!("{sign}{millis:.digits$}")
    }
}

/// A sentence on an interval: counts, the share of the goal, and the latency. It stands alone in a
/// log.
#[must_use]
pub fn sentence(row: &IntervalRow, style: &Style) -> String {
    let count = quantity::count;
    let mut said = vec![
        format!("{} ok", count(row.good)),
        format!("{} failed", count(row.bad.saturating_add(row.failed))),
    ];
    if row.warmup > 0 {
        said.push(format!("{} in the warm-up", count(row.warmup)));
    }
    if row.dropped > 0 {
        said.push(format!("{} dropped", count(row.dropped)));
    }
    said.push(format!("{} in flight", count(row.in_flight)));
    if let Some(share) = row.goal_share() {
        said.push(format!("{:.0} % of due", share * 100.0));
    }
    for (name, reading) in [("p50", row.latency.p50), ("p99", row.latency.p99)] {
        let Some(SpreadTime { time, is_at_least }) = reading else {
            continue;
        };
        let time = match is_at_least {
            true => quantity::latency_at_least(time, style.unicode),
            false => quantity::latency(time, style.unicode),
        };
        said.push(format!("{name} {time}"));
    }
    let span = |time| quantity::span(time, style.unicode);
    format!(
        "after {}: in the last {} {}",
        span(row.end),
        span(row.length()),
        said.join(", ")
    )
}

/// The width of lines with these columns. The first column is the time.
fn total(columns: &[&Column], time_width: usize) -> usize {
    let widths = columns.iter().skip(1).map(|column| column.width + 1);
    time_width + widths.sum::<usize>()
}

/// The index of the column that gives way first; `None` if all stay.
fn first_to_go(columns: &[&Column]) -> Option<usize> {
    let candidates = columns.iter().enumerate();
    let candidates = candidates.filter(|(_, column)| column.dispensable > 0);
    let found = candidates.max_by_key(|(_, column)| column.dispensable);
    found.map(|(at, _)| at)
}

/// The three counts in one field.
fn tallies(row: &IntervalRow) -> String {
    format!("{}/{}/{}", row.good, row.bad, row.failed)
}

/// A count, or a mark: a load without a rate has no goal.
fn known(count: Option<u64>) -> String {
    count.map_or_else(|| NONE.to_owned(), |count| count.to_string())
}

/// A share in whole percent, rounded down: less than all is never 100 %.
fn percent(share: Option<f64>) -> String {
    share.map_or_else(
        || NONE.to_owned(),
        |share| format!("{:.0}%", (share * 100.0).floor()),
    )
}

/// A span in seconds, with the necessary decimals.
fn seconds(span: Nanos) -> String {
    let millis = span.0 / 1_000_000;
    match millis % 1_000 {
        0 => format!("{}", millis / 1_000),
        rest => format!(
            "{}.{}",
            millis / 1_000,
            format!("{rest:03}").trim_end_matches('0')
        ),
    }
}

/// The length of an interval: `1s`, `500ms`, `0.25s`.
fn length(span: Nanos) -> String {
    format!("{}s", seconds(span))
}

/// The remark on an interval with requests of the warm-up.
fn warm_up(row: &IntervalRow) -> &'static str {
    if row.warmup > 0 { "warm-up" } else { "" }
}
