//! A command as workers carry it out. What follows from it is computed once, where it is given, and
//! shared: a schedule may be large, and workers must not spend their time on it.

use crate::id::PoolId;
use drumfire_plan::{Change, Command};
use drumfire_schedule::Schedule;
use std::sync::Arc;

/// A command, with the schedule that follows from it.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// The command, with the time from which it holds.
    pub(crate) command: Arc<Command>,
    /// The schedule of a new rate.
    pub(super) schedule: Option<Schedule>,
}

impl Order {
    /// A command, with the time from which it holds, and the schedule of a new rate.
    pub(crate) const fn new(command: Arc<Command>, schedule: Option<Schedule>) -> Self {
        Self { command, schedule }
    }

    /// Whether it changes a pool's load.
    pub(crate) fn concerns(&self, pool: PoolId) -> bool {
        self.command.pool.is_none_or(|named| named == pool.0)
    }

    /// Whether this pool reports it: the one that it names, or the first.
    pub(crate) fn is_reported_by(&self, pool: PoolId) -> bool {
        self.command.pool.unwrap_or(0) == pool.0
    }

    /// Whether it is the end of the load.
    pub(crate) fn is_stop(&self) -> bool {
        matches!(self.command.change, Change::Stop { .. })
    }
}
