//! The answer of a comparison.

/// The confidence level of every interval.
pub const CONFIDENCE: f64 = 0.95;

/// The answer of a figure about the candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The candidate is worse.
    Worse,
    /// The candidate is better.
    Better,
    /// The whole interval is within the smallest shift that matters.
    Equal,
    /// Neither a shift nor its absence is proven.
    Open,
}

impl Answer {
    /// The answer's word in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Equal => "equal",
            Self::Open => "nothing shown",
        }
    }
}
