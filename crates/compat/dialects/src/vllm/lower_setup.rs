//! Requests before and after the run: the check whether the server is ready, warm-up requests, and
//! the profiler's start and end.

use super::TOOL;
use super::meaning::Meaning;
use drumfire_document::{Ask, Data, Fields, Loop, Payload, Request, RequestStep, Step, Text};
use serde_json::json;

/// The prompt of these requests.
const PROMPT: &str = "Hello";

/// The seconds between two checks whether the server is ready.
const READY_SECONDS: u64 = 5;

/// The steps before the run, and those after it.
///
/// # Errors
/// If a value is invalid.
pub(super) fn steps(of: &Meaning<'_>) -> Result<(Vec<Step>, Vec<Step>), String> {
    let ready = of.args.count("ready-check-timeout-sec")?;
    let warmups = of.args.count("num-warmups")?;
    let (mut setup, mut teardown) = (Vec::new(), Vec::new());
    if ready > 0 {
        let seconds = READY_SECONDS.min(ready);
        let times = ready.div_ceil(seconds);
        let on_fail = format!("retry({times},{seconds}s) end_iteration");
        let on_fail = TOOL.text("--ready-check-timeout-sec", &on_fail);
        setup.push(first(of, Some(on_fail)));
    }
    if warmups > 0 {
        setup.push(Step::Repeat(Loop {
            passes: TOOL.text("--num-warmups", &warmups),
            index: None,
            until: None,
            steps: vec![first(of, None)],
        }));
    }
    if of.args.has("profile") {
        setup.push(post(of, &of.url_beside("/start_profile"), None, None));
        teardown.push(post(of, &of.url_beside("/stop_profile"), None, None));
    }
    Ok((setup, teardown))
}

/// A request of the run's API.
fn first(of: &Meaning<'_>, on_fail: Option<Text>) -> Step {
    let model = of.model.split(',').next().unwrap_or_default();
    let body = match of.backend.api {
        "chat" => json!({
            "model": model,
            "messages": [{ "role": "user", "content": PROMPT }],
            "max_completion_tokens": 1,
        }),
        "responses" => {
            json!({ "model": model, "input": PROMPT, "store": false, "max_output_tokens": 16 })
        }
        "embeddings" => json!({ "model": model, "input": PROMPT }),
        "rerank" => json!({ "model": model, "query": PROMPT, "documents": [PROMPT] }),
        _ => json!({ "model": model, "prompt": PROMPT, "max_tokens": 1 }),
    };
    post(of, &of.url(&of.path), Some(body.to_string()), on_fail)
}

fn post(of: &Meaning<'_>, url: &str, body: Option<String>, on_fail: Option<Text>) -> Step {
    let mut fields = of.fields();
    fields.push(TOOL.field("", "Content-Type", "application/json"));
    let request = Request {
        fields: Fields::Listed(fields),
        data: Data {
            payload: body.map(|body| Payload::Text(TOOL.text("", &body))),
            templates: Some(TOOL.text("", &"none")),
            ..Data::default()
        },
        ..Request::new(Ask::Url {
            method: TOOL.text("", &"POST"),
            url: TOOL.text("", &url),
        })
    };
    Step::Request(Box::new(RequestStep { request, on_fail }))
}
