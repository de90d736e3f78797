//! A history as text for a terminal.
//!
//! What changed stands first, in sentences. A line for each figure follows, from its first run to
//! its newest, with its changes marked below; then the runs in order. Heights of a line are those
//! between the least and the greatest value, which stand beside it: a change of some percent would
//! be none from 0 on.

use crate::bar::level;
use crate::comparison::{percent, signed, value};
use crate::line::{Ink, Line, labelled};
use crate::listing::Listed;
use crate::quantity::{counted, in_letters};
use crate::secret;
use crate::style::Style;
use crate::table::{Column, Side, Table};
use crate::untrusted::Untrusted;
use drumfire_compare::{Change, Figure, HISTORY_MIN, History, Track};

/// The column at which everything after a label begins.
const LABEL: usize = 9;
/// The columns beside a line of blocks: its label, both ends and what is between them.
const AROUND: usize = LABEL + 32;
/// The most blocks of a line.
const BLOCKS_MAX: usize = 100;

/// The text at the width of the style: what changed, a line for each figure, and the newest `rows`
/// runs. Changes and lines are of all runs, however few of them have a row.
#[must_use]
pub fn text(history: &History<Listed<'_>>, rows: usize, style: &Style) -> String {
    let mut out = String::new();
    for (number, (sentence, ink)) in sentences(history, style).into_iter().enumerate() {
        let label = if number == 0 { "Changes" } else { "" };
        labelled((label, LABEL), &sentence, ink, style, &mut out);
    }
    labelled(
        ("Runs", LABEL),
        &runs_words(history, style),
        Ink::Plain,
        style,
        &mut out,
    );
    if history.runs.is_empty() {
        return out;
    }
    out.push('\n');
    for track in &history.tracks {
        print_track(history, track, style, &mut out);
    }
    out.push('\n');
    let shown = history.runs.len().saturating_sub(rows);
    for line in table(history, shown, style).lines(style.width()) {
        line.print(style, &mut out);
    }
    out
}

/// A sentence for each change, or one that says that there is none.
///
/// The mark and the colour are those of a change for the worse or the better, which for a rate is
/// the other way round than for a latency ([`Change::is_worse`]).
pub(crate) fn sentences(history: &History<Listed<'_>>, style: &Style) -> Vec<(String, Ink)> {
    let changes = history.changes();
    if !changes.is_empty() {
        let sentence = |(figure, change): &(Figure, Change)| {
            let (mark, ink) = match change.is_worse(*figure) {
                true => (style.glyph("✗", "x"), Ink::Bad),
                false => (style.glyph("✓", "+"), Ink::Good),
            };
            (
                format!("{mark} {}", sentence(history, *figure, change, style)),
                ink,
            )
        };
        return changes.iter().map(sentence).collect();
    }
    // With too few runs silence would be read as "no change".
    let none = match history.runs.len() {
        ..HISTORY_MIN => format!("too few runs to show any; at least {HISTORY_MIN} are needed"),
        _ => "none found".to_owned(),
    };
    vec![(none, Ink::Plain)]
}

/// A change in words: the figure, the shift, the run, and the runs that it may have been.
///
/// The grammar follows the sign: a shift above 0 "grew", another "fell", and its size has none.
/// A shift of failures is in points of all requests, every other one is relative to the level
/// before.
fn sentence(
    history: &History<Listed<'_>>,
    figure: Figure,
    change: &Change,
    style: &Style,
) -> String {
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
    let run = run_words(history, change.at, style);
    let (from, to) = change.likely;
    let likely = match from == to {
        true => String::new(),
        false => {
            let [from, to] = [from, to].map(|number| began(history, number, style));
            format!("; with 95 % confidence between {from} and {to}")
        }
    };
    format!("{name} {verb} by {by}{points} at the run from {run}{likely}")
}

/// A run by its time, its tags and its name.
///
/// They are the words by which a reader finds the run again: a tag is what people gave it, the id
/// is what commands take.
fn run_words(history: &History<Listed<'_>>, number: usize, style: &Style) -> String {
    let run = &history.runs[number];
    let shown = |text: &str| Untrusted::new(text).escaped(style.unicode);
    let tags = run.labels.map_or(&[][..], |labels| labels.tags);
    let tags: Vec<String> = tags.iter().map(|tag| shown(tag)).collect();
    let mut words = Vec::new();
    match tags.len() {
        0 => {}
        1 => words.push(format!("tag {}", tags[0])),
        _ => words.push(format!("tags {}", tags.join(" "))),
    }
    words.push(format!("id {}", shown(run.id)));
    format!("{} ({})", began(history, number, style), words.join(", "))
}

/// The time at which a run began, as the listing of runs has it.
fn began(history: &History<Listed<'_>>, number: usize, style: &Style) -> String {
    let began = history.runs[number].began;
    Untrusted::new(began).escaped(style.unicode)
}

/// How many runs there are, from when to when, of which target, and which were left out.
pub(crate) fn runs_words(history: &History<Listed<'_>>, style: &Style) -> String {
    let mut words = counted(history.runs.len() as u64, "run");
    words.push_str(" of one plan");
    if let Some(last) = history.runs.len().checked_sub(1) {
        let [from, to] = [0, last].map(|number| began(history, number, style));
        words.push_str(&format!(", from {from} to {to}"));
    }
    let newest = history.runs.last().and_then(|run| run.run.ok());
    if let Some(run) = newest {
        let target = secret::excerpt(&run.target);
        let target = Untrusted::new(&target).escaped(style.unicode);
        words.push_str(&format!("{}{target}", style.glyph(" · ", ", ")));
    }
    if history.older > 0 {
        let older = counted(history.older as u64, "older run");
        words.push_str(&format!("; {older} left out"));
    }
    for (reason, count) in reasons(history) {
        let count = counted(count, "run");
        words.push_str(&format!("; {count} left out: {reason}"));
    }
    in_letters(&words, style.unicode)
}

/// The reasons for which runs are left out, with their numbers, in the order of the first run of
/// each.
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

/// Prints the line of a figure, and below it the marks of its changes.
fn print_track(history: &History<Listed<'_>>, track: &Track, style: &Style, out: &mut String) {
    let room = style.width().saturating_sub(AROUND);
    let columns = history.runs.len().min(room.clamp(1, BLOCKS_MAX));
    // Of more runs than columns each column has its share, and shows the median of its runs.
    let edge = |column: usize| column * history.runs.len() / columns;
    let medians = (0..columns).map(|column| track.median(edge(column), edge(column + 1)));
    let medians: Vec<Option<f64>> = medians.collect();
    let known = || medians.iter().flatten();
    let least = known().fold(f64::MAX, |least, value| least.min(*value));
    let greatest = known().fold(f64::MIN, |most, value| most.max(*value));
    let block = |value: &Option<f64>| match value {
        None => ' ',
        // A figure that is the same throughout is a line along the bottom.
        Some(value) if greatest > least => {
            level((value - least) / (greatest - least), style.unicode)
        }
        Some(_) => level(0.0, style.unicode),
    };
    let blocks: String = medians.iter().map(block).collect();
    let words = |of: f64| value(track.figure, of, style.unicode);
    let ends = match greatest > least {
        true => format!("{} to {}", words(least), words(greatest)),
        false => words(least),
    };
    let mut line = Line::of(format!("{:LABEL$}", track.figure.name()), Ink::Bold);
    line.push(format!("{blocks}  "), Ink::Plain);
    line.push(ends, Ink::Dim);
    line.print(style, out);
    if track.changes.is_empty() {
        return;
    }
    let mut marks = Line::plain(" ".repeat(LABEL));
    for column in 0..columns {
        // Two changes of one column are one mark: the table below has both.
        let within = |change: &&Change| (edge(column)..edge(column + 1)).contains(&change.at);
        match track.changes.iter().find(within) {
            None => marks.space(1),
            Some(change) => {
                let ink = match change.is_worse(track.figure) {
                    true => Ink::Bad,
                    false => Ink::Good,
                };
                marks.push(style.glyph("▲", "^"), ink);
            }
        }
    }
    marks.print(style, out);
}

/// The runs from the one with this number on, in order, each with what changed at it.
fn table(history: &History<Listed<'_>>, from: usize, style: &Style) -> Table {
    let words = |heading, dispensable| Column {
        heading,
        side: Side::Left,
        dispensable,
    };
    let mut columns = vec![words("id", 0), words("began", 2)];
    for track in &history.tracks {
        columns.push(Column::numbers(track.figure.name(), 1));
    }
    columns.extend([words("changes", 0), words("tags", 3)]);
    let mut table = Table::new(columns);
    let changes = history.changes();
    for (number, run) in history.runs.iter().enumerate().skip(from) {
        let id = Untrusted::new(run.id).escaped(style.unicode);
        let mut row = vec![
            Line::of(id, Ink::Bold),
            Line::plain(began(history, number, style)),
        ];
        row.extend(history.tracks.iter().map(|track| {
            let of_run = track.values[number];
            Line::plain(
                of_run.map_or_else(String::new, |of| value(track.figure, of, style.unicode)),
            )
        }));
        let here = changes.iter().filter(|(_, change)| change.at == number);
        row.push(changed(here, style));
        row.push(tags(run, style));
        table.row(row);
    }
    table
}
/// The changes at one run.
fn changed<'c>(here: impl Iterator<Item = &'c (Figure, Change)>, style: &Style) -> Line {
    let mut line = Line::new();
    for (figure, change) in here {
        if line.width() > 0 {
            line.push(", ", Ink::Plain);
        }
        let ink = match change.is_worse(*figure) {
            true => Ink::Bad,
            false => Ink::Good,
        };
        let shift = signed(change.shift, style);
        line.push(format!("{} {shift}", figure.name()), ink);
    }
    line
}

/// The tags of a run, which people typed: characters that would steer a terminal are escaped.
fn tags(run: &Listed<'_>, style: &Style) -> Line {
    let tags = run.labels.map_or(&[][..], |labels| labels.tags);
    let shown = tags
        .iter()
        .map(|tag| Untrusted::new(tag).escaped(style.unicode));
    Line::plain(shown.collect::<Vec<_>>().join(" "))
}
