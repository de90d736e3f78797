//! The reason of a stop, as its number in a fixed list. A new reason goes to the end of the list:
//! the numbers stand in stored runs.

use super::{CodecError, Input, put};
use drumfire_plan::StopReason;

/// The reasons, in the order of their numbers.
const REASONS: [StopReason; 5] = [
    StopReason::Signal,
    StopReason::Duration,
    StopReason::Counted,
    StopReason::Threshold,
    StopReason::Command,
];

/// Appends a reason.
pub(crate) fn encode_reason(reason: StopReason, out: &mut Vec<u8>) {
    let number = REASONS.iter().position(|other| *other == reason);
    put(out, number.unwrap_or(REASONS.len()) as u64);
}

/// Reads what [`encode_reason`] wrote.
pub(crate) fn decode_reason(input: &mut Input<'_>) -> Result<StopReason, CodecError> {
    let number = usize::try_from(input.number()?).ok();
    let reason = number.and_then(|number| REASONS.get(number));
    reason
        .copied()
        .ok_or(CodecError::Malformed("an unknown reason"))
}
