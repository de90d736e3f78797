//! One frame: a head that is always visible, the tiles of a view, and a foot.
//!
//! Drawing is pure: the same run, choice and size produce the same cells. If the area is too small,
//! rows are omitted from the least important one: the reasons, the load, the message, then the
//! tabs. Below [`LEAST`], a line asks the user for a larger window.
//!
//! [`Frame::draw`] cuts the area from the outside: the head from the top, the foot from the bottom,
//! and the view gets the rest. Each `draw_` method gets an area and fills it; methods that cut
//! return the rest. An area of no rows is allowed and stays empty, so that callers need not check.
//!
//! Texts from a plan, a target or the user are escaped when they become cells, by [`Untrusted`]
//! here and by [`glance`] for rows of the report.

use crate::choice::ViewState;
use crate::known::Known;
use crate::look::Look;
use crate::place::{above, below, stack, tiles};
use crate::tile::Tile;
use crate::view::View;
use drumfire_measure::Summary;
use drumfire_plan::StopReason;
use drumfire_report::figure::Figure;
use drumfire_report::line::Ink;
use drumfire_report::progress_line;
use drumfire_report::screen;
use drumfire_report::untrusted::Untrusted;
use drumfire_session::Steering;
use drumfire_units::Nanos;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;

/// The minimum size of a frame with content.
const LEAST: (u16, u16) = (30, 6);
/// The minimum height with a row for the load in the head.
const LOAD_FROM: u16 = 12;
/// The minimum height with a reason in the head; at twice this height, three are shown.
const REASON_FROM: u16 = 16;
/// The minimum height with a separate row for messages in the foot, above the keys.
const MESSAGE_FROM: u16 = 14;

/// Each key with its effect, for the help; the last row has no key.
const HELP: [(&str, &str); 15] = [
    (
        "q, Ctrl-C",
        "end the load and show the report; again: report now",
    ),
    ("p, space", "pause or resume the load"),
    ("+ -", "raise or lower the rate, or the users, by a tenth"),
    (
        "P",
        "choose the pool that + and - change: each in turn, then all",
    ),
    ("m", "mark this moment with a text"),
    ("1 to 6, Tab", "switch to another view"),
    ("t", "show the whole run, or the last 60 intervals"),
    ("arrows, Page", "scroll rows of text"),
    ("o", "change the order of the steps"),
    ("/", "show only steps whose names contain a text"),
    ("y", "copy the report so far to the clipboard"),
    ("s", "save the report so far as Markdown"),
    ("Ctrl-Z", "suspend drumfire and the load"),
    ("?", "show this help"),
    (
        "",
        "`drumfire ctl` sends the same commands from another terminal.",
    ),
];

/// The parts of a frame, borrowed while it is drawn.
///
/// A frame is made for one drawing, while the lock on the state is held, and changes nothing; keys
/// were handled before.
pub(crate) struct Frame<'a> {
    /// The state of the run; before its first summary, only the start is drawn.
    pub(crate) known: &'a Known,
    /// The user's choice.
    pub(crate) choice: &'a ViewState,
    /// The figures of the run, or of its newest intervals.
    pub(crate) figures: &'a [Figure],
    /// The colours and letters of this terminal.
    pub(crate) look: &'a Look,
    /// The time since the load began.
    pub(crate) elapsed: Nanos,
}

impl Frame<'_> {
    /// Draws the frame into an area of any size. The help replaces a view, but nothing replaces the
    /// head, so that a reader of the help still sees the run. Returns the first visible row of
    /// text, which corrects a scroll position beyond the last row.
    pub(crate) fn draw(&self, area: Rect, buffer: &mut Buffer) -> usize {
        let scroll = self.choice.scroll;
        if area.width < LEAST.0 || area.height < LEAST.1 {
            let text = "drumfire: the window is too small";
            self.look.text(
                buffer,
                (area.x, area.y),
                area.width,
                text,
                self.look.ink(Ink::Plain),
            );
            return scroll;
        }
        let Some(summary) = self.known.summary.as_deref() else {
            self.draw_start(area, buffer);
            return scroll;
        };
        let body = self.draw_head(summary, area, buffer);
        let body = self.draw_foot(area.height, body, buffer);
        if self.choice.is_help {
            self.draw_help(body, buffer);
            return scroll;
        }
        self.draw_view(summary, body, buffer)
    }

    /// Draws the time and a short text, because there are no figures before the first interval is
    /// over.
    fn draw_start(&self, area: Rect, buffer: &mut Buffer) {
        let style = self.look.style(area.width);
        let clock = screen::clock(self.elapsed, self.known.standing.load_end(), &style);
        self.look.line(buffer, (area.x, area.y), area.width, &clock);
        let text = "waiting for the end of the first interval";
        self.row(buffer, area, 1, text, Ink::Dim);
        let (_, foot) = below(area, 1);
        self.draw_keys(foot, buffer);
    }

    /// Writes a text into a row of an area, counted from its top.
    fn row(&self, buffer: &mut Buffer, area: Rect, row: u16, text: &str, ink: Ink) {
        let at = (area.x, area.y + row);
        self.look
            .text(buffer, at, area.width, text, self.look.ink(ink));
    }

    /// Draws the rows that are always visible, and returns the rest of the area.
    ///
    /// The rows are collected first and then drawn below the title, the tabs last. The height of
    /// the whole frame determines which rows exist, so that they do not move when the view changes.
    fn draw_head(&self, summary: &Summary, area: Rect, buffer: &mut Buffer) -> Rect {
        let style = self.look.style(area.width);
        let mut rows = vec![screen::answers(summary, &style)];
        if area.height >= REASON_FROM {
            let mut reasons = screen::reasons(summary, &style);
            let most = if area.height >= 2 * REASON_FROM { 3 } else { 1 };
            reasons.truncate(most);
            rows.extend(reasons);
        }
        if let Some((interval, progress)) = self.known.standing.progress() {
            rows.push(progress_line::row(interval, &progress, &style));
        }
        if area.height >= LOAD_FROM {
            rows.push(screen::load(summary, self.known.rows.back(), &style));
        }
        self.draw_title(summary, area, buffer);
        let (_, mut rest) = above(area, 1);
        for row in &rows {
            let (line, below) = above(rest, 1);
            self.look.line(buffer, (line.x, line.y), line.width, row);
            rest = below;
        }
        let (tabs, rest) = above(rest, 1);
        self.draw_tabs(tabs, buffer);
        rest
    }

    /// Draws the first row. The clock on the right stays complete; the title is cut if necessary.
    fn draw_title(&self, summary: &Summary, area: Rect, buffer: &mut Buffer) {
        let style = self.look.style(area.width);
        let clock = screen::clock(self.elapsed, self.known.standing.load_end(), &style);
        let width = (clock.width() as u16).min(area.width);
        let title = area.width.saturating_sub(width + 2);
        self.look.line(
            buffer,
            (area.x, area.y),
            title,
            &screen::title(summary, &style),
        );
        let x = area.x + area.width - width;
        self.look.line(buffer, (x, area.y), width, &clock);
    }

    /// Draws the names of the views, the shown one reversed; if not all names fit, only the shown
    /// one.
    ///
    /// The scale of time follows them, unless it is the scale of the whole run.
    fn draw_tabs(&self, area: Rect, buffer: &mut Buffer) {
        let label = |view: View| format!(" {} {} ", view.number() + 1, view.name());
        let all: usize = View::ALL.iter().map(|view| label(*view).len()).sum();
        let fits = all <= usize::from(area.width);
        let shown = View::ALL
            .into_iter()
            .filter(|view| fits || *view == self.choice.view);
        let mut x = area.x;
        for view in shown {
            let style = match view == self.choice.view {
                true => self.look.ink(Ink::Bold).add_modifier(Modifier::REVERSED),
                false => self.look.ink(Ink::Plain),
            };
            let room = (area.x + area.width).saturating_sub(x);
            x += self
                .look
                .text(buffer, (x, area.y), room, &label(view), style);
        }
        let scale = match self.choice.is_recent {
            true => "  last 60 intervals",
            false => "",
        };
        let room = (area.x + area.width).saturating_sub(x);
        self.look
            .text(buffer, (x, area.y), room, scale, self.look.ink(Ink::Dim));
    }

    /// Draws the message and the keys, and returns the rest of the area. `height` is the height of
    /// the whole frame.
    fn draw_foot(&self, height: u16, area: Rect, buffer: &mut Buffer) -> Rect {
        let (body, keys) = below(area, 1);
        let message = self.message();
        self.draw_keys(keys, buffer);
        match message {
            Some((text, ink)) if height >= MESSAGE_FROM => {
                let (body, line) = below(body, 1);
                self.row(buffer, line, 0, &text, ink);
                body
            }
            // In a small window, the message replaces the keys.
            Some((text, ink)) => {
                let blank = " ".repeat(usize::from(keys.width));
                self.row(buffer, keys, 0, &blank, Ink::Plain);
                self.row(buffer, keys, 0, &text, ink);
                body
            }
            None => body,
        }
    }

    /// The line above the keys: the typed text, the answer to a key, the state of the end, or the
    /// newest note.
    ///
    /// The first of these that exists is shown: reactions to the user precede the run's messages,
    /// because the user is waiting for them, and a note waits until none of the others is present.
    fn message(&self) -> Option<(String, Ink)> {
        if let Some(prompt) = &self.choice.prompt {
            let caret = self.look.glyph("▏", "_");
            let typed = Untrusted::new(&prompt.text).escaped_lines();
            return Some((format!("{}{typed}{caret}", prompt.words()), Ink::Bold));
        }
        if let Some(message) = &self.choice.message {
            return Some((message.clone(), Ink::Plain));
        }
        if let Some(reason) = self.known.standing.drain() {
            let in_flight = self.known.standing.in_flight();
            let why = match reason {
                StopReason::Signal | StopReason::Command => "stopping",
                StopReason::Threshold => "a threshold ended the load",
                StopReason::Lost => "all agents are lost",
                StopReason::AgentLost => "the loss of an agent ended the load",
                StopReason::Duration | StopReason::Counted => "the load is over",
            };
            let text = format!("{why}: waiting for {in_flight} in flight (q to report now)");
            return Some((text, Ink::Warn));
        }
        let load = self.known.standing.steering();
        if load.is_some_and(Steering::is_paused) {
            return Some(("paused: p resumes the load".to_owned(), Ink::Warn));
        }
        let note = self.known.notes.newest()?;
        Some((Untrusted::new(note).escaped_lines(), Ink::Warn))
    }

    /// Draws the keys that fit, the most important ones first.
    ///
    /// The list ends before the first key that does not fit, so that a narrow window has the keys
    /// to end and pause, and the help key, which shows all others. A pool's name is foreign text
    /// and is escaped.
    fn draw_keys(&self, area: Rect, buffer: &mut Buffer) {
        let pool = match (self.choice.pool, &self.known.summary) {
            (Some(pool), Some(summary)) => {
                let found = summary.info.pools.get(usize::from(pool));
                let name = found.map_or("", |pool| &pool.name);
                format!(" of {}", Untrusted::new(name).escaped_lines())
            }
            _ => String::new(),
        };
        let pause = self.look.glyph(" · ", ", ");
        let keys = [
            "q end".to_owned(),
            "p pause".to_owned(),
            format!("+ - load{pool}"),
            "? help".to_owned(),
            "1-6 views".to_owned(),
            "t time".to_owned(),
            "m mark".to_owned(),
            "s save".to_owned(),
            "y copy".to_owned(),
            "o / steps".to_owned(),
        ];
        let mut text = String::new();
        for key in keys {
            let wider = text.chars().count() + pause.chars().count() + key.chars().count();
            if wider > usize::from(area.width) {
                break;
            }
            if !text.is_empty() {
                text.push_str(pause);
            }
            text.push_str(&key);
        }
        self.row(buffer, area, 0, &text, Ink::Dim);
    }

    /// Draws the keys with their effects instead of a view; rows that do not fit are omitted.
    fn draw_help(&self, area: Rect, buffer: &mut Buffer) {
        for (row, (key, words)) in (0..area.height).zip(HELP) {
            let at = (area.x, area.y + row);
            self.look
                .text(buffer, at, area.width, key, self.look.ink(Ink::Bold));
            let indent = 15.min(area.width);
            let at = (area.x + indent, area.y + row);
            self.look.text(
                buffer,
                at,
                area.width - indent,
                words,
                self.look.ink(Ink::Plain),
            );
        }
    }

    /// Draws the tiles of the chosen view.
    ///
    /// Tiles next to each other share the area evenly. If each tile is as wide as the area, they
    /// are stacked, with heights by their rows of text. Returns the maximum first visible row of
    /// any tile.
    fn draw_view(&self, summary: &Summary, area: Rect, buffer: &mut Buffer) -> usize {
        let view = self.choice.view;
        let most = view.most(area.width);
        // The width of tiles is known once their number is, and rows are formatted for that width.
        let places = tiles(area, most, view.tile_width());
        let width = places.first().map_or(area.width, |place| place.width);
        let style = self.look.style(width);
        let steps = (self.choice.order, &*self.choice.filter);
        let mut all = view.tiles(summary, steps, &style);
        all.truncate(most);
        let places = match places.iter().all(|place| place.width == area.width) {
            true => {
                let heights: Vec<_> = all.iter().map(Tile::height).collect();
                stack(area, &heights)
            }
            false => tiles(area, all.len(), view.tile_width()),
        };
        let drawn = all.iter().zip(places).map(|(tile, place)| {
            tile.draw(self.figures, self.choice.scroll, place, buffer, self.look)
        });
        drawn.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
