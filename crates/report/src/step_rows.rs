//! The steps of a run in the order in which a table has them.
//!
//! Text and page show the same steps of a run with too many of them, since both ask here. The place
//! of a step goes with it, so that its timeline can be found after rows were sorted and cut.

use drumfire_measure::{LatencyKind, Step, Summary};
use std::cmp::Reverse;

/// A step of a table.
pub(crate) struct StepRow {
    /// The time that is *the* latency of its pool.
    pub(crate) kind: LatencyKind,
    /// The step's figures over the whole run.
    pub(crate) step: Step,
    /// The pool's number and the step's number in it, by which the summary knows its timeline.
    pub(crate) place: (usize, usize),
}

/// The steps of a table, and the number of all there are.
pub(crate) struct StepRows {
    pub(crate) rows: Vec<StepRow>,
    pub(crate) total: usize,
}

/// Some steps of all pools. Up to `most` of them the order is that of the plan, as a reader knows
/// it; of more, those with the greatest times, the slowest first.
pub(crate) fn step_rows(summary: &Summary, most: usize) -> StepRows {
    let mut rows: Vec<StepRow> = Vec::new();
    for (number, (pool, figures)) in summary.pools().enumerate() {
        let steps = summary.steps_of(pool, figures).into_iter().enumerate();
        rows.extend(steps.map(|(index, step)| StepRow {
            kind: pool.model.latency_kind(&figures.latency),
            step,
            place: (number, index),
        }));
    }
    let total = rows.len();
    if total > most {
        rows.sort_by_key(|row| Reverse(row.kind.of_step(&row.step).max()));
        rows.truncate(most);
    }
    StepRows { rows, total }
}
