//! The effect of a lost agent on the run.

use drumfire_measure::form;

/// The effect of a lost agent on the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLoss {
    /// The others continue without its share.
    Drop,
    /// The load stops.
    Abort,
    /// The others take over its share from a later time.
    Redistribute,
}

form! { enum OnLoss { 0 => Drop, 1 => Abort, 2 => Redistribute } }
