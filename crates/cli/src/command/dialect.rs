//! Another tool's command line, run and shown as that tool does.

use crate::exit::{Exit, Failure};
use crate::input::Disk;
use crate::{output, session};
use drumfire_dialects::{Defaults, Dialect, Outcome, parse};
use drumfire_measure::RunEvent;

/// Runs a dialect's command line.
pub(crate) fn run(dialect: Dialect, args: &[String]) -> Result<Exit, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    match parse(dialect, args, &Disk, Defaults { cores }) {
        Outcome::Print {
            stdout,
            stderr,
            exit,
        } => {
            output::print(stdout.as_bytes())?;
            output::remark(&stderr);
            Ok(Exit::from_dialect(exit))
        }
        Outcome::Run { plan, presentation } => {
            for note in presentation.notes() {
                output::remark(&format!("{note}\n"));
            }
            let mut closed = Ok(());
            let summary = session::execute(
                *plan,
                &mut |info| {
                    closed = output::print(presentation.render_start(info).as_bytes());
                },
                &mut |event| {
                    if matches!(event, RunEvent::Draining) {
                        // A closed stdout shows itself when the result is written.
                        let _shown = output::print(presentation.render_interrupted().as_bytes());
                    }
                },
            )?;
            closed?;
            output::print(presentation.render_finish(&summary).as_bytes())?;
            Ok(Exit::from_dialect(presentation.exit_code(&summary)))
        }
    }
}
