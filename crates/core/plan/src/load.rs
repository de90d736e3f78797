//! The load: when requests start, and when the run ends.

mod law_text;

pub use law_text::ReadTrace;

use crate::{Arrivals, Pause};
use drumfire_units::{Nanos, Rate};

/// One piece of a rate law. Times are spans from the piece's own start.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// `const(r, d)`: a constant rate for `duration`.
    Const {
        /// The rate.
        rate: Rate,
        /// The length; [`Nanos::MAX`] continues until the stop condition.
        duration: Nanos,
    },
    /// `line(a, b, d)`: a rate that changes linearly.
    Line {
        /// The rate at the start.
        from: Rate,
        /// The rate at the end.
        to: Rate,
        /// The length.
        duration: Nanos,
    },
    /// `step(from, to, by, d)`: constant pieces, in either direction.
    Step {
        /// The first piece's rate.
        from: Rate,
        /// The last piece's rate.
        to: Rate,
        /// The absolute change between pieces; never zero.
        by: Rate,
        /// The length of each piece.
        duration: Nanos,
    },
    /// `once(n)`: `count` arrivals at once.
    Once {
        /// The number of arrivals.
        count: u64,
    },
    /// `unlimited(d)`: as fast as the users allow.
    Unlimited {
        /// The length; [`Nanos::MAX`] continues until the stop condition.
        duration: Nanos,
    },
    /// `sine(mean, amplitude, period, d)`: mean + amplitude · sin(2πt / period).
    Sine {
        /// The mean rate.
        mean: Rate,
        /// The amplitude, at most the mean.
        amplitude: Rate,
        /// The period; never zero.
        period: Nanos,
        /// The length; [`Nanos::MAX`] continues until the stop condition.
        duration: Nanos,
    },
    /// `trace(file)`: the given times, ascending.
    Trace {
        /// The intended starts, from the start of the piece.
        times: std::sync::Arc<[Nanos]>,
    },
    /// `stairs(r, d, r, d, …)`: consecutive constant rates whose arrivals are counted over the
    /// whole law, from 1: the n-th is due when the integral of the rate reaches n. So the first
    /// arrival is due at 1/rate, one may be due at the very end, and a fraction of an arrival is
    /// carried from step to step.
    Stairs {
        /// The steps; the rates have the same `per`, and only the last duration may be
        /// [`Nanos::MAX`].
        steps: std::sync::Arc<[(Rate, Nanos)]>,
    },
}

/// Consecutive pieces with exact boundaries.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence(pub Vec<Law>);

/// The treatment of an arrival if no connection is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LatePolicy {
    /// The arrival waits; the wait is part of its response time.
    #[default]
    Queue,
    /// The arrival waits at most this long; then it is dropped and counted.
    Drop(Nanos),
    /// The arrival waits until the next one is due; then it is dropped and counted.
    Skip,
}

/// When requests start, and how many run at a time.
#[derive(Clone, Debug)]
pub enum Load {
    /// Arrivals by a law, independent of the target.
    Open {
        /// The law.
        rate: Sequence,
        /// How arrivals are spread.
        arrivals: Arrivals,
        /// The treatment of arrivals if no connection is free.
        late: LatePolicy,
    },
    /// Users that start again when they have finished.
    Closed {
        /// The number of users; at least 1.
        users: u32,
        /// The pause between two iterations of a user.
        think: Pause,
        /// The minimum time between the starts of a user's iterations.
        pace: Nanos,
    },
    /// Arrivals by a separate law for each user, which begins when the user appears. A user handles
    /// its own arrivals one after the other.
    PerUser {
        /// The number of users; at least 1.
        users: u32,
        /// The law of each user.
        rate: Sequence,
        /// The treatment of arrivals whose user is busy.
        late: LatePolicy,
    },
}

impl Load {
    /// Whether a law determines when requests start, instead of users becoming free.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        match self {
            Self::Open { .. } | Self::PerUser { .. } => true,
            Self::Closed { .. } => false,
        }
    }

    /// Whether the load ends without a stop condition.
    #[must_use]
    pub fn ends_by_itself(&self) -> bool {
        match self {
            Self::Open {
                rate: Sequence(laws),
                ..
            }
            | Self::PerUser {
                rate: Sequence(laws),
                ..
            } => !laws.iter().any(Law::runs_on),
            Self::Closed { .. } => false,
        }
    }

    /// Whether the load changes over time, by its law.
    #[must_use]
    pub fn changes(&self) -> bool {
        match self {
            Self::Open {
                rate: Sequence(laws),
                ..
            }
            | Self::PerUser {
                rate: Sequence(laws),
                ..
            } => !matches!(laws[..], [Law::Const { .. } | Law::Unlimited { .. }]),
            Self::Closed { .. } => false,
        }
    }

    /// The number of users of the load; `None` for an open load.
    #[must_use]
    pub const fn users(&self) -> Option<u32> {
        match self {
            Self::Open { .. } => None,
            Self::Closed { users, .. } | Self::PerUser { users, .. } => Some(*users),
        }
    }
}

/// The ends of the run; the first one reached applies. At least one is set, unless the load ends by
/// itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stop {
    /// No request starts after this time.
    pub duration: Option<Nanos>,
    /// Exactly this many requests start.
    pub requests: Option<u64>,
    /// The exact number of passes through the list of requests, or through the program's steps.
    pub iterations: Option<u64>,
    /// The treatment of requests in flight when the duration is over or the run is stopped.
    pub drain: Drain,
}

/// The treatment of requests in flight when time is up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drain {
    /// They may finish within their timeouts, and count.
    #[default]
    Wait,
    /// They are aborted immediately and count as failed, with `local:cancelled`.
    Close,
    /// They are aborted immediately, and count only as in flight at the end.
    Ignore,
}

/// Why a text is not a rate law: the mistake and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LawError {
    /// The byte position of the mistake.
    pub at: usize,
    /// The mistake, and a correction.
    pub message: String,
}
