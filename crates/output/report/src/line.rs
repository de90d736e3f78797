//! A line of text whose pieces have inks. Text and ink are separate until the line is printed, so
//! that a line can be measured, cut and padded. Texts must be escaped before they become a piece
//! ([`crate::untrusted`]).

use crate::style::{Color, Style};
use unicode_width::UnicodeWidthStr;

/// The way in which a piece of text stands out, by its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ink {
    /// The terminal's own colour and weight.
    #[default]
    Plain,
    /// A heading, or the number to look at first.
    Bold,
    /// Less important text.
    Dim,
    /// Good news: the best answer, a rule that holds.
    Good,
    /// A doubt: the figures may be right, but the reader should know something.
    Warn,
    /// Bad news: failures, and rules that do not hold.
    Bad,
}

impl Ink {
    /// The SGR parameters of an ink, from the sixteen colours that every theme keeps readable.
    const fn sgr(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Bold => Some("1"),
            Self::Dim => Some("2"),
            Self::Good => Some("32"),
            Self::Warn => Some("33"),
            Self::Bad => Some("31"),
        }
    }
}

/// A line: pieces of text, each with its ink.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line(Vec<(String, Ink)>);

impl Line {
    /// An empty line.
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// A line of one piece.
    pub(crate) fn single(text: impl Into<String>, ink: Ink) -> Self {
        Self::new().with(text, ink)
    }

    /// Plain text.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::single(text, Ink::Plain)
    }

    /// The line with one more piece.
    pub(crate) fn with(mut self, text: impl Into<String>, ink: Ink) -> Self {
        self.push(text, ink);
        self
    }

    /// Appends a piece.
    pub(crate) fn push(&mut self, text: impl Into<String>, ink: Ink) {
        self.0.push((text.into(), ink));
    }

    /// Appends all of another line.
    pub(crate) fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Appends spaces.
    pub(crate) fn space(&mut self, columns: usize) {
        if columns > 0 {
            self.push(" ".repeat(columns), Ink::Plain);
        }
    }

    /// The pieces from left to right.
    pub fn pieces(&self) -> impl Iterator<Item = (&str, Ink)> {
        self.0.iter().map(|(text, ink)| (text.as_str(), *ink))
    }

    /// The text of all pieces, without ink.
    #[must_use]
    pub fn text(&self) -> String {
        self.0.iter().map(|(text, _)| text.as_str()).collect()
    }

    /// The number of columns that the line takes; wide characters take two.
    #[must_use]
    pub fn width(&self) -> usize {
        self.0.iter().map(|(text, _)| text.width()).sum()
    }

    /// Removes the blanks at its end.
    pub(crate) fn trim_end(&mut self) {
        while let Some((text, _)) = self.0.last_mut() {
            text.truncate(text.trim_end().len());
            if !text.is_empty() {
                break;
            }
            self.0.pop();
        }
    }

    /// Appends the line to `out`, cut to the page's width, without trailing blanks, with a line
    /// feed.
    pub(crate) fn print(mut self, style: &Style, out: &mut String) {
        self.clip(style.width(), style.glyph("…", "~"));
        self.print_whole(style, out);
    }

    /// Appends the line to `out`, however long it is, without trailing blanks, with a line feed.
    pub(crate) fn print_whole(mut self, style: &Style, out: &mut String) {
        self.trim_end();
        for (text, ink) in &self.0 {
            match (style.color, ink.sgr()) {
                (Color::On, Some(sgr)) if !text.is_empty() => {
                    out.extend(["\u{1b}[", sgr, "m", text, "\u{1b}[0m"]);
                }
                _ => out.push_str(text),
            }
        }
        out.push('\n');
    }

    /// Cuts the line at `columns`. A cut line ends with `mark`.
    pub fn clip(&mut self, columns: usize, mark: &str) {
        if self.width() <= columns {
            return;
        }
        let mut room = columns.saturating_sub(mark.width());
        for at in 0..self.0.len() {
            let (text, _) = &mut self.0[at];
            let width = text.width();
            if width <= room {
                room -= width;
                continue;
            }
            let kept = fitting(text, room);
            text.truncate(kept);
            text.push_str(mark);
            self.0.truncate(at + 1);
            return;
        }
    }
}

/// The number of bytes of `text` that fit into `columns`, in whole characters.
fn fitting(text: &str, columns: usize) -> usize {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    ends.take_while(|&end| text[..end].width() <= columns)
        .last()
        .unwrap_or(0)
}

/// Breaks prose into lines of at most `columns`, at spaces. A word that is longer than a line is
/// broken. Empty prose has no lines.
pub(crate) fn wrap(prose: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in words(prose) {
        if !line.is_empty() && line.width() + 1 + word.width() > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        let mut rest = word;
        while rest.width() > columns {
            let first = rest.chars().next().map_or(0, char::len_utf8);
            let (head, tail) = rest.split_at(fitting(rest, columns).max(first));
            lines.push(head.to_owned());
            rest = tail;
        }
        line.push_str(rest);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// The words of prose. A figure and its unit are one word.
fn words(prose: &str) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    let mut from = 0;
    for space in prose
        .match_indices(' ')
        .map(|(at, _)| at)
        .chain([prose.len()])
    {
        let word = &prose[from..space];
        let rest = prose.get(space + 1..).unwrap_or_default();
        let next = rest.split([' ', ',', ';', ':', ')']).next();
        let is_figure = word.ends_with(|c: char| c.is_ascii_digit());
        if is_figure && next.is_some_and(|next| UNITS.contains(&next)) {
            continue;
        }
        if !word.is_empty() {
            words.push(word);
        }
        from = space + 1;
    }
    words
}

/// Units that stay on the line of the figure before them.
const UNITS: [&str; 9] = ["%", "ns", "µs", "us", "ms", "s", "min", "h", "MB"];

/// Packs items into lines of at most `columns`, with `separator` between them. An item that is
/// longer than a line is broken if it has one ink, and is cut when it is printed otherwise.
pub(crate) fn flow(items: Vec<Line>, separator: &str, columns: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut line = Line::new();
    for item in items {
        let mut pieces = broken(item, columns);
        let Some(item) = pieces.pop() else {
            continue;
        };
        if !pieces.is_empty() && line.width() > 0 {
            lines.push(std::mem::take(&mut line));
        }
        lines.append(&mut pieces);
        if line.width() > 0 && line.width() + separator.width() + item.width() > columns {
            lines.push(std::mem::take(&mut line));
        }
        if line.width() > 0 {
            line.push(separator, Ink::Dim);
        }
        line.append(item);
    }
    if line.width() > 0 {
        lines.push(line);
    }
    lines
}

/// An item in pieces that fit, if it has one ink. An item of several inks is a number with its
/// name.
fn broken(item: Line, columns: usize) -> Vec<Line> {
    match item.0.as_slice() {
        [(text, ink)] if text.width() > columns => {
            let pieces = wrap(text, columns).into_iter();
            pieces.map(|piece| Line::single(piece, *ink)).collect()
        }
        _ => vec![item],
    }
}

/// A text aligned at the right of this many columns.
pub(crate) fn right(text: &str, columns: usize, ink: Ink) -> Line {
    let text = Line::single(text, ink);
    let mut line = Line::new();
    line.space(columns.saturating_sub(text.width()));
    line.append(text);
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Unicode;

    fn printed(line: Line, style: &Style) -> String {
        let mut out = String::new();
        line.print(style, &mut out);
        out
    }

    #[test]
    fn colour_surrounds_and_never_counts() {
        let line = Line::single("bad", Ink::Bad).with(" news  ", Ink::Plain);
        assert_eq!(line.width(), 10);
        let colored = Style::new(80, Color::On, Unicode::On);
        assert_eq!(
            printed(line.clone(), &colored),
            "\u{1b}[31mbad\u{1b}[0m news\n"
        );
        assert_eq!(printed(line, &Style::default()), "bad news\n");
    }

    #[test]
    fn nothing_is_wider_than_the_page() {
        let narrow = Style::new(40, Color::Off, Unicode::On);
        let line = Line::plain("日本".repeat(15)).with("tail", Ink::Bold);
        let shown = printed(line, &narrow);
        assert!(
            shown.trim_end().width() <= 40 && shown.ends_with("…\n"),
            "{shown}"
        );
    }

    #[test]
    fn prose_breaks_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrap("20.5 %) of 3 s; so", 8), ["20.5 %)", "of 3 s;", "so"]);
        assert_eq!(wrap("", 4), Vec::<String>::new());
        assert_eq!(wrap("日本", 1), ["日", "本"]);
    }

    #[test]
    fn items_stay_whole_unless_they_are_longer_than_a_line() {
        for (items, expected) in [
            (&["aa", "bb", "cc"][..], &["aa, bb", "cc"][..]),
            (&["aa", "b cc dd e", "f"], &["aa", "b cc", "dd e", "f"]),
            (&["a b c d", "e"], &["a b c", "d, e"]),
        ] {
            let items = items.iter().map(|item| Line::plain(*item)).collect();
            let lines = flow(items, ", ", 6).into_iter();
            let shown: Vec<String> = lines.map(|line| line.text()).collect();
            assert_eq!(shown, expected);
        }
    }
}
