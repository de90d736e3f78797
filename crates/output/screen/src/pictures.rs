//! The pictures of the current view, made when it is first drawn and again when their run has
//! grown.
//! A picture of the whole run is made from every interval so far, so its cost grows with the run. A
//! picture is made again only when the run has grown by an amount that a column of cells can show.
//! So the cost per second of a long run does not exceed the cost for a run of two minutes.

use crate::choice::ViewState;
use crate::known::Known;
use crate::view::View;
use drumfire_report::figure::{self, Figure};

/// The number of columns of a picture; changes of less than one part in this number are invisible.
const COLUMNS: u64 = 128;

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
    most: usize,
    is_recent: bool,
    generation: u64,
}

impl Made {
    /// Whether these pictures are still valid for a frame at `now`.
    fn holds(self, now: Self) -> bool {
        let grown = match self.is_recent {
            // The newest intervals change by one of sixty each time.
            true => 0,
            false => self.generation / COLUMNS,
        };
        self.view == now.view
            && self.most >= now.most
            && self.is_recent == now.is_recent
            && now.generation <= self.generation + grown
    }
}

impl FramePictures {
    /// Makes the pictures for a frame of this width, if they are missing or outdated.
    pub(crate) fn renew(&mut self, known: &Known, choice: &ViewState, width: u16) {
        let now = Made {
            view: choice.view,
            most: choice.view.most(width),
            is_recent: choice.is_recent,
            generation: known.generation,
        };
        if self.made.is_some_and(|made| made.holds(now)) {
            return;
        }
        let Some(summary) = &known.summary else {
            return;
        };
        self.made = Some(now);
        let mut all = figure::Pictures::new(summary);
        if choice.is_recent {
            all = all.of_newest(known.rows.iter().cloned().collect());
        }
        let names = now.view.pictures().iter().take(now.most);
        self.figures = names.filter_map(|name| all.figure(name)).collect();
    }

    /// The pictures made by the latest [`Self::renew`].
    pub(crate) fn figures(&self) -> &[Figure] {
        &self.figures
    }
}
