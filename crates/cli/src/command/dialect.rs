//! Another tool's command line, run and shown as that tool does.

use crate::exit::{Exit, Failure};
use crate::flags::ColorChoice;
use crate::host::Machine;
use crate::output::{self, Destination};
use crate::streams::Streams;
use crate::{session, spool, terminal};
use drumfire_dialects::{Dialect, Outcome, Presentation, parse};
use drumfire_document::form;
use drumfire_engine::Control;
use drumfire_measure::{RunEvent, Summary};
use drumfire_net::{Clock, TextServer};
use drumfire_plan::{Plan, StopReason};
use std::path::Path;
use std::sync::Arc;

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
            // What ran as the other tool runs here, too: its users have chosen their targets.
            let mut presentation = run.presentation;
            let shown = show(run.plan.unguarded(), &mut *presentation);
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
fn show(plan: Plan, presentation: &mut dyn Presentation) -> Result<Exit, Failure> {
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
    let streams = Streams::open(&presentation.streams())?;
    presentation.set_streams(streams.writers());
    let summary = run_shown(plan, presentation)?;
    presentation.finish(&summary);
    // What is left of the lines is written now.
    presentation.set_streams(Vec::new());
    streams.finish()?;
    let style = terminal::stderr_style(ColorChoice::Auto);
    output::draw(&presentation.epilogue(&summary, &style));
    if let Some(fault) = presentation.fault() {
        return Err(Failure::failed(fault));
    }
    let mut written = Ok(());
    for (place, destination) in places.iter().enumerate() {
        // One that can't be written takes no other with it.
        let one = destination.stream(&mut |out| presentation.write(place, &summary, out));
        written = written.and(one);
    }
    written?;
    Ok(Exit::from_dialect(presentation.exit_code(&summary)))
}

/// Runs the plan while the presentation shows it.
fn run_shown(plan: Plan, presentation: &mut dyn Presentation) -> Result<Arc<Summary>, Failure> {
    let counters = match presentation.counters_page() {
        None => None,
        Some(page) => {
            let server = TextServer::start(&page.address, page.path, page.media_type);
            let address = page.address;
            let wrong = |error| Failure::failed(format!("can't listen on {address}: {error}"));
            Some(server.map_err(wrong)?)
        }
    };
    let shown = std::cell::RefCell::new(presentation);
    let mut closed = Ok(());
    let summary = session::execute(
        plan,
        &[],
        &mut |info| {
            closed = output::print(shown.borrow().render_start(info).as_bytes());
        },
        &mut |event, control| {
            let shown = &mut **shown.borrow_mut();
            observe(event, control, shown);
            if let Some(counters) = &counters {
                counters.set(shown.counters());
            }
        },
    )?;
    closed?;
    Ok(summary)
}

/// Shows an event, and ends the run where it can't be gone on with.
fn observe(event: &RunEvent, control: &Control, shown: &mut dyn Presentation) {
    let was_sound = shown.fault().is_none();
    shown.observe(event);
    if was_sound && shown.fault().is_some() {
        control.end(StopReason::Command);
    }
    if let RunEvent::Stopping {
        reason: StopReason::Signal,
    } = event
    {
        // A closed stdout shows itself when the result is written.
        let _shown = output::print(shown.render_interrupted().as_bytes());
    }
}
