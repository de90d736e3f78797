//! `drumfire runs --trend`: the runs of one plan in order of time, and the changes between them.

use super::{LINES_AROUND, LISTED_MIN, rows, style};
use crate::command::plan_file::PlanFile;
use crate::exit::Failure;
use crate::flags::ListFlags;
use crate::output::{Destination, Output};
use crate::stored_run::{began, listed_of};
use crate::{runs_folder, terminal};
use drumfire_compare::HISTORY_MAX;
use drumfire_compile::compile_draft;
use drumfire_measure::{ArrivalClock, Asked, Model, PlanKey};
use drumfire_plan::ClockChoice;
use drumfire_report::history;
use drumfire_store::RunRow;
use std::path::Path;

/// The lines that the head of a history takes on a terminal: the changes, and two lines for each
/// figure.
const HEAD_LINES: usize = 16;

/// Shows the trend of a plan's runs.
pub(super) fn run(given: &str, flags: &ListFlags, output: &Output) -> Result<(), Failure> {
    let to = flags.json.as_ref();
    let to = to
        .map(|file| Destination::check("--json", file))
        .transpose()?;
    let keys = keys(given, output)?;
    let mut rows = rows(output)?;
    // Use the clock of the plan's newest run, because figures of two clocks are not comparable.
    let key = rows
        .iter()
        .filter_map(plan_of)
        .find(|key| keys.contains(key));
    rows.retain(|row| key.is_some() && plan_of(row) == key);
    if rows.is_empty() {
        let shown = given.escape_debug();
        return Err(Failure::usage(format!(
            "no stored run has the load of `{shown}`; `drumfire runs` lists the stored runs"
        )));
    }
    let limit = flags.limit.map_or(HISTORY_MAX, |limit| {
        usize::try_from(limit)
            .unwrap_or(HISTORY_MAX)
            .min(HISTORY_MAX)
    });
    rows.truncate(limit);
    rows.reverse();
    let began: Vec<String> = rows.iter().map(began).collect();
    let listed = rows.iter().zip(&began);
    let history = history::search(listed.map(|(row, began)| listed_of(row, began)));
    if let Some(to) = to {
        return to.write(&history::json(&history));
    }
    let shown = terminal::rows().map_or(usize::MAX, |height| {
        height
            .saturating_sub(LINES_AROUND + HEAD_LINES)
            .max(LISTED_MIN)
    });
    output.print(history::text(&history, shown, &style(output)).as_bytes())
}

fn plan_of(row: &RunRow) -> Option<PlanKey> {
    row.run.as_ref().ok().and_then(|run| run.plan)
}

/// The keys of the given plan's runs. The plan is given by a run or a file.
fn keys(given: &str, output: &Output) -> Result<Vec<PlanKey>, Failure> {
    if Path::new(given).is_file() {
        return keys_of_file(given, output);
    }
    let path = runs_folder::find(given)?;
    let row = RunRow::read(given, &path);
    match row.run {
        Err(error) => Err(Failure::usage(error)),
        Ok(run) => run.plan.map(|key| vec![key]).ok_or_else(|| {
            Failure::usage(format!(
                "{} was stored by an old version that did not record its plan; use a newer run",
                path.display()
            ))
        }),
    }
}

/// The keys of a plan in a file, as its runs have them: with the same secrets masked, and with the
/// requested clock or its substitute.
fn keys_of_file(given: &str, output: &Output) -> Result<Vec<PlanKey>, Failure> {
    let file = PlanFile::read(given)?;
    let host = file.host(output);
    let draft = file.draft(&[], &host, output);
    let plan = compile_draft(&draft, &host).map_err(|found| file.failure(&found))?;
    let masked = |text: &str| output.redactor().text(text).into_owned();
    let pools = plan.pools().iter().map(|pool| {
        let model = match pool.load.is_open() {
            true => Model::Open,
            false => Model::Closed,
        };
        (
            &*pool.name,
            model,
            Asked::from_pool(pool).with_texts(&masked),
        )
    });
    let pools: Vec<_> = pools.collect();
    let facts = || {
        pools
            .iter()
            .map(|(name, model, asked)| (*name, *model, asked))
    };
    let clocks: &[ArrivalClock] = match plan.generator().clock {
        ClockChoice::Wire => &ArrivalClock::ALL,
        ClockChoice::Receive => &[ArrivalClock::Kernel, ArrivalClock::Program],
        ClockChoice::Program => &[ArrivalClock::Program],
    };
    let keys = clocks
        .iter()
        .map(|clock| PlanKey::from_pools(facts(), *clock));
    Ok(keys.collect())
}
