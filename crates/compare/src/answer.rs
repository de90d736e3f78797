//! The answer of a comparison.

/// The confidence of every interval.
pub const CONFIDENCE: f64 = 0.95;

/// The answer of a figure about the candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A shift for the worse is shown.
    Worse,
    /// A shift for the better is shown.
    Better,
    /// The whole interval is within the smallest shift that matters.
    Equal,
    /// Neither a shift nor its absence is shown.
    Open,
}

impl Answer {
    /// The word of the answer in JSON.
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
