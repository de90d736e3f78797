//! The setup and the teardown of a plan: separate runs before and after the load.
//!
//! The plan is compiled twice. Before the setup, so that an invalid plan sends nothing, and after
//! the setup with the values that it produced. The teardown follows every load whose setup
//! succeeded, however the load ended.

use super::plan_file::PlanFile;
use super::results::{Carried, Transcribed, is_quiet};
use crate::exit::{Exit, Failure};
use crate::host::Machine;
use crate::output::Output;
use crate::session;
use crate::signals::Signals;
use drumfire_compile::{Host, PhasePlan, compile_phase};
use drumfire_document::form::DocumentDraft;
use drumfire_document::{Document, Phase};
use drumfire_measure::{Outcome, RunEvent, Summary, Transcript};
use drumfire_plan::{Plan, StopReason};
use drumfire_report::show;
use drumfire_session::{Console, Observer};
use drumfire_store::{TeardownFailure, add_teardown_failure};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The text of a plan, and the plan of its load.
pub(crate) struct Compiled {
    pub(crate) draft: DocumentDraft,
    pub(crate) plan: Plan,
}

/// How setup and teardown are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phases {
    /// Neither phase runs: the plan is only printed.
    Skip,
    Run,
    /// Both phases run, and their exchanges are printed in full.
    Show,
}

/// Whether standard error confirms a signal that ends a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acknowledged {
    Yes,
    /// The user requested only the result.
    No,
}

/// The settings for a phase.
#[derive(Clone, Copy)]
struct Way<'a> {
    phases: Phases,
    signals: &'a Signals,
    acknowledged: Acknowledged,
}

impl<'a> Way<'a> {
    fn new(phases: Phases, compiled: &Compiled, signals: &'a Signals) -> Self {
        let acknowledged = match is_quiet(&compiled.draft.document.outputs) {
            true => Acknowledged::No,
            false => Acknowledged::Yes,
        };
        Self {
            phases,
            signals,
            acknowledged,
        }
    }
}

/// Runs `load` between the setup and the teardown of a file's plan. `read` compiles the plan with
/// the values that the host knows. All three parts share one signal handler.
pub(crate) fn around(
    file: &PlanFile,
    phases: Phases,
    output: &Output,
    read: impl Fn(&Arc<dyn Host>) -> Result<Compiled, Failure>,
    load: impl FnOnce(Compiled, &Signals) -> Result<Carried, Failure>,
) -> Result<Exit, Failure> {
    let signals = Signals::default();
    let mut host = file.host(output);
    let mut compiled = read(&host)?;
    if phases == Phases::Skip {
        return load(compiled, &signals)?.ended;
    }
    let way = Way::new(phases, &compiled, &signals);
    if let Some(setup) = plan_of(Phase::Setup, file, &compiled, &host)? {
        let taken = run(Phase::Setup, setup, way, output)?;
        host = file.host_with(taken, output);
        compiled = read(&host)?;
    }
    load_and_tear_down(file, compiled, &host, way, output, load)
}

/// Continues a load whose setup produced these values: runs `load` and the teardown.
pub(crate) fn behind_setup(
    file: &PlanFile,
    taken: BTreeMap<String, String>,
    output: &Output,
    read: impl Fn(&Arc<dyn Host>) -> Result<Compiled, Failure>,
    load: impl FnOnce(Compiled, &Signals) -> Result<Carried, Failure>,
) -> Result<Exit, Failure> {
    let signals = Signals::default();
    let host = file.host_with(taken, output);
    let compiled = read(&host)?;
    let way = Way::new(Phases::Run, &compiled, &signals);
    load_and_tear_down(file, compiled, &host, way, output, load)
}

/// Runs a phase of a document without a file, such as another tool's command line, if it has that
/// phase.
pub(super) fn run_of_document(
    phase: Phase,
    document: &Document,
    signals: &Signals,
    output: &Output,
) -> Result<(), Failure> {
    let draft = DocumentDraft {
        document: document.clone(),
        is_checkable: true,
        ..DocumentDraft::default()
    };
    let planned = compile_phase(phase, &draft, &Machine::here(output));
    let planned = planned.map_err(|found| {
        let first = found.first();
        Failure::usage(first.map_or_else(String::new, ToString::to_string))
    })?;
    let way = Way {
        phases: Phases::Run,
        signals,
        acknowledged: Acknowledged::Yes,
    };
    match planned {
        Some(planned) => run(phase, planned, way, output).map(drop),
        None => Ok(()),
    }
}

fn load_and_tear_down(
    file: &PlanFile,
    compiled: Compiled,
    host: &Arc<dyn Host>,
    way: Way<'_>,
    output: &Output,
    load: impl FnOnce(Compiled, &Signals) -> Result<Carried, Failure>,
) -> Result<Exit, Failure> {
    let teardown = plan_of(Phase::Teardown, file, &compiled, host)?;
    let carried = load(compiled, way.signals);
    let carried = carried.unwrap_or_else(|failure| Carried::unstored(Err(failure)));
    let Some(teardown) = teardown.filter(|_| !carried.goes_on) else {
        return carried.ended;
    };
    let signals = &way.signals.afresh();
    let way = Way { signals, ..way };
    match run(Phase::Teardown, teardown, way, output) {
        Ok(_) => carried.ended,
        Err(failure) => with_failed_teardown(carried, failure, output),
    }
}

/// The result of a load whose teardown failed. Adds the failure to the stored run and its pages.
fn with_failed_teardown(
    carried: Carried,
    failure: Failure,
    output: &Output,
) -> Result<Exit, Failure> {
    let Carried {
        ended,
        stored,
        pages,
        ..
    } = carried;
    let message = output.redactor().text(&failure.message).into_owned();
    if let Some(pages) = pages
        && let Err(error) = pages.write_again(message.clone(), output)
    {
        output.note(&format!(
            "can't add the teardown's failure to the page: {}",
            error.message
        ));
    }
    if let Some(run) = stored {
        let failure = TeardownFailure {
            is_cut_short: failure.exit == Exit::CutShort,
            message,
        };
        if let Err(error) = add_teardown_failure(&run, &failure) {
            output.note(&format!("can't store the teardown's failure: {error}"));
        }
    }
    match ended {
        Ok(Exit::Done) => Err(failure),
        ended => {
            output.note(&failure.message);
            ended
        }
    }
}

/// The plan of a phase, if the text has one.
fn plan_of(
    phase: Phase,
    file: &PlanFile,
    compiled: &Compiled,
    host: &Arc<dyn Host>,
) -> Result<Option<PhasePlan>, Failure> {
    let plan = compile_phase(phase, &compiled.draft, host);
    plan.map_err(|found| file.failure(&found))
}

/// Runs a phase once, and returns the values that it produced.
fn run(
    phase: Phase,
    planned: PhasePlan,
    way: Way<'_>,
    output: &Output,
) -> Result<BTreeMap<String, String>, Failure> {
    let PhasePlan { plan, taken } = planned;
    let Way {
        phases,
        signals,
        acknowledged,
    } = way;
    let mut transcripts = Vec::new();
    let session = session::of_dialect(session::prepared(plan)?, &[], signals, output)?;
    let came = Arc::new(AtomicBool::new(false));
    let interruption = Interruption {
        phase,
        console: (acknowledged == Acknowledged::Yes).then(|| output.console()),
        came: Arc::clone(&came),
    };
    let session = session.observed_by(Transcribed(&mut transcripts));
    let summary = session.observed_by(interruption).run()?.summary;
    let is_interrupted = came.load(Ordering::Relaxed) || summary.is_cut_short();
    transcripts.sort_by_key(|transcript| transcript.sample.end);
    if phases == Phases::Show {
        let shown = show::exchanges(&transcripts, &summary, &output.stdout_style());
        output.print(format!("{}\n\n{shown}\n", phase.key()).as_bytes())?;
    }
    let completed = |summary: &Summary| {
        let iterations = summary.total.iterations.as_ref();
        iterations.is_some_and(|iterations| iterations.counts.ok == 1)
    };
    // A signal ends the run even if the request in flight was answered: no load starts.
    let ends = is_interrupted && phase == Phase::Setup;
    match completed(&summary) {
        true if !ends => Ok(taken.to_map()),
        _ if is_interrupted => Err(interrupted(phase)),
        _ => Err(failure(phase, &transcripts, &summary, phases)),
    }
}

/// Records a signal, and confirms it at once if messages are shown, because the request in flight
/// may take its whole timeout.
struct Interruption {
    phase: Phase,
    console: Option<Arc<dyn Console>>,
    came: Arc<AtomicBool>,
}

impl Observer for Interruption {
    fn observe(&mut self, event: &RunEvent) {
        if let RunEvent::Stopping {
            reason: StopReason::Signal,
        } = event
        {
            self.came.store(true, Ordering::Relaxed);
            let key = self.phase.key();
            if let Some(console) = &self.console {
                console.note(&format!(
                    "stopping: waiting for the {key}'s request in flight (again to abort it)"
                ));
            }
        }
    }
}

/// The consequence of a failed phase, for messages.
const fn consequence(phase: Phase) -> &'static str {
    match phase {
        Phase::Setup => "; no load was sent",
        Phase::Teardown => "",
    }
}

/// The failure of a phase that a signal ended.
fn interrupted(phase: Phase) -> Failure {
    let (key, consequence) = (phase.key(), consequence(phase));
    Failure {
        exit: Exit::CutShort,
        ..Failure::failed(format!("the {key} was interrupted{consequence}"))
    }
}

/// Why a phase failed.
fn failure(phase: Phase, transcripts: &[Transcript], summary: &Summary, phases: Phases) -> Failure {
    let (key, consequence) = (phase.key(), consequence(phase));
    let mut failed = transcripts.iter();
    let reason = failed
        .find(|transcript| transcript.sample.outcome != Outcome::Ok)
        .map_or_else(String::new, |transcript| reason(transcript, summary));
    let failure = Failure::failed(format!("the {key} failed{reason}{consequence}"));
    match phases {
        Phases::Show => failure,
        Phases::Run | Phases::Skip => failure.with_remedy("; use --show to print its exchanges"),
    }
}

/// The step of a failed exchange, and its outcome.
fn reason(transcript: &Transcript, summary: &Summary) -> String {
    let Transcript { pool, sample, .. } = transcript;
    let step = summary.info.pools.get(*pool);
    let step = step.and_then(|pool| pool.steps.get(usize::from(sample.step)));
    let step = step.map_or_else(String::new, |step| format!(" at `{step}`"));
    let status = match sample.status {
        0 => String::new(),
        status => format!(", status {status}"),
    };
    let detail = transcript.detail.as_ref();
    let detail = detail.map_or_else(String::new, |detail| format!(", {detail}"));
    format!(
        "{step}: {} ({}){status}{detail}",
        sample.outcome.words(),
        sample.outcome.name()
    )
}
