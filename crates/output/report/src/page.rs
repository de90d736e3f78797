//! A page of text: rows behind labels in a gutter, and rows of the full width.
//!
//! Every row is cut to the page's width when it is appended. Rows that must not be cut are wrapped
//! before, to [`Page::room`] beside a label and to [`Page::block_room`] in a block.

use crate::line::{Ink, Line, flow, wrap};
use crate::quantity::in_letters;
use crate::style::Style;
use crate::untrusted::Untrusted;

/// Whether sections have explanations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Explain {
    /// No explanations.
    No,
    /// A dim sentence below each section.
    Yes,
}

/// The width of the gutter. On a narrow page there is no gutter, and a label stands above its rows.
const GUTTER: usize = 13;
/// The minimum width of a page with a gutter.
const GUTTER_FROM: usize = 60;
/// The indent of rows without a gutter.
const INDENT: usize = 2;

/// A page that grows.
pub(crate) struct Page<'a> {
    /// The look of the page.
    pub(crate) style: &'a Style,
    explain: Explain,
    rows: Vec<Line>,
}

impl<'a> Page<'a> {
    /// An empty page.
    pub(crate) const fn new(style: &'a Style, explain: Explain) -> Self {
        Self {
            style,
            explain,
            rows: Vec::new(),
        }
    }

    /// The finished text.
    pub(crate) fn finish(self) -> String {
        let mut text = String::new();
        for row in self.rows {
            row.print_whole(self.style, &mut text);
        }
        text
    }

    /// The finished rows, none of which is wider than the page.
    pub(crate) fn into_rows(self) -> Vec<Line> {
        self.rows
    }

    /// Appends a row, cut to the page's width.
    fn append(&mut self, mut row: Line) {
        row.clip(self.style.width(), self.style.glyph("…", "~"));
        self.rows.push(row);
    }

    /// The width of rows beside a label.
    pub(crate) const fn room(&self) -> usize {
        self.style.width() - self.inset()
    }

    /// The width of rows of a block.
    pub(crate) const fn block_room(&self) -> usize {
        self.style.width() - INDENT
    }

    /// The indent of rows beside a label.
    const fn inset(&self) -> usize {
        if self.style.width() < GUTTER_FROM {
            INDENT
        } else {
            GUTTER
        }
    }

    /// Rows beside their label. Without rows there is no label.
    pub(crate) fn part(&mut self, label: &str, rows: impl IntoIterator<Item = Line>) {
        let mut label = Some(label);
        for row in rows {
            let mut line = Line::new();
            if let Some(label) = label.take() {
                line.push(label, Ink::Bold);
                if self.inset() < GUTTER {
                    self.append(std::mem::take(&mut line));
                }
            }
            line.space(self.inset() - line.width().min(self.inset()));
            line.append(row);
            self.append(line);
        }
    }

    /// Items beside their label, on as many lines as they need.
    pub(crate) fn items(&mut self, label: &str, items: Vec<Line>) {
        let separator = self.style.glyph(" · ", ", ");
        let rows = flow(items, separator, self.room());
        self.part(label, rows);
    }

    /// A heading in its own line, and indented rows below it.
    pub(crate) fn block(&mut self, heading: Line, rows: impl IntoIterator<Item = Line>) {
        self.append(heading);
        for row in rows {
            let mut line = Line::new();
            line.space(INDENT);
            line.append(row);
            self.append(line);
        }
    }

    /// Rows of the full width.
    pub(crate) fn lines(&mut self, lines: impl IntoIterator<Item = Line>) {
        for line in lines {
            self.append(line);
        }
    }

    /// Whether sections have explanations.
    pub(crate) fn explains(&self) -> bool {
        self.explain == Explain::Yes
    }

    /// An explanation of the section above, if the page has explanations.
    pub(crate) fn explain(&mut self, sentence: &str) {
        if self.explain == Explain::Yes {
            self.aside(sentence);
        }
    }

    /// A dim sentence below the section.
    pub(crate) fn aside(&mut self, sentence: &str) {
        let sentence = in_letters(sentence, self.style.unicode);
        let sentence = Untrusted::new(&sentence).escaped(self.style.unicode);
        for text in wrap(&sentence, self.block_room()) {
            let mut line = Line::new();
            line.space(INDENT);
            line.push(text, Ink::Dim);
            self.append(line);
        }
    }

    /// An empty line, unless the page is empty or ends with one. Call it before a section.
    pub(crate) fn gap(&mut self) {
        if self.rows.last().is_some_and(|row| row.width() > 0) {
            self.rows.push(Line::new());
        }
    }
}
