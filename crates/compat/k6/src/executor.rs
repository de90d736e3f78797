//! How a scenario starts iterations.

use drumfire_units::Nanos;

/// A change to a number of users or of iterations, over a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The time. 0 is a jump.
    pub duration: Nanos,
    /// The number at the end.
    pub target: u64,
}

/// An executor with its own options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Executor {
    /// Users take iterations from one count.
    SharedIterations {
        /// Users.
        users: u64,
        /// Iterations of all users.
        iterations: u64,
        /// The time after which no iteration starts.
        duration_max: Nanos,
    },
    /// Each user has its iterations.
    PerUserIterations {
        /// Users.
        users: u64,
        /// Iterations of each user.
        iterations: u64,
        /// The time after which no iteration starts.
        duration_max: Nanos,
    },
    /// Users iterate without a pause.
    ConstantUsers {
        /// Users.
        users: u64,
        /// The time after which no iteration starts.
        duration: Nanos,
    },
    /// The number of users changes.
    RampingUsers {
        /// Users at the start.
        start: u64,
        /// Changes, one after the other.
        stages: Vec<Stage>,
        /// The time that an iteration of a user has after the user is no longer needed.
        graceful_ramp_down: Nanos,
    },
    /// Iterations start at a rate.
    ConstantArrivals {
        /// Iterations for each `unit`.
        rate: u64,
        /// The unit of `rate`.
        unit: Nanos,
        /// The time after which no iteration starts.
        duration: Nanos,
        /// Users.
        users: Users,
    },
    /// The rate of iterations changes.
    RampingArrivals {
        /// Iterations for each `unit` at the start.
        start: u64,
        /// The unit of the rates.
        unit: Nanos,
        /// Changes of the rate, one after the other.
        stages: Vec<Stage>,
        /// Users.
        users: Users,
    },
}

/// The users of an executor that starts iterations by a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Users {
    /// Users that are made before the start.
    pub allocated: u64,
    /// Users that can be made in all.
    pub max: u64,
}

impl Executor {
    /// The regular duration, after which no iteration starts.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        match self {
            Self::SharedIterations { duration_max, .. }
            | Self::PerUserIterations { duration_max, .. } => *duration_max,
            Self::ConstantUsers { duration, .. } | Self::ConstantArrivals { duration, .. } => {
                *duration
            }
            Self::RampingUsers { stages, .. } | Self::RampingArrivals { stages, .. } => Nanos(
                stages
                    .iter()
                    .fold(0, |sum, stage| sum.saturating_add(stage.duration.0)),
            ),
        }
    }

    /// The greatest number of users.
    #[must_use]
    pub fn users_max(&self) -> u64 {
        match self {
            Self::SharedIterations { users, .. }
            | Self::PerUserIterations { users, .. }
            | Self::ConstantUsers { users, .. } => *users,
            Self::RampingUsers { start, stages, .. } => stages
                .iter()
                .fold(*start, |most, stage| most.max(stage.target)),
            Self::ConstantArrivals { users, .. } | Self::RampingArrivals { users, .. } => users.max,
        }
    }
}
