//! The text of an answer that a plan uses.

use drumfire_llm::{Answer, AnswerTooLong};
use drumfire_plan::{AnswerText, LlmApi, ToolCall};

/// The kept text of an answer.
fn finished(answer: &mut Answer) -> Option<AnswerText> {
    let text = answer.finish_text()?;
    text.ok().map(|text| text.clone())
}

/// The kept text of an answer with these events.
fn streamed(api: LlmApi, events: &[(&str, &str)]) -> AnswerText {
    let mut answer = Answer::default();
    answer.begin(api);
    answer.keep(1_000);
    for (name, data) in events {
        answer.event(name, data);
    }
    finished(&mut answer).expect("a text")
}

fn whole(api: LlmApi, body: &str) -> AnswerText {
    let mut answer = Answer::default();
    answer.begin(api);
    answer.keep(1_000);
    answer.whole(body.as_bytes());
    finished(&mut answer).expect("a text")
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    }
}

#[test]
fn a_chat_has_text_reasoning_and_calls_in_pieces() {
    let delta = |delta: &str| format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#);
    let events = [
        delta(r#"{"role":"assistant","content":""}"#),
        delta(r#"{"reasoning_content":"hm"}"#),
        delta(r#"{"content":"Hel"}"#),
        delta(r#"{"content":"lo"}"#),
        delta(
            r#"{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"find","arguments":""}}]}"#,
        ),
        delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"q\""}}]}"#),
        // The number may follow the parts.
        delta(
            r#"{"tool_calls":[{"id":"c2","function":{"name":"add","arguments":"{}"},"index":1},{"index":0,"function":{"arguments":":1}"}}]}"#,
        ),
    ];
    let events: Vec<(&str, &str)> = events.iter().map(|data| ("message", &**data)).collect();
    let text = streamed(LlmApi::Chat, &events);
    assert_eq!((&*text.text, &*text.reasoning), ("Hello", "hm"));
    let calls = [call("c1", "find", "{\"q\":1}"), call("c2", "add", "{}")];
    assert_eq!(text.calls, calls);
    let body = r#"{"choices":[{"message":{"content":"Hello","tool_calls":[{"id":"c1","type":"function","function":{"name":"find","arguments":"{\"q\":1}"}},{"id":"c2","function":{"name":"add","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;
    let text = whole(LlmApi::Chat, body);
    assert_eq!((&*text.text, &text.calls[..]), ("Hello", &calls[..]));
}

#[test]
fn a_message_has_blocks_and_a_signature() {
    let text = streamed(
        LlmApi::Messages,
        &[
            (
                "message_start",
                r#"{"type":"message_start","message":{"id":"m1","role":"assistant"}}"#,
            ),
            (
                "content_block_delta",
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
            ),
            (
                "content_block_delta",
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s1"}}"#,
            ),
            (
                "content_block_delta",
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hi"}}"#,
            ),
            (
                "content_block_start",
                r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"find","input":{}}}"#,
            ),
            (
                "content_block_delta",
                r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"q\":"}}"#,
            ),
            (
                "content_block_delta",
                r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"1}"}}"#,
            ),
            ("message_stop", r#"{"type":"message_stop"}"#),
        ],
    );
    let parts = (&*text.text, &*text.reasoning, &*text.signature);
    assert_eq!(parts, ("Hi", "hm", "s1"));
    assert_eq!(text.calls, [call("t1", "find", "{\"q\":1}")]);
    let body = r#"{"type":"message","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"t1","name":"find","input":{"q":1}}],"stop_reason":"tool_use"}"#;
    let text = whole(LlmApi::Messages, body);
    assert_eq!(text.text, "Hi");
    assert_eq!(text.calls, [call("t1", "find", "{\"q\":1}")]);
}

/// Items come as they begin, in pieces and as a whole; only the last counts.
#[test]
fn a_response_has_the_calls_of_its_whole_items() {
    let item = r#"{"type":"function_call","call_id":"c1","name":"find","arguments":"{\"q\":1}"}"#;
    let added = r#"{"type":"function_call","call_id":"c1","name":"find","arguments":""}"#;
    let event = |name: &str, rest: &str| format!(r#"{{"type":"{name}",{rest}}}"#);
    let events = [
        event("response.output_text.delta", r#""delta":"Hi""#),
        event(
            "response.output_item.added",
            &format!(r#""output_index":1,"item":{added}"#),
        ),
        event(
            "response.function_call_arguments.delta",
            r#""output_index":1,"delta":"{\"q\":1}""#,
        ),
        event(
            "response.output_item.done",
            &format!(r#""output_index":1,"item":{item}"#),
        ),
        event(
            "response.completed",
            &format!(r#""response":{{"output":[{item}]}}"#),
        ),
    ];
    let events: Vec<(&str, &str)> = events.iter().map(|data| ("message", &**data)).collect();
    let text = streamed(LlmApi::Responses, &events);
    assert_eq!((&*text.text, text.calls.len()), ("Hi", 1));
    assert_eq!(text.calls, [call("c1", "find", "{\"q\":1}")]);
    let body = format!(r#"{{"output":[{item}],"status":"completed"}}"#);
    assert_eq!(whole(LlmApi::Responses, &body).calls, text.calls);
}

#[test]
fn arguments_that_are_not_an_object_become_one() {
    for arguments in ["", "x", "[1]", "{\\\"q\\\":", "{} {}"] {
        let data = format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"a","function":{{"name":"f","arguments":"{arguments}"}}}}]}}}}]}}"#
        );
        let text = streamed(LlmApi::Chat, &[("message", &data)]);
        assert_eq!(text.calls, [call("a", "f", "{}")], "{arguments}");
    }
}

#[test]
fn what_is_kept_has_a_limit_and_nothing_of_the_answer_before() {
    let delta = r#"{"choices":[{"delta":{"content":"0123456789"}}]}"#;
    let mut answer = Answer::default();
    answer.begin(LlmApi::Chat);
    answer.event("message", delta);
    assert_eq!(answer.finish_text(), None);
    answer.begin(LlmApi::Chat);
    answer.keep(15);
    answer.event("message", delta);
    assert_eq!(finished(&mut answer).expect("a text").text, "0123456789");
    answer.event("message", delta);
    assert_eq!(answer.finish_text(), Some(Err(AnswerTooLong)));
    answer.begin(LlmApi::Chat);
    answer.keep(15);
    assert_eq!(finished(&mut answer).expect("a text").text, "");
    answer.begin(LlmApi::Chat);
    assert_eq!(answer.finish_text(), None);
    // A server can't make more calls than the limit of calls.
    answer.keep(1 << 20);
    for n in 0..200 {
        let data =
            format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":{n},"id":"x"}}]}}}}]}}"#);
        answer.event("message", &data);
    }
    assert_eq!(answer.finish_text(), Some(Err(AnswerTooLong)));
}
