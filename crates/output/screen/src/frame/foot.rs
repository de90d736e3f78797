//! The foot of a frame: the address of the run's page, the message, and the keys; and the help.

use super::Frame;
use crate::moment::LoadPhase;
use crate::place::below;
use crate::view::View;
use drumfire_plan::StopReason;
use drumfire_report::line::Ink;
use drumfire_report::untrusted::Untrusted;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

/// The minimum height with separate rows for messages and for the page in the foot, above the keys.
const MESSAGE_FROM: u16 = 14;
/// The column of the effects in the help.
const EFFECTS: u16 = 16;

/// Each key with its effect, for the help; the last row has no key.
const HELP: [(&str, &str); 15] = [
    (
        "q, Ctrl-C",
        "end the load and show the report; again: report now",
    ),
    ("p, space", "pause or resume the load"),
    (
        "+ -, P",
        "change the rate or the users by a tenth; P chooses the pool",
    ),
    ("m", "mark this moment with a text"),
    ("1 to 6, Tab", "switch to another view"),
    (
        "Enter",
        "show one picture: left, right read values; up, down switch",
    ),
    ("f", "freeze the screen, or let it follow the run again"),
    ("t", "show the whole run, or the last 60 intervals"),
    (
        "up, down, Page",
        "scroll; select a step, of which Enter shows pictures",
    ),
    ("o, /", "order the steps; show only names with a text"),
    (
        "y",
        "copy the report so far; again: the address of the page",
    ),
    ("s", "save the report so far as Markdown"),
    ("S", "keep the screen after the end, until q"),
    ("Ctrl-Z, ?", "suspend drumfire and the load; show this help"),
    (
        "",
        "`drumfire ctl` sends the same commands from another terminal.",
    ),
];

impl Frame<'_> {
    /// Draws the page's address, the message and the keys, and returns the rest of the area.
    /// `height` is the height of the whole frame.
    pub(super) fn draw_foot(&self, height: u16, area: Rect, buffer: &mut Buffer) -> Rect {
        let (body, keys) = below(area, 1);
        let message = self.message();
        self.draw_keys(keys, buffer);
        let body = match message {
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
        };
        match &self.moment.page {
            Some(page) if height >= MESSAGE_FROM => {
                // An address that is cut is of no use, and its token makes it long.
                let letters: Vec<char> = format!("page  {page}").chars().collect();
                let rows = letters.chunks(usize::from(area.width.max(1)));
                let (body, lines) = below(body, rows.len() as u16);
                for (row, letters) in (0..lines.height).zip(rows) {
                    let text: String = letters.iter().collect();
                    self.row(buffer, lines, row, &text, Ink::Dim);
                }
                body
            }
            _ => body,
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
        match self.moment.phase {
            LoadPhase::Over => {
                let text = "the run is over: q leaves the screen, and the report follows";
                return Some((text.to_owned(), Ink::Bold));
            }
            LoadPhase::Drain(reason) => {
                let why = match reason {
                    StopReason::Signal | StopReason::Command => "stopping",
                    StopReason::Threshold => "a threshold ended the load",
                    StopReason::Lost => "all agents are lost",
                    StopReason::AgentLost => "the loss of an agent ended the load",
                    StopReason::Duration | StopReason::Counted => "the load is over",
                };
                let in_flight = self.moment.backlog.under_way;
                let text = format!("{why}: waiting for {in_flight} in flight (q to report now)");
                return Some((text, Ink::Warn));
            }
            LoadPhase::Paused => {
                return Some(("paused: p resumes the load".to_owned(), Ink::Warn));
            }
            LoadPhase::WarmUp | LoadPhase::Running => {}
        }
        let note = self.moment.note.as_ref()?;
        Some((Untrusted::new(note).escaped_lines(), Ink::Warn))
    }

    /// Draws the keys that fit, the most important ones first.
    ///
    /// The list ends before the first key that does not fit, so that a narrow window has the keys
    /// to end and pause, and the help key, which shows all others.
    fn draw_keys(&self, area: Rect, buffer: &mut Buffer) {
        let pause = self.look.glyph(" · ", ", ");
        let mut text = String::new();
        for key in self.keys() {
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

    /// The keys that matter for what is shown. A pool's name is foreign text and is escaped.
    fn keys(&self) -> Vec<String> {
        let own = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        if self.moment.phase == LoadPhase::Over {
            return own(&["q leave", "1-6 views", "Enter picture", "s save", "y copy"]);
        }
        if self.choice.full.is_some() {
            let arrows = self.look.glyph("← → values", "left, right values");
            let others = self.look.glyph("↑ ↓ pictures", "up, down pictures");
            return own(&["Enter back", arrows, others, "f freeze", "t time", "q end"]);
        }
        let pool = match (self.choice.pool, &self.moment.summary) {
            (Some(pool), Some(summary)) => {
                let found = summary.info.pools.get(usize::from(pool));
                let name = found.map_or("", |pool| &pool.name);
                format!(" of {}", Untrusted::new(name).escaped_lines())
            }
            _ => String::new(),
        };
        let mut keys: Vec<String> = own(&["q end", "p pause"]);
        keys.push(format!("+ - load{pool}"));
        keys.extend::<Vec<String>>(own(&["? help"]));
        keys.extend::<Vec<String>>(match self.choice.view {
            View::Steps => own(&[
                self.look.glyph("↑ ↓ Enter step", "up, down, Enter step"),
                "o order",
                "/ find",
            ]),
            _ => own(&["1-6 views", "Enter picture"]),
        });
        keys.extend::<Vec<String>>(own(&[
            "f freeze", "t time", "m mark", "s save", "y copy", "S stay",
        ]));
        keys
    }

    /// Draws the keys with their effects instead of a view; rows that do not fit are omitted.
    pub(super) fn draw_help(&self, area: Rect, buffer: &mut Buffer) {
        // In a low window, the foot has no row for the address.
        let page = self.moment.page.as_ref();
        let page = page.filter(|_| area.height < MESSAGE_FROM);
        let page = page.map(|page| ("page", page.as_str()));
        for (row, (key, words)) in (0..area.height).zip(page.into_iter().chain(HELP)) {
            let at = (area.x, area.y + row);
            self.look
                .text(buffer, at, area.width, key, self.look.ink(Ink::Bold));
            let indent = EFFECTS.min(area.width);
            let at = (area.x + indent, area.y + row);
            let room = area.width - indent;
            let ink = self.look.ink(Ink::Plain);
            self.look.text(buffer, at, room, words, ink);
        }
    }
}
