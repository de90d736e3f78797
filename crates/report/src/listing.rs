//! A list of runs: a row for each, with the three answers.
//!
//! It is made from digests, so that a list of thousands reads no histogram. A run whose record
//! can't be read keeps its row, with the word `unreadable` in the place of its figures: a list that
//! left it out would hide the loss.
//!
//! [`page`] prints the list for a terminal. Its cells ([`cells`], [`labels`]) are those of the list
//! in a browser too, which takes them as lines with inks, so that both lists have the same words
//! and colours.

use crate::line::{Ink, Line};
use crate::quantity::{latency, latency_at_least, share, share_of, span};
use crate::secret;
use crate::style::{Style, Unicode};
use crate::table::{Column, Side, Table};
use crate::untrusted::Untrusted;
use drumfire_measure::{Coverage, Digest, TargetState, Validity};
use drumfire_units::rounded;

/// The least number of characters of a target, which a narrow page leaves it.
const TARGET_LEAST: usize = 16;
/// The greatest number of characters of a target.
pub(crate) const TARGET_MOST: usize = 60;

/// A run in a list: its digest, its labels, and the facts that only the folder of runs knows.
/// Record and labels are read apart, and either may be unreadable alone.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// The name by which commands know it.
    pub id: &'a str,
    /// The beginning, as clocks show it here; empty where it is not known.
    pub began: &'a str,
    /// Its tags and the note on it, or why they can't be read.
    pub labels: Result<Labelled<'a>, &'a str>,
    /// Its figures, or why its record can't be read.
    pub run: Result<&'a Digest, &'a str>,
    /// The exit code that it ended with, `--strict` apart; `None` of a run without an end.
    pub exit: Option<u8>,
    /// Whether its directory lies outside of the folder of runs, by `-o`.
    pub is_elsewhere: bool,
}

/// The user's words on a run.
#[derive(Clone, Copy, Debug)]
pub struct Labelled<'a> {
    /// Words by which runs are found.
    pub tags: &'a [String],
    /// A text of any kind.
    pub note: &'a str,
}

/// The runs as a table, in the order given.
///
/// Where the page is narrow, targets are cut short first, since most of a list's targets begin
/// alike, and only then columns are left out.
#[must_use]
pub fn page(runs: &[Listed<'_>], style: &Style) -> String {
    let width = style.width();
    let whole = table(runs, style, TARGET_MOST).lines(usize::MAX);
    let widest = whole.iter().map(Line::width).max().unwrap_or(0);
    let targets = runs.iter().filter_map(|run| run.run.ok());
    let longest = targets.map(|run| run.target.chars().count()).max();
    let longest = longest.unwrap_or(0).min(TARGET_MOST);
    let room = longest.saturating_sub(widest.saturating_sub(width));
    let mut out = String::new();
    for line in table(runs, style, room.max(TARGET_LEAST)).lines(width) {
        line.print(style, &mut out);
    }
    out
}

/// The whole table, with `room` for each target. The answers stay whatever gives way, for they are
/// what a list is read for; the id stays since commands need it.
fn table(runs: &[Listed<'_>], style: &Style, room: usize) -> Table {
    let words = |heading, dispensable| Column {
        heading,
        side: Side::Left,
        dispensable,
    };
    let mut table = Table::new([
        Column::names("id"),
        words("began", 4),
        Column::numbers("lasted", 8),
        words("target", 2),
        words("run", 0),
        words("load", 1),
        words("answers", 1),
        words("rules", 3),
        Column::numbers("exit", 6),
        Column::numbers("rate", 7),
        Column::numbers("failed", 3),
        Column::numbers("p99", 5),
        words("tags", 7),
    ]);
    for listed in runs {
        let mut row = vec![
            Line::of(Untrusted::new(listed.id).escaped(style.unicode), Ink::Bold),
            Line::plain(listed.began),
        ];
        match listed.run {
            Ok(run) => row.extend(cells(run, listed.exit, style, room)),
            Err(_) => {
                row.extend([Line::new(), Line::new()]);
                row.push(Line::of("unreadable", Ink::Bad));
                row.extend(std::iter::repeat_n(Line::new(), 7));
            }
        }
        row.push(labels(listed, style));
        table.row(row);
    }
    table
}

/// The cells of a run's figures, from its length to its p99: those of the columns between `began`
/// and `tags`. A run without an end is `cut off`, whatever its figures say of it, since its books
/// were closed where its log ends; one that was resumed and came to its end has its answer.
pub(crate) fn cells(run: &Digest, exit: Option<u8>, style: &Style, room: usize) -> [Line; 10] {
    let unicode = style.unicode;
    let (tick, cross) = (style.glyph("✓", "+"), style.glyph("✗", "x"));
    let target = target(&secret::url(&run.target), room, style);
    let (word, ink) = match (run.coverage.has_end(), run.validity) {
        (false, _) => ("cut off", Ink::Warn),
        (true, Validity::Valid) => ("valid", Ink::Good),
        (true, Validity::Suspect) => ("suspect", Ink::Warn),
        (true, Validity::Invalid) => ("invalid", Ink::Bad),
    };
    let validity = match run.coverage {
        Coverage::Resumed => Line::of(format!("{word} (resumed)"), ink),
        Coverage::Whole | Coverage::Begun => Line::of(word, ink),
    };
    let load = match run.load_kept {
        true => Line::of("kept", Ink::Good),
        false => Line::of(format!("{} sent", share_of(run.sent_share)), Ink::Bad),
    };
    let state = match run.target_state {
        TargetState::Ok => Ink::Good,
        TargetState::Unknown => Ink::Dim,
        TargetState::Behind | TargetState::Degraded => Ink::Warn,
        TargetState::Failed => Ink::Bad,
    };
    let rules = match (run.thresholds_failed, run.thresholds) {
        (_, 0) => Line::new(),
        (0, all) => Line::of(format!("{tick} {all}"), Ink::Good),
        (failed, all) => Line::of(format!("{cross} {failed} of {all}"), Ink::Bad),
    };
    let failed = match run.failed {
        0 => Line::of("0 %", Ink::Dim),
        failed => Line::of(share(failed, run.requests), Ink::Bad),
    };
    let p99 = match run.latency.p99 {
        None => String::new(),
        Some(p99) if p99.is_at_least => latency_at_least(p99.time, unicode),
        Some(p99) => latency(p99.time, unicode),
    };
    [
        Line::plain(span(run.duration, unicode)),
        Line::plain(target),
        validity,
        load,
        Line::of(run.target_state.name(), state),
        rules,
        Line::plain(exit.map_or_else(String::new, |code| code.to_string())),
        Line::plain(rounded::rate(run.achieved_per_s)),
        failed,
        Line::plain(p99),
    ]
}

/// A target, escaped, of at most `room` characters, which is at least 3. Targets of a list differ in
/// their ends most often: where there is no room, the scheme goes first and then the middle. The cut
/// is made before the text is escaped, so that an escape is never halved.
fn target(url: &str, room: usize, style: &Style) -> String {
    let shown = |text: &str| Untrusted::new(text).escaped(style.unicode);
    if url.chars().count() <= room {
        return shown(url);
    }
    let bare = url.split_once("://").map_or(url, |(_, bare)| bare);
    let length = bare.chars().count();
    if length <= room {
        return shown(bare);
    }
    let (mark, width) = match style.unicode {
        Unicode::On => ("…", 1),
        Unicode::Off => ("..", 2),
    };
    let head = (room - width) / 3;
    let tail = room - width - head;
    let begin: String = bare.chars().take(head).collect();
    let end: String = bare.chars().skip(length - tail).collect();
    format!("{}{mark}{}", shown(&begin), shown(&end))
}

/// Tags, and the note in brackets. Labels are read apart from the record, and either may be lost
/// alone.
pub(crate) fn labels(listed: &Listed<'_>, style: &Style) -> Line {
    let shown = |text: &str| Untrusted::new(text).escaped(style.unicode);
    let mut words = Vec::new();
    match listed.labels {
        Ok(labels) => {
            words.extend(labels.tags.iter().map(|tag| shown(tag)));
            if !labels.note.is_empty() {
                words.push(format!("({})", shown(&labels.note.replace('\n', " "))));
            }
        }
        Err(_) => words.push("(labels unreadable)".to_owned()),
    }
    Line::plain(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Color;

    /// The scheme is the same in most rows, and the path's end is what differs.
    #[test]
    fn a_target_is_cut_where_it_says_least() {
        let target = |room, unicode| {
            let style = Style::new(80, Color::Off, unicode);
            target("http://127.0.0.1:8080/orders?delay=30ms", room, &style)
        };
        for (room, shown) in [
            (39, "http://127.0.0.1:8080/orders?delay=30ms"),
            (38, "127.0.0.1:8080/orders?delay=30ms"),
            (32, "127.0.0.1:8080/orders?delay=30ms"),
            (31, "127.0.0.1:…80/orders?delay=30ms"),
            (16, "127.0…delay=30ms"),
            (3, "…ms"),
        ] {
            assert_eq!(target(room, Unicode::On), shown);
        }
        assert_eq!(target(16, Unicode::Off), "127...delay=30ms");
        let hostile = super::target("http://h/\u{1b}[2J/abcdefghijkl", 12, &Style::default());
        assert_eq!(hostile, "h/\\x1b…efghijkl");
    }
}
