//! The kernel's stamps of what was received and sent, and the clock that a run had by them.

use crate::form;

/// The receives that brought bytes while the kernel's stamps of them were asked for. All are 0 where
/// they were not, or where no socket gives them. Merges by addition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamps {
    /// With a stamp that was taken.
    pub taken: u64,
    /// Without one: the program's clock stood in.
    pub missing: u64,
    /// With one that can't be right, since it lies before the request or beyond the present: the
    /// program's clock stood in.
    pub refused: u64,
}

impl Stamps {
    pub(crate) fn merge(&mut self, other: Self) {
        self.taken = self.taken.saturating_add(other.taken);
        self.missing = self.missing.saturating_add(other.missing);
        self.refused = self.refused.saturating_add(other.refused);
    }

    /// The receives for which the program's clock stood in.
    #[must_use]
    pub const fn lost(self) -> u64 {
        self.missing.saturating_add(self.refused)
    }

    /// Whether most receives have a stamp.
    const fn holds(self) -> bool {
        self.taken > self.lost()
    }
}

/// The writes that began requests and whose departures were to have the kernel's stamps: one for each
/// request over HTTP/1.1, one for all requests that a connection of HTTP/2 wrote at once. All are 0
/// where no departures were asked for, or where no socket gives them. Merges by addition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departures {
    /// With a stamp that was taken.
    pub taken: u64,
    /// Without one when their response came: the program's clock stood in.
    pub missing: u64,
    /// With one that can't be right, since it lies before the hand-over or behind the response: the
    /// program's clock stood in.
    pub refused: u64,
    /// Passed over, where more requests were made than are asked for: they count from their
    /// hand-over.
    pub passed: u64,
}

impl Departures {
    pub(crate) fn merge(&mut self, other: Self) {
        self.taken = self.taken.saturating_add(other.taken);
        self.missing = self.missing.saturating_add(other.missing);
        self.refused = self.refused.saturating_add(other.refused);
        self.passed = self.passed.saturating_add(other.passed);
    }

    /// The requests that were asked for, and for which the program's clock stood in.
    #[must_use]
    pub const fn lost(self) -> u64 {
        self.missing.saturating_add(self.refused)
    }

    /// The requests that were asked for.
    #[must_use]
    pub const fn asked(self) -> u64 {
        self.taken + self.lost()
    }

    /// Whether most of those have a stamp.
    const fn holds(self) -> bool {
        self.taken > self.lost()
    }
}

/// The clock by which the times of exchanges were taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArrivalClock {
    /// The kernel's for requests too: when their bytes left, and those of responses arrived.
    Wire,
    /// The kernel's for responses, first byte and end: when their bytes arrived.
    Kernel,
    /// The program's: when it had read them.
    #[default]
    Program,
}

form! { struct Stamps { taken, missing, refused } }
form! { struct Departures { taken, missing, refused, passed } }
form! { enum ArrivalClock { 0 => Program, 1 => Kernel, 2 => Wire } }

impl ArrivalClock {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Wire, Self::Kernel, Self::Program];

    /// The clock that held by the stamps of a run: the kernel's where most have one.
    #[must_use]
    pub const fn of(stamps: Stamps, departures: Departures) -> Self {
        match (stamps.holds(), departures.holds()) {
            (true, true) => Self::Wire,
            (true, false) => Self::Kernel,
            (false, _) => Self::Program,
        }
    }

    /// Whether responses are timed by the kernel's clock.
    #[must_use]
    pub const fn is_kernel(self) -> bool {
        matches!(self, Self::Wire | Self::Kernel)
    }

    /// The word used in reports and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::Kernel => "kernel",
            Self::Program => "program",
        }
    }
}
