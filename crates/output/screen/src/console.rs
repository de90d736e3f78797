//! The console of a session while the screen is shown: messages are kept, shown in the frame, and
//! printed after the screen has been left.

use crate::known::Known;
use drumfire_report::style::Style;
use drumfire_session::Console;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The state that a screen, its threads and its console share.
pub(crate) type Shared = Arc<Mutex<Known>>;

/// Locks the state, even after a panic. The state is consistent after each statement, and a panic
/// has ended the program or will end it.
pub(crate) fn lock(shared: &Shared) -> MutexGuard<'_, Known> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The underlying console, and the screen in front of it.
pub(crate) struct Behind {
    pub(crate) beneath: Arc<dyn Console>,
    pub(crate) shared: Shared,
    pub(crate) is_shown: fn() -> bool,
}

impl Console for Behind {
    fn note(&self, message: &str) {
        match (self.is_shown)() {
            true => lock(&self.shared).add_note(message),
            false => self.beneath.note(message),
        }
    }

    fn replace_line(&self, line: &str) {
        if !(self.is_shown)() {
            self.beneath.replace_line(line);
        }
    }

    fn style(&self) -> Style {
        self.beneath.style()
    }

    fn columns(&self) -> usize {
        self.beneath.columns()
    }
}
