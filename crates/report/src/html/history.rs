//! The page of a history: what changed in sentences, a picture for each figure, and the runs as a
//! table. Links are relative to the page of all runs.
//!
//! The words of changes and of runs are those of the text ([`sentences`],
//! [`runs_words`]), so that terminal and page can't disagree; this file adds places for
//! them, pictures and links. A picture's points are whole runs: the axis counts runs, since the days
//! between two of them say nothing about the plan.

use super::grid::{self, Cell, Grid};
use super::{Part, data, part, picture};
use crate::comparison::{signed, value};
use crate::figure::{Axis, Figure, Mark, Plot, Point, Role, Series, Unit};
use crate::history::{runs_words, sentences};
use crate::line::Ink;
use crate::listing::Listed;
use crate::markup::Markup;
use crate::style::{Style, Unicode};
use drumfire_compare::{Figure as Measure, History, Track};

/// The parts of the page, in the order in which they are read.
#[must_use]
pub fn history(history: &History<Listed<'_>>) -> Vec<Part> {
    let mut parts = vec![part("about", |out| about(out, history))];
    let figures: Vec<Figure> = history.tracks.iter().map(drawn).collect();
    for figure in &figures {
        parts.push(part(figure.name, |out| picture(out, figure)));
    }
    parts.extend(grid::part(&runs(history)));
    parts.push(part("data", |out| data::print(out, &figures)));
    parts
}

/// Appends the heading, the runs that are looked at, and what changed.
fn about(out: &mut Markup, history: &History<Listed<'_>>) {
    let style = Style::default();
    out.open("header", &[("id", "about")]);
    out.element("h1", &[], "Runs of one plan");
    out.element("p", &[("class", "dim")], &runs_words(history, &style));
    for (sentence, ink) in sentences(history, &style) {
        let class = match ink {
            Ink::Bad => "is-bad",
            _ => "",
        };
        // A change is a sentence of its own; that there is none is a fragment behind a label.
        let sentence = match history.has_changes() {
            true => sentence,
            false => format!("Changes: {sentence}."),
        };
        out.element("p", &[("class", class)], &sentence);
    }
    out.close("header");
}

/// A row for each run, the newest first, with what changed at it.
///
/// A figure that a run lacks is an empty cell: too few requests for a quantile are no quantile of 0.
fn runs(history: &History<Listed<'_>>) -> Grid {
    let mut heads = vec!["run".to_owned(), "began".to_owned()];
    let names = history.tracks.iter().map(|track| track.figure.name());
    heads.extend(names.map(str::to_owned));
    heads.extend(["changes".to_owned(), "tags".to_owned()]);
    let changes = history.changes();
    let rows = history.runs.iter().enumerate().rev().map(|(number, run)| {
        let mut row = vec![
            Cell::Text(run.id.to_owned()),
            Cell::Text(run.began.to_owned()),
        ];
        row.extend(history.tracks.iter().map(|track| {
            let of_run = track.values[number];
            Cell::number(of_run.map(|of| value(track.figure, of, Unicode::On)))
        }));
        // Several figures may change at one run; each is named with its own shift.
        let here = changes.iter().filter(|(_, change)| change.at == number);
        let words = here.map(|(figure, change)| {
            format!(
                "{} {}",
                figure.name(),
                signed(change.shift, &Style::default())
            )
        });
        row.push(Cell::Text(words.collect::<Vec<_>>().join(", ")));
        let tags = run.labels.map_or(&[][..], |labels| labels.tags);
        row.push(Cell::Text(tags.join(" ")));
        row
    });
    Grid {
        id: "runs",
        title: "Runs",
        heads,
        rows: rows.collect(),
        explanation: "Each row is a run of the plan, newest first. A change is listed at the first run after \
                      it. A change is listed only if it is unlikely to be chance (5 % for all figures \
                      together) and is at least 2 %; for failures, at least 0.1 % of all requests.",
    }
}

/// The picture of a figure: a point for each run, the oldest on the left, and a mark at each change.
///
/// Runs stand at equal distances and not by their time: a change happens between two runs, however
/// long nothing was run. The axis begins at 0, so that a change is as high as it is large.
fn drawn(track: &Track) -> Figure {
    let style = Style::default();
    let name = track.figure.name();
    let points = track.values.iter().enumerate();
    let points = points.map(|(number, value)| Point {
        x: (number + 1) as f64,
        y: *value,
        is_at_least: false,
    });
    let (title, unit) = match track.figure {
        Measure::Latency(..) => ("latency", Unit::Time),
        Measure::Failed => ("share of requests", Unit::Share),
        Measure::Rate => ("requests per second", Unit::PerSecond),
    };
    let question = match track.figure {
        Measure::Latency(..) => "Did it get slower from run to run?",
        Measure::Failed => "Did more requests fail from run to run?",
        Measure::Rate => "Did the rate change from run to run?",
    };
    let marks = track.changes.iter().map(|change| Mark {
        x: (change.at + 1) as f64,
        name: signed(change.shift, &style),
    });
    let values = track.values.iter().flatten().copied();
    Figure {
        name,
        title: match track.figure {
            Measure::Latency(name, _) => name.to_owned(),
            Measure::Failed => "Failed".to_owned(),
            Measure::Rate => "Rate".to_owned(),
        },
        question,
        x: Axis::linear("run", Unit::Count, [track.values.len() as f64]),
        y: Axis::linear(title, unit, values),
        plot: Plot::Lines(vec![Series {
            name: name.to_owned(),
            role: Role::Rank(0),
            points: points.collect(),
        }]),
        marks: marks.collect(),
        note: None,
    }
}
