//! The view of a frame: its texts, and below them its pictures side by side; or one full picture.

use super::Frame;
use crate::chart::{self, Detail};
use crate::choice::Positions;
use crate::place::{below, stack, tiles};
use crate::tile::Tile;
use crate::view::View;
use drumfire_measure::Summary;
use drumfire_report::figure::{Figure, Plot};
use drumfire_report::line::Line;
use drumfire_report::screen;
use drumfire_report::style::Style;
use drumfire_report::text::rows;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

/// The minimum width of a picture with text below its bars.
const COMPANIONS_FROM: u16 = 60;

impl Frame<'_> {
    /// Draws the chosen view.
    ///
    /// Texts get the rows that they need, at most half of the area each, and pictures share the
    /// rest. Returns the positions of the choice, corrected where they were beyond an end.
    pub(super) fn draw_view(
        &self,
        summary: &Summary,
        area: Rect,
        buffer: &mut Buffer,
    ) -> Positions {
        let mut positions = self.choice.positions();
        let step = self.step(summary, area);
        if let Some(number) = self.choice.full {
            let all = self.figures.len().max(1).cast_signed();
            let number = number.rem_euclid(all);
            let detail = Detail {
                of: step.as_deref(),
                cursor: Some(self.choice.cursor),
            };
            positions.full = Some(number);
            if let Some(figure) = self.figures.get(number.cast_unsigned()) {
                positions.cursor = chart::draw(figure, detail, area, buffer, self.look);
            }
            return positions;
        }
        let style = self.look.style(area.width);
        let mut texts = Vec::new();
        if self.choice.view == View::Steps {
            texts.push(self.steps(summary, &style, &mut positions));
        }
        texts.extend(self.choice.view.texts(self.moment, summary, &style));
        let heights = texts.iter().map(|tile| Some(tile.height()));
        let pictures = (!self.figures.is_empty()).then_some(None);
        let heights: Vec<Option<u16>> = heights.chain(pictures).collect();
        let places = stack(area, &heights);
        let drawn = texts
            .iter()
            .zip(&places)
            .map(|(tile, place)| tile.draw(positions.scroll, *place, buffer, self.look));
        positions.scroll = drawn.max().unwrap_or(0);
        if let Some(place) = places.last().filter(|_| pictures.is_some()) {
            self.draw_pictures(summary, step.as_deref(), *place, buffer);
        }
        positions
    }

    /// The name of the step whose pictures are shown.
    fn step(&self, summary: &Summary, area: Rect) -> Option<String> {
        let name = screen::step_name(summary, self.choice.step?, &self.look.style(area.width))?;
        Some(self.look.redactor().text(&name).into_owned())
    }

    /// The table of steps, and the selected one: the one after the moves of the keys. A single step
    /// cannot be selected.
    fn steps(&self, summary: &Summary, style: &Style, positions: &mut Positions) -> Tile {
        let table = screen::steps(summary, self.choice.order, &self.choice.filter, style);
        let selection = self.choice.selected;
        let last = table.places.len().checked_sub(1).filter(|last| *last > 0);
        let selected = last.map(|last| {
            let mut places = table.places.iter();
            let at = places.position(|place| Some(*place) == selection.at);
            let at = at.unwrap_or(0);
            at.saturating_add_signed(selection.moves).min(last)
        });
        positions.selected = selected.and_then(|row| table.places.get(row).copied());
        Tile::Table {
            lines: table.lines,
            selected,
            has_moved: selection.moves != 0,
        }
    }

    /// Draws the pictures that fit, the most important ones first.
    fn draw_pictures(
        &self,
        summary: &Summary,
        step: Option<&str>,
        area: Rect,
        buffer: &mut Buffer,
    ) {
        let view = self.choice.view;
        let most = self.figures.len().min(view.most(area.width));
        let places = tiles(area, most, view.picture_width());
        for (figure, place) in self.figures.iter().zip(places) {
            let detail = Detail {
                of: step.filter(|_| is_of_step(figure)),
                cursor: None,
            };
            let _no_cursor = chart::draw(figure, detail, place, buffer, self.look);
            if let (Plot::Bars(bars), None) = (&figure.plot, step) {
                let bars = u16::try_from(bars.len()).unwrap_or(u16::MAX);
                let used = bars.saturating_add(2).min(place.height);
                let (_, rest) = below(place, place.height - used);
                self.draw_companions(summary, rest, buffer);
            }
        }
    }

    /// Draws the sections that fit below bars, which seldom fill their place.
    fn draw_companions(&self, summary: &Summary, area: Rect, buffer: &mut Buffer) {
        if area.width < COMPANIONS_FROM {
            return;
        }
        let style = self.look.style(area.width);
        let mut lines: Vec<Line> = Vec::new();
        for section in self.choice.view.companions() {
            let section = rows(summary, &[*section], &style);
            let gap = usize::from(!lines.is_empty());
            let fits = lines.len() + gap + section.len() <= usize::from(area.height);
            if !section.is_empty() && fits {
                lines.extend((gap > 0).then(Line::default));
                lines.extend(section);
            }
        }
        for (y, line) in (area.y..).zip(&lines) {
            self.look.line(buffer, (area.x, y), area.width, line);
        }
    }
}

/// Whether a figure has the requests of a chosen step. Others are of the whole run.
fn is_of_step(figure: &Figure) -> bool {
    !matches!(figure.name, "in-flight" | "lag" | "memory" | "failures")
}
