//! Steps that are gRPC calls.

use super::mapping::prepare;
use super::scope::Scope;
use super::template::translated;
use super::{Call, Scenario};
use crate::pandora::TOOL;
use drumfire_document::{Ask, Fields, Payload, Request, RequestStep, Step};

/// The statuses of calls, by the corresponding HTTP status.
const STATUSES: [(u64, &str); 12] = [
    (200, "OK"),
    (400, "INVALID_ARGUMENT, FAILED_PRECONDITION, OUT_OF_RANGE"),
    (401, "UNAUTHENTICATED"),
    (403, "PERMISSION_DENIED"),
    (404, "NOT_FOUND"),
    (409, "ALREADY_EXISTS, ABORTED"),
    (429, "RESOURCE_EXHAUSTED"),
    (499, "CANCELLED"),
    (500, "UNKNOWN, INTERNAL, DATA_LOSS"),
    (501, "UNIMPLEMENTED"),
    (503, "UNAVAILABLE"),
    (504, "DEADLINE_EXCEEDED"),
];

/// Adds the steps of a call: its preprocessing, and the call.
pub(super) fn add_call(
    call: &Call,
    scenario: &Scenario,
    round: u64,
    scope: &mut Scope<'_>,
    steps: &mut Vec<Step>,
) -> Result<(), String> {
    prepare(&call.name, &call.mapping, round, scope, steps)?;
    let method = method(&call.call);
    let mut written = Request::new(Ask::Call(TOOL.text("call", &method)));
    let mut fields = Vec::new();
    for (key, value) in &call.metadata {
        fields.push(TOOL.field("metadata", key, &translated(value, scope)?));
    }
    written.fields = Fields::Listed(fields);
    let payload = translated(&call.payload, scope)?;
    written.data.payload = Some(Payload::Text(TOOL.text("payload", &payload)));
    let name = format!("{}.{}", scenario.name, call.tag);
    written.name = Some(TOOL.text("tag", &name));
    let mut statuses: Vec<u64> = call.checks.iter().map(|check| check.status).collect();
    let texts = call.checks.iter().flat_map(|check| &check.payload);
    for text in texts.filter(|text| !text.is_empty()) {
        let contains = format!("contains {text}");
        written.expect.body.push(TOOL.text("payload", &contains));
    }
    statuses.retain(|status| *status > 0);
    statuses.dedup();
    written.expect.status = match &statuses[..] {
        [] => None,
        [status] => Some(TOOL.text("status_code", &expected(*status)?)),
        [one, other, ..] => {
            return Err(format!(
                "status_code: a call can have only one status, not {one} and {other}"
            ));
        }
    };
    // Without a check, a failed call does not end the iteration.
    let is_unchecked = written.expect.body.is_empty() && written.expect.status.is_none();
    let on_fail = match is_unchecked {
        true => "continue",
        false => "end_iteration",
    };
    scope.learn_reply(&call.name, steps.len());
    steps.push(Step::Request(Box::new(RequestStep {
        request: written,
        on_fail: Some(TOOL.text("postprocessors", &on_fail)),
    })));
    Ok(())
}

/// The gRPC statuses for an HTTP status.
fn expected(status: u64) -> Result<&'static str, String> {
    let known = STATUSES.iter().find(|(known, _)| *known == status);
    known.map(|(_, names)| *names).ok_or_else(|| {
        let known = STATUSES.iter().map(|(known, _)| known.to_string());
        let known: Vec<String> = known.collect();
        let known = known.join(", ");
        format!("status_code: {status} does not map to a call status; use {known}")
    })
}

/// `package.Service.Method` as `package.Service/Method`.
fn method(call: &str) -> String {
    if call.contains('/') {
        return call.trim_start_matches('/').to_owned();
    }
    match call.rsplit_once('.') {
        Some((service, method)) => format!("{service}/{method}"),
        None => call.to_owned(),
    }
}
