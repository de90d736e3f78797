//! The part of a run that its record covers.

use drumfire_units::Nanos;

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

/// The state of a stored run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredState {
    /// The record has the end of the run.
    Finished,
    /// A program is still writing the record.
    Running,
    /// The record has no end, and no program is writing it.
    CutOff,
}

impl StoredState {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Finished, Self::Running, Self::CutOff];

    /// The stable name, for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Running => "running",
            Self::CutOff => "cut_off",
        }
    }
}

/// The progress of a run whose record has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// Whether a program is still writing the record.
    pub is_active: bool,
    /// The time up to the end of the last stored interval, without the pauses between the parts of
    /// a resumed run.
    pub done: Nanos,
    /// The length of the load in the plan; `None` if a part of the load has no duration.
    pub planned: Option<Nanos>,
}

impl Unfinished {
    /// The state of a run with this progress; a run without it has an end.
    #[must_use]
    pub const fn state(progress: Option<&Self>) -> StoredState {
        match progress {
            None => StoredState::Finished,
            Some(Self {
                is_active: true, ..
            }) => StoredState::Running,
            Some(_) => StoredState::CutOff,
        }
    }
}
