//! Answers that are not streamed, and the tokens that requests ask for.

use drumfire_llm::{Answer, Channel, Ending, asked_tokens};
use drumfire_plan::{Finish, LlmApi, LlmError};

fn read(api: LlmApi, body: &str) -> Answer {
    let mut answer = Answer::default();
    answer.begin(api);
    answer.whole(body.as_bytes());
    answer
}

#[test]
fn whole_answers_have_texts_usage_and_reasons() {
    use Channel::{Reasoning, Text, Tool};
    for (api, body, texts, finish, tokens) in [
        (
            LlmApi::Chat,
            r#"{"choices":[{"message":{"role":"assistant","reasoning_content":"r","content":"c","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":2,"completion_tokens":5}}"#,
            &[(Reasoning, "r"), (Text, "c"), (Tool, "f"), (Tool, "{}")][..],
            Some(Finish::ToolCalls),
            (Some(2), Some(5)),
        ),
        (
            LlmApi::Completions,
            r#"{"choices":[{"text":"c","finish_reason":"length"}],"usage":{"prompt_tokens":2,"completion_tokens":5}}"#,
            &[(Text, "c")],
            Some(Finish::Length),
            (Some(2), Some(5)),
        ),
        (
            LlmApi::Responses,
            r#"{"object":"response","status":"completed","error":null,"output":[{"type":"reasoning","content":[{"type":"reasoning_text","text":"r"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"c"}]}],"usage":{"input_tokens":2,"output_tokens":5}}"#,
            &[(Reasoning, "r"), (Text, "c")],
            Some(Finish::Stop),
            (Some(2), Some(5)),
        ),
        (
            LlmApi::Messages,
            r#"{"type":"message","content":[{"type":"thinking","thinking":"r"},{"type":"text","text":"c"}],"stop_reason":"end_turn","usage":{"input_tokens":2,"output_tokens":5}}"#,
            &[(Reasoning, "r"), (Text, "c")],
            Some(Finish::Stop),
            (Some(2), Some(5)),
        ),
        (
            LlmApi::Embeddings,
            r#"{"data":[{"embedding":[0.1,-2e-3]},{"embedding":"AAAA"}],"usage":{"prompt_tokens":2,"total_tokens":2}}"#,
            &[],
            None,
            (Some(2), None),
        ),
        (
            LlmApi::Rerank,
            r#"{"results":[{"index":1,"relevance_score":0.5}],"usage":{"total_tokens":9}}"#,
            &[],
            None,
            (Some(9), None),
        ),
        (
            LlmApi::Rerank,
            r#"{"results":[{"index":1,"relevance_score":0.5}],"meta":{"tokens":{"input_tokens":9}}}"#,
            &[],
            None,
            (Some(9), None),
        ),
    ] {
        let answer = read(api, body);
        assert_eq!(answer.ending(), Ending::Complete, "{body}");
        assert_eq!(answer.texts().collect::<Vec<_>>(), texts, "{body}");
        assert_eq!(answer.finish(), finish, "{body}");
        let usage = answer.usage();
        assert_eq!((usage.input, usage.output), tokens, "{body}");
    }
}

#[test]
fn whole_answers_may_be_empty_errors_or_no_json() {
    for (api, body, ending) in [
        (LlmApi::Chat, r#"{"choices":[]}"#, Ending::Empty),
        (LlmApi::Chat, "{}", Ending::Empty),
        (
            LlmApi::Chat,
            r#"{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}"#,
            Ending::Complete,
        ),
        (LlmApi::Embeddings, r#"{"data":[]}"#, Ending::Empty),
        (LlmApi::Rerank, r#"{"results":[]}"#, Ending::Empty),
        (LlmApi::Chat, "<html>", Ending::Unreadable),
        (LlmApi::Chat, "", Ending::Unreadable),
        (LlmApi::Chat, "[1]", Ending::Unreadable),
        (
            LlmApi::Embeddings,
            r#"{"error":{"type":"overloaded","message":"m"}}"#,
            Ending::Error(LlmError::Overloaded),
        ),
        (
            LlmApi::Messages,
            r#"{"type":"error","error":{"type":"api_error","message":"m"}}"#,
            Ending::Error(LlmError::Other),
        ),
    ] {
        assert_eq!(read(api, body).ending(), ending, "{api:?} {body}");
    }
}

#[test]
fn the_tokens_asked_for_are_found_in_the_body() {
    for (body, asked) in [
        (r#"{"model":"m","max_tokens":16}"#, Some(16)),
        (
            r#"{"max_completion_tokens" : 128, "stream":true}"#,
            Some(128),
        ),
        (r#"{"max_output_tokens":7}"#, Some(7)),
        // The text of a message is no key.
        (r#"{"messages":[{"content":"\"max_tokens\":3"}]}"#, None),
        (
            r#"{"messages":[{"content":"\"max_tokens\":3"}],"max_tokens":4}"#,
            Some(4),
        ),
        (r#"{"min_tokens":3}"#, None),
        (r#"{"max_tokens":null}"#, None),
        (r#"{"max_tokens":99999999999}"#, None),
        (r#"{"max_tokens""#, None),
        ("", None),
    ] {
        assert_eq!(asked_tokens(body.as_bytes()), asked, "{body}");
    }
}
