//! The rows of the full screen, which shows a running test: the lines of its head, and its tables.
//!
//! Every function takes a summary that was closed as if the run ended now, so that a screen shows
//! what the report would show. A screen calls the functions for whose rows it has room. Sections of
//! the report come from [`crate::text::rows`].

mod clock;
mod doubts;
mod numbers;

use crate::answers::answers as judged;
use crate::line::{Ink, Line};
use crate::plan_name::plan_name;
use crate::quantity::{latency, quantile};
use crate::section::{connections, failures, steps, verdict};
use crate::step_name::StepName;
use crate::style::Style;
use crate::table;
use crate::untrusted::{Untrusted, foreign};
use drumfire_measure::{IntervalRow, Summary};
use drumfire_units::ByteSize;

pub use crate::section::steps::{Order, StepPlace};
pub use clock::clock;
pub use doubts::{Suspense, rare_failures, reasons, thresholds};
pub use numbers::{Backlog, numbers};

/// The minimum and the maximum number of columns of a step's spark.
const SPARK: (usize, usize) = (16, 60);
/// The width of the table of steps that has the shortest sparks.
const SPARK_FROM: usize = 110;

/// The three answers in one line, as if the run ended now.
#[must_use]
pub fn answers(summary: &Summary, style: &Style) -> Line {
    let mut line = Line::new();
    for answer in judged(summary) {
        separate(&mut line, style);
        line.append(verdict::item(&answer).line(style.unicode));
    }
    line
}

/// The three answers and the number of thresholds that hold in one line, for a screen without room
/// for the thresholds themselves.
#[must_use]
pub fn answers_with_count(summary: &Summary, style: &Style) -> Line {
    let mut line = Line::new();
    for item in verdict::items(summary) {
        separate(&mut line, style);
        line.append(item.line(style.unicode));
    }
    line
}

/// Appends a dot between two items.
fn separate(line: &mut Line, style: &Style) {
    if line.width() > 0 {
        line.push(style.glyph(" · ", ", "), Ink::Dim);
    }
}

/// The table of steps on a screen.
#[derive(Clone, Debug, Default)]
pub struct StepTable {
    /// The headings, then a line for each step.
    pub lines: Vec<Line>,
    /// The step of each line after the headings.
    pub places: Vec<StepPlace>,
}

/// The table of steps in an order, of the steps whose names contain `filter`. Names and sparks take
/// the width that numbers leave.
#[must_use]
pub fn steps(summary: &Summary, order: Order, filter: &str, style: &Style) -> StepTable {
    let more = style.width().saturating_sub(SPARK_FROM) / 2;
    let spark = (SPARK.0 + more).min(SPARK.1);
    let (grid, places) = steps::chosen(summary, order, filter, spark);
    StepTable {
        lines: table::wide_lines(&grid, "Steps", style),
        places,
    }
}

/// The name of a step, escaped; `None` if the run has no such step.
#[must_use]
pub fn step_name(summary: &Summary, place: StepPlace, style: &Style) -> Option<String> {
    let (pool, figures) = summary.pools().nth(place.pool)?;
    let steps = summary.steps_of(pool, figures);
    let step = steps.get(place.step)?;
    Some(foreign(&StepName::from_step(step).words(), style.unicode))
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

/// The generator's own lateness in the newest interval and in the whole run, and its memory.
#[must_use]
pub fn generator(summary: &Summary, newest: Option<&IntervalRow>, style: &Style) -> Line {
    let dash = || style.glyph("–", "-").to_owned();
    let now = newest.and_then(|row| row.lag_p99);
    let now = now.map_or_else(dash, |lag| latency(lag, style.unicode));
    let run = quantile(&summary.total.latency.lag, 0.99, style.unicode);
    let pause = style.glyph(" · ", ", ");
    let mut line = Line::single("Lag p99      ", Ink::Bold)
        .with("now ", Ink::Dim)
        .with(now, Ink::Plain)
        .with(format!("{pause}run "), Ink::Dim)
        .with(run.unwrap_or_else(dash), Ink::Plain);
    // 0 if the system does not know it.
    if let memory @ 1.. = summary.memory() {
        line.push(format!("{pause}memory "), Ink::Dim);
        line.push(ByteSize(memory).to_string(), Ink::Plain);
    }
    line
}

/// The name of the plan, the target and the run's name, escaped.
#[must_use]
pub fn title(summary: &Summary, style: &Style) -> Line {
    let info = &summary.info;
    let target = foreign(&info.target, style.unicode);
    let what = match plan_name(info.name.as_deref()) {
        Some(name) => format!(
            "{}{}{target}",
            foreign(&name, style.unicode),
            style.glyph(" · ", " - ")
        ),
        None => target,
    };
    Line::single("drumfire ", Ink::Bold)
        .with(what, Ink::Plain)
        .with(
            format!("  {}", Untrusted::new(&info.id).escaped(style.unicode)),
            Ink::Dim,
        )
}
