//! The table of stages: the figures of each part of a load's law.
//!
//! Stages are those that ran: an order from `drumfire ctl` begins one, as a piece of the plan's law
//! does. Their rates are over the measured time in them, so that a stage that lies half in the
//! warm-up has no halved rate.
//!
//! The figures are sums of intervals, and a stage begins with one. A quantile that is only known to
//! be at least so long says so.

use super::foreign;
use crate::line::{Ink, Line};
use crate::page::Page;
use crate::quantity::{count, in_letters, latency, latency_at_least, rate, share, span};
use crate::style::Style;
use crate::table::{Column, Table};
use drumfire_measure::{SpreadTime, StageRow, Summary};

/// The greatest width of a name, in columns.
const NAME_MAX: usize = 40;

/// Prints a row for each stage, pool by pool; nothing where no load has several. With several pools
/// a stage's name has its pool's before it.
pub(super) fn print(summary: &Summary, page: &mut Page<'_>) {
    let stages = summary.stages();
    if stages.is_empty() {
        return;
    }
    let mut table = Table::new([
        Column::names("Stages"),
        Column::numbers("from", 4),
        Column::numbers("ok", 0),
        Column::numbers("failed", 1),
        Column::numbers("rate", 2),
        Column::numbers("of goal", 3),
        Column::numbers("p50", 5),
        Column::numbers("p90", 7),
        Column::numbers("p99", 0),
        Column::numbers("max", 6),
    ]);
    let several = summary.info.pools.len() > 1;
    for stage in &stages {
        table.row(cells(stage, several, page.style));
    }
    let lines = table.lines(page.style.width());
    page.lines(lines);
    page.explain(
        "The stages of the load, by when requests ended; a stage begins with an interval. Of goal: \
         answered requests as a share of due requests.",
    );
}

/// One stage's cells.
///
/// A rate is that of the measured part of the stage; of a stage that lies in the warm-up whole
/// there is none. The goal compares what was answered with what became due in the stage, so that an
/// answer in the next stage counts there.
fn cells(stage: &StageRow<'_>, several: bool, style: &Style) -> Vec<Line> {
    let row = &stage.row;
    let stage_name = foreign(&stage.stage.name, style.unicode);
    let name = match several {
        true => format!("{}: {stage_name}", foreign(&stage.pool.name, style.unicode)),
        false => stage_name,
    };
    let mut name = Line::plain(in_letters(&name, style.unicode));
    name.clip((style.width() / 3).min(NAME_MAX), style.glyph("…", "~"));
    let failures = row.bad.saturating_add(row.failed);
    let failed = if failures > 0 { Ink::Bad } else { Ink::Dim };
    let none = || Line::of(style.glyph("–", "-"), Ink::Dim);
    let goal = row.goal.filter(|goal| *goal > 0);
    let answered = row.good.saturating_add(row.bad);
    let time = |reading: Option<SpreadTime>| match reading {
        None => none(),
        Some(SpreadTime { time, is_at_least }) => Line::plain(match is_at_least {
            true => latency_at_least(time, style.unicode),
            false => latency(time, style.unicode),
        }),
    };
    vec![
        name,
        Line::of(span(row.start, style.unicode), Ink::Dim),
        Line::plain(count(row.good)),
        Line::of(count(failures), failed),
        stage
            .ended_per_s()
            .map_or_else(none, |ended| Line::plain(rate(ended))),
        goal.map_or_else(none, |goal| Line::plain(share(answered, goal))),
        time(row.latency.p50),
        time(row.latency.p90),
        time(row.latency.p99),
        time(row.latency.max),
    ]
}
