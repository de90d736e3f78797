//! Load: when requests start, and what ends the run.

mod law_text;

pub use law_text::ReadTrace;

use crate::Pause;
use drumfire_units::{Nanos, Rate};

/// One piece of a rate law. Times are spans from the piece's own start.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// `const(r, d)`: a constant rate for `duration`.
    Const {
        /// The rate.
        rate: Rate,
        /// How long; [`Nanos::MAX`] runs on until the stop condition.
        duration: Nanos,
    },
    /// `line(a, b, d)`: a rate that changes linearly.
    Line {
        /// The rate at the start.
        from: Rate,
        /// The rate at the end.
        to: Rate,
        /// How long.
        duration: Nanos,
    },
    /// `step(from, to, by, d)`: constant pieces, in either direction.
    Step {
        /// The first piece's rate.
        from: Rate,
        /// The last piece's rate.
        to: Rate,
        /// The change between pieces, without a sign; never zero.
        by: Rate,
        /// How long each piece lasts.
        duration: Nanos,
    },
    /// `once(n)`: `count` at once.
    Once {
        /// How many.
        count: u64,
    },
    /// `unlimited(d)`: as fast as the users allow.
    Unlimited {
        /// How long; [`Nanos::MAX`] runs on until the stop condition.
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
        /// How long; [`Nanos::MAX`] runs on until the stop condition.
        duration: Nanos,
    },
    /// `trace(file)`: the given times, ascending.
    Trace {
        /// Intended starts from the piece's start.
        times: std::sync::Arc<[Nanos]>,
    },
    /// `stairs(r, d, r, d, …)`: constant rates one after the other, whose arrivals are counted over
    /// the whole, from 1: the n-th is due when the integral of the rate reaches n. So the first
    /// comes at 1/rate, one may be due at the very end, and a part of an arrival is carried from
    /// step to step.
    Stairs {
        /// The steps; the rates have one `per`, and only the last duration may be [`Nanos::MAX`].
        steps: std::sync::Arc<[(Rate, Nanos)]>,
    },
}

/// Pieces, one after the other, with exact seams.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence(pub Vec<Law>);

/// How arrivals are spread at a given rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// Evenly, exactly by the law.
    #[default]
    Constant,
    /// A Poisson process of the same rate, from the plan's seed.
    Poisson,
}

/// The treatment of an arrival when no connection is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LatePolicy {
    /// It waits; the wait is part of its response time.
    #[default]
    Queue,
    /// It waits at most this long, then it is dropped and counted.
    Drop(Nanos),
    /// It waits until the next one is due, then it is dropped and counted.
    Skip,
}

/// When requests start, and how many at a time.
#[derive(Clone, Debug)]
pub enum Load {
    /// Arrivals by a law, independent of the target.
    Open {
        /// The law.
        rate: Sequence,
        /// How arrivals are spread.
        arrivals: Arrivals,
        /// The treatment of arrivals when no connection is free.
        late: LatePolicy,
    },
    /// Users that start again when they have finished.
    Closed {
        /// How many; at least 1.
        users: u32,
        /// The pause between the end of an iteration and the same user's next.
        think: Pause,
        /// How far the beginnings of a user's iterations lie apart at least.
        pace: Nanos,
    },
    /// Arrivals by a law for each user apart, which begins when the user comes. A user takes those
    /// of its own, one after the other.
    PerUser {
        /// How many users; at least 1.
        users: u32,
        /// The law of each.
        rate: Sequence,
        /// The treatment of arrivals whose user is busy.
        late: LatePolicy,
    },
}

impl Load {
    /// Whether a law says when requests start, and not their users' being free.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        match self {
            Self::Open { .. } | Self::PerUser { .. } => true,
            Self::Closed { .. } => false,
        }
    }

    /// Whether it ends without a stop condition.
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

    /// Whether it is another at one time than at another, by its law.
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

    /// How many users carry the load, where it is theirs.
    #[must_use]
    pub const fn users(&self) -> Option<u32> {
        match self {
            Self::Open { .. } => None,
            Self::Closed { users, .. } | Self::PerUser { users, .. } => Some(*users),
        }
    }
}

/// The ends of the run, of which the first one counts. At least one is set, unless the load ends by
/// itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stop {
    /// No request starts after this span.
    pub duration: Option<Nanos>,
    /// Exactly this many requests start.
    pub requests: Option<u64>,
    /// How often the list of requests is gone through, or the program's steps are, exactly.
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
    /// They are ended at once and count as failed, with `local:cancelled`.
    Close,
    /// They are ended at once, and count as in flight at the end and nothing else.
    Ignore,
}

/// Why a text is not a rate law: the mistake and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LawError {
    /// The byte at which it goes wrong.
    pub at: usize,
    /// The mistake, and what would be right.
    pub message: String,
}
