//! The kernel's time stamps of received and sent bytes, and the clock that results for a run.

use crate::form;

/// Receives with bytes while the kernel's time stamps were requested. All counts are 0 if they were
/// not requested, or if no socket provides them. Merges by addition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamps {
    /// Receives whose stamp was used.
    pub taken: u64,
    /// Receives without a stamp: the program's clock was used.
    pub missing: u64,
    /// Receives with an impossible stamp, before the request or in the future: the program's clock
    /// was used.
    pub refused: u64,
}

impl Stamps {
    pub(crate) fn merge(&mut self, other: Self) {
        self.taken = self.taken.saturating_add(other.taken);
        self.missing = self.missing.saturating_add(other.missing);
        self.refused = self.refused.saturating_add(other.refused);
    }

    /// Receives for which the program's clock was used.
    #[must_use]
    pub const fn lost(self) -> u64 {
        self.missing.saturating_add(self.refused)
    }

    /// Whether most receives have a stamp.
    const fn holds(self) -> bool {
        self.taken > self.lost()
    }
}

/// Writes that began requests and whose departures were to get the kernel's time stamps: one for
/// each request over HTTP/1.1, one for all requests that an HTTP/2 connection wrote at once. All
/// counts are 0 if departures were not requested, or if no socket provides them. Merges by
/// addition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DepartureStamps {
    /// Writes whose stamp was used.
    pub taken: u64,
    /// Writes without a stamp when the response arrived: the program's clock was used.
    pub missing: u64,
    /// Writes with an impossible stamp, before the write or after the response: the program's clock
    /// was used.
    pub refused: u64,
    /// Writes without a requested stamp, because there were too many: they count from the write.
    pub passed: u64,
}

impl DepartureStamps {
    pub(crate) fn merge(&mut self, other: Self) {
        self.taken = self.taken.saturating_add(other.taken);
        self.missing = self.missing.saturating_add(other.missing);
        self.refused = self.refused.saturating_add(other.refused);
        self.passed = self.passed.saturating_add(other.passed);
    }

    /// Requests with a requested stamp for which the program's clock was used.
    #[must_use]
    pub const fn lost(self) -> u64 {
        self.missing.saturating_add(self.refused)
    }

    /// Requests with a requested stamp.
    #[must_use]
    pub const fn asked(self) -> u64 {
        self.taken + self.lost()
    }

    /// Whether most of these requests have a stamp.
    const fn holds(self) -> bool {
        self.taken > self.lost()
    }
}

/// The clock for the times of exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArrivalClock {
    /// The kernel's clock, also for requests: when their bytes left, and when bytes of responses
    /// arrived.
    Wire,
    /// The kernel's clock for the first byte and the end of responses: when their bytes arrived.
    Kernel,
    /// The program's clock: when the program had read the bytes.
    #[default]
    Program,
}

form! { struct Stamps { taken, missing, refused } }
form! { struct DepartureStamps { taken, missing, refused, passed } }
form! { enum ArrivalClock { 0 => Program, 1 => Kernel, 2 => Wire } }

impl ArrivalClock {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Wire, Self::Kernel, Self::Program];

    /// The clock that results from the stamps of a run: the kernel's if most have one.
    #[must_use]
    pub const fn from_stamps(stamps: Stamps, departures: DepartureStamps) -> Self {
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
