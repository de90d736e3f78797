//! The status of a gRPC call as Go's client has it.

use drumfire_measure::{GRPC_STATUS, Outcome, Sample};

/// The greatest code.
const GREATEST: u8 = 16;

const UNKNOWN: u8 = 2;
const UNAVAILABLE: u8 = 14;

/// The code's number. A call that was cut off at the end of the run lost its connection.
pub(crate) fn of(sample: &Sample) -> u8 {
    let given = sample.status.checked_sub(GRPC_STATUS);
    let given = given.and_then(|code| u8::try_from(code).ok());
    let given = given.filter(|code| *code <= GREATEST);
    match (sample.outcome, given) {
        (Outcome::Ok, _) => 0,
        (Outcome::LocalCancelled, _) => UNAVAILABLE,
        (_, Some(0) | None) => UNKNOWN,
        (_, Some(code)) => code,
    }
}
