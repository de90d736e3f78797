//! The part of a run that its record covers.

/// The part of a run that its record covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// All of it.
    Whole,
    /// The whole run up to its end, except for losses where it was interrupted and resumed.
    Resumed,
    /// Only the beginning: the run was interrupted, or is still running.
    Begun,
}

impl Coverage {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Whole, Self::Resumed, Self::Begun];

    /// The stable name, for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Resumed => "resumed",
            Self::Begun => "begun",
        }
    }

    /// Whether the record reaches the run's end.
    #[must_use]
    pub const fn has_end(self) -> bool {
        !matches!(self, Self::Begun)
    }
}
