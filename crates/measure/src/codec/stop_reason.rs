//! The reason of a stop, as its place in [`StopReason::ALL`].

use super::{CodecError, Input, put};
use drumfire_plan::StopReason;

/// The number of a reason.
#[must_use]
pub fn stop_number(reason: StopReason) -> u64 {
    let mut reasons = StopReason::ALL.iter();
    let number = reasons.position(|other| *other == reason);
    number.unwrap_or(StopReason::ALL.len()) as u64
}

/// The reason that has a number; `None` where none has it.
#[must_use]
pub fn stop_of_number(number: u64) -> Option<StopReason> {
    let number = usize::try_from(number).ok()?;
    StopReason::ALL.get(number).copied()
}

/// Appends a reason.
pub(crate) fn encode_reason(reason: StopReason, out: &mut Vec<u8>) {
    put(out, stop_number(reason));
}

/// Reads what [`encode_reason`] wrote.
pub(crate) fn decode_reason(input: &mut Input<'_>) -> Result<StopReason, CodecError> {
    stop_of_number(input.number()?).ok_or(CodecError::Malformed("an unknown reason"))
}
