//! What a worker did while it waited, if it polls before it sleeps.

use crate::form;
use crate::form::{Form, FormError, Input};
use drumfire_units::Nanos;

/// The waits of workers that poll for responses before they sleep; all 0 for others. Waits that
/// found something at their first look are not counted. Merges by addition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// The time spent on polling.
    pub polled: Nanos,
    /// Waits in which polling found something, so that the thread did not sleep.
    pub found: u64,
    /// Waits that slept, after polling in vain or at once.
    pub slept: u64,
}

form! { struct Waits { polled, found, slept } }

impl Waits {
    pub(crate) fn merge(&mut self, other: Self) {
        self.polled += other.polled;
        self.found = self.found.saturating_add(other.found);
        self.slept = self.slept.saturating_add(other.slept);
    }

    /// Whether any wait was counted.
    #[must_use]
    pub fn any(self) -> bool {
        self != Self::default()
    }
}

/// The form of the waits within the health of a worker: nothing. The form of an interval has them
/// after the health, if any were counted.
pub(crate) struct WaitsApart;

impl Form<Waits> for WaitsApart {
    fn write(_: &Waits, _: &mut Vec<u8>) {}

    fn read(_: &mut Input<'_>) -> Result<Waits, FormError> {
        Ok(Waits::default())
    }
}
