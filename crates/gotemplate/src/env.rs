//! A template's access to the outside world.

use crate::fault::Fault;

/// The world as a template sees it. This crate has no clock, no randomness and no environment.
pub trait Env {
    /// Nanoseconds since the Unix epoch.
    fn unix_time_ns(&mut self) -> i64;

    /// 64 random bits.
    fn random(&mut self) -> u64;

    /// The local time in a place (`Local`, or a name of the zone database such as `Europe/Berlin`)
    /// at a time, in seconds since the Unix epoch. `None` when the place is not known; then Go's
    /// functions use UTC. `UTC` is never asked for.
    fn zone(&self, place: &str, unix_seconds: i64) -> Option<ZoneTime> {
        let _ = (place, unix_seconds);
        None
    }

    /// A variable of the environment; empty when it is not set.
    ///
    /// # Errors
    /// When templates may not read the environment here.
    fn variable(&self, name: &str) -> Result<String, Fault> {
        Err(format!("the environment is not available here: {name:?}").into())
    }

    /// An address of a host.
    ///
    /// # Errors
    /// When templates may not look names up here.
    fn host_address(&self, name: &str) -> Result<String, Fault> {
        Err(format!("names can't be looked up here: {name:?}").into())
    }
}

/// The local time in a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneTime {
    /// Seconds east of UTC.
    pub offset_seconds: i32,
    /// The zone's name then: `CEST`.
    pub abbreviation: String,
}
