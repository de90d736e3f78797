//! One run from a plan to its summary: limits of the machine, signals, and what is shown meanwhile.

mod describe;
mod watch;

pub(crate) use watch::Watch;

use crate::exit::{Exit, Failure};
use drumfire_engine::{Control, PrepareError, Prepared, prepare, run};
use drumfire_measure::{RunEvent, RunInfo, Summary, Validity};
use drumfire_net::{raise_descriptor_limit, resolve};
use drumfire_plan::Plan;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Descriptors that the program needs beside its connections.
const DESCRIPTORS_SPARE: u64 = 64;

/// What else to try with a name that has no address.
pub(crate) const RESOLVE: &str = ", or give an address with --resolve HOST:PORT:ADDRESS";

/// What a report says of a run that did not come to its planned end.
const INTERRUPTED: &str = "a signal ended the run before its plan did";

/// Exit code after a second SIGINT or SIGTERM.
const INTERRUPTED_TWICE: i32 = 130;

/// Runs a plan. `begun` is told what the run is, `observe` what happens in it.
pub(crate) fn execute(
    plan: Plan,
    begun: &mut dyn FnMut(&Arc<RunInfo>),
    observe: &mut dyn FnMut(&RunEvent),
) -> Result<Arc<Summary>, Failure> {
    let prepared = prepare(plan, Arc::new(resolve)).map_err(|error| match error {
        PrepareError::Resolve { .. } => Failure::failed(error).with_remedy(RESOLVE),
        PrepareError::Tls(reason) => Failure::usage(format!("{}: {reason}", reason.flag())),
        _ => Failure::usage(error),
    })?;
    check_descriptors(&prepared)?;
    let prepared = Arc::new(prepared);
    let control = Control::with_flag(on_signals()?);
    let info = Arc::new(describe::info(&prepared));
    begun(&info);
    let mut interrupted = false;
    let mut observe = |event: &RunEvent| {
        interrupted |= matches!(event, RunEvent::Draining);
        observe(event);
    };
    let summary = run(&prepared, &info, &control, &mut observe).map_err(Failure::failed)?;
    Ok(if interrupted {
        noted(summary, INTERRUPTED)
    } else {
        summary
    })
}

/// The summary with one note more.
fn noted(summary: Arc<Summary>, note: &str) -> Arc<Summary> {
    let mut summary = Arc::unwrap_or_clone(summary);
    Arc::make_mut(&mut summary.info).notes.push(note.to_owned());
    Arc::new(summary)
}

/// The exit code that a summary deserves.
pub(crate) fn exit_of(summary: &Summary, strict: bool) -> Exit {
    let counts = &summary.total.counts;
    if summary.thresholds.iter().any(|threshold| !threshold.passed) {
        Exit::Threshold
    } else if strict && summary.verdict.validity != Validity::Valid {
        Exit::GeneratorLimited
    } else if counts.ok == 0 {
        Exit::Failed
    } else {
        Exit::Done
    }
}

/// Finds out before the run whether every connection can have its descriptor.
fn check_descriptors(prepared: &Prepared) -> Result<(), Failure> {
    let connections = &prepared.plan.connections;
    let needed = u64::from(connections.count) * prepared.targets() as u64 + DESCRIPTORS_SPARE;
    match raise_descriptor_limit() {
        Some(limit) if limit < needed => Err(Failure::usage(format!(
            "{} connections need {needed} file descriptors, and this process may open {limit}; \
             raise the limit (ulimit -n {needed}) or lower -c",
            needed - DESCRIPTORS_SPARE
        ))),
        _ => Ok(()),
    }
}

/// One SIGINT or SIGTERM sets the flag, which drains the run; another one exits at once.
///
/// A terminal that goes away (SIGHUP) drains it too, unless whoever started the program said that
/// it may (nohup). It may say so twice, by the kernel and by the shell, so a second one is no wish
/// for haste. SIGQUIT stays what it is everywhere: the end, at once.
fn on_signals() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    let watch = || {
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_shutdown(signal, INTERRUPTED_TWICE, Arc::clone(&flag))?;
            flag::register(signal, Arc::clone(&flag))?;
        }
        if !ignores_hangup() {
            flag::register(SIGHUP, Arc::clone(&flag))?;
        }
        Ok(())
    };
    watch().map_err(|error: std::io::Error| {
        Failure::failed(format!("can't watch for signals: {error}"))
    })?;
    Ok(flag)
}

/// Whether SIGHUP was ignored when the program started. Where the kernel does not tell, it was not.
pub(crate) fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // A bit for each signal, the first for number 1.
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 1)
}
