//! The effect of an agent's loss.

use drumfire_measure::form;

/// What the loss of an agent does to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLoss {
    /// The others continue without its share.
    Drop,
    /// The load stops.
    Abort,
    /// The others take its share from a later time on.
    Redistribute,
}

form! { enum OnLoss { 0 => Drop, 1 => Abort, 2 => Redistribute } }
