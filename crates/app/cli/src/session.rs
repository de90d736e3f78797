//! A session of this program: the parts that every run has besides its plan, the exit code of its
//! summary, and its mistakes in terms of flags.

use crate::exit::{Exit, Failure};
use crate::flags::VERSION;
use crate::names;
use crate::output::Output;
use crate::runs_folder;
use crate::signals::Signals;
use crate::trust;
use drumfire_engine::{PrepareError, Prepared, RunError};
use drumfire_measure::{Digest, Summary};
use drumfire_placement::Unfit;
use drumfire_plan::Plan;
use drumfire_session::{
    Certificates, MeteringError, Outcome, OutputError, Remote, Session, SessionError, prepare,
};
use std::sync::Arc;

/// The remedy for a name without an address.
pub(crate) const RESOLVE: &str = ", or give an address with --resolve HOST:PORT:ADDRESS";

/// A plan that this machine can run: its names have addresses, and its certificates are valid.
pub(crate) fn prepared(plan: Plan) -> Result<Arc<Prepared>, Failure> {
    Ok(prepare(plan, Arc::new(names::resolve))?)
}

/// A prepared plan of one of our own commands, which verify the certificates of targets.
pub(crate) fn ready(plan: Plan) -> Result<Arc<Prepared>, Failure> {
    trust::check_for_targets(&plan)?;
    prepared(plan)
}

/// A session of a plan, with these notes in its report. The command's signals end the run, and
/// certificates are read again. A command adds its own observers.
pub(crate) fn of_dialect<'a>(
    prepared: Arc<Prepared>,
    notes: &[String],
    signals: &Signals,
    output: &Output,
) -> Result<Session<'a>, Failure> {
    signals
        .watch()
        .map_err(|error| Failure::failed(format!("can't watch for signals: {error}")))?;
    if signals.have_come() {
        return Err(Failure {
            exit: Exit::CutShort,
            ..Failure::failed("the run was interrupted before its load; no load was sent")
        });
    }
    let certificates = Certificates::new(&prepared, output.console());
    let session = Session::new(prepared).of_program(VERSION).noted(notes);
    let session = session.observed_by(signals.clone());
    Ok(session.observed_by(certificates))
}

/// A session of a plan that is [`ready`]. Other processes can control the run. The caller opens
/// files that are written during the run between `ready` and this call, so that a run that cannot
/// start leaves the files of another run unchanged.
pub(crate) fn build_session<'a>(
    prepared: Arc<Prepared>,
    notes: &[String],
    signals: &Signals,
    output: &Output,
) -> Result<Session<'a>, Failure> {
    let remote = Remote::within(
        runs_folder::sockets(),
        output.redactor(),
        runs_folder::runs(),
    );
    Ok(of_dialect(prepared, notes, signals, output)?.observed_by(remote))
}

/// Fails with the first result that an outcome lacks.
pub(crate) fn lacking(outcome: &Outcome) -> Result<(), Failure> {
    let first = outcome.failures.first();
    first.map_or(Ok(()), |failure| Err(Failure::failed(failure)))
}

/// The exit code of a summary.
pub(crate) fn exit_of(summary: &Summary, strict: bool) -> Exit {
    Exit::for_run(&Digest::from_summary(summary), strict)
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Prepare(error) => unprepared(error),
            SessionError::Unfit(refused) => unfit(&refused),
            SessionError::Store(error) => Self::usage(format!("-o: {error}")),
            SessionError::Metering(error) => error.into(),
            SessionError::Refused(why) => Self::usage(why),
            SessionError::Run(error @ RunError::Schedule(_)) => Self::usage(error),
            error @ (SessionError::Stream(_)
            | SessionError::Thread(_)
            | SessionError::Certificates(_)
            | SessionError::Descriptors { .. }
            | SessionError::AddressSpace { .. }
            | SessionError::Run(_)) => Self::failed(error),
        }
    }
}

impl From<MeteringError> for Failure {
    fn from(error: MeteringError) -> Self {
        let remedy = match error {
            MeteringError::NoReceiver { .. } => "; add --remote-write, --influx or --otlp",
            MeteringError::NoPage { .. } => "; add --metrics ADDR",
            MeteringError::Listen { .. }
            | MeteringError::Receiver { .. }
            | MeteringError::Linger { .. } => "",
        };
        Self::usage(format!("{error}{remedy}"))
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        Self::failed(error)
    }
}

/// Whether a name without an address has the ending of a plan or of a list. Commands that take a
/// file or a URL take a missing file for a URL.
fn is_file_name(host: &str) -> bool {
    let endings = [".yaml", ".yml", ".json", ".toml", ".txt"];
    endings.iter().any(|ending| host.ends_with(ending))
}

/// Every reason why this machine cannot run a plan, with the flags that the reasons concern.
fn unfit(refused: &[Unfit]) -> Failure {
    let reasons = refused.iter().map(|reason| match reason {
        Unfit::Address { .. } => format!("--source-ip: {reason}"),
        Unfit::Descriptors { .. } => format!("{reason} or lower -c"),
    });
    Failure::usage(reasons.collect::<Vec<_>>().join("\ndrumfire: "))
}

/// Why a plan cannot be run on this machine.
fn unprepared(error: PrepareError) -> Failure {
    match error {
        PrepareError::Resolve { ref host, .. } if is_file_name(host) => {
            let remedy = format!(
                ", or the path if it is a file: `{}` is not one",
                host.escape_default()
            );
            Failure::failed(&error).with_remedy(remedy)
        }
        PrepareError::Resolve { .. } => Failure::failed(error).with_remedy(RESOLVE),
        PrepareError::Guarded { ref host, .. } => Failure::usage(&error).with_remedy(format!(
            "; if you may load it, add --i-own-this-target, or add `{}` to {}",
            host.escape_debug(),
            names::allowed_file()
                .map_or_else(|| "a list".to_owned(), |path| path.display().to_string())
        )),
        PrepareError::Source { .. } => Failure::usage(format!("--source-ip: {error}")),
        PrepareError::Tls(reason) => Failure::usage(format!("{}: {reason}", reason.flag())),
        _ => Failure::usage(error),
    }
}
