//! The display of a run before its report: the screen if the terminal is large enough, otherwise
//! the live line or a heartbeat.

use crate::exit::Failure;
use crate::output::Output;
use crate::terminal;
use drumfire_document::Outputs;
use drumfire_plan::Plan;
use drumfire_report::Naming;
use drumfire_screen::{End, Fitness, Screen, fitness};
use drumfire_session::{Session, Shown, Watch};
use drumfire_ui::RunPage;

/// The display that a user wants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DisplayWish {
    /// The form without a screen.
    shown: Shown,
    room: ScreenRoom,
    /// When a screen is left.
    end: End,
}

/// The terminals on which a run has a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScreenRoom {
    /// None.
    Nowhere,
    /// Those with at least 80 columns and 24 rows.
    Usual,
    /// Terminals of any size.
    AnySize,
}

impl DisplayWish {
    /// A display without a screen.
    pub(crate) const fn without_screen(shown: Shown) -> Self {
        Self {
            shown,
            room: ScreenRoom::Nowhere,
            end: End::WithRun,
        }
    }

    /// The usual display: the screen if it fits, otherwise the live line or a heartbeat.
    pub(crate) fn usual() -> Self {
        Self {
            shown: terminal::shown(Shown::Live),
            room: ScreenRoom::Usual,
            end: End::WithRun,
        }
    }

    /// The display that a run's outputs request, if they do not take its place.
    ///
    /// # Errors
    /// If the form is unknown.
    pub(crate) fn from_outputs(outputs: &Outputs) -> Result<Self, Failure> {
        let usual = Self {
            end: match outputs.stay.as_ref().is_some_and(|stay| stay.value) {
                true => End::ByKey,
                false => End::WithRun,
            },
            ..Self::usual()
        };
        if outputs.tui.as_ref().is_some_and(|tui| !tui.value) {
            return Ok(Self::without_screen(Shown::Heartbeat));
        }
        let Some(live) = &outputs.live else {
            return Ok(usual);
        };
        Ok(match &*live.value {
            "screen" => Self {
                room: ScreenRoom::AnySize,
                ..usual
            },
            "line" => Self::without_screen(usual.shown),
            "none" => Self::without_screen(Shown::Heartbeat),
            // The key was a switch once.
            "true" => usual,
            "false" => Self::without_screen(Shown::Heartbeat),
            other => {
                let shown: String = other.chars().take(64).collect();
                return Err(Failure::usage(format!(
                    "{}: unknown form `{}`; use screen, line or none",
                    live.place,
                    shown.escape_debug()
                )));
            }
        })
    }

    /// Whether the run is shown on a screen.
    fn has_screen(self) -> bool {
        let is_live = self.shown == Shown::Live;
        is_live
            && match (self.room, fitness()) {
                (ScreenRoom::Nowhere, _) | (_, Fitness::NoScreen) => false,
                (ScreenRoom::Usual, fitness) => fitness == Fitness::Fits,
                (ScreenRoom::AnySize, _) => true,
            }
    }
}

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
        wish: DisplayWish,
        naming: Naming,
        output: &Output,
    ) -> (Self, Output) {
        if wish.has_screen() {
            let screen = Screen::new(plan, naming, output.redactor(), output.console());
            let behind = output.behind(screen.console());
            return (Self::Screen(Box::new(screen.until(wish.end))), behind);
        }
        let watch = Watch::new(plan, wish.shown, output.console()).naming(naming);
        (Self::Line(Box::new(watch)), output.clone())
    }

    /// Shows the address of the run's page on a screen, where its message would be hidden. Returns
    /// the address if there is a screen.
    pub(crate) fn show_page(&self, page: Option<&RunPage>, run: &str) -> Option<String> {
        let (Self::Screen(screen), Some(page)) = (self, page) else {
            return None;
        };
        let address = page.address(run);
        screen.set_page(address.clone());
        Some(address)
    }

    /// Attaches this display to a session. A screen that stays waits for the user when it finishes,
    /// so a display has to be attached before every other observer: then it finishes last.
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
