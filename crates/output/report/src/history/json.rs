//! A history as JSON.

use crate::calendar::rfc3339;
use crate::json::bytes;
use crate::run_list::Listed;
use crate::secret;
use drumfire_compare::contract::HISTORY_SCHEMA;
use drumfire_compare::contract::history::{Change, Document, Figure, LeftOut, Run};
use drumfire_compare::{History, Track};

/// The history as one JSON object, indented, with a line feed at its end.
#[must_use]
pub fn json(history: &History<Listed<'_>>) -> Vec<u8> {
    let newest = history.runs.last().and_then(|run| run.run.ok());
    let left_out = history.left_out.iter();
    let document = Document {
        schema: HISTORY_SCHEMA.to_owned(),
        target: newest.map_or_else(String::new, |run| secret::excerpt(&run.target)),
        runs: history.runs.iter().map(run).collect(),
        left_out: left_out
            .map(|(run, reason)| LeftOut {
                id: run.id.to_owned(),
                reason: (*reason).to_owned(),
            })
            .collect(),
        older: history.older,
        figures: history
            .tracks
            .iter()
            .map(|track| figure(history, track))
            .collect(),
    };
    bytes(&document)
}

/// A figure with its changes, each with the levels on both sides of the change.
fn figure(history: &History<Listed<'_>>, track: &Track) -> Figure {
    let id = |number: usize| history.runs[number].id.to_owned();
    let changes = track.changes.iter().enumerate();
    let changes = changes.map(|(number, change)| {
        let [before, after] = track.levels(number);
        Change {
            run: id(change.at),
            likely_from: id(change.likely.0),
            likely_to: id(change.likely.1),
            before,
            after,
            shift: change.shift,
            p: change.p,
            is_worse: change.is_worse(track.figure),
        }
    });
    Figure {
        name: track.figure.name().to_owned(),
        unit: track.figure.unit().to_owned(),
        values: track.values.clone(),
        changes: changes.collect(),
    }
}

/// The id and the tags of a run; a tag that looks like a secret is masked.
fn run(listed: &Listed<'_>) -> Run {
    let started = listed.run.map(|run| rfc3339(run.started_at_unix_ns));
    let tags = listed.labels.map_or(&[][..], |labels| labels.tags).iter();
    Run {
        id: listed.id.to_owned(),
        started_at: started.unwrap_or_default(),
        tags: tags.map(|tag| secret::setting("", tag)).collect(),
    }
}
