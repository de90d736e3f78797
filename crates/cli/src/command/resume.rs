//! `drumfire resume`.

use super::plan_file::PlanFile;
use super::report::failure;
use super::results::{Destinations, shown};
use crate::exit::{Exit, Failure};
use crate::flags::ResumeFlags;
use crate::intervals::IntervalOutputs;
use crate::metering::Metering;
use crate::session::{self, Beside, Watch};
use crate::storing::{self, Storing};
use crate::{document, runs_folder, terminal};
use drumfire_compile::compile_draft;
use drumfire_engine::Control;
use drumfire_measure::{Figures, RunEvent};
use drumfire_plan::{Done, Plan, rest};
use drumfire_store::{Directory, Record};
use drumfire_units::Nanos;

/// Goes on with the rest of a stored run's plan, and writes the results of the whole.
pub(crate) fn run(flags: &ResumeFlags) -> Result<Exit, Failure> {
    let outputs = document::resume_outputs(flags)?;
    let destinations = Destinations::of(&outputs)?;
    let path = runs_folder::find(&flags.report.run)?;
    let directory = Directory::open(&path).map_err(failure)?;
    let record = Record::read(&path).map_err(failure)?;
    let plan = rest_of(&PlanFile::of_stored(&path)?, &record)?;
    let naming = storing::naming_of(&record);
    let mut watch = Watch::new(&plan, shown(&outputs), flags.report.color).naming(naming);
    let mut intervals = IntervalOutputs::open(&outputs)?;
    let mut observe = |event: &RunEvent, control: &Control| {
        watch.observe(event, control);
        intervals.observe(event);
    };
    let beside = Beside {
        storing: Some(Storing::resumed(directory, record)),
        metering: Metering::open(&outputs)?,
    };
    session::execute_beside(plan, &[], beside, &mut |_| {}, &mut observe)?;
    // Lines on standard output stand above the report.
    let streamed = intervals.finish();
    let summary = storing::stored(Record::read(&path).map_err(failure)?);
    let style = terminal::stdout_style(flags.report.color).naming(naming);
    destinations.write(&summary, flags.report.explain, &style)?;
    streamed?;
    Ok(session::exit_of(&summary, flags.report.strict))
}

/// What is left of a stored plan.
fn rest_of(file: &PlanFile, record: &Record) -> Result<Plan, Failure> {
    let host = file.host();
    let draft = file.draft(&[], &host);
    let plan = compile_draft(&draft, &host).map_err(|found| file.failure(&found))?;
    let ends = record.parts.iter().map(|part| part.end);
    let elapsed = ends.fold(Nanos::ZERO, |sum, end| sum + end);
    let done: Vec<Done> = record.summary.pools().map(|(_, pool)| done(pool)).collect();
    let part = record.parts.len() as u64;
    rest(plan, elapsed, &done, part).map_err(Failure::usage)
}

/// How far a pool has come, those under way included.
fn done(figures: &Figures) -> Done {
    let requests = figures.counts.sent.saturating_add(figures.warmup.sent);
    Done {
        requests,
        iterations: match &figures.iterations {
            Some(iterations) => iterations.counts.sent,
            None => requests,
        },
    }
}
