//! One frame: a head that is always visible, the tiles of a view, and a foot.
//!
//! Drawing is pure: the same moment, choice and size produce the same cells. If the area is too
//! small, rows are omitted from the least important one: the reasons, the thresholds, the message,
//! then the tabs. Below [`LEAST`], a line asks the user for a larger window.
//!
//! [`Frame::draw`] cuts the area from the outside: the head from the top, the foot from the bottom,
//! and the view gets the rest. Each `draw_` method gets an area and fills it; methods that cut
//! return the rest. An area of no rows is allowed and stays empty, so that callers need not check.
//!
//! Texts from a plan, a target or the user are escaped when they become cells, by
//! `Untrusted` here and by [`screen`] for rows of the report.

mod body;
mod foot;
mod head;

use crate::choice::{Positions, ViewState};
use crate::look::Look;
use crate::moment::Moment;
use crate::place::below;
use drumfire_report::figure::Figure;
use drumfire_report::line::Ink;
use drumfire_report::screen;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

/// The minimum size of a frame with content.
const LEAST: (u16, u16) = (30, 6);

/// The parts of a frame, borrowed while it is drawn.
///
/// A frame is made for one drawing and changes nothing; keys were handled before.
pub(crate) struct Frame<'a> {
    /// The state of the run; before its first summary, only the start is drawn.
    pub(crate) moment: &'a Moment,
    /// The user's choice.
    pub(crate) choice: &'a ViewState,
    /// The pictures of the view, in the order of their importance.
    pub(crate) figures: &'a [Figure],
    /// The colours and letters of this terminal.
    pub(crate) look: &'a Look,
}

impl Frame<'_> {
    /// Draws the frame into an area of any size. The help replaces a view, but nothing replaces the
    /// numbers, so that a reader of the help still sees the run. Returns the positions of the
    /// choice, corrected if they were beyond an end.
    pub(crate) fn draw(&self, area: Rect, buffer: &mut Buffer) -> Positions {
        let positions = self.choice.positions();
        if area.width < LEAST.0 || area.height < LEAST.1 {
            let text = "drumfire: the window is too small";
            let at = (area.x, area.y);
            let ink = self.look.ink(Ink::Plain);
            self.look.text(buffer, at, area.width, text, ink);
            return positions;
        }
        let Some(summary) = self.moment.summary.as_deref() else {
            self.draw_start(area, buffer);
            return positions;
        };
        let body = self.draw_head(summary, area, buffer);
        let body = self.draw_foot(area.height, body, buffer);
        if self.choice.is_help {
            self.draw_help(body, buffer);
            return positions;
        }
        self.draw_view(summary, body, buffer)
    }

    /// Draws the time and a short text, because there are no figures before the first interval is
    /// over.
    fn draw_start(&self, area: Rect, buffer: &mut Buffer) {
        let style = self.look.style(area.width);
        let moment = self.moment;
        let width = usize::from(area.width);
        let clock = screen::clock(moment.elapsed, moment.load_end, moment.done, width, &style);
        self.look.line(buffer, (area.x, area.y), area.width, &clock);
        let text = "waiting for the end of the first interval";
        self.row(buffer, area, 1, text, Ink::Dim);
        let _body = self.draw_foot(area.height, below(area, area.height - 2).1, buffer);
    }

    /// Writes a text into a row of an area, counted from its top.
    fn row(&self, buffer: &mut Buffer, area: Rect, row: u16, text: &str, ink: Ink) {
        let at = (area.x, area.y + row);
        self.look
            .text(buffer, at, area.width, text, self.look.ink(ink));
    }
}

#[cfg(test)]
mod tests;
