//! The line of a plan file with a mistake, and a mark below the place.
//!
//! Characters that may belong to a secret are replaced by stars, since the line may end up in a log
//! of CI. The rules of [`secret`] are for whole settings; [`own_setting`] and
//! [`with_signs_of_paths`] keep them from starring lines of plans without need.

use crate::line::{Ink, Line};
use crate::style::Style;
use crate::untrusted::is_dangerous;
use drumfire_plan::{nearest, secret};
use unicode_width::UnicodeWidthChar as _;

/// The maximum length of a line, in bytes. The time of the search for secrets grows with the length.
const LINE_MAX: usize = 1 << 16;
/// The minimum width of a line's number, in columns.
const NUMBER: usize = 4;
/// Settings of a plan whose names look like secrets. Their values are words.
const OWN_SETTINGS: [&str; 2] = ["session", "cookies"];
/// The values of these settings, and common mistakes for them.
const OWN_VALUES: [&str; 10] = [
    "shared",
    "user",
    "none",
    "iteration",
    "true",
    "false",
    "yes",
    "no",
    "on",
    "off",
];
/// Replaces an `@` outside of a URL during the search for secrets: a character of the private use
/// area.
const PATH_SIGN: char = '\u{e000}';
/// The number of spaces as which a tab is shown.
const TAB: usize = 2;

/// A place in a line.
#[derive(Clone, Copy, Debug)]
pub struct Spot<'a> {
    /// The text of the whole file.
    pub source: &'a str,
    /// The line, from 1.
    pub line: u64,
    /// The column in characters, from 1; 0 means the whole line.
    pub column: u64,
    /// The value that begins there, and the number of its characters before the mistake, if known.
    pub within: Option<(&'a str, usize)>,
}

/// The line with its number, and a mark below the place. A long line is cut around the mark. The text
/// is safe to print; it is empty if the line does not exist or is longer than 64 KiB.
#[must_use]
pub fn marked_line(spot: &Spot<'_>, style: &Style) -> String {
    let index = usize::try_from(spot.line).unwrap_or(usize::MAX);
    let Some(line) = index
        .checked_sub(1)
        .and_then(|index| spot.source.lines().nth(index))
        .filter(|line| line.len() <= LINE_MAX)
    else {
        return String::new();
    };
    let number = spot.line.to_string();
    let gutter = number.len().max(NUMBER);
    // One star per character, so that columns stay.
    let cut = without_secrets(line);
    let at = mark(line, spot).map(|at| at.min(cut.chars().count().saturating_sub(1)));
    let room = style.width().saturating_sub(gutter + 3).max(10);
    let (shown, before) = window(&cut, at.unwrap_or(0), room, style);
    let bar = style.glyph("│", "|");
    let mut out = String::new();
    Line::single(format!("{number:>gutter$} {bar} "), Ink::Dim)
        .with(shown, Ink::Plain)
        .print(style, &mut out);
    if at.is_some() {
        Line::single(format!("{:>gutter$} {bar} ", ""), Ink::Dim)
            .with(" ".repeat(before), Ink::Plain)
            .with("^", Ink::Bad)
            .print(style, &mut out);
    }
    out
}

/// The line with a star for each character that may belong to a secret, which may continue to the end
/// of the line.
fn without_secrets(line: &str) -> String {
    let mut shown = String::new();
    let line = with_signs_of_paths(line);
    let mut rest = line.as_str();
    while let Some((before, own)) = own_setting(rest) {
        let starred = secret::starred(before);
        let is_starred = starred != before;
        shown.push_str(&starred);
        if is_starred {
            break;
        }
        shown.push_str(own);
        rest = &rest[before.len() + own.len()..];
    }
    if shown.chars().count() < line.chars().count() {
        let tail: String = line.chars().skip(shown.chars().count()).collect();
        let starred = match shown.contains('*') && shown != line {
            true => secret::starred(&format!("secret {tail}"))
                .chars()
                .skip(7)
                .collect(),
            false => secret::starred(&tail),
        };
        shown.push_str(&starred);
    }
    shown.replace(PATH_SIGN, "@")
}

/// The line with [`PATH_SIGN`] for each `@` that begins a word, as in `$[?@.id]` and `//a/@href`.
/// Otherwise it would look like the end of a password in a URL.
fn with_signs_of_paths(line: &str) -> String {
    let mut before = ' ';
    let signs = line.chars().map(|c| {
        let begins = before.is_whitespace() || "'\"/?([!&|,".contains(before);
        before = c;
        if c == '@' && begins { PATH_SIGN } else { c }
    });
    signs.collect()
}

/// The first setting whose name looks like a secret and whose value is one of [`OWN_VALUES`], as in
/// `session: user`; with the text before it.
fn own_setting(line: &str) -> Option<(&str, &str)> {
    let found = OWN_SETTINGS.iter().filter_map(|name| {
        let at = line.find(name)?;
        let is_apart = !line[..at].ends_with(|c: char| c.is_alphanumeric() || "-_.".contains(c));
        let behind = line[at + name.len()..].trim_start_matches('"').trim_start();
        let value = behind.strip_prefix([':', '='])?.trim_start();
        let value = value.trim_start_matches(['"', '\'']);
        let word = value.find(|c: char| !c.is_ascii_alphabetic() && c != '_');
        let word = &value[..word.unwrap_or(value.len())];
        let is_ours = nearest(word, OWN_VALUES).is_some();
        let end = line.len() - value.len() + word.len();
        (is_apart && is_ours).then_some((&line[..at], &line[at..end]))
    });
    found.min_by_key(|(before, _)| before.len())
}

/// The number of characters before the mistake in the line; `None` for the whole line.
fn mark(line: &str, spot: &Spot<'_>) -> Option<usize> {
    let column = usize::try_from(spot.column).ok()?.checked_sub(1)?;
    let rest: String = line.chars().skip(column).collect();
    let Some((text, at)) = spot.within else {
        return Some(column);
    };
    // A value with escapes, or in a block, is marked at its beginning.
    let unquoted = rest.strip_prefix(['"', '\'']);
    match unquoted {
        Some(unquoted) if unquoted.starts_with(text) => Some(column + 1 + at),
        None if rest.starts_with(text) => Some(column + at),
        _ => Some(column),
    }
}

/// The part of the line that fits, around the character with this number, and the number of columns
/// before that character.
fn window(line: &str, at: usize, room: usize, style: &Style) -> (String, usize) {
    let cells: Vec<String> = line.chars().map(cell).collect();
    let width = |cells: &[String]| -> usize { cells.iter().map(|cell| columns(cell)).sum() };
    let ellipsis = style.glyph("…", "...");
    let at = at.min(cells.len());
    let (mut from, mut before) = (0, width(&cells[..at]));
    let is_long = width(&cells) > room;
    while is_long && from < at && before > room / 2 {
        before -= columns(&cells[from]);
        from += 1;
    }
    let head = if from > 0 { ellipsis } else { "" };
    let mut shown = head.to_owned();
    let mut left = room.saturating_sub(2 * columns(ellipsis));
    let mut cells_left = cells[from..].iter();
    for cell in cells_left.by_ref() {
        if columns(cell) > left {
            shown.push_str(ellipsis);
            break;
        }
        left -= columns(cell);
        shown.push_str(cell);
    }
    (shown, columns(head) + before)
}

/// A character as it is shown: a tab as spaces, one that would act on a terminal as `?`.
fn cell(c: char) -> String {
    match c {
        '\t' => " ".repeat(TAB),
        c if is_dangerous(c) => "?".to_owned(),
        c => c.to_string(),
    }
}

/// The number of columns that a text takes.
fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::{Spot, marked_line};
    use crate::style::{Color, Style, Unicode};

    /// The excerpt of the second of three lines.
    fn shown(line: &str, column: u64, within: Option<(&str, usize)>, width: u16) -> String {
        let spot = Spot {
            source: &format!("a: 1\n{line}\nb: 2\n"),
            line: 2,
            column,
            within,
        };
        marked_line(&spot, &Style::new(width, Color::Off, Unicode::Off))
    }

    /// A whole file may be one line.
    #[test]
    fn long_lines_take_no_time_of_note() {
        let line = "x{{a}}@".repeat(8_000);
        let shown_of = |line: &str| shown(line, line.len() as u64, None, 80);
        assert!(shown_of(&line).ends_with("^\n"));
        assert_eq!(shown_of(&line.repeat(2)), "");
    }

    #[test]
    fn the_mark_stands_under_the_place() {
        for (line, column, within, expected) in [
            ("  rate: x", 9, None, "   2 |   rate: x\n     |         ^\n"),
            (
                "  rate: 5/x",
                9,
                Some(("5/x", 2)),
                "   2 |   rate: 5/x\n     |           ^\n",
            ),
            (
                "  rate: '5/x'",
                9,
                Some(("5/x", 2)),
                "   2 |   rate: '5/x'\n     |            ^\n",
            ),
            (
                "  rate: \"5\\x2fx\"",
                9,
                Some(("5/x", 2)),
                "   2 |   rate: \"5\\x2fx\"\n     |         ^\n",
            ),
            (
                "\tä: 日x",
                5,
                Some(("日x", 1)),
                "   2 |   ä: 日x\n     |        ^\n",
            ),
            ("x", 0, None, "   2 | x\n"),
            ("a\u{1b}[31m", 2, None, "   2 | a?[31m\n     |  ^\n"),
            ("", 1, None, "   2 |\n     | ^\n"),
        ] {
            assert_eq!(shown(line, column, within, 80), expected, "{line}");
        }
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let line = format!("a: {}!{}", "x".repeat(100), "y".repeat(100));
        let text = shown(&line, 104, None, 40);
        let lines: Vec<&str> = text.lines().collect();
        let at = lines[1].find('^').expect("a mark");
        assert_eq!(&lines[0][at..=at], "!", "{text}");
        assert!(lines.iter().all(|line| line.len() <= 40), "{text}");
        assert!(
            lines[0].contains("...x") && lines[0].ends_with("y..."),
            "{text}"
        );
    }

    #[test]
    fn a_secret_is_cut_off() {
        let text = shown(
            "  headers: { Authorization: Bearer CANARY, x: }",
            45,
            None,
            80,
        );
        assert!(!text.contains("CANARY"), "{text}");
        assert!(text.contains("Authorization"), "{text}");
        let text = shown("{ session: usr, headers: { Token: CANARY } }", 12, None, 80);
        assert!(text.contains("{ session: usr, headers: { Token"), "{text}");
        assert!(!text.contains("CANARY"), "{text}");
        let paths = "take: { a: css [x] @href, b: '//a/@id', c: '$[?@.n]' }";
        assert!(shown(paths, 3, None, 80).contains(paths), "{text}");
        for line in [
            "proxy: me:CANARY@h",
            "a: \"http://me:CANARY@h/@x\"",
            "session: CANARY",
            "x-session: user CANARY",
            "\"cookies\": CANARY",
        ] {
            assert!(!shown(line, 1, None, 80).contains("CANARY"), "{line}");
        }
    }
}
