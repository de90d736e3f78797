//! Steps that are gRPC calls.

use super::lower::prepare;
use super::scope::Scope;
use super::template::translated;
use super::{Call, Scenario};
use crate::pandora::lower::TOOL;
use drumfire_plan::document::{Ask, Fields, Payload, Request, RequestStep, Step};

/// The status of HTTP that stands for a call that is ok.
const OK: u64 = 200;

/// Adds a call's steps: what it reads, and the call.
pub(super) fn add(
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
    for check in &call.checks {
        for text in &check.payload {
            let contains = format!("contains {text}");
            written.expect.body.push(TOOL.text("payload", &contains));
        }
        if ![0, OK].contains(&check.status) {
            let status = check.status;
            return Err(format!(
                "status_code: a call whose status is to be {status} has failed here; 200 can be \
                 checked"
            ));
        }
    }
    // Without a check, a call that has failed is as good as another.
    let on_fail = match call.checks.is_empty() {
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
