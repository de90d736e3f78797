//! Another tool's command line, run and shown as that tool does.

use crate::exit::{Exit, Failure};
use crate::host::Machine;
use crate::output::{self, Destination};
use crate::{session, spool};
use drumfire_compile::form;
use drumfire_dialects::{Dialect, Outcome, Presentation, parse};
use drumfire_measure::RunEvent;
use drumfire_net::Clock;
use drumfire_plan::{Plan, StopReason};
use std::path::Path;

/// The flag of our own that every dialect has.
const PRINT_PLAN: &str = "--print-plan";

/// Runs a dialect's command line, or prints the plan that it comes to.
pub(crate) fn run(dialect: Dialect, args: &[String]) -> Result<Exit, Failure> {
    let seed = Clock::unix_time() ^ u64::from(std::process::id());
    let print_plan = args.iter().any(|arg| arg == PRINT_PLAN);
    let own: Vec<String> = args
        .iter()
        .filter(|arg| *arg != PRINT_PLAN)
        .cloned()
        .collect();
    match parse(dialect, &own, &Machine::here(), seed) {
        Outcome::Print {
            stdout,
            stderr,
            exit,
        } => {
            output::print(stdout.as_bytes())?;
            output::remark(&stderr);
            Ok(Exit::from_dialect(exit))
        }
        Outcome::Run(run) if print_plan => {
            output::print(form::print(&run.document).as_bytes())?;
            Ok(Exit::Done)
        }
        Outcome::Run(run) => {
            let shown = show(run.plan, run.presentation);
            shown.map_err(|failure| in_terms_of(dialect, failure))
        }
    }
}

/// A failure with the tool's exit code, and without our own flags.
fn in_terms_of(dialect: Dialect, failure: Failure) -> Failure {
    let exit = match failure.exit {
        Exit::Usage => Exit::from_dialect(dialect.mistake_exit()),
        exit => exit,
    };
    Failure {
        exit,
        ..failure.with_remedy("")
    }
}

/// Runs the plan and writes the tool's output.
fn show(plan: Plan, mut presentation: Presentation) -> Result<Exit, Failure> {
    for note in presentation.notes() {
        output::remark(&format!("{note}\n"));
    }
    let places = presentation.places().into_iter();
    let places: Vec<Destination> = places
        .map(|path| match path {
            None => Ok(Destination::Stdout),
            Some(path) => Destination::check("output", Path::new(path)),
        })
        .collect::<Result<_, _>>()?;
    if presentation.needs_spool() {
        presentation.set_spool(Box::new(spool::unlinked()?));
    }
    let mut closed = Ok(());
    let summary = {
        let shown = std::cell::RefCell::new(&mut presentation);
        session::execute(
            plan,
            &[],
            &mut |info| {
                closed = output::print(shown.borrow().render_start(info).as_bytes());
            },
            &mut |event, _| {
                let mut shown = shown.borrow_mut();
                shown.observe(event);
                if let RunEvent::Stopping {
                    reason: StopReason::Signal,
                } = event
                {
                    // A closed stdout shows itself when the result is written.
                    let _shown = output::print(shown.render_interrupted().as_bytes());
                }
            },
        )?
    };
    closed?;
    presentation.finish(&summary);
    let mut written = Ok(());
    for (place, destination) in places.iter().enumerate() {
        // One that can't be written takes no other with it.
        let one = destination.stream(&mut |out| presentation.write(place, &summary, out));
        written = written.and(one);
    }
    written?;
    Ok(Exit::from_dialect(presentation.exit_code(&summary)))
}
