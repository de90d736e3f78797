//! A history in words and tables: what changed, a line for each figure, and the runs in order.

use crate::bar::level;
use crate::comparison::{percent, signed, value};
use crate::grid::{Cell, Column, Grid};
use crate::line::Ink;
use crate::quantity::counted;
use crate::run_list::{self, Listed};
use crate::secret;
use crate::style::Unicode;
use crate::untrusted::Untrusted;
use drumfire_compare::{Change, Figure, HISTORY_MIN, History};

/// A sentence for each change, with its mark and colour; one sentence without changes.
pub(super) fn sentences(history: &History<Listed<'_>>) -> Vec<(String, Ink)> {
    let changes = history.changes();
    if !changes.is_empty() {
        let sentence = |(figure, change): &(Figure, Change)| {
            let (mark, ink) = match change.is_worse(*figure) {
                true => ("✗", Ink::Bad),
                false => ("✓", Ink::Good),
            };
            (
                format!("{mark} {}", sentence(history, *figure, change)),
                ink,
            )
        };
        return changes.iter().map(sentence).collect();
    }
    // Silence would mean "no change".
    let none = match history.runs.len() {
        ..HISTORY_MIN => format!("too few runs to show any; at least {HISTORY_MIN} are needed"),
        _ => "none found".to_owned(),
    };
    vec![(none, Ink::Plain)]
}

/// A change in words: the figure, the shift, the run, and the runs that are as likely. A shift of
/// failures is in points of all requests; any other shift is relative to the level before.
fn sentence(history: &History<Listed<'_>>, figure: Figure, change: &Change) -> String {
    let name = match figure {
        Figure::Failed => "the share of failures",
        Figure::Latency(name, _) => name,
        Figure::Rate => "the rate",
    };
    let verb = if change.shift > 0.0 { "grew" } else { "fell" };
    let by = percent(change.shift.abs());
    let points = match figure {
        Figure::Failed => " of all requests",
        Figure::Latency(..) | Figure::Rate => "",
    };
    let run = run_words(history, change.at);
    let (from, to) = change.likely;
    let likely = match from == to {
        true => String::new(),
        false => {
            let [from, to] = [from, to].map(|number| began(history, number));
            format!("; with 95 % confidence between {from} and {to}")
        }
    };
    format!("{name} {verb} by {by}{points} at the run from {run}{likely}")
}

/// A run by its time, its tags and its id.
fn run_words(history: &History<Listed<'_>>, number: usize) -> String {
    let run = &history.runs[number];
    let shown = |text: &str| Untrusted::new(text).escaped(Unicode::On);
    let tags = run.labels.map_or(&[][..], |labels| labels.tags);
    let tags: Vec<String> = tags.iter().map(|tag| shown(tag)).collect();
    let mut words = Vec::new();
    match tags.len() {
        0 => {}
        1 => words.push(format!("tag {}", tags[0])),
        _ => words.push(format!("tags {}", tags.join(" "))),
    }
    words.push(format!("id {}", shown(run.id)));
    format!("{} ({})", began(history, number), words.join(", "))
}

/// The time at which a run began.
fn began(history: &History<Listed<'_>>, number: usize) -> String {
    let began = history.runs[number].began;
    Untrusted::new(began).escaped(Unicode::On)
}

/// The number of runs, their times, the target, and the runs that were left out.
pub(super) fn runs_words(history: &History<Listed<'_>>) -> String {
    let mut words = counted(history.runs.len() as u64, "run");
    words.push_str(" of one plan");
    if let Some(last) = history.runs.len().checked_sub(1) {
        let [from, to] = [0, last].map(|number| began(history, number));
        words.push_str(&format!(", from {from} to {to}"));
    }
    let newest = history.runs.last().and_then(|run| run.run.ok());
    if let Some(run) = newest {
        let target = secret::excerpt(&run.target);
        let target = Untrusted::new(&target).escaped(Unicode::On);
        words.push_str(&format!(" · {target}"));
    }
    if history.older > 0 {
        let older = counted(history.older as u64, "older run");
        words.push_str(&format!("; {older} left out"));
    }
    for (reason, count) in reasons(history) {
        let count = counted(count, "run");
        words.push_str(&format!("; {count} left out: {reason}"));
    }
    words
}

/// The reasons for which runs were left out, with their numbers, in the order of their first runs.
fn reasons(history: &History<Listed<'_>>) -> Vec<(&'static str, u64)> {
    let mut reasons: Vec<(&'static str, u64)> = Vec::new();
    for (_, reason) in &history.left_out {
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    reasons
}

/// A line of blocks for each figure, from its first run to its newest, with marks at its changes
/// below, and the least and the greatest value beside it. Heights are between these two: a change of
/// some percent would be invisible from 0.
pub(super) fn tracks(history: &History<Listed<'_>>, columns: usize, unicode: Unicode) -> Grid {
    let columns = history.runs.len().min(columns);
    let mut rows = Vec::new();
    for track in &history.tracks {
        // With more runs than columns, a column shows the median of its runs.
        let edge = |column: usize| column * history.runs.len() / columns;
        let medians = (0..columns).map(|column| track.median(edge(column), edge(column + 1)));
        let medians: Vec<Option<f64>> = medians.collect();
        let known = || medians.iter().flatten();
        let least = known().fold(f64::MAX, |least, value| least.min(*value));
        let greatest = known().fold(f64::MIN, |most, value| most.max(*value));
        let block = |median: &Option<f64>| match median {
            None => ' ',
            Some(value) if greatest > least => level((value - least) / (greatest - least), unicode),
            Some(_) => level(0.0, unicode),
        };
        let ends = match greatest > least {
            true => format!(
                "{} to {}",
                value(track.figure, least),
                value(track.figure, greatest)
            ),
            false => value(track.figure, least),
        };
        let blocks = medians.iter().map(block).collect::<String>();
        rows.push(
            vec![
                Cell::new(track.figure.name()).inked(Ink::Bold),
                Cell::pieces(vec![(blocks, Ink::Plain)]),
                Cell::new(ends).inked(Ink::Dim),
            ]
            .into(),
        );
        if !track.changes.is_empty() {
            let marks = (0..columns).map(|column| {
                // Two changes in one column are one mark.
                let within = edge(column)..edge(column + 1);
                let mut changes = track.changes.iter();
                match changes.find(|change| within.contains(&change.at)) {
                    None => (" ".to_owned(), Ink::Plain),
                    Some(change) => ("▲".to_owned(), ink(change.is_worse(track.figure))),
                }
            });
            rows.push(vec![Cell::new(""), Cell::pieces(marks.collect()), Cell::new("")].into());
        }
    }
    let columns = ["", "", ""].map(|heading| Column::words(heading, 0));
    Grid::new(columns.into(), rows)
}

/// The colour of a change.
const fn ink(is_worse: bool) -> Ink {
    if is_worse { Ink::Bad } else { Ink::Good }
}

/// The runs from the one with this number, in order, each with its changes.
pub(super) fn runs(history: &History<Listed<'_>>, from: usize) -> Grid {
    let mut columns = vec![Column::words("id", 0), Column::words("began", 2)];
    let figures = history.tracks.iter().map(|track| track.figure.name());
    columns.extend(figures.map(|name| Column::numbers(name, 1)));
    columns.extend([Column::words("changes", 0), Column::words("tags", 3)]);
    let changes = history.changes();
    let rows = history
        .runs
        .iter()
        .enumerate()
        .skip(from)
        .map(|(number, run)| {
            let mut cells = vec![
                Cell::new(run.id).inked(Ink::Bold),
                Cell::new(began(history, number)),
            ];
            cells.extend(history.tracks.iter().map(|track| {
                let of_run = track.values[number];
                let text = of_run.map(|of| value(track.figure, of));
                Cell::new(text.unwrap_or_default()).numbered(of_run)
            }));
            let here = changes.iter().filter(|(_, change)| change.at == number);
            let mut pieces = Vec::new();
            for (figure, change) in here {
                if !pieces.is_empty() {
                    pieces.push((", ".to_owned(), Ink::Plain));
                }
                let words = format!("{} {}", figure.name(), signed(change.shift));
                pieces.push((words, ink(change.is_worse(*figure))));
            }
            cells.push(Cell::pieces(pieces));
            cells.push(run_list::tags(run));
            cells.into()
        });
    Grid::new(columns, rows)
}
