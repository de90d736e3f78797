//! The reason of a stop, as its number in a fixed list. A new reason goes to the end of the list:
//! the numbers stand in stored runs and travel between machines.

use super::{CodecError, Input, put};
use drumfire_plan::StopReason;

/// The reasons, in the order of their numbers.
const REASONS: [StopReason; 6] = [
    StopReason::Signal,
    StopReason::Duration,
    StopReason::Counted,
    StopReason::Threshold,
    StopReason::Command,
    StopReason::Lost,
];

/// The number of a reason.
#[must_use]
pub fn stop_number(reason: StopReason) -> u64 {
    let number = REASONS.iter().position(|other| *other == reason);
    number.unwrap_or(REASONS.len()) as u64
}

/// The reason that has a number; `None` where none has it.
#[must_use]
pub fn stop_of_number(number: u64) -> Option<StopReason> {
    let number = usize::try_from(number).ok()?;
    REASONS.get(number).copied()
}

/// Appends a reason.
pub(crate) fn encode_reason(reason: StopReason, out: &mut Vec<u8>) {
    put(out, stop_number(reason));
}

/// Reads what [`encode_reason`] wrote.
pub(crate) fn decode_reason(input: &mut Input<'_>) -> Result<StopReason, CodecError> {
    stop_of_number(input.number()?).ok_or(CodecError::Malformed("an unknown reason"))
}
