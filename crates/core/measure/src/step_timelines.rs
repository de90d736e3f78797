//! The steps of a run over time, in bounded memory.
//!
//! A pool with a single step has no separate timelines: its own timeline is the step's. All steps
//! share [`CELLS_MAX`] cells, so that the memory does not grow with their number, and many steps
//! have coarser rows. With more than [`STEPS_MAX`] steps a row would cover a twentieth of a run,
//! which is too coarse to be useful.

use crate::{Interval, IntervalRow, Overview, Rows, RunInfo, Timeline};

/// The maximum number of steps, over all pools, with which a run has step timelines.
const STEPS_MAX: usize = 64;
/// The maximum number of cells of all steps together.
const CELLS_MAX: usize = 2_400;
/// The maximum number of cells of one step.
const CELLS_OF_ONE: usize = 300;

/// A timeline for each step of the pools that have several.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StepTimelines(Vec<StepTimeline>);

#[derive(Clone, Debug, PartialEq)]
struct StepTimeline {
    pool: usize,
    step: usize,
    timeline: Timeline<Overview>,
}

impl StepTimelines {
    /// The steps of a run.
    pub(crate) fn new(info: &RunInfo) -> Self {
        let pools = info.pools.iter().enumerate();
        let steps = pools.flat_map(|(pool, info)| {
            let count = match info.steps.len() {
                1 => 0,
                several => several,
            };
            (0..count).map(move |step| (pool, step))
        });
        let steps: Vec<(usize, usize)> = steps.take(STEPS_MAX + 1).collect();
        if steps.len() > STEPS_MAX {
            return Self::default();
        }
        let cells = (CELLS_MAX / steps.len().max(1)).min(CELLS_OF_ONE);
        let timelines = steps.into_iter().map(|(pool, step)| StepTimeline {
            pool,
            step,
            timeline: Timeline::of_step(info, pool, step, cells),
        });
        Self(timelines.collect())
    }

    /// Adds an interval, which must be summed up.
    pub(crate) fn absorb(&mut self, interval: &Interval) {
        for step in &mut self.0 {
            step.timeline.absorb(interval);
        }
    }

    /// The cells of a step, by its pool's number and its own; `None` if the step has no separate
    /// timeline.
    pub(crate) fn cells(
        &self,
        pool: usize,
        step: usize,
    ) -> Option<impl Iterator<Item = Overview> + '_> {
        let mut timelines = self.0.iter();
        let found = timelines.find(|it| (it.pool, it.step) == (pool, step))?;
        Some(found.timeline.cells())
    }

    /// The rows of a step, by its pool's number and its own; `None` if the step has no separate
    /// timeline. If there are more than `most` cells, each row has equally many of them.
    pub(crate) fn rows(
        &self,
        info: &RunInfo,
        (pool, step): (usize, usize),
        most: usize,
    ) -> Option<Vec<IntervalRow>> {
        let cells: Vec<Overview> = self.cells(pool, step)?.collect();
        let mut rows = Rows::of_pool(info, info.pools[pool].model);
        let each = cells.len().div_ceil(most.max(1)).max(1);
        let merged = cells.chunks(each).map(|cells| {
            let mut whole = cells[0].clone();
            cells[1..].iter().for_each(|cell| whole.merge(cell));
            rows.next_row_of(&whole)
        });
        Some(merged.collect())
    }
}
