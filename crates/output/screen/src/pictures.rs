//! The pictures of the current view, made when it is first drawn and again when their run has
//! grown.
//! A picture of the whole run is made from every interval so far, so its cost grows with the run. A
//! picture is made again only when the run has grown by an amount that a column of cells can show.
//! So the cost per second of a long run does not exceed the cost for a run of two minutes.

use crate::choice::ViewState;
use crate::moment::{LoadPhase, Moment};
use crate::view::View;
use drumfire_report::figure::{self, FailureSpan, Figure};
use drumfire_report::screen::StepPlace;
use drumfire_units::Nanos;
use ratatui_core::layout::Size;

/// The number of columns of a picture; changes of less than one part in this number are invisible.
const COLUMNS: u64 = 128;
/// For each such number of cells, the pictures of a larger terminal wait for one more interval: a
/// picture of 300 columns and 80 rows takes some ten kilobytes.
const CELLS_PER_INTERVAL: u64 = 8_000;
/// The pictures wait for at most this part of the intervals so far, so that a run begins lively.
const WAIT_PART: u64 = 8;

/// The pictures that a frame needs.
#[derive(Default)]
pub(crate) struct FramePictures {
    figures: Vec<Figure>,
    made: Option<Made>,
}

/// The choice and the moment for which pictures were made.
#[derive(Clone, Copy)]
struct Made {
    view: View,
    step: Option<StepPlace>,
    is_recent: bool,
    is_over: bool,
    generation: u64,
}

impl Made {
    /// Whether these pictures are still valid for a frame of this size at `now`.
    fn holds(self, now: Self, size: Size) -> bool {
        let grown = match self.is_recent {
            // The newest intervals change by one of sixty each time.
            true => 0,
            false => self.generation / COLUMNS,
        };
        let cells = u64::from(size.width) * u64::from(size.height);
        let wait = (cells / CELLS_PER_INTERVAL).min(self.generation / WAIT_PART);
        let grown = grown.max(wait);
        let is_same = |it: Self| (it.view, it.step, it.is_recent, it.is_over);
        let is_of_run = self.generation <= now.generation;
        is_same(self) == is_same(now) && is_of_run && now.generation <= self.generation + grown
    }
}

impl FramePictures {
    /// Makes the pictures for a frame of this size, if they are missing or outdated.
    pub(crate) fn renew(&mut self, moment: &Moment, choice: &ViewState, size: Size) {
        let now = Made {
            view: choice.view,
            step: choice.step,
            is_recent: choice.is_recent,
            is_over: moment.phase == LoadPhase::Over,
            generation: moment.generation,
        };
        if self.made.is_some_and(|made| made.holds(now, size)) || moment.summary.is_none() {
            return;
        }
        self.made = Some(now);
        self.figures = figures(moment, choice);
    }

    /// The pictures made by the latest [`Self::renew`].
    pub(crate) fn figures(&self) -> &[Figure] {
        &self.figures
    }
}

/// The pictures of a view at a moment.
pub(crate) fn figures(moment: &Moment, choice: &ViewState) -> Vec<Figure> {
    let Some(summary) = &moment.summary else {
        return Vec::new();
    };
    let started = || {
        let all = figure::Pictures::new(summary);
        let all = match choice.is_recent {
            true => all.of_newest(moment.rows.clone()),
            false => all,
        };
        match moment.phase {
            LoadPhase::Over => all,
            _ => all.of_active_run(),
        }
    };
    let of_step = choice
        .step
        .and_then(|place| started().of_step(place.pool, place.step));
    let all = of_step.unwrap_or_else(started);
    let names = choice.view.pictures().iter();
    let made = names.filter_map(|name| match *name {
        "failures" => Some(failures(moment, choice)),
        name => all.figure(name),
    });
    made.collect()
}

/// The failures of each kind over time.
fn failures(moment: &Moment, choice: &ViewState) -> Figure {
    let from = match choice.is_recent {
        true => moment.rows.first().map_or(Nanos::ZERO, |row| row.start),
        false => Nanos::ZERO,
    };
    let spans = moment.failures.spans().iter();
    let spans: Vec<FailureSpan> = spans.filter(|span| span.start >= from).cloned().collect();
    figure::failure_kinds(&spans)
}
