//! The status of a gRPC call as Go's client reports it.

use drumfire_measure::{GRPC_STATUS, Outcome, Sample};

/// Go's names of gRPC's codes, by number.
pub(crate) const CODES: [&str; 17] = [
    "OK",
    "Canceled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated",
];

/// The HTTP statuses of these codes in Pandora.
pub(crate) const OF_HTTP: [u32; 17] = [
    200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401,
];

/// The highest code.
const GREATEST: u8 = 16;

const UNKNOWN: u8 = 2;
const UNAVAILABLE: u8 = 14;

/// The number of the code. A call that was cut off at the end of the run counts as a lost
/// connection.
pub(crate) fn from_sample(sample: &Sample) -> u8 {
    let given = sample.status.checked_sub(GRPC_STATUS);
    let given = given.and_then(|code| u8::try_from(code).ok());
    let given = given.filter(|code| *code <= GREATEST);
    match (sample.outcome, given) {
        // A check may expect another status, so a call with any code can be ok.
        (Outcome::Ok, code) => code.unwrap_or(0),
        (Outcome::GrpcOk, _) => 0,
        (Outcome::LocalCancelled, _) => UNAVAILABLE,
        (_, Some(0) | None) => UNKNOWN,
        (_, Some(code)) => code,
    }
}
