//! The result of a call, in the suite's types.

use crate::message::{ClientResponseResult, Error, GoogleRpcStatus, HeaderMessage};
use drumfire_grpc::{Code, Status};
use drumfire_http2::Headers;
use prost::Message as _;

/// Fields that contain the status and are not metadata.
const STATUS: [&str; 3] = ["grpc-status", "grpc-message", "grpc-status-details-bin"];

/// Metadata, with the values of each name grouped.
pub(crate) fn metadata(headers: Headers<'_>) -> Vec<HeaderMessage> {
    let mut metadata: Vec<HeaderMessage> = Vec::new();
    for (name, value) in headers.iter().filter(|(name, _)| !STATUS.contains(name)) {
        let value = String::from_utf8_lossy(value).into_owned();
        match metadata.iter_mut().find(|header| header.name == name) {
            Some(header) => header.value.push(value),
            None => metadata.push(HeaderMessage {
                name: name.to_owned(),
                value: vec![value],
            }),
        }
    }
    metadata
}

/// The status as an error; `None` if it is OK.
pub(crate) fn error(status: &Status) -> Option<Error> {
    if status.is_ok() {
        return None;
    }
    let words = status.violation.map(|violation| violation.to_string());
    let details = status.details.as_deref().unwrap_or_default();
    Some(Error {
        code: status.code.number().into(),
        message: status.message.as_deref().map(str::to_owned).or(words),
        details: GoogleRpcStatus::decode(details)
            .map(|status| status.details)
            .unwrap_or_default(),
    })
}

/// The status of a call that the client ends.
pub(crate) fn failed(code: Code, words: &str) -> Status {
    Status {
        message: Some(words.into()),
        ..Status::of_code(code)
    }
}

/// Completes a result with a status.
pub(crate) fn conclude(
    mut result: ClientResponseResult,
    status: &Status,
    unsent: usize,
) -> ClientResponseResult {
    result.error = error(status);
    result.num_unsent_requests = i32::try_from(unsent).unwrap_or(i32::MAX);
    result
}
