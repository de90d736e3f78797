//! The summary as a person reads it on a terminal: every section of the report, from the top of the
//! page to its end. The golden files of the tests are whole pages.

mod last;

use crate::line::{Ink, Line, wrap};
use crate::page::{Explain, Page};
use crate::section::{Body, Facts, Form, PageExtent, Section};
use crate::style::Style;
use crate::table;
use crate::untrusted::Untrusted;
use drumfire_measure::Summary;

pub use crate::section::RunSection;
pub use last::{last_lines, one_line};

/// The summary of a run as text. No line is wider than the style's width.
#[must_use]
pub fn summary(summary: &Summary, style: &Style) -> String {
    whole(summary, Page::new(style, Explain::No))
}

/// The summary of a run as text, with an explanation below each section.
#[must_use]
pub fn summary_explained(summary: &Summary, style: &Style) -> String {
    whole(summary, Page::new(style, Explain::Yes))
}

/// Some sections as rows with their inks, for a screen. No row is wider than the style's width.
#[must_use]
pub fn rows(summary: &Summary, parts: &[RunSection], style: &Style) -> Vec<Line> {
    let mut page = Page::new(style, Explain::No);
    // A screen shows bodies in other rows.
    let extent = PageExtent {
        example: 0,
        ..PageExtent::terminal(style.naming, false)
    };
    fill(summary, parts, &extent, &mut page);
    page.into_rows()
}

/// The whole page.
fn whole(summary: &Summary, mut page: Page<'_>) -> String {
    let extent = PageExtent {
        // The rows of a body are indented.
        body: page.room().saturating_sub(2),
        ..PageExtent::terminal(page.style.naming, page.explains())
    };
    fill(summary, &RunSection::ALL, &extent, &mut page);
    let mut text = page.finish();
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// Appends sections, each after an empty line.
fn fill(summary: &Summary, parts: &[RunSection], extent: &PageExtent, page: &mut Page<'_>) {
    let sections = parts
        .iter()
        .filter_map(|part| part.section(summary, extent));
    sections.for_each(|section| print(&section, page));
}

/// Sections as text.
pub(crate) fn printed(sections: &[Section], style: &Style) -> String {
    let mut page = Page::new(style, Explain::No);
    sections
        .iter()
        .for_each(|section| print(section, &mut page));
    page.finish()
}

/// Appends a section after an empty line.
fn print(section: &Section, page: &mut Page<'_>) {
    page.gap();
    for body in &section.bodies {
        match body {
            Body::Table(grid) => {
                page.gap();
                let width = page.style.width();
                page.lines(table::lines(grid, Some(section.title), width, page.style));
            }
            Body::List(label, grid) => {
                page.part(label, table::lines(grid, None, page.room(), page.style));
            }
            Body::Facts(facts) => print_facts(facts, page),
            Body::Text(name, lines) => {
                let escaped = |text: &str| Untrusted::new(text).escaped(page.style.unicode);
                let lines = lines.iter().map(|line| format!("  {}", escaped(line)));
                let lines = lines.map(Line::plain);
                let name = Line::single(escaped(name), Ink::Dim);
                let lines: Vec<Line> = std::iter::once(name).chain(lines).collect();
                page.part("", lines);
            }
        }
    }
    for remark in &section.remarks {
        page.aside(remark);
    }
    page.explain(&section.explanation);
}

/// Appends facts beside their label.
fn print_facts(facts: &Facts, page: &mut Page<'_>) {
    let style = page.style;
    let items = facts.items.iter();
    let rows = match facts.form {
        Form::Items => {
            let items = items.map(|item| item.line(style.unicode)).collect();
            return page.items(facts.label, items);
        }
        Form::Lines => items
            .flat_map(|item| {
                let lines = wrap(&item.text(style.unicode), page.room());
                let lines = lines.into_iter().map(|line| Line::single(line, item.ink));
                lines.collect::<Vec<Line>>()
            })
            .collect::<Vec<Line>>(),
        Form::Bullets => items
            .flat_map(|item| {
                let lines = wrap(&item.text(style.unicode), page.room() - 2);
                let lines = lines.into_iter().enumerate().map(|(number, line)| {
                    let bullet = match number {
                        0 => style.glyph("· ", "- "),
                        _ => "  ",
                    };
                    Line::single(bullet, item.ink).with(line, Ink::Plain)
                });
                lines.collect::<Vec<Line>>()
            })
            .collect(),
    };
    page.part(facts.label, rows);
}
