//! One run from a plan to its summary: limits of the machine, signals, and the live display.

pub(crate) mod certificates;
mod describe;
pub(crate) mod message;
pub(crate) mod remote;
mod signals;
mod watch;

pub(crate) use signals::ignores_hangup;
pub(crate) use watch::{Shown, Watch};

use crate::exit::{Exit, Failure};
use crate::metering::Metering;
use crate::names;
use crate::output;
use crate::storing::{self, Keeper, Storing};
use certificates::Certificates;
use drumfire_engine::{Control, PrepareError, Prepared, Run, RunError, Shares, prepare};
use drumfire_measure::{Remedy, RunEvent, RunInfo, Summary, Validity};
use drumfire_net::raise_descriptor_limit;
use drumfire_plan::{Growth, Plan, StopReason};
use drumfire_store::Recording;
use drumfire_units::rounded;
use remote::Remote;
use signals::Signals;
use std::sync::Arc;

/// Descriptors that the program needs beside its connections.
const DESCRIPTORS_SPARE: u64 = 64;

/// Of a limit lower than that, the part that connections may still have: one in so many.
const DESCRIPTORS_PART: u64 = 4;

/// A further remedy for a name that has no address.
pub(crate) const RESOLVE: &str = ", or give an address with --resolve HOST:PORT:ADDRESS";

/// A report's note on a run that a signal ended.
const INTERRUPTED: &str = "a signal ended the run before its plan did";

/// A report's note on a run that a command ended.
const COMMANDED: &str = "a command ended the run before its plan did";

/// A report's note on a run that a threshold ended.
const ABORTED: &str = "a threshold ended the run before its plan did";

/// Runs a plan, whose report has these notes. `begun` receives the facts of the run, `observe` its
/// events with the run's control.
pub(crate) fn execute(
    plan: Plan,
    notes: &[String],
    begun: &mut dyn FnMut(&Arc<RunInfo>),
    observe: &mut dyn FnMut(&RunEvent, &Control),
) -> Result<Arc<Summary>, Failure> {
    execute_beside(plan, notes, Beside::default(), begun, observe)
}

/// What goes on beside a run.
#[derive(Default)]
pub(crate) struct Beside {
    /// Where it is stored.
    pub(crate) storing: Option<Storing>,
    /// Where its metrics go.
    pub(crate) metering: Option<Metering>,
}

/// The same of a run with something beside it.
pub(crate) fn execute_beside(
    plan: Plan,
    notes: &[String],
    beside: Beside,
    begun: &mut dyn FnMut(&Arc<RunInfo>),
    observe: &mut dyn FnMut(&RunEvent, &Control),
) -> Result<Arc<Summary>, Failure> {
    let prepared = prepare(plan, Arc::new(names::resolve)).map_err(unprepared)?;
    check_descriptors(&prepared)?;
    let prepared = Arc::new(prepared);
    let signals = Signals::watch()
        .map_err(|error| Failure::failed(format!("can't watch for signals: {error}")))?;
    let mut info = describe::info(&prepared);
    info.notes.splice(0..0, notes.iter().cloned());
    let recording = match beside.storing {
        None => None,
        Some(storing) => recording(storing, &mut info)?,
    };
    let info = Arc::new(info);
    begun(&info);
    let shares = Shares::all(&prepared.plan);
    let (facts, mut changes) = (Arc::clone(&info), Vec::new());
    let run = Run::start(Arc::clone(&prepared), info, shares).map_err(failure)?;
    // The first observer misses nothing, however late it comes.
    let keeper = recording.map(|recording| Keeper::start(recording, run.events()));
    let keeper = keeper.transpose()?;
    let metering = beside.metering;
    let meter = metering.map(|metering| metering.start(&facts, run.events()));
    let meter = meter.transpose()?;
    let control = run.control();
    signals.end(control.clone());
    let _remote = match Remote::open(Arc::clone(&facts), control.clone()) {
        Ok(remote) => Some(remote),
        Err(error) => {
            changes.push(format!("drumfire ctl could not reach this run: {error}"));
            None
        }
    };
    let _certificates = Certificates::watch(&prepared, control.clone())
        .map_err(|error| Failure::failed(format!("can't watch certificates: {error}")))?;
    let mut stopped = None;
    for event in run.events() {
        match &event {
            RunEvent::Stopping { reason } => {
                stopped.get_or_insert(*reason);
            }
            RunEvent::Changed(command) => changes.push(remote::note(command, &facts)),
            _ => {}
        }
        observe(&event, &control);
    }
    let limit = connections_max();
    let summary = within_limits(run.join().map_err(failure)?, limit);
    changes.extend(match stopped {
        Some(StopReason::Signal) => Some(INTERRUPTED.to_owned()),
        Some(StopReason::Threshold) => Some(ABORTED.to_owned()),
        Some(StopReason::Command) => Some(COMMANDED.to_owned()),
        _ => None,
    });
    if let Some(meter) = meter {
        let before = signals.count();
        changes.extend(meter.finish(&|| signals.count() > before));
    }
    let summary = noted(summary, changes);
    match keeper.map(|keeper| keeper.finish(&summary, limit)) {
        Some(Err(error)) => Ok(noted(summary, vec![storing::note(&error)])),
        _ => Ok(summary),
    }
}

/// Begins to store a run. Where it can't be stored and nobody asked for that, its notes say so.
fn recording(storing: Storing, info: &mut RunInfo) -> Result<Option<Recording>, Failure> {
    let is_named = storing.is_named();
    match storing.begin(info) {
        Ok(recording) => Ok(Some(recording)),
        Err(error) if is_named => Err(Failure::failed(format!("-o: {error}"))),
        Err(error) => {
            let note = format!("the run is not stored: {error}");
            output::complain(&note);
            info.notes.push(note);
            Ok(None)
        }
    }
}

/// Why a plan can't be run on this machine.
fn unprepared(error: PrepareError) -> Failure {
    match error {
        PrepareError::Resolve { .. } => Failure::failed(error).with_remedy(RESOLVE),
        PrepareError::Guarded { ref host, .. } => Failure::usage(&error).with_remedy(format!(
            "; if it is yours to load, add --i-own-this-target, or write `{}` into {}",
            host.escape_default(),
            names::allowed_file()
                .map_or_else(|| "a list".to_owned(), |path| path.display().to_string())
        )),
        PrepareError::Source { .. } => Failure::usage(format!("--source-ip: {error}")),
        PrepareError::Tls(reason) => Failure::usage(format!("{}: {reason}", reason.flag())),
        _ => Failure::usage(error),
    }
}

/// Why a run could not take place: the plan's fault, or the system's.
fn failure(error: RunError) -> Failure {
    match error {
        RunError::Schedule(_) => Failure::usage(error),
        RunError::Driver(_) | RunError::Thread(_) => Failure::failed(error),
    }
}

/// The summary with these notes more.
fn noted(summary: Arc<Summary>, notes: Vec<String>) -> Arc<Summary> {
    if notes.is_empty() {
        return summary;
    }
    let mut summary = Arc::unwrap_or_clone(summary);
    Arc::make_mut(&mut summary.info).notes.extend(notes);
    Arc::new(summary)
}

/// The summary with remedies that the limit of open files allows: where it has no room for more
/// connections, it is what to raise.
pub(crate) fn within_limits(summary: Arc<Summary>, limit: Option<u64>) -> Arc<Summary> {
    let Some(limit) = limit else {
        return summary;
    };
    let raised = |remedy: &Remedy| match *remedy {
        Remedy::Connections(connections) if connections > limit => Some(Remedy::Descriptors {
            connections,
            descriptors: connections.saturating_add(DESCRIPTORS_SPARE),
        }),
        _ => None,
    };
    let reasons = &summary.load.reasons;
    let mut remedies = reasons.iter().flat_map(|reason| &reason.remedies);
    if !remedies.any(|remedy| raised(remedy).is_some()) {
        return summary;
    }
    let mut summary = Arc::unwrap_or_clone(summary);
    let reasons = summary.load.reasons.iter_mut();
    for remedy in reasons.flat_map(|reason| &mut reason.remedies) {
        *remedy = raised(remedy).unwrap_or(*remedy);
    }
    Arc::new(summary)
}

/// The exit code that a summary deserves.
pub(crate) fn exit_of(summary: &Summary, strict: bool) -> Exit {
    let counts = &summary.total.counts;
    if summary.thresholds.iter().any(|threshold| !threshold.passed) {
        Exit::Threshold
    } else if strict && (summary.verdict.validity != Validity::Valid || !summary.load.kept) {
        Exit::NotStrict
    } else if counts.ok == 0 {
        Exit::Failed
    } else {
        Exit::Done
    }
}

/// How many connections this process may have open at a time, where they are opened as they are
/// needed; `None` is no limit.
pub(crate) fn connections_max() -> Option<u64> {
    let spared = |limit: u64| limit.saturating_sub(DESCRIPTORS_SPARE);
    raise_descriptor_limit().map(|limit| spared(limit).max(limit / DESCRIPTORS_PART))
}

/// Finds out before the run whether every connection that it begins with can have its descriptor.
fn check_descriptors(prepared: &Prepared) -> Result<(), Failure> {
    let pools = prepared.pools.iter();
    let ahead = pools.filter(|pool| pool.pool().connections.growth == Growth::Ahead);
    let connections =
        ahead.map(|pool| u64::from(pool.pool().connections.count) * pool.targets() as u64);
    let connections = connections.sum::<u64>();
    let needed = connections + DESCRIPTORS_SPARE;
    match raise_descriptor_limit() {
        Some(limit) if limit < needed && connections > 0 => Err(Failure::usage(format!(
            "{} connections need {} file descriptors, and this process may open {}; raise the limit \
             (ulimit -n {needed}) or lower -c",
            rounded::count(connections),
            rounded::count(needed),
            rounded::count(limit)
        ))),
        _ => Ok(()),
    }
}
