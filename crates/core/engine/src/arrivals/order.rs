//! A command as workers apply it. The schedule that results from a command is computed once, by the
//! sender, and shared: a schedule may be large, and workers must not spend time on it.

use crate::id::PoolId;
use drumfire_plan::{Change, Command};
use drumfire_schedule::Schedule;
use std::sync::Arc;

/// A command, with the schedule that results from it.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// The command, with the time from which it takes effect.
    pub(crate) command: Arc<Command>,
    /// The schedule, if the command sets a new rate.
    pub(super) schedule: Option<Schedule>,
}

impl Order {
    /// An order from a command with a set time and, for a new rate, its schedule.
    pub(crate) const fn new(command: Arc<Command>, schedule: Option<Schedule>) -> Self {
        Self { command, schedule }
    }

    /// Whether the order changes a pool's load.
    pub(crate) fn concerns(&self, pool: PoolId) -> bool {
        self.command.pool.is_none_or(|named| named == pool.0)
    }

    /// Whether this pool reports the order: the pool of the command, or else the first.
    pub(crate) fn is_reported_by(&self, pool: PoolId) -> bool {
        self.command.pool.unwrap_or(0) == pool.0
    }

    /// Whether the order ends the load.
    pub(crate) fn is_stop(&self) -> bool {
        matches!(self.command.change, Change::Stop { .. })
    }
}
