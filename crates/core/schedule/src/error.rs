//! Errors of sequences that can't be scheduled.

use std::fmt;

/// The maximum number of random arrivals per second. Every worker draws all of them, so that its
/// share does not depend on the number of workers. At this rate, drawing takes a tenth of its time.
pub const RANDOM_RATE_MAX: u64 = 10_000_000;

/// The maximum number of arrivals per second with gamma gaps, of which a draw takes several times as
/// long as an exponential gap.
pub const GAMMA_RATE_MAX: u64 = 2_000_000;

/// The reason why a sequence can't be scheduled; pieces are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The sequence is empty.
    Empty,
    /// A piece without an end is followed by another piece.
    NeverEnds {
        /// The number of the piece.
        piece: usize,
    },
    /// The durations up to and including this piece exceed 2^62 ns, about 146 years.
    TooLong {
        /// The number of the piece.
        piece: usize,
    },
    /// The arrivals up to and including this piece exceed 2^63.
    TooManyArrivals {
        /// The number of the piece.
        piece: usize,
    },
    /// A `step` has more than [`ScheduleError::STEPS_MAX`] levels, or its `by` is zero.
    TooManySteps {
        /// The number of the piece.
        piece: usize,
    },
    /// A piece has more random arrivals per second than [`RANDOM_RATE_MAX`] or [`GAMMA_RATE_MAX`];
    /// random arrivals are drawn one by one.
    TooManyDraws {
        /// The number of the piece.
        piece: usize,
        /// The maximum.
        most: u64,
    },
    /// Two rates of one piece have no common denominator below 2^62.
    TooFine {
        /// The number of the piece.
        piece: usize,
    },
    /// A `line` or a `step` level has no end, or a `sine` has no period.
    NoSpan {
        /// The number of the piece.
        piece: usize,
    },
    /// The amplitude of a `sine` exceeds its mean, so the rate would be negative.
    NegativeRate {
        /// The number of the piece.
        piece: usize,
    },
    /// The times of a `trace` are not ascending.
    TraceOrder {
        /// The number of the piece.
        piece: usize,
        /// The index of the first time that is earlier than the previous one, from 0.
        index: usize,
    },
}

impl ScheduleError {
    /// The maximum number of levels of a `step`.
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
            Self::TooManyDraws { piece, most } => write!(
                f,
                "part {} of the load has more than {most} random arrivals per second; lower the rate \
                 or use constant arrivals",
                piece + 1
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
