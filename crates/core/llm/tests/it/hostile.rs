//! Arbitrary texts: no panic, and figures that agree with each other.

use drumfire_llm::{Answer, Ending};
use drumfire_plan::{EventClass, LlmApi};
use proptest::prelude::*;

/// Keys and values of the interfaces, in any combination.
#[expect(clippy::too_many_lines, reason = "a table")]
fn json() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "choices",
        "delta",
        "message",
        "content",
        "text",
        "usage",
        "error",
        "type",
        "object",
        "reasoning",
        "reasoning_content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "finish_reason",
        "stop_reason",
        "response",
        "output",
        "status",
        "incomplete_details",
        "reason",
        "content_block",
        "thinking",
        "partial_json",
        "completion_tokens",
        "prompt_tokens",
        "total_tokens",
        "prompt_tokens_details",
        "cached_tokens",
        "code",
        "data",
        "results",
        "meta",
        "x",
    ]);
    let text = prop::sample::select(vec![
        "",
        "a",
        "é\\n",
        "error",
        "message",
        "stop",
        "response.output_text.delta",
        "response.completed",
        "message_stop",
        "reasoning",
        "overloaded",
    ]);
    let leaf = prop_oneof![
        text.prop_map(|text| format!("\"{text}\"")),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f32>()
            .prop_filter("JSON", |n| n.is_finite())
            .prop_map(|number| number.to_string()),
        Just("null".to_owned()),
        Just("true".to_owned()),
    ];
    leaf.prop_recursive(6, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((key.clone(), inner), 0..5).prop_map(|fields| {
                let fields = fields
                    .iter()
                    .map(|(key, value)| format!("\"{key}\":{value}"));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

fn api() -> impl Strategy<Value = LlmApi> {
    prop::sample::select(LlmApi::ALL.to_vec())
}

proptest! {
    #[test]
    fn any_json_has_one_class(api in api(), texts in prop::collection::vec(json(), 1..6)) {
        let mut answer = Answer::default();
        answer.begin(api);
        for text in &texts {
            let is_object = text.starts_with('{');
            let before = answer.ending();
            let seen = answer.event("", text);
            let after_end = before == Ending::Complete && seen.class == EventClass::Control;
            prop_assert!(after_end || is_object || seen.class == EventClass::Bad, "{text}");
            let has_text = answer.texts().next().is_some();
            prop_assert!(seen.class != EventClass::Token || has_text);
            prop_assert!(answer.texts().all(|(_, text)| !text.is_empty()));
            prop_assert!(seen.class == EventClass::Token || seen.output.is_none());
        }
        let is_error = matches!(answer.ending(), Ending::Error(_));
        prop_assert!(is_error || answer.error_text().is_empty());
        answer.begin(api);
        answer.whole(texts[0].as_bytes());
        prop_assert_ne!(answer.ending(), Ending::Cut);
    }

    #[test]
    fn any_bytes_are_read(api in api(), name in ".{0,9}", bytes in prop::collection::vec(any::<u8>(), 0..99)) {
        let mut answer = Answer::default();
        answer.begin(api);
        answer.event(&name, &String::from_utf8_lossy(&bytes));
        answer.whole(&bytes);
        let _asked = drumfire_llm::asked_tokens(&bytes);
    }

    /// Each event that is cut somewhere is bad, and leaves no text behind.
    #[test]
    fn a_part_of_an_object_is_bad(api in api(), text in json(), at in any::<prop::sample::Index>()) {
        prop_assume!(text.starts_with('{'));
        let mut at = at.index(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let mut answer = Answer::default();
        answer.begin(api);
        prop_assert_eq!(answer.event("", &text[..at]).class, EventClass::Bad);
        prop_assert_eq!(answer.texts().count(), 0);
    }
}

/// Depth is bounded.
#[test]
fn deep_objects_are_bad() {
    let deep = format!("{}1{}", "{\"error\":".repeat(500), "}".repeat(500));
    let mut answer = Answer::default();
    assert_eq!(answer.event("", &deep).class, EventClass::Bad);
    let skipped = format!("{{\"x\":{}{}}}", "[".repeat(500), "]".repeat(500));
    assert_eq!(answer.event("", &skipped).class, EventClass::Unknown);
}
