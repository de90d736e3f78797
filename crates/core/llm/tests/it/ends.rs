//! How streams end.

use drumfire_llm::{Answer, Ending};
use drumfire_plan::{Finish, LlmApi, LlmError};

const TEXT: &str = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
const DONE: &str = "[DONE]";

fn read(api: LlmApi, events: &[&str]) -> Answer {
    let mut answer = Answer::default();
    answer.begin(api);
    for event in events {
        answer.event("message", event);
    }
    answer
}

#[test]
fn a_chat_ends_with_its_marker_or_its_reason() {
    for (events, ending) in [
        (&[TEXT, STOP, DONE][..], Ending::Complete),
        (&[TEXT, DONE], Ending::Complete),
        (&[TEXT, STOP], Ending::Unmarked),
        (&[TEXT, TEXT], Ending::Cut),
        (&[], Ending::Cut),
        (&[DONE], Ending::Empty),
        (&[STOP, DONE], Ending::Complete),
        (
            &[r#"{"choices":[],"usage":{"completion_tokens":0}}"#, DONE],
            Ending::Complete,
        ),
        (&[TEXT, "{", STOP, DONE], Ending::Unreadable),
    ] {
        assert_eq!(read(LlmApi::Chat, events).ending(), ending, "{events:?}");
    }
}

/// Some servers report 0 generated tokens for every answer.
#[test]
fn a_count_of_0_beside_a_text_is_no_count() {
    let none = r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":0}}"#;
    for (events, output) in [(&[TEXT, none, DONE][..], None), (&[none, DONE], Some(0))] {
        let usage = read(LlmApi::Chat, events).usage();
        assert_eq!((usage.input, usage.output), (Some(3), output), "{events:?}");
    }
    let mut whole = Answer::default();
    whole.begin(LlmApi::Messages);
    whole.whole(br#"{"type":"message","content":[{"type":"text","text":"c"}],"stop_reason":"end_turn","usage":{"input_tokens":0,"output_tokens":0}}"#);
    assert_eq!(whole.usage().output, None);
}

#[test]
fn few_events_may_be_unreadable() {
    let mut events = vec![TEXT; 998];
    events.push("{");
    events.push(DONE);
    let whole = read(LlmApi::Chat, &events);
    assert_eq!(whole.ending(), Ending::Complete);
    let one_less = read(LlmApi::Chat, &events[1..]);
    assert_eq!(one_less.ending(), Ending::Unreadable);
}

#[test]
fn errors_have_kinds_and_texts() {
    for (event, kind, text) in [
        (
            r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            LlmError::Overloaded,
            "overloaded_error: Overloaded",
        ),
        (
            r#"{"error":{"code":"rate_limit_exceeded","message":"Slow down"}}"#,
            LlmError::RateLimit,
            "rate_limit_exceeded: Slow down",
        ),
        (r#"{"error":{"code":429}}"#, LlmError::RateLimit, "429"),
        (
            r#"{"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"m"}}"#,
            LlmError::Context,
            "invalid_request_error context_length_exceeded: m",
        ),
        (
            r#"{"object":"error","type":"BadRequestError","code":400,"message":"This model's maximum context length is 8 tokens"}"#,
            LlmError::Context,
            "BadRequestError 400: This model's maximum context length is 8 tokens",
        ),
        (
            r#"{"error":{"type":"invalid_request_error","message":"no"}}"#,
            LlmError::Request,
            "invalid_request_error: no",
        ),
        (
            r#"{"error":{"type":"authentication_error","message":"no"}}"#,
            LlmError::Key,
            "authentication_error: no",
        ),
        (
            r#"{"error":"CUDA out of memory"}"#,
            LlmError::Other,
            "CUDA out of memory",
        ),
    ] {
        // An error counts also if the stream goes on, and before or after its end.
        let answer = read(LlmApi::Chat, &[TEXT, event, TEXT, STOP, DONE]);
        assert_eq!(answer.ending(), Ending::Error(kind), "{event}");
        assert_eq!(answer.error_text(), text, "{event}");
    }
}

#[test]
fn the_first_error_is_kept() {
    let answer = read(LlmApi::Chat, &[r#"{"error":"one"}"#, r#"{"error":"two"}"#]);
    assert_eq!(answer.error_text(), "one");
}

#[test]
fn responses_and_messages_have_events_for_the_end() {
    const DELTA: &str = r#"{"type":"response.output_text.delta","delta":"a"}"#;
    const BLOCK: &str = r#"{"type":"content_block_delta","delta":{"text":"a"}}"#;
    let stop = r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#;
    let incomplete = r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}"#;
    let completed = r#"{"type":"response.completed","response":{}}"#;
    let tool = r#"{"type":"response.function_call_arguments.delta","delta":"{}"}"#;
    let refusal = r#"{"type":"response.refusal.delta","delta":"no"}"#;
    for (api, events, ending, finish) in [
        (
            LlmApi::Responses,
            &[DELTA, completed][..],
            Ending::Complete,
            Some(Finish::Stop),
        ),
        (
            LlmApi::Responses,
            &[DELTA, incomplete],
            Ending::Complete,
            Some(Finish::Length),
        ),
        (
            LlmApi::Responses,
            &[tool, completed],
            Ending::Complete,
            Some(Finish::ToolCalls),
        ),
        (
            LlmApi::Responses,
            &[refusal, completed],
            Ending::Complete,
            Some(Finish::Refusal),
        ),
        (LlmApi::Responses, &[DELTA], Ending::Cut, None),
        (
            LlmApi::Responses,
            &[DELTA, r#"{"type":"response.failed","response":{}}"#],
            Ending::Error(LlmError::Other),
            None,
        ),
        (
            LlmApi::Messages,
            &[BLOCK, stop, r#"{"type":"message_stop"}"#],
            Ending::Complete,
            Some(Finish::Length),
        ),
        (
            LlmApi::Messages,
            &[BLOCK, stop],
            Ending::Unmarked,
            Some(Finish::Length),
        ),
        (LlmApi::Messages, &[BLOCK], Ending::Cut, None),
    ] {
        let answer = read(api, events);
        assert_eq!(answer.ending(), ending, "{events:?}");
        assert_eq!(answer.finish(), finish, "{events:?}");
    }
}

/// A reader is reused.
#[test]
fn another_answer_forgets_the_last_one() {
    let mut answer = read(LlmApi::Chat, &[TEXT, r#"{"error":"one"}"#, STOP, DONE]);
    answer.begin(LlmApi::Messages);
    assert_eq!(answer.ending(), Ending::Cut);
    assert_eq!(answer.error_text(), "");
    assert_eq!(answer.texts().count(), 0);
    assert_eq!(answer.finish(), None);
}
