//! When requests start.

use super::{count, some};
use crate::flags::LoadFlags;
use drumfire_plan::document::{Load, Stop};

pub(super) fn load(flags: &LoadFlags) -> Load {
    Load {
        rate: some("rate", flags.rate.as_ref()),
        arrivals: some("arrivals", flags.arrivals.as_ref()),
        late: some("late", flags.late.as_ref()),
        users: some("users", flags.users.as_ref()),
        think: some("think", flags.think_time.as_ref()),
        pace: None,
    }
}

pub(super) fn stop(flags: &LoadFlags) -> Stop {
    Stop {
        after: some("after", flags.duration.as_ref()),
        requests: count("requests", flags.requests),
        iterations: count("iterations", flags.iterations),
        drain: None,
    }
}
