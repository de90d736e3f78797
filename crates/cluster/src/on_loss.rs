//! The effect of an agent's loss.

use crate::bytes::MessageError;

/// What the loss of an agent does to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLoss {
    /// The others go on, without its share.
    Drop,
    /// The load stops.
    Abort,
    /// The others take its share from a later time on.
    Redistribute,
}

impl OnLoss {
    pub(crate) const fn number(self) -> u64 {
        match self {
            Self::Drop => 0,
            Self::Abort => 1,
            Self::Redistribute => 2,
        }
    }

    pub(crate) const fn of_number(number: u64) -> Result<Self, MessageError> {
        match number {
            0 => Ok(Self::Drop),
            1 => Ok(Self::Abort),
            2 => Ok(Self::Redistribute),
            _ => Err(MessageError::Malformed("an unknown effect of a loss")),
        }
    }
}
