//! The list of stored runs: a row for each, with the three answers.
//!
//! Rows are made from digests, so that a list of thousands reads no histogram. A run whose record
//! can't be read keeps its row, with the word `unreadable`.

use crate::grid::{Cell, Column, Grid, Row};
use crate::line::Ink;
use crate::quantity::{latency, latency_at_least, share, share_of};
use crate::secret;
use crate::style::{Style, Unicode};
use crate::table;
use drumfire_measure::{Coverage, Digest, TargetState, Validity};

/// The minimum number of characters of a target on a narrow page.
const TARGET_LEAST: usize = 16;
/// The maximum number of characters of a target.
const TARGET_MOST: usize = 60;

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

/// The runs as a table on a terminal, in the given order. On a narrow page, targets are cut first,
/// and only then columns are left out.
#[must_use]
pub fn page(runs: &[Listed<'_>], style: &Style) -> String {
    let lines = |room, width| table::lines(&grid(runs, room), Some("id"), width, style);
    let whole = lines(TARGET_MOST, usize::MAX).into_iter();
    let widest = whole.map(|line| line.width()).max().unwrap_or(0);
    let targets = runs.iter().filter_map(|run| run.run.ok());
    let longest = targets.map(|run| run.target.chars().count()).max();
    let longest = longest.unwrap_or(0).min(TARGET_MOST);
    let room = longest.saturating_sub(widest.saturating_sub(style.width()));
    let mut out = String::new();
    for line in lines(room.max(TARGET_LEAST), style.width()) {
        line.print(style, &mut out);
    }
    out
}

/// The table of the whole list, for a page in a browser.
pub(crate) fn whole(runs: &[Listed<'_>]) -> Grid {
    grid(runs, TARGET_MOST)
}

/// The table, with `room` characters for each target. The answers stay, since a list is read for
/// them; the id stays, since commands need it.
fn grid(runs: &[Listed<'_>], room: usize) -> Grid {
    let columns = vec![
        Column::words("id", 0),
        Column::words("began", 4),
        Column::numbers("lasted", 8),
        Column::words("target", 2),
        Column::words("run", 0),
        Column::words("load", 1),
        Column::words("answers", 1),
        Column::words("rules", 3),
        Column::numbers("exit", 6),
        Column::numbers("rate", 7),
        Column::numbers("failed", 3),
        Column::numbers("p99", 5),
        Column::words("tags", 7),
    ];
    let rows = runs.iter().map(|listed| {
        let mut cells = vec![
            Cell::new(listed.id).inked(Ink::Bold),
            Cell::new(listed.began),
        ];
        match listed.run {
            Ok(run) => cells.extend(figures(run, listed.exit, room)),
            Err(_) => {
                let unreadable = Cell::new("unreadable").inked(Ink::Bad);
                let empty = || std::iter::repeat_with(|| Cell::new(""));
                cells.extend(empty().take(2).chain([unreadable]).chain(empty().take(7)));
            }
        }
        cells.push(labels(listed));
        Row::from(cells)
    });
    Grid::new(columns, rows)
}

/// The cells of a run's figures, from its length to its p99. A run without an end is `cut off`,
/// whatever its figures are, since its log ends early; a run that was resumed has its answer.
fn figures(run: &Digest, exit: Option<u8>, room: usize) -> [Cell; 10] {
    let (word, ink) = match (run.coverage.has_end(), run.validity) {
        (false, _) => ("cut off", Ink::Warn),
        (true, Validity::Valid) => ("valid", Ink::Good),
        (true, Validity::Suspect) => ("suspect", Ink::Warn),
        (true, Validity::Invalid) => ("invalid", Ink::Bad),
    };
    let validity = match run.coverage {
        Coverage::Resumed => format!("{word} (resumed)"),
        Coverage::Whole | Coverage::Begun => word.to_owned(),
    };
    let load = match run.load_kept {
        None => Cell::new("not judged").inked(Ink::Dim),
        Some(true) => Cell::new("kept").inked(Ink::Good),
        Some(false) => Cell::new(format!("{} sent", share_of(run.sent_share))).inked(Ink::Bad),
    };
    let state = match run.target_state {
        TargetState::Ok => Ink::Good,
        TargetState::Unknown => Ink::Dim,
        TargetState::Behind | TargetState::Degraded => Ink::Warn,
        TargetState::Failed => Ink::Bad,
    };
    let rules = match (run.thresholds_failed, run.thresholds) {
        (_, 0) => Cell::new(""),
        (0, all) => Cell::new(format!("✓ {all}")).inked(Ink::Good),
        (failed, all) => Cell::new(format!("✗ {failed} of {all}")).inked(Ink::Bad),
    };
    let failed = match run.failed {
        0 => Cell::new("0 %").inked(Ink::Dim),
        failed => Cell::new(share(failed, run.requests)).inked(Ink::Bad),
    };
    let p99 = run.latency.p99.map(|p99| match p99.is_at_least {
        true => latency_at_least(p99.time, Unicode::On),
        false => latency(p99.time, Unicode::On),
    });
    [
        Cell::span(run.duration),
        Cell::foreign(target(&secret::url(&run.target), room)),
        Cell::new(validity).inked(ink),
        load,
        Cell::new(run.target_state.name()).inked(state),
        rules,
        Cell::new(exit.map_or_else(String::new, |code| code.to_string())),
        Cell::rate(run.achieved_per_s),
        failed,
        Cell::new(p99.unwrap_or_default()),
    ]
}

/// A target of at most `room` characters, which is at least 3. The scheme is cut first and then the
/// middle, since targets differ most often in their ends.
fn target(url: &str, room: usize) -> String {
    if url.chars().count() <= room {
        return url.to_owned();
    }
    let bare = url.split_once("://").map_or(url, |(_, bare)| bare);
    let length = bare.chars().count();
    if length <= room {
        return bare.to_owned();
    }
    let head = (room - 1) / 3;
    let begin = bare.chars().take(head);
    let end = bare.chars().skip(length - (room - 1 - head));
    begin.chain(['…']).chain(end).collect()
}

/// The tags, and the note in brackets. Labels are read separately from the record.
fn labels(listed: &Listed<'_>) -> Cell {
    let Ok(labels) = listed.labels else {
        return Cell::new("(labels unreadable)");
    };
    let note = labels.note.replace('\n', " ");
    let note = (!note.is_empty()).then(|| format!("({note})"));
    let words: Vec<String> = labels.tags.iter().cloned().chain(note).collect();
    Cell::new(words.join(" "))
}

/// The tags alone.
pub(crate) fn tags(listed: &Listed<'_>) -> Cell {
    let tags = listed.labels.map_or(&[][..], |labels| labels.tags);
    Cell::new(tags.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_cut_where_it_says_least() {
        let target = |room| target("http://127.0.0.1:8080/orders?delay=30ms", room);
        for (room, shown) in [
            (39, "http://127.0.0.1:8080/orders?delay=30ms"),
            (38, "127.0.0.1:8080/orders?delay=30ms"),
            (32, "127.0.0.1:8080/orders?delay=30ms"),
            (31, "127.0.0.1:…80/orders?delay=30ms"),
            (16, "127.0…delay=30ms"),
            (3, "…ms"),
        ] {
            assert_eq!(target(room), shown);
        }
        let hostile = Cell::foreign(super::target("http://h/\u{1b}[2J/abcdefghijkl", 12));
        assert_eq!(hostile.text(Unicode::On), "h/\\x1b…efghijkl");
        assert_eq!(hostile.text(Unicode::Off), "h/\\x1b~efghijkl");
    }
}
