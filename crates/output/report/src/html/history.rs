//! The page of a history: the changes in sentences, a picture for each figure, and the runs as a
//! table. Links are relative to the page of all runs.

use super::{Part, data, part, picture, section};
use crate::comparison::signed;
use crate::figure::{Axis, Figure, Mark, Plot, Point, Role, Series, Unit, plot_of};
use crate::history::{changes, runs};
use crate::run_list::{Listed, subject};
use crate::section::{Body, Section};
use crate::style::Unicode;
use crate::untrusted::foreign;
use drumfire_compare::{Figure as Measure, History, Track};

/// The parts of the page, in the order in which they are read.
#[must_use]
pub fn history(history: &History<Listed<'_>>) -> Vec<Part> {
    let mut parts = vec![part("about", |out| {
        out.open("header", &[("id", "about")]);
        let newest = history.runs.iter().rev().find_map(|run| run.run.ok());
        let what = newest.map(|run| foreign(&subject(run), Unicode::On));
        out.element("h1", &[], what.as_deref().unwrap_or("Runs of one plan"));
        if what.is_some() {
            out.element("p", &[("class", "dim")], "The runs of one plan");
        }
        out.close("header");
    })];
    parts.extend(changes(history).as_ref().map(section::part));
    let figures: Vec<Figure> = history.tracks.iter().map(drawn).collect();
    for figure in &figures {
        parts.push(picture(figure));
    }
    parts.extend(linked(history).as_ref().map(section::part));
    parts.push(part("data", |out| data::print(out, &figures)));
    parts
}

/// The table of runs, with a link from each id to the page of its run.
fn linked(history: &History<Listed<'_>>) -> Option<Section> {
    let mut section = runs(history, 0)?;
    // The table of the list of runs has its own layout, by its id.
    section.id = "listed";
    for body in &mut section.bodies {
        if let Body::Table(grid) = body {
            for (row, run) in grid.rows.iter_mut().zip(&history.runs) {
                let id = row.cells[0].clone();
                row.cells[0] = id.linked(format!("run/{}/", run.id));
            }
        }
    }
    Some(section)
}

/// The picture of a figure: a point for each run, the oldest at the left, and a mark at each change.
/// Runs stand at equal distances, since a change happens between two runs. The axis of runs begins
/// at the first; the other begins at 0, so that a change is as high as it is large.
fn drawn(track: &Track) -> Figure {
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
        name: signed(change.shift),
    });
    let values = track.values.iter().flatten().copied();
    let last = track.values.len().max(2) as f64;
    Figure {
        name,
        title: match track.figure {
            Measure::Latency(name, _) => name.to_owned(),
            Measure::Failed => "Failed".to_owned(),
            Measure::Rate => "Rate".to_owned(),
        },
        question,
        x: Axis {
            from: 1.0,
            ..Axis::linear("run", Unit::Count, [last])
        },
        y: Axis::linear(title, unit, values),
        plot: plot_of(
            vec![Series {
                name,
                role: Role::Rank(0),
                points: points.collect(),
            }],
            Plot::Lines,
            "No run has this figure.",
        ),
        marks: marks.collect(),
        note: None,
    }
}
