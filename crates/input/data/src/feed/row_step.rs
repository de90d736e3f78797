//! The results of reading rows: a step through a window, and the error of a file that has changed.

use drumfire_plan::DataError;
use std::ops::Range;

/// The result of looking for a row at the beginning of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RowStep {
    /// A row in these bytes; with its end it takes `bytes`.
    Row { row: Range<usize>, bytes: usize },
    /// No row in the first `bytes`.
    Blank { bytes: usize },
    /// The window ends within a row.
    More,
    /// There is no further row.
    End,
    /// A mistake.
    Broken { at: usize, message: &'static str },
}

impl RowStep {
    pub(super) const fn row(row: Range<usize>, bytes: usize) -> Self {
        Self::Row { row, bytes }
    }

    pub(super) const fn broken(at: usize, message: &'static str) -> Self {
        Self::Broken { at, message }
    }

    /// A step over `bytes` that are no row; the end of the window if there are none.
    pub(super) const fn blank(bytes: usize, is_last: bool) -> Self {
        match (bytes, is_last) {
            (0, true) => Self::End,
            (0, false) => Self::More,
            (bytes, _) => Self::Blank { bytes },
        }
    }
}

/// The error of a row that differs from the one that was read before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChangedRow;

impl From<ChangedRow> for DataError {
    fn from(_: ChangedRow) -> Self {
        Self::new("the file has changed since the run began")
    }
}
