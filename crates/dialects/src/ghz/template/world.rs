//! What templates and reports may know of the machine that they run on. A dialect reads nothing itself.

use drumfire_gotemplate::ZoneTime;
use std::fmt;

/// What templates and reports may know of the machine.
pub trait World: Send + Sync + fmt::Debug {
    /// What clocks show in a place (`Local`, or a name of the zone database) at a time, in seconds
    /// since the Unix epoch; `None` when it is not known, and then it is UTC.
    fn zone(&self, place: &str, unix_seconds: i64) -> Option<ZoneTime>;

    /// A variable of the environment, empty when it is not set; `None` when templates may not read
    /// the environment.
    fn variable(&self, name: &str) -> Option<String>;
}

/// A world with UTC and without an environment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bare;

impl World for Bare {
    fn zone(&self, _: &str, _: i64) -> Option<ZoneTime> {
        None
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}
