//! What each event of each interface contains.

use drumfire_llm::{Answer, Channel};
use drumfire_plan::EventClass::{Bad, Control, Done, Error, Finish, Token, Unknown, Usage};
use drumfire_plan::{EventClass, LlmApi};

/// One event: its name, its data, its class and its texts.
type Row = (
    &'static str,
    &'static str,
    EventClass,
    &'static [(Channel, &'static str)],
);

/// Reads each event with an answer of its own.
fn check(api: LlmApi, rows: &[Row]) {
    for (name, data, class, texts) in rows {
        let mut answer = Answer::default();
        answer.begin(api);
        let seen = answer.event(name, data);
        assert_eq!(seen.class, *class, "{api:?} {name} {data}");
        let found: Vec<_> = answer.texts().collect();
        assert_eq!(found, *texts, "{api:?} {name} {data}");
        let is_visible = texts.iter().any(|(channel, _)| channel.is_visible());
        assert_eq!(seen.is_visible, is_visible, "{api:?} {name} {data}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn chat_chunks_are_classified_by_their_parts() {
    use Channel::{Reasoning, Refusal, Text, Tool};
    check(
        LlmApi::Chat,
        &[
            (
                "",
                r#"{"choices":[{"delta":{"role":"assistant"}}]}"#,
                Control,
                &[],
            ),
            (
                "",
                r#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#,
                Control,
                &[],
            ),
            (
                "",
                r#"{"choices":[{"delta":{"content":null}}]}"#,
                Control,
                &[],
            ),
            ("", r#"{"choices":[]}"#, Control, &[]),
            (
                "",
                r#"{"choices":[{"index":0,"delta":{"content":" a\n"}}]}"#,
                Token,
                &[(Text, " a\n")],
            ),
            (
                "",
                r#"{"choices":[{"delta":{"reasoning_content":"b"}}]}"#,
                Token,
                &[(Reasoning, "b")],
            ),
            (
                "",
                r#"{"choices":[{"delta":{"reasoning":"b"}}]}"#,
                Token,
                &[(Reasoning, "b")],
            ),
            // The same text under two names counts once, in each order.
            (
                "",
                r#"{"choices":[{"delta":{"reasoning":"b","reasoning_content":"b"}}]}"#,
                Token,
                &[(Reasoning, "b")],
            ),
            (
                "",
                r#"{"choices":[{"delta":{"reasoning_content":null,"reasoning":"b"}}]}"#,
                Token,
                &[(Reasoning, "b")],
            ),
            (
                "",
                r#"{"choices":[{"delta":{"reasoning":"r","content":"c"}}]}"#,
                Token,
                &[(Reasoning, "r"), (Text, "c")],
            ),
            (
                "",
                r#"{"choices":[{"delta":{"refusal":"no"}}]}"#,
                Token,
                &[(Refusal, "no")],
            ),
            (
                "",
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","type":"function","function":{"name":"f","arguments":""}}]}}]}"#,
                Token,
                &[(Tool, "f")],
            ),
            (
                "",
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}}]}"#,
                Token,
                &[(Tool, "{\"a\"")],
            ),
            (
                "",
                r#"{"choices":[{"delta":{"content":[{"type":"text","text":"part"}]}}]}"#,
                Token,
                &[(Text, "part")],
            ),
            (
                "",
                r#"{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}"#,
                Token,
                &[(Text, "a"), (Text, "b")],
            ),
            (
                "",
                r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
                Finish,
                &[],
            ),
            (
                "",
                r#"{"choices":[{"delta":{"content":"z"},"finish_reason":"length"}]}"#,
                Token,
                &[(Text, "z")],
            ),
            (
                "",
                r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5}}"#,
                Usage,
                &[],
            ),
            ("", r#"{"choices":[],"usage":null}"#, Control, &[]),
            ("", " [DONE] ", Done, &[]),
            (
                "",
                r#"{"error":{"message":"m","type":"t","code":null}}"#,
                Error,
                &[],
            ),
            ("", r#"{"error":"m"}"#, Error, &[]),
            (
                "",
                r#"{"object":"error","message":"m","type":"t","code":400}"#,
                Error,
                &[],
            ),
            (
                "",
                r#"{"error":null,"choices":[{"delta":{"content":"a"}}]}"#,
                Token,
                &[(Text, "a")],
            ),
            ("", r#"{"pong":true}"#, Unknown, &[]),
            ("", r#"{"choices":[{"delta":{"conte"#, Bad, &[]),
            ("", "7", Bad, &[]),
            ("", "", Bad, &[]),
            ("", r#"{"choices":[]} x"#, Bad, &[]),
        ],
    );
}

#[test]
fn completion_chunks_have_a_text() {
    check(
        LlmApi::Completions,
        &[
            (
                "",
                r#"{"choices":[{"text":"a","finish_reason":null}]}"#,
                Token,
                &[(Channel::Text, "a")],
            ),
            (
                "",
                r#"{"choices":[{"text":"","finish_reason":"stop"}]}"#,
                Finish,
                &[],
            ),
        ],
    );
}

#[test]
fn responses_are_classified_by_the_type_wherever_it_is() {
    use Channel::{Reasoning, Refusal, Text, Tool};
    check(
        LlmApi::Responses,
        &[
            (
                "message",
                r#"{"type":"response.output_text.delta","delta":"a"}"#,
                Token,
                &[(Text, "a")],
            ),
            (
                "message",
                r#"{"delta":"a","type":"response.reasoning_text.delta"}"#,
                Token,
                &[(Reasoning, "a")],
            ),
            (
                "response.reasoning_summary_text.delta",
                r#"{"delta":"a"}"#,
                Token,
                &[(Reasoning, "a")],
            ),
            (
                "message",
                r#"{"type":"response.function_call_arguments.delta","delta":"{"}"#,
                Token,
                &[(Tool, "{")],
            ),
            (
                "message",
                r#"{"type":"response.refusal.delta","delta":"no"}"#,
                Token,
                &[(Refusal, "no")],
            ),
            (
                "message",
                r#"{"type":"response.output_text.done","text":"a"}"#,
                Control,
                &[],
            ),
            (
                "message",
                r#"{"type":"response.created","response":{"usage":null}}"#,
                Control,
                &[],
            ),
            (
                "message",
                r#"{"type":"response.completed","response":{"status":"completed","output":[{"content":[{"type":"output_text","text":"again"}]}],"usage":{"output_tokens":4}}}"#,
                Done,
                &[],
            ),
            (
                "message",
                r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"m"}}}"#,
                Error,
                &[],
            ),
            (
                "message",
                r#"{"type":"error","code":"x","message":"m"}"#,
                Error,
                &[],
            ),
            ("message", r#"{"type":"other"}"#, Unknown, &[]),
        ],
    );
}

#[test]
fn message_events_have_blocks() {
    use Channel::{Reasoning, Text, Tool};
    check(
        LlmApi::Messages,
        &[
            (
                "message_start",
                r#"{"type":"message_start","message":{"content":[],"usage":{"input_tokens":3,"output_tokens":1}}}"#,
                Usage,
                &[],
            ),
            (
                "content_block_start",
                r#"{"type":"content_block_start","content_block":{"type":"text","text":""}}"#,
                Control,
                &[],
            ),
            (
                "content_block_start",
                r#"{"type":"content_block_start","content_block":{"type":"tool_use","id":"i","name":"f","input":{}}}"#,
                Token,
                &[(Tool, "f")],
            ),
            (
                "content_block_delta",
                r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}"#,
                Token,
                &[(Text, "a")],
            ),
            (
                "content_block_delta",
                r#"{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"t"}}"#,
                Token,
                &[(Reasoning, "t")],
            ),
            (
                "content_block_delta",
                r#"{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{"}}"#,
                Token,
                &[(Tool, "{")],
            ),
            (
                "content_block_delta",
                r#"{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"s"}}"#,
                Control,
                &[],
            ),
            (
                "message_delta",
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}"#,
                Finish,
                &[],
            ),
            ("message_stop", r#"{"type":"message_stop"}"#, Done, &[]),
            ("ping", r#"{"type":"ping"}"#, Control, &[]),
            (
                "error",
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                Error,
                &[],
            ),
        ],
    );
}

/// A cumulative count is known only where it comes with a text.
#[test]
fn cumulative_counts_come_with_texts() {
    let mut answer = Answer::default();
    answer.begin(LlmApi::Chat);
    let count = |answer: &mut Answer, data: &str| answer.event("", data).output;
    let text = r#"{"choices":[{"delta":{"content":"a"}}],"usage":{"completion_tokens":3}}"#;
    assert_eq!(count(&mut answer, text), Some(3));
    let text = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
    assert_eq!(count(&mut answer, text), None);
    let usage = r#"{"choices":[],"usage":{"completion_tokens":7,"prompt_tokens":2,"prompt_tokens_details":{"cached_tokens":1},"completion_tokens_details":{"reasoning_tokens":4}}}"#;
    assert_eq!(count(&mut answer, usage), None);
    let usage = answer.usage();
    assert_eq!((usage.input, usage.cached), (Some(2), Some(1)));
    assert_eq!((usage.output, usage.reasoning), (Some(7), Some(4)));
}

/// Anthropic counts the tokens of the cache apart from the input.
#[test]
fn tokens_of_the_cache_are_input() {
    let mut answer = Answer::default();
    answer.begin(LlmApi::Messages);
    answer.event(
        "",
        r#"{"type":"message_start","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":40,"cache_creation_input_tokens":5,"output_tokens":1}}}"#,
    );
    answer.event(
        "",
        r#"{"type":"message_delta","delta":{},"usage":{"output_tokens":9}}"#,
    );
    let usage = answer.usage();
    assert_eq!(usage.input, Some(48));
    assert_eq!(usage.cached, Some(40));
    assert_eq!(usage.output, Some(9));
}
