//! A bound of a plan that a machine lowers, without refusing the plan.

use drumfire_units::rounded;
use std::fmt;

/// A pool that opens connections as needed, on a machine whose file descriptors allow fewer
/// connections than the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clamp {
    /// The pool's name.
    pub pool: String,
    /// The maximum number of connections to each target in the plan.
    pub planned: u32,
    /// The maximum number of connections to each target on this machine.
    pub given: u32,
    /// The maximum number of file descriptors of this process.
    pub descriptors: u64,
}

impl fmt::Display for Clamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pool,
            planned,
            given,
            descriptors,
        } = self;
        write!(
            f,
            "{pool}: up to {} connections to each target instead of {}, because this process may open \
             only {} files (ulimit -n)",
            rounded::count(u64::from(*given)),
            rounded::count(u64::from(*planned)),
            rounded::count(*descriptors),
        )
    }
}
