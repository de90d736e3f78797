//! The head of a frame: the title, the answers, the numbers, the thresholds, the reasons and the
//! tabs.

use super::Frame;
use crate::moment::LoadPhase;
use crate::place::above;
use crate::view::View;
use drumfire_measure::Summary;
use drumfire_report::line::{Ink, Line};
use drumfire_report::screen;
use drumfire_units::rounded;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};

/// The minimum height with tabs.
const TABS_FROM: u16 = 8;
/// The minimum height with a row for thresholds.
const THRESHOLDS_FROM: u16 = 14;
/// The minimum height with a reason in the head.
const REASON_FROM: u16 = 16;
/// The minimum height with two reasons, unless there is a row for thresholds.
const REASONS_FROM: u16 = 24;
/// The height from which the head has two rows for thresholds, and four for reasons.
const TALL: u16 = 32;
/// The minimum width at which a running load has its word.
const WORD_FROM: u16 = 50;

impl Frame<'_> {
    /// Draws the rows that are always visible, and returns the rest of the area.
    ///
    /// The height of the whole frame determines which rows exist. The numbers come before every row
    /// whose existence depends on the run, so that they never move.
    pub(super) fn draw_head(&self, summary: &Summary, area: Rect, buffer: &mut Buffer) -> Rect {
        let style = self.look.style(area.width);
        let width = usize::from(area.width);
        let awaits = self.moment.awaits_answer(summary);
        let doubts = self.doubts(summary, area);
        let answers = match (awaits, area.height >= THRESHOLDS_FROM) {
            (true, _) => self.moment.suspense.line(&style),
            (false, true) => screen::answers(summary, &style),
            (false, false) => screen::answers_with_count(summary, &style),
        };
        let newest = self.moment.newest();
        let backlog = self.moment.backlog;
        let numbers = screen::numbers(summary, newest, backlog, width, &style);
        self.draw_title(summary, area, buffer);
        let (_, mut rest) = above(area, 1);
        for row in std::iter::once(answers).chain(numbers).chain(doubts) {
            let (line, below) = above(rest, 1);
            self.look.line(buffer, (line.x, line.y), line.width, &row);
            rest = below;
        }
        if area.height < TABS_FROM || self.choice.is_help {
            return rest;
        }
        let (tabs, rest) = above(rest, 1);
        self.draw_tabs(summary, tabs, buffer);
        rest
    }

    /// The rows below the numbers: the thresholds, and the reasons of the answers. The help has no
    /// room for them.
    fn doubts(&self, summary: &Summary, area: Rect) -> Vec<Line> {
        if self.choice.is_help {
            return Vec::new();
        }
        let style = self.look.style(area.width);
        let width = usize::from(area.width);
        let rows = match area.height {
            TALL.. => 2,
            THRESHOLDS_FROM.. => 1,
            _ => 0,
        };
        let mut lines = screen::thresholds(summary, rows, width, &style);
        let rows = match area.height {
            TALL.. => 4,
            REASONS_FROM.. if lines.is_empty() => 2,
            REASON_FROM.. => 1,
            _ => 0,
        };
        // What is doubtful before the first answer is the absence of answers.
        if !self.moment.awaits_answer(summary) {
            lines.extend(screen::reasons(summary, rows, width, &style));
        }
        lines
    }

    /// Draws the first row. The state and the clock on the right stay complete; the title is cut if
    /// necessary.
    fn draw_title(&self, summary: &Summary, area: Rect, buffer: &mut Buffer) {
        let style = self.look.style(area.width);
        let moment = self.moment;
        let width = usize::from(area.width);
        let clock = screen::clock(moment.elapsed, moment.load_end, moment.done, width, &style);
        let reversed = self.look.ink(Ink::Bold).add_modifier(Modifier::REVERSED);
        let (word, ink) = match (self.choice.is_frozen, moment.phase) {
            (true, _) => (" frozen ", reversed),
            (false, LoadPhase::Paused) => (" paused ", reversed),
            (false, LoadPhase::Running) if area.width < WORD_FROM => ("", Style::new()),
            (false, phase @ (LoadPhase::WarmUp | LoadPhase::Drain(_))) => {
                (phase.word(), self.look.ink(Ink::Warn))
            }
            (false, phase) => (phase.word(), Style::new()),
        };
        let gap = u16::from(!word.is_empty());
        let right = clock.width() as u16 + word.len() as u16 + gap;
        let right = right.min(area.width);
        let title = area.width.saturating_sub(right + 2);
        let title_line = screen::title(summary, &style);
        self.look.line(buffer, (area.x, area.y), title, &title_line);
        let mut x = area.x + area.width - right;
        x += self.look.text(buffer, (x, area.y), right, word, ink) + gap;
        let room = (area.x + area.width).saturating_sub(x);
        self.look.line(buffer, (x, area.y), room, &clock);
    }

    /// Draws the names of the views with their news, the shown one reversed. If not all names fit,
    /// the other views have only their numbers.
    ///
    /// The scale of time follows them, unless it is the scale of the whole run.
    fn draw_tabs(&self, summary: &Summary, area: Rect, buffer: &mut Buffer) {
        let fits = |labels: &[Label]| {
            let widths = labels.iter().map(Label::width);
            widths.sum::<usize>() <= usize::from(area.width)
        };
        let label = |view: View| self.label(summary, view, view.name());
        let mut labels: Vec<Label> = View::ALL.into_iter().map(label).collect();
        if !fits(&labels) {
            let short = |view: View| match view == self.choice.view {
                true => label(view),
                false => self.label(summary, view, ""),
            };
            labels = View::ALL.into_iter().map(short).collect();
        }
        if !fits(&labels) {
            labels = vec![label(self.choice.view)];
        }
        let mut x = area.x;
        let mut place = |text: &str, style: Style| {
            let room = (area.x + area.width).saturating_sub(x);
            x += self.look.text(buffer, (x, area.y), room, text, style);
        };
        for label in labels {
            place(&label.name, label.style);
            if let Some((news, style)) = label.news {
                place(&news, style);
            }
        }
        let scale = match self.choice.is_recent {
            true => "  last 60 intervals",
            false => "",
        };
        place(scale, self.look.ink(Ink::Dim));
    }

    /// The label of a view.
    fn label(&self, summary: &Summary, view: View, name: &str) -> Label {
        let style = match view == self.choice.view {
            true => self.look.ink(Ink::Bold).add_modifier(Modifier::REVERSED),
            false => self.look.ink(Ink::Plain),
        };
        let number = view.number() + 1;
        let name = match name {
            "" => format!(" {number} "),
            name => format!(" {number} {name} "),
        };
        // False alarms before the first answer are no news.
        let awaits = self.moment.awaits_answer(summary);
        let news = view.news(summary).filter(|_| !awaits).map(|news| {
            let dot = self.look.glyph("●", "*");
            let text = match news.count {
                Some(count) => format!("{dot} {} ", rounded::count(count)),
                None => format!("{dot} "),
            };
            (text, self.look.ink(news.ink))
        });
        Label { name, style, news }
    }
}

/// The label of a view in the tabs.
struct Label {
    name: String,
    style: Style,
    /// The news of the view.
    news: Option<(String, Style)>,
}

impl Label {
    /// The number of columns.
    fn width(&self) -> usize {
        let news = self.news.as_ref();
        self.name.len() + news.map_or(0, |(text, _)| text.chars().count())
    }
}
