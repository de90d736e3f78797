//! Another tool's command line, run and shown as that tool does.

use crate::exit::{Exit, Failure};
use crate::input::{Disk, Machine};
use crate::output::{self, Destination};
use crate::{reflect, session, spool};
use drumfire_dialects::ghz::template::World;
use drumfire_dialects::{Defaults, Dialect, Outcome, Presentation, Question, Source, parse};
use drumfire_measure::RunEvent;
use drumfire_net::Clock;
use drumfire_plan::Plan;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// Runs a dialect's command line.
pub(crate) fn run(dialect: Dialect, args: &[String]) -> Result<Exit, Failure> {
    let defaults = Defaults {
        cores: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        seed: Clock::unix_time() ^ u64::from(std::process::id()),
    };
    let source: Rc<dyn Source> = Rc::new(Disk);
    let world: Arc<dyn World> = Arc::new(Machine::new());
    let mut outcome = parse(dialect, args, &source, &world, defaults);
    loop {
        match outcome {
            Outcome::NeedsSchema(question) => outcome = ask(*question),
            Outcome::NeedsVersion(question) => {
                let chosen = reflect::chooses_http2(&question.plan, question.limit)?;
                outcome = (question.then)(chosen);
            }
            Outcome::Print {
                stdout,
                stderr,
                exit,
            } => {
                output::print(stdout.as_bytes())?;
                output::remark(&stderr);
                return Ok(Exit::from_dialect(exit));
            }
            Outcome::Run { plan, presentation } => {
                let shown = show(*plan, presentation);
                return shown.map_err(|failure| in_terms_of(dialect, failure));
            }
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

/// Asks the server for its schema.
fn ask(question: Question) -> Outcome {
    let Question {
        plan,
        wanted,
        metadata,
        limit,
        then,
    } = question;
    let answer = reflect::schema(&plan, wanted, &metadata, limit);
    then(answer.map_err(|failure| failure.message))
}

/// Runs the plan and writes what the tool would.
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
            &mut |info| {
                closed = output::print(shown.borrow().render_start(info).as_bytes());
            },
            &mut |event| {
                let mut shown = shown.borrow_mut();
                shown.observe(event);
                if matches!(event, RunEvent::Draining) {
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
