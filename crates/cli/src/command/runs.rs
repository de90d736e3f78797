//! `drumfire runs`.

use super::report::failure;
use crate::exit::{Exit, Failure};
use crate::flags::{PruneFlags, RunsAct};
use crate::output::Output;
use crate::runs_folder;
use drumfire_net::Clock;
use drumfire_store::{Directory, Index, Labels, RunRow};
use drumfire_units::{Nanos, rounded};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::path::PathBuf;

/// Lists the stored runs, or changes what is known of them.
pub(crate) fn run(act: Option<&RunsAct>, output: &Output) -> Result<Exit, Failure> {
    match act {
        None => list(output)?,
        Some(RunsAct::Tag { run, tags, remove }) => {
            if let Some(tag) = tags.iter().find(|tag| tag.contains(char::is_whitespace)) {
                let shown = tag.escape_default();
                return Err(Failure::usage(format!(
                    "`{shown}` has blanks; a tag is a word"
                )));
            }
            label(run, &mut |labels| match remove {
                true => labels.remove_tags(tags),
                false => labels.add_tags(tags.iter().map(String::as_str)),
            })?;
        }
        Some(RunsAct::Note { run, text }) => {
            label(run, &mut |labels| text.clone_into(&mut labels.note))?;
        }
        Some(RunsAct::Rm { runs }) => {
            for run in runs {
                remove(runs_folder::find(run)?)?;
            }
        }
        Some(RunsAct::Prune(flags)) => prune(flags, output)?,
    }
    Ok(Exit::Done)
}

/// The stored runs, the newest first.
fn rows(output: &Output) -> Result<Vec<RunRow>, Failure> {
    let Some(runs) = runs_folder::runs() else {
        return Err(Failure::usage(
            "there is no folder of runs without a home: neither XDG_STATE_HOME nor HOME is set",
        ));
    };
    if !runs.is_dir() {
        return Ok(Vec::new());
    }
    let index = Index::open(&runs_folder::index(&runs), &runs).and_then(|index| index.rows());
    Ok(index.unwrap_or_else(|error| {
        // The directories have all of it; reading them takes longer.
        output.complain(&format!("{error}; the list is read from the runs"));
        RunRow::all(&runs)
    }))
}

fn list(output: &Output) -> Result<(), Failure> {
    let rows = rows(output)?;
    if rows.is_empty() {
        output.remark("no run is stored yet\n");
        return Ok(());
    }
    let head = ["id", "began", "lasted", "target", "verdict", "p99", "tags"];
    let mut table = vec![head.map(str::to_owned)];
    table.extend(rows.iter().map(cells));
    let mut widths = [0; 7];
    for line in &table {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut lines = Vec::new();
    for line in &table {
        let cells = line.iter().zip(widths);
        let cells = cells.map(|(cell, width)| format!("{cell:width$}"));
        let cells: Vec<String> = cells.collect();
        lines.push(cells.join("  ").trim_end().to_owned());
    }
    output.print_foreign(&lines)
}

fn cells(row: &RunRow) -> [String; 7] {
    let verdict = match (&row.error, row.is_whole) {
        (Some(_), _) => "unreadable".to_owned(),
        (None, false) => "cut off".to_owned(),
        (None, true) => row.verdict.clone(),
    };
    let mut said: Vec<&str> = row.labels.tags.iter().map(String::as_str).collect();
    let note = row.labels.note.replace('\n', " ");
    let note = format!("({note})");
    if note.len() > 2 {
        said.push(&note);
    }
    [
        row.id.clone(),
        when(row.started_at_unix_ns),
        rounded::time(row.duration.0 as f64),
        row.target.clone(),
        verdict,
        row.p99
            .map_or_else(|| "-".to_owned(), |p99| rounded::time(p99.0 as f64)),
        said.join(" "),
    ]
}

/// A time as clocks show it here.
fn when(unix_ns: u64) -> String {
    let stamp = Timestamp::from_nanosecond(i128::from(unix_ns)).unwrap_or(Timestamp::UNIX_EPOCH);
    let zoned = stamp.to_zoned(TimeZone::system());
    zoned.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Changes what the user says of a run.
fn label(run: &str, change: &mut dyn FnMut(&mut Labels)) -> Result<(), Failure> {
    let path = runs_folder::find(run)?;
    let mut labels = Labels::read(&path).map_err(failure)?;
    change(&mut labels);
    labels.write(&path).map_err(failure)
}

fn remove(path: PathBuf) -> Result<(), Failure> {
    let directory = Directory::open(&path).map_err(failure)?;
    directory.remove().map_err(failure)
}

/// Deletes the runs that the rule finds, or names them.
fn prune(flags: &PruneFlags, output: &Output) -> Result<(), Failure> {
    let Some(runs) = runs_folder::runs() else {
        return Ok(());
    };
    let now = Clock::unix_time();
    let oldest = match &flags.older_than {
        None => None,
        Some(text) => {
            let wrong = |error| Failure::usage(format!("--older-than: {error}"));
            Some(text.parse::<Nanos>().map_err(wrong)?)
        }
    };
    let keep = flags.keep.unwrap_or(0);
    let rows = rows(output)?
        .into_iter()
        .skip(usize::try_from(keep).unwrap_or(usize::MAX));
    let is_old = |row: &RunRow| {
        let age = Nanos(now.saturating_sub(row.started_at_unix_ns));
        oldest.is_none_or(|oldest| age > oldest)
    };
    let found = rows.filter(|row| row.labels.tags.is_empty() && is_old(row));
    let mut lines = Vec::new();
    for row in found {
        let [id, began, _, target, ..] = cells(&row);
        if flags.yes
            && let Err(error) = remove(runs.join(&row.id))
        {
            // One that is being written, or has other files in it: it stays.
            output.complain(&error.message);
            continue;
        }
        lines.push(format!("{id}  {began}  {target}"));
    }
    output.print_foreign(&lines)?;
    let (count, what) = match (lines.len(), flags.yes) {
        (count, true) => (count, "deleted"),
        (count, false) => (count, "to be deleted with --yes"),
    };
    let runs = match count {
        1 => "run",
        _ => "runs",
    };
    output.remark(&format!("{count} {runs} {what}\n"));
    Ok(())
}
