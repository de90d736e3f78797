//! A page of text: rows behind labels in a gutter, and rows of the full width.
//!
//! Every row is cut to the page's width when it is appended. Rows that must not be cut are wrapped
//! before, to [`Page::room`] beside a label and to [`Page::block_room`] in a block.

use crate::line::{Ink, Line, flow, wrap};
use crate::quantity::in_letters;
use crate::style::Style;
use crate::untrusted::Untrusted;

/// The choice between a page of numbers and one whose parts are explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Explain {
    /// The numbers alone.
    No,
    /// A dim sentence under each part.
    Yes,
}

/// The width of the gutter. A narrow page has none, and a label has a line of its own.
const GUTTER: usize = 13;
/// The width of a page from which on there is a gutter.
const GUTTER_FROM: usize = 60;
/// The indent of rows where there is no gutter.
const INDENT: usize = 2;

/// A page in the making.
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

    /// The width of rows under a label.
    pub(crate) const fn room(&self) -> usize {
        self.style.width() - self.inset()
    }

    /// The width of rows of a block.
    pub(crate) const fn block_room(&self) -> usize {
        self.style.width() - INDENT
    }

    /// The indent of rows under a label.
    const fn inset(&self) -> usize {
        if self.style.width() < GUTTER_FROM {
            INDENT
        } else {
            GUTTER
        }
    }

    /// Rows beside their label, which stands before the first of them. Without rows there is no
    /// label either.
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

    /// A heading on a line of its own, and rows under it that take the page's whole width.
    pub(crate) fn block(&mut self, heading: Line, rows: impl IntoIterator<Item = Line>) {
        self.append(heading);
        for row in rows {
            let mut line = Line::new();
            line.space(INDENT);
            line.append(row);
            self.append(line);
        }
    }

    /// Lines that take the page's whole width.
    pub(crate) fn lines(&mut self, lines: impl IntoIterator<Item = Line>) {
        for line in lines {
            self.append(line);
        }
    }

    /// Whether parts are explained, for printers that then show more.
    pub(crate) fn explains(&self) -> bool {
        self.explain == Explain::Yes
    }

    /// An explanation of the part above, with `--explain`; nothing otherwise, so that printers call
    /// it always.
    pub(crate) fn explain(&mut self, sentence: &str) {
        if self.explain == Explain::Yes {
            self.aside(sentence);
        }
    }

    /// A dim sentence under the part above.
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

    /// An empty line, unless the page is empty or ends in one: parts that print nothing leave no
    /// hole. It is called before a part, since nothing can tell whether another follows.
    pub(crate) fn gap(&mut self) {
        if self.rows.last().is_some_and(|row| row.width() > 0) {
            self.rows.push(Line::new());
        }
    }
}
