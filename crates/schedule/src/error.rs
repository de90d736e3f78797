//! Why a sequence can't be scheduled.

use std::fmt;

/// How many random arrivals a second may have. Every worker draws all of them, so that its part
/// does not depend on the number of workers: at this rate that takes a tenth of its time.
pub const RANDOM_RATE_MAX: u64 = 10_000_000;

/// Why a sequence can't be scheduled; pieces are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The sequence has no piece.
    Empty,
    /// A piece that runs on for ever is followed by another.
    NeverEnds {
        /// Which piece.
        piece: usize,
    },
    /// The durations up to and with this piece exceed 2^62 ns, some 146 years.
    TooLong {
        /// Which piece.
        piece: usize,
    },
    /// There are more than 2^63 arrivals up to and with this piece.
    TooManyArrivals {
        /// Which piece.
        piece: usize,
    },
    /// A `step` has more than [`ScheduleError::STEPS_MAX`] levels, or its `by` is zero.
    TooManySteps {
        /// Which piece.
        piece: usize,
    },
    /// Random arrivals are drawn one by one, and a piece has more than
    /// [`RANDOM_RATE_MAX`] of them in a second.
    TooManyDraws {
        /// Which piece.
        piece: usize,
    },
    /// Two rates of one piece have no common denominator below 2^62.
    TooFine {
        /// Which piece.
        piece: usize,
    },
    /// A `line` or a `step` level without an end, or a `sine` without a period.
    NoSpan {
        /// Which piece.
        piece: usize,
    },
    /// The amplitude of a `sine` exceeds its mean, so that the rate would be negative.
    NegativeRate {
        /// Which piece.
        piece: usize,
    },
    /// The times of a `trace` descend.
    TraceOrder {
        /// Which piece.
        piece: usize,
        /// The first time that is earlier than the one before it, counted from 0.
        index: usize,
    },
}

impl ScheduleError {
    /// How many levels one `step` may have.
    pub const STEPS_MAX: u64 = 100_000;
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the load is empty; write a rate such as 500/s"),
            Self::NeverEnds { piece } => write!(
                f,
                "part {} of the load never ends, but another follows; give it a duration",
                piece + 1
            ),
            Self::TooLong { piece } => write!(
                f,
                "the durations up to part {} of the load exceed 146 years; shorten them",
                piece + 1
            ),
            Self::TooManyArrivals { piece } => write!(
                f,
                "the load has more than 2^63 arrivals up to part {}; lower the rate",
                piece + 1
            ),
            Self::TooManySteps { piece } => write!(
                f,
                "part {} of the load has no end or more than {} levels; increase the change between \
                 levels",
                piece + 1,
                Self::STEPS_MAX
            ),
            Self::TooManyDraws { piece } => write!(
                f,
                "part {} of the load has more than {} random arrivals per second; lower the rate or \
                 use constant arrivals",
                piece + 1,
                RANDOM_RATE_MAX
            ),
            Self::TooFine { piece } => write!(
                f,
                "the rates of part {} of the load have no common denominator; write them with fewer \
                 digits",
                piece + 1
            ),
            Self::NoSpan { piece } => {
                write!(
                    f,
                    "part {} of the load needs a finite duration or period",
                    piece + 1
                )
            }
            Self::NegativeRate { piece } => write!(
                f,
                "the amplitude of part {} of the load exceeds its mean; lower it",
                piece + 1
            ),
            Self::TraceOrder { piece, index } => write!(
                f,
                "time {} of the trace in part {} of the load is earlier than the one before it; sort \
                 the times",
                index + 1,
                piece + 1
            ),
        }
    }
}

impl std::error::Error for ScheduleError {}
