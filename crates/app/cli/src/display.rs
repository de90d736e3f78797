//! The display of a run before its report: the screen if the terminal is large enough, otherwise
//! the live line or a heartbeat.

use crate::output::Output;
use drumfire_plan::Plan;
use drumfire_report::Naming;
use drumfire_screen::{Fitness, Screen, fitness};
use drumfire_session::{Session, Shown, Watch};

/// The display of a run.
pub(crate) enum Display {
    /// One line, or less.
    Line(Box<Watch>),
    /// The whole terminal.
    Screen(Box<Screen>),
}

impl Display {
    /// The display of a plan's run, and the output to which its session writes messages.
    pub(crate) fn for_plan(
        plan: &Plan,
        shown: Shown,
        naming: Naming,
        output: &Output,
    ) -> (Self, Output) {
        if shown == Shown::Live && fitness() == Fitness::Fits {
            let screen = Screen::new(plan, naming, output.redactor(), output.console());
            let behind = output.behind(screen.console());
            return (Self::Screen(Box::new(screen)), behind);
        }
        let watch = Watch::new(plan, shown, output.console()).naming(naming);
        (Self::Line(Box::new(watch)), output.clone())
    }

    /// Attaches this display to a session.
    pub(crate) fn attached_to<'a>(self, session: Session<'a>) -> Session<'a> {
        match self {
            Self::Line(watch) => session.observed_by(*watch),
            Self::Screen(screen) => {
                let session = session.observed_beside("screen events", *screen);
                #[cfg(debug_assertions)]
                let session = match std::env::var_os("DRUMFIRE_TEST_PANIC") {
                    Some(_) => session.observed_beside("panics", Panics),
                    None => session,
                };
                session
            }
        }
    }
}

/// A deliberate defect for the tests of how the terminal is restored: panics when an interval
/// closes.
#[cfg(debug_assertions)]
struct Panics;

#[cfg(debug_assertions)]
impl drumfire_session::Observer for Panics {
    fn observe(&mut self, event: &drumfire_measure::RunEvent) {
        assert!(
            !matches!(event, drumfire_measure::RunEvent::IntervalClosed(_)),
            "a defect that a test wants"
        );
    }
}
