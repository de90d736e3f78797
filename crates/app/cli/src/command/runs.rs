//! `drumfire runs`.

mod trend;

use super::stored::failure;
use crate::exit::{Exit, Failure};
use crate::flags::{ListFlags, PruneFlags, RunsAct};
use crate::output::{Destination, Output};
use crate::stored_run::{began, listed_of};
use crate::{runs_folder, terminal};
use drumfire_net::Clock;
use drumfire_report::json;
use drumfire_report::run_list::{self, Listed, Surroundings};
use drumfire_report::style::Style;
use drumfire_store::{Directory, Index, Labels, Newest, RunRow};
use drumfire_units::Nanos;
use std::fs;
use std::path::Path;

/// The lines of a terminal around a list: its heading, the prompt and a remark.
const LINES_AROUND: usize = 4;
/// The minimum number of runs in a list, even on a small terminal.
const LISTED_MIN: usize = 5;

/// Lists the stored runs, or changes their labels, or deletes them.
pub(crate) fn run(
    list_flags: &ListFlags,
    act: Option<&RunsAct>,
    output: &Output,
) -> Result<Exit, Failure> {
    match act {
        None => match &list_flags.trend {
            Some(plan) => trend::run(plan, list_flags, output)?,
            None => list(list_flags, output)?,
        },
        Some(RunsAct::Tag { run, tags, remove }) => {
            let is_word = |tag: &String| !tag.is_empty() && !tag.contains(char::is_whitespace);
            if let Some(tag) = tags.iter().find(|tag| !is_word(tag)) {
                let shown = tag.escape_debug();
                return Err(Failure::usage(match tag.as_str() {
                    "" => "the tag is empty; a tag is one word".to_owned(),
                    _ => format!("`{shown}` contains spaces; a tag is one word"),
                }));
            }
            let mut missing = Vec::new();
            label(run, &mut |labels| match remove {
                true => {
                    missing = tags
                        .iter()
                        .filter(|tag| !labels.tags.contains(tag))
                        .collect();
                    labels.remove_tags(tags);
                }
                false => labels.add_tags(tags.iter().map(String::as_str)),
            })?;
            for tag in missing {
                let tag = tag.escape_default();
                output.remark(&format!("the run has no tag `{tag}`\n"));
            }
        }
        Some(RunsAct::Note { run, text }) => {
            label(run, &mut |labels| text.clone_into(&mut labels.note))?;
        }
        Some(RunsAct::Rm { runs, tagged }) => {
            remove_named(runs, *tagged, output)?;
        }
        Some(RunsAct::Prune(flags)) => prune(flags, output)?,
    }
    Ok(Exit::Done)
}

/// The stored runs, newest first.
fn rows(output: &Output) -> Result<Vec<RunRow>, Failure> {
    newest(usize::MAX, output).map(|newest| newest.rows)
}

/// The newest stored runs.
fn newest(limit: usize, output: &Output) -> Result<Newest, Failure> {
    let Some(runs) = runs_folder::runs() else {
        return Err(Failure::usage(
            "no directory for runs: neither XDG_STATE_HOME nor HOME is set",
        ));
    };
    let (newest, error) = Index::newest_of(&runs_folder::index(&runs), &runs, limit);
    if let Some(error) = error {
        output.complain(&format!(
            "{error}; reading the list from the runs themselves"
        ));
    }
    Ok(newest)
}

/// Prints the newest runs: on a terminal, as many as fit.
fn list(flags: &ListFlags, output: &Output) -> Result<(), Failure> {
    let limit = match (flags.limit, &flags.json, terminal::rows()) {
        (Some(limit), ..) => usize::try_from(limit).unwrap_or(usize::MAX),
        (None, None, Some(height)) => height.saturating_sub(LINES_AROUND).max(LISTED_MIN),
        (None, ..) => usize::MAX,
    };
    let Newest { rows, older } = newest(limit, output)?;
    if rows.is_empty() && older == 0 && flags.json.is_none() {
        output.remark("no run is stored yet\n");
        return Ok(());
    }
    let began: Vec<String> = rows.iter().map(began).collect();
    let listed = rows.iter().zip(&began);
    let listed: Vec<Listed<'_>> = listed.map(|(row, began)| listed_of(row, began)).collect();
    if let Some(file) = &flags.json {
        return Destination::check("--json", file)?.write(&json::runs(&listed));
    }
    print(&listed, output)?;
    if older > 0 {
        let all = rows.len() + older;
        let older = counted(older, "older run");
        output.remark(&format!("{older} not shown; --limit {all} shows all\n"));
    }
    Ok(())
}

/// Prints runs as a table.
fn print(listed: &[Listed<'_>], output: &Output) -> Result<(), Failure> {
    let ids = runs_folder::runs().map(|runs| runs_folder::entries(&runs));
    let around = Surroundings {
        now_unix_ns: Clock::unix_time(),
        ids: &ids.unwrap_or_default(),
    };
    output.print(run_list::page(listed, &around, &style(output)).as_bytes())
}

/// The style of a table. Without a terminal, the table may have any width.
fn style(output: &Output) -> Style {
    let style = output.stdout_style();
    match terminal::rows() {
        Some(_) => style,
        None => style.of_width(u16::MAX),
    }
}

/// A count with its noun.
fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

/// Changes the labels of a run.
fn label(run: &str, change: &mut dyn FnMut(&mut Labels)) -> Result<(), Failure> {
    Labels::change(&runs_folder::find(run)?, change).map_err(failure)
}

/// Deletes the runs that the user names, and prints a line for each. Tagged runs stay unless
/// `tagged` is set.
fn remove_named(names: &[String], tagged: bool, output: &Output) -> Result<(), Failure> {
    for name in names {
        let path = runs_folder::find(name)?;
        let row = RunRow::read(name, &path);
        let tags = row.labels.map(|labels| labels.tags.join(" "));
        let kept = match &tags {
            Ok(tags) if tags.is_empty() => None,
            Ok(tags) => Some(format!("it is tagged {tags}")),
            Err(error) => Some(format!("its tags can't be read: {error}")),
        };
        if let Some(reason) = kept.filter(|_| !tagged) {
            return Err(Failure::usage(format!(
                "{} was not deleted, because {reason}; use --tagged to delete it",
                path.display()
            )));
        }
        remove(&path)?;
        output.remark(&format!("{} deleted\n", path.display()));
    }
    Ok(())
}

/// Deletes a run, and the link to it if the run is stored elsewhere.
fn remove(path: &Path) -> Result<(), Failure> {
    Directory::open(path)
        .and_then(Directory::remove)
        .map_err(failure)?;
    if path.is_symlink() {
        let wrong = |error| Failure::failed(format!("can't delete {}: {error}", path.display()));
        fs::remove_file(path).map_err(wrong)?;
    }
    Ok(())
}

/// Deletes the runs that match the rules, or lists them.
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
    let keep = usize::try_from(flags.keep.unwrap_or(0)).unwrap_or(usize::MAX);
    let is_old = |row: &RunRow| {
        let age = row
            .started_at_unix_ns()
            .map(|at| Nanos(now.saturating_sub(at)));
        oldest.is_none_or(|oldest| age.is_some_and(|age| age > oldest))
    };
    let found = rows(output)?.into_iter().skip(keep);
    let (mut found, kept): (Vec<RunRow>, Vec<RunRow>) =
        found.partition(|row| row.may_be_pruned() && is_old(row));
    if flags.yes {
        found.retain(|row| match remove(&runs.join(&row.id)) {
            Ok(()) => true,
            Err(error) => {
                // A run that is being written, or has other files in it, stays.
                output.complain(&error.message);
                false
            }
        });
    }
    let began: Vec<String> = found.iter().map(began).collect();
    let listed = found.iter().zip(&began);
    let listed: Vec<Listed<'_>> = listed.map(|(row, began)| listed_of(row, began)).collect();
    if !listed.is_empty() {
        print(&listed, output)?;
    }
    let what = match flags.yes {
        true => "deleted",
        false => "would be deleted; use --yes to delete",
    };
    output.remark(&format!("{} {what}\n", counted(found.len(), "run")));
    remark_kept(
        kept.iter().filter(|row| row.run.is_err() || is_old(row)),
        output,
    );
    Ok(())
}

/// Prints why runs stay that match a rule of age or number.
fn remark_kept<'a>(kept: impl Iterator<Item = &'a RunRow>, output: &Output) {
    let (mut tagged, mut elsewhere, mut unreadable) = (0, 0, 0);
    for row in kept {
        match (&row.run, &row.labels) {
            (Err(_), _) | (_, Err(_)) => unreadable += 1,
            _ if row.is_elsewhere => elsewhere += 1,
            _ => tagged += 1,
        }
    }
    let kept = [
        (tagged, "tagged"),
        (elsewhere, "stored with -o"),
        (unreadable, "unreadable"),
    ];
    for (count, which) in kept.into_iter().filter(|(count, _)| *count > 0) {
        output.remark(&format!("{} kept: {which}\n", counted(count, "run")));
    }
}
