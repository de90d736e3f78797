//! The part of a run that its record has.

/// The part of a run that its record covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// All of it.
    Whole,
    /// All of it up to its end, but for what was lost where it was cut off and resumed.
    Resumed,
    /// No more than its beginning: it was cut off, or goes on.
    Begun,
}

impl Coverage {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Whole, Self::Resumed, Self::Begun];

    /// The word for it, as programs read it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Resumed => "resumed",
            Self::Begun => "begun",
        }
    }

    /// Whether it reaches to the run's end.
    #[must_use]
    pub const fn has_end(self) -> bool {
        !matches!(self, Self::Begun)
    }
}
