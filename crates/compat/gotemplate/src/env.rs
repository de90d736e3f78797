//! A template's access to the outside world.

use crate::fault::Fault;

/// The outside world of a template. This crate has no clock, no randomness and no environment.
pub trait Env {
    /// Nanoseconds since the Unix epoch.
    fn unix_time_ns(&mut self) -> i64;

    /// 64 random bits.
    fn random(&mut self) -> u64;

    /// The local time at a place and a time in seconds since the Unix epoch. The place is `Local`
    /// or a name of the zone database such as `Europe/Berlin`, never `UTC`. `None` if the place is
    /// unknown; Go's functions then use UTC.
    fn zone(&self, place: &str, unix_seconds: i64) -> Option<ZoneTime> {
        let _ = (place, unix_seconds);
        None
    }

    /// An environment variable; empty if it is not set.
    ///
    /// # Errors
    /// If templates may not read the environment.
    fn variable(&self, name: &str) -> Result<String, Fault> {
        Err(format!("the environment is not available here: {name:?}").into())
    }

    /// An address of a host.
    ///
    /// # Errors
    /// If templates may not resolve names.
    fn host_address(&self, name: &str) -> Result<String, Fault> {
        Err(format!("names can't be looked up here: {name:?}").into())
    }
}

/// The local time at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneTime {
    /// Seconds east of UTC.
    pub offset_seconds: i32,
    /// The zone's abbreviation at that time: `CEST`.
    pub abbreviation: String,
}
