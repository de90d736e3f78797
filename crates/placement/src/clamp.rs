//! A bound of a plan that a machine lowers, without refusing the plan.

use drumfire_units::rounded;
use std::fmt;

/// Connections that a pool opens as they are needed, where file descriptors leave room for fewer
/// than the plan allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clamp {
    /// The pool's name.
    pub pool: String,
    /// The bound to each of its targets, as the plan has it.
    pub planned: u32,
    /// The bound to each of its targets on this machine.
    pub given: u32,
    /// The file descriptors that this process may open.
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
